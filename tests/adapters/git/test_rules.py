"""No agent bends how its own files are recorded, and no filter runs that the person did not have."""

import os
import shutil
from pathlib import Path

import pytest

from loopwright.adapters.git.repository import rules_of
from loopwright.adapters.git.rules import PersonsRules, Pinned
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.model import Commit
from tests.adapters.git.scene import Scene
from tests.repository import Repository


class PinnedScene(Scene):
    """A loop that began with what was there when this was made."""

    def __init__(self, repo: Repository) -> None:
        super().__init__(repo)
        rules = decode(PersonsRules, encode(rules_of(repo.path, os.environ)))  # as the log keeps it
        self.pinned = Pinned(Commit(repo.git("rev-parse", "HEAD")), rules)

    @property
    def workspace(self) -> GitWorkspace:
        return GitWorkspace(self.repo.path, env=os.environ, pinned=self.pinned)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "it-ran"


@pytest.fixture
def rot(repo: Repository) -> Repository:
    """A filter that is a program in the person's own tree."""
    repo.write("tools/rot", "#!/bin/sh\ntr A-Za-z N-ZA-Mn-za-m\n").chmod(0o755)
    for part in ("clean", "smudge"):
        repo.git("config", f"filter.rot.{part}", "tools/rot %f 100%%")
    repo.git("config", "filter.rot.required", "true")
    repo.write(".gitattributes", "*.bin filter=rot\n")
    repo.write("a.bin", "Hello\n")
    repo.commit("rot")
    return repo


BENT = ("*.txt text eol=crlf", "*.txt binary", "[attr]binary text eol=crlf", "*.txt working-tree-encoding=UTF-16")


@pytest.mark.parametrize("line", BENT)
def test_attributes_an_agent_writes_steer_nothing(repo: Repository, line: str) -> None:
    repo.write(".gitattributes", "*.txt binary\n*.md text\n")
    repo.commit("attributes")
    scene = PinnedScene(repo)
    folder = scene.prepare()
    (folder / ".gitattributes").write_text(f"{line}\n")
    (folder / "a.txt").write_bytes(b"1\r\n")
    (folder / "a.md").write_bytes(b"1\r\n")
    first = scene.snapshot()
    scene.prepare(at=first.commit, step="s-2")  # what it wrote is now in the commit that it works on
    (folder / "a.txt").write_bytes(b"1\r\n2\r\n")
    shot = scene.snapshot("a-2", parent=first.commit, step="s-2")
    assert repo.git("cat-file", "-s", f"{shot.commit}:a.txt") == str(len(b"1\r\n2\r\n"))
    assert repo.git("cat-file", "-s", f"{shot.commit}:a.md") == str(len(b"1\n"))


def test_a_filter_that_came_later_never_runs(rot: Repository, mark: Path) -> None:
    scene = PinnedScene(rot)
    folder = scene.prepare()
    assert (folder / "a.bin").read_text() == "Hello\n"
    for part in ("clean", "smudge", "process"):
        for name in ("rot", "evil"):
            rot.git("config", f"filter.{name}.{part}", f"touch {mark}; cat")
    rot.write(".git/info/attributes", "* filter=evil\n")
    shutil.copy2("/bin/true", folder / "tools" / "rot")  # nor is its program taken from where an agent works
    (folder / ".gitattributes").write_text("* filter=evil\n")
    (folder / "a.bin").write_text("World\n")
    shot = scene.snapshot()
    assert rot.git("show", f"{shot.commit}:a.bin") == "Jbeyq"
    scene.prepare(at=shot.commit, step="s-2")
    assert (folder / "a.bin").read_text() == "World\n"
    moved = scene.advance("refs/heads/main", scene.pinned.base, shot.commit)
    assert (moved.how, "`filter.evil.clean` of your git configuration is not what it was" in moved.detail) == (
        "dirty",
        True,
    )
    assert not mark.exists()


def test_a_file_the_rules_cannot_convert_is_said_and_left_as_it_was(repo: Repository) -> None:
    repo.write(".gitattributes", "*.rc text working-tree-encoding=UTF-16\n*.bin filter=no\n")
    (repo.path / "a.rc").write_bytes("ä\n".encode("utf-16"))
    repo.commit("encoded")
    repo.git("config", "filter.no.clean", "false")
    repo.git("config", "filter.no.required", "true")
    scene = PinnedScene(repo)
    folder = scene.prepare()
    for name in ("a.rc", "new.rc", "b.bin", "c.txt"):
        (folder / name).write_text("plain\n")
    shot = scene.snapshot()
    assert ([change.path for change in shot.changes], shot.dropped) == (["c.txt"], ("a.rc", "b.bin", "new.rc"))
    scene.prepare(step="s-2")
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [".gitattributes", "README.md", "a.rc"]
    assert (folder / "a.rc").read_bytes() == "ä\n".encode("utf-16")


def test_a_file_that_was_never_converted_is_nobodys_change(repo: Repository) -> None:
    (repo.path / "old.txt").write_bytes(b"1\r\n2\r\n")
    repo.commit("before there were rules")
    repo.write(".gitattributes", "*.txt text\n")
    repo.git("add", ".gitattributes")
    repo.git("commit", "--quiet", "--message=rules")
    scene = PinnedScene(repo)
    folder = scene.prepare()
    os.utime(folder / "old.txt")
    (folder / "README.md").write_text("changed\n")
    assert [change.path for change in scene.snapshot().changes] == ["README.md"]
    (folder / "old.txt").write_bytes(b"1\r\n3\r\n")
    assert [change.path for change in scene.snapshot("b", step="s-2").changes] == ["README.md", "old.txt"]
