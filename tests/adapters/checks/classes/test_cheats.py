"""Files that steer what judges: whatever the runner, none of them takes part in judging by an agent's word."""

import pytest

from tests.adapters.checks.classes.held import LINK, SUBMODULE, Files, classes

PYTEST = ("python", "-m", "pytest")
SRC: Files = {
    "pyproject.toml": "[project]\nname = 'calc'\n",
    "src/calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "src/calc/more.py": "x = 1\n",
    "tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
    "tests/helpers.py": "def near(a, b):\n    return a == b\n",
    "README.md": "# calc\n",
}
FLAT: Files = {
    "setup.cfg": "",
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": "import unittest\nimport calc\n\n\nclass TestAdd(unittest.TestCase):\n    def test_add(self):\n"
    "        self.assertEqual(calc.add(1, 2), 3)\n",
}
UNITTEST = ("python3", "-m", "unittest")
PACKAGE: Files = {
    "calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "calc/data/words.py": "",
    "tests/__init__.py": "",
    "tests/test_calc.py": FLAT["test_calc.py"],
}
NODE: Files = {
    "package.json": '{"scripts": {"pretest": "sh scripts/prepare.sh", "test": "node run.js"},'
    ' "jest": {"setupFiles": ["<rootDir>/support/first.js"]}}',
    "index.js": "exports.add = (a, b) => a + b\n",
    "lib/more.js": "exports.x = 1\n",
    "run.js": "const check = require('./checking')\nrequire('./index').add(1, 2) === 3 || process.exit(1)\n",
    "checking.js": "exports.check = x => x\n",
    "support/first.js": "global.x = 1\n",
    "scripts/prepare.sh": "sh scripts/deeper.sh\n",
    "scripts/deeper.sh": "true\n",
    "test/add.test.js": "test('adds', () => { expect(1).toBe(1) })\n",
}
MAKE: Files = {
    "Makefile": "include rules\ntest: build\n\t./check.sh\n\tpython3 compare.py expected.txt\nbuild:\n\tcc main.c\n",
    "rules": "A = 1\n",
    "check.sh": ". lib/common\n./sub.sh\n./main.sh 1 2 | diff - expected.txt\n",
    "sub.sh": "true\n",
    "lib/common": "true\n",
    "expected.txt": "3\n",
    "compare.py": "import checks_lib\n",
    "checks_lib.py": "x = 1\n",
    "main.c": "int main() { return 0; }\n",
    "main.sh": "echo 3\n",
}
CARGO: Files = {
    "Cargo.toml": "[package]\nname = 'calc'\n",
    "Cargo.lock": "",
    "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\n",
    "tests/add.rs": "#[test]\nfn adds() { assert_eq!(calc::add(1, 2), 3); }\n",
}
GO: Files = {
    "go.mod": "module calc\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    "calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n'
    '\t\tt.Fatal("no")\n\t}\n}\n',
}
X = "anything\n"

BY_NAME = [
    *(("pytest", SRC, path, PYTEST) for path in (
        *("conftest.py", "tests/conftest.py", "src/conftest.py", "pytest.ini", ".pytest.ini", "tests/pytest.ini"),
        *("tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "tests/pyproject.toml", ".coveragerc", "CONFTEST.py"),
        *("sitecustomize.py", "src/usercustomize/__init__.py", "src/x.pth", "evil.dist-info/entry_points.txt"),
        *("src/evil.egg-info/PKG-INFO", "src/calc/__init__.pyc", "src/calc/__pycache__/more.cpython-311.pyc"),
        *("src/calc/more.cpython-311-x86_64-linux-gnu.so", "src/calc/more.abi3.so", "src/calc/_x.pyd", "__init__.py"),
        *(".venv/bin/python", "venv/lib/x.py", "requirements.txt", "requirements/dev.txt", "constraints.txt"),
        *("uv.lock", "poetry.lock", ".gitattributes", ".gitmodules", ".github/workflows/x.yml", "loop.toml", ".env"),
        *("tests/__pycache__/test_calc.cpython-311-pytest-8.pyc", "pytest/__main__.py", "noxfile.py", "pytest.py"),
        *(".pre-commit-config.yaml", "mypy.ini", "ruff.toml", "hooks/pre-commit", "pyvenv.cfg", "site-packages/x.py"),
        *("src/calc.egg-link", "runtests.py", "run_tests.sh", "tasks.py", "Dockerfile", "environment.yml", "pip.conf"),
    )),
    *(("jest", NODE, path, ("npm", "test")) for path in (
        *("package.json", "lib/package.json", ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs"),
        *("jest.config.js", "jest.setup.ts", "src/setupTests.js", "__mocks__/fs.js", "lib/__mocks__/more.js"),
        *(".mocharc.yml", "test/mocha.opts", "babel.config.js", ".babelrc", "tsconfig.json", "tsconfig.test.json"),
        *("vitest.config.mts", "vitest.setup.ts", "node_modules/jest/index.js", "node_modules/.bin/jest"),
        *("index.node", "lib/x.wasm", "binding.gyp", "eslint.config.js", "rollup.config.mjs", "package-lock.json"),
        *("run.js", "checking.js", "support/first.js", "scripts/prepare.sh", "scripts/deeper.sh"),
        *(".c8rc.json", ".nycrc", "cypress.config.ts", ".node-version", "bunfig.toml", "deno.json", ".swcrc"),
    )),
    *(("make", MAKE, path, ("make", "test")) for path in (
        *("Makefile", "GNUmakefile", "makefile", "rules.mk", "lib/Makefile", "rules", "check.sh", "sub.sh"),
        *("lib/common", "expected.txt", "compare.py", "checks_lib.py", "test", "build", "CMakeLists.txt", "main.o"),
        *("configure", "Makefile.local", "BSDmakefile", "justfile", "libx.a", "x.cmake"),
    )),
    *(("cargo", CARGO, path, ("cargo", "test")) for path in (
        *("Cargo.toml", "build.rs", ".cargo/config.toml", "src/Cargo.toml", "rust-toolchain.toml", "clippy.toml"),
        *(".config/nextest.toml", "vendor/calc/src/lib.rs", "crates/x/build.rs", "rust-toolchain"),
    )),
    *(("go", GO, path, ("go", "test", "./...")) for path in (
        *("go.mod", "go.work", "vendor/modules.txt", "vendor/testing/testing.go", "sub/go.mod", "lib.a"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("runner", "base", "path", "command"), BY_NAME, ids=[f"{r}:{p}" for r, _, p, _ in BY_NAME])
def test_what_a_tool_finds_by_itself_waits_for_a_person(
    runner: str, base: Files, path: str, command: tuple[str, ...]
) -> None:
    product = {"src/calc/more.py": X, "lib/more.js": X, "main.c": X, "src/lib.rs": X, "calc.go": X}
    changed = {p: text for p, text in product.items() if p in base}
    for patterns in ({}, {"product": ("**",), "tests": ("tests/**",)}):
        found = classes(base, {path: X, **changed}, command, **patterns)[path]  # type: ignore[arg-type]
        assert not found.is_judged, runner
        assert found.is_gated or found.put_back
        assert found.why


@pytest.mark.parametrize(
    ("base", "path", "text", "command"),
    [
        (SRC, "tests/test_aaa.py", "import calc\ncalc.add = lambda a, b: 3\n", PYTEST),
        (SRC, "tests/calc_patch.py", X, PYTEST),
        (SRC, "src/calc/test_evil.py", X, PYTEST),
        (SRC, "docs/test_evil.py", X, PYTEST),
        (SRC, "tests/__init__.py", "import calc\n", PYTEST),
        (SRC, "tests/data/expected.json", "{}", PYTEST),
        (SRC, "docs/test_aaa.txt", ">>> import calc\n", PYTEST),
        (SRC, "docs/test_long.txt", ">>> import calc\n" * 50_000, PYTEST),
        (SRC, "man/testing.txt", ">>> import calc\n", ("make", "test")),
        (SRC, "src/calc/test_words.txt", ">>> import calc\n", PYTEST),
        (PACKAGE, "calc/testing.py", X, UNITTEST),
        (PACKAGE, "calc/testdata.py", X, (*UNITTEST, "discover", "-v")),
        (PACKAGE, "testing.py", X, ("coverage", "run", "-m", "unittest", "-v")),
        (PACKAGE, "calc/testing.py", X, ("sh", "-c", "cd . && python -m unittest discover -s .")),
        ({**PACKAGE, "Makefile": "test:\n\tpython -m unittest discover -v\n"}, "calc/testing.py", X, ("make", "test")),
        (FLAT, "test_zzz.py", "import os\nos._exit(0)\n", ("python3", "-m", "unittest")),
        (NODE, "lib/evil.test.js", X, ("npm", "test")),
        (NODE, "test/aaa.test.js", X, ("node", "--test")),
        (NODE, "lib/__tests__/x.js", X, ("npx", "jest")),
        (CARGO, "tests/evil.rs", X, ("cargo", "test")),
        (GO, "main_test.go", "package calc\nfunc TestMain(m *testing.M) {}\n", ("go", "test", "./...")),
        (GO, "testdata/x.json", X, ("go", "test", "./...")),
    ],
)
def test_a_new_test_lands_and_never_judges(base: Files, path: str, text: str, command: tuple[str, ...]) -> None:
    found = classes(base, {path: text}, command)[path]
    assert (found.kind, found.is_judged, found.is_landed) == ("test", False, True)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("calc/testing.py", (*UNITTEST, "discover", "-s", "tests", "-t", ".")),
        ("calc/testing.py", (*UNITTEST, "discover", "tests")),
        ("calc/testing.py", (*UNITTEST, "discover", "-p", "test_*.py")),
        ("calc/testing.py", (*UNITTEST, "tests.test_calc")),
        ("calc/data/testing.py", UNITTEST),
        ("calc/testing.py", PYTEST),
        ("calc/test_words.txt", PYTEST),
    ],
)
def test_a_new_file_that_no_runner_takes_for_a_test_is_product(path: str, command: tuple[str, ...]) -> None:
    assert classes(PACKAGE, {path: X}, command)[path].kind == "product"


@pytest.mark.parametrize(
    ("base", "path", "name"),
    [
        (SRC, "src/json.py", "json"),
        (SRC, "src/json/__init__.py", "json"),
        (SRC, "json.py", "json"),
        (SRC, "pluggy.py", "pluggy"),
        (SRC, "src/_pytest/__init__.py", "_pytest"),
        (SRC, "src/iniconfig.py", "iniconfig"),
        (SRC, "src/unittest/__init__.py", "unittest"),
        (SRC, "src/helpers.py", "helpers"),
        (SRC, "src/tests/__init__.py", "tests"),
        (SRC, "src/tests.py", "tests"),
        (SRC, "tests.py", "tests"),
        ({**SRC, "tests/unit/checks.py": ""}, "lib/tests/__init__.py", "tests"),
        (SRC, "calc/__init__.py", "calc"),
        (SRC, "tests/calc.py", "calc"),
        (SRC, "tests/json.py", "json"),
        (FLAT, "unittest.py", "unittest"),
        (FLAT, "os/__init__.py", "os"),
        (FLAT, "coverage.py", "coverage"),
    ],
)
def test_a_new_module_takes_no_name_that_checks_find_elsewhere(base: Files, path: str, name: str) -> None:
    found = classes(base, {path: X}, PYTEST, product=("**",), tests=("tests/**", "**/test_*.py"))[path]
    assert (found.kind, found.why) == ("judge", f"its name is taken: {name}")
    assert not found.is_judged


def test_a_package_of_tests_takes_what_tests_import_of_each_other() -> None:
    changed = {"src/tests/__init__.py": "", "src/tests/helpers.py": X, "tests/__init__.py": ""}
    found = classes(SRC, changed, PYTEST)
    assert [each.is_judged for each in found.values()] == [False, False, False]
    assert [str(each.kind) for each in found.values()] == ["judge", "judge", "test"]


def test_a_package_may_have_tests_of_its_own() -> None:
    changed = {"src/calc/tests/__init__.py": "", "src/calc/tests/test_more.py": X}
    assert not any(each.is_gated for each in classes(SRC, changed, PYTEST).values())


def test_names_of_the_environment_are_taken_too() -> None:
    changed = {"src/orjson.py": X, "src/fine.py": X}
    found = classes(SRC, changed, PYTEST, taken=frozenset({"orjson"}))
    assert {path: each.kind for path, each in found.items()} == {"src/orjson.py": "judge", "src/fine.py": "product"}


@pytest.mark.parametrize(
    ("path", "target", "free"),
    [
        ("src/calc/x.py", "more.py", True),
        ("src/calc/x.py", "../../tests/helpers.py", False),
        ("src/calc/x.py", "/etc/passwd", False),
        ("src/calc/x", "../../..", False),
        ("src/calc/x.cfg", "../../pyproject.toml", False),
        ("src/calc/x", "../../evil", False),
        ("tests/data.py", "helpers.py", True),
        ("tests/test_x.py", "../../outside.py", False),
        ("src/json", "calc", False),
    ],
)
def test_a_link_is_what_it_points_to(path: str, target: str, *, free: bool) -> None:
    found = classes(SRC, {path: target}, PYTEST, modes={path: LINK})[path]
    assert found.is_gated is not free


def test_a_file_that_becomes_a_link_is_seen() -> None:
    found = classes(SRC, {"src/calc/more.py": "/etc/x"}, PYTEST, modes={"src/calc/more.py": LINK})
    assert found["src/calc/more.py"].why == "is a link that leaves the repository"


def test_a_submodule_is_never_product() -> None:
    found = classes(SRC, {"src/calc/sub": "1"}, PYTEST, modes={"src/calc/sub": SUBMODULE})["src/calc/sub"]
    assert (found.kind, found.why) == ("judge by name", "is a submodule")


@pytest.mark.parametrize("text", ["\x7fELF\x02\x01", "MZ\x90\0", "\0asm\x01"])
def test_compiled_code_is_known_by_what_it_holds(text: str) -> None:
    found = classes(SRC, {"src/calc/tool": text}, PYTEST)["src/calc/tool"]
    assert (found.kind, found.is_judged) == ("judge by name", False)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("./verify",), "verify"),
        (("bash", "verify.sh"), "verify.sh"),
        (("sh", "-c", "cd . && ./deep/verify.sh"), "deep/verify.sh"),
        (("bash", "-lc", "cd . && ./deep/verify.sh"), "deep/verify.sh"),
        (("python", "-m", "verify"), "verify.py"),
        (("python", "-m", "verify.all"), "verify/all.py"),
        (("uv", "run", "python", "verify.py"), "verify.py"),
        (("env", "A=1", "python3", "verify.py"), "verify.py"),
        (("pytest", "-c", "verify.cfg"), "verify.cfg"),
        (("pytest", "-p", "verify"), "verify.py"),
        (("mocha", "-r", "./verify.js"), "verify.js"),
        (("jest", "--config=verify.json"), "verify.json"),
        (("node", "--import", "./verify.mjs", "--test"), "verify.mjs"),
        (("coverage", "run", "verify.py"), "verify.py"),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_file_that_a_check_names_is_its_judge(command: tuple[str, ...], path: str, *, exists: bool) -> None:
    base = {**SRC, **({path: "1\n"} if exists else {})}
    found = classes(base, {path: X}, command, product=("**",))[path]
    assert (found.kind, found.is_judged) == ("judge by name", False)


@pytest.mark.parametrize(
    ("configured", "command"),
    [
        ({"pytest.ini": "[pytest]\npython_files = check_*.py\n"}, PYTEST),
        ({"pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'}, PYTEST),
        ({}, ("python", "-m", "unittest", "discover", "-p", "check_*.py")),
    ],
)
def test_what_a_runner_is_told_to_collect_never_judges_when_it_is_new(
    configured: Files, command: tuple[str, ...]
) -> None:
    found = classes({**SRC, **configured}, {"src/calc/check_x.py": X}, command)["src/calc/check_x.py"]
    assert (found.kind, found.is_judged) == ("test", False)


@pytest.mark.parametrize(
    "said",
    [
        "-include $(wildcard src/*.d)",
        "DEPS := $(wildcard src/*.d)\n-include $(DEPS)",
        "DEPS := a.d \\\n  src/*.d\nsinclude ${DEPS}",
        "SRCS = $(wildcard src/*.c)\nifdef X\n  -include $(SRCS:.c=.d)\nendif",
        "SRCS = $(wildcard src/*.c)\nOBJS = $(SRCS:%.c=$(OUT)/%.o)\n-include $(OBJS:.o=.d) # found before",
        "SRCS = $(wildcard src/*.c)\n-include $(patsubst %.c,$(OUT)/%.d,$(SRCS))",
        "-include $(addsuffix .d,$(basename $(SRCS)))",
        "-include $(shell find src -name '*.d')",
        "D = src\n-include $(D)/*.d",
        "-include $(UNKNOWN)/*.d",
        "A = $(A)\n-include $(A) src/new.d",
    ],
)
def test_what_a_makefile_includes_by_a_pattern_is_a_judge(said: str) -> None:
    base = {"Makefile": f"all: test\n{said}\n\ntest:\n\tcc src/main.c\n", "src/main.c": "", "src/old.d": ""}
    found = classes(base, {"src/new.d": X, "src/new.c": X, "src/main.c": X}, ("make", "test"))
    kinds = {path: str(each.kind) for path, each in found.items()}
    assert kinds == {"src/new.d": "judge by name", "src/new.c": "product", "src/main.c": "product"}


def test_product_may_not_redefine_what_tests_judge_with() -> None:
    bent = f"macro_rules! assert_eq {{ ($($x:tt)*) => {{}} }}\n{CARGO['src/lib.rs']}"
    assert classes(CARGO, {"src/lib.rs": bent}, ("cargo", "test"))["src/lib.rs"].waits


def test_a_file_too_large_to_be_looked_into_waits() -> None:
    assert classes(CARGO, {"src/lib.rs": "//" * 300_000}, ("cargo", "test"))["src/lib.rs"].waits


def test_the_package_that_a_check_runs_stays_product() -> None:
    found = classes(SRC, {"src/calc/__init__.py": X, "src/calc/__main__.py": X}, ("python", "-m", "calc"))
    assert [str(each.kind) for each in found.values()] == ["product", "judge by name"]
