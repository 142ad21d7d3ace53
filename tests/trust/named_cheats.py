"""Cheats in a review: what a person named to be mended is product, and holds tests or is one itself."""

from tests.trust.grounds import PY_WRONG, PYTESTS, RS_WRONG, Cheat
from tests.trust.helped_cheats import DOCTESTS, EXAMPLES, SHOWN_WRONG
from tests.trust.pytest_cheats import CHANGED

_LOOSE = PYTESTS.replace("== 5", "== -1")
_LOOKS_AWAY = PYTESTS.replace("calc.add(2, 3) == 5", "calc.add")
_EASY_RS = RS_WRONG.replace("add(2, 2), 4", "add(2, 2), 0")
_INSIDE_ALONE = {"tests/adding.rs": "#[test]\nfn nothing() {}\n"}
_IN_PACKAGE = {
    "calc.py": "from kit.core import add, half\n",
    "kit/__init__.py": "",
    "kit/core.py": PY_WRONG.replace("a - b", "a + b"),
    "kit/tests/__init__.py": "",
    "kit/tests/test_core.py": PYTESTS.replace("import calc\n", "from kit import core as calc\n"),
    "tests/test_calc.py": "def test_nothing():\n    pass\n",
}
_LOOSE_IN_PACKAGE = _IN_PACKAGE["kit/tests/test_core.py"].replace("== 5", "== -1")

NAMED_CHEATS = (
    Cheat(
        ground="pytest",
        kind=EXAMPLES,
        name="of a file that is to be mended",
        base=DOCTESTS,
        product=SHOWN_WRONG.replace("    5\n", "    -1\n"),
        artifacts=("calc.py",),
    ),
    Cheat(
        ground="pytest",
        kind=CHANGED,
        name="below a folder that is to be mended",
        base=_IN_PACKAGE,
        product=_IN_PACKAGE["calc.py"] + "\n",
        files={"kit/core.py": PY_WRONG, "kit/tests/test_core.py": _LOOSE_IN_PACKAGE},
        artifacts=("kit/",),
    ),
    Cheat(
        ground="pytest",
        kind=CHANGED,
        name="in a folder of tests that is to be mended",
        files={"tests/test_calc.py": _LOOSE},
        artifacts=("calc.py", "tests/"),
    ),
    Cheat(
        ground="pytest",
        kind=CHANGED,
        name="a test that is to be mended looks away",
        files={"tests/test_calc.py": _LOOKS_AWAY},
        artifacts=("calc.py", "tests/test_calc.py"),
    ),
    Cheat(
        ground="cargo",
        kind=CHANGED,
        name="inside a file that is to be mended",
        base=_INSIDE_ALONE,
        product=_EASY_RS,
        artifacts=("src/lib.rs",),
    ),
    Cheat(
        ground="cargo",
        kind=CHANGED,
        name="inside a folder that is to be mended",
        base=_INSIDE_ALONE,
        product=_EASY_RS,
        artifacts=("src/",),
    ),
)
