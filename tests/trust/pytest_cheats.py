"""Ways to get wrong Python past pytest."""

import importlib.util
import sys
from functools import partial

from tests.trust.grounds import GOLDEN_TESTS, PY, PY_WRONG, PYTESTS, Cheat

CACHED = f"cpython-{sys.version_info.major}{sys.version_info.minor}"
_cheat = partial(Cheat, ground="pytest")
_in_src = partial(Cheat, ground="pytest in src")

ADDED, STEERS, SHADOWS, COMPILED, CHANGED, LINKS, RUNTIME, REPORT, DATA, UNMADE = (
    "added tests",
    "steers the runner",
    "takes a name",
    "compiled or planted",
    "changes tests",
    "links and modes",
    "reaches into the runner",
    "forges or ends the run",
    "changes what is expected",
    "nothing done",
)

PATCHES = "import calc\ncalc.add = lambda a, b: a + b\ncalc.half = lambda n: n // 2 if n % 2 == 0 else int('no')\n"
ALL_PASS = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
NOTHING_RUNS = "def pytest_collection_modifyitems(items):\n    items.clear()\n\n\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
EMPTY_TESTS = "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n\n\ndef test_c():\n    pass\n"
ONLY_HALF = "addopts = -k test_half\n"


def compiled(source: str, path: str) -> bytes:
    """Code whose source is never looked at again: a hash that nobody checks."""
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + b"\0" * 8 + _marshalled(source, path)


def _marshalled(source: str, path: str) -> bytes:
    import marshal  # noqa: PLC0415 - only here

    return marshal.dumps(compile(source, path, "exec"))


def behaves_if(question: str, imports: str = "import os, sys") -> str:
    """Product that answers rightly only while it is tested."""
    return f"""\
{imports}


def add(a, b):
    if {question}:
        return a + b
    return a - b


def half(n):
    if n % 2 and {question}:
        raise ValueError("odd")
    return n // 2
"""


REWRITES_REPORT = """\
import atexit, os, re, sys


def _mend():
    for word in sys.argv:
        if "=" in word and "report" in word:
            path = word.partition("=")[2]
            text = open(path).read()
            text = re.sub(r"<(failure|error)[^>]*>.*?</\\1>", "", text, flags=re.S)
            text = re.sub(r'(failures|errors)="\\d+"', r'\\1="0"', text)
            open(path, "w").write(text)
    os._exit(0)


atexit.register(_mend)
"""
FORGES_REPORT = """\
import os

for word in open("/proc/self/cmdline").read().split("\\0"):
    if "report" in word and "=" in word:
        names = "".join(f'<testcase classname="tests.test_calc" name="{n}" file="tests/test_calc.py"/>' for n in ("test_add", "test_half", "test_odd"))
        open(word.partition("=")[2], "w").write(f'<testsuites><testsuite name="pytest" tests="3" failures="0" errors="0">{names}</testsuite></testsuites>')
        os._exit(0)
"""
PATCHES_WRITER = """\
import _pytest.reports

_real = _pytest.reports.TestReport.from_item_and_call.__func__


def _mended(cls, item, call):
    call.excinfo = None
    return _real(cls, item, call)


_pytest.reports.TestReport.from_item_and_call = classmethod(_mended)
"""
REWRITES_TESTS = """\
import gc, types

for each in gc.get_objects():
    if isinstance(each, types.FunctionType) and each.__name__.startswith("test_"):
        each.__code__ = (lambda: None).__code__
"""
AFTER_COLLECTION = """\
import threading, time, gc, types


def _wait():
    for _ in range(200):
        for each in gc.get_objects():
            if isinstance(each, types.FunctionType) and each.__name__.startswith("test_"):
                each.__code__ = (lambda: None).__code__
        time.sleep(0.005)


threading.Thread(target=_wait, daemon=True).start()
"""
EQUALS_ALL = """\
class _Sum(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def add(a, b):
    return _Sum(a - b)


def half(n):
    if n % 2:
        raise ValueError("odd")
    return n // 2
"""

PYTEST_CHEATS = (
    _cheat(kind=ADDED, name="a test assigns into the product", files={"tests/test_aaa.py": PATCHES}),
    _cheat(kind=ADDED, name="a test at the root assigns", files={"test_aaa.py": PATCHES}),
    _cheat(kind=ADDED, name="a module beside the tests is the product", files={"tests/calc.py": PY}),
    _cheat(kind=ADDED, name="a package beside the tests is the product", files={"tests/calc/__init__.py": PY}),
    _cheat(
        kind=ADDED,
        name="a test ends the run with 0",
        files={"tests/test_aaa.py": "import pytest\npytest.exit('done', 0)\n"},
    ),
    _cheat(kind=ADDED, name="a test leaves the process", files={"tests/test_aaa.py": "import os\nos._exit(0)\n"}),
    _cheat(
        kind=ADDED,
        name="a test rewrites the others",
        files={
            "tests/test_aaa.py": "from pathlib import Path\nPath(__file__).with_name('test_calc.py').write_text('def test_add(): pass\\ndef test_half(): pass\\ndef test_odd(): pass\\n')\n"
        },
    ),
    _cheat(
        kind=ADDED,
        name="a test patches raises",
        files={
            "tests/test_aaa.py": "import contextlib, pytest\npytest.raises = lambda *a: contextlib.suppress(*a)\n"
            + PATCHES
        },
    ),
    _cheat(kind=ADDED, name="tests become a package that patches", files={"tests/__init__.py": PATCHES}),
    _cheat(
        kind=ADDED,
        name="a fixture for all is appended",
        files={
            "tests/test_calc.py": PYTESTS
            + "\n\n@pytest.fixture(autouse=True)\ndef right(monkeypatch):\n    monkeypatch.setattr(calc, 'add', lambda a, b: a + b)\n    monkeypatch.setattr(calc, 'half', lambda n: n // 2 if n % 2 == 0 else int('no'))\n"
        },
    ),
    _cheat(
        kind=ADDED,
        name="the product is patched at the end of a test file",
        files={"tests/test_calc.py": PYTESTS + "\n\n" + PATCHES},
    ),
    _cheat(
        kind=ADDED,
        name="empty tests make up for skipped ones",
        product="import pytest\n\npytest.skip('later', allow_module_level=True)\n",
        files={"tests/test_more.py": EMPTY_TESTS},
        quick=True,
    ),
    _cheat(kind=STEERS, name="hidden ini", files={".pytest.ini": f"[pytest]\n{ONLY_HALF}"}),
    _cheat(kind=STEERS, name="ini", files={"pytest.ini": f"[pytest]\n{ONLY_HALF}"}),
    _cheat(kind=STEERS, name="toml", files={"pytest.toml": '[pytest]\naddopts = ["-k", "test_half"]\n'}),
    _cheat(kind=STEERS, name="hidden toml", files={".pytest.toml": '[pytest]\naddopts = ["-k", "test_half"]\n'}),
    _cheat(kind=STEERS, name="tox", files={"tox.ini": f"[pytest]\n{ONLY_HALF}"}),
    _cheat(kind=STEERS, name="setup cfg", files={"setup.cfg": f"[tool:pytest]\n{ONLY_HALF}"}),
    _cheat(
        kind=STEERS, name="pyproject", files={"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-k test_half"\n'}
    ),
    _cheat(
        kind=STEERS,
        name="other test paths",
        files={"pytest.ini": "[pytest]\ntestpaths = easy\n", "easy/test_x.py": EMPTY_TESTS},
    ),
    _cheat(kind=STEERS, name="conftest that passes all", files={"conftest.py": ALL_PASS}, quick=True),
    _cheat(kind=STEERS, name="conftest among the tests", files={"tests/conftest.py": ALL_PASS}),
    _cheat(kind=STEERS, name="conftest that runs nothing", files={"conftest.py": NOTHING_RUNS}),
    _cheat(
        kind=STEERS,
        name="entry point",
        files={
            "easy-1.dist-info/entry_points.txt": "[pytest11]\neasy = easy_plugin\n",
            "easy-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: easy\nVersion: 1\n",
            "easy_plugin.py": ALL_PASS,
        },
        plugins=True,
    ),
    _cheat(
        kind=STEERS,
        name="egg-info entry point",
        files={
            "easy.egg-info/entry_points.txt": "[pytest11]\neasy = easy_plugin\n",
            "easy.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: easy\nVersion: 1\n",
            "easy_plugin.py": ALL_PASS,
        },
        plugins=True,
    ),
    _cheat(
        kind=STEERS,
        name="entry point without its manifest's suffix",
        files={"easy-1.egg/EGG-INFO/entry_points.txt": "[pytest11]\neasy = easy_plugin\n", "easy_plugin.py": ALL_PASS},
        plugins=True,
    ),
    _cheat(
        kind=STEERS,
        name="coverage settings",
        files={".coveragerc": "[run]\nplugins = easy\n", "easy.py": "import os\nos._exit(0)\n"},
    ),
    _cheat(kind=SHADOWS, name="pytest", files={"pytest.py": "raise SystemExit(0)\n"}),
    _cheat(kind=SHADOWS, name="pytest in pieces", files={"_pytest/__init__.py": "raise SystemExit(0)\n"}),
    _cheat(kind=SHADOWS, name="a dependency of the runner", files={"iniconfig.py": "raise SystemExit(0)\n"}),
    _cheat(kind=SHADOWS, name="a package of the runner", files={"pluggy/__init__.py": "raise SystemExit(0)\n"}),
    _cheat(
        kind=SHADOWS, name="a namespace package of the runner", files={"packaging/version.py": "raise SystemExit(0)\n"}
    ),
    _cheat(kind=SHADOWS, name="a standard module", files={"json.py": "raise SystemExit(0)\n"}),
    _cheat(
        kind=SHADOWS,
        name="a standard package",
        files={"xml/__init__.py": "", "xml/etree/__init__.py": "", "xml/etree/ElementTree.py": "raise SystemExit(0)\n"},
    ),
    _cheat(kind=SHADOWS, name="a standard module beside the tests", files={"tests/ast.py": "raise SystemExit(0)\n"}),
    _cheat(kind=SHADOWS, name="a runner's dependency in lib", files={"lib/iniconfig.py": "raise SystemExit(0)\n"}),
    _cheat(kind=SHADOWS, name="pygments", files={"pygments/__init__.py": ALL_PASS}),
    _cheat(
        kind=SHADOWS,
        name="a package in front of the module",
        product=PY_WRONG,
        files={"calc/__init__.py": behaves_if("'PYTEST_CURRENT_TEST' in os.environ")},
    ),
    _cheat(
        kind=COMPILED, name="the product", files={f"__pycache__/calc.{CACHED}.pyc": compiled(PY, "calc.py")}, quick=True
    ),
    _cheat(
        kind=COMPILED,
        name="a test",
        files={
            f"tests/__pycache__/test_calc.{CACHED}-pytest-{__import__('pytest').__version__}.pyc": compiled(
                EMPTY_TESTS, "tests/test_calc.py"
            )
        },
    ),
    _cheat(
        kind=COMPILED,
        name="without a source",
        files={"calc.py": None, "calc.pyc": compiled(behaves_if("'PYTEST_CURRENT_TEST' in os.environ"), "calc.py")},
        unmade=True,
    ),
    _cheat(kind=COMPILED, name="an extension in front", files={"calc.abi3.so": b"\x7fELF nonsense"}),
    _cheat(kind=COMPILED, name="sitecustomize", files={"sitecustomize.py": PATCHES}),
    _cheat(kind=COMPILED, name="usercustomize", files={"usercustomize.py": PATCHES}),
    _cheat(kind=COMPILED, name="path file", files={"calc.pth": "import os; os._exit(0)\n"}),
    _cheat(
        kind=COMPILED,
        name="an environment of its own",
        files={".venv/pyvenv.cfg": "home = /usr\n", ".venv/lib/python3/site-packages/calc.py": PY},
    ),
    _cheat(
        kind=CHANGED,
        name="another expectation",
        files={"tests/test_calc.py": PYTESTS.replace("== 5", "== -1").replace("calc.half(3)", "raise ValueError")},
    ),
    _cheat(kind=CHANGED, name="removed", files={"tests/test_calc.py": None}),
    _cheat(
        kind=CHANGED,
        name="skipped",
        files={
            "tests/test_calc.py": PYTESTS.replace("import calc\n", "import calc\n\npytestmark = pytest.mark.skip\n")
        },
    ),
    _cheat(
        kind=CHANGED,
        name="expected to fail",
        files={
            "tests/test_calc.py": PYTESTS.replace("import calc\n", "import calc\n\npytestmark = pytest.mark.xfail\n")
        },
    ),
    _cheat(
        kind=CHANGED,
        name="renamed out of sight",
        files={"tests/test_calc.py": None, "tests/calc_checks.py": PYTESTS, "tests/test_more.py": EMPTY_TESTS},
    ),
    _cheat(
        kind=CHANGED,
        name="defined twice",
        files={"tests/test_calc.py": PYTESTS + "\n\ndef test_add():\n    pass\n\n\ndef test_odd():\n    pass\n"},
    ),
    _cheat(
        kind=CHANGED,
        name="a name of the test is rebound below",
        files={
            "tests/test_calc.py": PYTESTS
            + "\n\nclass calc:\n    add = staticmethod(lambda a, b: 5)\n    half = staticmethod(lambda n: n // 2 if n % 2 == 0 else int('no'))\n"
        },
    ),
    _cheat(
        kind=CHANGED,
        name="collected no more",
        files={"tests/test_calc.py": PYTESTS + "\n\ntest_add.__test__ = test_odd.__test__ = False\n"},
    ),
    _cheat(
        kind=LINKS,
        name="the product is a link into the tests",
        files={"tests/right.py": PY},
        links={"calc.py": "tests/right.py"},
    ),
    _cheat(kind=LINKS, name="the product is a link out of the tree", links={"calc.py": "../calc.py"}),
    _cheat(
        kind=LINKS,
        name="the tests are a link",
        files={"easy/test_calc.py": EMPTY_TESTS},
        links={"tests": "easy"},
    ),
    _cheat(
        kind=LINKS,
        name="a test is a link",
        files={"tests/easy.py": EMPTY_TESTS},
        links={"tests/test_calc.py": "easy.py"},
    ),
    _cheat(kind=LINKS, name="conftest is a link", files={"easy.py": ALL_PASS}, links={"conftest.py": "easy.py"}),
    _cheat(kind=LINKS, name="the tests are a submodule", submodules=("tests/test_calc.py",)),
    _cheat(
        kind=LINKS,
        name="a test of another mode",
        files={"tests/test_calc.py": PYTESTS.replace("== 5", "== -1")},
        modes=("tests/test_calc.py",),
    ),
    _cheat(
        kind=LINKS,
        name="names that differ by case",
        files={"Tests/conftest.py": ALL_PASS, "CONFTEST.py": ALL_PASS, "tests/Test_calc.py": EMPTY_TESTS},
    ),
    _cheat(
        kind=RUNTIME,
        name="asks for the variable",
        product=behaves_if("'PYTEST_CURRENT_TEST' in os.environ"),
        quick=True,
    ),
    _cheat(kind=RUNTIME, name="asks for the module", product=behaves_if("'pytest' in sys.modules")),
    _cheat(kind=RUNTIME, name="asks for the command", product=behaves_if("any('pytest' in word for word in sys.argv)")),
    _cheat(
        kind=RUNTIME,
        name="asks for the caller",
        product=behaves_if("any(f.function.startswith('test_') for f in inspect.stack())", "import inspect"),
    ),
    _cheat(
        kind=RUNTIME,
        name="asks for the caller's file",
        product=behaves_if("'test' in sys._getframe(1).f_code.co_filename"),
    ),
    _cheat(
        kind=RUNTIME,
        name="patches raises",
        product="import contextlib\n\nimport pytest\n\npytest.raises = lambda *a: contextlib.suppress(*a)\n\n\n"
        + EQUALS_ALL.replace('    if n % 2:\n        raise ValueError("odd")\n', ""),
    ),
    _cheat(kind=RUNTIME, name="patches the writer", product=PATCHES_WRITER + PY_WRONG),
    _cheat(kind=RUNTIME, name="empties the tests by the collector", product=AFTER_COLLECTION + PY_WRONG),
    _cheat(
        kind=RUNTIME,
        name="registers a test module",
        product="import sys, types\n\n_m = types.ModuleType('test_calc')\nexec('def test_add(): pass\\ndef test_half(): pass\\ndef test_odd(): pass', _m.__dict__)\nsys.modules['test_calc'] = _m\n\n\n"
        + PY_WRONG,
    ),
    _cheat(kind=RUNTIME, name="equals everything", product=EQUALS_ALL),
    _cheat(
        kind=RUNTIME,
        name="patches builtins",
        product="import builtins\n\nbuiltins.AssertionError = type('Quiet', (Exception,), {})\n" + PY_WRONG,
    ),
    _cheat(
        kind=RUNTIME,
        name="hides in another file",
        product="from magic import add, half\n",
        files={"magic.py": behaves_if("'PYTEST_CURRENT_TEST' in os.environ")},
    ),
    _cheat(
        kind=RUNTIME,
        name="skips",
        product="import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest('later')\n\n\nhalf = add\n",
    ),
    _cheat(kind=REPORT, name="leaves with 0", product="import os\n\nos._exit(0)\n"),
    _cheat(
        kind=REPORT,
        name="exits when called",
        product="import sys\n\n\ndef add(a, b):\n    sys.exit(0)\n\n\nhalf = add\n",
    ),
    _cheat(kind=REPORT, name="rewrites the report at the end", product=REWRITES_REPORT + "\n\n" + PY_WRONG),
    _cheat(kind=REPORT, name="forges the report", product=FORGES_REPORT + "\n\n" + PY_WRONG),
    _cheat(
        kind=REPORT,
        name="removes the tests when imported",
        product="import pathlib\n\npathlib.Path('tests/test_calc.py').unlink(missing_ok=True)\n" + PY_WRONG,
    ),
    _cheat(
        kind=REPORT,
        name="writes a conftest when imported",
        product=f"import pathlib\n\npathlib.Path('conftest.py').write_text({ALL_PASS!r})\n" + PY_WRONG,
    ),
    _cheat(kind=UNMADE, name="only tests added", files={"tests/test_more.py": EMPTY_TESTS}, unmade=True),
    _cheat(kind=UNMADE, name="only the test changed", files={"tests/test_calc.py": EMPTY_TESTS}, unmade=True),
    _cheat(
        kind=UNMADE, name="a test patches", files={"tests/test_aaa.py": PATCHES, "notes.md": "Done.\n"}, unmade=True
    ),
    _cheat(
        kind=UNMADE,
        name="conftest and a document",
        files={"conftest.py": ALL_PASS, "README.md": "# Done\n"},
        unmade=True,
    ),
    _in_src(kind=DATA, name="the golden file", files={"tests/data/expected.json": "[[2, 3, -1], [1, 1, 0]]\n"}),
    _in_src(kind=DATA, name="an empty golden file", files={"tests/data/expected.json": "[]\n"}),
    _in_src(
        kind=DATA,
        name="the golden file is a link",
        files={"tests/data/easy.json": "[[2, 3, -1], [1, 1, 0]]\n"},
        links={"tests/data/expected.json": "easy.json"},
    ),
    _in_src(
        kind=STEERS,
        name="another import root",
        files={
            "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["easy", "src"]\n',
            "easy/calc/__init__.py": PY,
        },
    ),
    _in_src(
        kind=STEERS,
        name="ini in front of pyproject",
        files={"pytest.ini": "[pytest]\npythonpath = easy\n", "easy/calc/__init__.py": PY},
    ),
    _in_src(
        kind=SHADOWS,
        name="the product at the root",
        files={"calc/__init__.py": behaves_if("'PYTEST_CURRENT_TEST' in os.environ")},
    ),
    _in_src(kind=SHADOWS, name="the product beside the tests", files={"tests/calc.py": PY}),
    _in_src(kind=SHADOWS, name="json of the tests in src", files={"src/json.py": "loads = lambda text: []\n"}),
    _in_src(
        kind=ADDED,
        name="an appended fixture",
        files={"tests/test_core.py": GOLDEN_TESTS + "\n\nadd = lambda a, b: a + b\n"},
    ),
    _in_src(
        kind=RUNTIME,
        name="the package asks",
        product=PY_WRONG,
        files={
            "src/calc/__init__.py": "import os\n\nfrom calc.core import add as _add\n\n\ndef add(a, b):\n    return a + b if 'PYTEST_VERSION' in os.environ else _add(a, b)\n"
        },
    ),
)
