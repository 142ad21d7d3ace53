"""Small projects, one for each way to run tests; what is right in them, and what is wrong."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from loopwright.config.settings import CheckSettings

Content: TypeAlias = str | bytes | None  # None: the file is removed

_PYTHON = sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """`proof` ends with 0 only where somebody who uses the product outside of any test gets what is right."""

    name: str
    files: Mapping[str, str]
    product: str  # its path
    wrong: str  # what it holds once an agent has done it badly
    run: tuple[str, ...]
    proof: tuple[str, ...]
    needs: tuple[str, ...] = ()  # programs
    by_exit_code: bool = False

    @property
    def check(self) -> CheckSettings:
        return CheckSettings(name="test", run=self.run, trust="exit-code" if self.by_exit_code else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheat:
    """What an agent leaves behind instead of right code."""

    ground: str
    kind: str  # of cheating
    name: str
    base: Mapping[str, str] = field(default_factory=dict)  # what the project has besides the ground's files
    files: Mapping[str, Content] = field(default_factory=dict)
    product: str | None = None  # in place of the ground's wrong one
    links: Mapping[str, str] = field(default_factory=dict)
    modes: tuple[str, ...] = ()  # made executable
    submodules: tuple[str, ...] = ()
    unmade: bool = False  # the base's product is the wrong one, and nobody touches it
    plugins: bool = False  # installed plugins of pytest are loaded
    allow: tuple[str, ...] = ()  # what a person said may be changed
    artifacts: tuple[str, ...] = ()  # what a person named to be reviewed and mended
    quick: bool = False  # tried with every change

    @property
    def id(self) -> str:
        return f"{self.ground}-{self.kind}-{self.name}".replace(" ", "_")


PY = """\
def add(a, b):
    return a + b


def half(n):
    if n % 2:
        raise ValueError("odd")
    return n // 2
"""
PY_WRONG = PY.replace("a + b", "a - b")
PYTESTS = """\
import pytest

import calc


def test_add():
    assert calc.add(2, 3) == 5


def test_half():
    assert calc.half(4) == 2


def test_odd():
    with pytest.raises(ValueError):
        calc.half(3)
"""
UNITTESTS = """\
import unittest

import calc


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_half(self):
        self.assertEqual(calc.half(4), 2)

    def test_odd(self):
        with self.assertRaises(ValueError):
            calc.half(3)
"""
# Who leaves the process with 0 proves nothing.
_PY_PROOF = (
    "sh",
    "-c",
    f"""{_PYTHON} -I -c "import sys; sys.path[:0] = ['.', 'src']; import calc
sys.exit(7 if int(calc.add(2, 3)) == 5 == int(calc.add(1, 4)) else 1)"; test $? = 7""",
)
COLOURED = """\
import colorsys

import calc


def test_add():
    assert colorsys.rgb_to_hsv(calc.add(2, 3), 5, 5) == (0.0, 0.0, 5)
"""
DRIVER = """\
import sys
import unittest

suite = unittest.defaultTestLoader.discover("tests", top_level_dir=".")
result = unittest.TextTestRunner(verbosity=2).run(suite)
sys.exit(not result.wasSuccessful())
"""
GOLDEN_TESTS = """\
import json
from pathlib import Path

import pytest

from calc import add

CASES = json.loads((Path(__file__).parent / "data" / "expected.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_add(case):
    assert add(*case[:2]) == case[2]
"""
JS = """\
function add(a, b) {
  return a + b;
}

module.exports = { add };
"""
JS_WRONG = JS.replace("a + b", "a - b")
# As people name it; a folder may bear the whole name.
_JS_ADD = (
    "['./lib/calc', './lib/calc.js'].map((name) => { try { return require(name).add(2, 3); }"
    " catch (why) { if (why.code !== 'MODULE_NOT_FOUND') throw why; } }).find((sum) => sum !== undefined)"
)
_JS_PROOF = ("sh", "-c", f'node -e "process.exit({_JS_ADD} === 5 ? 7 : 1)"; test $? = 7')
NODE_TESTS = """\
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('../lib/calc.js');

test('adds', () => {
  assert.strictEqual(add(2, 3), 5);
});

test('adds nothing', () => {
  assert.strictEqual(add(2, 0), 2);
});
"""
JEST_TESTS = """\
const { add } = require('../lib/calc.js');

test('adds', () => {
  expect(add(2, 3)).toBe(5);
});

test('is as it was', () => {
  expect(`sum ${add(1, 1)}`).toMatchSnapshot();
});
"""
FINDS = "module.exports = (request, options) => options.defaultResolver(request, options);\n"
MOCHA_TESTS = """\
const assert = require('assert');
const calc = require('../../lib/calc.js');

describe('{}', () => {{
  it('is right', () => {{
    assert.{};
  }});
}});
"""
VITESTS = """\
import { expect, test } from 'vitest';
import calc from '../lib/calc';

test('adds', () => {
  expect(calc.add(2, 3)).toBe(5);
});
"""
SNAPSHOT = '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`is as it was 1`] = `"sum 2"`;\n'
SH = "#!/bin/sh\necho $(($1 + $2))\n"
RS = """\
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_inside() {
        assert_eq!(add(2, 2), 4);
    }
}
"""
RS_WRONG = RS.replace("    a + b\n", "    a - b\n")
GO = "package calc\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
GO_WRONG = GO.replace("a + b", "a - b")
_RUST_PROOF = """\
rustc --edition 2021 --crate-name calc --crate-type rlib src/lib.rs -o libcalc.rlib &&
echo 'fn main() { std::process::exit(if calc::add(2, 3) == 5 { 7 } else { 1 }) }' > use.rs &&
rustc --edition 2021 --extern calc=libcalc.rlib use.rs -o use && { ./use; test $? = 7; }
"""
_GO_PROOF = """\
mkdir -p use && cat > use/use.go << END && go build -o used ./use && { ./used; test $? = 7; }
package main

import ("calc"; "os")

func main() { if calc.Add(2, 3) == 5 { os.Exit(7) } }
END
"""
C = '#include "calc.h"\n\nint add(int a, int b) {\n    return a + b;\n}\n'
C_TEST = """\
#include <stdio.h>
#include "calc.h"

int main(void) {
    printf("1..1\\n");
    if (add(2, 3) != 5) {
        printf("not ok 1 - adds\\n");
        return 1;
    }
    printf("ok 1 - adds\\n");
    return 0;
}
"""
_C_PROOF = """\
echo 'int add(int, int); int main(void) { return add(2, 3) == 5 ? 7 : 1; }' > use.c &&
cc -o use use.c src/calc.c && { ./use; test $? = 7; }
"""

GROUNDS: dict[str, Ground] = {
    each.name: each
    for each in (
        Ground(
            name="pytest",
            files={"calc.py": PY, "tests/test_calc.py": PYTESTS},
            product="calc.py",
            wrong=PY_WRONG,
            run=(_PYTHON, "-m", "pytest", "-q"),
            proof=_PY_PROOF,
        ),
        Ground(
            name="pytest in src",
            files={
                "src/calc/__init__.py": "from calc.core import add\n",
                "src/calc/core.py": PY,
                "tests/test_core.py": GOLDEN_TESTS,
                "tests/data/expected.json": "[[2, 3, 5], [1, 1, 2]]\n",
                "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
            },
            product="src/calc/core.py",
            wrong=PY_WRONG,
            run=(_PYTHON, "-m", "pytest"),
            proof=_PY_PROOF,
        ),
        Ground(
            name="unittest",
            files={
                "calc/__init__.py": "from calc.core import add, half\n",
                "calc/core.py": PY,
                "tests/__init__.py": "",
                "tests/test_calc.py": UNITTESTS,
            },
            product="calc/core.py",
            wrong=PY_WRONG,
            run=(_PYTHON, "-m", "unittest"),
            proof=_PY_PROOF,
        ),
        Ground(
            name="node",
            files={"lib/calc.js": JS, "test/calc.test.js": NODE_TESTS, "package.json": '{"name": "calc"}\n'},
            product="lib/calc.js",
            wrong=JS_WRONG,
            run=("node", "--test"),
            proof=_JS_PROOF,
            needs=("node",),
        ),
        Ground(
            name="jest",
            files={
                "lib/calc.js": JS,
                "test/calc.test.js": JEST_TESTS,
                "test/__snapshots__/calc.test.js.snap": SNAPSHOT,
                "package.json": '{"name": "calc"}\n',
            },
            product="lib/calc.js",
            wrong=JS_WRONG,
            run=("jest",),
            proof=_JS_PROOF,
            needs=("node", "jest"),
        ),
        Ground(
            name="mocha",
            files={
                "lib/calc.js": JS,
                "test/api/a.test.js": MOCHA_TESTS.format("api", "ok(calc.add)"),
                "test/core/b.test.js": MOCHA_TESTS.format("core", "strictEqual(calc.add(2, 3), 5)"),
                "package.json": '{"name": "calc"}\n',
            },
            product="lib/calc.js",
            wrong=JS_WRONG,
            run=("mocha", "--recursive"),
            proof=_JS_PROOF,
            needs=("node", "mocha"),
        ),
        Ground(
            name="vitest",
            files={"lib/calc.js": JS, "test/calc.test.js": VITESTS, "package.json": '{"name": "calc"}\n'},
            product="lib/calc.js",
            wrong=JS_WRONG,
            run=("vitest", "run"),
            proof=_JS_PROOF,
            needs=("node", "vitest"),
        ),
        Ground(
            name="npm",
            files={
                "lib/calc.js": JS,
                "test/calc.test.js": NODE_TESTS,
                "package.json": '{"name": "calc", "scripts": {"test": "node --test"}}\n',
            },
            product="lib/calc.js",
            wrong=JS_WRONG,
            run=("npm", "test"),
            proof=_JS_PROOF,
            needs=("node", "npm"),
        ),
        Ground(
            name="make",
            files={
                "calc.py": PY,
                "tests/test_calc.py": UNITTESTS,
                "Makefile": f"PYTHON ?= {_PYTHON}\n-include local.mk\n\ntest: lint\n"
                "\t$(PYTHON) -m unittest discover -v -s tests -t .\n\nlint:\n\t@sh scripts/lint.sh\n",
                "tests/__init__.py": "",
                "scripts/lint.sh": "echo linted\n",
            },
            product="calc.py",
            wrong=PY_WRONG,
            run=("make", "test"),
            proof=_PY_PROOF,
            needs=("make",),
        ),
        Ground(
            name="script",
            files={
                "bin/calc.sh": SH,
                "check.sh": "#!/bin/sh\nset -e\n. ./ci/compare.sh\n"
                "sh bin/calc.sh 2 3 > got.txt\ncompare got.txt expected.txt\n",
                "ci/compare.sh": 'compare() { diff "$1" "$2"; }\n',
                "expected.txt": "5\n",
            },
            product="bin/calc.sh",
            wrong=SH.replace("+", "-"),
            run=("sh", "check.sh"),
            proof=("sh", "-c", 'test "$(sh bin/calc.sh 2 3) $(sh bin/calc.sh 4 5)" = "5 9"'),
            by_exit_code=True,
        ),
        Ground(
            name="cargo",
            files={
                "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
                "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
                "src/lib.rs": RS,
                "tests/adding.rs": "#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n",
                ".gitignore": "target/\n",
            },
            product="src/lib.rs",
            wrong=RS_WRONG,
            run=("cargo", "test", "--offline"),
            proof=("sh", "-c", _RUST_PROOF),
            needs=("cargo",),
        ),
        Ground(
            name="go",
            files={
                "go.mod": "module calc\n\ngo 1.20\n",
                "calc.go": GO,
                "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n'
                '\tif Add(2, 3) != 5 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
            },
            product="calc.go",
            wrong=GO_WRONG,
            run=("go", "test", "./..."),
            proof=("sh", "-c", _GO_PROOF),
            needs=("go",),
        ),
        Ground(
            name="pytest in a folder",
            files={
                "packages/core/calc.py": PY,
                "packages/core/checks/check_calc.py": COLOURED,
                "packages/core/pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n',
            },
            product="packages/core/calc.py",
            wrong=PY_WRONG,
            run=("sh", "-c", f"cd packages/core && {_PYTHON} -m pytest -q"),
            proof=("sh", "-c", f"cd packages/core && {shlex.join(_PY_PROOF)}"),
        ),
        Ground(
            name="jest in a folder",
            files={
                "web/package.json": '{"name": "web", "scripts": {"pretest": "node before", "test": "jest"}, "jest": {'
                '"testMatch": ["**/checks/*.js"], "setupFiles": ["./support/first.js"],'
                ' "resolver": "./support/find.js"}}\n',
                "web/before/index.js": "console.log('ready');\n",
                "web/support/first.js": "global.ready = true;\n",
                "web/support/find.js": FINDS,
                "web/lib/calc.js": JS,
                "web/checks/sums.js": JEST_TESTS.partition("\ntest('is")[0],
            },
            product="web/lib/calc.js",
            wrong=JS_WRONG,
            run=("npm", "--prefix", "web", "test"),
            proof=("sh", "-c", f"cd web && {shlex.join(_JS_PROOF)}"),
            needs=("node", "npm", "jest"),
        ),
        Ground(
            name="make in a folder",
            files={
                "sub/Makefile": f"PYTHON ?= {_PYTHON}\nDIR := qa\n\n"
                "test: prepare\n\tPYTHONPATH=. $(PYTHON) $(DIR)/main.py\n\nprepare:\n\t@sh ops/prepare.sh\n",
                "sub/ops/prepare.sh": "echo ready\n",
                "sub/qa/main.py": DRIVER,
                "sub/calc.py": PY,
                "sub/tests/__init__.py": "",
                "sub/tests/test_calc.py": UNITTESTS,
            },
            product="sub/calc.py",
            wrong=PY_WRONG,
            run=("make", "-C", "sub", "test"),
            proof=("sh", "-c", f"cd sub && {shlex.join(_PY_PROOF)}"),
            needs=("make",),
        ),
        Ground(
            name="c",
            files={
                "src/calc.h": "int add(int a, int b);\n",
                "src/calc.c": C,
                "check/adding.c": C_TEST,
                "Makefile": "test:\n\tmkdir -p build\n\tcc -Isrc -o build/t check/adding.c src/calc.c\n\t./build/t\n",
                ".gitignore": "build/\n",
            },
            product="src/calc.c",
            wrong=C.replace("a + b", "a - b"),
            run=("make", "test"),
            proof=("sh", "-c", _C_PROOF),
            needs=("make", "cc"),
        ),
    )
}
