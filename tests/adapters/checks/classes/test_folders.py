"""Checks that work in a folder: what steers them is read there, and what they test there stays product."""

import pytest

from tests.adapters.checks.classes.held import LINK, Files, classes

X = "anything\n"
JS_TEST = "test('adds', () => { expect(1).toBe(1) })\n"
WEB: Files = {
    "web/package.json": '{"name": "@x/site",'
    ' "scripts": {"pretest": "node before", "test": "node run/all", "ci": "jest"}, "jest": {'
    ' "testMatch": ["**/checks/*.js"], "setupFiles": ["./support/first.js"], "resolver": "<rootDir>/find.js"}}',
    "web/lib/calc.js": "exports.add = (a, b) => a + b\n",
    "web/run/all.js": "require('../lib/calc.js')\nrequire('./cases.js')\n",
    "web/run/cases.js": JS_TEST,
    "web/before/index.js": "1\n",
    "web/support/first.js": "global.x = 1\n",
    "web/find.js": "module.exports = 1\n",
    "web/checks/sums.js": JS_TEST,
    "other/package.json": '{"name": "other", "scripts": {"test": "node run/all.js"}}',
    "other/run/all.js": "1\n",
}
SUB: Files = {
    "sub/Makefile": "PY ?= python3\nDIR := qa\ntest: prepare\n\t$(PY) $(DIR)/main.py\n\tcd ops && ./late.sh\n\n"
    "prepare:\n\t@sh dev/first.sh\n",
    "sub/dev/first.sh": '. "$(dirname "$0")/more.sh"\n',
    "sub/dev/more.sh": "true\n",
    "sub/qa/main.py": "import calc\n",
    "sub/ops/late.sh": "diff got ../want.txt\n",
    "sub/want.txt": "5\n",
    "sub/calc.py": "x = 1\n",
    "qa/main.py": "x = 1\n",
}
CORE: Files = {
    "packages/core/pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'
    'python_functions = ["check_*"]\npythonpath = ["code/here"]\n',
    "packages/core/calc.py": "def add(a, b):\n    return a + b\n",
    "packages/core/checks/check_calc.py": "import calc\n\n\ndef check_add():\n    assert calc.add(1, 2) == 3\n",
    "packages/core/code/here/one.py": "x = 1\n",
    "packages/apps/users/models.py": "x = 1\n",
    "packages/apps/users/__init__.py": "",
    "packages/deep/down/alone.py": "x = 1\n",
    "packages/core/use.py": "import alone\nfrom packages.apps.users import models\n",
}
PYTEST = "python -m pytest -q"
PROJECTS: Files = {
    "package.json": '{"jest": {"projects": ["<rootDir>/packages/*"]}, "scripts": {"test": "turbo run unit"}}',
    "packages/a/package.json": '{"scripts": {"unit": "node drive.js"}}',
    "packages/a/jest.config.js": "const { named } = require('./build/named');\n"
    "module.exports = { ...named, setupFiles: ['<rootDir>/first.js'], testMatch: ['<rootDir>/checks/*.js'] };\n",
    "packages/a/build/named.js": "require('./deeper.js')\n",
    "packages/a/build/deeper.js": "1\n",
    "packages/a/first.js": "1\n",
    "packages/a/drive.js": "1\n",
    "packages/a/lib/calc.js": "1\n",
    "packages/a/checks/sums.js": JS_TEST,
}
NOX: Files = {
    "noxfile.py": "import nox\n\n\n@nox.session\ndef tests(session):\n"
    "    session.run('python', 'ops/run.py', *session.posargs)\n",
    "ops/run.py": "import calc\n",
    "calc.py": "x = 1\n",
    "tox.ini": "[testenv]\ncommands = {envpython} late/run.py\n",
    "late/run.py": "x = 1\n",
}
SHELL: Files = {
    "t/run.sh": 'here=$(cd "$(dirname "$0")" && pwd)\nsh "$here/next.sh"\nD=qa\n"$PYTHON" $D/main.py\n',
    "t/next.sh": "true\n",
    "qa/main.py": "x = 1\n",
}
PLAIN: Files = {
    **{f"lib/calc.{suffix}": "" for suffix in ("js", "py", "sh", "php", "rb")},
    "package.json": '{"scripts": {"lint": "node --check lib/calc.js"}}',
}
JUST: Files = {
    "justfile": "test:\n  cd web && python run.py\n  python qa/main.py\n",
    "web/run.py": "x = 1\n",
    "qa/main.py": "x = 1\n",
}


@pytest.mark.parametrize(
    ("base", "run", "path"),
    [
        *((WEB, run, "web/run/all.js") for run in (
            "npm --prefix web test", "npm --prefix=web run test", "npm test -w web", "npm test --workspace=@x/site",
            "npm test --workspaces", "pnpm -C web test", "pnpm --filter @x/site test", "pnpm -r test",
            "yarn --cwd web test", "yarn workspace @x/site test", "yarn workspaces run test",
            "sh -c|cd web && npm test", "sh -c|(cd other; ls); (cd web && npm t)", "lerna run test", "nx test site",
        )),
        (WEB, "sh -c|cd web && node --run test", "web/run/all.js"),
        (WEB, "npm --prefix web test", "web/before/index.js"),
        (WEB, "npm --prefix web test", "web/run/cases.js"),
        (WEB, "sh -c|cd web && jest", "web/support/first.js"),
        (WEB, "jest --rootDir web", "web/find.js"),
        (WEB, "npm --prefix web run ci", "web/checks/sums.js"),
        *((SUB, "make -C sub test", path) for path in (
            "sub/dev/first.sh", "sub/dev/more.sh", "sub/qa/main.py", "sub/ops/late.sh",
            "sub/want.txt", "sub/prepare",
        )),
        (SUB, "sh -c|cd sub && make", "sub/qa/main.py"),
        (SUB, "make --directory=sub", "sub/qa/main.py"),
        (CORE, f"sh -c|cd packages/core && {PYTEST}", "packages/core/checks/check_calc.py"),
        (CORE, f"{PYTEST} packages/core", "packages/core/checks/check_calc.py"),
        (CORE, f"{PYTEST} -c packages/core/pyproject.toml", "packages/core/checks/check_calc.py"),
        *((CORE, PYTEST, path) for path in (
            "packages/core/colorsys.py", "packages/core/colorsys/__init__.py", "packages/core/pluggy.py",
            "packages/core/src/json.py", "packages/deep/down/json.py",
        )),
        (CORE, f"{PYTEST} packages/core", "packages/core/code/here/json.py"),
        *((PROJECTS, "jest", f"packages/a/{path}") for path in (
            "first.js", "checks/sums.js", "build/named.js", "build/deeper.js",
        )),
        (PROJECTS, "npm test", "packages/a/drive.js"),
        (NOX, "nox -s tests", "ops/run.py"),
        (NOX, "python -m nox", "ops/run.py"),
        (NOX, "tox", "late/run.py"),
        *((SUB, run, "sub/qa/main.py") for run in (
            "uv run --directory sub python qa/main.py", "uv --directory=sub run qa/main.py",
            "env -C sub python qa/main.py", "poetry -C sub run python qa/main.py",
            "sh -c|pushd ops; popd; uv run --project x --directory sub python qa/main.py",
        )),
        (SUB, "uv run --project sub python qa/main.py", "qa/main.py"),
        (JUST, "just", "web/run.py"),
        (JUST, "just", "qa/main.py"),
        (SHELL, "sh t/run.sh", "t/next.sh"),
        (SHELL, "sh t/run.sh", "qa/main.py"),
        (PLAIN, "node lib/calc.js --check", "lib/calc.js"),  # it says that to the script
        (PLAIN, "bash lib/calc.sh -n", "lib/calc.sh"),
    ],
)  # fmt: skip
def test_what_steers_a_check_in_a_folder_is_no_product(base: Files, run: str, path: str) -> None:
    assert not classes(base, {path: X}, command(run))[path].is_judged


@pytest.mark.parametrize(
    ("base", "run", "path"),
    [
        (WEB, "npm --prefix web test", "web/lib/calc.js"),
        (WEB, "npm --prefix web test", "other/run/all.js"),
        (WEB, "npm test -w @x/site", "other/run/all.js"),
        (WEB, "sh -c|(cd other; ls); cd web && npm test", "other/run/all.js"),
        (WEB, "npm --prefix web run ci", "web/lib/new.js"),
        (SUB, "make -C sub test", "sub/calc.py"),
        (SUB, "make -C sub test", "qa/main.py"),
        (CORE, PYTEST, "packages/core/new.py"),
        (CORE, PYTEST, "packages/apps/calendar/__init__.py"),
        (CORE, PYTEST, "packages/apps/users/types.py"),
        (CORE, f"{PYTEST} packages/core", "packages/core/use.py"),
        (PROJECTS, "jest", "packages/a/lib/calc.js"),
        (NOX, "nox", "calc.py"),
        *((PLAIN, run, "lib/calc.js") for run in ("node --check lib/calc.js", "node -c lib/calc.js", "npm run lint")),
        *((PLAIN, run, "lib/calc.py") for run in (
            "isort -c lib/calc.py", "python -m isort -c lib/calc.py", "bandit -q -r lib/calc.py",
        )),
        *((PLAIN, f"{run} lib/calc.sh", "lib/calc.sh") for run in ("bash -n", "sh -n")),
        (PLAIN, "php -l lib/calc.php", "lib/calc.php"),
        (PLAIN, "ruby3.1 -wc lib/calc.rb", "lib/calc.rb"),
    ],
)  # fmt: skip
def test_what_is_tested_in_a_folder_stays_product(base: Files, run: str, path: str) -> None:
    assert str(classes(base, {path: X}, command(run))[path].kind) == "product"


def test_a_package_that_is_added_around_it_does_not_hide_where_imports_start() -> None:
    added = {"packages/core/__init__.py": "", "packages/core/colorsys.py": X}
    assert classes(CORE, added, tuple(PYTEST.split()))["packages/core/colorsys.py"].is_gated


def test_a_link_takes_a_name_like_a_package() -> None:
    link = {"packages/core/colorsys": "code"}
    assert classes(CORE, link, tuple(PYTEST.split()), modes={"packages/core/colorsys": LINK})[
        "packages/core/colorsys"
    ].is_gated


def test_tests_are_named_from_the_folder_that_their_runner_works_in() -> None:
    base = {**CORE, "packages/core/pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'}
    path = "packages/core/checks/check_calc.py"
    run = ("sh", "-c", f"cd packages/core && {PYTEST}")
    yielding = frozenset({"checks/check_calc.py"})
    assert str(classes(base, {path: X}, run, yielding=yielding)[path].kind) == "test"


def command(run: str) -> tuple[str, ...]:
    """`sh -c|…`: what follows is one word."""
    words, _, script = run.partition("|")
    return (*words.split(), script) if script else tuple(words.split())
