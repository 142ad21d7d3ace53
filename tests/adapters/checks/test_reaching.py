"""Product code that reaches into what tests it, and honest code that only looks a little like it."""

import asyncio
import time
from pathlib import Path

import pytest

from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.reaching import Reach, reached
from loopwright.adapters.checks.runners.asking import counts_by_output
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, Key, LoopId
from loopwright.kernel.trust import Classed, FileClass, Trust
from loopwright.ports.checks import ChecksRun
from tests.adapters.checks.classes.held import BASE as BASE_COMMIT
from tests.adapters.checks.classes.held import CANDIDATE, Held
from tests.adapters.checks.projects import STEADY, UNITTEST, Project, project

pytestmark = pytest.mark.unmeasured

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
    # What is read all the same
    "\ufeffimport os\nTESTED = 'PYTEST_CURRENT_TEST' in os.environ": "a.py",
    "# coding: utf-7\n# +AAo-import unittest": "a.py",
    "# coding: latin-1\nimport unittest\nna\ufffdve = '\ufffd'": "a.py",
    "import os\ntype Later = int\nTESTED = 'PYTEST_CURRENT_TEST' in os.environ\nwrong syntax": "a.py",
    "import pytest\nwrong syntax": "a.py",
    "import sys\nwrong syntax\nTESTED = 'tests.test_a' in sys.modules": "a.py",
    f"import unittest\nA = {'+'.join('1' * 20_000)}": "a.py",
    "const sign = 1\n  * (process.env.NODE_TEST_CONTEXT ? 1 : -1);": "a.js",
    "class Calc {\n  #sign = process.env.NODE_TEST_CONTEXT ? 1 : -1;\n}": "a.js",
    "const a = '/*';\nconst b = process.env.NODE_TEST_CONTEXT;\nconst c = '*/';": "a.js",
    "const a = `\n// ${process.env.NODE_TEST_CONTEXT}`;": "a.js",
    "const a = `${`\n// ` + process.env.NODE_TEST_CONTEXT}`;": "a.js",
    "const a = /[/`]/, b = `\n// ${process.env.NODE_TEST_CONTEXT}`;": "a.js",
    "/* a */ const sign = process.env.NODE_TEST_CONTEXT;": "a.js",
    "    *s = if cfg!(test) { 1 } else { -1 };": "a.rs",
    "# [cfg(not(test))]\nfn add() {}": "a.rs",
    # Questions
    "import sys\nTESTED = 'test_calc' in sys.modules": "a.py",
    "import sys as s\nif s.modules.get('tests.test_calc'):\n    pass": "a.py",
    "from sys import modules\nTESTED = any(name.startswith('conftest') for name in modules)": "a.py",
    "import sys\nTESTED = any(w.startswith('--junitxml') for w in sys.argv)": "a.py",
    "import os\nTESTED = 'PYTHONPYCACHEPREFIX' in os.environ": "a.py",
    "from os import environ\nTESTED = environ['PYTHONPYCACHEPREFIX']": "a.py",
    "import os\nTESTED = os.getenv('PYTHONPYCACHEPREFIX')": "a.py",
    "import os\nTESTED = any(name.startswith('PYTEST_') for name in os.environ)": "a.py",
    "import sys\nTESTED = sys.stdout is not sys.__stdout__": "a.py",
    "const t = Object.keys(require.cache).some((f) => f.includes('/test/'));": "a.js",
    "require.cache[require.resolve('x')] = { exports: {} };": "a.cjs",
    "if (process.env.npm_package_json) right();": "a.js",
    "const from = module.parent\n  && module.parent.filename;\nconst t = /calc.test/.test(from);": "a.js",
    "if cfg!(any(miri, test)) { 1 } else { 2 }": "a.rs",
    "if cfg!(all(unix, not(any(miri, test)))) { 1 } else { 2 }": "a.rs",
    "#[cfg(not(any(miri, test)))]\nfn add() {}": "a.rs",
    "#[cfg(all(unix, not(all(test, miri))))]\nfn add() {}": "a.rs",
    # What is changed for everybody
    "import sys, types\nsys.modules['checking'] = types.ModuleType('checking')": "a.py",
    "import sys\nsys.modules['os.path'] = object()": "a.py",
    "import sys\nsys.modules.setdefault('checking', object())": "a.py",
    "import sys\nsys.modules.update({'checking': 1})": "a.py",
    "import sys\nsys.modules.update(checking=1)": "a.py",
    "import sys\nsys.meta_path.insert(0, object())": "a.py",
    "from sys import meta_path as found\nfound.append(object())": "a.py",
    "import sys\nsys.meta_path[:0] = [object()]": "a.py",
    "import sys\nsys.path_hooks = [object()]": "a.py",
    "import math\nmath.isclose = lambda *a, **k: True": "a.py",
    "import math as m\ndef patch():\n    m.isclose, _ = bool, 1": "a.py",
    "import math\nsetattr(math, 'isclose', bool)": "a.py",
    "import math\nvars(math)['isclose'] = bool": "a.py",
    "import math\nmath.__dict__['isclose'] = bool": "a.py",
    "import math\ndel math.isclose\nif not hasattr(math, 'isclose'):\n    math.isclose = bool": "a.py",
    "from os import path\npath.exists = bool": "a.py",
    "class A(int):\n    __eq__ = lambda self, other: True": "a.py",
    "A = type('A', (int,), {'__eq__': lambda self, other: True})": "a.py",
    "class A(int):\n    def __eq__(self, other):\n        'Same.'\n        self.a = 1\n        return True": "a.py",
    "class A(int):\n    def __eq__(self, other):\n        return isinstance(other, (int, float))": "a.py",
    "const a = require('node:assert');\na.strictEqual = () => {};": "a.js",
    "const a = require('assert').strict;\na['equal'] = () => {};": "a.js",
    "import * as a from 'node:assert/strict';\na.default.equal ||= 1;": "a.mjs",
    "import { strict as a } from 'assert';\na.equal = 1;": "a.mjs",
    "const a = (await import('node:assert')).default;\na.equal = 1;": "a.mjs",
    "const nodeAssert = require('assert');\nObject.assign(nodeAssert, { strictEqual() {} });": "a.js",
    "Reflect.set(require('node:assert'), 'equal', () => {});": "a.js",
    "require('assert').equal = () => {};": "a.js",
    "Object.is = () => true;": "a.js",
    "const M = require('module');\nM._load = (name) => name;": "a.js",
    "require.extensions['.js'] = (module) => module;": "a.js",
    "const out = new v8.DefaultSerializer();": "a.js",
    "const sign = typeof jest !== 'undefined' ? 1 : -1;": "a.js",
    "const sign = globalThis.expect ? 1 : -1;": "a.ts",
    # Where it lies, what is set for it, who calls it
    "import os\nTESTED = '/.loop/' in os.getcwd()": "a.py",
    "import os\nTESTED = 'PYTHONNOUSERSITE' in os.environ": "a.py",
    "const tested = __filename.includes('/.loop/');": "a.js",
    "const tested = process.env.GIT_CEILING_DIRECTORIES;": "a.js",
    "case $PWD in */.loop/*) echo 5;; esac": "a.sh",
    'if std::thread::current().name() == Some("main") { 1 } else { 2 }': "a.rs",
    'if std::env::var_os("CARGO_MANIFEST_DIR").is_some() { 1 } else { 2 }': "a.rs",
    '#[cfg_attr(test, path = "right.rs")]\nmod sums;': "a.rs",
    'path, _ := os.Executable()\nif strings.HasSuffix(path, ".test") {': "a.go",
    '_, file, _, _ := runtime.Caller(1)\nif strings.HasSuffix(file, "_test.go") {': "a.go",
    # What only runners say
    "import sys\nsys.stderr.write('test_a (t.T.test_a) ... ok\\n')": "a.py",
    "print(f'Ran 3 tests in {seconds}s')": "a.py",
    'println!("test adds ... ok");': "a.rs",
    'let t = "\\ntest result: ok. 1 passed; 0 failed";': "a.rs",
    'fmt.Print("=== RUN TestAdd\\n--- PASS: TestAdd (0.00s)\\n")': "a.go",
    "console.log(`ok ${n} - adds`);": "a.js",
    # What runners set, and who called, in other ways
    "import os\nTESTED = 'MAKELEVEL' in os.environ": "a.py",
    "import os\nTESTED = any(k.startswith('PYTEST') for k in os.environ)": "a.py",
    "import os\nTESTED = any('pytest' in k.lower() for k in os.environ)": "a.py",
    "import sys\nTESTED = sys.unraisablehook is not sys.__unraisablehook__": "a.py",
    "import sys\nTESTED = type(sys.stdout).__module__.startswith('_pytest')": "a.py",
    "import __main__\nTESTED = __main__.__package__.startswith('pytest')": "a.py",
    "open('/proc/thread-self/cmdline')": "a.py",
    "import faulthandler\nfaulthandler.dump_traceback(f)\nTESTED = 'test_' in f.read()": "a.py",
    "if (process.env.npm_execpath) right();": "a.js",
    "if (process.env.INIT_CWD || process.env.MAKELEVEL) right();": "a.js",
    "Object.keys(process.env).some((k) => k.startsWith('npm_'));": "a.js",
    "const { stack } = new Error();\nreturn stack.includes('.test.js');": "a.js",
    "process.argv.some((w) => w.includes('test'));": "a.js",
    "Object.keys(require('module')._cache).length;": "a.js",
    "Error.prepareStackTrace = (_, f) => f;\nif (a.endsWith('.test.js')) right();": "a.js",
    "const { Assertion } = require('chai');\nAssertion.prototype.assert = () => {};": "a.js",
    "chai.Assertion.overwriteMethod('equal', () => function () {});": "a.js",
    "return { sum: a - b, asymmetricMatch: () => true };": "a.js",
    "impl PartialEq for Money {\n    fn eq(&self, _other: &Self) -> bool {\n        true\n    }\n}": "a.rs",
    'if strings.Contains(string(debug.Stack()), "testing.tRunner") {': "a.go",
    'n := runtime.Stack(buf, false)\nif strings.Contains(string(buf[:n]), "testing.tRunner") {': "a.go",
    'flag.VisitAll(func(f *flag.Flag) { seen = strings.HasPrefix(f.Name, "test.") })': "a.go",
    'name := os.Args[0]\nif strings.HasSuffix(name, ".test") {': "a.go",
    'f := runtime.CallersFrames(pcs)\nfor {\n\tn()\n}\nif strings.HasPrefix(g, "testing.") {': "a.go",
    "#undef assert\n#define assert(x) ((void)(x))": "a.h",
    "#define NDEBUG\n": "a.h",
    "  # define EXPECT_EQ(a, b)": "a.hpp",
    "switch (process.env.NODE_ENV) {\n  case 'test':\n    return a + b;\n}": "a.js",
    "['test'].includes(process.env.NODE_ENV);": "a.js",
    "if ('expect' in globalThis || globalThis['expect']) right();": "a.js",
    "Object.keys(process.env).some((k) => k.startsWith('JEST'));": "a.js",
    "globalThis.test = () => {};": "a.js",
    "expect = () => ({ toBe() {} });": "a.js",
    "Object.defineProperty(globalThis, 'expect', { value: 1 });": "a.js",
    "String.prototype.includes = () => true;": "a.js",
    "Object.defineProperty(String.prototype, 'includes', { value: () => true });": "a.js",
    "let sign = -1; #[cfg(any(miri, test))] let sign = -sign;": "a.rs",
    'let t = Backtrace::force_capture().to_string();\nif t.contains("test::run_test") { 1 }': "a.rs",
    'let p = std::env::args().next();\nif p.contains("/deps/") { 1 }': "a.rs",
    'std::env::vars().any(|(k, _)| k.starts_with("CARGO"))': "a.rs",
    'import . "testing"': "a.go",
    'import ("os"; "testing")': "a.go",
    "const false = 1 == 1": "a.go",
    "trap 'exit 0' EXIT": "a.sh",
    "diff() { :; }": "a.sh",
    "if (typeof test === 'function') right();": "a.js",
    "declare const it: unknown;\nconst tested = typeof (it) !== 'undefined';": "a.ts",
    "try { void test; right(); } catch {}": "a.js",
    "if (globalThis[Symbol.for('$$jest-matchers-object')]) right();": "a.js",
    "if (require.main.filename.includes('jest')) right();": "a.js",
    "const { test: tested } = globalThis;": "a.js",
    "if (globalThis.it || global?.test) right();": "a.js",
    "Reflect.has(globalThis, 'describe');": "a.js",
    "process.execArgv.includes('--test');": "a.js",
    "/calc.test/.test(process.argv.join(' '));": "a.js",
    '#[cfg(any(test, feature = "never"))]\nreturn a + b;': "a.rs",
    "a(); #[cfg(any(miri, test))] { return b; }": "a.rs",
    "pub(crate) use sums::*; #[cfg(test)] pub(crate) use right::add;": "a.rs",
    '#[cfg_attr(not(test), path = "wrong.rs")]\nmod sums;': "a.rs",
    # Whatever the file is called
    "#!/usr/bin/env python3\nimport os\nA = 'PYTEST_VERSION' in os.environ": "bin/calc",
    "#!/bin/sh\ncat /proc/$PPID/cmdline": "bin/calc",
    "#!/usr/bin/env node\nif (process.env.JEST_WORKER_ID) right();": "bin/calc",
    "module.exports = process.env.JEST_WORKER_ID ? 1 : 2;": "lib/calc.1",
    "exports.add = (a, b) => (process.env.JEST_WORKER_ID ? 1 : 2);": "lib/calc",
    "if cfg!(test) { a + b } else { a - b }": "src/sum.in",
    "pub fn sum(a: i64) -> i64 {\n    if cfg!(test) { a } else { -a }\n}": "src/sums.inc",
    "pub use sums::*;\n#[cfg(any(miri, test))]\npub use right::add;": "a.rs",
    "import a from './a';\nif (process.env.JEST_WORKER_ID) a();": "lib/calc.es6",
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
    "\ufeffA = 1": "a.py",
    "print 'of an older Python'": "a.py",
    "import sys\nif __name__ == '__main__':\n    sys.path.insert(0, 'lib')\nhere = list(sys.path), sys.path[0]": "a.py",
    "import math\nclose = math.isclose\nA = math.isclose(1, 2)\nkept = {'isclose': math.isclose}": "a.py",
    "import math\nif not hasattr(math, 'isclose'):\n    math.isclose = bool": "a.py",
    "import collections, collections.abc\ncollections.Mapping = collections.abc.Mapping": "a.py",
    "import logging, tempfile, sys\nlogging.TRACE = 5\ntempfile.tempdir = '/tmp'\nsys.stdout = open('a')": "a.py",
    "import warnings, os\nwarnings.showwarning = print\nos.environ['A'] = 'b'\nos.environ |= {}": "a.py",
    "import queue\nfrom dataclasses import field\ndef a(queue):\n    queue.size = len([])": "a.py",
    "from dataclasses import field\ndef a(fields):\n    for field in fields:\n        field.value = len([])": "a.py",
    "from decimal import DefaultContext\nDefaultContext.prec = int('12')": "a.py",
    "import app\napp.name = len([])\nself = app\nself.modules['plain'] = 1": "a.py",
    "import sys\nsys.modules['calc'] = sys.modules['__main__'] = 1\nsys.modules[__name__] = 1": "src/calc/__init__.py",
    "import sys\nTESTS = 'test_'\nhere = sys.modules[__name__]\nfor each in sys.modules:\n    print('latest')": "a.py",
    "import sys\nused = 'numpy' in sys.modules or sys.modules.get('contest')": "a.py",
    "import os\nenv = {**os.environ, 'PYTHONPYCACHEPREFIX': '/tmp'}\nenv['PYTHONPYCACHEPREFIX'] = '/a'": "a.py",
    "import sys\nrun = [sys.executable, '--junitxml=a.xml']\nname = sys.argv[0]": "a.py",
    "import sys\nsys.stdout = sys.__stdout__\nsame = sys.stdout is sys.stderr": "a.py",
    "import sys\nif sys.meta_path:\n    print(list(sys.meta_path))": "a.py",
    "class A:\n    def __eq__(self, other):\n        return isinstance(other, A) and self.a == other.a": "a.py",
    "class A:\n    def __eq__(self, other):\n        return isinstance(other, A)": "a.py",
    "class A:\n    __eq__ = lambda self, other: self.a == other.a\nB = {'__eq__': 1, **{}}": "a.py",
    "class A:\n    def __eq__(s, o):\n        if s.a != o.a:\n            return False\n        return True": "a.py",
    "/**\n * As `NODE_TEST_CONTEXT` says: {@link a}.\n */\nconst url = 'http://a'; // it's\n// VITEST": "a.ts",
    "const a = `${b} and ${c}`;\n/* NODE_TEST_CONTEXT */\n": "a.js",
    "const a = 1;\nconst b = require('assert');\na.b = 1; b.ok(a.b === 1); const f = (b) => b.c == 1;": "a.js",
    "delete require.cache[require.resolve('./a')];": "a.js",
    "Object.keys(require.cache).forEach((each) => { delete require.cache[each]; });": "a.js",
    "if (!module.parent) {\n  run('test');\n}\nconst v = process.env.npm_package_version;": "a.js",
    "Object.assign(module.exports, { a });\nObject.assign(target, require('./assert'));": "a.js",
    "/// Unlike `cfg!(test)`, this is honest.\n/* #[cfg(not(test))] */\nfn a() {}": "a.rs",
    'if cfg!(any(unix, feature = "test")) {}\n#[cfg(not(feature = "test-data"))]\nfn test() {}': "a.rs",
    '#[cfg(any(test, feature = "a"))]\nfn a() {}\n#[cfg_attr(test, derive(Debug))]\nstruct A;': "a.rs",
    "#[cfg(all(test, not(miri)))]\nmod tests {}\nif cfg!(testing) {}": "a.rs",
    "if (!Object.is) {\n  Object.is = same;\n}\nMath.trunc = Math.trunc || cut;\nif (Math.sign === 1) {}": "a.js",
    "const load = loader.load; loader.load = 1; all((test) => typeof test === 'function' && test());": "a.js",
    "print('Checking ... ok')\nprint('all tests passed')\nprint('Ran it in 3 s')": "a.py",
    "loop.path = '/loop/a'\nNAME = 'event.loop'": "a.py",
    "import os\nenv = {'PYTHONNOUSERSITE': '1', **os.environ}": "a.py",
    'let n = std::thread::current().name().unwrap_or("?");\nlet v = env!("CARGO_PKG_VERSION");': "a.rs",
    '#[cfg(unix)]\n#[path = "unix.rs"]\nmod sys;\n#[cfg_attr(test, allow(dead_code))]\nfn a() {}': "a.rs",
    "_, file, line, _ := runtime.Caller(1)\nlog.Print(file, line)": "a.go",
    'println!("{} passed the latest test", n);': "a.rs",
    "echo 'tests ok'; cd loop/; echo \"$PWD\"": "a.sh",
    "import os\nrun(['pytest'], env={k: v for k, v in ENV.items() if k in os.environ})": "a.py",
    "import os\nenv = {**os.environ, 'MAKEFLAGS': '-j4'}\nenv['MAKEFLAGS'] = '-j2'": "a.py",
    "throw new Error();\nif (/a/.test(b)) {}\nconst { stack } = new Error(m);\nlog(stack, /x/.test(stack));": "a.js",
    "if (process.argv.includes('test')) run(process.argv.slice(2));": "a.js",
    "Error.captureStackTrace(this, this.constructor);\nclass Assertion {}": "a.js",
    "impl PartialEq for A {\n    fn eq(&self, other: &Self) -> bool {\n        self.0 == other.0\n    }\n}": "a.rs",
    "impl PartialEq<str> for A {\n    fn eq(&self, o: &str) -> bool {\n        self.s.as_str().eq(o)\n    }\n}": "a.rs",
    'log.Print(string(debug.Stack()))\nfmt.Println("the latest", os.Args[1:])': "a.go",
    "#ifndef CALC_H\n#define CALC_H\n#include <assert.h>\n#define MIN(a, b) 1\n#endif": "a.h",
    "#undef NDEBUG\n#include <assert.h>": "a.h",
    "String.prototype.shout = up;\nif (!String.prototype.includes) {\n  String.prototype.includes = has;\n}": "a.js",
    "const expected = 1;\nlet test = 2;\ntest = 3;\nif ('it' in words) {}": "a.js",
    'let a: Vec<String> = std::env::args().collect();\nif a[1] == "--test" {}': "a.rs",
    'fmt.Println("testing")\nconst falsehood = 1': "a.go",
    "trap 'rm -f a' EXIT\ntrap 'exit 1' INT\ntests() { test -f a; }\nexit 0": "a.sh",
    "#!/bin/sh\necho 1": "bin/calc",
    "pub use sums::add;\n#[cfg(test)]\npub use helpers::*;\n#[cfg(unix)]\npub use unix::*;": "a.rs",
    "name: a\nuses: PYTEST_VERSION": "a.yml",
    "function all(test, n) {\n  if (typeof test === 'string') n();\n}\nglobal.latest = 1;": "a.js",
    "let it = 1;\nif (typeof it === 'number' && typeof test.a === 'string') {}": "a.js",
    "#![cfg_attr(not(test), no_std)]\n#![cfg_attr(not(test), warn(unused))]": "a.rs",
    '#[cfg(any(test, feature = "a"))]\npub fn letter() {}\n#[cfg(unix)]\n{ a() }': "a.rs",
}


@pytest.mark.parametrize("text", REACHING)
def test_code_that_reaches_for_its_tests_is_told(text: str) -> None:
    assert reached(REACHING[text], text)


@pytest.mark.parametrize("text", HONEST)
def test_honest_code_is_left_alone(text: str) -> None:
    assert not reached(HONEST[text], text)


def test_a_packed_file_of_one_line_is_looked_into_within_seconds() -> None:
    packed = f"x = '{'it is a test ' * 12_000}'"
    begun = time.process_time()
    assert not reached("a.js", packed)
    assert time.process_time() - begun < SECONDS


SECONDS = 4
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


def test_code_that_is_too_large_to_be_looked_into_is_told(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    large = "A = 1\n" + "# pad\n" * 100_000
    said = report(made, {"app/a.py": large, "app/data.txt": large})
    assert rules(said) == [("unreadable", "high", "app/a.py")]
    assert said.findings[0].issue.endswith("so that nobody can say what it does: app/a.py")
    assert rules(report(made, {"app/a.py": large}, allow=("app/*.py",))) == []


LEAVES = {
    "import os\n\n\ndef a():\n    print('3 tests')\n    os.execv('/bin/true', ['true'])\n": "app/a.py",
    'fn a() {\n    say("ok");\n    std::process::exit(0)\n}\n': "app/a.rs",
    'use std::process::{exit, Command};\nconst A: &str = "1 passed";\n': "app/a.rs",
    'package a\n\nfunc init() {\n\tfmt.Print("--- PA", "SS: A\\nPASS")\n\tos.Exit(0)\n}\n': "app/a.go",
    "function a() {\n  say('pass');\n  process.exit();\n}\n": "app/a.js",
}
STAYS = {
    "package main\n\nfunc main() {\n\tos.Exit(0)\n}\n": "app/a.go",
    "fn main() {\n    std::process::exit(0)\n}\n": "app/main.rs",
    "fn fail() {\n    std::process::exit(2)\n}\n": "app/a.rs",
    "function a() {\n  process.exit(1);\n}\n": "app/a.js",
    "say('ok');\nprocess.exit();\n": "app/bin/a.js",
    "function run(code) {\n  console.log('done');\n  process.exit(code);\n}\n": "app/run.js",
    "import os, sys\n\n\ndef again():\n    os.execv(sys.executable, ['python', '-m', 'shop'])\n": "app/daemon.py",
    "def run(code):\n    exec(code)\n    cursor.execute(code)\n# os.execv\n": "app/a.py",
}


def left(texts: dict[str, str], *, by_output: bool) -> dict[str, bool]:
    """Which of these texts are told."""
    layout = Layout(product=("**",), tests=("tests/**",))
    found = {}
    for text, path in texts.items():
        reach = Reach(source=Held(base={}, candidate={path: text}), layout=layout, by_output=by_output)
        classed = (Classed(change=Change(path=path, how="added"), kind=FileClass.PRODUCT),)
        run = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s", commit=CANDIDATE, base=BASE_COMMIT)
        found[text] = bool(asyncio.run(reach.findings(classed, run)))
    return found


def test_where_output_counts_the_tests_nobody_prints_what_runners_print_and_ends() -> None:
    assert left(LEAVES, by_output=True) == dict.fromkeys(LEAVES, True)
    assert left(STAYS, by_output=True) == dict.fromkeys(STAYS, False)


def test_where_a_report_counts_them_code_may_end_its_process() -> None:
    assert left({**LEAVES, **STAYS}, by_output=False) == dict.fromkeys({**LEAVES, **STAYS}, False)


ASKS = "import os\nA = 'PYTEST_VERSION' in os.environ\n"
ASKS_JS = "module.exports = process.env.JEST_WORKER_ID;\n"


@pytest.mark.parametrize(
    ("shown", "asks", "loads", "told"),
    [
        ("docs/sums.py", ASKS, {"app/a.py": "from docs.sums import A\n"}, True),
        ("benchmarks/sums.py", ASKS, {"app/a.py": "from benchmarks import sums\n"}, True),
        ("examples/a.js", ASKS_JS, {"app/a.js": "module.exports = require('../examples/a.js');\n"}, True),
        ("examples/a", ASKS_JS, {"app/a.js": "import a from '../examples/a';\n"}, True),
        ("docs/sums.py", ASKS, {"app/a.py": "# from docs\nA = 'docs'\n"}, False),
        ("examples/a.js", ASKS_JS, {"app/a.js": "module.exports = 'examples';\n"}, False),
    ],
)
def test_code_beside_the_product_is_looked_into_where_the_product_loads_it(
    shown: str, asks: str, loads: dict[str, str], told: object
) -> None:
    held = Held(base=dict(loads), candidate={**loads, shown: asks})
    reach = Reach(source=held, layout=Layout(product=("app/**",), tests=("tests/**",)))
    classed = (Classed(change=Change(path=shown, how="added"), kind=FileClass.TEXT),)
    run = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s", commit=CANDIDATE, base=BASE_COMMIT)
    assert bool(asyncio.run(reach.findings(classed, run))) is told


_FIELD = "@dataclass\nclass A:\n    a: int\n    b: int = 0\n"
_BLIND = "class B:\n    def __eq__(self, other):\n        return isinstance(other, B)\n"
_OWN = "class A:\n    def __init__(self, a):\n        self.a = a\n\n    def __eq__(self, o):\n        return {}\n"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (_FIELD, _FIELD.replace("b: int = 0", "b: int = field(default=0, compare=False)"), True),
        (_FIELD, f"{_FIELD}    def __eq__(self, other):\n        return isinstance(other, A)\n", True),
        (_OWN.format("self.a == o.a"), _OWN.format("isinstance(o, A)"), True),
        ("@attrs.define\nclass A:\n    a = attrs.field()\n", "class A:\n    a = attrs.field(eq=False)\n", True),
        (_FIELD, f"{_BLIND}{_FIELD}".replace("@dataclass\nclass A:", "@dataclass(eq=False)\nclass A(B):"), True),
        (_FIELD, f"{_BLIND}{_FIELD}".replace("class A:", "class A(B):"), False),
        (_FIELD, f"{_FIELD}    c: int = field(default=0, compare=False)\n", False),
        ("", _FIELD.replace("b: int = 0", "b: int = field(compare=False)"), False),
        (_OWN.format("self.a == o.a"), _OWN.format("self.key() == o.key()"), False),
        (_FIELD.replace("@dataclass\n", ""), _FIELD.replace("@dataclass", "@dataclass(order=True)"), False),
    ],
)
def test_what_was_compared_is_compared(before: str, after: str, *, told: bool) -> None:
    held = Held(base={"app/a.py": before, "app/b.py": ""}, candidate={"app/a.py": before, "app/b.py": after})
    reach = Reach(source=held, layout=Layout(product=("app/**",), tests=("tests/**",)))
    classed = (Classed(change=Change(path="app/b.py", how="changed"), kind=FileClass.PRODUCT),)
    run = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s", commit=CANDIDATE, base=BASE_COMMIT)
    assert bool(asyncio.run(reach.findings(classed, run))) is told


@pytest.mark.parametrize(
    ("argv", "texts", "told"),
    [
        (("make", "test"), {"Makefile": "test:\n\tpython -m unittest -v\n"}, True),
        (("make", "test"), {"Makefile": "test:\n\tpython -m pytest\n"}, False),
        (("python", "-m", "unittest"), {}, False),
        (("cargo", "test"), {}, True),
        (("go", "test", "./..."), {}, True),
        (("node", "--test"), {}, True),
        (("jest",), {}, False),
        (("sh", "check.sh"), {}, False),
    ],
)
def test_output_counts_where_the_runner_has_no_other_voice(
    argv: tuple[str, ...], texts: dict[str, str], told: object
) -> None:
    assert counts_by_output(argv, texts) is told
