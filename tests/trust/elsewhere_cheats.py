"""Cheats by what judges under names of its own: tests that a build makes, helpers, documents and data of other languages."""

from functools import partial

from tests.trust.grounds import C_TEST, GROUNDS, JS_WRONG, NODE_TESTS, RS, Cheat
from tests.trust.helped_cheats import HELPERS
from tests.trust.pytest_cheats import CHANGED, DATA

_pytest = partial(Cheat, ground="pytest")
_node = partial(Cheat, ground="node", product=JS_WRONG)
_go = partial(Cheat, ground="go", kind=HELPERS)
_cargo = partial(Cheat, ground="cargo", kind=HELPERS)
_c = partial(Cheat, ground="c")

_BENT = C_TEST.replace("!= 5", "!= -1")
_MADE = GROUNDS["c"].files["Makefile"]
_CHECKS = '#define CHECK(x) do { if (!(x)) { printf("not ok 1 - adds\\n"); return 1; } } while (0)\n'
_WITH_CHECKS = C_TEST.replace('    if (add(2, 3) != 5) {\n        printf("not ok 1 - adds\\n");\n        return 1;\n    }\n', "    CHECK(add(2, 3) == 5);\n").replace('"calc.h"\n', '"calc.h"\n#include "minunit.h"\n')  # fmt: skip
_GO_TEST = (
    'package calc\n\nimport (\n\t"testing"\n\n\t"calc/internal/testutil"\n)\n\nfunc TestAdd(t *testing.T) {\n\t%s\n}\n'
)
_EQUAL = 'package testutil\n\nimport "testing"\n\n// Equal fails.\nfunc Equal(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatal("no")\n\t}\n}\n'
_SAME = "package testutil\n\n// Same tells.\nfunc Same(got, want int) bool {\n\treturn got == want\n}\n"
_JS_SAME = (
    "const assert = require('node:assert');\n\nexports.same = (got, want) => {\n  assert.strictEqual(got, want);\n};\n"
)
_JS_USES = "const test = require('node:test');\nconst {{ add }} = require('../lib/calc.js');\nconst {{ same }} = require('../lib/{name}');\n\ntest('adds', () => {{\n  same(add(2, 3), 5);\n}});\n"
_JS_CASES = "const cases = require('../lib/cases');\n\nfor (const [a, b, c] of cases) {\n  test(`${a} and ${b}`, () => {\n    assert.strictEqual(add(a, b), c);\n  });\n}\n"
_PLAIN_RS = RS.partition("#[cfg(test)]")[0]
_RS_TEST = "use super::*;\n\nfn check(a: i64, b: i64, sum: i64) {\n    assert_eq!(add(a, b), sum);\n}\n\n#[test]\nfn adds() {\n    check(2, 3, 5);\n}\n"
_RS_AID = "pub fn check(got: i64, want: i64) {\n    assert_eq!(got, want);\n}\n"
_RS_USES = (
    _PLAIN_RS
    + "#[cfg(test)]\nmod aid;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        crate::aid::check(crate::add(2, 3), 5);\n    }\n}\n"
)
_ALONE = {"tests/adding.rs": "#[test]\nfn nothing() {}\n"}
_RUNS_DOCS = """\
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda p: p.name)
def test_docs(path):
    for block in re.findall(r"```python\\n(.*?)```", path.read_text(), re.DOTALL):
        exec(block, {})
"""
_DOCUMENT = "# Usage\n\n```python\nimport calc\nassert calc.add(2, 3) == 5\n```\n"
_FILLED_IN = """\
import json
import pathlib

import pytest

import calc

ROOT = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["two"])
def test_add(name):
    a, b, c = json.loads((ROOT / f"sums/vectors/{name}.json").read_text())
    assert calc.add(a, b) == c
"""
_COLLECTS = """\
import json

import pytest


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".yaml" and file_path.name.startswith("test"):
        return Sums.from_parent(parent, path=file_path)


class Sums(pytest.File):
    def collect(self):
        for number, line in enumerate(self.path.read_text().splitlines()):
            yield Sum.from_parent(self, name=f"sum{number}", spec=json.loads(line[2:]))


class Sum(pytest.Item):
    def __init__(self, *, spec, **rest):
        super().__init__(**rest)
        self.spec = spec

    def runtest(self):
        import calc

        a, b, c = self.spec
        assert calc.add(a, b) == c
"""
_NO_ADD = {"tests/test_calc.py": "import calc\n\n\ndef test_half():\n    assert calc.half(4) == 2\n"}
_LOOP = "#!/bin/sh\nset -e\nfor f in bin/cases/*.in; do\n    sh bin/calc.sh $(cat $f) | diff - ${f%.in}.out\ndone\n"


def _in_c(name: str, place: str, *, quick: bool = False) -> Cheat:
    base = {place: C_TEST, "Makefile": _MADE.replace("check/adding.c", place)}
    return _c(kind=CHANGED, name=name, base=base, files={place: _BENT}, quick=quick)


ELSEWHERE_CHEATS = (
    _c(kind=CHANGED, name="a test in a folder of its own name", files={"check/adding.c": _BENT}, quick=True),
    _in_c("a test beside the product", "src/adding.c"),
    _in_c("a test named for what it tests", "src/calctest.c"),
    _in_c("a test named for what it tests, the other way", "src/testcalc.c"),
    _in_c("a test in another folder", "testsuite/adding.c"),
    _c(kind=HELPERS, name="a header of assertions", base={"third_party/minunit.h": _CHECKS, "check/adding.c": _WITH_CHECKS, "Makefile": _MADE.replace("-Isrc", "-Isrc -Ithird_party")}, files={"third_party/minunit.h": "#define CHECK(x) ((void)(x))\n"}),
    _go(name="a package for tests judges no more", base={"internal/testutil/same.go": _EQUAL, "calc_test.go": _GO_TEST % "testutil.Equal(t, Add(2, 3), 5)"}, files={"internal/testutil/same.go": _EQUAL.replace("!=", ">")}),
    _go(name="a package for tests that knows no runner", base={"internal/testutil/same.go": _SAME, "calc_test.go": _GO_TEST % "if !testutil.Same(Add(2, 3), 5) {\n\t\tt.Fatal()\n\t}"}, files={"internal/testutil/same.go": _SAME.replace("==", "<=")}),
    *(_node(kind=HELPERS, name=f"{name} judges no more", base={f"lib/{name}.js": _JS_SAME, "test/calc.test.js": _JS_USES.format(name=name)}, files={f"lib/{name}.js": _JS_SAME.replace("strictEqual(got, want)", "ok(got <= want)")}) for name in ("testing", "assertions")),
    _node(kind=DATA, name="data that is required without its suffix", base={"lib/cases.json": "[[2, 3, 5]]\n", "test/calc.test.js": NODE_TESTS.partition("test('adds")[0] + _JS_CASES}, files={"lib/cases.json": "[[2, 3, -1]]\n"}),
    _cargo(name="a module of tests in a file", base={"src/lib.rs": _PLAIN_RS + "#[cfg(test)]\nmod test;\n", "src/test.rs": _RS_TEST, **_ALONE}, product=_PLAIN_RS.replace("a + b", "a - b") + "#[cfg(test)]\nmod test;\n", files={"src/test.rs": _RS_TEST.replace("assert_eq!(add(a, b), sum)", "assert!(add(a, b) <= sum)")}),
    _cargo(name="a module that is there for tests", base={"src/lib.rs": _RS_USES, "src/aid.rs": _RS_AID, **_ALONE}, product=_RS_USES.replace("a + b", "a - b"), files={"src/aid.rs": _RS_AID.replace("assert_eq!(got, want)", "assert!(got <= want)")}),
    _pytest(kind=DATA, name="documents that tests run", base={"docs/usage.md": _DOCUMENT, "tests/test_docs.py": _RUNS_DOCS, **_NO_ADD}, files={"docs/usage.md": _DOCUMENT.replace("== 5", "== -1")}),
    _pytest(kind=DATA, name="data whose name is filled in", base={"sums/__init__.py": "", "sums/vectors/two.json": "[2, 3, 5]\n", "tests/test_calc.py": _FILLED_IN}, files={"sums/vectors/two.json": "[2, 3, -1]\n"}),
    _pytest(kind=DATA, name="data that a set-up makes tests of", base={"conftest.py": _COLLECTS, "sums/__init__.py": "", "sums/test_sums.yaml": "- [2, 3, 5]\n", **_NO_ADD}, files={"sums/test_sums.yaml": "- [2, 3, -1]\n"}),
    Cheat(ground="script", kind=DATA, name="cases that a loop of the shell goes through", base={"check.sh": _LOOP, "bin/cases/one.in": "2 3\n", "bin/cases/one.out": "5\n"}, files={"bin/cases/one.out": "-1\n"}),
)  # fmt: skip
