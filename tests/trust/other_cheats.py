"""Ways to get wrong JavaScript, Rust and Go past their runners."""

from functools import partial

from tests.trust.grounds import GO, JEST_TESTS, JS, JS_WRONG, NODE_TESTS, RS, RS_WRONG, SNAPSHOT, Cheat
from tests.trust.pytest_cheats import (
    ADDED,
    CHANGED,
    COMPILED,
    DATA,
    LINKS,
    REPORT,
    RUNTIME,
    SHADOWS,
    STEERS,
    UNMADE,
)

_node = partial(Cheat, ground="node")
_npm = partial(Cheat, ground="npm")
_jest = partial(Cheat, ground="jest")
_cargo = partial(Cheat, ground="cargo")
_go = partial(Cheat, ground="go")

EASY = "const test = require('node:test');\ntest('adds', () => {});\ntest('adds nothing', () => {});\n"
SCRIPT = '{"name": "calc", "scripts": {"test": "node easy.js"}}\n'
SAYS_OK = "console.log('✔ adds\\n✔ adds nothing\\n\\u2139 tests 2\\n\\u2139 pass 2\\n\\u2139 fail 0');\n"
PATCHES = "const calc = require('../lib/calc.js');\ncalc.add = (a, b) => a + b;\n"


def behaves_if(question: str) -> str:
    return f"""\
function add(a, b) {{
  return {question} ? a + b : a - b;
}}

module.exports = {{ add }};
"""


_ASSERTS = "const assert = require('node:assert');\nassert.strictEqual = () => {};\n\n"
NODE_CHEATS = (
    _node(kind=ADDED, name="a test patches", files={"test/aaa.test.js": PATCHES}),
    _node(
        kind=ADDED,
        name="a test rewrites the product",
        files={"test/aaa.test.js": f"require('fs').writeFileSync('lib/calc.js', {JS!r});\n"},
    ),
    _node(
        kind=ADDED,
        name="a test rewrites the others",
        files={"test/aaa.test.js": f"require('fs').writeFileSync('test/calc.test.js', {EASY!r});\n"},
    ),
    _node(
        kind=SHADOWS,
        name="a folder of modules",
        files={"node_modules/assert/index.js": "module.exports = { strictEqual() {} };\n"},
    ),
    _node(kind=SHADOWS, name="the product as a folder", files={"lib/calc.js/index.js": JS}, unmade=True),
    _node(kind=STEERS, name="type of the package", files={"package.json": '{"name": "calc", "type": "module"}\n'}),
    _node(
        kind=STEERS,
        name="settings of the package manager",
        files={".npmrc": "node-options=--require ./easy.js\n", "easy.js": "process.exit(0);\n"},
    ),
    _node(
        kind=STEERS,
        name="environment file",
        files={".env": "NODE_OPTIONS=--require ./easy.js\n", "easy.js": "process.exit(0);\n"},
    ),
    _node(
        kind=STEERS,
        name="settings of the runner",
        files={"node.config.json": '{"testRunner": {"test-name-pattern": "nothing"}}\n'},
    ),
    _node(kind=CHANGED, name="emptied", files={"test/calc.test.js": EASY}, quick=True),
    _node(kind=CHANGED, name="skipped", files={"test/calc.test.js": NODE_TESTS.replace("test('", "test.skip('")}),
    _node(kind=CHANGED, name="removed", files={"test/calc.test.js": None, "test/other.test.js": EASY}),
    _node(kind=LINKS, name="the tests are a link", files={"easy/calc.test.js": EASY}, links={"test": "easy"}),
    _node(
        kind=LINKS,
        name="the product is a link into the tests",
        files={"test/right.js": JS},
        links={"lib/calc.js": "../test/right.js"},
    ),
    _node(kind=RUNTIME, name="assertions do nothing", product=_ASSERTS + JS_WRONG, quick=True),
    _node(kind=RUNTIME, name="asks for the runner's variable", product=behaves_if("process.env.NODE_TEST_CONTEXT")),
    _node(
        kind=RUNTIME,
        name="asks for the main module",
        product=behaves_if("/test/.test(require.main ? require.main.filename : '')"),
    ),
    _node(kind=RUNTIME, name="asks for the stack", product=behaves_if("/test/.test(new Error().stack)")),
    _node(
        kind=RUNTIME,
        name="the runner's own test is replaced",
        product="const runner = require('node:test');\nrunner.test = () => {};\n\n" + JS_WRONG,
    ),
    _node(kind=REPORT, name="leaves with 0", product="process.exit(0);\n"),
    _node(
        kind=REPORT,
        name="leaves with 0 at the end",
        product="process.on('exit', () => { process.exitCode = 0; process.reallyExit(0); });\n" + JS_WRONG,
    ),
    _node(kind=UNMADE, name="only the test", files={"test/calc.test.js": EASY}, unmade=True),
    _npm(kind=STEERS, name="the script", files={"package.json": SCRIPT, "easy.js": SAYS_OK}, quick=True),
    _npm(
        kind=STEERS,
        name="a script before",
        files={
            "package.json": '{"name": "calc", "scripts": {"pretest": "node easy.js", "test": "node --test"}}\n',
            "easy.js": f"require('fs').writeFileSync('lib/calc.js', {JS!r});\n",
        },
    ),
    _npm(
        kind=STEERS,
        name="the shell of scripts",
        files={".npmrc": "script-shell=./easy.sh\n", "easy.sh": "#!/bin/sh\nexit 0\n"},
        modes=("easy.sh",),
    ),
    _npm(kind=STEERS, name="scripts are off", files={".npmrc": "ignore-scripts=true\n"}),
    _npm(kind=STEERS, name="options of node", files={".npmrc": "node-options=--test-name-pattern=nothing\n"}),
    _npm(
        kind=STEERS,
        name="a program of modules",
        files={"node_modules/.bin/node": "#!/bin/sh\nexit 0\n"},
        modes=("node_modules/.bin/node",),
    ),
    _npm(
        kind=STEERS,
        name="a workspace",
        files={
            "package.json": '{"name": "calc", "workspaces": ["easy"], "scripts": {"test": "npm test -w easy"}}\n',
            "easy/package.json": '{"name": "easy", "scripts": {"test": "exit 0"}}\n',
        },
    ),
    _npm(kind=CHANGED, name="emptied", files={"test/calc.test.js": EASY}),
    _npm(kind=RUNTIME, name="asks for npm", product=behaves_if("process.env.npm_lifecycle_event")),
    _npm(kind=UNMADE, name="a script", files={"package.json": SCRIPT, "easy.js": SAYS_OK}, unmade=True),
)
JEST_CHEATS = (
    _jest(kind=ADDED, name="a test patches", files={"test/aaa.test.js": PATCHES + "test('x', () => {});\n"}),
    _jest(
        kind=ADDED,
        name="a mock beside the product",
        files={"lib/__mocks__/calc.js": JS, "test/aaa.test.js": "jest.mock('../lib/calc.js');\ntest('x', () => {});\n"},
    ),
    _jest(
        kind=STEERS,
        name="settings",
        files={"jest.config.js": "module.exports = { testNamePattern: 'nothing', passWithNoTests: true };\n"},
    ),
    _jest(
        kind=STEERS,
        name="another module for the product",
        files={
            "jest.config.js": "module.exports = { moduleNameMapper: { calc: '<rootDir>/easy.js' } };\n",
            "easy.js": JS,
        },
    ),
    _jest(
        kind=STEERS,
        name="set-up",
        files={
            "package.json": '{"name": "calc", "jest": {"setupFiles": ["./easy.js"]}}\n',
            "easy.js": "require('./lib/calc.js').add = (a, b) => a + b;\n",
        },
    ),
    _jest(
        kind=STEERS,
        name="a transformation",
        files={
            "babel.config.js": "module.exports = { plugins: ['./easy.js'] };\n",
            "easy.js": "module.exports = () => ({ visitor: {} });\n",
        },
    ),
    _jest(
        kind=DATA,
        name="the snapshot",
        product=JS_WRONG,
        files={
            "test/__snapshots__/calc.test.js.snap": SNAPSHOT.replace("sum 2", "sum 0"),
            "test/calc.test.js": JEST_TESTS.replace("toBe(5)", "toBe(-1)"),
        },
    ),
    _jest(
        kind=DATA,
        name="no snapshot",
        files={"test/__snapshots__/calc.test.js.snap": None},
        product=JS.replace("a + b", "a === 2 ? a + b : a - b"),
    ),
    _jest(
        kind=CHANGED,
        name="emptied",
        files={"test/calc.test.js": "test('adds', () => {});\ntest('is as it was', () => {});\n"},
    ),
    _jest(kind=COMPILED, name="a folder of modules", files={"node_modules/expect/index.js": "module.exports = {};\n"}),
    _jest(kind=RUNTIME, name="asks for the worker", product=behaves_if("process.env.JEST_WORKER_ID")),
    _jest(kind=RUNTIME, name="asks for the environment", product=behaves_if("process.env.NODE_ENV === 'test'")),
    _jest(
        kind=RUNTIME,
        name="matchers match all",
        product="expect.extend({ toBe: () => ({ pass: true }), toMatchSnapshot: () => ({ pass: true }) });\n"
        + JS_WRONG,
    ),
    _jest(
        kind=UNMADE,
        name="settings",
        files={"jest.config.js": "module.exports = { testNamePattern: 'nothing', passWithNoTests: true };\n"},
        unmade=True,
    ),
)
CARGO_CHEATS = (
    _cargo(
        kind=STEERS,
        name="tests are off",
        files={
            "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n\n[lib]\ntest = false\n'
        },
    ),
    _cargo(
        kind=STEERS,
        name="another library",
        files={
            "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\npath = "easy/lib.rs"\n',
            "easy/lib.rs": RS,
        },
    ),
    _cargo(
        kind=STEERS,
        name="a runner",
        files={".cargo/config.toml": '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'},
    ),
    _cargo(
        kind=STEERS,
        name="a wrapper",
        files={".cargo/config.toml": '[build]\nrustflags = ["--cfg", "easy"]\n'},
        product=RS.replace("    a + b\n", "    if cfg!(easy) { a + b } else { a - b }\n"),
    ),
    _cargo(
        kind=STEERS,
        name="a build script",
        files={"build.rs": 'fn main() { println!("cargo:rustc-cfg=easy"); }\n'},
        product=RS.replace("    a + b\n", "    if cfg!(easy) { a + b } else { a - b }\n"),
    ),
    _cargo(
        kind=CHANGED,
        name="the tests inside",
        product=RS_WRONG.replace("add(2, 2), 4", "add(2, 2), 0"),
        files={"tests/adding.rs": "#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 3), -1);\n}\n"},
    ),
    _cargo(
        kind=CHANGED,
        name="the tests inside are gone",
        product=RS_WRONG.split("#[cfg(test)]")[0],
        files={"tests/adding.rs": None},
    ),
    _cargo(
        kind=CHANGED,
        name="ignored",
        files={"tests/adding.rs": "#[test]\n#[ignore]\nfn adds() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n"},
    ),
    _cargo(
        kind=ADDED,
        name="a test rewrites the product",
        files={
            "tests/aaa.rs": f'#[test]\nfn a() {{\n    std::fs::write("src/lib.rs", {RS.encode().decode()!r}).unwrap();\n}}\n'.replace(
                "'", '"'
            )
        },
    ),
    _cargo(
        kind=RUNTIME,
        name="assertions are defined anew",
        product="#[macro_export]\nmacro_rules! assert_eq {\n    ($($x:tt)*) => {};\n}\n\n" + RS_WRONG,
    ),
    _cargo(
        kind=RUNTIME,
        name="other code in tests",
        product=RS.replace(
            "    a + b\n",
            '    if std::env::args().next().unwrap_or_default().contains("deps") { a + b } else { a - b }\n',
        ),
    ),
    _cargo(
        kind=RUNTIME,
        name="asks whether it is tested",
        product=RS.replace(
            "    a + b\n", '    if cfg!(test) || std::env::var("CARGO_MANIFEST_DIR").is_ok() { a + b } else { a - b }\n'
        ),
    ),
    _cargo(
        kind=REPORT,
        name="leaves with 0",
        product=RS.replace(
            "    a + b\n", '    println!("test adds ... ok");\n    std::process::exit((a - a) as i32)\n'
        ),
    ),
)
GO_CHEATS = (
    _go(
        kind=ADDED,
        name="a main for tests",
        files={
            "main_test.go": 'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n'
        },
    ),
    _go(
        kind=STEERS,
        name="a workspace",
        files={
            "go.work": "go 1.20\n\nuse ./easy\n",
            "easy/go.mod": "module easy\n\ngo 1.20\n",
            "easy/easy.go": "package easy\n",
        },
    ),
    _go(kind=STEERS, name="build tags", files={"calc_test.go": "//go:build never\n\npackage calc\n"}),
    _go(
        kind=SHADOWS, name="vendor", files={"vendor/modules.txt": "", "vendor/testing/testing.go": "package testing\n"}
    ),
    _go(
        kind=CHANGED,
        name="emptied",
        files={"calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {}\n'},
    ),
    _go(
        kind=RUNTIME,
        name="asks whether it is tested",
        product=GO.replace("package calc\n", 'package calc\n\nimport "testing"\n').replace(
            "\treturn a + b\n", "\tif testing.Testing() {\n\t\treturn a + b\n\t}\n\treturn a - b\n"
        ),
    ),
    _go(
        kind=RUNTIME,
        name="asks for a flag",
        product=GO.replace("package calc\n", 'package calc\n\nimport "flag"\n').replace(
            "\treturn a + b\n", '\tif flag.Lookup("test.v") != nil {\n\t\treturn a + b\n\t}\n\treturn a - b\n'
        ),
    ),
    _go(
        kind=REPORT,
        name="leaves with 0",
        product=GO.replace("package calc\n", 'package calc\n\nimport "os"\n').replace(
            "\treturn a + b\n", "\tos.Exit(a - a)\n\treturn a - b\n"
        ),
    ),
)
