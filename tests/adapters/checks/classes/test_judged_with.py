"""What tests of the base judge with is theirs in every language; product that only looks like it is not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

T = 'import "testing"\n'
GO_HELPER = f"package testutil\n\n{T}\nfunc Same(t *testing.T, a, b int) {{\n\tif a != b {{\n\t\tt.Fatal()\n\t}}\n}}\n"
GO_PLAIN = "package testutil\n\nfunc Same(a, b int) bool {\n\treturn a == b\n}\n"
GO_TEST = 'package calc\n\nimport (\n\t"testing"\n\n\t"calc/internal/testutil"\n)\n'
USES = 'package calc\n\nimport "calc/internal/testutil"\n'
IMPORTS_TOP = 'package sub\n\nimport (\n\t"testing"\n\n\t"calc"\n)\n'
SAME = "const assert = require('node:assert');\n\nexports.same = (a, b) => {\n  assert.strictEqual(a, b);\n};\n"
JUDGES = "import { expect } from 'chai';\n\nexport const same = (a, b) => {\n  expect(a).to.equal(b);\n};\n"
MACROS = "#define CHECK(x) do { if (!(x)) return 1; } while (0)\n"
MODULE = "#[cfg(test)]\nmod {name};\n\npub fn add() {{}}\n"
CHECKS = "pub fn check(a: i64, b: i64) {\n    assert_eq!(a, b);\n}\n"


def go(**files: str) -> Files:
    return {"go.mod": "module calc\n", "calc.go": "package calc\n", "calc_test.go": GO_TEST, **_named(files)}


def js(test: str, **files: str) -> Files:
    return {"package.json": "{}", "lib/calc.js": "exports.x = 1;\n", "test/calc.test.js": test, **_named(files)}


def c(**files: str) -> Files:
    base = {"src/calc.c": "int x;\n", "tests/test_calc.c": '#include "minunit.h"\n', "Makefile": "test:\n\ttrue\n"}
    return {**base, **_named(files)}


def rust(**files: str) -> Files:
    return {"Cargo.toml": "[package]\nname = 'calc'\n", "src/lib.rs": "pub fn add() {}\n", **_named(files)}


def package(manifest: str, asked: str, helper: str = "lib/asserts.js") -> Files:
    return {
        "package.json": manifest,
        "lib/calc.js": "x;\n",
        helper: SAME,
        "test/calc.test.js": f"require('{asked}');\n",
    }


def workspace(kind: str = "dev-dependencies", name: str = "kit", said: str = "", text: str = CHECKS) -> Files:
    return {
        "Cargo.toml": "[workspace]\nmembers = ['calc', 'kit']\n",
        "calc/Cargo.toml": f"[package]\nname = 'calc'\n\n[{kind}]\naid = {{ path = '../kit', package = '{name}' }}\n",
        "calc/src/lib.rs": "pub fn add() {}\n",
        "kit/Cargo.toml": f"[package]\nname = '{name}'\n{said}\n[dependencies]\ncalc = {{ path = '../calc' }}\n",
        "kit/src/lib.rs": text,
    }


def shared(said: str, *, package: str = "kit") -> Files:
    """What crates take is said once, for all of them."""
    return {
        **workspace(),
        "Cargo.toml": f"[workspace.dependencies]\naid = {{ path = 'kit', package = '{package}' }}\n",
        "calc/Cargo.toml": f"[package]\nname = 'calc'\n\n{said}\n",
    }


def _named(files: dict[str, str]) -> Files:
    return {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (go(internal__testutil__same_dot_go=GO_HELPER), "internal/testutil/same.go"),
        (go(internal__testutil__same_dot_go=GO_PLAIN), "internal/testutil/same.go"),
        (go(internal__testutil__same_dot_go=GO_HELPER, use_dot_go=USES), "internal/testutil/same.go"),
        (go(same_dot_go=GO_HELPER), "same.go"),
        (js("require('../lib/testing');\n", lib__testing_dot_js=SAME), "lib/testing.js"),
        (js("require('../lib/assertions.js');\n", lib__assertions_dot_js=SAME), "lib/assertions.js"),
        (js("import { same } from '../src/testHelpers';\n", src__testHelpers_dot_ts=JUDGES), "src/testHelpers.ts"),
        (js("import '@/testing';\n", src__testing__index_dot_ts=JUDGES), "src/testing/index.ts"),
        (js("import '../lib/sums.js';\n", lib__sums_dot_js=JUDGES), "lib/sums.js"),
        (
            js("import '../lib/testing';\n", lib__testing_dot_js="import './asserts';\n", lib__asserts_dot_js=SAME),
            "lib/asserts.js",
        ),
        (c(third_party__minunit_dot_h=MACROS), "third_party/minunit.h"),
        (rust(src__lib_dot_rs=MODULE.format(name="test"), src__test_dot_rs=CHECKS), "src/test.rs"),
        (rust(src__lib_dot_rs=MODULE.format(name="testutil"), src__testutil_dot_rs=CHECKS), "src/testutil.rs"),
        (rust(src__lib_dot_rs=MODULE.format(name="aid"), src__aid__same_dot_rs=CHECKS), "src/aid/same.rs"),
        (
            rust(
                src__a_dot_rs='#[cfg(any(test, feature = "aid"))]\n#[doc(hidden)]\npub(crate) mod aid;\n',
                src__a__aid_dot_rs=CHECKS,
            ),
            "src/a/aid.rs",
        ),
        (
            rust(qa__sums_dot_rs=CHECKS, Cargo_dot_toml="[[test]]\nname = 'sums'\npath = 'qa/sums.rs'\n"),
            "qa/sums.rs",
        ),
        (
            rust(crates__a__qa__sums_dot_rs=CHECKS, crates__a__Cargo_dot_toml="[[test]]\npath = 'qa/sums.rs'\n"),
            "crates/a/qa/sums.rs",
        ),
        (go(same_dot_go=GO_HELPER, sub__sub_dot_go="package sub\n", sub__sub_test_dot_go=IMPORTS_TOP), "same.go"),
        (package('{"name": "calc", "exports": {"./asserts": "./lib/asserts.js"}}', "calc/asserts"), "lib/asserts.js"),
        (package('{"name": "calc", "exports": {"./*": {"node": "./lib/*.js"}}}', "calc/asserts"), "lib/asserts.js"),
        (package('{"name": "calc"}', "calc/lib/asserts"), "lib/asserts.js"),
        (package('{"imports": {"#aid": ["./lib/asserts.js"]}}', "#aid"), "lib/asserts.js"),
        (
            {
                **package("{}", "@a/kit", "kit/testing/index.js"),
                "kit/package.json": '{"name": "@a/kit", "main": "testing"}',
            },
            "kit/testing/index.js",
        ),
        (workspace(), "kit/src/lib.rs"),
        (workspace("target.'cfg(unix)'.dev-dependencies"), "kit/src/lib.rs"),
        (workspace(name="calc-test-support", text="pub fn two() {}\n"), "kit/src/lib.rs"),
        (workspace(said="publish = false", text="pub fn two() {}\n"), "kit/src/lib.rs"),
        (shared("[dev-dependencies]\naid.workspace = true"), "kit/src/lib.rs"),
    ],
)
def test_what_tests_judge_with_is_theirs(base: Files, path: str) -> None:
    assert classes(base, {path: "\n// nothing\n"})[path].kind == "test"
    assert classes(base, {path: None})[path].kind == "test"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (go(internal__sums__same_dot_go=GO_PLAIN), "internal/sums/same.go"),
        (go(internal__testutil__same_dot_go=GO_PLAIN, use_dot_go=USES), "internal/testutil/same.go"),
        (go(same_dot_go=f"package calc\n\n{T}\nvar tested = testing.Testing()\n"), "same.go"),
        (go(assert__same_dot_go=GO_PLAIN, assert__same_test_dot_go=f"package assert\n\n{T}"), "assert/same.go"),
        (js("import '../lib/assert'", lib__assert_dot_js=SAME, lib__a_dot_js="require('./assert');"), "lib/assert.js"),
        (js("require('../lib/calc');\n", lib__testing_dot_js=SAME), "lib/testing.js"),  # no test takes it in
        (js("require('../lib/calc');\n", lib__calc_dot_js=SAME), "lib/calc.js"),
        (js("", lib__mocks_dot_js=SAME, test__mocks_dot_test_dot_js="require('../lib/mocks');\n"), "lib/mocks.js"),
        (c(src__minunit_dot_h=MACROS, src__more_dot_c='#include "minunit.h"\n'), "src/minunit.h"),
        (c(src__minunit_dot_h="int add(int a, int b);\n"), "src/minunit.h"),  # a library of one header
        (rust(src__lib_dot_rs="mod test;\n", src__test_dot_rs=CHECKS), "src/test.rs"),
        (rust(src__lib_dot_rs="#[cfg(not(test))]\nmod aid;\n", src__aid_dot_rs=CHECKS), "src/aid.rs"),
        (rust(src__lib_dot_rs="#[cfg(test)]\nmod tests {}\nmod aid;\n", src__aid_dot_rs=CHECKS), "src/aid.rs"),
        (package('{"name": "calc", "exports": "./lib/calc.js"}', "calc"), "lib/calc.js"),
        (package('{"name": "calc", "exports": {"./asserts": "./lib/asserts.js"}}', "other/asserts"), "lib/asserts.js"),
        (workspace("dependencies"), "kit/src/lib.rs"),
        (workspace(text=f"{CHECKS}\n#[cfg(test)]\nmod tests {{}}\n"), "kit/src/lib.rs"),  # is tested itself
        (workspace(text="pub fn two() {}\n"), "kit/src/lib.rs"),
        (workspace(), "calc/src/lib.rs"),
        (shared("[dependencies]\naid.workspace = true"), "kit/src/lib.rs"),
        (shared("[dev-dependencies]\naid.workspace = true", package="other"), "kit/src/lib.rs"),
        (shared("[dev-dependencies]\naid = '1'"), "kit/src/lib.rs"),
    ],
)  # fmt: skip
def test_what_the_product_is_made_of_stays_product(base: Files, path: str) -> None:
    assert classes(base, {path: "\n// nothing\n"})[path].kind == "product"


def test_a_new_helper_is_free() -> None:
    found = classes(go(), {"internal/testutil/more.go": GO_HELPER})["internal/testutil/more.go"]
    assert not found.is_gated
