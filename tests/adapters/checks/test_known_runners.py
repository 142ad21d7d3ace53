"""Which runner a command starts, and what it is asked for."""

import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.order import may_verify, strength, verifies
from loopwright.adapters.checks.runners.asking import Asked, asked
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.checks.runners.scripts import steering_files
from loopwright.adapters.checks.runners.table import Pace
from loopwright.adapters.checks.single_test import alone, is_pytest
from loopwright.config.settings import CheckSettings

REPORT = Path("/out side/report")
SCRIPTS = """{"scripts": {
  "test": "jest --coverage", "unit": "NODE_ENV=test mocha 'test/*.js'", "all": "npm run lint && npm run unit",
  "last": "jest && eslint .", "node": "node --test test/a.js", "bare": "node --test", "deep": "npm run all",
  "passing": "npm run test --", "nothing": "eslint .", "v": "cross-env CI=1 nyc vitest"
}}"""
MAKEFILE = """\
PYTHON ?= python3
.PHONY: test
all: build
build:
\tcc a.c
test: lint unit
lint:
\t@ruff check
unit:
\t@echo now
\t-cd sub && $(PYTHON) -m pytest \\
\t  -q
go: ; go test ./...
again:
\t$(MAKE) unit
plain:
\tpython3 -m unittest -v
"""
TOX = "[testenv]\ncommands =\n    py311: python -m build\n    {envpython} -m pytest {posargs:tests}\n"
TEXTS = {
    "package.json": SCRIPTS,
    "Makefile": MAKEFILE,
    "justfile": 'python := "python3"\ntest *args:\n    {{python}} -m pytest {{args}}\n',
    "run.sh": "#!/bin/sh\nset -e\nif true; then\n  exec rspec spec\nfi\n",
    "tests.py": "#!/usr/bin/env python3\nimport pytest\n",
    "noxfile.py": 'def tests(session):\n    session.run("pytest", *session.posargs)\n',
    "pyproject.toml": (
        '[tool.hatch.envs.default.scripts]\nunit = "pytest {args}"\n'
        '[tool.poe.tasks]\nall = [{ cmd = "ruff check" }, { cmd = "pytest" }]\n'
        '[tool.pdm.scripts]\nt = { shell = "pytest" }\n'
    ),
}
JEST = "--json --outputFile={report} --ci"
MOCHA = "--reporter=xunit --reporter-option=output={report}"
NODE = (
    "--test-reporter=junit --test-reporter-destination={report} --test-reporter=spec --test-reporter-destination=stdout"
)


@pytest.mark.parametrize(
    ("command", "runner", "started"),
    [
        ("pytest -q", "pytest", "pytest -q --junitxml={report}"),
        ("python3 -m pytest tests -- a", "pytest", "python3 -m pytest tests --junitxml={report} -- a"),
        ("uv run --with x pytest", "pytest", "uv run --with x pytest --junitxml={report}"),
        ("poetry run python -m pytest", "pytest", "poetry run python -m pytest --junitxml={report}"),
        ("poetry -C part run pytest", "pytest", "poetry -C part run pytest --junitxml={report}"),
        ("pipenv run pytest", "pytest", "pipenv run pytest --junitxml={report}"),
        ("hatch run test:pytest", "pytest", "hatch run test:pytest --junitxml={report}"),
        ("uv --directory=part run pytest", "pytest", "uv --directory=part run pytest --junitxml={report}"),
        (".venv/bin/pytest", "pytest", ".venv/bin/pytest --junitxml={report}"),
        ("coverage run -m pytest", "pytest", "coverage run -m pytest --junitxml={report}"),
        ("python3 -m unittest -v", "unittest", "python3 {unittest} --report={report} unittest -v"),
        (
            "python -m coverage run -m unittest",
            "unittest",
            "python -m coverage run {unittest} --report={report} unittest",
        ),
        ("python manage.py test app", "django", "python manage.py test app --verbosity=2"),
        ("./manage.py test", "django", "./manage.py test --verbosity=2"),
        ("npx jest src", "jest", f"npx jest src {JEST}"),
        ("node node_modules/jest/bin/jest.js", "jest", f"node node_modules/jest/bin/jest.js {JEST}"),
        ("node --test t", "node", f"node --test {NODE} t"),
        ("go test ./... -run A", "go", "go test -json ./... -run A"),
        ("cargo test -- --nocapture", "cargo", "cargo test --no-fail-fast -- --nocapture"),
        ("bundle exec rspec", "rspec", "bundle exec rspec --format=progress --format=json --out={report}"),
        ("php vendor/bin/phpunit", "phpunit", "php vendor/bin/phpunit --log-junit {report}"),
        ("mvn test", "mvn", "mvn test"),
        ("npm test", "jest", f"npm test -- {JEST}"),
        ("npm test -- --watch=false", "jest", f"npm test -- --watch=false {JEST}"),
        ("yarn test", "jest", f"yarn test {JEST}"),
        ("pnpm run unit", "mocha", f"pnpm run unit {MOCHA}"),
        ("npm run all", "mocha", f"npm run all -- -- {MOCHA}"),
        ("npm run deep", "mocha", f"npm run deep -- -- -- {MOCHA}"),
        ("npm run passing", "jest", f"npm run passing -- {JEST}"),
        ("npm run bare", "node", f"npm run bare -- {NODE}"),
    ],
)
def test_a_known_runner_is_asked_on_its_command_line(command: str, runner: str, started: str) -> None:
    found = asked(tuple(command.split()), TEXTS)
    assert (found.runner, " ".join(found.argv)) == (runner, started)


@pytest.mark.parametrize(
    ("command", "runner", "variable"),
    [
        ("make test", "pytest", "PYTEST_ADDOPTS"),
        ("make -s unit", "pytest", "PYTEST_ADDOPTS"),
        ("make again", "pytest", "PYTEST_ADDOPTS"),
        ("make go", "go", "GOFLAGS"),
        ("make plain", "unittest", ""),
        ("just test", "pytest", "PYTEST_ADDOPTS"),
        ("nox", "pytest", "PYTEST_ADDOPTS"),
        ("hatch run unit", "pytest", "PYTEST_ADDOPTS"),
        ("hatch test", "pytest", "PYTEST_ADDOPTS"),
        ("uv run poe all", "pytest", "PYTEST_ADDOPTS"),
        ("pdm run t", "pytest", "PYTEST_ADDOPTS"),
        ("./run.sh", "rspec", "SPEC_OPTS"),
        ("bash run.sh --fast", "rspec", "SPEC_OPTS"),
        ("npm run node", "node", "NODE_OPTIONS"),
        ("npm run last", "jest", ""),
    ],
)
def test_a_runner_that_something_else_starts_is_asked_through_its_environment(
    command: str, runner: str, variable: str
) -> None:
    found = asked(tuple(command.split()), TEXTS)
    assert (found.runner, found.argv, found.sure) == (runner, tuple(command.split()), False)
    assert [name for name, _ in found.carried] == ([variable] if variable else [])


def test_a_shell_is_read_as_far_as_it_names_its_commands() -> None:
    assert asked(("sh", "-c", "cd x && A=1 python3 -m pytest -q")).runner == "pytest"
    assert asked(("sh", "-c", "echo 'pytest")).runner == ""
    assert asked(("bash", "-lc", "cd . && make test"), TEXTS).runner == "pytest"
    assert "ci/all.sh" in steering_files([("sh", "-c", "npm ci && sh ci/all.sh")])


@pytest.mark.parametrize("text", [TOX, "[testenv]\nskip_install = true\n[testenv:py]\ncommands = pytest\n"])
def test_tox_is_told_to_let_the_request_through(text: str) -> None:
    found = asked(("tox", "-q"), {"tox.ini": text})
    environment = found.environment({"PYTEST_ADDOPTS": "-q"}, REPORT)
    assert environment["TOX_OVERRIDE"] == "testenv.pass_env+=PYTEST_ADDOPTS;env_run_base.pass_env+=PYTEST_ADDOPTS"
    assert environment["PYTEST_ADDOPTS"] == f"-q '--junitxml={REPORT}-$TOX_ENV_NAME-$NOX_CURRENT_SESSION'"


@pytest.mark.parametrize(
    "texts",
    [
        {"tox.toml": '[env_run_base]\ncommands = [["pytest", "tests"]]\n'},
        {"pyproject.toml": '[tool.tox.env.py]\ncommands = [["pytest"]]\n'},
        {"pyproject.toml": f"[tool.tox]\nlegacy_tox_ini = '''{TOX}'''\n"},
        {"setup.cfg": "[tox:testenv]\ncommands = pytest\n"},
    ],
)
def test_the_configuration_of_tox_is_found_where_it_may_stand(texts: dict[str, str]) -> None:
    assert asked(("tox",), texts).runner == "pytest"


@pytest.mark.parametrize(
    "command",
    [
        "true", "npm run nothing", "npm run missing", "npm --prefix sub test", "make build", "make missing",
        "make -C sub test", "./tests.py", "sh", "python3 -c import_pytest", "python3 tests.py -m pytest",
        "tox", "ruff check", "go build",        "cargo build", "composer test", "just missing", "docker run x",
    ],
)  # fmt: skip
def test_a_command_nobody_can_see_through_is_run_as_it_is(command: str) -> None:
    argv = tuple(command.split())
    assert asked(argv, TEXTS) == Asked(argv=argv)
    assert strength(CheckSettings(name="test", run=argv), TEXTS) == "weak"


@pytest.mark.parametrize(
    "name", ["package.json", "pyproject.toml", "tox.ini", "noxfile.py", "Makefile", "composer.json"]
)
@pytest.mark.parametrize("text", ["", "[", "{", "\0", "[]", '{"scripts": 1}', "a = [", "def"])
def test_a_file_that_cannot_be_read_names_no_runner(name: str, text: str) -> None:
    for command in ("npm test", "tox", "nox", "make test", "hatch run x", "composer test"):
        assert asked(tuple(command.split()), {name: text}).runner == ""


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("tox -e lint", ""),
        ("tox -e py311,lint", "pytest"),
        ("tox --env=other", "pytest"),
        ("nox -s lint", ""),
        ("nox --session tests", "pytest"),
        ("nox", "pytest"),
    ],
)
def test_only_the_environments_that_are_named_count(command: str, runner: str) -> None:
    texts = {
        "tox.ini": "[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = ruff check\n",
        "noxfile.py": "def lint(session):\n    session.run('ruff')\ndef tests(session):\n    session.run('pytest')\n",
    }
    assert asked(tuple(command.split()), texts).runner == runner
    tables = {"tox.toml": '[env_run_base]\ncommands = [["pytest"]]\n[env.lint]\ncommands = [["ruff"]]\n'}
    if command.startswith("tox"):
        assert asked(tuple(command.split()), tables).runner == runner


def test_scripts_that_call_each_other_without_end_are_given_up() -> None:
    texts = {"package.json": '{"scripts": {"a": "npm run b", "b": "npm run a"}}', "Makefile": "a: b\nb: a\n\tmake a\n"}
    assert (asked(("npm", "run", "a"), texts).runner, asked(("make", "a"), texts).runner) == ("", "")


def test_a_request_stands_in_quotes_where_the_path_needs_them() -> None:
    node = asked(("npm", "run", "node"), TEXTS).environment({}, REPORT)["NODE_OPTIONS"]
    assert node.startswith(f'--test-reporter=junit "--test-reporter-destination={REPORT}" ')
    assert asked(("vitest",)).environment({}, REPORT) == {"CI": "true"}
    assert asked(("python3", "-m", "unittest")).command(REPORT)[1:3] == (unittest_report.__file__, f"--report={REPORT}")


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("pytest", "pytest --junitxml={report} -x --tb=native"),
        ("pytest --junitxml={report}", "pytest --junitxml={report} -x --tb=native"),
        ("python3 -m unittest", "python3 {unittest} --report={report} unittest -f"),
        ("python3 {unittest} --report={report} discover", "python3 {unittest} --report={report} discover -f"),
        ("go test ./...", "go test -json -failfast ./..."),
        ("cargo test", "cargo test --no-fail-fast"),
        ("mocha", f"mocha {MOCHA} --bail"),
        ("make test", "make test"),
        ("true", "true"),
    ],
)
def test_a_runner_is_asked_to_stop_at_the_first_failure(command: str, started: str) -> None:
    request = asked(tuple(command.split()), TEXTS, own_report="{report}" in command, pace=Pace(stops_early=True))
    assert " ".join(request.argv) == started


def test_the_request_to_stop_goes_through_the_environment_too() -> None:
    request = asked(("make", "test"), TEXTS, pace=Pace(stops_early=True))
    assert request.environment({}, REPORT)["PYTEST_ADDOPTS"].endswith(" -x --tb=native")


def test_what_is_enough_to_verify_by() -> None:
    def check(*run: str, **more: str) -> CheckSettings:
        return CheckSettings(name="any", run=run, **more)  # type: ignore[arg-type]

    assert verifies(check("pytest"))
    assert verifies(check("x", "{report}", report="junit"))
    assert verifies(check("true", trust="exit-code"))
    assert verifies(check("npm", "test"), TEXTS)
    assert not verifies(check("npm", "test"))
    assert not verifies(check("x", "{report}", report="sarif"))
    assert may_verify(check("npm", "test"))  # what it prints may count
    assert may_verify(check("./run", "test"))
    assert may_verify(check("python3", "tests.py"))


@pytest.mark.parametrize(
    ("run", "may"),
    [
        (("sh", "-c", "npm test"), True),
        (("sh", "-c", "npm ci && npm test"), True),
        (("sh", "-c", "sh ci.sh"), True),
        (("bash", "-lc", "cd . && make test"), True),
        (("our-tests", "--all"), True),
        (("./gradlew", "build"), True),
        (("true",), False),
        (("sh", "-c", "cd src && ruff check . && mypy ."), False),
        (("uv", "run", "mypy", "src"), False),
        (("npx", "eslint", "."), False),
        (("python3", "-m", "compileall", "src"), False),
        (("cargo", "build"), False),
    ],
)
def test_only_what_can_have_no_tests_is_known_beforehand_not_to_count_any(run: tuple[str, ...], *, may: bool) -> None:
    assert may_verify(CheckSettings(name="any", run=run)) is may


def test_a_check_that_is_named_for_another_purpose_is_believed_where_its_command_is_a_script() -> None:
    assert not may_verify(CheckSettings(name="lint", run=("our-tests",)))
    assert may_verify(CheckSettings(name="lint", run=("make", "all")))


def test_the_files_that_steer_are_looked_for_by_name(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "test.sh").write_text("pytest\n")
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n")
    commands = [("./scripts/test.sh",), ("make", "test"), ("../outside.sh",), ("/bin/true",)]
    assert "outside.sh" not in "".join(steering_files(commands))
    assert texts_in(tmp_path, commands) == {"scripts/test.sh": "pytest\n", "Makefile": "test:\n\tpytest\n"}


def test_one_test_alone_behind_other_programs() -> None:
    assert alone(("uv", "run", "pytest", "-q", "tests"), "tests/test_a.py::b") == (
        *("uv", "run", "pytest", "tests/test_a.py::b", "-q"),
    )
    ours = ("{unittest}", "--report={report}", "run")
    unittest = (sys.executable, "-m", "unittest")
    assert alone((*unittest, "discover", "-v", "t", "-p", "x*.py"), "a.B.c") == (
        sys.executable,
        *ours,
        "-s",
        "t",
        "a.B.c",
    )
    assert alone((*unittest, "discover", "--start-directory=t", "-t", "."), "a.B.c") == (
        *(sys.executable, *ours, "-s", "t", "-t", ".", "a.B.c"),
    )
    assert alone(unittest, "a.B.c") == (sys.executable, *ours, "a.B.c")
    assert alone((sys.executable, *ours, "a"), "a.B.c") == (sys.executable, *ours, "a")
    assert alone(("jest",), "a > b") == ("jest",)
    assert is_pytest(("uv", "run", "pytest"))
    assert not is_pytest(("hatch", "test"))


def test_a_part_of_the_tests_is_asked_for_where_the_runner_can_choose() -> None:
    part = Pace(stops_early=True, only=("calc", "shop"))
    assert asked(("pytest", "-q"), own_report=True, pace=part).argv == (
        *("pytest", "-q", "-x", "--tb=native", "-k", "calc or shop"),
    )
    assert asked(("npx", "mocha"), own_report=True, pace=part).argv == ("npx", "mocha", "--bail")
    carried = asked(("make", "test"), TEXTS, own_report=True, pace=part)
    assert carried.environment({}, REPORT)["PYTEST_ADDOPTS"] == "-x --tb=native -k 'calc or shop'"
