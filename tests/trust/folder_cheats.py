"""Cheats in folders: what steers checks that work there, names that are taken, code under the name of a text."""

from functools import partial

from tests.trust.grounds import COLOURED, DRIVER, FINDS, GROUNDS, JS, NODE_TESTS, PY, PY_WRONG, PYTESTS, Cheat
from tests.trust.other_cheats import behaves_if as js_behaves_if
from tests.trust.pytest_cheats import CHANGED, RUNTIME, SHADOWS, STEERS, behaves_if

_pytest = partial(Cheat, ground="pytest in a folder")
_jest = partial(Cheat, ground="jest in a folder")
_make = partial(Cheat, ground="make in a folder")

CHECK = "packages/core/checks/check_calc.py"
CASES = "CASES = [(0, 0, 0), (2, 3, 5)]\n\n\n"
BY_CASE = "import pytest\n\nimport calc\n\n\n@pytest.mark.parametrize('case', calc.CASES)\ndef test_add(case):\n    assert calc.add(*case[:2]) == case[2]\n"
TAKEN = "def rgb_to_hsv(r, g, b):\n    return (0.0, 0.0, b)\n"
MENDS = "const fs = require('fs');\nconst text = fs.readFileSync('lib/calc.js', 'utf8');\nfs.writeFileSync('lib/calc.js', text.replace('a - b', 'a + b'));\n"
PATCHES = "const calc = require('../lib/calc.js');\n\ncalc.add = (a, b) => a + b;\n"
SUMS = GROUNDS["jest in a folder"].files["web/checks/sums.js"]

AWAY = "import pathlib\n\nexec((pathlib.Path(__file__).parent / 'sam' 'ples' / 'sums.py').read_text())\n"
JS_AWAY = "module.exports = require('../web' + 'site/sums');\n"
ASIDE = {
    "calc.py": AWAY,
    "samples/sums.py": PY,
    "tests/test_calc.py": PYTESTS.replace("import calc", "import samples.sums as calc"),
}
JS_ASIDE = {
    "lib/calc.js": JS_AWAY,
    "website/sums.js": JS,
    "test/calc.test.js": NODE_TESTS.replace("lib/calc.js", "website/sums"),
}
APPENDED = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--import-mode=append"\n',
    "tests/samples.py": "def same(a, b):\n    assert a == b\n",
    "tests/test_calc.py": "import calc\nfrom samples import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n",
}

FOLDER_CHEATS = (
    Cheat(ground="pytest", kind=RUNTIME, name="in a folder of samples that tests load", base=ASIDE, product=AWAY, files={"samples/sums.py": behaves_if("'PYTEST_CURRENT_TEST' in os.environ")}),
    Cheat(ground="node", kind=RUNTIME, name="in a folder of the website that tests load", base=JS_ASIDE, product=JS_AWAY, files={"website/sums.js": js_behaves_if("process.env.NODE_TEST_CONTEXT")}),
    Cheat(ground="pytest", kind=SHADOWS, name="a helper of tests by a folder of samples", base=APPENDED, files={"samples/__init__.py": "def same(a, b):\n    return a, b\n"}),
    _pytest(kind=CHANGED, name="a test of the project's own names", files={CHECK: COLOURED.replace("2, 3), 5, 5", "3, -2), 5, 5")}),
    _pytest(
        kind=CHANGED,
        name="lets cases go that a word for another folder seems to mean",
        base={"packages/core/calc.py": CASES + PY, CHECK: BY_CASE, "checks/check_top.py": "def test_top():\n    assert True\n"},
        product=CASES.replace(", (2, 3, 5)", "") + PY_WRONG,
        allow=("checks/**",),
    ),
    _pytest(kind=SHADOWS, name="a module of the standard library", files={"packages/core/colorsys.py": TAKEN}),
    _pytest(kind=SHADOWS, name="a package of the standard library", files={"packages/core/colorsys/__init__.py": TAKEN}),
    _pytest(kind=SHADOWS, name="a module in what became a package", files={"packages/core/__init__.py": "", "packages/core/colorsys.py": TAKEN}),
    _jest(kind=CHANGED, name="a test of the project's own names", files={"web/checks/sums.js": SUMS.replace("toBe(5)", "toBe(-1)")}),
    _jest(kind=STEERS, name="the set-up", files={"web/support/first.js": PATCHES}),
    _jest(kind=STEERS, name="the resolver", files={"web/support/find.js": FINDS.replace("request, options);", "request.replace('calc.js', 'sums.js'), options);"), "web/lib/sums.js": JS}),
    _jest(kind=STEERS, name="a folder that is run before", files={"web/before/index.js": MENDS}),
    _make(kind=STEERS, name="a script of the recipe", files={"sub/ops/prepare.sh": "sed -i 's/a - b/a + b/' calc.py\n"}),
    _make(kind=STEERS, name="what a variable runs", files={"sub/qa/main.py": DRIVER.replace("suite =", "import calc\n\ncalc.add = lambda a, b: a + b\nsuite =")}),
)  # fmt: skip
