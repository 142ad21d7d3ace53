from pathlib import Path

import pytest

from loopwright.adapters.detection.python_checks import python_checks
from loopwright.adapters.detection.python_interpreters import install_advice, interpreters
from tests.adapters.detection.projects import first, look, program, virtual_environment, ways

PYTEST = "-m pytest"
UNITTEST = "-m unittest discover -s"


def test_an_environment_of_the_repository_goes_before_the_active_one_and_that_before_the_path(tmp_path: Path) -> None:
    virtual_environment(tmp_path / "active")
    seen = look(tmp_path, {"pyproject.toml": "[tool.pytest]"}, "python3", VIRTUAL_ENV=str(tmp_path / "active"))
    virtual_environment(seen.root / ".venv")
    expected = [".venv/bin/python", f"{tmp_path}/active/bin/python", "python3"]
    assert [" ".join(each.argv) for each in interpreters(seen)] == expected
    assert ways(python_checks(seen), "test")[:3] == [f"{each} {PYTEST}" for each in expected]


def test_an_active_environment_is_written_as_python_so_that_the_file_suits_others_too(tmp_path: Path) -> None:
    virtual_environment(tmp_path / "active")
    path = f"{tmp_path}/active/bin"
    seen = look(tmp_path, {"setup.py": ""}, VIRTUAL_ENV=str(tmp_path / "active"), PATH=path)
    assert [each.argv for each in interpreters(seen)] == [("python",)]


def test_an_active_environment_in_the_repository_is_named_by_its_folder(tmp_path: Path) -> None:
    seen = look(tmp_path, {"setup.py": ""}, VIRTUAL_ENV=str(tmp_path / "project" / ".venv"))
    virtual_environment(seen.root / ".venv")
    assert [each.argv for each in interpreters(seen)] == [(".venv/bin/python",)]


@pytest.mark.parametrize(
    ("files", "manager", "written"),
    [
        ({"pyproject.toml": "[tool.poetry]\nname = 'a'\n"}, "poetry", "poetry run python"),
        ({"Pipfile": ""}, "pipenv", "pipenv run python"),
        ({"pyproject.toml": "[tool.hatch.envs.default]\n"}, "hatch", "hatch run python"),
        ({"hatch.toml": ""}, "hatch", "hatch run python"),
    ],
)
def test_environments_that_managers_keep_elsewhere_are_written_as_on_any_machine(
    tmp_path: Path, files: dict[str, str], manager: str, written: str
) -> None:
    virtual_environment(tmp_path / "kept")

    def ask(argv: tuple[str, ...]) -> str:
        return f"{tmp_path}/kept\n" if argv[-1] not in ("hatch-test", "test") else ""

    seen = look(tmp_path, files, manager, ask=ask)
    assert [" ".join(each.argv) for each in interpreters(seen)] == [written]


def test_an_environment_that_a_manager_keeps_in_the_repository_is_named_by_its_folder(tmp_path: Path) -> None:
    seen = look(tmp_path, {"poetry.lock": ""}, "poetry", ask=lambda _argv: f"{tmp_path}/project/.made\n")
    virtual_environment(seen.root / ".made")
    assert [each.argv for each in interpreters(seen)] == [(".made/bin/python",)]


def test_environments_of_tox_pdm_and_conda_are_found(tmp_path: Path) -> None:
    files = {"tox.ini": "", ".pdm-python": f"{tmp_path}/pdm/bin/python", "environment.yml": "name: lab\n"}
    seen = look(tmp_path, files, "conda")
    virtual_environment(tmp_path / "pdm")
    program(seen.root / ".tox" / "py311" / "bin" / "python")
    program(seen.root / ".tox" / "docs" / "bin" / "python")
    others = [".tox/py311/bin/python", "conda run --no-capture-output -n lab python"]
    assert [" ".join(each.argv) for each in interpreters(seen)] == [f"{tmp_path}/pdm/bin/python", *others]
    program(tmp_path / "bin" / "pdm")
    assert [" ".join(each.argv) for each in interpreters(seen)] == ["pdm run python", *others]


def test_uv_makes_its_environment_in_the_checkout(tmp_path: Path) -> None:
    text = '[project.optional-dependencies]\ntests = ["pytest"]\n'
    seen = look(tmp_path, {"pyproject.toml": text, "uv.lock": ""}, "uv")
    (way, *_) = python_checks(seen).prospects[0].ways
    assert " ".join(way.check.run) == f"uv run --frozen --extra tests python {PYTEST}"
    assert way.setup == (("uv", "sync", "--frozen", "--extra", "tests"),)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, f"python3 {PYTEST}"),
        ({"test_a.py": "import pytest\n"}, f"python3 {PYTEST}"),
        ({"setup.py": "", "tests/test_a.py": "import unittest\n"}, f"python3 {UNITTEST} tests"),
        ({"tests/test_a.py": "", "tests/__init__.py": ""}, f"python3 {UNITTEST} tests -t ."),
        (
            {
                "tox.ini": "[testenv]\ncommands =\n  pytest --cov tests \\\n   tests/unit {posargs}\n",
                "tests/unit/a.py": "",
            },
            "python3 -m pytest tests/unit",
        ),
        (
            {"noxfile.py": 'def t(session):\n    session.run("pytest", "-k", "fast", *more)\n'},
            "python3 -m pytest -k fast",
        ),
        (
            {
                "noxfile.py": 'def t(s):\n    if 1:\n        s.run("pytest", *more)\n\n'
                'def slow(s):\n    s.run("pytest", "-m", "slow")\n'
            },
            "python3 -m pytest",
        ),
        (
            {"pyproject.toml": "[tool.hatch.envs.x.scripts]\nt = 'coverage run -m pytest --doctest-modules {args}'\n"},
            "python3 -m pytest --doctest-modules",
        ),
        (
            {"pyproject.toml": "[tool.tox.env_run_base]\ncommands = [['pytest', 'a']]\n", "a/test_b.py": ""},
            "python3 -m pytest a",
        ),
        (
            {"pyproject.toml": "[tool.pdm.scripts]\nt = {cmd = 'pytest a'}\n", "a/test_b.py": ""},
            "python3 -m pytest a",
        ),
        (
            {"setup.py": "", "Makefile": "test:\n\t@poetry run pytest a\n", "a/test_b.py": ""},
            "python3 -m pytest a",
        ),
        (
            {"tox.ini": "[testenv]\ncommands = pytest -v --ignore bench --cov a {posargs}\n", "bench/x.py": ""},
            "python3 -m pytest --ignore bench",
        ),
        (
            {
                "tox.ini": "[testenv]\ncommands = pytest --doctest-modules {env_site_packages_dir}/a {tox_root}/t\n",
                "src/a/__init__.py": "",
                "t/test_b.py": "",
            },
            "python3 -m pytest --doctest-modules src/a t",
        ),
        (
            {"tox.ini": "[testenv]\ncommands = pytest {posargs:t}\n", "t/test_b.py": ""},
            "python3 -m pytest t",
        ),
        ({"tox.ini": "not [ ini", "noxfile.py": "not python (", "test_a.py": ""}, f"python3 {UNITTEST} ."),
    ],
)
def test_tests_are_run_as_the_project_runs_them(tmp_path: Path, files: dict[str, str], command: str) -> None:
    assert first(look(tmp_path, files, "python3"))["test"] == command


def test_options_for_a_plug_in_that_may_be_missing_are_left_away_at_last(tmp_path: Path) -> None:
    seen = look(tmp_path, {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--cov=a"\n'}, "python3")
    assert ways(python_checks(seen), "test")[:2] == [
        f"python3 {PYTEST}",
        "python3 -m pytest -o addopts=",
    ]


@pytest.mark.parametrize(
    "plain",
    [
        "pytest {posargs}",
        "{env:A_CMD:pytest} {posargs}",
        "{env:A_CMD:python -m pytest} {posargs}",
        "\n  tests: pytest {posargs:-n auto}\n  py3{8,9}: mypy .",
    ],
)
def test_a_side_environment_of_tox_does_not_stand_for_the_plain_one(tmp_path: Path, plain: str) -> None:
    side = "[testenv:benchmark]\ncommands = pytest {posargs:testing/benchmark.py}\n"
    files = {"tox.ini": f"{side}[testenv]\ncommands = {plain}\n", "testing/benchmark.py": ""}
    assert first(look(tmp_path, files, "python3"))["test"] == f"python3 {PYTEST}"


@pytest.mark.parametrize(
    "files",
    [
        {".pytest.ini": "[pytest]\naddopts =\n    --cov=a\n    --doctest-modules\n"},
        {"tox.ini": "[pytest]\naddopts = -n auto --doctest-modules\n"},
        {"setup.cfg": "[tool:pytest]\naddopts = --cov=a --doctest-modules\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--cov', 'a', '--doctest-modules']\n"},
    ],
)
def test_without_a_plug_in_the_options_that_say_what_is_tested_stay(tmp_path: Path, files: dict[str, str]) -> None:
    found = ways(python_checks(look(tmp_path, files, "python3")), "test")
    assert found[1] == "python3 -m pytest -o addopts=--doctest-modules"


@pytest.mark.parametrize("options", ["--strict-markers -ra", "'", ""])
def test_options_of_pytest_itself_are_no_reason_to_leave_any_away(tmp_path: Path, options: str) -> None:
    seen = look(tmp_path, {"pytest.ini": f"[pytest]\naddopts = {options}\n"}, "python3")
    assert not any("addopts" in way for way in ways(python_checks(seen), "test"))


def test_programs_that_make_their_own_environment_come_last(tmp_path: Path) -> None:
    files = {"tox.ini": "[testenv]\ncommands = pytest {posargs}\n", "Makefile": "test:\n\ttrue\n"}
    found = ways(python_checks(look(tmp_path, files, "python3", "tox")), "test")
    assert found[-2:] == ["tox -q -e py", "make test"]


@pytest.mark.parametrize(
    "files",
    [
        {"tox.toml": ""},
        {"pyproject.toml": "[tool.tox]\nenv_list = ['py']\n"},
        {"setup.cfg": "[tox:tox]\nenvlist = py\n"},
    ],
)
def test_tox_is_configured_in_any_of_its_files(tmp_path: Path, files: dict[str, str]) -> None:
    assert ways(python_checks(look(tmp_path, files, "tox")), "test") == ["tox -q -e py"]


RUNS = "(session):\n    session.run('pytest')\n"


@pytest.mark.parametrize(
    ("files", "is_tried"),
    [
        (("backend/svc/__init__.py", "backend/tests/test_a.py"), True),
        (("backend/__init__.py", "backend/tests/test_a.py"), False),
        (("backend/svc/__init__.py", "backend/tests/test_a.py", "web/tests/test_b.py"), False),
        (("backend/svc/__init__.py", "backend/tests/test_a.py", "test_b.py"), False),
    ],
    ids=["one", "package", "two", "top"],
)
def test_tests_that_lie_beside_what_they_import_are_tried_in_their_folder(
    tmp_path: Path, files: tuple[str, ...], *, is_tried: bool
) -> None:
    seen = look(tmp_path, {"setup.py": "", **dict.fromkeys(files, "")})
    virtual_environment(seen.root / ".venv")
    command = "sh -c cd backend && exec ../.venv/bin/python -m pytest"
    assert (command in ways(python_checks(seen), "test")) is is_tried


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"@nox.session\ndef unit{RUNS}", ["nox -s unit"]),
        (f"@session(python=['3.12'], name='tests')\ndef unit{RUNS}", ["nox -s tests"]),
        (f"@nox.session\ndef lint(session):\n    session.run('ruff')\n\n@nox.session\ndef t{RUNS}", ["nox -s t"]),
        (f"def unit{RUNS}", []),
        ("@nox.session\ndef docs(session):\n    session.run('sphinx-build')\n", []),
        ("not Python", []),
    ],
)
def test_of_nox_the_session_that_runs_the_tests_is_taken(tmp_path: Path, text: str, found: list[str]) -> None:
    assert ways(python_checks(look(tmp_path, {"noxfile.py": text}, "nox")), "test") == found


@pytest.mark.parametrize(
    ("files", "checks"),
    [
        ({}, {}),  # whatever is installed
        (
            {"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n", "a/__init__.py": ""},
            {
                "lint": "python3 -m ruff check --output-format=sarif --output-file={report} .",
                "typecheck": "python3 -m mypy a",
            },
        ),
        ({"pyproject.toml": "[tool.mypy]\nfiles = ['a']\n"}, {"typecheck": "python3 -m mypy"}),
        ({"tox.ini": "[testenv:m]\ncommands = mypy . {posargs}\n[mypy]\n"}, {"typecheck": "python3 -m mypy ."}),
        ({"mypy.ini": "", "src/a/__init__.py": ""}, {"typecheck": "python3 -m mypy src"}),
        ({"setup.cfg": "[flake8]\nmax = 1\n"}, {"lint": "python3 -m flake8 ."}),
        (
            {".flake8": "", "pyrightconfig.json": "{}"},
            {"lint": "python3 -m flake8 .", "typecheck": "python3 -m pyright"},
        ),
        (
            {"ruff.toml": "[format]\n", ".flake8": ""},
            {
                "lint": "python3 -m ruff check --output-format=sarif --output-file={report} .",
                "flake8": "python3 -m flake8 .",
                "format": "python3 -m ruff format --check .",
            },
        ),
        ({"pyproject.toml": "[tool.black]\n"}, {"format": "python3 -m black --check ."}),
        ({".pre-commit-config.yaml": "repos:\n  - hooks:\n    - id: black\n"}, None),
        ({".pre-commit-config.yaml": "repos: []\n"}, {"lint": "python3 -m pre_commit run --all-files"}),
        ({"Makefile": "lint:\n\ttrue\n"}, {"lint": "make lint"}),
    ],
)
def test_only_what_the_project_configures_is_a_check(
    tmp_path: Path, files: dict[str, str], checks: dict[str, str] | None
) -> None:
    seen = look(tmp_path, {"setup.py": "", **files}, "python3", "mypy", "flake8", "ruff", "black", "pre-commit")
    found = first(seen)
    del found["test"]
    both = {"format": "python3 -m black --check .", "lint": "python3 -m pre_commit run --all-files"}
    assert found == (both if checks is None else checks)


def test_a_configured_tool_is_looked_for_on_the_path_at_last(tmp_path: Path) -> None:
    seen = look(tmp_path, {".flake8": "", "setup.py": ""}, "python3", "flake8")
    assert ways(python_checks(seen), "lint") == ["python3 -m flake8 .", "flake8 ."]


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        ({"uv.lock": ""}, "uv sync"),
        ({"poetry.lock": ""}, "poetry install"),
        ({"pyproject.toml": "[build-system]\nbuild-backend = 'poetry.core.masonry.api'\n"}, "poetry install"),
        ({"pdm.lock": ""}, "pdm install"),
        ({"Pipfile": ""}, "pipenv install --dev"),
        ({"Pipfile": "", "Pipfile.lock": ""}, "pipenv sync --dev"),
        (
            {"pyproject.toml": "[project]\n[project.optional-dependencies]\ntests = []\n"},
            "python3 -m venv .venv && .venv/bin/pip install -e '.[tests]'",
        ),
        (
            {"setup.cfg": "[options.extras_require]\ndev =\n  pytest\n"},
            "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]'",
        ),
        (
            {"setup.py": "", "tox.ini": "[testenv]\ndeps =\n  pytest\n  py311: x\n"},
            "python3 -m venv .venv && .venv/bin/pip install -e . pytest",
        ),
        (
            {"requirements-dev.txt": ""},
            "python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt",
        ),
        (
            {"pyproject.toml": "[project]\n[dependency-groups]\ntest = []\n"},
            "python3 -m venv .venv && .venv/bin/pip install -e . --group test",
        ),
        ({"test_a.py": ""}, "python3 -m venv .venv && .venv/bin/pip install pytest"),
    ],
)
def test_what_would_help_is_what_the_project_s_own_people_type(
    tmp_path: Path, files: dict[str, str], advice: str
) -> None:
    assert install_advice(look(tmp_path, files)) == advice


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        ({"uv.lock": ""}, "uv add --dev flake8"),
        ({"poetry.lock": ""}, "poetry add --group dev flake8"),
        ({"pdm.lock": ""}, "pdm add --dev flake8"),
        ({"Pipfile": ""}, "pipenv install --dev flake8"),
        ({"setup.py": ""}, "python3 -m venv .venv && .venv/bin/pip install flake8"),
    ],
)
def test_a_tool_that_is_missing_is_added_as_the_project_adds_its_own(
    tmp_path: Path, files: dict[str, str], advice: str
) -> None:
    (_, lint) = python_checks(look(tmp_path, {**files, ".flake8": ""})).prospects
    assert lint.advice == advice


def test_what_is_missing_goes_into_the_environment_that_is_there(tmp_path: Path) -> None:
    seen = look(tmp_path, {"setup.py": ""})
    virtual_environment(seen.root / "venv")
    assert install_advice(seen) == "venv/bin/python -m pip install -e . pytest"


def test_what_an_installation_generated_inside_the_packages_is_brought_along(tmp_path: Path) -> None:
    """A checkout is imported in place of the installation, and git carries none of these."""
    ignored = ["src/a/_version.py", "src/a/locale/de/LC_MESSAGES/a.mo", "src/a/locale/fr/LC_MESSAGES/a.mo"]
    others = [".venv/", "src/a/__pycache__/", "src/a/secrets.py", ".env", "version.py"]
    seen = look(tmp_path, {"pyproject.toml": ""}, "python3", ask=lambda _argv: "\n".join([*ignored, *others]))
    (way, *_) = python_checks(seen).prospects[0].ways
    assert way.copy == ("src/a/_version.py", "src/a/locale/**/*.mo")
