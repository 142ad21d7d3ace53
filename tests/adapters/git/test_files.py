"""Whatever an agent leaves in its folder, the snapshot is right and nothing is lost silently."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from loopwright.kernel.model import Change
from tests.adapters.git.scene import Scene, run_in
from tests.repository import Repository


def changed(scene: Scene) -> dict[str, str]:
    return {change.path: change.how for change in scene.snapshot().changes}


def names_in(folder: Path) -> list[bytes]:
    return sorted(os.fsencode(path.name) for path in folder.iterdir())


def inner_repository(folder: Path, *, commit: bool) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "inner.txt").write_text("inner\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "more.txt").write_text("more\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("x")
    run_in(folder, "git", "init", "--quiet")
    if commit:
        run_in(folder, "git", "add", "--all")
        run_in(folder, "git", "commit", "--quiet", "--message=inner")


@pytest.mark.parametrize("commit", [True, False])
def test_a_repository_inside_is_taken_as_its_files(repo: Repository, commit: bool) -> None:  # noqa: FBT001
    scene = Scene(repo)
    inner_repository(scene.prepare() / "inner", commit=commit)
    shot = scene.snapshot()
    assert scene.files(shot.commit) == ["README.md", "inner/deep/more.txt", "inner/inner.txt"]


def test_a_repository_inside_is_put_away_and_restored_as_files(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    inner_repository(folder / "inner", commit=True)
    scene.prepare(step="s-2")
    assert not (folder / "inner" / "inner.txt").exists()
    kept = scene.refs()["refs/loopwright/l-1/evidence-1"]
    assert scene.files(kept) == ["README.md", "inner/deep/more.txt", "inner/inner.txt"]
    scene.prepare(at=kept, step="s-3")
    assert (folder / "inner" / "inner.txt").read_text() == "inner\n"


def test_a_repository_made_of_a_tracked_folder_changes_nothing(repo: Repository) -> None:
    repo.write("lib/a.txt", "a\n")
    repo.commit("lib")
    scene = Scene(repo)
    lib = scene.prepare() / "lib"
    run_in(lib, "git", "init", "--quiet")
    run_in(lib, "git", "commit", "--quiet", "--allow-empty", "--message=x")
    (lib / "b.txt").write_text("b\n")
    assert changed(scene) == {"lib/b.txt": "added"}


def test_a_submodule_is_neither_entered_nor_moved(repo: Repository, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other.path), "sub")
    repo.commit("submodule")
    scene = Scene(repo)
    folder = scene.prepare()
    assert changed(scene) == {}
    inner_repository(folder / "sub", commit=True)
    (folder / "new.txt").write_text("new\n")
    shot = scene.snapshot("attempt-2", step="s-2")
    assert [(change.path, change.how) for change in shot.changes] == [("new.txt", "added")]


def test_links_are_stored_as_links_and_never_followed(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret\n")
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "everything").symlink_to("/")
    (folder / "out").symlink_to(outside)
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(outside / "secret.txt")
    shot = scene.snapshot()
    assert scene.files(shot.commit) == ["README.md", "everything", "out"]
    assert repo.git("show", f"{shot.commit}:README.md") == str(outside / "secret.txt")
    scene.prepare(step="s-2")
    assert not (folder / "README.md").is_symlink()
    assert (outside / "secret.txt").read_text() == "secret\n"


def test_nothing_is_written_through_a_link_in_place_of_a_folder(repo: Repository, tmp_path: Path) -> None:
    repo.write("lib/a.txt", "a\n")
    repo.commit("lib")
    outside = tmp_path / "outside"
    outside.mkdir()
    scene = Scene(repo)
    folder = scene.prepare()
    shutil.rmtree(folder / "lib")
    (folder / "lib").symlink_to(outside)
    scene.prepare(step="s-2")
    assert list(outside.iterdir()) == []
    assert (folder / "lib" / "a.txt").read_text() == "a\n"


def test_what_is_neither_file_nor_link_is_left_out(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("kept.txt", "x\n")
    repo.commit("more")
    scene = Scene(repo)
    folder = scene.prepare()
    os.mkfifo(folder / "pipe")
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")
    (folder / "new.txt").write_text("new\n")
    monkeypatch.chdir(folder)  # the path of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    shot = scene.snapshot()
    assert scene.files(shot.commit) == ["kept.txt", "new.txt"]
    scene.prepare(step="s-2")
    assert (folder / "README.md").read_text() == "# Sample\n"


def test_permissions_taken_away_are_given_back(repo: Repository) -> None:
    repo.write("lib/a.txt", "a\n")
    repo.commit("lib")
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "new.txt").write_text("new\n")
    (folder / "new.txt").chmod(0)
    (folder / "lib").chmod(0)
    assert changed(scene) == {"new.txt": "added"}
    (folder / "lib").chmod(0)
    scene.prepare(step="s-2")
    assert sorted(path.name for path in folder.iterdir()) == [".git", "README.md", "lib"]
    (folder / "lib").chmod(0)
    scene.prepare(step="s-3")
    assert (folder / "lib" / "a.txt").read_text() == "a\n"


def test_odd_names_are_kept_and_shown_escaped(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    names = [
        b"-x",
        b"caf\xe9.txt",
        b"new\nline",
        b'quo"te',
        b"sp ace",
        b"tab\t",
        "été".encode(),
        b"#a",
        b":(glob)b",
        b"\\",
    ]
    for name in names:
        (folder / os.fsdecode(name)).write_bytes(name)
    shot = scene.snapshot()
    raw = [change.path for change in shot.changes]
    assert raw == ["#a", "-x", ":(glob)b", "\\", "caf\\xe9.txt", "new\nline", 'quo"te', "sp ace", "tab\t", "été"]
    scene.prepare(step="s-2")
    assert names_in(folder) == [b".git", b"README.md"]
    scene.prepare(at=shot.commit, step="s-3")
    assert names_in(folder) == sorted([b".git", b"README.md", *names])


@pytest.mark.parametrize("name", ["git~1", ".GIT", ".git\u200c"])
def test_a_name_no_commit_may_hold_is_left_out(repo: Repository, name: str) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / name).mkdir()
    (folder / name / "config").write_text("[core]\n")
    (folder / "new.txt").write_text("new\n")
    assert changed(scene) == {"new.txt": "added"}


def test_names_that_differ_in_case_are_two_files(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "readme.MD").write_text("other\n")
    assert changed(scene) == {"readme.MD": "added"}


def test_a_file_becomes_a_folder_and_a_folder_a_file(repo: Repository) -> None:
    repo.write("lib/a.txt", "a\n")
    repo.commit("lib")
    scene = Scene(repo)
    folder = scene.prepare()
    shutil.rmtree(folder / "lib")
    (folder / "lib").write_text("file\n")
    (folder / "README.md").unlink()
    (folder / "README.md").mkdir()
    (folder / "README.md" / "x").write_text("x\n")
    assert changed(scene) == {"README.md": "removed", "README.md/x": "added", "lib": "added", "lib/a.txt": "removed"}
    scene.prepare(step="s-2")
    assert (folder / "lib" / "a.txt").read_text() == "a\n"
    assert (folder / "README.md").read_text() == "# Sample\n"


def test_the_executable_bit_is_a_change(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "README.md").chmod(0o755)
    blob = repo.git("rev-parse", "HEAD:README.md")
    assert scene.snapshot().changes == (
        Change(path="README.md", how="changed", blob=blob, mode="100755", old=blob, old_mode="100644"),
    )


def test_no_attribute_converts_a_byte(repo: Repository) -> None:
    text = b"$Id$\r\nline\r\n\xff\xfe"
    (repo.path / "raw.txt").write_bytes(text)
    repo.commit("raw")
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / ".gitattributes").write_text("* text eol=crlf ident working-tree-encoding=UTF-16\n")
    (folder / "new.txt").write_bytes(text)
    shot = scene.snapshot()
    assert [change.path for change in shot.changes] == [".gitattributes", "new.txt"]
    assert shot.changes[1].blob == repo.git("rev-parse", "HEAD:raw.txt")
    scene.prepare(at=shot.commit, step="s-2")
    assert ((folder / "raw.txt").read_bytes(), (folder / "new.txt").read_bytes()) == (text, text)


def test_the_persons_excludes_and_ours_are_honoured(repo: Repository, tmp_path: Path) -> None:
    mine = tmp_path / "ignore"
    mine.write_text("*.mine\n")
    repo.git("config", "core.excludesFile", str(mine))
    (repo.path / ".git" / "info" / "exclude").write_text("here.only\n")
    scene = Scene(repo)
    folder = scene.prepare()
    for name in ("a.mine", "here.only", "b.pyc", ".DS_Store", "node_modules/x", ".venv/y", "seen.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    assert changed(scene) == {"seen.txt": "added"}


def test_a_tracked_file_that_is_ignored_stays_tracked_when_our_notes_are_lost(repo: Repository) -> None:
    repo.write("x.log", "log\n")
    repo.commit("log")
    repo.write(".gitignore", "*.log\n")
    repo.commit("ignore")
    scene = Scene(repo)
    folder = scene.prepare()
    shutil.rmtree(repo.path / ".loop")
    (folder / "x.log").write_text("changed\n")
    assert changed(scene) == {"x.log": "changed"}


def test_an_emptied_workspace_is_lost_work_and_no_candidate(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert scene.snapshot().changes == ()
    scene.prepare(step="s-2")
    assert (folder / "README.md").read_text() == "# Sample\n"


def test_what_an_agent_left_is_kept_once(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "half.txt").write_text("half done\n")
    scene.prepare(step="s-2")
    assert sorted(path.name for path in folder.iterdir()) == [".git", "README.md"]
    kept = scene.refs()["refs/loopwright/l-1/evidence-1"]
    assert repo.git("show", f"{kept}:half.txt") == "half done"
    (folder / "half.txt").write_text("half done\n")
    scene.prepare(step="s-3")
    assert "refs/loopwright/l-1/evidence-2" not in scene.refs()


@pytest.mark.parametrize("damage", [b"", b"rubbish", b"DIRC" + b"\0" * 40])
def test_a_broken_index_of_ours_is_made_again(repo: Repository, damage: bytes) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    (folder / "new.txt").write_text("new\n")
    notes = repo.path / ".loop" / "git" / "workspaces" / "l-1-work"
    (notes / "index").write_bytes(damage)
    (notes / "index.lock").write_bytes(b"left by a killed git")
    assert changed(scene) == {"new.txt": "added"}


def test_a_file_in_place_of_the_workspace_is_replaced(repo: Repository, tmp_path: Path) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(folder)
    folder.symlink_to(outside)
    assert scene.snapshot().changes == ()
    scene.prepare(step="s-2")
    assert list(outside.iterdir()) == []
    assert (folder / "README.md").read_text() == "# Sample\n"
