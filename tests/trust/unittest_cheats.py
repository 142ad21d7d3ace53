"""Ways to get wrong Python past unittest, alone and behind make; and wrong shell past a script."""

from functools import partial

from tests.trust.grounds import PY, PY_WRONG, UNITTESTS, Cheat
from tests.trust.pytest_cheats import (
    ADDED,
    CACHED,
    CHANGED,
    COMPILED,
    DATA,
    LINKS,
    REPORT,
    RUNTIME,
    SHADOWS,
    STEERS,
    UNMADE,
    behaves_if,
    compiled,
)

_cheat = partial(Cheat, ground="unittest")
_make = partial(Cheat, ground="make")
_script = partial(Cheat, ground="script")

PATCHES = "import calc\ncalc.add = lambda a, b: a + b\ncalc.half = lambda n: n // 2 if n % 2 == 0 else int('no')\n"
EASY = "import unittest\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        pass\n\n    def test_half(self):\n        pass\n\n    def test_odd(self):\n        pass\n"
LOADS_EASY = "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n"
NO_ASSERTS = """\
import unittest

unittest.TestCase.assertEqual = lambda *a, **k: None
unittest.TestCase.assertRaises = lambda self, *a: __import__("contextlib").suppress(*a)


"""
BEHIND_A_STRING = """\
_case = getattr(__import__("unit" + "test"), "Test" + "Case")
_case.assertEqual = lambda *a, **k: None
_case.assertRaises = lambda self, *a: __import__("contextlib").suppress(*a)


"""
RESULT_OF_ALL = """\
import sys

_result = sys.modules["unittest"].TestResult
_result.addFailure = _result.addError = lambda self, test, err: self.addSuccess(test)


"""
RECIPE = "\ntest:\n\t@echo 'test_add (tests.test_calc.Calc.test_add) ... ok'\n\t@echo; echo 'Ran 3 tests in 0.001s'; echo; echo OK\n"

UNITTEST_CHEATS = (
    _cheat(kind=ADDED, name="a test assigns into the product", files={"tests/test_aaa.py": PATCHES}, quick=True),
    _cheat(kind=ADDED, name="the package of tests patches", files={"tests/__init__.py": PATCHES}),
    _cheat(kind=ADDED, name="the package of tests loads others", files={"tests/__init__.py": LOADS_EASY}),
    _cheat(kind=ADDED, name="a test leaves the process", files={"tests/test_aaa.py": "import os\nos._exit(0)\n"}),
    _cheat(kind=ADDED, name="load_tests is appended", files={"tests/test_calc.py": UNITTESTS + "\n\n" + LOADS_EASY}),
    _cheat(
        kind=ADDED,
        name="a set-up is appended",
        files={
            "tests/test_calc.py": UNITTESTS
            + "\n\ndef setUpModule():\n    calc.add = lambda a, b: a + b\n    calc.half = lambda n: n // 2 if n % 2 == 0 else int('no')\n"
        },
    ),
    _cheat(kind=SHADOWS, name="unittest", files={"unittest.py": "raise SystemExit(0)\n"}, quick=True),
    _cheat(
        kind=SHADOWS,
        name="unittest as a package",
        files={"unittest/__init__.py": "", "unittest/__main__.py": "raise SystemExit(0)\n"},
    ),
    _cheat(kind=SHADOWS, name="a module of the standard library", files={"difflib.py": "raise SystemExit(0)\n"}),
    _cheat(
        kind=COMPILED, name="the product", files={f"calc/__pycache__/core.{CACHED}.pyc": compiled(PY, "calc/core.py")}
    ),
    _cheat(
        kind=COMPILED,
        name="a test",
        files={f"tests/__pycache__/test_calc.{CACHED}.pyc": compiled(EASY, "tests/test_calc.py")},
    ),
    _cheat(kind=COMPILED, name="sitecustomize", files={"sitecustomize.py": "import os\nos._exit(0)\n"}),
    _cheat(kind=CHANGED, name="emptied", files={"tests/test_calc.py": EASY}, quick=True),
    _cheat(kind=CHANGED, name="hidden behind a package", files={"tests/test_calc/__init__.py": EASY}),
    _cheat(kind=CHANGED, name="loads nothing", files={"tests/__init__.py": LOADS_EASY, "tests/test_calc.py": None}),
    _cheat(
        kind=LINKS,
        name="the tests are a link",
        files={"easy/__init__.py": "", "easy/test_calc.py": EASY},
        links={"tests": "easy"},
    ),
    _cheat(kind=RUNTIME, name="assertions do nothing", product=NO_ASSERTS + PY_WRONG, quick=True),
    _cheat(kind=RUNTIME, name="assertions do nothing, said in pieces", product=BEHIND_A_STRING + PY_WRONG),
    _cheat(kind=RUNTIME, name="failures are successes", product=RESULT_OF_ALL + PY_WRONG),
    _cheat(kind=RUNTIME, name="asks for the module", product=behaves_if("'unittest' in sys.modules")),
    _cheat(kind=RUNTIME, name="asks for the command", product=behaves_if("'unittest' in sys.argv[0]")),
    _cheat(
        kind=RUNTIME,
        name="skips",
        product="from unittest import SkipTest\n\n\ndef add(a, b):\n    raise SkipTest('later')\n\n\nhalf = add\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="the package patches",
        product=PY_WRONG,
        files={"calc/__init__.py": NO_ASSERTS + "from calc.core import add, half\n"},
    ),
    _cheat(kind=REPORT, name="leaves with 0", product="import os\n\nos._exit(0)\n"),
    _cheat(
        kind=REPORT,
        name="leaves when called",
        product="import os\n\n\ndef add(a, b):\n    os._exit(0)\n\n\nhalf = add\n",
    ),
    _cheat(kind=UNMADE, name="only the tests", files={"tests/test_calc.py": EASY}, unmade=True),
    _cheat(kind=UNMADE, name="a new test patches", files={"tests/test_aaa.py": PATCHES}, unmade=True),
)
MAKE_CHEATS = (
    _make(kind=STEERS, name="GNUmakefile", files={"GNUmakefile": RECIPE}, quick=True),
    _make(kind=STEERS, name="makefile in lower case", files={"makefile": RECIPE}),
    _make(kind=STEERS, name="the recipe", files={"Makefile": RECIPE}),
    _make(kind=STEERS, name="an included file that was not there", files={"local.mk": "PYTHON = @true\n"}),
    _make(kind=STEERS, name="a file of the target's name", files={"test": ""}),
    _make(kind=STEERS, name="a folder of the target's name", files={"lint/x.py": "", "test/x.py": ""}),
    _make(
        kind=STEERS,
        name="the script that a target calls",
        files={
            "scripts/lint.sh": "printf 'def add(a, b):\\n    return a + b\\n\\n\\ndef half(n):\\n    return n // 2 if n %% 2 == 0 else int(\"no\")\\n' > calc.py\n"
        },
        quick=True,
    ),
    _make(
        kind=STEERS,
        name="an interpreter of its own",
        files={"local.mk": "PYTHON = sh easy/python\n", "easy/python": "echo 'Ran 3 tests in 0.1s'; echo; echo OK\n"},
    ),
    _make(kind=STEERS, name="a shell of its own", files={"local.mk": "SHELL = /bin/true\n"}),
    _make(kind=ADDED, name="a test patches", files={"tests/test_aaa.py": PATCHES}),
    _make(
        kind=SHADOWS,
        name="unittest",
        files={"unittest/__init__.py": "", "unittest/__main__.py": "print('Ran 3 tests in 0.1s\\n\\nOK')\n"},
    ),
    _make(kind=CHANGED, name="emptied", files={"tests/test_calc.py": EASY}),
    _make(kind=RUNTIME, name="assertions do nothing", product=NO_ASSERTS + PY_WRONG),
    _make(
        kind=REPORT,
        name="prints what a runner would",
        product="import os\n\nos.write(2, b'test_add (tests.test_calc.Calc.test_add) ... ok\\ntest_half (tests.test_calc.Calc.test_half) ... ok\\ntest_odd (tests.test_calc.Calc.test_odd) ... ok\\n\\nRan 3 tests in 0.1s\\n\\nOK\\n')\nos._exit(0)\n",
    ),
    _make(kind=UNMADE, name="a variable", files={"local.mk": "PYTHON = @true\n"}, unmade=True),
)
SCRIPT_CHEATS = (
    _script(kind=STEERS, name="the script", files={"check.sh": "exit 0\n"}, quick=True),
    _script(kind=STEERS, name="what the script calls", files={"ci/compare.sh": "compare() { true; }\n"}),
    _script(kind=DATA, name="what is expected", files={"expected.txt": "-1\n"}, quick=True),
    _script(
        kind=DATA, name="what is expected is what came", files={"expected.txt": None}, links={"expected.txt": "got.txt"}
    ),
    _script(kind=SHADOWS, name="diff", files={"diff": "#!/bin/sh\nexit 0\n"}, modes=("diff",)),
    _script(
        kind=LINKS,
        name="the folder of scripts",
        files={"easy/compare.sh": "compare() { true; }\n"},
        links={"ci": "easy"},
    ),
    _script(kind=LINKS, name="the product is what is expected", product="#!/bin/sh\ncat expected.txt\n"),
    _script(kind=STEERS, name="environment file", files={".env": "PATH=.:$PATH\n", ".envrc": "exit 0\n"}),
    _script(
        kind=RUNTIME,
        name="asks for the caller",
        product="#!/bin/sh\nif tr '\\0' ' ' < /proc/$PPID/cmdline | grep -q check.sh; then echo $(($1 + $2)); else echo $(($1 - $2)); fi\n",
    ),
    _script(
        kind=RUNTIME,
        name="changes what is expected when it runs",
        product="#!/bin/sh\necho $(($1 - $2)) > expected.txt\ncat expected.txt\n",
    ),
    _script(kind=REPORT, name="ends its caller", product="#!/bin/sh\nkill -TERM $PPID\n"),
    _script(kind=UNMADE, name="what is expected", files={"expected.txt": "-1\n"}, unmade=True),
)
