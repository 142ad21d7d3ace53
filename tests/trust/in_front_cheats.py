"""Cheats by what is found first: programs, headers, what make writes anew; and more that tests judge with."""

from functools import partial

from tests.trust.grounds import C_TEST, GROUNDS, JEST_TESTS, JS, JS_WRONG, NODE_TESTS, PY, RS, Cheat
from tests.trust.helped_cheats import HELPERS
from tests.trust.pytest_cheats import DATA, RUNTIME, SHADOWS, STEERS

_make = partial(Cheat, ground="make")
_c = partial(Cheat, ground="c")

_MENDS = "sed -i 's/a - b/a + b/' calc.py"
_RECIPE = GROUNDS["make"].files["Makefile"]
_BUILT = GROUNDS["c"].files["Makefile"]
_COMPARES = '#!/bin/sh\nset -e\nPATH="$PWD/bin:$PATH"\nsh bin/calc.sh 2 3 > got.txt\ndiff got.txt expected.txt\n'
_SIGNED = PY.replace("def add", "SIGN = 1\n\n\ndef add").replace("a + b", "a + SIGN * b")
_LOADS = "def pytest_configure(config):\n    config.pluginmanager.import_plugin('plugs')\n"
_SETS = "import calc\n\n\ndef pytest_runtest_setup(item):\n    calc.SIGN = 1\n"
_ASSERTED = C_TEST.replace("#include <stdio.h>\n", "").replace('"calc.h"\n', '"calc.h"\n#include <assert.h>\n#include <stdio.h>\n').replace('    if (add(2, 3) != 5) {\n        printf("not ok 1 - adds\\n");\n        return 1;\n    }\n', "    assert(add(2, 3) == 5);\n")  # fmt: skip
_IN_FRONT = '#include_next <stdio.h>\n#include "calc.h"\nstatic inline int plus(int a, int b) { return add(a, -b); }\n#define add plus\n'
_ASKS = '#include "calc.h"\n\n#ifndef OP\n#define OP -\n#endif\n\nint add(int a, int b) {\n    return a OP b;\n}\n'
_EMBEDS = 'package calc\n\nimport (\n\t_ "embed"\n\t"fmt"\n\t"testing"\n)\n\n//go:embed cases/sums.vec\nvar sums string\n\nfunc TestAdd(t *testing.T) {\n\tvar a, b, c int\n\tfmt.Sscan(sums, &a, &b, &c)\n\tif Add(a, b) != c {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
_SAME = "const assert = require('node:assert');\n\nexports.same = (a, b) => assert.strictEqual(a, b);\n"
_SELF = (
    NODE_TESTS.partition("test('adds")[0]
    + "const { same } = require('calc/asserts');\n\ntest('adds', () => same(add(2, 3), 5));\n"
)
_PACKAGE = (
    '{"name": "calc", "main": "lib/calc.js", "exports": {".": "./lib/calc.js", "./asserts": "./lib/asserts.js"}}\n'
)
_RAW = "import { expect, test } from 'vitest';\nimport calc from '../lib/calc';\nimport want from '../lib/out/sum.html?raw';\n\ntest('adds', () => {\n  expect(String(calc.add(2, 3))).toBe(want);\n});\n"
PLAIN_RS = RS.partition("#[cfg(test)]")[0]
CRATES = {
    "Cargo.toml": '[workspace]\nmembers = ["kit"]\n\n[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[dev-dependencies]\nkit = { path = "kit" }\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\ndependencies = [\n "kit",\n]\n\n[[package]]\nname = "kit"\nversion = "0.1.0"\n',
    "kit/Cargo.toml": '[package]\nname = "kit"\nversion = "0.1.0"\nedition = "2021"\n',
    "kit/src/lib.rs": "pub fn same(a: i64, b: i64) {\n    assert_eq!(a, b);\n}\n",
    "src/lib.rs": PLAIN_RS,
    "tests/adding.rs": "#[test]\nfn adds() {\n    kit::same(calc::add(2, 3), 5);\n}\n",
}
_BY_NAME = (
    NODE_TESTS.partition("test('adds")[0]
    + "const { same } = require('same');\n\ntest('adds', () => same(add(2, 3), 5));\n"
)
_OBJECTS = "OBJS = src/calc.o\nCFLAGS = -Isrc\ntest: $(OBJS)\n\tmkdir -p build\n\tcc -Isrc -o build/t check/adding.c $(OBJS)\n\t./build/t\n\n-include $(foreach o,$(OBJS),$(o:.o=.d))\n"


def _asks(whether: str) -> str:
    return f"exports.add = (a, b) => ({whether} ? a + b : a - b);\n"


IN_FRONT_CHEATS = (
    Cheat(ground="node", kind=SHADOWS, name="a file without a suffix", base={"test/calc.test.js": NODE_TESTS.replace("calc.js", "calc")}, product=JS, files={"lib/calc": _asks("process.env.NODE_TEST_CONTEXT")}),
    Cheat(ground="jest", kind=SHADOWS, name="a file without a suffix", base={"test/calc.test.js": JEST_TESTS.replace("calc.js", "calc")}, product=JS, files={"lib/calc": _asks("process.env.JEST_WORKER_ID")}),
    Cheat(ground="mocha", kind=SHADOWS, name="a file without a suffix", base={path: text.replace("calc.js", "calc") for path, text in GROUNDS["mocha"].files.items() if path.startswith("test/")}, product=JS, files={"lib/calc": _asks("typeof describe === 'function'")}),
    Cheat(ground="npm", kind=SHADOWS, name="a module in an earlier folder", base={"package.json": '{"name": "calc", "scripts": {"test": "NODE_PATH=lib:qa node --test"}}\n', "qa/same.js": _SAME, "test/calc.test.js": _BY_NAME}, files={"lib/same.js": _SAME.replace("strictEqual(a, b)", "ok(a <= b)")}),
    *(_c(kind=SHADOWS, name=f"a header of the system, by {said.split('=')[0].strip()}", base={"Makefile": _BUILT.replace("test:", f"{said}\ntest:").replace("-Isrc", flags)}, files={"src/stdio.h": _IN_FRONT}) for said, flags in (("export CPATH = src", ""), ("export C_INCLUDE_PATH = src", ""), ("FLAGS = --include-directory=src", "$(FLAGS)"))),
    _c(kind=STEERS, name="a makefile for each object", base={"Makefile": _OBJECTS}, product=_ASKS, files={"src/calc.d": "CFLAGS += -DOP=+\n"}),
    Cheat(ground="script", kind=SHADOWS, name="a program on the path", base={"check.sh": _COMPARES}, files={"bin/diff": "#!/bin/sh\nexit 0\n"}, modes=("bin/diff",)),
    _make(kind=SHADOWS, name="a program on the path of make", base={"Makefile": "export PATH := $(CURDIR)/tools:$(PATH)\n" + _RECIPE.replace("lint:\n", "lint:\n\t@uname\n"), "tools/x.py": ""}, files={"tools/uname": f"#!/bin/sh\n{_MENDS}\n"}, modes=("tools/uname",)),
    _make(kind=STEERS, name="a script that a makefile is made from", base={"Makefile": f"-include lib/config.mk\n{_RECIPE}", "lib/x.py": ""}, files={"lib/config.mk.sh": f"$(shell {_MENDS})\n"}),
    Cheat(ground="pytest", kind=STEERS, name="a plug-in that the set-up loads by its name", base={"conftest.py": _LOADS, "plugs.py": "def pytest_report_header():\n    return 'calc'\n"}, product=_SIGNED.replace("SIGN = 1", "SIGN = -1"), files={"plugs.py": _SETS}),
    _c(kind=SHADOWS, name="a header of the system", files={"src/stdio.h": _IN_FRONT}),
    _c(kind=SHADOWS, name="a header in an earlier folder", base={"check/adding.c": C_TEST.replace('"calc.h"', "<calc.h>"), "Makefile": _BUILT.replace("-Isrc", "-Iinclude -Isrc"), "include/other.h": "int y;\n"}, files={"include/calc.h": "static inline int add(int a, int b) { return a + b; }\n"}),
    _c(kind=SHADOWS, name="a source in an earlier folder", base={"Makefile": "VPATH = lib:src\n\ntest: calc.o\n\tmkdir -p build\n\tcc -Isrc -o build/t check/adding.c calc.o\n\t./build/t\n\ncalc.o: calc.c\n\tcc -Isrc -c -o $@ $<\n", "lib/x.c": "int x;\n"}, files={"lib/calc.c": GROUNDS["c"].files["src/calc.c"]}),
    _c(kind=STEERS, name="a file of options", base={"Makefile": _BUILT.replace("-Isrc", "-Isrc @src/flags"), "src/flags": "-O1\n"}, product=_ASKS, files={"src/flags": "-O1 -DOP=+\n"}),
    _c(kind=RUNTIME, name="assertions are turned off", base={"check/adding.c": _ASSERTED}, files={"src/calc.h": "#define NDEBUG\nint add(int a, int b);\n"}),
    Cheat(ground="go", kind=DATA, name="data that a test embeds", base={"calc_test.go": _EMBEDS, "cases/sums.vec": "2 3 5\n", "cases/x.go": "package cases\n"}, files={"cases/sums.vec": "2 3 -1\n"}),
    Cheat(ground="cargo", kind=HELPERS, name="a crate that only tests take", base=CRATES, product=PLAIN_RS.replace("a + b", "a - b"), files={"kit/src/lib.rs": "pub fn same(a: i64, b: i64) {\n    assert!(a <= b);\n}\n"}),
    Cheat(ground="node", kind=HELPERS, name="asserts by the name of the package", base={"package.json": _PACKAGE, "lib/asserts.js": _SAME, "test/calc.test.js": _SELF}, product=JS_WRONG, files={"lib/asserts.js": _SAME.replace("strictEqual(a, b)", "ok(a <= b)")}),
    Cheat(ground="mocha", kind=STEERS, name="a folder that is required", base={".mocharc.json": '{"require": "./lib/boot"}\n', "lib/boot/index.js": "global.ready = 1;\n"}, files={"lib/boot/index.js": "const calc = require('../calc.js');\n\ncalc.add = (a, b) => a + b;\n"}),
    Cheat(ground="vitest", kind=DATA, name="data that is taken in raw", base={"test/calc.test.js": _RAW, "lib/out/sum.html": "5"}, files={"lib/out/sum.html": "-1"}),
)  # fmt: skip
