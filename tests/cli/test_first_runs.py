"""`loop setup` writes checks that ran, and `loop doctor --run` runs them: small projects, real processes."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, Done, Sample, loop
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured

GREEN = (
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self) -> None:\n        self.assertTrue(True)\n"
)
RED = GREEN.replace("True)", "False)")
FAKE_RUNNER = """\
import pathlib, sys
report = next(word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml="))
pathlib.Path(report).write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
"""


# It runs one test of tests/test_a.py and three in all; PART are collected there.
PARTED_RUNNER = """\
import pathlib, sys
whole, collects = "tests/test_a.py" not in sys.argv, "--collect-only" in sys.argv
report = next(word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml="))
cases = [f'<testcase classname="a" name="t{n}"/>' for n in range(3 if whole else 1)]
pathlib.Path(report).write_text("<testsuite>" + "".join([] if collects else cases) + "</testsuite>")
print(f"{3 if whole else PART} tests collected in 0.01s" if collects else "")
sys.exit(WHOLE if whole and not collects else 0)
"""


def project(folder: Path, files: dict[str, str]) -> Repository:
    repo = Repository.create(folder)
    for path, text in files.items():
        repo.write(path, text)
    repo.commit("A project")
    return repo


def own_environment(repo: Repository, script: str) -> None:
    """A `.venv` that git does not carry, whose python is a script."""
    repo.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    repo.write(".venv/runner.py", script)
    python = repo.write(".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "{repo.path}/.venv/runner.py" "$@"\n')
    python.chmod(0o755)
    repo.write(".git/info/exclude", ".venv\n")


def persons_path(folder: Path, *modules: str) -> str:
    """A PATH as a person has it: a Python of theirs, and these tools beside it. Ours is none of the project's."""
    tools = {"python": "", **{module: f"-m {module} " for module in modules}}
    folder.mkdir()
    for name, words in tools.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def checks(done: Done) -> dict[str, str]:
    return {check["name"]: " ".join(check["run"]) for check in done.data["checks"]}


def with_checks(folder: Path, text: str) -> Sample:
    return Sample.create(folder, config=CONFIG.split("[checks.test]")[0] + text)


def test_what_a_runner_is_told_to_collect_is_written_as_tests(tmp_path: Path) -> None:
    told = '{"name": "x", "version": "1.0.0", "scripts": {"test": "node --test checks/*.js"}}'
    files = {"package.json": told, "lib/a.js": "let a\n", "checks/a.js": 'require("node:test")("a", () => {})\n'}
    text = loop(project(tmp_path / "repo", files).path, "setup", "--no-run", "--json").data["text"]
    assert 'product = ["lib/**"]\n' in text
    assert '"checks/**"]\n' in text


def test_an_environment_in_the_repository_runs_the_checks_of_a_clean_checkout(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"pyproject.toml": "[tool.pytest.ini_options]\n", "test_a.py": "import pytest\n"})
    own_environment(repo, FAKE_RUNNER)
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {"test": ".venv/bin/python -m pytest"}
    (run,) = loop(repo.path, "doctor", "--run", "--json").data["runs"]
    assert (run["status"], run["tests"]) == ("ok", 1)


def test_what_lies_unrecorded_in_the_persons_root_does_not_steer_a_run(tmp_path: Path) -> None:
    """pytest looks for its settings in the folders above as well."""
    check = f"[checks.test]\nrun = {json.dumps([sys.executable, '-m', 'pytest'])}\n"
    sample = with_checks(tmp_path / "repo", check)
    sample.repo.write("tests/test_a.py", GREEN)
    sample.repo.commit("A test")
    sample.repo.write("pytest.ini", "[pytest]\naddopts = --collect-only -k none\n")
    sample.repo.write("conftest.py", "raise SystemExit(1)\n")
    (run,) = sample.loop("doctor", "--run", "--json").data["runs"]
    assert (run["status"], run["tests"]) == ("ok", 1)
    assert [path.name for path in (sample.repo.path / ".loop" / "verify").iterdir()] == ["pytest.ini"]


def test_the_first_way_that_is_green_is_written(tmp_path: Path) -> None:
    """The environment of the repository has no pytest; its tests need none."""
    repo = project(tmp_path / "repo", {"setup.py": "", "tests/test_a.py": GREEN, "requirements.txt": "pytest\n"})
    own_environment(repo, "import sys; sys.exit('No module named pytest')")
    done = loop(repo.path, "setup", PATH=persons_path(tmp_path / "bin"))
    assert "trying test: .venv/bin/python -m pytest (at most 120 s)" in done.err
    assert "cannot run" in done.err
    assert 'run = ["python", "-m", "pytest"]' in (repo.path / "loop.toml").read_text()
    assert "(counting): ok, 1 test" in done.out


@pytest.mark.parametrize(
    ("exit_code", "command", "warnings"),
    [(0, ".venv/bin/python -m pytest", 0), (1, ".venv/bin/python -m pytest tests/test_a.py", 1)],
)
def test_the_plain_command_is_written_where_it_runs_more_tests(
    tmp_path: Path, exit_code: int, command: str, warnings: int
) -> None:
    files = {"tox.ini": "[testenv:bench]\ncommands = pytest tests/test_a.py\n", "tests/test_a.py": "import pytest\n"}
    repo = project(tmp_path / "repo", files)
    own_environment(repo, PARTED_RUNNER.replace("WHOLE", str(exit_code)).replace("PART", "1"))
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {"test": command}
    assert len([note for note in done.data["notes"] if "collects 3 tests" in note]) == warnings


@pytest.mark.parametrize(("collected", "expected"), [(1, ["warn"]), (3, [])], ids=["more", "only skipped ones"])
def test_the_doctor_warns_where_a_plain_run_finds_more_tests(
    tmp_path: Path, collected: int, expected: list[str]
) -> None:
    run = '[checks.test]\nrun = [".venv/bin/python", "-m", "pytest", "tests/test_a.py"]\n'
    sample = with_checks(tmp_path / "repo", run)
    own_environment(sample.repo, PARTED_RUNNER.replace("WHOLE", "0").replace("PART", str(collected)))
    lines = sample.loop("doctor", "--run", "--json").data["lines"]
    assert [line["status"] for line in lines if "collects 3 tests" in line["text"]] == expected


def test_a_check_that_cannot_run_is_left_out_with_one_line_that_says_why(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"package.json": json.dumps({"scripts": {"test": "no-such-runner"}})})
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {}
    (note,) = done.data["notes"]
    assert "check 'test' cannot run: `npm test` ended with exit code 127" in note
    assert "no-such-runner: not found" in note
    (line,) = [line for line in done.data["text"].splitlines() if line.startswith("# Left out")]
    assert line == (
        "# Left out: check 'test': `npm test` cannot run, what it starts is not installed here;"
        " install no-such-runner, or let `loop setup --force` look again for what is here"
    )
    assert "  cannot run: what it starts is not installed here\n" in done.err


@pytest.mark.trust
def test_a_test_check_that_is_red_on_the_base_is_written_and_baseline_explained(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"tests/test_a.py": RED})
    text = loop(repo.path, "setup", "--json").data["text"]
    assert "# Red on the base, 1 test" in text
    assert "A loop has to mend that; `baseline = true` forgives it." in text
    assert "[checks.test]" in text.splitlines()


def test_a_test_file_that_cannot_be_imported_is_forgiven_by_no_baseline(tmp_path: Path) -> None:
    """Nor is it told as if it were: no attempt would pass."""
    run = f'[checks.test]\nrun = ["{sys.executable}", "-m", "pytest", "tests"]\nbaseline = true\n'
    made = with_checks(tmp_path / "repo", run)
    made.repo.write("tests/test_a.py", "import sys\n\nsys.nothing()\n")
    made.repo.commit("Tests of another time")
    told = made.loop("doctor", "--run").out
    (line,) = (line for line in told.splitlines() if "red on the base" in line)
    assert "AttributeError: module 'sys' has no attribute 'nothing'; its tests did not all run, which" in line
    assert line.endswith(". A loop has to mend that")


def test_red_tests_of_every_package_below_are_in_force(tmp_path: Path) -> None:
    files = {"a/Makefile": "test:\n\ttrue\n", "b/Makefile": "test:\n\tfalse\n"}
    done = loop(project(tmp_path / "repo", files).path, "setup", "--json")
    assert checks(done) == {"test": "make -C a test", "test-b": "make -C b test"}


def test_a_linter_that_is_red_by_its_exit_code_alone_is_not_put_in_force_nor_a_check_asked_for_that_was_written(
    tmp_path: Path,
) -> None:
    repo = project(tmp_path / "repo", {"Makefile": "test:\n\ttrue\nlint:\n\techo wrong; false\n"})
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {"test": "make test"}
    assert "# [checks.lint]" in done.data["text"].splitlines()
    shown = loop(repo.path, "setup", "--force")
    assert "make lint (written but not in force): red on the base" in shown.out
    told = 'let [checks.test] count them (`report`), or give it trust = "exit-code".'
    assert f"only `loop review` starts: {told}" in shown.out


def test_a_linter_with_a_report_is_in_force_and_forgives_what_was_there(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"ruff.toml": "", "a.py": "import os\n", "tests/test_a.py": GREEN})
    path = persons_path(tmp_path / "bin", "ruff")
    text = loop(repo.path, "setup", "--json", PATH=path).data["text"]
    assert "baseline = true" in text.splitlines()
    repo.commit("Configured")
    runs = loop(repo.path, "doctor", "--run", "--json", PATH=path).data["runs"]
    assert [(run["check"], run["status"], len(run["failing"])) for run in runs] == [
        ("test", "ok", 0),
        ("lint", "ok", 1),
    ]


def test_without_running_the_checks_that_seem_right_are_written_and_that_is_said(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"package.json": json.dumps({"scripts": {"test": "no-such-runner"}})})
    done = loop(repo.path, "setup", "--no-run", "--json")
    assert checks(done) == {"test": "npm test"}
    assert "# Not run yet: `loop doctor --run` runs it once." in done.data["text"]
    assert not (repo.path / ".loop").exists()


def test_the_modules_of_the_person_are_brought_into_the_checkout(tmp_path: Path) -> None:
    said = {"scripts": {"test": "ours"}, "devDependencies": {"ours": "1"}}
    repo = project(tmp_path / "repo", {"package.json": json.dumps(said), ".gitignore": "node_modules\n"})
    repo.write("node_modules/.bin/ours", "#!/bin/sh\ntest -f ./node_modules/.bin/ours\n").chmod(0o755)
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {"test": "npm test"}
    assert 'copy = ["node_modules"]  # from your tree' in done.data["text"].splitlines()


TESTED = """
[checks.build]
run = ["no-such-tool"]
[checks.test]
run = ["python3", "{unittest}", "--report={report}", "discover", "-s", "tests"]
report = "junit"
after = ["build"]
[checks.lint]
run = ["sh", "-c", "echo wrong; exit 3"]
paths = ["src/**"]
"""


def test_the_doctor_runs_every_check_and_says_of_each_what_came(tmp_path: Path) -> None:
    done = with_checks(tmp_path / "repo", TESTED).loop("doctor", "--run", "--json")
    assert (done.code, done.data["ok"], done.data["ready"]) == (2, False, [])
    assert [(run["check"], run["status"], run["last"]) for run in done.data["runs"]] == [
        ("build", "cannot run", []),
        ("test", "skipped", []),
        ("lint", "red", ["wrong"]),
    ]


def test_a_check_that_cannot_run_is_shown_with_its_last_lines_and_nothing_is_ready(tmp_path: Path) -> None:
    text = '[checks.test]\nrun = ["sh", "-c", "echo tool: not found; exit 127"]\n'
    done = with_checks(tmp_path / "repo", text).loop("doctor", "--run")
    assert done.code == 2
    assert "fix   run          check 'test' cannot run: `sh -c echo tool: not found; exit 127` ended with" in done.out
    assert "| tool: not found" in done.out
    assert done.out.splitlines()[-1] == "Something must be fixed before a loop can start."


def test_red_on_the_base_is_no_hindrance(tmp_path: Path) -> None:
    done = with_checks(tmp_path / "repo", '[checks.test]\nrun = ["false"]\ntrust = "exit-code"\n').loop(
        "doctor", "--run"
    )
    assert (done.code, "Ready: " in done.out, "warn  run          test: red on the base" in done.out) == (0, True, True)


def test_a_set_up_that_fails_hinders_every_check(tmp_path: Path) -> None:
    text = '[checks.test]\nrun = ["true"]\n[workspace]\nsetup = [["sh", "-c", "echo no network; exit 1"]]\n'
    (run,) = with_checks(tmp_path / "repo", text).loop("doctor", "--run", "--json").data["runs"]
    assert (run["status"], run["last"]) == ("cannot run", ["no network"])


def test_the_doctor_says_which_checks_nobody_has_run_here(tmp_path: Path) -> None:
    sample = with_checks(tmp_path / "repo", '[checks.test]\nrun = ["true"]\ntrust = "exit-code"\n')
    said = "not run here yet (what `loop setup` tried is not kept): test; `loop doctor --run` runs every check once"
    assert said in sample.loop("doctor").out
    assert "not run here yet" not in sample.loop("doctor", "--run").out
    assert "not run here yet" not in sample.loop("doctor").out


COUNTS = "echo '# tests 2'; echo '# suites 0'"


def test_a_check_that_counts_nothing_is_not_ready_alone(tmp_path: Path) -> None:
    done = with_checks(tmp_path / "repo", '[checks.test]\nrun = ["true"]\n').loop("doctor")
    assert (done.code, "Ready" in done.out) == (1, False)
    assert "fix   checks       no check that counts tests: of 'test' only the exit code is known" in done.out


@pytest.mark.parametrize(("script", "words", "code"), [("true", ("fix", "weak"), 1), (COUNTS, ("ok", "counting"), 0)])
def test_what_a_script_counts_is_known_once_it_ran(
    tmp_path: Path, script: str, words: tuple[str, str], code: int
) -> None:
    sample = with_checks(tmp_path / "repo", '[checks.test]\nrun = ["sh", "check.sh"]\n')
    sample.repo.write("check.sh", f"{script}\n")
    sample.repo.commit("A script")
    done = sample.loop("doctor")
    doubt = 'whether a check counts tests (`loop doctor --run` tells), which these need: loop feedback "TASK", '
    assert (done.code, "Ready: loop review PATH\n" in done.out, doubt in done.out) == (0, True, True)
    for argv in (("doctor", "--run", "--json"), ("doctor", "--json")):
        done = sample.loop(*argv)
        assert (done.code, bool(done.data["ready"])) == (code, code == 0)
        lines = [line for line in done.data["lines"] if line["what"] in ("check", "checks")]
        assert words[0] in {line["status"] for line in lines}
        assert any(f"({words[1]}" in line["text"] for line in lines)


def test_setup_and_doctor_agree_on_what_is_weak(tmp_path: Path) -> None:
    files = {"Makefile": f"test:\n\t{COUNTS}\nlint:\n\ttrue\n"}
    repo = project(tmp_path / "repo", files)
    found = loop(repo.path, "setup", "--json").data["checks"]
    assert {each["name"]: each["strength"] for each in found} == {"test": "counting", "lint": "weak"}
    lines = loop(repo.path, "doctor", "--run", "--json").data["lines"]
    assert [line["text"] for line in lines if line["what"] == "check"] == [
        "test: make test (counting)",
        "lint: make lint (weak)",
    ]


def test_a_recipe_that_names_an_environment_git_does_not_carry_is_no_reason_to_have_no_check(tmp_path: Path) -> None:
    files = {"Makefile": "test:\n\t.venv/bin/python -m pytest -q tests\n", "tests/test_a.py": "import pytest\n"}
    repo = project(tmp_path / "repo", files)
    own_environment(repo, FAKE_RUNNER)
    done = loop(repo.path, "setup", "--json")
    assert checks(done) == {"test": ".venv/bin/python -m pytest tests"}


def test_a_recipe_that_needs_more_of_its_environment_than_python_has_it_brought_along(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"Makefile": f"test:\n\t.venv/bin/run-them\n\t{COUNTS}\n"})
    own_environment(repo, "")
    repo.write(".venv/bin/run-them", "#!/bin/sh\n").chmod(0o755)
    done = loop(repo.path, "setup", "--json")
    assert (checks(done), 'copy = [".venv"]' in done.data["text"]) == ({"test": "make test"}, True)


def test_without_a_check_only_what_needs_none_is_ready(tmp_path: Path) -> None:
    done = with_checks(tmp_path / "repo", "").loop("doctor")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Ready: loop review PATH")
    assert "so that only `loop review` starts" in done.out


def test_a_program_that_is_nowhere_is_to_be_fixed(tmp_path: Path) -> None:
    done = with_checks(tmp_path / "repo", '[checks.test]\nrun = [".venv/bin/python"]\n').loop("doctor")
    assert done.code == 1
    assert "'.venv/bin/python' is neither in the repository nor in your tree" in done.out


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"package.json": '{"dependencies": {"a": "1"}}'}, "warn  npm          no node_modules; run `npm install`"),
        (
            {"package.json": '{"dependencies": {"a": "1"}}', "node_modules/a.js": ""},
            "ok    npm          node_modules",
        ),
        ({"package.json": '{"workspaces": ["a"]}', "yarn.lock": "", ".pnp.cjs": ""}, "ok    yarn         .pnp.cjs"),
    ],
)
def test_the_doctor_says_what_the_project_is_tested_with(tmp_path: Path, files: dict[str, str], line: str) -> None:
    sample = Sample.create(tmp_path / "repo")
    for path, text in files.items():
        sample.repo.write(path, text)
    assert line in sample.loop("doctor").out.splitlines()


def test_a_runner_under_which_nothing_passes_does_not_stand_in_for_the_one_that_is_missing(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "tests/test_a.py": "import pytest_is_not_there\n"})
    own_environment(repo, "import sys; sys.exit('No module named pytest')")
    text = loop(repo.path, "setup", "--json", PATH="/usr/bin:/bin").data["text"]
    assert "# Left out: check 'test': `.venv/bin/python -m pytest` cannot run, what it starts is not" in text
    assert "install pytest (run `.venv/bin/python -m pip install pytest`)" in text


def test_what_the_doctor_advises_to_install_is_what_the_check_needs(tmp_path: Path) -> None:
    """A package.json beside Python, nothing of it needed: `npm ci` brings neither a module of Python nor a script."""
    python = json.dumps([sys.executable, "-S", "-m", "not_there"])
    text = f'[checks.test]\nrun = {python}\n[checks.lint]\nrun = ["npm", "run", "lint"]\n'
    sample = with_checks(tmp_path / "repo", text)
    said = {"scripts": {"test": "ours"}, "devDependencies": {"ours": "1"}}
    sample.repo.write("package.json", json.dumps(said))
    sample.repo.write("package-lock.json", "{}")
    sample.repo.write("requirements.txt", "not-there\n")
    sample.repo.commit("Two worlds")
    runs = sample.loop("doctor", "--run", "--json").data["runs"]
    advice = {run["check"]: run["advice"] for run in runs}
    assert "pip install -r requirements.txt" in advice["test"]
    assert advice["lint"] == "let `loop setup --force` look again for what is here"


READS = """\
import unittest


class T(unittest.TestCase):
    def test_a(self) -> None:
        with open("data/a.csv") as file:
            self.assertEqual(file.read(), "a")
"""


def test_tests_that_read_what_git_ignores_are_said_to_with_what_brings_it_along(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {".gitignore": "data/*.csv\n", "tests/__init__.py": "", "tests/test_a.py": READS})
    repo.write("data/a.csv", "a")
    path = persons_path(tmp_path / "bin")
    done = loop(repo.path, "setup", PATH=path)
    assert "red on the base, 1 test" in done.out
    assert 'it names data/a.csv, which git ignores, so that no checkout has it: add `copy = ["data/**"]`' in done.out
    config = repo.path / "loop.toml"
    (run,) = loop(repo.path, "doctor", "--run", "--json", PATH=path).data["runs"]
    assert (run["status"], "data/**" in run["advice"]) == ("red", True)
    config.write_text(config.read_text().replace("\n[workspace]", "\n" + '[workspace]\ncopy = ["data/**"]'))
    (run,) = loop(repo.path, "doctor", "--run", "--json", PATH=path).data["runs"]
    assert (run["status"], run["advice"]) == ("ok", "")


def test_a_red_test_check_is_written_where_another_found_no_test(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo", {"tests/test_a.py": "def test_a() -> None:\n    assert not 1\n"})
    done = loop(repo.path, "setup", "--json", PATH=persons_path(tmp_path / "bin"))
    assert checks(done) == {"test": "python -m pytest"}
