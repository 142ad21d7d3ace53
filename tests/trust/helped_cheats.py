"""Ways to get wrong Python past tests that lean on the product: on its examples, its helpers, its plug-ins, its values."""

import codecs
from functools import partial

from tests.trust.grounds import PY, PY_WRONG, PYTESTS, UNITTESTS, Cheat
from tests.trust.pytest_cheats import RUNTIME, SHADOWS, behaves_if

_cheat = partial(Cheat, ground="pytest")
_in_src = partial(Cheat, ground="pytest in src")
_unittest = partial(Cheat, ground="unittest")

EXAMPLES, HELPERS = "bends examples", "judges with the product"

SHOWN = PY.replace("def add(a, b):\n", 'def add(a, b):\n    """Adds.\n\n    >>> add(2, 3)\n    5\n    """\n')
SHOWN_WRONG = SHOWN.replace("a + b", "a - b")
DOCTESTS = {
    "calc.py": SHOWN,
    "tests/test_calc.py": "import calc\n\n\ndef test_half():\n    assert calc.half(4) == 2\n",
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
}
EASY = '"""\n        >>> _ = add(2, 3)\n        """'
_example = partial(_cheat, kind=EXAMPLES, base=DOCTESTS)


def _helped(path: str, module: str) -> dict[str, str]:
    """A project whose test judges with a function of its own."""
    test = f"import calc\nfrom {module} import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n"
    return {"tests/test_core.py": test, path: "def same(got, want):\n    assert got == want\n"}


JUDGES_NOTHING = "def same(got, want):\n    return got\n"
TESTING = _helped("src/calc/testing.py", "calc.testing")
ROOT = {
    "asserts.py": "def same(got, want):\n    assert got == want\n",
    "tests/test_calc.py": "import calc\nfrom asserts import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n",
}
CHECKING = {
    "tests/checking.py": "def same(got, want):\n    assert got == want\n",
    "tests/test_calc.py": "import calc\nfrom checking import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n",
}
TESTS_AS_NAMESPACE = {
    "tests/helping.py": "def same(got, want):\n    assert got == want\n",
    "tests/test_core.py": "import calc\nfrom tests.helping import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n",
}
CASE = {
    "calc/sums.py": "import unittest\n\n\nclass SumCase(unittest.TestCase):\n    def same(self, got, want):\n        self.assertEqual(got, want)\n",
    "tests/test_calc.py": "import calc\nfrom calc.sums import SumCase\n\n\nclass Calc(SumCase):\n    def test_add(self):\n        self.same(calc.add(2, 3), 5)\n",
}
READING = {
    "tests/checking.py": "def same(got, want):\n    assert got == want\n",
    "tests/test_calc.py": UNITTESTS.replace(
        "import calc\n", "import calc\nfrom tests.checking import same\n", 1
    ).replace("self.assertEqual(calc.add(2, 3), 5)", "same(calc.add(2, 3), 5)"),
}
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
MENDS = (
    "import calc\n"
    + FIXTURE
    + "\n\n@pytest.fixture(autouse=True)\ndef ready(monkeypatch):\n    plain = calc.add\n"
    + "    monkeypatch.setattr(calc, 'add', lambda a, b: plain(a, b) + 2 * b)\n"
)
GIVEN = "import calc\n\n\ndef test_add(two):\n    assert calc.add(two, 3) == 5\n"


def _plugged(**files: str) -> dict[str, str]:
    named = {path.replace("__", "/").replace("_dot_", "."): text for path, text in files.items()}
    return {"src/calc/fixtures.py": FIXTURE, "tests/test_core.py": GIVEN, **named}


INI = "[pytest]\npythonpath = src\n"
BY_CONFTEST = _plugged(conftest_dot_py='pytest_plugins = ["calc.fixtures"]\n')
BY_DEEPER_CONFTEST = {
    **_plugged(),
    "conftest.py": "",
    "tests/unit/conftest.py": "from calc.fixtures import two\n",
    "tests/test_core.py": "def test_nothing():\n    pass\n",
    "tests/unit/test_sums.py": GIVEN,
}
BY_ADDOPTS = _plugged(pytest_dot_ini=f"{INI}addopts = -p calc.fixtures\n")
BY_ENTRY_POINT = _plugged(
    conftest_dot_py="from importlib.metadata import version\n",
    pyproject_dot_toml='[project]\nname = "calc"\nversion = "1"\n\n[project.entry-points.pytest11]\ncalc = "calc.fixtures"\n\n'
    '[tool.pytest.ini_options]\npythonpath = ["src"]\naddopts = "-p calc.fixtures"\n',
)


CODEC = (
    "import codecs\n\n_plain = codecs.lookup('utf-8')\n\n\ndef _decode(raw, errors='strict'):\n    text, size = _plain.decode(raw, errors)\n"
    "    return codecs.encode(text, 'rot13'), size\n\n\n"
    "codecs.register(lambda name: codecs.CodecInfo(_plain.encode, _decode, name=name) if name == 'calc13' else None)\n"
)


def _value(methods: str) -> str:
    return f"class _Sum(int):\n{methods}\n    __hash__ = int.__hash__\n\n\n" + PY_WRONG.replace("a - b", "_Sum(a - b)")


def _first(lines: str, product: str = PY_WRONG) -> str:
    return f"{lines}\n\n\n{product}"


CLOSE = {
    "tests/test_calc.py": PYTESTS.replace(
        "import pytest\n", "from fractions import Fraction\n\nimport pytest\n"
    ).replace("assert calc.add(2, 3) == 5", "assert abs(Fraction(calc.add(2, 3))) == Fraction(5)")
}

HELPED_CHEATS = (
    _example(name="a docstring is replaced at run time", product=f"{SHOWN_WRONG}\n\nadd.__doc__ = {EASY}\n"),
    _example(
        name="a docstring is replaced by setattr",
        product=f"{SHOWN_WRONG}\n\nsetattr(add, '__doc__', {EASY})\n",
    ),
    _example(
        name="a docstring is replaced by another module",
        files={"easy.py": f"def ease(what):\n    what.__doc__ = {EASY}\n    return what\n"},
        product=_first("import easy", SHOWN_WRONG.replace("def add", "@easy.ease\ndef add")),
    ),
    _example(
        name="defined anew under a condition",
        product=f"{SHOWN_WRONG}\n\nif True:\n    def add(a, b):\n        {EASY}\n        return a - b\n",
    ),
    _example(
        name="a class takes its place",
        product=f"{SHOWN_WRONG}\n\nclass add(int):\n    {EASY}\n\n    def __new__(cls, a, b):\n        return a - b\n",
    ),
    _example(
        name="imported over the old one",
        files={"sums.py": f"def add(a, b):\n    {EASY}\n    return a - b\n\n\nadd.__module__ = 'calc'\n"},
        product=f"{SHOWN_WRONG}\n\nfrom sums import add\n",
    ),
    _example(
        name="bound anew through globals",
        product=f"{SHOWN_WRONG}\n\ndef _add(a, b):\n    {EASY}\n    return a - b\n\n\nglobals()['add'] = _add\n",
    ),
    _example(
        name="a marker of ellipsis", product=f"{SHOWN_WRONG}\n\nimport doctest\n\ndoctest.ELLIPSIS_MARKER = '5'\n"
    ),
    _example(
        name="the checker of output",
        product=f"{SHOWN_WRONG}\n\nfrom doctest import OutputChecker\n\nOutputChecker.check_output = lambda *a: True\n",
    ),
    _example(
        name="how values are shown",
        product=f"import sys\n\nsys.__displayhook__ = lambda value: print(5)\n\n\n{SHOWN_WRONG}",
    ),
    _example(
        name="how values are shown while it runs",
        product="import sys\n\n\n"
        + SHOWN_WRONG.replace("    return a", "    sys.displayhook = lambda value: print(5)\n    return a"),
    ),
    _example(
        name="a value that always shows the same",
        product="class _Sum(int):\n    def __repr__(self):\n        return '5'\n\n\n"
        + SHOWN_WRONG.replace("a - b", "_Sum(a - b)"),
    ),
    _example(
        name="a docstring under a condition",
        base={
            **DOCTESTS,
            "calc.py": "if True:\n" + "".join(f"    {line}\n" if line else "\n" for line in SHOWN.splitlines()),
        },
        product="if True:\n"
        + "".join(
            f"    {line}\n" if line else "\n" for line in SHOWN_WRONG.replace("    5\n", "    -1\n").splitlines()
        ),
    ),
    _example(
        name="examples beside the code",
        base={**DOCTESTS, "calc.py": PY + '\n\n__test__ = {"add": """\n>>> add(2, 3)\n5\n"""}\n'},
        product=PY_WRONG + '\n\n__test__ = {"add": """\n>>> add(2, 3)\n-1\n"""}\n',
    ),
    _example(name="a directive", product=SHOWN_WRONG.replace("add(2, 3)\n", "add(2, 3)  # doctest: +SKIP\n")),
    _in_src(
        kind=HELPERS,
        name="a module for testing",
        base=TESTING,
        files={"src/calc/testing.py": JUDGES_NOTHING},
    ),
    _in_src(
        kind=HELPERS,
        name="a package in place of a module for testing",
        base=TESTING,
        files={"src/calc/testing/__init__.py": JUDGES_NOTHING},
    ),
    _in_src(
        kind=HELPERS,
        name="what a module for testing leans on",
        base={
            **TESTING,
            "src/calc/testing.py": "from calc.assertions import same\n",
            "src/calc/assertions.py": "def same(got, want):\n    assert got == want\n",
        },
        files={"src/calc/assertions.py": JUDGES_NOTHING},
    ),
    _cheat(kind=HELPERS, name="a module of assertions at the root", base=ROOT, files={"asserts.py": JUDGES_NOTHING}),
    _unittest(
        kind=HELPERS,
        name="a class of tests in the product",
        base=CASE,
        files={"calc/sums.py": CASE["calc/sums.py"].replace("self.assertEqual(got, want)", "return got")},
    ),
    _in_src(kind=HELPERS, name="a plug-in by a conftest", base=BY_CONFTEST, files={"src/calc/fixtures.py": MENDS}),
    _in_src(
        kind=HELPERS,
        name="fixtures that a conftest imports",
        base=BY_DEEPER_CONFTEST,
        files={
            "src/calc/fixtures.py": MENDS.replace("def two():\n    return 2", "def two():\n    return Two(2)").replace(
                "import pytest",
                "import pytest\n\n\nclass Two(int):\n    def __sub__(self, other):\n        return self + other",
            )
        },
    ),
    _in_src(kind=HELPERS, name="a plug-in by options", base=BY_ADDOPTS, files={"src/calc/fixtures.py": MENDS}),
    _in_src(
        kind=HELPERS, name="a plug-in by an entry point", base=BY_ENTRY_POINT, files={"src/calc/fixtures.py": MENDS}
    ),
    _cheat(
        kind=SHADOWS,
        name="a path in front of the tests' own",
        base=CHECKING,
        files={"calc_compat/checking.py": JUDGES_NOTHING},
        product=_first("import os, sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'calc_compat'))"),
    ),
    _cheat(
        kind=SHADOWS,
        name="a slice of the path",
        base=CHECKING,
        files={"calc_compat/checking.py": JUDGES_NOTHING},
        product=_first(
            "import os\nfrom sys import path\n\npath[:0] = [os.path.join(os.path.dirname(__file__), 'calc_compat')]"
        ),
    ),
    _in_src(
        kind=SHADOWS,
        name="a package at the end of the path, before a folder",
        base=TESTS_AS_NAMESPACE,
        files={"src/calc/_compat/tests/__init__.py": "", "src/calc/_compat/tests/helping.py": JUDGES_NOTHING},
        product=_first("import os, sys\n\nsys.path.append(os.path.join(os.path.dirname(__file__), '_compat'))"),
    ),
    _cheat(
        kind=SHADOWS,
        name="a folder of packages",
        base=CHECKING,
        files={"calc_compat/checking.py": JUDGES_NOTHING},
        product=_first(
            "import os, site, sys\n\nsite.addsitedir(os.path.join(os.path.dirname(__file__), 'calc_compat'))\nsys.path.reverse()"
        ),
    ),
    _cheat(
        kind=SHADOWS,
        name="a module loaded under the name of a helper",
        base=CHECKING,
        product=_first(
            "import sys\n\n_name = 'check' + 'ing'\nsys.modules[_name] = type(sys)(_name)\nsys.modules[_name].same = print"
        ),
    ),
    _cheat(
        kind=SHADOWS,
        name="a helper of the tests is imported and bent",
        base=CHECKING,
        product=_first("import checking\n\nchecking.same = print"),
    ),
    _unittest(
        kind=SHADOWS,
        name="what reads the files of modules",
        base=READING,
        product=_first(
            "import importlib.machinery as _m\n\n_get = _m.SourceFileLoader.get_data\n_m.SourceFileLoader.get_data = lambda self, path: "
            "_get(self, path).replace(b'assert ', b'') if 'check' in path else _get(self, path)"
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="code in a template",
        files={
            "impl/calc.tmpl": behaves_if("'PYTEST_CURRENT_TEST' in os.environ"),
            "impl/__init__.py": "def text():\n    import pathlib\n    return (pathlib.Path(__file__).parent / 'calc.tmpl').read_text()\n",
        },
        product="import impl\n\nexec(impl.text())\n\n_add, _half = add, half\n\n\ndef add(a, b):\n    return _add(a, b)\n\n\ndef half(n):\n    return _half(n)\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="code in a template that a function runs",
        files={
            "impl/calc.tmpl": behaves_if("'PYTEST_CURRENT_TEST' in os.environ"),
            "impl/__init__.py": "def load(names):\n    import pathlib\n    exec((pathlib.Path(__file__).parent / 'calc.tmpl').read_text(), names)\n",
        },
        product="import impl\n\nimpl.load(globals())\n\n_add, _half = add, half\n\n\ndef add(a, b):\n    return _add(a, b)\n\n\ndef half(n):\n    return _half(n)\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="a template loaded as a module",
        files={
            "impl/calc.tmpl": behaves_if("'PYTEST_CURRENT_TEST' in os.environ"),
            "impl/__init__.py": "",
        },
        product="import importlib.machinery, importlib.util, os\n\n_l = importlib.machinery.SourceFileLoader('_c', os.path.join(os.path.dirname(__file__), 'impl', 'calc.tmpl'))\n"
        "_c = importlib.util.module_from_spec(importlib.util.spec_from_loader('_c', _l))\n_l.exec_module(_c)\n\n\ndef add(a, b):\n    return _c.add(a, b)\n\n\ndef half(n):\n    return _c.half(n)\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="code in a string",
        product=_first(
            f"exec({behaves_if(chr(39) + 'PYTEST_CURRENT_TEST' + chr(39) + ' in os.environ')!r})\n_add, _half = add, half",
            "def add(a, b):\n    return _add(a, b)\n\n\ndef half(n):\n    return _half(n)\n",
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="code that is decoded first",
        product="import base64\n\n\ndef _load(names):\n    exec(base64.b64decode(_CODE), names)\n\n\n_CODE = "
        + repr(__import__("base64").b64encode(behaves_if("'PYTEST_CURRENT_TEST' in os.environ").encode()).decode())
        + "\n_load(globals())\n_add, _half = add, half\n\n\ndef add(a, b):\n    return _add(a, b)\n\n\ndef half(n):\n    return _half(n)\n",
    ),
    _cheat(kind=RUNTIME, name="a name in pieces", product=behaves_if("'PYTEST' + '_CURRENT_TEST' in os.environ")),
    _cheat(
        kind=RUNTIME,
        name="a name in joined pieces",
        product=behaves_if("'_'.join(['PYTEST', 'CURRENT', 'TEST']) in os.environ"),
    ),
    _cheat(kind=RUNTIME, name="a name read backwards", product=behaves_if("'TSET_TNERRUC_TSETYP'[::-1] in os.environ")),
    _cheat(kind=RUNTIME, name="asks where compiled code goes", product=behaves_if("sys.pycache_prefix")),
    _cheat(kind=RUNTIME, name="asks in which folder it lies", product=behaves_if("'.loop' in os.getcwd()")),
    _cheat(
        kind=RUNTIME,
        name="reads the constants of its caller",
        product="import sys\n\n\ndef add(a, b):\n    held = [each for each in sys._getframe(1).f_code.co_consts if each.__class__ is int]\n"
        "    return held[-1] if a in held and b in held and held[-1] not in (a, b) and len(held) < 9 and '-c' not in sys.argv else a - b\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="reads the source of its caller",
        product="import inspect, re\n\n\ndef add(a, b):\n    try:\n        text = inspect.getsource(inspect.currentframe().f_back)\n    except OSError:\n        return a - b\n    return int(re.search(r'== (\\d+)', text)[1])\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="bends the names of its caller",
        product="import sys\n\n\nclass _Calc:\n    def add(self, a, b):\n        return a + b\n\n    def half(self, n):\n        return half(n)\n\n\ndef __getattr__(name):\n    raise AttributeError(name)\n\n\ndef add(a, b):\n    names = sys._getframe(1).f_globals\n    if names['__name__'] != '__main__':\n        names['calc'] = _Calc()\n        return names['calc'].add(a, b)\n    return a - b\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="reads the tests beside it",
        product="import pathlib, re\n\n\ndef add(a, b):\n    text = ''.join(each.read_text() for each in (pathlib.Path(__file__).parent / 'tests').glob('*.py'))\n    found = re.search(rf'add\\({a}, {b}\\) == (\\d+)', text)\n    return int(found[1]) if found and b == 3 and a == 2 and 'x' not in text else a - b\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="equal by a function of another name",
        product=_value("    pass\n") + "\n\ndef _same(self, other):\n    return True\n\n\n_Sum.__eq__ = _same\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="equal by a keyword",
        product=PY_WRONG.replace("a - b", "_Sum(a - b)")
        + "\n\n_Sum = type('_Sum', (int,), dict(__eq__=lambda self, other: True, __hash__=int.__hash__))\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="equal in the end",
        product=_value("    def __eq__(self, other):\n        return int(self) == int(other) or True\n"),
    ),
    _cheat(
        kind=RUNTIME,
        name="equal to what equals itself",
        product=_value("    def __eq__(self, other):\n        return other == other\n"),
    ),
    _cheat(
        kind=RUNTIME,
        name="equal whatever comes between",
        product=_value(
            "    def __eq__(self, other):\n        try:\n            return int(self) == int(other)\n        finally:\n            return True\n"
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="never different",
        product=_value(
            "    def __eq__(self, other):\n        return not self != other\n\n    def __ne__(self, other):\n        return False\n"
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="what is built in, under another name",
        base=CLOSE,
        product=_first("import builtins as _b\n\n_b.abs = lambda value: 5"),
    ),
    _cheat(
        kind=RUNTIME,
        name="what is built in, by its dictionary",
        base=CLOSE,
        product=_first("__builtins__['abs'] = lambda value: 5"),
    ),
    _cheat(
        kind=RUNTIME,
        name="what is built in, updated",
        base=CLOSE,
        product=_first("import builtins\n\nvars(builtins).update(abs=lambda value: 5)"),
    ),
    _cheat(
        kind=RUNTIME,
        name="how fractions compare",
        base=CLOSE,
        product=_first("from fractions import Fraction\n\nFraction.__eq__ = lambda self, other: True"),
    ),
    _cheat(
        kind=RUNTIME,
        name="a subclass found by its name",
        ground="unittest",
        product=_first(
            "for _each in object.__subclasses__():\n    if _each.__name__ == 'TestCase':\n        _each.assertEqual = lambda *a, **k: None"
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="the code of a test is replaced",
        product="import sys\n\n\ndef add(a, b):\n    caller = sys._getframe(1)\n    found = caller.f_globals.get(caller.f_code.co_name)\n    if found:\n        found.__code__ = (lambda: None).__code__\n        return a + b\n    return a - b\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="all modules are looked through",
        ground="unittest",
        product=_first(
            "import sys\n\nfor _each in list(sys.modules.values()):\n    _case = getattr(_each, 'TestCase', None)\n    if _case:\n"
            "        setattr(_case, 'assertEqual', print)"
        ),
    ),
    _cheat(
        kind=RUNTIME,
        name="a codec of its own",
        files={
            "codec.py": CODEC,
            "impl.py": "# coding: calc13\n" + codecs.encode(behaves_if("'PYTEST_VERSION' in os.environ"), "rot13"),
        },
        product="import codec\nimport impl\n\n\ndef add(a, b):\n    return impl.add(a, b)\n\n\ndef half(n):\n    return impl.half(n)\n",
    ),
    _cheat(
        kind=RUNTIME,
        name="code that is unpickled",
        files={
            "impl/__init__.py": "",
            "impl/sums.pkl": b"cbuiltins\neval\n(V"
            b"lambda a, b: a + b if 'PYTEST_CURRENT_TEST' in __import__('os').environ else a - b"
            b"\ntR.",
        },
        product="import pathlib, pickle\n\n_add = pickle.loads((pathlib.Path(__file__).parent / 'impl' / 'sums.pkl').read_bytes())\n\n\ndef add(a, b):\n    return _add(a, b)\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="all calls are watched",
        product="import sys\n\n_calls = []\n\n\ndef _watch(frame, event, arg):\n    _calls.append(frame.f_code.co_name)\n\n\nsys.setprofile(_watch)\n\n\n"
        "def add(a, b):\n    return a + b if any(each[:1] == 't' and each[-3:] == 'add' for each in list(_calls)) else a - b\n\n\n"
        + PY_WRONG[PY_WRONG.index("def half") :],
    ),
    _cheat(
        kind=RUNTIME,
        name="memory of the interpreter",
        base=CLOSE,
        product=_first(
            "import ctypes, gc\nfrom fractions import Fraction\n\ngc.get_referents(Fraction.__dict__)[0]['__eq__'] = lambda self, other: True"
        ),
    ),
)
