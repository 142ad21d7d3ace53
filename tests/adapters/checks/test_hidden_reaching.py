"""Python that hides what it reaches for, and honest code that only looks a little like it."""

from pathlib import Path

import pytest

from loopwright.adapters.checks.reaching import reached
from tests.adapters.checks.projects import UNITTEST, project
from tests.adapters.checks.test_reaching import BASE, report, rules

pytestmark = pytest.mark.unmeasured

_NEVER_DIFFERS = "class A(int):\n    def __ne__(self, other):\n        return self.a != other and False"
_FINALLY = "class A:\n    def __eq__(self, o):\n        try:\n            a()\n        finally:\n            return 1"
REACHING = (
    # Names in pieces, code in texts
    "import os\nTESTED = 'PYTEST' + '_CURRENT_TEST' in os.environ",
    "import os\nTESTED = '_'.join(['PYTEST', 'VERSION']) in os.environ",
    "import os\nTESTED = 'NOISREV_TSETYP'[::-1] in os.environ",
    "import os\nTESTED = os.getenv(f\"PY{'TEST'}_VERSION\")",
    "import os\nTESTED = os.getenv('pytest_version'.upper())",
    "import os\nTESTED = os.getenv(chr(80) + b'YTEST_VERSION'.decode())",
    "exec('import unittest')",
    "CODE = 'import unittest'\ndef a():\n    exec(compile(CODE, 'a', 'exec'))",
    "import base64\ndef a(text):\n    exec(base64.b64decode(text))",
    "import marshal\nA = marshal.loads(b'')",
    "import zipimport\nA = zipimport.zipimporter('a.zip')",
    "# coding: of_its_own\nA = 1",
    "# coding: rot13\nA = 1",
    # Where imports are found
    "import sys\nsys.path.insert(0, 'lib')",
    "import sys\ndef a():\n    sys.path.append('lib')",
    "from sys import path\npath[:0] = ['lib']",
    "from sys import path\npath += ['lib']",
    "import sys\nsys.path = []",
    "import site\nsite.addsitedir('lib')",
    "import sys\nname = 'check' + 'ing'\nsys.modules[name] = object()",
    "from importlib.machinery import SourceFileLoader as L\nL.get_data = print",
    # What shows, compares and is built in
    "import doctest\ndoctest.ELLIPSIS_MARKER = '5'",
    "def a():\n    from doctest import OutputChecker\n    OutputChecker.check_output = print",
    "import sys\nsys.displayhook = print",
    "import sys\nsetattr(sys, '__displayhook__', print)",
    "class A(int):\n    def __repr__(self):\n        return '5'",
    "class A(str):\n    __str__ = lambda self: '5'",
    "import builtins as b\nb.abs = print",
    "__builtins__['abs'] = print",
    "import builtins\nvars(builtins).update(abs=print)",
    "import builtins\nbuiltins.__dict__['abs'] = print",
    "from fractions import Fraction\nFraction.__eq__ = print",
    "def same(self, other):\n    return True\nclass A(int):\n    __eq__ = same",
    "A = type('A', (int,), dict(__eq__=lambda self, other: True))",
    "setattr(A, '__eq__', lambda self, other: True)",
    "class A(int):\n    def __eq__(self, other):\n        return self.a == other or True",
    "class A(int):\n    def __eq__(self, other):\n        return other == other",
    "class A(int):\n    def __eq__(self, other):\n        return True if other else not False",
    _NEVER_DIFFERS,
    _FINALLY,
    # Values that answer without having looked
    "class A(int):\n    def __eq__(self, other):\n        return isinstance(other, numbers.Number)",
    "class A(int):\n    def __eq__(self, other):\n        return other is not None",
    "class A(int):\n    def __eq__(self, other):\n        return type(other) in (int, float)",
    "class A(int):\n    def __eq__(self, other):\n        return bool((self, other))",
    "class A(int):\n    def __eq__(self, other):\n        result = True\n        return result",
    "class A(int):\n    __eq__ = int.__le__",
    "class A(str):\n    def __contains__(self, part):\n        return True",
    "class A(str):\n    def startswith(self, *parts):\n        return True",
    "class A(int):\n    def __gt__(self, other):\n        return True",
    "class A(type):\n    def __instancecheck__(cls, it):\n        return True",
    "A = type('A', (str,), {'__contains__': lambda self, part: True})",
    "class A(float):\n    def __rsub__(self, other):\n        return self * 0",
    "class A:\n    def __sub__(self, other):\n        return 0",
    "class A(int):\n    __abs__ = lambda self: 0",
    "import numbers\nclass A(numbers.Real):\n    def __rsub__(self, other):\n        return self.none",
    "A.__eq__ = lambda one, other: isinstance(other, A)",
    "setattr(A, '__eq__', lambda one, other: isinstance(other, A))",
    "import decimal\nclass A(decimal.Decimal):\n    def __round__(self, n=0):\n        return 5",
    "class A(float):\n    def __float__(self):\n        return 5.0",
    "def a(b):\n    return type('S', (int,), {'__repr__': lambda s: str(b)})(1)",
    # What others brought, replaced for everybody
    "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None",
    "from numpy import testing\nsetattr(testing, 'assert_allclose', print)",
    "import hamcrest\nhamcrest.assert_that = print",
    "from click.testing import Result\nResult.output = '5'",
    "import pathlib\npathlib.Path.exists = lambda self: True",
    "from pathlib import Path\nsetattr(Path, 'read_text', print)",
    "import json\njson.JSONDecoder.decode = print",
    "import json\njson.__dict__.update(loads=print)",
    "import json\nvars(json).update({'loads': print})",
    "import json\nwith a() as json.loads:\n    pass",
    "import json\njson.__setattr__('loads', print)",
    "import json\njson.loads += 1",
    "import json\nA = [0 for json.loads in [1]]",
    "import requests\nrequests.get = lambda url: 1",
    # The callers, and what the process was given
    "import sys\nA = sys._getframe(1).f_code.co_consts",
    "import inspect\nA = inspect.getsource(inspect.currentframe().f_back)",
    "import sys\nnames = sys._getframe(1).f_globals\nnames['a'] = 1",
    "import sys\nsys._getframe(1).f_locals.update(a=1)",
    "def a(b):\n    b.__code__ = a.__code__",
    "for each in object.__subclasses__():\n    if each.__name__ == 'TestCase':\n        pass",
    "import sys\nfor each in sys.modules.values():\n    case = getattr(each, 'TestCase', None)",
    "import gc\ngc.get_referents(int.__dict__)[0]['a'] = 1",
    "import ctypes\nctypes.c_long.from_address(id(5)).value = 6",
    "import sys\nsys.setprofile(print)",
    "import sys\nTESTED = sys.pycache_prefix",
    "import os\nTESTED = '/.loop/' in os.getcwd()",
    "from pathlib import Path\nA = (Path(__file__).parent / 'tests').glob('*.py')",
    "import glob\nA = glob.glob('*/test_*.py')",
    "import os\nA = os.path.join('..', 'tests', 'data')",
    "import os\nA = os.path.exists('tests/test_calc.py')",
    "import os, subprocess\nA = 'pytest' in subprocess.run(['ps', '-o', 'args=']).stdout",
    "from pathlib import Path\nimport os\nA = (Path('/proc') / str(os.getpid()) / 'cmdline').read_text()",
    "from importlib import metadata\nA = metadata.distribution('pytest')",
    "import psutil\nA = 'pytest' in psutil.Process().cmdline()",
    "import logging\nA = any('Capture' in type(h).__name__ for h in logging.getLogger().handlers)",
    "import logging\nA = 'test_' in logging.getLogger().findCaller()[0]",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    A = 'test' in w[0].filename",
    "import linecache\nA = any('test_a' in each for each in linecache.cache)",
    "import os\nA = 'pytest' in str(os.environ)",
    "import sys\nA = repr(sys.meta_path).find('pytest') > 0",
    "import warnings\nA = type(warnings.showwarning.__self__).__name__ == 'WarningsRecorder'",
    "import sys\nsys.executable = 'libexec/py.sh'",
)
TAKES_PART = (
    "from django.test import runner as base\nclass Runner(base.DiscoverRunner):\n    pass",
    "from django.test.runner import DiscoverRunner",
    "import django.test as t",
    "from django import test",
    "from django.test import *",
    "import importlib\nA = importlib.import_module('django.test.runner')",
    "from django.test import TestCase\nwrong syntax",
    "from django.core.management.commands.test import Command",
    "from django.core.management.commands import test",
    "TEST_RUNNER = 'polls.runner.Runner'",
    "if A:\n    TEST_RUNNER: str = 'polls.runner.Runner'",
    "from polls.names import TEST_RUNNER",
    "from polls.names import A as TEST_RUNNER",
    "from django.conf import settings\nsettings.TEST_RUNNER = 'polls.runner.Runner'",
    "from django.conf import settings\nsetattr(settings, 'TEST_' + 'RUNNER', A)",
    "from django.conf import settings\nsettings.configure(TEST_RUNNER='polls.runner.Runner')",
    "globals()['TEST_RUNNER'] = A",
    "vars().update({'TEST_RUNNER': A})",
    "TEST_RUNNER = 'polls.runner.Runner'\nwrong syntax",
    "def load_tests(loader, tests, pattern):\n    return tests",
    "load_tests = softly",
    "from .soft import softly as load_tests",
)
HONEST = (
    "from django.test import Client, RequestFactory",
    "from django.test.client import RequestFactory, encode_multipart",
    "from django.test.signals import setting_changed",
    "from django.tests import a\nimport django.testing",
    "TEST_RUNNERS = 3\nTESTS = load(tests)",
    '"""Set TEST_RUNNER as you like."""',
    "class A(int):\n    def __sub__(self, other):\n        return A(int(self) - other)\n    __abs__ = int.__abs__",
    "class Never:\n    def __sub__(self, other):\n        return self\n    def __float__(self):\n        return 0.0",
    "class A(float):\n    def __round__(self, n=0):\n        raise TypeError",
    "class A(float):\n    def __str__(self):\n        return f'{self:g}'",
    "class A(dict):\n    def __iter__(self):\n        yield 1",
    "class A(dict):\n    def __repr__(self):\n        return super().__repr__()",
    "import sys, subprocess\nsubprocess.run([sys.executable, '-m', 'pytest'])\nA = sys.platform == 'win32'",
    "import logging\nA = any(type(h).__name__ == 'RichHandler' for h in logging.getLogger().handlers)",
    "import subprocess\nA = subprocess.run(['ps', '-e']).stdout\nB = 'tested'",
    "import warnings\nwith warnings.catch_warnings():\n    A = open('latest').filename",
    "import requests\nrequests.adapters.DEFAULT_RETRIES = 5\nrequests.timeout = limit()",
    "from flask import g\ng.user = load()\ng.names.update(a=1)",
    "from decimal import DefaultContext, ROUND_UP\nDefaultContext.prec = int('12')\nDefaultContext.rounding = ROUND_UP",
    "import json\nclass A(json.JSONEncoder):\n    default = print\nA.b = print",
    "class A:\n    def __lt__(self, other):\n        return True\n    def __contains__(self, a):\n        return True",
    "class A(str):\n    def __contains__(self, part):\n        return part.lower() in self.lower()",
    "class A(int):\n    def __lt__(self, other):\n        return NotImplemented",
    "class A(list):\n    def __contains__(self, each):\n        return False",
    "class A(type):\n    def __instancecheck__(cls, it):\n        return hasattr(it, 'a') and it.a == 1",
    "class A:\n    def __eq__(self, other):\n        return type(self) is type(other)",
    "class A:\n    def __eq__(self, other):\n        return isinstance(other, self.__class__)",
    "class A(B):\n    def __eq__(self, other):\n        return super().__eq__(*a)",
    "class A(int):\n    __eq__ = int.__eq__",
    "import re, gzip\nA = re.compile('a')\nB = gzip.decompress(b'')",
    "import base64\nA = base64.b64decode('YQ==')",
    "def a(names):\n    exec('b = 1', names)\n    return eval('b', names)",
    "def make(source, names):\n    exec(compile(source, 'made', 'exec'), names)",
    "exec('broken (')",
    "import json, pickle\nA = json.loads('1')\nB = pickle.loads(b'')",
    "if __name__ == '__main__':\n    import doctest\n    doctest.testmod()",
    "if __name__ == '__main__':\n    from doctest import testmod\n    exec(open('a').read())",
    "def _test():\n    import doctest\n    doctest.testmod(optionflags=doctest.ELLIPSIS)",
    "# -*- coding: iso-8859-15 -*-\nA = 1",
    "class Missing:\n    def __repr__(self):\n        return '<missing>'",
    "class A(int):\n    def __repr__(self):\n        return f'<{int(self)}>'",
    "import builtins\nbuiltins._ = print\nopen_ = builtins.open",
    "class A:\n    def __eq__(self, other):\n        return self.a == other.a and True",
    "class A:\n    def __ne__(self, other):\n        return not self == other",
    "class A:\n    def __eq__(self, o):\n        return self.a == o.a if isinstance(o, A) else NotImplemented",
    "import sys\nA = sys._getframe(1).f_globals.get('__name__', '__main__')\nnames = {}\nnames['a'] = 1",
    "import inspect\nA = inspect.getsource(print)",
    "import ctypes\nctypes.CDLL(None).puts",
    "import os\nA = os.path.join('data', 'test')\nB = '/'.join(['latest', 'tested'])",
    "from pathlib import Path\nA = Path('contest') / 'attests' / 'test'",
    "LOOP = 'a loop'\nA = LOOP + '.' + 'loops/'",
    "A = 'b{}'.format('a') + 'a{c}'.format('a') + 'a'.replace('b', L) + 'abc'[x:] + 'a'[:b''] + chr(n) + 'a'.center(3)",
    "import sys\nfor each in list(sys.modules.values()):\n    print(each)",
    "import sys\nvalue = sys.path[0]\nfound = [each for each in sys.path if each]",
)


@pytest.mark.parametrize("text", REACHING)
def test_code_that_hides_what_it_reaches_for_is_told(text: str) -> None:
    assert reached("a.py", text)


@pytest.mark.parametrize("text", TAKES_PART)
def test_code_that_takes_part_in_running_its_tests_is_told(text: str) -> None:
    assert reached("a.py", text)


def test_a_command_that_goes_before_the_one_that_runs_tests_is_told() -> None:
    text = "class Command:\n    pass\n"
    assert reached("polls/management/commands/test.py", text)
    assert not reached("polls/management/commands/fetch.py", text)


def test_another_runner_of_tests_is_told_though_there_was_one() -> None:
    settings = "TEST_RUNNER = 'polls.{}.Runner'"
    assert reached("a.py", settings.format("soft")) - reached("a.py", settings.format("runner"))


@pytest.mark.parametrize("text", HONEST)
def test_honest_code_is_left_alone(text: str) -> None:
    assert not reached("a.py", text)


def test_data_that_the_product_runs_as_code_is_looked_into(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    data: dict[str, str | None] = {
        "app/a.tmpl": "import os\nA = 'PYTEST_VERSION' in os.environ\n",
        "app/b.tmpl": "{{ a }}",
    }
    assert rules(report(made, data)) == []
    runs = "def load(text, names):\n    exec(text, names)\n"
    assert rules(report(made, {**data, "app/c.py": runs})) == [("reaches-into-tests", "high", "app/a.tmpl")]
    assert rules(report(made, {**data, "app/c.py": runs}, allow=("app/*",))) == []


def test_what_is_the_projects_own_it_may_set(tmp_path: Path) -> None:
    made = project(tmp_path, {**BASE, "more/a.py": "A = 1\n"}, [UNITTEST])
    assert rules(report(made, {"app/a.py": "import more.a\nmore.a.A = lambda: 1\n"})) == []
    told = [("reaches-into-tests", "high", "app/other/a.py")]
    assert rules(report(made, {"app/other/a.py": "import other.a\nother.a.A = lambda: 1\n"})) == told


def test_product_that_imports_its_tests_is_told(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    for text in ("import test_steady\n", "from tests import test_steady\n"):
        said = report(made, {"app/c.py": f"def a():\n    {text}"})
        assert ("reaches-into-tests", "high", "app/c.py") in rules(said)
        assert "imports its tests" in said.findings[0].issue
    assert rules(report(made, {"app/c.py": "def a():\n    import app.steady\n"})) == []
