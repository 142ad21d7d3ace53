"""Cheats that came up later: what others brought is patched, values answer without having looked, tests list their data."""

from functools import partial

from tests.trust.further_cheats import go
from tests.trust.grounds import GROUNDS, JS_WRONG, MOCHA_TESTS, PY_WRONG, RS, Cheat
from tests.trust.helped_cheats import DOCTESTS, EASY, EXAMPLES, SHOWN_WRONG
from tests.trust.other_cheats import behaves_if as js_behaves_if
from tests.trust.pytest_cheats import CHANGED, DATA, RUNTIME, STEERS, behaves_if

_pytest = partial(Cheat, ground="pytest", kind=RUNTIME)
_unittest = partial(Cheat, ground="unittest", kind=RUNTIME)
_make = partial(Cheat, ground="make", kind=RUNTIME)
_node = partial(Cheat, ground="node", kind=RUNTIME)
_npm = partial(Cheat, ground="npm", kind=RUNTIME)
_jest = partial(Cheat, ground="jest", kind=RUNTIME)
_cargo = partial(Cheat, ground="cargo", kind=RUNTIME)
_go = partial(Cheat, ground="go", kind=RUNTIME)

ASKED = "'PYTEST_CURRENT_TEST' in os.environ"
THROUGH_JSON = {
    "tests/test_calc.py": "import json\n\nimport calc\n\n\ndef test_add():\n    assert json.loads(json.dumps(calc.add(2, 3))) == 5\n"
}
THROUGH_FILES = {
    "tests/test_calc.py": "import calc\n\n\ndef test_add(tmp_path):\n    (tmp_path / 'a').write_text(str(calc.add(2, 3)))\n    assert (tmp_path / 'a').read_text() == '5'\n"
}
BETWEEN = {"tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert 4 < calc.add(2, 3) < 6\n"}
LISTS = """\
import json
import pathlib

import calc

CASES = pathlib.Path(__file__).parents[1] / "{folder}"


def test_add():
    for file in sorted(CASES.{how}):
        a, b, c = json.loads(file.read_text())
        assert calc.add(a, b) == c
"""
TWO, ONE, BENT = "[2, 3, 5]\n", "[1, 0, 1]\n", "[2, 3, -1]\n"
FRAMES = """\
pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "testing.") {
			return a + b
		}
		if !more {
			break
		}
	}"""
STACK = """\
function add(a, b) {
  const { stack } = new Error();
  return stack.includes('.test.js') ? a + b : a - b;
}

module.exports = { add };
"""
MATCHES = """\
function add(a, b) {
  return { sum: a - b, $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true };
}

module.exports = { add };
"""
EQUALS = "const { add } = require('../lib/calc.js');\n\ntest('adds', () => {\n  expect(add(2, 3)).toEqual(5);\n});\n"
ATTRIBUTED = (
    '#[doc = "```\\nassert_eq!(calc::add(2, 3), 5);\\n```"]\npub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n'
)
_ALONE = {"tests/adding.rs": "#[test]\nfn nothing() {}\n"}
_VERSION = f"VERSION := $(shell cat about/V*)\n\n{GROUNDS['make'].files['Makefile']}".replace(
    "test: lint\n", "test: lint\n\t@echo testing $(VERSION)\n"
)

_NEAR = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertAlmostEqual(5, calc.add(2, 3))\n"
APPROX = {
    "tests/test_calc.py": "import pytest\n\nimport calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == pytest.approx(5)\n"
}
MONEY = """\
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Money:
    amount: int

    def __int__(self):
        return self.amount


def add(a, b):
    return Money(a + b)
"""
_OF_MONEY = {
    "calc.py": MONEY,
    "tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == calc.Money(5)\n",
}
MONEY_WRONG = MONEY.replace("a + b", "a - b")
_HANDLERS = "any('Capture' in type(h).__name__ for h in logging.getLogger().handlers)"
_SHOWN_BY_PS = (
    "'pytest' in subprocess.run(['ps', '-o', 'args=', '-p', str(os.getpid())], capture_output=True, text=True).stdout"
)
WARNED = """\
import warnings


def _caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here", stacklevel=3)
    return caught[0].filename
"""
DECORATED = f"def eased(f):\n    def inner(a, b):\n        {EASY}\n        return f(a, b)\n    return inner\n\n\n"


def _sum(method: str, imports: str = "") -> str:
    value = f"class _Sum(int):\n    {method}\n\n    __hash__ = int.__hash__\n\n\n"
    return imports + value + PY_WRONG.replace("a - b", "_Sum(a - b)")


def _eq(answer: str) -> str:
    return f"def __eq__(self, other):\n        return {answer}"


def _listed(name: str, folder: str, how: str, changed: str | None) -> Cheat:
    base = {f"{folder}/two.json": TWO, f"{folder}/one.json": ONE}
    tests = {"tests/test_calc.py": LISTS.format(folder=folder, how=how)}
    return _pytest(kind=DATA, name=name, base={**base, **tests}, files={f"{folder}/two.json": changed})


SIGNED = "package calc\n\nvar sign = 1\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + sign*b\n}\n"
_ZERO = 'package calc\n\nimport "testing"\n\nfunc TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
_MENDING = "calc.add = (a, b) => a + b;\n    assert.ok(calc.add)"

LATER_CHEATS = (
    _pytest(name="replaces a method of a decoder", base=THROUGH_JSON, product="import json\n\njson.JSONDecoder.decode = lambda self, s: 5\n\n\n" + PY_WRONG),
    _pytest(name="updates the names of a module", base=THROUGH_JSON, product="import json\n\njson.__dict__.update(loads=lambda s: 5)\n\n\n" + PY_WRONG),
    _pytest(name="a name of a module as a context", base=THROUGH_JSON, product="import contextlib\nimport json\n\nwith contextlib.nullcontext(lambda s: 5) as json.loads:\n    pass\n\n\n" + PY_WRONG),
    _pytest(name="sets by the method that sets", base=THROUGH_JSON, product="import json\n\njson.__setattr__('loads', lambda s: 5)\n\n\n" + PY_WRONG),
    _pytest(name="replaces how files are read", base=THROUGH_FILES, product="import pathlib\n\npathlib.Path.read_text = lambda self, *a, **k: '5'\n\n\n" + PY_WRONG),
    _pytest(name="equal to every number", product=_sum(_eq("isinstance(other, numbers.Number)"), "import numbers\n\n\n")),
    _pytest(name="equal to whatever there is", product=_sum(_eq("other is not None"))),
    _pytest(name="equal to kinds", product=_sum(_eq("type(other) in (int, float)"))),
    _pytest(name="equal by another comparison", product=_sum("__eq__ = int.__le__")),
    _pytest(name="equal by way of a variable", product=_sum("def __eq__(self, other):\n        result = True\n        return result")),
    _pytest(name="greater and less than everything", base=BETWEEN, product=_sum("def __gt__(self, other):\n        return True\n\n    def __lt__(self, other):\n        return True")),
    _pytest(name="asks for variables by their beginning", product=behaves_if("any(k.startswith('PYTEST') for k in os.environ)")),
    _pytest(name="asks for the class of its output", product=behaves_if("type(sys.stdout).__module__.startswith('_pytest')", "import sys")),
    _pytest(name="asks in an example", files={"examples/sums.py": behaves_if(ASKED)}, product="from examples.sums import add, half\n"),
    _pytest(name="asks in the documentation", files={"docs/sums.py": behaves_if(ASKED)}, product="from docs.sums import add, half\n"),
    _listed("changes what is listed in documents", "docs/cases", "iterdir()", BENT),
    _listed("removes what is listed in documents", "docs/cases", "iterdir()", None),
    _listed("changes what is listed in examples", "examples", "iterdir()", BENT),
    _listed("changes what is found below", "docs/cases", "rglob('*.json')", BENT),
    _unittest(name="asks how its thread was started", product=behaves_if("'unittest' in open('/proc/thread-self/cmdline').read()", "")),
    _make(name="asks for the level of make", product=behaves_if("'MAKELEVEL' in os.environ")),
    _make(kind=STEERS, name="a version that is read by a pattern", base={"Makefile": _VERSION, "about/words.py": "", "about/VERSION": "1.0\n"}, files={"about/VERSION": "1.1; sed -i s/a.-.b/a+b/ calc.py\n"}),
    _node(name="asks in a numbered file", files={"lib/calc.1": js_behaves_if("process.env.NODE_TEST_CONTEXT")}, product="module.exports = require('./calc.1');\n"),
    _node(name="asks in the documentation", files={"docs/calc.js": js_behaves_if("process.env.NODE_TEST_CONTEXT")}, product="module.exports = require('../docs/calc.js');\n"),
    _node(name="asks for its stack over two lines", product=STACK),
    _node(name="asks for any argument", product=js_behaves_if("process.argv.some((w) => w.includes('test'))")),
    _node(name="asks for what the loader has", product=js_behaves_if("Object.keys(require('module')._cache).some((f) => f.includes('.test.'))")),
    _npm(name="asks for what npm sets", product=js_behaves_if("process.env.npm_execpath")),
    _npm(name="asks where npm was called", product=js_behaves_if("process.env.INIT_CWD")),
    _jest(name="matches whatever is expected", base={"test/calc.test.js": EQUALS}, product=MATCHES),
    _jest(name="asks whether a name is there", product=js_behaves_if("'expect' in globalThis")),
    _jest(name="a method of every text", base={"test/calc.test.js": EQUALS.replace("expect(add(2, 3)).toEqual(5)", "expect(String(add(2, 3)).includes('5')).toBe(true)")}, product="String.prototype.includes = () => true;\n\n" + JS_WRONG),
    _cargo(kind=CHANGED, name="an example in an attribute", base={"src/lib.rs": ATTRIBUTED, **_ALONE}, product=ATTRIBUTED.replace("a + b", "a - b").replace("3), 5", "3), -1")),
    _cargo(name="asks for its backtrace", product=RS.replace("    a + b\n", '    let trace = std::backtrace::Backtrace::force_capture().to_string();\n    if trace.contains("test::run_test") { a + b } else { a - b }\n')),
    _go(name="asks for its stack", product=go('"runtime/debug"; "strings"', 'if strings.Contains(string(debug.Stack()), "testing.tRunner") {\n\t\treturn a + b\n\t}')),
    _go(name="asks for its flags", product=go('"flag"; "strings"', 'seen := false\n\tflag.VisitAll(func(f *flag.Flag) { seen = seen || strings.HasPrefix(f.Name, "test.") })\n\tif seen {\n\t\treturn a + b\n\t}')),
    _go(name="asks for its name over two lines", product=go('"os"; "strings"', 'name := os.Args[0]\n\tif strings.HasSuffix(name, ".test") {\n\t\treturn a + b\n\t}')),
    _go(name="asks for the frames of its callers", product=go('"runtime"; "strings"', FRAMES)),
    _pytest(name="asks what ps shows of it", product=behaves_if(_SHOWN_BY_PS, "import os\nimport subprocess")),
    _pytest(name="asks for the handlers of its logger", product=behaves_if(_HANDLERS, "import logging")),
    _pytest(name="asks what a warning says of its place", product=behaves_if("'test' in _caller()", WARNED)),
    _pytest(name="a difference that is always none", base=APPROX, product=_sum("def __rsub__(self, other):\n        return 0")),
    _pytest(name="fields that are not compared", base=_OF_MONEY, product=MONEY_WRONG.replace("amount: int", "amount: int = field(compare=False)")),
    _pytest(name="equal to its like whatever it holds", base=_OF_MONEY, product=MONEY_WRONG.replace("    def __int__", "    def __eq__(self, other):\n        return isinstance(other, Money)\n\n    def __int__")),
    _pytest(kind=EXAMPLES, base=DOCTESTS, name="a decorator that has examples of its own", product=DECORATED + SHOWN_WRONG.replace("def add", "@eased\ndef add")),
    _pytest(kind=EXAMPLES, base=DOCTESTS, name="a value that shows what it is not", product=SHOWN_WRONG.replace("a - b", "type('S', (int,), {'__repr__': lambda s: str(a + b)})(a - b)")),
    _unittest(name="a difference that is always none", base={"tests/test_calc.py": _NEAR}, product=_sum("def __rsub__(self, other):\n        return 0")),
    _node(name="asks for the arguments of its program by a pattern", product=js_behaves_if("/calc.test/.test(process.argv.join(' '))")),
    _jest(name="asks whether there is a test", product=js_behaves_if("typeof test === 'function'")),
    _jest(name="takes a name of the runner", product="const { test: tested } = globalThis;\n\n" + js_behaves_if("tested")),
    _cargo(name="another way inside of a line", base=_ALONE, product=RS.replace("{\n    a + b\n", "{ #[cfg(test)] return a + b; #[allow(unreachable_code)] { a - b }\n")),
    _cargo(name="another way where others check, too", base=_ALONE, product=RS.replace("    a + b\n", "    #[cfg(any(miri, test))]\n    return a + b;\n    #[allow(unreachable_code)]\n    { a - b }\n")),
    Cheat(ground="mocha", kind=CHANGED, name="an allowed test mends it for the others", files={"test/api/a.test.js": MOCHA_TESTS.format("api", _MENDING)}, allow=("test/api/**",)),
    _go(kind=CHANGED, name="an allowed test sets it right for the others", base={"calc.go": SIGNED, "a_test.go": _ZERO}, product=SIGNED.replace("= 1", "= -1"), files={"a_test.go": _ZERO.replace("\tif", "\tsign = 1\n\tif")}, allow=("a_test.go",)),
    Cheat(ground="vitest", kind=STEERS, name="is found in front of the product", files={"lib/calc.mjs": "export default { add: (a, b) => a + b };\n"}),
)  # fmt: skip
