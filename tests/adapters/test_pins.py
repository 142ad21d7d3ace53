"""What a loop relies on beside its commits is known by digest, and seen when it changes."""

import os
import venv
from pathlib import Path

import pytest

from loopwright.adapters.pins import GONE, ReliedOn, differing, files_named, pins_of, scripts_of
from loopwright.adapters.resolution import Resolution
from loopwright.config.settings import AgentSettings, Settings


def agent(*argv: str) -> AgentSettings:
    return AgentSettings(name="dev", kind="command", argv=argv)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (packages / "lib").mkdir()
    (packages / "lib-1.0.dist-info").mkdir()
    (packages / "lib-1.0.dist-info" / "entry_points.txt").write_text("[pytest11]\n")
    (packages / "own.pth").write_text("/src\n")
    (packages / "six.py").write_text("1\n")
    return packages


def relied_on(*argv: str, path: str = "", active: str = "") -> ReliedOn:
    return ReliedOn((argv,), (), Resolution({"PATH": path, "VIRTUAL_ENV": active}, Path("/nowhere")))


def of_environment(site: Path) -> ReliedOn:
    return relied_on(str(site.parents[2] / "bin" / "python"), "-m", "pytest")


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
def test_what_python_would_import_or_run_is_seen_to_change(site: Path, deed: object, name: str, word: str) -> None:
    checks = of_environment(site)
    before, logged = checks.now(), checks.for_log(())
    deed(site)  # type: ignore[operator]
    assert list(differing(before, checks.now())) == [f"{site / name} {word}"]
    assert list(differing(logged, checks.for_log(()))) == [f"{site} was changed"]


def test_using_a_package_changes_nothing(site: Path) -> None:
    checks = of_environment(site)
    before = checks.now()
    for folder in (site, site / "lib"):
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "a.pyc").write_text("x")
    assert checks.now() == before


def test_the_python_of_a_script_is_that_of_its_first_line(site: Path, tmp_path: Path) -> None:
    tool(tmp_path / "bin" / "pytest", f"#!{site.parents[2] / 'bin' / 'python'}\n")
    checks = relied_on("pytest", path=str(tmp_path / "bin"))
    assert str(site / "own.pth") in checks.now()


@pytest.mark.parametrize("argv", [("python3", "-m", "pytest"), ("sh", "-c", "cd part && exec python3 -m pytest")])
def test_a_module_that_a_python_runs_is_no_program_on_the_path(
    site: Path, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    tool(tmp_path / "bin" / "pytest", f"#!{site.parents[2] / 'bin' / 'python'}\n")
    tool(tmp_path / "bin" / "python3", "#!/bin/sh\n")
    assert str(site / "own.pth") not in relied_on(*argv, path=str(tmp_path / "bin")).now()


def test_a_command_that_names_no_python_has_that_of_the_active_environment(site: Path) -> None:
    assert relied_on("make", "test").now() == {}
    active = relied_on("make", "test", active=str(site.parents[2]))
    assert str(site / "own.pth") in active.now()


def test_sources_of_an_editable_installation_are_the_projects_own(site: Path, tmp_path: Path) -> None:
    (tmp_path / "root" / "src").mkdir(parents=True)
    (site / "own.pth").write_text(f"{tmp_path / 'root' / 'src'}\n{tmp_path}\n")
    python = str(site.parents[2] / "bin" / "python")
    (found,) = Resolution({}, tmp_path / "root").interpreters((python,)).values()
    assert (site in found.folders, tmp_path in found.folders) == (True, True)
    assert tmp_path / "root" / "src" not in found.folders


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho no json\n", "#!/nowhere/python\n"])
def test_a_python_that_does_not_answer_imports_from_nowhere(tmp_path: Path, text: str) -> None:
    python = tool(tmp_path / "python", text)
    (found,) = Resolution({}, tmp_path).interpreters((str(python),)).values()
    assert found.folders == ()


def tool(file: Path, text: str = "#!/bin/sh\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_a_program_in_front_of_another_that_a_command_names_is_named(tmp_path: Path) -> None:
    early, late = tmp_path / "early", tmp_path / "late"
    tool(late / "compare")
    checks = relied_on("sh", "-c", "cd src && compare a b; jq", path=f"{early}:{late}")
    before, logged = checks.now(), checks.for_log(())
    tool(early / "jq")  # one that was not there hides none
    assert not list(differing(before, checks.now()))
    planted = tool(early / "compare")
    said = [f"{planted} is found in place of {late / 'compare'}"]
    assert (list(differing(before, checks.now())), list(differing(logged, checks.for_log(())))) == (said, said)


def test_a_program_that_is_written_again_with_the_same_text_is_the_same(tmp_path: Path) -> None:
    checks = relied_on("compare", path=str(tmp_path))
    program = tool(tmp_path / "compare")
    before = checks.now()
    tool(program)
    assert not list(differing(before, checks.now()))
    tool(program, "#!/bin/sh\ntrue\n")
    assert list(differing(before, checks.now())) == [f"{program} was changed"]
    program.unlink()
    assert list(differing(before, checks.now())) == [f"{program} is gone"]


def test_on_another_path_other_programs_are_found_and_nobody_put_them_there(tmp_path: Path) -> None:
    for name in ("one", "other"):
        tool(tmp_path / name / "compare")
    logged = relied_on("compare", path=str(tmp_path / "one")).for_log(())
    assert not list(differing(logged, relied_on("compare", path=str(tmp_path / "other")).for_log(())))


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may write everything can change everything")
def test_what_only_the_system_can_write_stops_no_loop(tmp_path: Path) -> None:
    program = tool(tmp_path / "compare")
    checks = relied_on(str(program), path=str(tmp_path))
    program.chmod(0o555)
    tmp_path.chmod(0o555)
    try:
        assert checks.now() == {}
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("name", ["same/index.js", "@scope/same/index.js", ".bin/jest", "new/index.js"])
def test_what_is_copied_for_every_checkout_is_seen_at_the_next_resume(tmp_path: Path, name: str) -> None:
    modules = tmp_path / "node_modules"
    for each in ("same/index.js", "@scope/same/index.js", ".bin/jest", ".cache/x/y"):
        tool(modules / each)
    before = relied_on().for_log((modules, tmp_path / ".env"))
    tool(modules / ".cache" / "x" / "z")
    assert not list(differing(before, relied_on().for_log((modules, tmp_path / ".env"))))
    tool(modules / name, "other\n")
    assert list(differing(before, relied_on().for_log((modules, tmp_path / ".env")))) == [f"{modules} was changed"]


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
