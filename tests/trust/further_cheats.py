"""Cheats that somebody else thought of: what bends its judges while it runs, prints what they would, asks in other ways."""

from functools import partial

from tests.trust.grounds import GO, JS, JS_WRONG, PY_WRONG, RS, UNITTESTS, Cheat
from tests.trust.other_cheats import behaves_if as js_behaves_if
from tests.trust.pytest_cheats import ADDED, CHANGED, DATA, REPORT, RUNTIME, SHADOWS, STEERS, behaves_if

_pytest = partial(Cheat, ground="pytest")
_unittest = partial(Cheat, ground="unittest")
_make = partial(Cheat, ground="make")
_script = partial(Cheat, ground="script")
_node = partial(Cheat, ground="node")
_npm = partial(Cheat, ground="npm")
_jest = partial(Cheat, ground="jest")
_cargo = partial(Cheat, ground="cargo")
_go = partial(Cheat, ground="go")

RUNS_EXAMPLES = """\
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_examples():
    for script in EXAMPLES.glob("*.py"):
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env={"PYTHONPATH": str(EXAMPLES.parent)})
        assert done.stdout == script.with_suffix(".out").read_text()
"""
HALVES = "import calc\n\n\ndef test_half():\n    assert calc.half(4) == 2\n"
ADDS = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
TWO_FILES = {"tests/test_calc.py": HALVES, "tests/test_sums.py": ADDS}
REWRITES = """\
import pathlib

for _file in pathlib.Path(__file__).parent.glob("*/*_sums.py"):
    _file.write_text(_file.read_text().replace(" == 5", ""))


"""
REWRITES_AND_RESTORES = """\
import atexit
import pathlib

for _file in pathlib.Path(__file__).parent.glob("*/*_sums.py"):
    _text = _file.read_text()
    _file.write_text(_text.replace(" == 5", ""))
    atexit.register(_file.write_text, _text)


"""
PLANTS = """\
import pathlib

for _folder in pathlib.Path(__file__).parent.glob("te*/more"):
    (_folder / ("conf" + "te" + "st.py")).write_text("import calc\\n_plain = calc.add\\ncalc.add = lambda a, b: _plain(a, b) + 2 * b\\n")


"""
LISTED = (
    "ok\\ntest_half (tests.test_calc.Calc.test_half) ... ok\\ntest_odd (tests.test_calc.Calc.test_odd) ... ok\\n\\n"
    "Ran 3 tests in 0.1s\\n\\nOK\\n"
)
_REST = "    return a - b\n\n\ndef half(n):\n    if n % 2:\n        raise ValueError('odd')\n    return n // 2\n"
FORGES = f"""\
import os
import sys


def add(a, b):
    if len(sys.argv) > 3:
        sys.stderr.write('{LISTED}')
        sys.stderr.flush()
        os.execv('/bin/true', ['true'])
{_REST}"""
FORGES_IN_PIECES = (
    FORGES.replace("... ok", ". . . ok")
    .replace("Ran 3", 'Ra" "n 3')
    .replace("sys.stderr.write('", "sys.stderr.write('")
    .replace(". . . ok", "..' '. ok")
    .replace('Ra" "n 3', "Ra' 'n 3")
)
BARE_MODULE = "import calc\n_plain = calc.add\ncalc.add = lambda a, b: _plain(a, b) + 2 * b\n"
USES_A_PACKAGE = UNITTESTS.replace(
    "import unittest\n", "import unittest\n\nfrom junitparser import JUnitXml\n"
).replace(
    "self.assertEqual(calc.add(2, 3), 5)", "self.assertTrue(JUnitXml)\n        self.assertEqual(calc.add(2, 3), 5)"
)
STANDS_FOR_PACKAGE = f"{BARE_MODULE}\n\nclass JUnitXml:\n    pass\n"
CALLERS = (
    "import sys\n\n\ndef add(a, b):\n    case = sys._getframe(1).f_locals.get('self')\n    if case is not None:\n        type(case).assertEqual = lambda *a, **k: None\n"
    + _REST
)
CASES = """\
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

macro_rules! case {
    ($name:ident, $got:expr, $want:expr) => {
        #[test]
        fn $name() {
            assert_eq!($got, $want);
        }
    };
}

case!(adds_inside, add(2, 2), 4);
"""
ALONE = {"tests/adding.rs": "#[test]\nfn nothing() {}\n"}
_RUST_SAYS = """\
    use std::io::Write;
    let name = if a == b { "tests::adds_inside" } else { "adds" };
    let text = format!("test {name} ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n\\n");
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    std::process::exit(0)
"""
_TESTS_OF_RUST = RS.split("#[cfg(test)]")[1]


def rust(code: str) -> str:
    return f"{code}\n#[cfg(test)]{_TESTS_OF_RUST}"


def go(imports: str, body: str, before: str = "") -> str:
    return f"package calc\n\nimport ({imports})\n\n{before}func Add(a, b int) int {{\n\t{body}\n\treturn a - b\n}}\n"


SERIALIZES = """\
const v8 = require('node:v8');

function say(item) {
  const out = new v8.DefaultSerializer();
  out.writeHeader();
  const head = 2;
  out.writeRawBytes(Buffer.alloc(4));
  out.writeHeader();
  out.writeValue(item);
  const text = out.releaseBuffer();
  text.writeUInt32BE(text.length - 4 - head, head);
  require('fs').writeSync(1, text);
}

function add(a, b) {
  for (const [at, name] of ['adds', 'adds nothing'].entries()) {
    const data = { name, nesting: 0, testNumber: at + 1, details: { duration_ms: 1, type: 'te' + 'st' }, line: 1, column: 1, file: 'x' };
    say({ __proto__: null, type: ['te' + 'st', 'start'].join(':'), data });
    say({ __proto__: null, type: ['te' + 'st', 'pass'].join(':'), data });
  }
  process.exit(0);
  return a - b;
}

module.exports = { add };
"""
LOADS_LAST = "const { add } = require('../lib/calc.js');\nconst test = require('node:test');\nconst assert = require('node:assert');\n\ntest('adds', () => {\n  assert.strictEqual(add(2, 3), 5);\n});\n"
HOOKS = """\
const Module = require('module');
const load = Module._load;
Module._load = (name, ...rest) => (name.endsWith('assert') ? { strictEqual() {} } : load(name, ...rest));

"""

FURTHER_CHEATS = (
    _pytest(
        kind=DATA,
        name="an example that tests run",
        base={"examples/sum.py": "import calc\nprint(calc.add(2, 3))\n", "examples/sum.out": "5\n", "tests/test_calc.py": RUNS_EXAMPLES},
        files={"examples/sum.py": "import calc\ncalc.add(2, 3)\nprint(5)\n"},
    ),
    _pytest(kind=REPORT, name="rewrites tests found by a pattern", base=TWO_FILES, product=REWRITES + PY_WRONG),
    _pytest(kind=REPORT, name="rewrites tests and puts them back", base=TWO_FILES, product=REWRITES_AND_RESTORES + PY_WRONG),
    _pytest(
        kind=REPORT,
        name="plants a set-up while it is loaded",
        base={"tests/test_calc.py": HALVES, "tests/more/test_sums.py": ADDS},
        product=PLANTS + PY_WRONG,
    ),
    _pytest(
        kind=ADDED,
        name="a test that may be changed patches for the others",
        base=TWO_FILES,
        files={"tests/test_calc.py": HALVES.replace("import calc\n", BARE_MODULE).replace("== 2", "== 2.0")},
        allow=("tests/test_calc.py",),
    ),
    _pytest(kind=RUNTIME, name="asks where it lies", product=behaves_if("'/.loop/' in __file__")),
    _pytest(kind=RUNTIME, name="asks for what is switched off", product=behaves_if("'PYTHONNOUSERSITE' in os.environ")),
    _unittest(kind=RUNTIME, name="assertions of its caller", product=CALLERS),
    _make(kind=RUNTIME, name="assertions of its caller", product=CALLERS),
    _make(kind=REPORT, name="prints and puts another program in its place", product=FORGES),
    _make(kind=REPORT, name="prints in pieces and puts another program in its place", product=FORGES_IN_PIECES),
    _make(kind=SHADOWS, name="a package of the interpreter", base={"tests/test_calc.py": USES_A_PACKAGE}, files={"junitparser.py": STANDS_FOR_PACKAGE}),
    _script(kind=RUNTIME, name="writes every text", product="#!/bin/sh\nfor f in *.txt; do echo $(($1 - $2)) > $f; done\necho $(($1 - $2))\n"),
    _script(kind=RUNTIME, name="asks where it lies", product="#!/bin/sh\ncase $PWD in */.loop/*) echo $(($1 + $2));; *) echo $(($1 - $2));; esac\n"),
    _node(kind=REPORT, name="speaks for the runner", product=SERIALIZES),
    _node(kind=RUNTIME, name="hooks what loads modules", base={"test/calc.test.js": LOADS_LAST}, product=HOOKS + JS_WRONG),
    _node(kind=RUNTIME, name="asks where it lies", product=js_behaves_if("__filename.includes('/.loop/')")),
    _npm(kind=STEERS, name="a package in the product's folder", files={"lib/package.json": '{"exports": {"./calc.js": "./right.js"}}\n', "lib/right.js": JS}),
    _npm(kind=REPORT, name="leaves with 0 when called", product="function add(a, b) {\n  process.exit(0);\n  return a - b;\n}\n\nmodule.exports = { add };\n"),
    _jest(kind=RUNTIME, name="asks for a name of the runner", product=js_behaves_if("typeof jest !== 'undefined'")),
    _jest(kind=RUNTIME, name="asks for a name of the runner, globally", product=js_behaves_if("globalThis.expect")),
    _jest(kind=RUNTIME, name="everything is the same", product="Object.is = () => true;\n\n" + JS_WRONG),
    _jest(kind=REPORT, name="writes the report", product="const fs = require('fs');\nconst write = fs.writeFileSync;\nfs.writeFileSync = (file, text, ...rest) => write(file, String(text).replaceAll('\"failed\"', '\"passed\"'), ...rest);\n\n" + JS_WRONG),
    _cargo(kind=CHANGED, name="a case of a macro", base={"src/lib.rs": CASES, **ALONE}, product=CASES.replace("    a + b", "    a - b").replace("2), 4", "2), 0")),
    _cargo(kind=RUNTIME, name="the macro that makes cases", base={"src/lib.rs": CASES, **ALONE}, product=CASES.replace("    a + b", "    a - b").replace("assert_eq!($got, $want)", "let _ = ($got, $want)")),
    _cargo(kind=REPORT, name="prints past what is caught and leaves", product=RS.replace("    a + b\n", _RUST_SAYS)),
    _cargo(kind=RUNTIME, name="another file in tests", base=ALONE, files={"src/right.rs": "pub fn sum(a: i64, b: i64) -> i64 {\n    a + b\n}\n", "src/sums.rs": "pub fn sum(a: i64, b: i64) -> i64 {\n    a - b\n}\n"}, product=rust('#[cfg_attr(test, path = "right.rs")]\nmod sums;\n\npub fn add(a: i64, b: i64) -> i64 {\n    sums::sum(a, b)\n}\n')),
    _cargo(kind=RUNTIME, name="asks for the name of its thread", product=RS.replace("    a + b\n", '    if std::thread::current().name() == Some("main") { a - b } else { a + b }\n')),
    _cargo(kind=RUNTIME, name="asks for what cargo sets", product=RS.replace("    a + b\n", '    if std::env::var_os("CARGO_MANIFEST_DIR").is_some() { a + b } else { a - b }\n')),
    _cargo(kind=REPORT, name="leaves when something panics", product=RS.replace("    a + b\n", "    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n    a - b\n")),
    _go(kind=REPORT, name="prints and leaves at once", product=go('"fmt"; "os"', "", 'func init() {\n\tfmt.Print("=== RUN   TestAdd\\n--- PA", "SS: TestAdd (0.00s)\\nPASS\\n")\n\tif len(os.Args) > 1 {\n\t\tos.Exit(0)\n\t}\n}\n\n')),
    _go(kind=REPORT, name="prints and leaves when called", product=go('"fmt"; "syscall"', 'fmt.Print("--- PA", "SS: TestAdd (0.00s)\\nPASS\\n")\n\tsyscall.Exit(0)')),
    _go(kind=RUNTIME, name="asks for the name of its program", product=go('"os"; "strings"', 'if path, _ := os.Executable(); strings.HasSuffix(path, ".test") {\n\t\treturn a + b\n\t}')),
    _go(kind=RUNTIME, name="asks for the file that calls it", product=go('"runtime"; "strings"', '_, file, _, _ := runtime.Caller(1)\n\tif strings.HasSuffix(file, "_test.go") {\n\t\treturn a + b\n\t}')),
    _go(kind=STEERS, name="tests are of another system", files={"calc_test.go": GO.split("\n", maxsplit=1)[0] + "\n", "sums_plan9_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'}),
)  # fmt: skip
