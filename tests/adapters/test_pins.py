"""What a loop relies on beside its commits is known by digest, and seen when it changes."""

import os
from pathlib import Path

import pytest

from loopwright.adapters.pins import GONE, differing, files_named, packages_of, pins_of, scripts_of
from loopwright.config.settings import AgentSettings, CheckSettings, Settings


def agent(*argv: str) -> AgentSettings:
    return AgentSettings(name="dev", kind="command", argv=argv)


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").write_text("#!/bin/sh\n")
    (tmp_path / "venv" / "bin" / "python").chmod(0o755)
    packages = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    (packages / "lib").mkdir(parents=True)
    (packages / "lib-1.0.dist-info").mkdir()
    (packages / "lib-1.0.dist-info" / "entry_points.txt").write_text("[pytest11]\n")
    (packages / "own.pth").write_text("/src\n")
    (packages / "six.py").write_text("1\n")
    return packages


def commands(venv: Path) -> tuple[tuple[str, ...], ...]:
    return tuple(check.run for check in settings(venv).checks)


def settings(venv: Path, *agents: AgentSettings) -> Settings:
    python = venv.parent.parent.parent / "bin" / "python"
    return Settings(checks=(CheckSettings(name="test", run=(str(python), "-m", "pytest")),), agents=agents)


def test_the_scripts_of_an_agent_are_its_program_by_path_and_what_it_is_told_to_run(tmp_path: Path) -> None:
    for name in ("agent.sh", "role.py", "notes.log", "data.txt"):
        (tmp_path / name).write_text("x\n")
    found = scripts_of(agent("./agent.sh", "role.py", "notes.log", "data.txt", "gone.py", "", "a\0b"), tmp_path)
    assert [Path(path).name for path in found] == ["agent.sh", "role.py"]
    assert scripts_of(agent("sh", str(tmp_path / "role.py")), Path("/")).keys() == {str(tmp_path / "role.py")}


def test_a_large_program_is_known_by_size_and_time(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    with program.open("wb") as file:
        file.truncate(5 << 20)
    before = scripts_of(agent("./agent"), tmp_path)
    os.utime(program, (1, 1))
    assert list(differing(before, scripts_of(agent("./agent"), tmp_path))) == [f"{program} was changed"]


@pytest.mark.parametrize(
    ("deed", "name", "word"),
    [
        (lambda site: (site / "evil.pth").write_text("import evil\n"), "evil.pth", "is new"),
        (lambda site: (site / "own.pth").write_text("/evil\n"), "own.pth", "was changed"),
        (lambda site: (site / "sitecustomize.py").write_text("1\n"), "sitecustomize.py", "is new"),
        (lambda site: (site / "usercustomize").mkdir(), "usercustomize", "is new"),
        (lambda site: (site / "six.py").write_text("evil\n"), "six.py", "was changed"),
        (lambda site: (site / "six.py").unlink(), "six.py", "is gone"),
        (lambda site: (site / "evil-1.dist-info").mkdir(), "evil-1.dist-info", "is new"),
        (
            lambda site: (site / "lib-1.0.dist-info" / "entry_points.txt").write_text("[pytest11]\nevil = evil\n"),
            "lib-1.0.dist-info",
            "was changed",
        ),
    ],
)
def test_what_python_would_import_or_run_is_seen_to_change(venv: Path, deed: object, name: str, word: str) -> None:
    before = packages_of(commands(venv), {})
    pins = pins_of(settings(venv), commands(venv), venv, {})
    deed(venv)  # type: ignore[operator]
    assert list(differing(before, packages_of(commands(venv), {}))) == [f"{venv / name} {word}"]
    assert list(differing(pins, pins_of(settings(venv), commands(venv), venv, {}))) == [f"{venv} was changed"]


def test_using_a_package_changes_nothing(venv: Path) -> None:
    before = packages_of(commands(venv), {})
    for folder in (venv, venv / "lib"):
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "a.pyc").write_text("x")
    assert packages_of(commands(venv), {}) == before


def test_the_active_environment_counts_too(venv: Path) -> None:
    made = (("make", "test"),)
    assert packages_of(made, {"PATH": "/nowhere"}) == {}
    home = str(venv.parent.parent.parent)
    assert packages_of(made, {"PATH": "/nowhere", "VIRTUAL_ENV": home}).keys() >= {str(venv / "own.pth")}


def test_a_script_that_is_gone_is_said_to_be() -> None:
    assert list(differing({"/a": "x", "/b": "y"}, {"/a": GONE, "/b": "y"})) == ["/a is gone"]


def outside(folder: Path) -> Path:
    folder.mkdir()
    for name in ("check.sh", "plain", "mine.toml", "report.xml", "seen.json", "notes.log"):
        (folder / name).write_text("x\n")
    (folder / "data.db").write_bytes(b"\0")
    (folder / "tool").write_bytes(b"\0")
    (folder / "tool").chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (("sh", "{}/check.sh"), ["check.sh"]),
        (("{}/tool", "{}/plain", "{}/data.db"), ["plain", "tool"]),
        (("~/tool",), ["tool"]),
        (("sh", "-c", "cd src && ~/tool >{}/notes.log; X={}/check.sh; cat {}/mine.toml"), ["check.sh", "tool"]),
        (("pytest", "-c", "{}/mine.toml", "--junitxml={}/report.xml", "--report-to", "{}/seen.json"), ["mine.toml"]),
        (("pytest", "--cov-config={}/mine.toml", "-o", "{}/seen.json", "{}/notes.log"), ["mine.toml"]),
        (("sh", "check.sh", "{}/gone.sh", "", "/a\0b", "/" + "x" * 5000), []),
    ],
)
def test_files_that_a_command_names_by_a_whole_path_are_known_but_not_what_it_writes(
    tmp_path: Path, argv: tuple[str, ...], names: list[str]
) -> None:
    home = outside(tmp_path / "outside")
    found = files_named((tuple(word.replace("{}", str(home)) for word in argv),), str(home))
    assert [Path(path).name for path in found] == names


def test_a_file_that_a_check_names_is_seen_to_change_and_one_that_nobody_had_noted_is_not_new(tmp_path: Path) -> None:
    script = outside(tmp_path / "outside") / "check.sh"
    before = pins_of(Settings(), (("sh", str(script)),), tmp_path, {})
    script.write_text("true\n")
    after = pins_of(Settings(), (("sh", str(script)),), tmp_path, {})
    assert list(differing(before, after)) == [f"{script} was changed"]
    assert list(differing({}, after)) == []
    script.unlink()
    assert list(differing(before, pins_of(Settings(), (("sh", str(script)),), tmp_path, {}))) == [f"{script} is gone"]
