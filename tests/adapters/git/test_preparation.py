import sys
from pathlib import Path

import pytest

from loopwright.adapters.git.preparation import Preparation
from loopwright.errors import ConfigError, SetupFailed
from tests.adapters.git.scene import Scene
from tests.repository import Repository


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


COUNT = python("open('count.log', 'a').write('x')")


def test_setup_runs_once_in_each_new_workspace(repo: Repository) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.commit("ignore")
    scene = Scene(repo, Preparation(setup=(COUNT,)))
    folder = scene.prepare()
    scene.prepare(step="s-2")
    assert (folder / "count.log").read_text() == "x"
    folder.rename(folder.with_name("away"))
    scene.prepare(step="s-3")
    assert (folder / "count.log").read_text() == "x"


def test_what_setup_made_is_nobodys_work_and_stays(repo: Repository) -> None:
    made = python("import pathlib; pathlib.Path('made').mkdir(); open('made/x y#', 'w'); open('!top*', 'w')")
    changed = python("open('README.md', 'w').write('changed by setup')")
    scene = Scene(repo, Preparation(setup=(made, changed)))
    folder = scene.prepare()
    assert (folder / "README.md").read_text() == "# Sample\n"
    assert scene.snapshot().changes == ()
    scene.prepare(step="s-2")
    assert sorted(path.name for path in folder.iterdir()) == ["!top*", ".git", "README.md", "made"]
    (folder / "!topping").write_text("an agent's\n")
    assert [change.path for change in scene.snapshot("b", step="s-2").changes] == ["!topping"]


def test_setup_has_the_environment_it_is_given_and_the_workspace_as_its_folder(repo: Repository) -> None:
    write = python("import os; open('seen.pyc', 'w').write(os.environ['WORD'] + ' ' + os.getcwd())")
    scene = Scene(repo, Preparation(setup=(write,), env={"WORD": "hello"}))
    folder = scene.prepare()
    assert (folder / "seen.pyc").read_text() == f"hello {folder}"


def test_a_failing_setup_says_which_command_and_why(repo: Repository) -> None:
    scene = Scene(repo, Preparation(setup=(python("import sys; sys.exit('no network here')"),)))
    with pytest.raises(SetupFailed, match=r"failed: no network here; fix \[workspace\] in loop.toml") as failed:
        scene.prepare()
    assert failed.value.command.startswith(sys.executable)
    with pytest.raises(SetupFailed):
        scene.prepare(step="s-2")


def test_a_missing_setup_program_is_said_so(repo: Repository) -> None:
    with pytest.raises(SetupFailed, match="the program was not found"):
        Scene(repo, Preparation(setup=(("no-such-program",),))).prepare()


def test_files_git_does_not_carry_are_copied(repo: Repository) -> None:
    repo.write(".gitignore", ".env\nassets/\n")
    repo.commit("ignore")
    repo.write(".env", "KEY=1\n")
    repo.write("assets/deep/a.bin", "a\n")
    repo.write("sample.env", "not ignored\n")
    scene = Scene(repo, Preparation(copy=(".env", "assets", "sample.env")))
    folder = scene.prepare()
    assert (folder / ".env").read_text() == "KEY=1\n"
    assert (folder / "assets" / "deep" / "a.bin").read_text() == "a\n"
    assert (folder / "sample.env").read_text() == "not ignored\n"
    assert scene.snapshot().changes == ()
    repo.write(".env", "KEY=2\n")
    scene.prepare(step="s-2")
    assert (folder / ".env").read_text() == "KEY=2\n"


def test_a_file_to_copy_that_is_not_there_is_said_so(repo: Repository) -> None:
    with pytest.raises(SetupFailed, match=r"\.env does not exist"):
        Scene(repo, Preparation(copy=(".env",))).prepare()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config", ""])
def test_only_files_of_the_repository_are_copied(repo: Repository, path: str) -> None:
    with pytest.raises(ConfigError, match="has to be a path inside the repository"):
        Scene(repo, Preparation(copy=(path,))).prepare()


def test_nothing_is_copied_through_a_link(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / "conf").symlink_to(outside)
    repo.commit("link")
    (repo.path / "conf").unlink()
    repo.write("conf/.env", "KEY=1\n")
    with pytest.raises(SetupFailed, match="is a link; nothing is written through it"):
        Scene(repo, Preparation(copy=("conf/.env",))).prepare()
    assert list(outside.iterdir()) == []
