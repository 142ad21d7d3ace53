"""Tests under names of the project's own, which only the configuration of a runner tells."""

import pytest

from loopwright.adapters.checks.classes.collecting import has_tests
from tests.adapters.checks.classes.held import Files, classes

PLAIN = "def add(a, b):\n    return a + b\n"
PY = "from pk.mod import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(1, 1)\n"
JS = 'const t = require("node:test"), { add } = require("../lib/a.js")\nt("a", () => {})\n'
IT = 'it("adds", () => { expect(add(1, 2)).toBe(3) })\n'
LIB = "exports.add = (a, b) => a + b\nexports.is = text => /a/.test(text)\n"

PYTEST = {
    "pk/__init__.py": "",
    "pk/mod.py": PLAIN,
    "checks/check_mod.py": PY,
    "checks/helper.py": PLAIN,
    "checks/data/one.json": "{}\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\ntestpaths = [\n  "checks",\n]\n',
}
MAKE = {
    "mod.py": PLAIN,
    "acceptance/__init__.py": "",
    "acceptance/add.py": CASE,
    "Makefile": "test:\n\tpython3 -m unittest discover -s acceptance -t . -p '*.py'\n",
}
NODE = {
    "lib/a.js": LIB,
    "checks/add.js": JS,
    "package.json": '{"scripts": {"test": "node --test checks/*.js", "lint": "eslint lib/**/*.js"}}\n',
}
JEST = {
    "lib/a.js": LIB,
    "qa/deep/add.js": IT,
    "jest.config.js": "module.exports = {\n  testMatch: [\n    '<rootDir>/qa/**/*.js',\n  ],\n}\n",
}
VITEST = {
    "src/a.js": LIB,
    "src/add.check.js": IT,
    "vitest.config.js": 'export default { test: { include: ["src/**/*.check.js"] } }\n',
}
C = dict.fromkeys(("src/add.c", "t/test.c", "src/tests/main.c", "src/add_tests.c"), "int main(void) { return 0; }\n")


@pytest.mark.parametrize(
    ("base", "path", "kind", "command"),
    [
        (PYTEST, "checks/check_mod.py", "test", ("pytest",)),
        (PYTEST, "checks/helper.py", "test", ("pytest",)),
        (PYTEST, "checks/data/one.json", "test", ("pytest",)),
        (PYTEST, "pk/mod.py", "product", ("pytest",)),
        (MAKE, "acceptance/add.py", "test", ("make", "test")),
        (MAKE, "mod.py", "product", ("make", "test")),
        (NODE, "checks/add.js", "test", ("npm", "test")),
        (NODE, "lib/a.js", "product", ("npm", "test")),
        (JEST, "qa/deep/add.js", "test", ("npx", "jest")),
        (JEST, "lib/a.js", "product", ("npx", "jest")),
        (VITEST, "src/add.check.js", "test", ("npx", "vitest", "run")),
        (VITEST, "src/a.js", "product", ("npx", "vitest", "run")),
        (NODE, "checks/add.js", "test", ("node", "--test", "checks/*.js")),
        (C, "t/test.c", "test", ("make", "test")),
        (C, "src/tests/main.c", "test", ("make", "test")),
        (C, "src/add_tests.c", "test", ("make", "test")),
        (C, "src/add.c", "product", ("make", "test")),
    ],
)
@pytest.mark.parametrize("text", ["changed\n", None], ids=["changed", "removed"])
def test_what_a_runner_is_told_to_collect_is_a_test(
    base: Files, path: str, kind: str, command: tuple[str, ...], text: str | None
) -> None:
    found = classes(base, {path: text}, command)[path]
    assert found.kind.value == kind


INCLUDES = "export default {\n  plugins: [dts({ include: ['src/**/*.js'] })],\n  test: {\n    coverage: {"
INCLUDES += " include: ['src/**/*.js'] },\n    include: ['src/**/*.check.js'],\n  },\n}\n"
OWN = "[pytest]\npython_files =\n    check_*.py\n    qa/*.py\n[coverage:run]\ninclude =\n    pk/*.py\n"
SETS = '[tool.pytest.ini_options]\npython_files = [\n  "check_*.py",\n]\n[tool.hatch.build]\ninclude = ["pk/**/*.py"]\n'
NYC = '{"nyc": {"include": ["lib/**/*.js"]}, "mocha": {"spec": ["lib/**/*.look.js"]}}\n'


@pytest.mark.parametrize(
    ("config", "text", "path", "kind"),
    [
        ("jest.config.js", JEST["jest.config.js"], "qa/deep/more.js", "test"),
        ("jest.config.js", JEST["jest.config.js"], "lib/more.js", "product"),
        ("vitest.config.js", INCLUDES, "src/more.check.js", "test"),
        ("vitest.config.js", INCLUDES, "src/more.js", "product"),
        ("vitest.config.js", INCLUDES.replace("},\n}", ""), "src/more.js", "product"),
        ("vitest.config.js", f"{INCLUDES}{INCLUDES.replace('check', 'look')}", "src/more.look.js", "test"),
        (".mocharc.yml", "spec:\n  - 'lib/*.one.js'\n  - 'lib/*.look.js'\n", "lib/more.look.js", "test"),
        ("package.json", NYC, "lib/more.look.js", "test"),
        ("package.json", NYC, "lib/more.js", "product"),
        ("tox.ini", OWN, "pk/check_more.py", "test"),
        ("tox.ini", OWN, "lib/qa/more.py", "test"),
        ("tox.ini", OWN, "qa/deep/more.py", "test"),
        ("tox.ini", OWN, "pk/more.py", "product"),
        ("pyproject.toml", SETS, "pk/check_more.py", "test"),
        ("pyproject.toml", SETS, "pk/more.py", "product"),
        ("pyproject.toml", SETS.replace('[\n  "check_*.py",\n]', "'look_*.py check_*.py'"), "pk/check_more.py", "test"),
        ("ruff.toml", 'include = ["pk/**/*.py"]\n', "pk/more.py", "product"),
        ("Cargo.toml", '[package]\ninclude = ["src/**/*.rs"]\n', "src/more.rs", "product"),
    ],
)
def test_what_a_runner_would_collect_is_a_test_when_it_is_new_and_what_is_built_or_measured_is_none(
    config: str, text: str, path: str, kind: str
) -> None:
    base = {"lib/a.js": LIB, "src/a.js": LIB, "src/a.rs": "fn a() {}\n", "pk/__init__.py": "", "pk/mod.py": PLAIN}
    found = classes({**base, config: text}, {path: "x = 1\n"}, ("pytest",), ("npx", "vitest"), ("npm", "test"))
    assert found[path].kind.value == kind


def test_what_yields_tests_is_one_where_its_name_was_given_and_not_where_a_plug_in_lints_it() -> None:
    own = {**PYTEST, "checks/check_mod.py": "from pk.mod import add\n\n\ndef check_add():\n    assert add(1, 2) == 3\n"}
    yielding = frozenset({"checks/check_mod.py", "pk/mod.py"})
    changed = dict.fromkeys(yielding, "changed\n")
    found = classes(own, changed, ("pytest", "--mypy"), yielding=yielding)
    assert {path: each.kind.value for path, each in found.items()} == {
        "checks/check_mod.py": "test",
        "pk/mod.py": "product",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test('adds', () => {\n  assert(true)\n})\n", True),
        ("test(adds)\n", True),
        ("class Range {\n  test (version) {\n    return true\n  }\n}\n", False),
    ],
)
def test_a_method_with_the_name_of_a_call_for_tests_is_none(text: str, *, expected: bool) -> None:
    assert has_tests("classes/range.js", text) is expected
