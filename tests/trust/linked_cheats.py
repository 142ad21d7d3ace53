"""Cheats with what the base's tests lead to: a link that escapes, data of any suffix, examples that a test starts, names of helpers."""

from functools import partial

from tests.trust.grounds import PY, PY_WRONG, Cheat
from tests.trust.pytest_cheats import CHANGED, DATA, LINKS, SHADOWS

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


BY_HAND = "def same(a, b):\n    if a != b:\n        raise AssertionError(f'{a} is not {b}')\n"
NAMED = "import json\nimport pathlib\n\nimport calc\n\nROOT = pathlib.Path(__file__).parents[1]\n\n\ndef test_add():\n    for case in json.loads((ROOT / 'tests' / 'cases.json').read_text()):\n        assert calc.add(*case['args']) == json.loads((ROOT / case['want']).read_text())\n"
ASKED = "import calc\nfrom helping import cases\n\n\ndef test_add():\n    for a, b, c in cases('sums'):\n        assert calc.add(a, b) == c\n"
GIVEN = "import json\nimport pathlib\n\n\ndef cases(kind):\n    for file in (pathlib.Path(__file__).parents[1] / kind).glob('*.json'):\n        yield json.loads(file.read_text())\n"
APPENDS = "import pathlib\nimport sys\n\nsys.path.append(str(pathlib.Path(__file__).parent / 'qa'))\n"
RESOLVES = "const assert = require('node:assert');\nconst fs = require('node:fs');\nconst test = require('node:test');\nconst { add } = require('../lib/calc.js');\n\nconst [a, b, c] = JSON.parse(fs.readFileSync(require.resolve('../lib/sums')));\ntest('adds', () => assert.strictEqual(add(a, b), c));\n"


def _data(name: str) -> Cheat:
    base = {f"sums/{name}": "2 3 5\n", "sums/__init__.py": "", "tests/test_calc.py": READS.format(name)}
    return _pytest(kind=DATA, name=f"named {name}", base=base, files={f"sums/{name}": "2 3 -1\n"})


LINKED_CHEATS = (
    _in_src(kind=LINKS, name="through a link that leads up", product="", links={f"{DEEP}/y": "../" * 11 + "src", "src/calc/core.py": f"{DEEP[9:]}/y/../../../../src/calc/core.py"}),
    *map(_data, ("a.geojson", "a.html", "a.sql", "basic", "ok", "1")),
    _pytest(kind=DATA, name="named in data of tests", base={"sums/a.json": "5", "sums/__init__.py": "", "tests/cases.json": '[{"args": [2, 3], "want": "sums/a.json"}]', "tests/test_calc.py": NAMED}, files={"sums/a.json": "-1"}),
    _pytest(kind=DATA, name="in a folder that a helper is given", base={"sums/a.json": "[2, 3, 5]", "sums/__init__.py": "", "tests/helping.py": GIVEN, "tests/test_calc.py": ASKED}, files={"sums/a.json": "[2, 3, -1]"}),
    *(Cheat(ground="node", kind=DATA, name=f"found as {path}", base={path: "[2, 3, 5]", "test/calc.test.js": RESOLVES}, files={path: "[2, 3, -1]"}) for path in ("lib/sums.json", "lib/sums/index.json")),
    _pytest(kind=LINKS, name="to what tests judge with", base={"more/__init__.py": "", "more/same.py": BY_HAND, "tests/test_calc.py": HELPED.replace("helping", "same")}, linked={"tests/same.py": "../more/same.py"}, files={"more/same.py": BY_HAND.replace("a != b", "a is None and b")}),
    _pytest(kind=LINKS, name="to a folder that tests judge with", base={"tools/qa/same.py": BY_HAND, "tests/test_calc.py": HELPED.replace("helping", "qa.same")}, linked={"tests/qa": "../tools/qa"}, files={"tools/qa/same.py": BY_HAND.replace("a != b", "a is None and b")}),
    _pytest(kind=SHADOWS, name="a helper that the set-up puts on the path", base={"conftest.py": APPENDS, "qa/helping.py": HELPS, "tests/test_calc.py": HELPED}, files={"helping.py": HELPS.replace("assert a == b", "pass")}),
    _pytest(kind=DATA, name="a case that takes the place of another", base={"sums/a.json": "[2, 3, 5]", "sums/__init__.py": "", "tests/test_calc.py": LISTS}, files={"sums/z.json": "[2, 3, -1]"}),
    _pytest(kind=CHANGED, name="examples that a test starts", base={"calc.py": SHOWN, "tests/test_calc.py": STARTS}, product=SHOWN_WRONG),
    _in_src(kind=SHADOWS, name="a helper in a folder of tests", base={"pyproject.toml": PATH, "qa/test_more.py": HELPED, "qa/helping.py": HELPS, "tests/test_core.py": "def test_nothing():\n    pass\n"}, product=PY_WRONG, files={"src/helping.py": HELPS.replace("assert a == b", "pass")}),
)  # fmt: skip
