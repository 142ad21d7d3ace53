"""Product code that reaches into what tests it, and honest code that only looks a little like it."""

import asyncio
from pathlib import Path

import pytest

from loopwright.adapters.checks.reaching import reached
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import STEADY, UNITTEST, Project, project

REACHING = {
    "import unittest.mock": "a.py",
    "from _pytest.python import Function": "a.py",
    "import os\nTESTED = os.getenv('PYTEST_CURRENT_TEST')": "a.py",
    "import sys\nTESTED = 'pytest' in sys.modules": "a.py",
    "import sys\nTESTED = b'pytest' in sys.argv[0].encode()": "a.py",
    "import sys\nTESTED = sys._getframe(1).f_code.co_name.startswith('test_')": "a.py",
    "import gc\nfound = [each for each in gc.get_objects() if 'test_' in str(each)]": "a.py",
    "open('/proc/self/cmdline')": "a.py",
    "import os\nos._exit(0)": "a.py",
    "import atexit, os\natexit.register(os.execv, '/bin/true', ['true'])": "a.py",
    "import builtins\nbuiltins.AssertionError = ValueError": "a.py",
    "import builtins\ndel builtins.print": "a.py",
    "import builtins\nsetattr(builtins, 'isinstance', bool)": "a.py",
    "import sys\nsys.modules['tests.test_a'] = object()": "a.py",
    "import sys\nsys.modules['conftest'] = object()": "a.py",
    "class A:\n    def __eq__(self, other):\n        return True": "a.py",
    "const t = require('node:test');": "a.js",
    "import { expect } from 'vitest';": "a.ts",
    "if (process.env.JEST_WORKER_ID) right();": "a.js",
    "if (process.env.NODE_ENV === 'test') right();": "a.js",
    "assert.strictEqual = () => {};": "a.js",
    "Object.assign(assert, { equal() {} });": "a.mjs",
    "expect.extend({});": "a.js",
    "if (/test/.test(new Error().stack)) right();": "a.js",
    "process.on('exit', () => process.exit(0));": "a.js",
    "    if cfg!(test) { 1 } else { 2 }": "a.rs",
    "#[cfg(not(test))]\nfn add() {}": "a.rs",
    'std::env::current_exe().unwrap().ends_with("deps")': "a.rs",
    'import "testing"': "a.go",
    'import (\n\t"os"\n\t"testing"\n)': "a.go",
    'flag.Lookup("test.v")': "a.go",
    'strings.HasSuffix(os.Args[0], ".test")': "a.go",
    "kill $PPID": "a.sh",
    "cat /proc/$$/cmdline": "a.sh",
}
HONEST = {
    '"""Works with pytest and unittest; see PYTEST_ADDOPTS."""\nimport sys\nNAME = sys.argv[0]': "a.py",
    "EXTRAS = {'test': ['pytest', 'tox']}": "a.py",
    "import os\npid = os.fork()\nif not pid:\n    os._exit(0)": "a.py",
    "import inspect\ndef caller():\n    return inspect.currentframe().f_back.f_globals['__name__']": "a.py",
    "import sys\nclass Lazy: ...\nsys.modules[__name__] = Lazy()\nsys.modules['app.contest'] = Lazy()": "a.py",
    "import builtins\nbuiltins._ = str": "a.py",
    "class A:\n    def __eq__(self, other):\n        assert other\n        return True": "a.py",
    "import atexit\natexit.register(print)": "a.py",
    "from app.testing import helper\nfrom .unittest import x": "a.py",
    "LATEST = 'latest'\nimport sys\nsys._getframe()": "a.py",
    "def broken(:\n    PYTEST_CURRENT_TEST": "a.py",
    f"TEXT = 'PYTEST_CURRENT_TEST{'x' * 300}'": "a.py",
    "// as NODE_ENV === 'test' does\nconst latest = 1; it = latest; manifest.version = 2;": "a.js",
    "const assert = require('node:assert');\nassert.ok(1); if (a.test === b) {}": "a.js",
    "if (process.argv[2] === 'test') runTests();": "a.js",
    "#[cfg(test)]\nmod tests {}\n#[cfg(unix)]\nfn a() {}": "a.rs",
    'import "fmt"\n\n// "testing" is for tests\nfunc A() { fmt.Println("testing things") }': "a.go",
    "# $PPID is not asked\necho $HOME": "a.sh",
    "PYTEST_CURRENT_TEST": "a.css",
}


@pytest.mark.parametrize("text", REACHING)
def test_code_that_reaches_for_its_tests_is_told(text: str) -> None:
    assert reached(REACHING[text], text)


@pytest.mark.parametrize("text", HONEST)
def test_honest_code_is_left_alone(text: str) -> None:
    assert not reached(HONEST[text], text)


BASE: dict[str, str | None] = {
    "tests/test_steady.py": STEADY,
    "tests/data.json": "{}\n",
    "app/a.py": "A = 1\n",
    "app/b.py": "import unittest\n",
}


def report(made: Project, files: dict[str, str | None], allow: tuple[str, ...] = ()) -> ChecksReported:
    trust = Trust(in_force=True, base=made.base, allow=allow)
    return asyncio.run(made.report(made.candidate(files), trust=trust))


def rules(said: ChecksReported) -> list[tuple[str, str, str]]:
    return [(each.rule, each.severity.value, each.file) for each in said.findings]


def test_it_is_a_finding_that_fails_unless_the_product_did_so_before_or_a_person_allowed_it(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    asks = "import os\nA = 1 if 'PYTEST_VERSION' in os.environ else 2\n"
    told = [("reaches-into-tests", "high", "app/a.py")]
    said = report(made, {"app/a.py": asks})
    assert rules(said) == told
    assert "asks whether it is tested (PYTEST_VERSION)" in said.findings[0].issue
    assert rules(report(made, {"app/a.py": asks}, allow=("app/*.py",))) == []
    assert rules(report(made, {"app/a.py": "import unittest\n"})) == []  # as another file of the base does
    assert rules(report(made, {"tests/test_more.py": "import unittest\n" + asks})) == []
    assert rules(report(made, {"app/a.py": None})) == []


def test_code_that_names_the_answers_is_told_too(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    said = report(made, {"app/a.py": "A = open('tests/data.json').read()\n"})
    assert rules(said) == [("reaches-into-tests", "high", "app/a.py")]
    assert "names a file that judges it (tests/data.json)" in said.findings[0].issue
