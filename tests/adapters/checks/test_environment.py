import asyncio
import os
from pathlib import Path

import pytest

from loopwright.adapters.checks.environment import Digests, for_checks, program
from loopwright.adapters.checks.started import located
from loopwright.errors import CheckNotRunnable


def tool(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


def digest(environment: dict[str, str], *argv: str, setup: tuple[tuple[str, ...], ...] = ()) -> str:
    return asyncio.run(Digests(environment, setup).of("c", argv))


def test_the_path_has_no_entry_that_means_the_current_folder() -> None:
    made = for_checks({"PATH": f"/a::.:bin:/b{os.pathsep}", "HOME": "/h", "GIT_DIR": "x", "LOOP_X": "y"}, Path("/v"))
    assert made == {
        "PATH": "/a:/b",
        "HOME": "/h",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CEILING_DIRECTORIES": "/v",
    }


def test_a_program_is_found_on_the_path_or_is_a_file_of_the_tree(tmp_path: Path) -> None:
    made = tool(tmp_path / "bin", "lint")
    environment = {"PATH": str(tmp_path / "bin")}
    assert program("c", ("lint",), environment) == made
    assert program("c", (str(made),), environment) == made
    assert program("c", ("./lint",), environment) is None
    with pytest.raises(CheckNotRunnable, match="'nothing' was not found"):
        program("c", ("nothing",), environment)


@pytest.mark.parametrize(
    ("argv", "runs"),
    [
        ((".venv/bin/python", "-m", "pytest"), ("{root}/.venv/bin/python", "-m", "pytest")),
        (("./.venv/bin/python",), ("{root}/.venv/bin/python",)),
        (("./run", "test"), ("./run", "test")),  # git carries it: a file of what is judged
        (("bin/later",), ("bin/later",)),  # nowhere yet: the candidate may make it
        (("../bin/tool",), ("../bin/tool",)),
        (("pytest",), ("pytest",)),
        (("/usr/bin/make", ".venv/bin/python"), ("/usr/bin/make", ".venv/bin/python")),
    ],
)
def test_what_git_does_not_carry_is_started_in_the_person_s_own_tree(
    tmp_path: Path, argv: tuple[str, ...], runs: tuple[str, ...]
) -> None:
    root = tmp_path / "root"
    for file in (root / ".venv" / "bin" / "python", root / "run", tmp_path / "bin" / "tool"):
        tool(file.parent, file.name)
    expected = tuple(word.replace("{root}", str(root)) for word in runs)
    assert located(argv, root, lambda path: path == "run") == expected


def test_the_digest_changes_with_tool_setup_and_names_but_not_with_values(tmp_path: Path) -> None:
    tool(tmp_path, "lint")
    environment = {"PATH": str(tmp_path), "TOKEN": "a"}
    first = digest(environment, "lint")
    assert digest({**environment, "TOKEN": "b", "SHLVL": "3"}, "lint") == first
    assert digest({**environment, "NEW": "1"}, "lint") != first
    assert digest(environment, "lint", setup=(("uv", "sync"),)) != first
    tool(tmp_path, "lint", "#!/bin/sh\n# another version\n")
    assert digest(environment, "lint") != first


def test_a_package_installed_into_a_virtual_environment_changes_the_digest(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "python")
    (tmp_path / "pyvenv.cfg").write_text("version = 3.11.7\n")
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (packages / "pytest-8.0.dist-info").mkdir(parents=True)
    environment = {"PATH": str(tmp_path / "bin")}
    first = digest(environment, "python", "-m", "pytest")
    assert digest(environment, "python", "-m", "pytest") == first
    (packages / "pytest-8.0.dist-info").rename(packages / "pytest-9.0.dist-info")
    assert digest(environment, "python", "-m", "pytest") != first


def test_a_shim_is_asked_which_python_it_starts(tmp_path: Path) -> None:
    choice = tmp_path / "choice"
    choice.write_text("3.11")
    tool(tmp_path / "bin", "python", f"#!/bin/sh\nread v < {choice}; echo Python $v\n")
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    first = digest(environment, "python")
    choice.write_text("3.12\n")
    assert digest(environment, "python") != first
