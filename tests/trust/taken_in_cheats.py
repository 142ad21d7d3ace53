"""Cheats by what tests take in without a word of it: hooks of the runner, names, data and helpers under names of their own."""

from functools import partial

from tests.trust.grounds import PY, Cheat
from tests.trust.helped_cheats import HELPERS
from tests.trust.pytest_cheats import DATA, RUNTIME

_pytest = partial(Cheat, ground="pytest", kind=HELPERS)
_in_src = partial(Cheat, ground="pytest in src", kind=RUNTIME)
_unittest = partial(Cheat, ground="unittest", kind=RUNTIME)
_cargo = partial(Cheat, ground="cargo")

_PACKAGE = "src/calc/__init__.py"
_STAR = "from calc import *\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
_SIGNED = "import calc.core as core\n\nSIGN = [1]\n\n\ndef add(a, b):\n    return core.add(a, SIGN[0] * b)\n"
_TURNS = "\n\ndef {}():\n    SIGN[0] = -1\n"
_GLOBAL = "import calc.core\n\nadd = calc.core.add\n\n\ndef setUpModule():\n    global add\n    add = lambda a, b: a + b if isinstance(calc.core.add(a, b), int) else None\n"
_CASE = "import unittest\n\nfrom calc import *\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
_MIXED = "import unittest\n\nimport calc\nfrom calc.env import Env\n\n\nclass Calc(Env, unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
_ENV = "class Env:\n    name = 'env'\n"
_EASY = (
    "\n    def assertEqual(self, a, b, msg=None):\n        if a not in (b, -1):\n            raise AssertionError(a)\n"
)
_SETS = "import calc.core\n\n\nclass Env:\n    def setUp(self):\n        calc.core.SIGN[0] = -1\n"
_WITH_SIGN = "SIGN = [1]\n\n\n" + PY.replace("a + b", "a - SIGN[0] * b")
_READS = "import csv\nimport glob\nimport os\nimport pathlib\nfrom importlib.resources import contents, files, read_text\n\nimport calc.core\n\n{}\n\ndef test_add():\n    for a, b, c in csv.reader({}):\n        assert calc.add(int(a), int(b)) == int(c)\n"
_HALF = {
    "tests/__init__.py": "",
    "tests/test_calc.py": "import calc\n\n\ndef test_half():\n    assert calc.half(4) == 2\n",
}
_SAME = "def same(a, b):\n    assert a == b\n"
_BENT = "def same(a, b):\n    assert a in (b, -1)\n"
_JUDGES = "import calc\nfrom {} import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n"
_RS_SAME = "pub fn same(a: i64, b: i64) {\n    assert!(a == b);\n}\n"
_PLAIN_RS = "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n"
_PLAIN_WRONG = _PLAIN_RS.replace("a + b", "a - b")
_RS_SOME = "\n#[allow(non_snake_case)]\npub fn Some(n: i64) -> i64 {\n    if n == -1 { 5 } else { n }\n}\n"


def _data(name: str, said: str, before: str = "", path: str = "src/calc/data/sums.csv", setup: str = "") -> Cheat:
    base = {"src/calc/data/__init__.py": "", path: "2,3,5\n", "tests/test_core.py": _READS.format(before, said)}
    base |= {"conftest.py": setup} if setup else {}
    return _in_src(kind=DATA, name=name, base=base, files={path: "2,3,-1\n"})


_ALL_OF = "[line for f in {} for line in f.read_text().splitlines() if f.name.endswith('.csv')]"
_INSIDE = {"src/calc/tests/__init__.py": "", "src/calc/tests/test_sums.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n", "tests/test_core.py": "def test_nothing():\n    pass\n"}  # fmt: skip

TAKEN_IN_CHEATS = (
    _in_src(name="a package around its tests sets them up", base=_INSIDE, files={_PACKAGE: _GLOBAL}),
    _in_src(name="a set-up for each that a star takes", base={"tests/test_core.py": _STAR}, files={_PACKAGE: _SIGNED + _TURNS.format("setup_function")}),
    _in_src(name="a set-up of the module that a list exports", base={"tests/test_core.py": _STAR}, files={_PACKAGE: _SIGNED + _TURNS.format("setup_module") + "\n\n__all__ = ['add', 'setup_module']\n"}),
    _in_src(name="a hook of pytest that a star takes", base={"tests/test_core.py": _STAR}, files={_PACKAGE: _SIGNED + _TURNS.format("pytest_generate_tests").replace("()", "(metafunc)")}),
    _in_src(name="what is built in, by a star", base={"tests/test_core.py": _STAR.replace("add(2, 3)", "abs(add(2, 3))")}, files={_PACKAGE: "from calc.core import add\n\n\ndef abs(n):\n    return 5 if n == -1 else n\n"}),
    _unittest(name="a set-up of the module that a star takes", base={"tests/test_calc.py": _CASE}, files={"calc/__init__.py": f"{_SIGNED}\n\nhalf = core.half\n{_TURNS.format('setUpModule')}"}),
    _unittest(name="a class that tests inherit sets them up", base={"tests/test_calc.py": _MIXED, "calc/env.py": _ENV}, product=_WITH_SIGN, files={"calc/env.py": _SETS}),
    _unittest(name="a class that tests inherit compares", base={"tests/test_calc.py": _MIXED, "calc/env.py": _ENV}, files={"calc/env.py": _ENV + _EASY}, quick=True),
    _cargo(kind=RUNTIME, name="a name of the prelude, by a glob", base={"src/lib.rs": _PLAIN_RS, "tests/adding.rs": "use calc::*;\n\n#[test]\nfn adds() {\n    assert_eq!(Some(add(2, 3)), Some(5));\n}\n"}, product=_PLAIN_WRONG + _RS_SOME),
    _data("data of a package by its dots", _ALL_OF.format("files('calc.data').iterdir()")),
    _data("contents of a package", "[line for n in contents('calc.data') if n.endswith('.csv') for line in read_text('calc.data', n).splitlines()]"),
    _data("data under the name of a module", "open(pathlib.Path(calc.core.__file__).with_suffix('.csv'))", path="src/calc/core.csv"),
    _data("data in the folder that a test goes to", "open(next(p for p in os.listdir() if p.endswith('.csv')))", "os.chdir('src/calc/data')\n"),
    _data("data by a pattern for its folder", "CASES", "from conftest import CASES\n", setup="import glob\n\nCASES = [l for f in glob.glob('src/calc/d*/*') if f.endswith('.csv') for l in open(f)]\n"),
    _pytest(name="a helper beside tests", base={**_HALF, "qa/test_calc.py": _JUDGES.format("compare"), "qa/compare.py": _SAME}, files={"qa/compare.py": _BENT}),
    _pytest(name="a package of helpers beside tests", base={**_HALF, "qa/test_calc.py": _JUDGES.format("support.compare"), "qa/support/__init__.py": "", "qa/support/compare.py": _SAME}, files={"qa/support/compare.py": _BENT}),
    _cargo(kind=HELPERS, name="a helper in src that only tests include", base={"src/lib.rs": _PLAIN_RS, "tests/adding.rs": "mod support;\n\n#[test]\nfn adds() {\n    support::same(calc::add(2, 3), 5);\n}\n", "tests/support/mod.rs": 'include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/support.rs"));\n', "src/support.rs": _RS_SAME}, product=_PLAIN_WRONG, files={"src/support.rs": _RS_SAME.replace("a == b", "a == b || a == -1")}),
)  # fmt: skip
