"""A test file that was only added to, and the many ways of looking as if."""

import pytest

from loopwright.adapters.checks.classes.inserted import inserted_change
from loopwright.adapters.checks.classes.python_additions import python_change

BASE = '''"""Tests."""
import os
from calc import add

LIMIT = 3


@pytest.fixture
def box():
    return []


@pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)])
def test_add(a, b, client):
    assert add(a, b) == sum((a, b))


class TestMore(Case):
    def test_one(self):
        self.assertEqual(add(1, 1), 2)
        self.near(1, 1)
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "\n\ndef test_new():\n    assert add(0, 0) == 0\n"),
        ("", "\n\nclass TestNew:\n    def setup_method(self):\n        self.x = 1\n\n    def test_x(self): pass\n"),
        ("", "\n\n@pytest.mark.skip(reason='later')\ndef test_later(): pass\n"),
        ("", "\n\n@patch('calc.add')\ndef test_patched(mocked): pass\n"),
        ("", "\n\nCASES = [(1, 2)]\n"),
        ("", "\n\ntry:\n    import numpy\nexcept ImportError:\n    numpy = None\n"),
        ("", "\n\n@pytest.fixture\ndef other_box():\n    return {}\n"),
        ("import os\n", "import json\nimport os\nimport os.path\n"),
        ("import add\n", "import add, subtract\n"),
        ("(3, 4)]", "(3, 4), (5, 6)]"),
        ("[(1, 2), ", "[(0, 0), (1, 2), "),
        ("class TestMore(Case):\n", "class TestMore(Case):\n    def test_zero(self):\n        pass\n\n"),
        ("LIMIT = 3\n", "LIMIT = 3  # said\n"),
        ('"""Tests."""\n', '# a word\n"""Tests."""\n'),
    ],
)
def test_an_addition_is_free(old: str, new: str) -> None:
    after = BASE.replace(old, new, 1) if old else BASE + new
    assert after != BASE
    assert python_change(BASE, after) == ""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("== sum((a, b))", "is not None", "test_add was changed"),
        ("(1, 2), (3", "(1, 3), (3", "test_add was changed"),
        ("(1, 2), ", "", "test_add was changed"),
        ('(("a", "b"), [', '(("a", "b"), [', ""),
        ("        self.near(1, 1)\n", "", "test_one was changed"),
        ("        self.near(1, 1)\n", "        return\n        self.near(1, 1)\n", "test_one was changed"),
        ("import os\n", "", "line 2 of the base is gone or was changed"),
        ("from calc import add\n", "from fake import add\n", "line 3 of the base is gone or was changed"),
        ("import add\n", "import add, other as os\n", "line 3 of the base is gone or was changed"),
        ("LIMIT = 3", "LIMIT = 4", "line 5 of the base is gone or was changed"),
        ("class TestMore(Case)", "class TestMore(Fake)", "TestMore was changed"),
        ("class TestMore", "@skip\nclass TestMore", "TestMore was changed"),
        ("@pytest.fixture\ndef box", "@pytest.fixture(autouse=True)\ndef box", "box was changed"),
    ],
)
def test_a_change_of_the_base_is_told(old: str, new: str, why: str) -> None:
    assert python_change(BASE, BASE.replace(old, new, 1)) == why


@pytest.mark.parametrize(
    "new",
    [
        "def test_add(a, b): pass\n",
        "class TestMore: pass\n",
        "add = lambda a, b: a\n",
        "def sum(x): return x\n",
        "import fake as os\n",
        "from fake import *\n",
        "@pytest.fixture\ndef client(): return 1\n",
        "def setup_module(): pass\n",
        "def setUpModule(): pass\n",
        "def load_tests(*a): pass\n",
        "def pytest_runtest_setup(item): pass\n",
        "pytestmark = pytest.mark.skip\n",
        "pytest_plugins = ['x']\n",
        "collect_ignore = ['x']\n",
        "__test__ = False\n",
        "del test_add\n",
        "import calc\ncalc.add = 1\n",
        "setattr(calc, 'add', 1)\n",
        "x = pytest.importorskip('no')\n",
        "x = sys.exit(0)\n",
        "x = setattr(calc, 'add', None)\n",
        "sys.modules['calc'] = None\n",
        "@pytest.fixture(autouse=True)\ndef patch_all(): pass\n",
        "def test_new():\n    global add\n    add = None\n",
        "for x in (): pass\n",
        "raise SystemExit\n",
        "if True:\n    def test_add(): pass\n",
        "if sys.exit(0): pass\n",
        "def test_x(a=os._exit(0)): pass\n",
        "class TestX:\n    x = os._exit(0)\n",
        "class TestX:\n    calc.add = 1\n",
        "class TestX:\n    @exec('x')\n    def test_y(self): pass\n",
        "class TestX:\n    class Inner:\n        y = os.kill(1, 9)\n",
        "with x: pass\n",
        "x = (add := 1)\n",
        "def __getattr__(name): pass\n",
    ],
)
def test_what_is_new_may_not_reach_the_base(new: str) -> None:
    assert python_change(BASE, f"{BASE}\n\n{new}") != ""
    assert python_change(BASE, BASE.replace('"""Tests."""\n', f'"""Tests."""\n{new}\n', 1)) != ""


@pytest.mark.parametrize("name", ["setUp", "near", "assertEqual", "tearDown", "__init__", "test_one", "run_"])
def test_a_new_method_overrides_nothing(name: str) -> None:
    after = f"{BASE}\n    def {name}(self, *a): pass\n"
    assert bool(python_change(BASE, after)) is (name != "run_")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "# coding: utf-7\nx = 1\n"),
        ("x = 1\n", "x = (\n"),
        ("x = (\n", "x = 1\n"),
        ("x = 1\n", "x = 1\n\0"),
    ],
)
def test_what_cannot_be_read_is_changed(before: str, after: str) -> None:
    assert python_change(before, after) != ""


GO = """package calc

import "testing"

func TestAdd(t *testing.T) {
	tests := []struct{ a, b int }{
		{1, 2},
		{3, 4},
	}
	for _, x := range tests {
		if Add(x.a, x.b) == 0 {
			t.Fatal("}")
		}
	}
}
"""
JS = """const add = require('..')

describe('add', () => {
  it('adds', () => {
    const cases = [
      ['1', 2],
    ]
    expect(add(1, 2)).toBe(3)
  })
})
"""
RUST = """mod util;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3); // '{'
}
"""
RUBY = """describe 'add' do
  it 'adds' do
    expect(add(1, 2)).to eq 3
  end
end
"""


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("a_test.go", GO, "\t\t{3, 4},\n", "\t\t{3, 4},\n\t\t{5, 6},\n"),
        ("a_test.go", GO, "func TestAdd", "func TestNew(t *testing.T) {\n\tt.Log(1)\n}\n\nfunc TestAdd"),
        ("a_test.go", GO, 'import "testing"\n', 'import "testing"\nimport "os"\n'),
        ("a.test.js", JS, "      ['1', 2],\n", "      ['1', 2],\n      ['3', 4],\n"),
        ("a.test.js", JS, "  it('adds'", "  it('more', () => {\n    expect(1).toBe(1)\n  })\n  it('adds'"),
        ("a.test.js", JS, "describe(", "const x = /[}]/\n\ndescribe("),
        ("tests/a.rs", RUST, "mod util;\n", "mod util;\n#[cfg(unix)]\nmod more;\n"),
        ("tests/a.rs", RUST, "#[test]\nfn adds", "#[test]\n#[ignore]\nfn slow() {\n}\n\n#[test]\nfn adds"),
        ("a_spec.rb", RUBY, "  it 'adds'", "  it 'more' do\n    expect(1).to eq 1\n  end\n  it 'adds'"),
        ("tests/a.json", '{\n"a": 1,\n', '"a"', '"b": 2,\n"a"'),
        ("tests/a.bats", "@test 'a' {\n  true\n}\n", "@test", "@test 'b' {\n  true\n}\n@test"),
        ("tests/x.snap", "a\n", "a\n", "a\nb\n"),
    ],
)
def test_whole_blocks_are_free(path: str, before: str, old: str, new: str) -> None:
    assert inserted_change(path, before, before.replace(old, new, 1)) == ""


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("a_test.go", GO, "\t\t{3, 4},\n", ""),
        ("a_test.go", GO, "\tfor _", "\treturn\n\tfor _"),
        ("a_test.go", GO, "\tfor _", "\ttests = nil\n\tfor _"),
        ("a_test.go", GO, "func TestAdd", "/*\nfunc TestAdd"),
        ("a_test.go", GO, "func TestAdd", "func TestMain(m *testing.M) {\n}\nfunc TestAdd"),
        ("a_test.go", GO, "func TestAdd", "func init() {\n}\nfunc TestAdd"),
        ("a_test.go", GO, "\t\t{3, 4},\n", "\t\t{3, 4},\n\t}\n\treturn\n\tx := []int{\n"),
        ("a.test.js", JS, "    expect", "    return\n    expect"),
        ("a.test.js", JS, "  it('adds'", "  it.only('x', () => {})\n  it('adds'"),
        ("a.test.js", JS, "  it('adds'", "  beforeEach(() => {})\n  it('adds'"),
        ("a.test.js", JS, "describe(", "jest.mock('..')\ndescribe("),
        ("a.test.js", JS, "describe(", "process.exit(0)\ndescribe("),
        ("a.test.js", JS, "describe(", "/*\ndescribe("),
        ("a.test.js", JS, "describe(", "const s = `\ndescribe("),
        ("a.test.js", JS, "  it('adds'", "  xit('y', () => {})\n  it('adds'"),
        ("tests/a.rs", RUST, "#[test]\nfn adds", "#[ignore]\n#[test]\nfn adds"),
        ("tests/a.rs", RUST, "mod util;", "#![cfg(never)]\nmod util;"),
        ("tests/a.rs", RUST, "    assert_eq", "    return;\n    assert_eq"),
        ("tests/a.rs", RUST, "#[test]\nfn adds", "/*\n#[test]\nfn adds"),
        ("tests/a.rs", RUST, "mod util;", "macro_rules! assert_eq { ($($x:tt)*) => {} }\nmod util;"),
        ("a_spec.rb", RUBY, "    expect", "    skip\n    expect"),
        ("a_spec.rb", RUBY, "  it 'adds'", "  before do\n  end\n  it 'adds'"),
        ("tests/run.sh", "./a\n", "./a", "exit 0\n./a"),
        ("tests/known_failures.txt", "a\n", "a\n", "a\nb\n"),
        ("tests/x.json", '{"a": 1}\n', "1", "2"),
        ("tests/a.c", "int main() {\n}\n", "int", "#if 0\nint"),
        ("tests/ATest.java", "class ATest {\n}\n", "}", "  @BeforeEach\n  void x() {}\n}"),
    ],
)
def test_what_reaches_a_test_of_the_base_is_a_change(path: str, before: str, old: str, new: str) -> None:
    assert inserted_change(path, before, before.replace(old, new, 1)) != ""


NODE = """const test = require('node:test')
const { add } = require('../lib/calc.js')

function near(a, b) { assert.ok(Math.abs(a - b) < 1) }

describe('add', () => {
  test('adds', () => {
    near(add(2, 3), 5)
  })
})
"""
ESM = """import { expect, test } from 'vitest'
import {
  add,
} from '../src/calc'
import calc from '../src/whole'

const text = `
import { a } from 'b'
`

test('adds', () => {
  expect(add(2, 3)).toBe(5)
})
"""
USED = "use calc::add;\nuse calc::ops::{mul, div};\n\n#[test]\nfn adds() {\n    assert_eq!(add(mul(1, 2), 3), 5);\n}\n"
HOOKED = """
describe('sub', () => {
  let one
  beforeEach(() => {
    one = 1
  })
  afterAll(async () => {})

  test('x', () => {})
})
"""
SUB = "\ntest('subs', () => {\n  const near = sub(1, 2)\n})\n"


@pytest.mark.parametrize(
    ("path", "before", "old", "new", "more"),
    [
        ("a.test.js", NODE, "{ add }", "{ add, sub }", SUB),
        ("a.test.js", NODE, "{ add }", "{ add, sub: minus }", SUB),
        ("a.test.js", NODE, "{ add }", "{\n  add,\n  sub,\n}", ""),
        ("a.test.js", NODE, "node:test')\n", "node:test')\nconst fs = require('fs')\n", HOOKED),
        ("a.test.js", NODE, "5)\n  })\n", "5)\n  })\n\n  test('more', () => {})\n", HOOKED),
        ("a.test.js", NODE, "describe(", "function a() {}\ndescribe(", ""),  # near has its own
        ("a.test.ts", ESM, "  add,\n", "  add,\n  sub,\n", SUB),
        ("a.test.ts", ESM, "{\n  add,\n}", "{ add, type Sum, sub as minus }", HOOKED),
        ("a.test.ts", ESM, "{ expect, test }", "{ beforeEach, describe, expect, test, vi }", HOOKED),
        ("a.test.ts", ESM, "import calc from", "import calc, { sub } from", ""),
        ("tests/a.rs", USED, "use calc::add;", "use calc::{add, sub};", ""),
        ("tests/a.rs", USED, "{mul, div}", "{div, mul, rem}", "\n#[test]\nfn rems() {\n    rem(1, 2);\n}\n"),
        ("a_test.go", GO, 'import "testing"', 'import (\n\t"strings"\n\t"testing"\n)', ""),
        ("a_spec.rb", RUBY, "describe 'add'", "require 'set'\nrequire_relative \"more\"\ndescribe 'add'", ""),
    ],
)
def test_an_import_may_take_more_and_a_new_group_has_hooks_of_its_own(
    path: str, before: str, old: str, new: str, more: str
) -> None:
    assert inserted_change(path, before, before.replace(old, new, 1) + more) == ""


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("a.test.js", NODE, "{ add }", "{ sub }"),
        ("a.test.js", NODE, "{ add }", "{ plus: add, sub }"),
        ("a.test.js", NODE, "{ add }", "{ add, assert }"),
        ("a.test.js", NODE, "{ add }", "{ add, sub: near }"),
        ("a.test.js", NODE, "{ add } = require('../lib", "{ add, sub } = require('../fake"),
        ("a.test.js", NODE, "const { add }", "let { add, sub }"),
        ("a.test.js", NODE, "{ add }", "{ add, sub = test.only() }"),
        ("a.test.js", NODE, "describe(", "beforeEach(() => {})\ndescribe("),
        ("a.test.js", NODE, "  test('adds'", "  beforeEach(() => {})\n  test('adds'"),
        ("a.test.js", NODE, "describe(", "test('x', () => { beforeEach(() => {}) })\ndescribe("),
        ("a.test.js", NODE, "describe(", "function near() {}\ndescribe("),
        ("a.test.js", NODE, "  test('adds'", "  const near = () => {}\n  test('adds'"),
        ("a.test.js", NODE, "describe(", "const { ok: assert } = require('x')\ndescribe("),
        ("a.test.ts", ESM, "import calc", "import { near as expect } from 'near'\nimport calc"),
        ("a.test.ts", ESM, "{ a }", "{ a, b }"),
        ("a.test.ts", ESM, "calc from", "other, { calc } from"),
        ("tests/a.rs", USED, "use calc::add;", "use calc::{add, assert_eq};"),
        ("tests/a.rs", USED, "use calc::add;", "use calc::{add, *};"),
        ("tests/a.rs", USED, "use calc::add;", "use fake::{add, sub};"),
        ("a_test.go", GO, 'import "testing"', 'import (\n\t"fake/testing"\n)'),
        ("a_spec.rb", RUBY, "describe 'add'", "require 'set'; exit\ndescribe 'add'"),
    ],
)
def test_an_import_takes_no_name_from_the_base(path: str, before: str, old: str, new: str) -> None:
    assert before != before.replace(old, new, 1)
    assert inserted_change(path, before, before.replace(old, new, 1) + "\n") != ""
