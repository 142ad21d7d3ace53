"""Modules that tests of the base judge with are tests, wherever they lie; product that only looks like it is not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

PYTEST = ("python", "-m", "pytest")
X = "anything = 1\n"
ASSERTS = "def same(a, b):\n    assert a == b\n"
BENT = "def same(a, b):\n    pass\n"
FIXTURES = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
LAZY = "def check():\n    import unittest\n"
BASE: Files = {
    "calc/__init__.py": "",
    "calc/core.py": "def add(a, b):\n    return a + b\n",
    "calc/testing.py": ASSERTS,
    "calc/fixtures.py": FIXTURES,
    "calc/factories.py": "def made():\n    return 1\n",
    "calc/sums.py": "import unittest\n\n\nclass Sums(unittest.TestCase):\n    pass\n",
    "tests/test_calc.py": "from calc import testing\nfrom calc.sums import Sums\n",
}
DJANGO = 'DEBUG = True\nTEST_RUNNER = "calc.runner.Runner"\n'
RUNNER = "from django.test.runner import DiscoverRunner\n\n\nclass Runner(DiscoverRunner):\n    pass\n"
REQUESTS = "from django.test import RequestFactory\n\na = RequestFactory()\n"
POINTS = '[project.entry-points.pytest11]\ncalc = "calc.fixtures"\n'


def having(test: str, **files: str) -> Files:
    """The base with another test, and files whose names have dots and slashes."""
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    return {**BASE, "tests/test_calc.py": test, **named}


@pytest.mark.parametrize(
    ("base", "path", "text", "kind"),
    [
        (BASE, "calc/testing.py", BENT, "test"),
        (BASE, "calc/testing.py", None, "test"),
        (BASE, "calc/testing.py", f"{ASSERTS}\n\ndef more():\n    pass\n", "test"),
        (BASE, "calc/testing/__init__.py", BENT, "judge"),
        (BASE, "calc/sums.py", X, "test"),
        (having("from calc.testing import same\n"), "calc/testing.py", BENT, "test"),
        (having("import calc.testing as t\n"), "calc/testing.py", BENT, "test"),
        (having("from calc.factories import made\n"), "calc/factories.py", X, "test"),
        (having("from asserts import same\n", asserts_dot_py=ASSERTS), "asserts.py", BENT, "test"),
        (
            having(
                "import calc.testing\n", calc__testing_dot_py="from . import asserts\n", calc__asserts_dot_py=ASSERTS
            ),
            "calc/asserts.py",
            BENT,
            "test",
        ),
        (having("", tests__conftest_dot_py="from calc.fixtures import two\n"), "calc/fixtures.py", X, "test"),
        (
            having("", calc__tests__test_x_dot_py="from ..testing import same\n"),
            "calc/testing.py",
            BENT,
            "test",
        ),
        # Plug-ins
        (having("", conftest_dot_py="pytest_plugins = ['calc.fixtures']\n"), "calc/fixtures.py", X, "judge by name"),
        (having("pytest_plugins = 'calc.fixtures'\n"), "calc/fixtures.py", X, "judge by name"),
        (
            having("", pytest_dot_ini="[pytest]\naddopts = -q -p calc.fixtures\n"),
            "calc/fixtures.py",
            X,
            "judge by name",
        ),
        (having("", pytest_dot_ini="[pytest]\naddopts = -pcalc.fixtures\n"), "calc/fixtures.py", X, "judge by name"),
        (having("", pyproject_dot_toml=POINTS), "calc/fixtures.py", X, "judge by name"),
        (
            having("", setup_dot_cfg="[options.entry_points]\npytest11 =\n    calc = calc.fixtures\n"),
            "calc/fixtures.py",
            X,
            "judge by name",
        ),
        (
            having("", setup_dot_py="setup(entry_points={'pytest11': ['calc = calc.fixtures']})\n"),
            "calc/fixtures.py",
            X,
            "judge by name",
        ),
        (having("", site__settings_dot_py=DJANGO), "calc/fixtures.py", X, "product"),
        (having("", site__settings_dot_py=DJANGO, calc__runner_dot_py=RUNNER), "calc/runner.py", X, "judge by name"),
        (
            having("", calc__management__commands__test_dot_py=X),
            "calc/management/commands/test.py",
            "",
            "judge by name",
        ),
        (BASE, "calc/core/__init__.py", X, "judge"),
        # Honest work
        (having("from calc.views import a\n", calc__views_dot_py=REQUESTS), "calc/views.py", X, "product"),
        (BASE, "calc/core.py", X, "product"),
        (BASE, "calc/fixtures.py", X, "product"),
        (BASE, "calc/new_testing.py", X, "product"),
        (having("from calc.core import add\n"), "calc/core.py", X, "product"),
        (having("from calc.core import add\n"), "calc/testing.py", X, "product"),
        (
            having("import calc.factories\n", calc__core_dot_py="from calc.factories import made\n"),
            "calc/factories.py",
            X,
            "product",
        ),
        (having("import testing\n"), "calc/testing.py", X, "product"),
        (
            having("", pyproject_dot_toml=f'[project]\nname = "pytest-calc"\n{POINTS}'),
            "calc/fixtures.py",
            X,
            "product",
        ),
        (having("from calc.core import check\n", calc__core_dot_py=LAZY), "calc/core.py", X, "product"),
    ],
)
def test_what_tests_judge_with_is_theirs(base: Files, path: str, text: str | None, kind: str) -> None:
    assert classes(base, {path: text}, PYTEST)[path].kind == kind


def test_it_is_said_who_judges_with_it() -> None:
    found = classes(BASE, {"calc/testing.py": BENT}, PYTEST)["calc/testing.py"]
    assert (found.kind, found.why) == ("test", "tests/test_calc.py judges with it: changed")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ("env", "PYTEST_PLUGINS=other,calc.core", *PYTEST)),
        ({"Makefile": "export PYTEST_PLUGINS = calc.core\ntest:\n\tpytest\n"}, ("make", "test")),
        ({"tox.ini": "[testenv]\nsetenv =\n    PYTEST_PLUGINS=calc.core\n"}, ("tox",)),
        ({"check.sh": "PYTEST_PLUGINS=calc.core pytest -q\n"}, ("sh", "check.sh")),
        ({"check.sh": "pytest -q -p calc.core\n"}, ("sh", "check.sh")),
        (
            {"conftest.py": "def pytest_configure(config):\n    config.pluginmanager.import_plugin('calc.core')\n"},
            PYTEST,
        ),
        ({"conftest.py": "import os\n\nos.environ['PYTEST_PLUGINS'] = 'calc.core'\n"}, PYTEST),
        ({"conftest.py": "pytest_plugins = ['calc.core']\n"}, PYTEST),
        ({"conftest.py": "pytest_plugins = [f'calc.{each}' for each in ('core',)]\n"}, PYTEST),
        ({"conftest.py": "pytest_plugins = [at.stem for at in ROOT.glob('calc/c*.py')]\n"}, PYTEST),
    ],
)
def test_a_plug_in_is_the_runners_however_it_is_named(files: Files, command: tuple[str, ...]) -> None:
    found = classes({**BASE, **files}, {"calc/core.py": X, "calc/more.py": X}, command)
    assert found["calc/core.py"].kind == "judge by name"
    assert found["calc/more.py"].kind == "product"


@pytest.mark.parametrize("said", ["mkdir -p calc", "cargo test -p calc"])
def test_what_others_are_given_is_no_plug_in(said: str) -> None:
    base = {**BASE, "check.sh": f"{said}\npytest -q\n"}
    assert classes(base, {"calc/__init__.py": X}, ("sh", "check.sh"))["calc/__init__.py"].kind == "product"
