"""Values, texts, modules and places by which code reaches for its tests in roundabout ways; and languages of words."""

import pytest

from loopwright.adapters.checks.reaching import reached

_YES = "lambda self, other: True"
_ASKS = f"""TEXT = '''
import os
# {"x" * 220}
TESTED = 'PYTEST_CURRENT_TEST' in os.environ
'''
"""
_ANY = "import sys\nNAMES = {}\n\ndef a():\n    return {}"
REACHING = (
    # Equal to everything, however it came to be
    f"class A(int):\n    __eq__: object = {_YES}",
    f"class A(int):\n    __eq__ = same = {_YES}",
    f"class A(int):\n    __eq__, __hash__ = ({_YES}), int.__hash__",
    f"class A(int):\n    for __eq__ in ({_YES},):\n        pass",
    f"class A(int):\n    with kept({_YES}) as __eq__:\n        pass",
    f"class A(int):\n    (__eq__ := {_YES})",
    f"class A(int):\n    match {_YES}:\n        case __eq__:\n            pass",
    "class A(int):\n    from b import yes as __eq__",
    "class A(int):\n    async def __eq__(self, other):\n        return True",
    "import functools\ndef yes(*a):\n    return True\nclass A(int):\n    __eq__ = functools.partialmethod(yes)",
    f"def body(ns):\n    ns['__eq__'] = {_YES}",
    f"class A(int):\n    locals()['__eq__'] = {_YES}",
    "class A(int):\n    def __eq__(self, other):\n        return int(self) == other or int(self) != other",
    "class A(int):\n    def __eq__(self, other):\n        return len(repr(other)) > 0",
    "class A(str):\n    __repr__: object = lambda self: '5'",
    "class A(str):\n    def __repr__(self):\n        return '<5>'",
    "class A(str):\n    def __str__(self):\n        return '<unset>'",
    # Code in texts, whatever runs it
    f"import builtins\n{_ASKS}\ndef a():\n    builtins.exec(TEXT)",
    f"{_ASKS}\ndef a():\n    for each in (TEXT,):\n        exec(each)",
    f"import timeit\n{_ASKS}\ndef a():\n    timeit.timeit(TEXT, number=1)",
    f"import code\n{_ASKS}\ndef a():\n    code.InteractiveInterpreter().runsource(TEXT)",
    f"from builtins import exec as run\n{_ASKS}\ndef a():\n    run(TEXT)",
    f"import builtins\n{_ASKS}\ndef a():\n    getattr(builtins, 'exec')(TEXT)",
    # Modules of tests among those that are loaded
    _ANY.format("{'test_calc', 'tests.test_calc'}", "NAMES & set(sys.modules)"),
    _ANY.format("('test_calc',)", "any(each in sys.modules for each in NAMES)"),
    _ANY.format("list(sys.modules)", "any(each.startswith('test_') for each in NAMES)"),
    _ANY.format("sys.modules.keys()", "[each for each in NAMES if each == 'conftest']"),
    "import sys\ndef a():\n    for each in sys.modules:\n        if each.startswith('test_'):\n            return 1",
    "import importlib.util\nTESTED = importlib.util.find_spec('conftest')",
    "import sys\nTESTED = 'AssertionRewritingHook' in [type(h).__name__ for h in sys.meta_path]",
    "import builtins\nTESTED = '@py_builtins' in dir(builtins)",
    "import os\nTESTED = 'pytest_current_test' in {each.lower() for each in os.environ}",
    # Looking, though something is made as well
    "def a(root):\n    return (root / 'tests').is_dir()",
    "def a(root):\n    tests = root / 'tests'\n    tests.mkdir()\n    return list(tests.iterdir())",
    "def a(root):\n    try:\n        (root / 'tests').mkdir()\n    except FileExistsError:\n        return 1",
    "from pathlib import Path\ndef a():\n    (Path(__file__).parent / 'tests' / 'conftest.py').write_text('')",
    "from pathlib import Path\ndef a():\n    root = Path('.')\n    (root / 'tests').mkdir()",
    "import os\nos.makedirs(os.path.join('.', 'tests'))",
)
HONEST = (
    "class A(int):\n    __eq__: object = lambda self, other: int(self) == other",
    "class A(int):\n    __eq__, __hash__ = int.__eq__, int.__hash__",
    "class A:\n    def __eq__(self, other):\n        return self.a == other.a or self.b == other.b",
    "def body(ns, made):\n    ns['__eq__'] = made\n    for each in ('__eq__', '__ne__'):\n        ns[each] = made",
    "class _Unset(str):\n    def __repr__(self):\n        return '<unset>'",
    "class _Unset(str):\n    __repr__ = lambda self: 'UNSET'",
    "TEMPLATE = '''\nimport pytest\n\n\ndef test_a():\n    pass\n'''\ndef a(path):\n    path.write_text(TEMPLATE)",
    "import timeit\nTEXT = 'sorted(range(10))'\ndef a():\n    return timeit.timeit(TEXT)",
    "import sys\nNAMES = {'numpy', 'latest'}\ndef a():\n    return NAMES & set(sys.modules)",
    "import sys\nTESTS = ('test_',)\nhere = sys.modules[__name__]\ndef a(name):\n    return name.startswith(TESTS)",
    "import importlib.util\nA = importlib.util.find_spec('numpy')",
    "def begin(root):\n    (root / 'src').mkdir()\n    (root / 'tests').mkdir(exist_ok=True)",
    "def begin(root):\n    tests = root / 'tests'\n    tests.mkdir()\n    (tests / '__init__.py').touch()",
    "def begin(a):\n    root = Path(a.root).resolve()\n    (root / 'tests' / 'test_a.py').write_text('')",
    "import os\ndef begin(root):\n    os.makedirs(os.path.join(root, 'tests'), exist_ok=True)",
    "class A:\n    def begin(self):\n        self.root.joinpath('tests').mkdir()",
    "def begin(root):\n    with_init = root / 'tests' / '__init__.py'\n    open(with_init, 'w')",
)


@pytest.mark.parametrize("text", REACHING)
def test_roundabout_ways_are_told(text: str) -> None:
    assert reached("a.py", text)


@pytest.mark.parametrize("text", HONEST)
def test_honest_code_is_left_alone(text: str) -> None:
    assert not reached("a.py", text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("lib/A.pm", "sub a { return $ENV{HARNESS_ACTIVE} ? 1 : 2 }"),
        ("lib/A.pm", "use Test::More;"),
        ("lib/A.pm", "return 1 if $INC{'Test/More.pm'};"),
        ("bin/a", "#!/usr/bin/perl\nprint 1 if $0 =~ /\\.t$/;"),
        ("lib/A.pm", "*{'Test::More::is'} = sub { 1 };"),
        ("lib/A.pm", "END { $? = 0 }"),
        ("lib/a.rb", "A = defined?(RSpec) ? 1 : 2"),
        ("lib/a.rb", "require 'minitest/autorun'"),
        ("lib/a.rb", "A = 1 if ENV['RAILS_ENV'] == 'test'"),
        ("lib/a.rb", "A = 1 if $PROGRAM_NAME.include?('rspec')"),
        ("lib/a.rb", "at_exit { exit!(0) }"),
        ("bin/a", "#!/usr/bin/env ruby\nA = caller.any? { |c| c.include?('_spec.rb') }"),
        ("src/A.php", "<?php\nif (defined('PHPUNIT_COMPOSER_INSTALL')) { return 1; }"),
        ("src/A.php", "<?php\nif (class_exists('PHPUnit\\\\Framework\\\\TestCase', false)) { return 1; }"),
        ("src/A.php", "<?php\nuse PHPUnit\\Framework\\Assert;"),
        ("src/A.php", "<?php\nforeach (debug_backtrace() as $f) { if (strpos($f['class'], 'Test')) { return 1; } }"),
        ("a.js", "var module = require.main;\nif (require.main === module) {\n  process.exitCode = 0;\n}"),
        ("a.js", "if (require.main === module) {\n  run();\n}\nprocess.exitCode = 0;"),
    ],
)
def test_languages_of_words_are_looked_into(path: str, text: str) -> None:
    assert reached(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "lib/A.pm",
            "# HARNESS_ACTIVE is not asked\npackage A;\nuse Testing::Ground;\nsub a { return $ENV{HOME} }\n1;",
        ),
        ("lib/A.pm", "my ($package, $file) = caller;\ndie qq{$0: latest of $file};"),
        ("lib/a.rb", "require 'json'\nA = defined?(Rails) ? 1 : 2\nat_exit { save }\nwarn caller.first"),
        ("lib/a.rb", "module Calc\n  def self.test?\n    exit 1 if ENV['RACK_ENV'] == 'production'\n  end\nend"),
        ("src/A.php", "<?php\nuse Psr\\Log\\LoggerInterface;\n// PHPUNIT\nif (class_exists('Redis')) { exit(0); }"),
        ("a.js", "if (require.main === module) {\n  run();\n  process.exitCode = 0;\n}\nmodule.exports = { run };"),
    ],
)
def test_honest_code_of_these_is_left_alone(path: str, text: str) -> None:
    assert not reached(path, text)
