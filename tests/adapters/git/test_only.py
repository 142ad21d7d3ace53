"""A snapshot of some paths: exactly those are taken, and nothing of the rest is lost."""

import os
import shutil
from pathlib import Path

import pytest

from loopwright.kernel.model import Change
from loopwright.ports.workspace import Snapshot
from tests.adapters.git.scene import Scene, run_in
from tests.repository import Repository

EVIDENCE = "refs/loopwright/l-1/evidence-1"


@pytest.fixture
def scene(repo: Repository) -> Scene:
    for name in ("docs/a.md", "docs/b.md", "docs/deep/c.md", "docs-more/d.md", "src/e.py"):
        repo.write(name, f"{name}\n")
    repo.commit("files")
    return Scene(repo)


def changed(shot: Snapshot) -> dict[str, str]:
    return {change.path: change.how for change in shot.changes}


def whole(scene: Scene) -> list[str]:
    """The files of the workspace as evidence holds them."""
    return scene.files(scene.refs()[EVIDENCE])


def test_everything_outside_stays_as_in_the_parent(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / "docs" / "a.md").write_text("better\n")
    (folder / "docs" / "deep" / "new.md").write_text("new\n")
    (folder / "docs" / "b.md").unlink()
    (folder / "docs-more" / "d.md").write_text("not asked for\n")
    (folder / "src" / "e.py").unlink()
    (folder / "src" / "f.py").write_text("f\n")
    shot = scene.snapshot(only=("docs",))
    assert changed(shot) == {"docs/a.md": "changed", "docs/b.md": "removed", "docs/deep/new.md": "added"}
    assert shot.dropped == ("docs-more/d.md", "src/e.py", "src/f.py")
    assert "src/e.py" in scene.files(shot.commit)
    assert scene.repo.git("show", f"{EVIDENCE}:docs-more/d.md") == "not asked for"
    assert whole(scene) == [
        "README.md",
        "docs-more/d.md",
        "docs/a.md",
        "docs/deep/c.md",
        "docs/deep/new.md",
        "src/f.py",
    ]


def test_a_repeat_after_the_workspace_moved_on_tells_the_same(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / "docs" / "a.md").write_text("better\n")
    (folder / "src" / "e.py").write_text("scribble\n")
    first = scene.snapshot(only=("docs/a.md",))
    scene.prepare(at=first.commit, step="s-2")
    shutil.rmtree(scene.repo.path / ".loop")
    assert scene.snapshot(only=("docs/a.md",)) == first
    assert first.dropped == ("src/e.py",)


def test_without_anything_dropped_there_is_no_evidence(scene: Scene) -> None:
    (scene.prepare() / "docs" / "a.md").write_text("better\n")
    shot = scene.snapshot(only=("docs/a.md", "docs/nothing"))
    assert (changed(shot), shot.dropped) == ({"docs/a.md": "changed"}, ())
    assert EVIDENCE not in scene.refs()


def test_when_all_is_dropped_the_parent_stays(scene: Scene) -> None:
    (scene.prepare() / "src" / "e.py").write_text("scribble\n")
    shot = scene.snapshot(only=("docs",))
    assert (changed(shot), shot.dropped) == ({}, ("src/e.py",))
    assert scene.repo.git("rev-parse", f"{shot.commit}^{{tree}}") == scene.repo.git("rev-parse", "HEAD^{tree}")
    assert scene.repo.git("show", f"{EVIDENCE}:src/e.py") == "scribble"


def test_the_parent_counts_and_not_the_base(scene: Scene) -> None:
    (scene.prepare() / "src" / "e.py").write_text("accepted\n")
    first = scene.snapshot()
    folder = scene.prepare(at=first.commit, step="s-2")
    (folder / "docs" / "a.md").write_text("better\n")
    (folder / "src" / "e.py").write_text("scribble\n")
    second = scene.snapshot("b", parent=first.commit, step="s-2", only=("docs",))
    assert changed(second) == {"docs/a.md": "changed", "src/e.py": "changed"}
    assert second.dropped == ("src/e.py",)
    assert scene.repo.git("show", f"{second.commit}:src/e.py") == "accepted"


@pytest.mark.parametrize("entry", ["docs/", "./docs", "src/../docs"])
def test_a_folder_may_be_written_in_other_ways(scene: Scene, entry: str) -> None:
    folder = scene.prepare()
    (folder / "docs" / "a.md").write_text("better\n")
    (folder / "src" / "e.py").unlink()
    assert changed(scene.snapshot(only=(entry,))) == {"docs/a.md": "changed"}


def test_the_top_is_everything(scene: Scene) -> None:
    (scene.prepare() / "src" / "e.py").unlink()
    assert changed(scene.snapshot(only=(".",))) == {"src/e.py": "removed"}


@pytest.mark.parametrize("entry", ["d*", "docs/*", ":(glob)docs/**", ":/", "DOCS", "", "/docs", "../docs", "doc"])
def test_what_names_no_path_takes_nothing(scene: Scene, entry: str) -> None:
    (scene.prepare() / "docs" / "a.md").write_text("better\n")
    shot = scene.snapshot(only=(entry,))
    assert (changed(shot), shot.dropped) == ({}, ("docs/a.md",))


@pytest.mark.parametrize("target", ["/", "../../outside"])
def test_a_link_in_place_of_a_folder_above_is_not_taken(scene: Scene, target: str) -> None:
    folder = scene.prepare()
    shutil.rmtree(folder / "docs")
    (folder / "docs").symlink_to(target)
    shot = scene.snapshot(only=("docs/a.md",))
    assert changed(shot) == {"docs/a.md": "removed"}
    assert shot.dropped == ("docs", "docs/b.md", "docs/deep/c.md")
    assert scene.repo.git("show", f"{EVIDENCE}:docs") == target


def test_a_link_in_place_of_the_folder_itself_is_taken_as_a_link(scene: Scene, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret\n")
    folder = scene.prepare()
    shutil.rmtree(folder / "docs")
    (folder / "docs").symlink_to(outside)
    shot = scene.snapshot(only=("docs",))
    assert changed(shot)["docs"] == "added"
    assert shot.dropped == ()
    assert scene.repo.git("ls-tree", shot.commit, "docs").split()[:2] == ["120000", "blob"]


def test_a_file_becomes_a_folder_and_a_folder_a_file(scene: Scene) -> None:
    folder = scene.prepare()
    shutil.rmtree(folder / "docs" / "deep")
    (folder / "docs" / "deep").write_text("file\n")
    (folder / "docs" / "a.md").unlink()
    (folder / "docs" / "a.md").mkdir()
    (folder / "docs" / "a.md" / "x").write_text("x\n")
    (folder / "src" / "e.py").unlink()
    shot = scene.snapshot(only=("docs/deep", "docs/a.md"))
    assert changed(shot) == {
        "docs/a.md": "removed",
        "docs/a.md/x": "added",
        "docs/deep": "added",
        "docs/deep/c.md": "removed",
    }
    assert shot.dropped == ("src/e.py",)


def test_a_wanted_file_below_a_file_that_stays_has_no_place(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / "README.md").unlink()
    (folder / "README.md").mkdir()
    (folder / "README.md" / "x").write_text("x\n")
    shot = scene.snapshot(only=("README.md/x",))
    assert (changed(shot), shot.dropped) == ({}, ("README.md", "README.md/x"))
    assert whole(scene)[0] == "README.md/x"


def test_the_executable_bit_is_taken_or_dropped_like_any_change(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / "docs" / "a.md").chmod(0o755)
    (folder / "src" / "e.py").chmod(0o755)
    shot = scene.snapshot(only=("docs/a.md",))
    blob = scene.repo.git("rev-parse", "HEAD:docs/a.md")
    assert shot.changes == (
        Change(path="docs/a.md", how="changed", blob=blob, mode="100755", old=blob, old_mode="100644"),
    )
    assert shot.dropped == ("src/e.py",)
    assert scene.repo.git("ls-tree", shot.commit, "src/e.py").startswith("100644 ")


ODD = [
    b"-x",
    b"caf\xe9.txt",
    b"new\nline",
    b'quo"te',
    b"sp ace",
    b"tab\t",
    b":(glob)b",
    b"\\",
    b"*",
    b"[a]",
    b"a,b\x1f",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_taken_and_dropped_literally(repo: Repository, name: bytes) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    odd = os.fsdecode(name)
    (folder / odd).mkdir()
    (folder / odd / odd).write_text("odd\n")
    (folder / "a").write_text("a\n")
    shown = name.decode("utf-8", "backslashreplace")
    assert changed(scene.snapshot(only=(odd,))) == {f"{shown}/{shown}": "added"}
    assert scene.snapshot("b", step="s-2", only=("a",)).dropped == (f"{shown}/{shown}",)
    assert scene.snapshot("b", step="s-2", only=("a",)).dropped == (f"{shown}/{shown}",)


def test_settings_of_git_are_dropped_and_obeyed_by_nobody_else(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / ".gitattributes").write_text("* text eol=crlf\n")
    (folder / "docs" / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n')
    (folder / "docs" / "a.md").write_text("better\r\n")
    run_in(folder, "git", "update-index", "--assume-unchanged", "docs/a.md", "src/e.py")
    (folder / "src" / "e.py").write_text("hidden\n")
    shot = scene.snapshot(only=("docs",))
    assert changed(shot) == {"docs/.gitmodules": "added", "docs/a.md": "changed"}
    assert shot.dropped == (".gitattributes", "src/e.py")
    assert scene.repo.git("cat-file", "-s", f"{shot.commit}:docs/a.md") == "8"


def test_a_repository_made_of_the_folder_is_taken_as_its_files(scene: Scene) -> None:
    folder = scene.prepare()
    run_in(folder / "docs", "git", "init", "--quiet")
    (folder / "docs" / "new.md").write_text("new\n")
    run_in(folder / "docs", "git", "add", "--all")
    run_in(folder / "docs", "git", "commit", "--quiet", "--message=inner")
    (folder / "src" / "e.py").unlink()
    shot = scene.snapshot(only=("docs",))
    assert (changed(shot), shot.dropped) == ({"docs/new.md": "added"}, ("src/e.py",))


def test_a_lost_workspace_drops_nothing(scene: Scene) -> None:
    shutil.rmtree(scene.prepare())
    shot = scene.snapshot(only=("docs",))
    assert (shot.changes, shot.dropped) == ((), ())


def test_what_a_dropped_gitignore_hid_is_not_there_at_the_next_step(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / ".gitignore").write_text("hidden.md\nsub/\n")
    (folder / "docs" / "hidden.md").write_text("hidden\n")
    (folder / "sub").mkdir()
    (folder / "sub" / ".gitignore").write_text("deeper.md\n")
    (folder / "sub" / "deeper.md").write_text("deeper\n")
    shot = scene.snapshot(only=("docs",))
    assert (shot.changes, shot.dropped) == ((), (".gitignore",))
    scene.prepare(step="s-2")
    assert sorted(path.name for path in folder.iterdir()) == [".git", "README.md", "docs", "docs-more", "src"]
    assert scene.snapshot("b", step="s-2").changes == ()
    kept = [name for ref, name in scene.refs().items() if "/evidence-" in ref]
    found = {name for commit in kept for name in scene.files(commit)}
    assert {"docs/hidden.md", "sub/deeper.md"} <= found
