"""Repositories as people have them: agents and checks see what the person sees, and `git status` stays as it was."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.kernel.model import Commit, Tree
from tests.adapters.git.scene import LOOP, Scene, run_in
from tests.repository import Repository

ROT13 = "tr A-Za-z N-ZA-Mn-za-m"
MAIN = "refs/heads/main"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a repository is made, what an agent writes in it, and what is recorded of that."""

    make: Callable[[Repository], None]
    writes: dict[str, bytes]
    recorded: dict[str, bytes]
    sees: dict[str, bytes]  # besides what the person sees


def attributes(*lines: str, files: dict[str, bytes], settings: tuple[tuple[str, str], ...] = ()) -> Callable[..., None]:
    def make(repo: Repository) -> None:
        for key, value in settings:
            repo.git("config", key, value)
        repo.write(".gitattributes", "".join(f"{line}\n" for line in lines))
        put(repo.path, files)
        repo.commit("files")
        check_out(repo)

    return make


def check_out(repo: Repository) -> None:
    """All files as git writes them under the rules that there are by now."""
    for name in tracked(repo):
        (repo.path / name).unlink()
    repo.git("checkout", "--quiet", "--", ".")


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def below_a_folder(repo: Repository) -> None:
    attributes("*.txt -text", "[attr]dos text eol=crlf", files={"a.txt": b"1\r\n"})(repo)
    repo.write("odd [x] name/.gitattributes", '*.txt dos\n/top.md text eol=crlf\n"sub/q \\"1\\".txt" -text\n')
    put(
        repo.path,
        {"odd [x] name/b.txt": b"1\n", "odd [x] name/sub/c.txt": b"1\n", 'odd [x] name/sub/q "1".txt': b"1\n"},
    )
    put(repo.path, {"odd [x] name/top.md": b"1\n", "odd [x] name/sub/top.md": b"1\n"})
    repo.commit("below")
    check_out(repo)


def of_the_person(repo: Repository) -> None:
    repo.write("a.txt", "1\n")
    repo.write("b.txt", "1\n")
    repo.commit("files")
    repo.git("config", "core.autocrlf", "true")
    (repo.path / ".git" / "info" / "attributes").write_text("b.txt -text\n")
    check_out(repo)


def odd_names(repo: Repository) -> None:
    for name in ("\udce9.txt", "new\nline.txt", 'q".txt', '"a.txt', "-r", "ä.txt", " lead", "trail "):
        (repo.path / name).write_text("1\n")
    (repo.path / "run").write_text("#!/bin/sh\n")
    (repo.path / "run").chmod(0o755)
    (repo.path / "link").symlink_to("run")
    (repo.path / "empty").mkdir()
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message=odd")


def sparse(repo: Repository) -> None:
    put(repo.path, {"in/a.txt": b"1\n", "out/b.txt": b"2\n"})
    repo.commit("files")
    repo.git("sparse-checkout", "set", "in")


CRLF, UTF16 = b"1\r\n2\r\n", "ä\n".encode("utf-16")
KINDS = {
    "eol=crlf": Kind(
        attributes("*.txt text eol=crlf", files={"a.txt": b"1\n2\n"}),
        {"a.txt": b"1\r\n2\r\n3\r\n", "b.txt": b"new\r\n", "c.md": b"kept\r\n"},
        {"a.txt": b"1\n2\n3\n", "b.txt": b"new\n", "c.md": b"kept\r\n"},
        {"a.txt": CRLF},
    ),
    "text=auto": Kind(
        attributes("* text=auto", files={"a.txt": b"1\n", "b.bin": b"\0\r\n"}, settings=(("core.eol", "crlf"),)),
        {"a.txt": b"1\r\n2\r\n", "b.bin": b"\0\r\n\r\n"},
        {"a.txt": b"1\n2\n", "b.bin": b"\0\r\n\r\n"},
        {"a.txt": b"1\r\n"},
    ),
    "core.autocrlf": Kind(
        of_the_person, {"a.txt": b"2\r\n", "b.txt": b"2\r\n"}, {"a.txt": b"2\n", "b.txt": b"2\r\n"}, {"a.txt": b"1\r\n"}
    ),
    "ident": Kind(
        attributes("*.c ident", files={"a.c": b"/* $Id$ */\n"}),
        {"b.c": b"/* $Id: a0749a0c2c0c92aeb7c5f5fa6ace589ef08aceeb $ */\n"},
        {"b.c": b"/* $Id$ */\n"},
        {},
    ),
    "working-tree-encoding": Kind(
        attributes("*.rc text working-tree-encoding=UTF-16", files={"a.rc": UTF16}),
        {"a.rc": "ö\n".encode("utf-16")},
        {"a.rc": "ö\n".encode()},
        {"a.rc": UTF16},
    ),
    "filter": Kind(
        attributes(
            "*.bin filter=rot",
            files={"a.bin": b"Hello\n"},
            settings=(("filter.rot.clean", ROT13), ("filter.rot.smudge", ROT13), ("filter.rot.required", "true")),
        ),
        {"a.bin": b"World\n", "b.bin": b"New\n"},
        {"a.bin": b"Jbeyq\n", "b.bin": b"Arj\n"},
        {"a.bin": b"Hello\n"},
    ),
    "folders": Kind(
        below_a_folder,
        {"odd [x] name/b.txt": b"2\r\n", "odd [x] name/sub/new/d.txt": b"2\r\n", "a.txt": b"2\r\n"},
        {"odd [x] name/b.txt": b"2\n", "odd [x] name/sub/new/d.txt": b"2\n", "a.txt": b"2\r\n"},
        {"odd [x] name/b.txt": b"1\r\n", "odd [x] name/sub/c.txt": b"1\r\n", 'odd [x] name/sub/q "1".txt': b"1\n",
         "odd [x] name/top.md": b"1\r\n", "odd [x] name/sub/top.md": b"1\n"},
    ),
    "names": Kind(
        odd_names, {"\udce9.txt": b"2\n", "new\nline.txt": b"2\n", '"a.txt': b"2\n"}, {"\udce9.txt": b"2\n"}, {}
    ),
    "sparse": Kind(sparse, {"in/a.txt": b"3\n", "out/b.txt": b"3\n"}, {"out/b.txt": b"3\n"}, {"out/b.txt": b"2\n"}),
}  # fmt: skip


def tracked(repo: Repository) -> dict[str, bytes]:
    """The person's own files, as their git lists them."""
    names = [os.fsdecode(name) for name in said(repo, "ls-files", "-z").split(b"\0")]
    files = [name for name in names if name and not (repo.path / name).is_symlink() and (repo.path / name).exists()]
    return {name: (repo.path / name).read_bytes() for name in files}


def held(folder: Path, names: dict[str, bytes]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def blob(repo: Repository, commit: str, path: str) -> bytes:
    rows = said(repo, "ls-tree", "-r", "-z", commit).split(b"\0")
    (name,) = (row.split()[2].decode() for row in rows if row.endswith(b"\t" + os.fsencode(path)))
    return said(repo, "cat-file", "blob", name)


def said(repo: Repository, *argv: str) -> bytes:
    return subprocess.run(["git", *argv], cwd=repo.path, capture_output=True, check=True).stdout


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_agents_and_checks_see_what_the_person_sees_and_status_stays_clean(repo: Repository, kind: Kind) -> None:
    kind.make(repo)
    scene, seen = Scene(repo), tracked(repo)
    base = scene.base
    assert repo.git("status", "--porcelain") == ""
    folder = scene.prepare()
    judge = asyncio.run(scene.workspace.checkout(LOOP, base, "judge"))
    for each in (folder, judge):
        assert held(each, seen) == seen
        assert held(each, kind.sees) == kind.sees
        assert run_in(each, "git", "status", "--porcelain").stdout == ""
    assert scene.snapshot("untouched").changes == ()
    put(folder, kind.writes)
    shot = scene.snapshot("changed", step="s-2")
    assert {name: blob(repo, shot.commit, name) for name in kind.recorded} == kind.recorded
    assert laid(repo, shot.commit, base, kind.writes) == kind.writes
    assert scene.advance(MAIN, base, shot.commit).how == "done"
    assert repo.git("status", "--porcelain") == ""
    here = {name: text for name, text in kind.writes.items() if (repo.path / name).exists()}
    assert held(repo.path, here) == here


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_git_lfs_keeps_what_an_agent_writes(repo: Repository) -> None:
    repo.git("lfs", "install", "--local")
    kind = Kind(attributes("*.bin filter=lfs -text", files={"a.bin": b"big\n"}), {}, {}, {})
    kind.make(repo)
    scene = Scene(repo)
    base, folder = scene.base, scene.prepare()
    assert (folder / "a.bin").read_bytes() == b"big\n"
    put(folder, {"a.bin": b"bigger\n", "new.bin": b"new\n"})
    shot = scene.snapshot()
    assert blob(repo, shot.commit, "new.bin").startswith(b"version https://git-lfs.github.com/spec/")
    assert laid(repo, shot.commit, base, {"new.bin": b""}) == {"new.bin": b"new\n"}
    assert scene.advance(MAIN, base, shot.commit).how == "done"
    assert ((repo.path / "a.bin").read_bytes(), repo.git("status", "--porcelain")) == (b"bigger\n", "")
    shutil.rmtree(repo.path / ".git" / "lfs" / "objects")  # never fetched: what the person would see, and no download
    repo.git("config", "remote.origin.url", "https://example.invalid/x.git")
    assert scene.prepare(at=base, step="s-2").joinpath("a.bin").read_bytes().startswith(b"version https://git-lfs")


def test_a_name_that_changes_only_in_case_and_a_mode_are_changes(repo: Repository) -> None:
    put(repo.path, {"a.txt": b"1\n", "run": b"#!/bin/sh\n"})
    repo.commit("files")
    scene = Scene(repo)
    base, folder = scene.base, scene.prepare()
    (folder / "a.txt").rename(folder / "A.txt")
    (folder / "run").chmod(0o755)
    (folder / "hollow" / "empty").mkdir(parents=True)
    shot = scene.snapshot()
    assert [(change.path, change.how) for change in shot.changes] == [
        ("A.txt", "added"),
        ("a.txt", "removed"),
        ("run", "changed"),
    ]
    assert scene.advance(MAIN, base, shot.commit).how == "done"
    assert (repo.git("status", "--porcelain"), (repo.path / "a.txt").exists()) == ("", False)


def laid(repo: Repository, commit: str, base: str, names: dict[str, bytes]) -> dict[str, bytes]:
    """What checks find there."""

    async def run() -> dict[str, bytes]:
        pool = VerificationCheckouts(repo.path, env=os.environ, pinned=Pinned(Commit(base)))
        tree = repo.git("rev-parse", f"{commit}^{{tree}}")
        async with pool.lay(Tree(tree), commit=Commit(commit), base=Commit(base)) as checkout:
            return held(checkout.folder, names)

    return asyncio.run(run())
