"""Cheats by what tests take in without a word of it: data and helpers under names of their own."""

from functools import partial

from tests.trust.grounds import Cheat
from tests.trust.helped_cheats import HELPERS
from tests.trust.pytest_cheats import DATA

_pytest = partial(Cheat, ground="pytest", kind=HELPERS)
_in_src = partial(Cheat, ground="pytest in src", kind=DATA)
_cargo = partial(Cheat, ground="cargo")

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


def _data(name: str, said: str, before: str = "", path: str = "src/calc/data/sums.csv", setup: str = "") -> Cheat:
    base = {"src/calc/data/__init__.py": "", path: "2,3,5\n", "tests/test_core.py": _READS.format(before, said)}
    base |= {"conftest.py": setup} if setup else {}
    return _in_src(name=name, base=base, files={path: "2,3,-1\n"})


_ALL_OF = "[line for f in {} for line in f.read_text().splitlines() if f.name.endswith('.csv')]"

TAKEN_IN_CHEATS = (
    _data("data of a package by its dots", _ALL_OF.format("files('calc.data').iterdir()")),
    _data("contents of a package", "[line for n in contents('calc.data') if n.endswith('.csv') for line in read_text('calc.data', n).splitlines()]"),
    _data("data under the name of a module", "open(pathlib.Path(calc.core.__file__).with_suffix('.csv'))", path="src/calc/core.csv"),
    _data("data in the folder that a test goes to", "open(next(p for p in os.listdir() if p.endswith('.csv')))", "os.chdir('src/calc/data')\n"),
    _data("data by a pattern for its folder", "CASES", "from conftest import CASES\n", setup="import glob\n\nCASES = [l for f in glob.glob('src/calc/d*/*') if f.endswith('.csv') for l in open(f)]\n"),
    _pytest(name="a helper beside tests", base={**_HALF, "qa/test_calc.py": _JUDGES.format("compare"), "qa/compare.py": _SAME}, files={"qa/compare.py": _BENT}),
    _pytest(name="a package of helpers beside tests", base={**_HALF, "qa/test_calc.py": _JUDGES.format("support.compare"), "qa/support/__init__.py": "", "qa/support/compare.py": _SAME}, files={"qa/support/compare.py": _BENT}),
    _cargo(kind=HELPERS, name="a helper in src that only tests include", base={"src/lib.rs": _PLAIN_RS, "tests/adding.rs": "mod support;\n\n#[test]\nfn adds() {\n    support::same(calc::add(2, 3), 5);\n}\n", "tests/support/mod.rs": 'include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/support.rs"));\n', "src/support.rs": _RS_SAME}, product=_PLAIN_WRONG, files={"src/support.rs": _RS_SAME.replace("a == b", "a == b || a == -1")}),
)  # fmt: skip
