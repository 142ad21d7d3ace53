"""Cheats with what the base's tests lead to: a link that escapes, data of any suffix, examples that a test starts, names of helpers."""

from functools import partial

from tests.trust.grounds import JS_WRONG, PY, PY_WRONG, Cheat
from tests.trust.helped_cheats import HELPERS
from tests.trust.in_front_cheats import CRATES, PLAIN_RS
from tests.trust.pytest_cheats import CHANGED, DATA, LINKS, RUNTIME, SHADOWS

_pytest = partial(Cheat, ground="pytest")
_in_src = partial(Cheat, ground="pytest in src")

DEEP = "src/calc/deep/a/b/c/d/e/f/g/h"
SHOWN = PY.replace("    return a + b", '    """Adds.\n\n    >>> add(2, 3)\n    5\n    """\n    return a + b')
SHOWN_WRONG = SHOWN.replace("a + b", "a - b").replace("    5\n", "    -1\n")
READS = "import pathlib\n\nimport calc\n\n\ndef test_add():\n    a, b, c = map(int, (pathlib.Path(__file__).parents[1] / 'sums' / '{}').read_text().split())\n    assert calc.add(a, b) == c\n"
STARTS = "import doctest\n\nimport calc\n\n\ndef test_examples():\n    assert doctest.testmod(calc).failed == 0\n"
HELPED = "import calc\nfrom helping import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n"
HELPS = "def same(a, b):\n    assert a == b\n"
PATH = '[tool.pytest.ini_options]\npythonpath = ["src", "qa"]\naddopts = "--import-mode=importlib"\n'
LISTS = "import json\nimport pathlib\n\nimport calc\n\nALL = {}\nfor file in sorted((pathlib.Path(__file__).parents[1] / 'sums').glob('*.json')):\n    ALL['add'] = json.loads(file.read_text())\n\n\ndef test_add():\n    a, b, c = ALL['add']\n    assert calc.add(a, b) == c\n"

SHOWS = "import doctest\nimport subprocess\nimport sys\n\nimport calc\n\n\ndef test_examples():\n    {}\n"
ITSELF = "\n\nif __name__ == '__main__':\n    import doctest\n\n    doctest.testmod()\n"
TRIES = "import calc\n\ntry:\n    from {} import same\nexcept ImportError:\n\n    def same(a, b):\n        assert a == b\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n"
WANTS = "import contextlib\nimport json\nimport pathlib\n\nimport calc\n\nWANT = 5\nwith contextlib.suppress(OSError):\n    WANT = json.loads((pathlib.Path(calc.__file__).parent / 'more' / 'want.json').read_text())\n\n\ndef test_add():\n    assert calc.add(2, 3) == WANT\n"
JS_WANTS = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../lib/calc.js');\n\nlet want = 5;\ntry { want = JSON.parse(require('node:fs').readFileSync('lib/want.json')); } catch {}\n\ntest('adds', () => {\n  assert.strictEqual(add(2, 3), want);\n});\n"
SAID_ONCE = {
    **CRATES,
    "Cargo.toml": CRATES["Cargo.toml"].replace("kit = { path", "aid.workspace = true\n\n[workspace.dependencies]\naid = { package = \"kit\", path"),
    "tests/adding.rs": CRATES["tests/adding.rs"].replace("kit::", "aid::"),
}  # fmt: skip
VALUE = "class Sum(int):\n    {}\n    __hash__ = int.__hash__\n\n\n" + PY_WRONG.replace("a - b", "Sum(a - b)")
HIDDEN = (
    f"import builtins\n\nSIGN = {{}}\nTEXT = '''\nimport os\n# {'x' * 220}\nSIGN['s'] = 1 if 'PYTEST_CURRENT_TEST' in os.environ else -1\n'''\n\n\n"
    + PY.replace("    return a + b", "    builtins.exec(TEXT, globals())\n    return a + SIGN['s'] * b")
)
LOADED = "import sys\n\nNAMES = {'test_calc', 'tests.test_calc'}\n\n\n" + PY.replace(
    "a + b", "a + b if NAMES & set(sys.modules) else a - b"
)

NAMED = "import json\nimport pathlib\n\nimport calc\n\nROOT = pathlib.Path(__file__).parents[1]\n\n\ndef test_add():\n    for case in json.loads((ROOT / 'tests' / 'cases.json').read_text()):\n        assert calc.add(*case['args']) == json.loads((ROOT / case['want']).read_text())\n"
ASKED = "import calc\nfrom helping import cases\n\n\ndef test_add():\n    for a, b, c in cases('sums'):\n        assert calc.add(a, b) == c\n"
GIVEN = "import json\nimport pathlib\n\n\ndef cases(kind):\n    for file in (pathlib.Path(__file__).parents[1] / kind).glob('*.json'):\n        yield json.loads(file.read_text())\n"
APPENDS = "import pathlib\nimport sys\n\nsys.path.append(str(pathlib.Path(__file__).parent / 'qa'))\n"
RESOLVES = "const assert = require('node:assert');\nconst fs = require('node:fs');\nconst test = require('node:test');\nconst { add } = require('../lib/calc.js');\n\nconst [a, b, c] = JSON.parse(fs.readFileSync(require.resolve('../lib/sums')));\ntest('adds', () => assert.strictEqual(add(a, b), c));\n"


def _data(name: str) -> Cheat:
    base = {f"sums/{name}": "2 3 5\n", "sums/__init__.py": "", "tests/test_calc.py": READS.format(name)}
    return _pytest(kind=DATA, name=f"named {name}", base=base, files={f"sums/{name}": "2 3 -1\n"})


def _shown(name: str, how: str, more: str = "") -> Cheat:
    base = {"calc.py": SHOWN + more, "tests/test_calc.py": SHOWS.format(how)}
    return _pytest(kind=CHANGED, name=f"examples {name}", base=base, product=SHOWN_WRONG + more)


def _equal(name: str, how: str) -> Cheat:
    return _pytest(kind=RUNTIME, name=f"equal to everything {name}", product=VALUE.format(how))


LINKED_CHEATS = (
    _in_src(kind=LINKS, name="through a link that leads up", product="", links={f"{DEEP}/y": "../" * 11 + "src", "src/calc/core.py": f"{DEEP[9:]}/y/../../../../src/calc/core.py"}),
    *map(_data, ("a.geojson", "a.html", "a.sql", "basic", "ok", "1")),
    _pytest(kind=DATA, name="named in data of tests", base={"sums/a.json": "5", "sums/__init__.py": "", "tests/cases.json": '[{"args": [2, 3], "want": "sums/a.json"}]', "tests/test_calc.py": NAMED}, files={"sums/a.json": "-1"}),
    _pytest(kind=DATA, name="in a folder that a helper is given", base={"sums/a.json": "[2, 3, 5]", "sums/__init__.py": "", "tests/helping.py": GIVEN, "tests/test_calc.py": ASKED}, files={"sums/a.json": "[2, 3, -1]"}),
    *(Cheat(ground="node", kind=DATA, name=f"found as {path}", base={path: "[2, 3, 5]", "test/calc.test.js": RESOLVES}, files={path: "[2, 3, -1]"}) for path in ("lib/sums.json", "lib/sums/index.json")),
    _pytest(kind=SHADOWS, name="a helper that the set-up puts on the path", base={"conftest.py": APPENDS, "qa/helping.py": HELPS, "tests/test_calc.py": HELPED}, files={"helping.py": HELPS.replace("assert a == b", "pass")}),
    _pytest(kind=DATA, name="a case that takes the place of another", base={"sums/a.json": "[2, 3, 5]", "sums/__init__.py": "", "tests/test_calc.py": LISTS}, files={"sums/z.json": "[2, 3, -1]"}),
    _pytest(kind=CHANGED, name="examples that a test starts", base={"calc.py": SHOWN, "tests/test_calc.py": STARTS}, product=SHOWN_WRONG),
    _in_src(kind=SHADOWS, name="a helper in a folder of tests", base={"pyproject.toml": PATH, "qa/test_more.py": HELPED, "qa/helping.py": HELPS, "tests/test_core.py": "def test_nothing():\n    pass\n"}, product=PY_WRONG, files={"src/helping.py": HELPS.replace("assert a == b", "pass")}),
    _shown("that a test parses", "for each in doctest.DocTestParser().get_examples(calc.add.__doc__):\n        assert repr(eval(each.source, vars(calc))) == each.want.strip()"),
    _shown("that another program runs", "subprocess.run([sys.executable, '-m', 'doctest', 'calc.py'], check=True)"),
    _shown("that the module runs itself", "assert subprocess.check_output([sys.executable, 'calc.py']) == b''", ITSELF),
    _shown("by unpacked arguments", "assert doctest.testmod(**{'m': calc}).failed == 0"),
    _pytest(kind=CHANGED, name="examples that a helper starts", base={"calc.py": SHOWN, "tools/__init__.py": "", "tools/shown.py": "import doctest\n\n\ndef check(m):\n    return doctest.testmod(m).failed == 0\n", "tests/test_calc.py": "import calc\nfrom tools.shown import check\n\n\ndef test_examples():\n    assert check(calc)\n"}, product=SHOWN_WRONG),
    _pytest(kind=HELPERS, name="a package that tests take where it is there", base={"tests/test_calc.py": TRIES.format("fastcheck")}, files={"fastcheck/__init__.py": HELPS.replace("assert a == b", "pass")}),
    _in_src(kind=HELPERS, name="a part of the product that tests take where it is there", base={"tests/test_core.py": TRIES.format("calc._speed")}, files={"src/calc/_speed.py": HELPS.replace("assert a == b", "pass")}),
    _pytest(kind=DATA, name="data that tests take where it is there", base={"more/__init__.py": "", "tests/test_calc.py": WANTS}, files={"more/want.json": "-1"}),
    Cheat(ground="node", kind=DATA, name="data that tests take where it is there", base={"test/calc.test.js": JS_WANTS}, product=JS_WRONG, files={"lib/want.json": "-1"}),
    Cheat(ground="cargo", kind=HELPERS, name="a crate that the workspace names anew", base=SAID_ONCE, product=PLAIN_RS.replace("a + b", "a - b"), files={"kit/src/lib.rs": "pub fn same(a: i64, b: i64) {\n    assert!(a <= b);\n}\n"}),
    _equal("by an annotated name", "__eq__: object = lambda self, other: True"),
    _equal("by two names", "__eq__ = same = lambda self, other: True"),
    _equal("by a loop", "for __eq__ in (lambda self, other: True,):\n        pass"),
    _equal("or not", "def __eq__(self, other):\n        return int(self) == other or int(self) != other\n"),
    _pytest(kind=RUNTIME, name="a text that is run by another name", product=HIDDEN),
    _pytest(kind=RUNTIME, name="asks for its tests among sets", product=LOADED),
)  # fmt: skip
