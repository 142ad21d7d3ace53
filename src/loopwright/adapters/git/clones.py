"""The `.git` of a folder agents or checks work in: a repository of its own that borrows the objects.

It is written anew before every step, so nothing an agent did to it matters. It has no remote: a push
goes nowhere. Its refs are copies, its configuration is ours.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from loopwright.adapters.git.folders import remove
from loopwright.adapters.git.program import name_of, path_of
from loopwright.adapters.git.site import Ground, Place
from loopwright.kernel.model import Commit

BRANCH = "work"
CONFIG = """\
[core]
	repositoryformatversion = {version}
	fileMode = true
	bare = false
	logAllRefUpdates = true
[user]
	name = {name}
	email = {email}
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[gc]
	auto = 0
"""
OBJECT_FORMAT = "[extensions]\n\tobjectFormat = {format}\n"


def write_repository(ground: Ground, place: Place, at: Commit) -> None:
    """`place.folder/.git` on branch `work` at `at`, its index the one of the place."""
    git = place.folder / ".git"
    remove(git)
    for folder in ("objects/info", "refs/heads", "refs/tags", "info"):
        (git / folder).mkdir(parents=True)
    attributes = ground.attributes_at(ground.origin, ground.base)
    for name, text in (("config", _config(ground)), ("info/exclude", ground.excludes), ("info/attributes", attributes)):
        (git / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    (git / "objects" / "info" / "alternates").write_bytes(_alternates(ground))
    (git / "packed-refs").write_bytes(_refs(ground))
    (git / "refs" / "heads" / BRANCH).write_text(f"{at}\n", encoding="ascii")
    for file, name in ((place.index, "index"), (ground.common / "shallow", "shallow")):
        if file.is_file():
            shutil.copyfile(file, git / name)
    (git / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n", encoding="ascii")


def _config(ground: Ground) -> str:
    sha1 = ground.object_format == "sha1"
    name, email = map(_quoted, ground.author)
    text = CONFIG.format(version=0 if sha1 else 1, name=name, email=email) + ground.conversion(ground.origin)
    return text if sha1 else text + OBJECT_FORMAT.format(format=ground.object_format)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _alternates(ground: Ground) -> bytes:
    """The person's objects and those they borrow themselves: git ignores a relative path at second hand."""
    listed = ground.objects / "info" / "alternates"
    lines = listed.read_bytes().splitlines() if listed.is_file() else []
    borrowed = [ground.objects / path_of(line) for line in lines if line and not line.startswith(b"#")]
    return b"".join(name_of(str(path)) + b"\n" for path in (ground.objects, *map(Path.absolute, borrowed)))


def _refs(ground: Ground) -> bytes:
    """The person's branches and tags, so that `git describe` and `git diff main` work."""
    form = "%(objectname) %(refname)%(if)%(*objectname)%(then)%0a^%(*objectname)%(end)"
    rows = ground.refs.run("for-each-ref", f"--format={form}", "refs/heads", "refs/tags").splitlines(keepends=True)
    own = f" refs/heads/{BRANCH}".encode()
    kept = [row for row in rows if not (row.rstrip() + b"/").endswith(own + b"/") and own + b"/" not in row]
    return b"# pack-refs with: peeled fully-peeled sorted \n" + b"".join(kept)
