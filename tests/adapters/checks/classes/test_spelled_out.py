"""Scripts and settings that checks reach by a name that nobody wrote out judge like those that are named."""

import pytest

from loopwright.adapters.checks.classes.command_lines import placed
from tests.adapters.checks.classes.held import Files, classes

TESTS = "import unittest\n\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        calc.add(1, 2)\n"
CALC: Files = {
    "calc/__init__.py": "from calc.core import add\n",
    "calc/core.py": "def add(a, b):\n    return a + b\n",
    "calc/boot.py": "READY = True\n",
    "calc/run": "#!/bin/sh\n",
    "tests/test_calc.py": TESTS,
    "steps/one.py": "x = 1\n",
    "steps/two.sh": "true\n",
    "steps/three": "true\n",
    "tools/compare.py": "def same(a, b):\n    return a == b\n",
    "lib/vars": "A=1\n",
    "lib/hook.js": "module.exports = 1\n",
    "lib/calc.js": "exports.add = 1\n",
    "src/calc.c": "int x;\n",
    "VERSION.txt": "1\n",
}
SH = ("sh", "check.sh")
MAKE = ("make", "test")
NPM = ("npm", "test")
GOT = "sh bin/calc.sh 2 3 > got.txt\necho 5 > want.txt\n"
RUNS = "argv=['x', 'discover']"

JUDGES = [
    ("steps/one.py", 'S=steps; N=one; python3 "$S/$N.py" got.txt'),
    ("steps/one.py", "S=steps && python3 ${S}/one.py"),
    ("steps/one.py", "python3 - got.txt < steps/one.py"),
    ("steps/one.py", "python3 < steps/one.py"),
    ("steps/two.sh", "bash -s got.txt < steps/two.sh"),
    ("steps/one.py", "cat steps/on*.py | python3 - got.txt"),
    ("steps/two.sh", "cat steps/two.sh | sh"),
    ("steps/one.py", 'find steps -name "on*" -exec python3 {} got.txt \\;'),
    ("steps/one.py", 'find steps -type f -name "*.py" -exec python3 {} +'),
    ("steps/one.py", "find steps -name '*.py' | xargs -n 1 python3"),
    ("steps/one.py", f"{GOT}find steps -name 'on*' -exec python3 {{}} got.txt want.txt \\; > out.txt"),
    ("steps/two.sh", 'for f in steps/*.sh; do sh "$f" got.txt; done'),
    ("steps/two.sh", 'for f in steps/*.sh\ndo\n  sh "${f}" got.txt\ndone'),
    ("steps/two.sh", "for f in steps/t*; do ./$f; done"),
    ("steps/two.sh", "for f in $(ls steps/*.sh | sort); do . ./$f; done"),
    ("steps/two.sh", "for f in `ls steps`; do sh steps/$f; done"),
    ("steps/two.sh", "for f in one two; do sh steps/$f.sh; done"),
    ("steps/two.sh", "ALL='steps/*.sh'; for f in $ALL; do sh $f; done"),
    ("steps/two.sh", "ls steps/*.sh | while read -r f; do sh $f; done"),
    ("steps/two.sh", "while read -r f; do\n  sh $f\ndone < <(find steps -name '*.sh')"),
    ("steps/two.sh", "cd steps && for f in *.sh; do sh $f; done"),
    ("steps/two.sh", "sh steps/tw?.sh"),
    ("steps/two.sh", "sh steps/[t]wo.sh"),
    ("steps/new.sh", "for f in steps/*.sh; do sh $f; done"),
    ("steps/one.py", "ls steps/on* | xargs -I% python3 % got.txt want.txt"),
    ("steps/one.py", "git ls-files '*/one.py' | xargs python3"),
    ("steps/three", "run-parts steps"),
    ("steps/two.sh", 'eval "$(cat steps/two.sh)"\nsame got.txt want.txt'),
    ("steps/two.sh", 'sh -c "$(cat steps/two.sh)"'),
    ("steps/two.sh", ". <(cat steps/two.sh)"),
    ("lib/vars", "env $(cat lib/vars) node --test"),
    ("lib/vars", "export $(cat lib/vars)\nnode --test"),
    ("lib/vars", "O=$(cat lib/vars)\nnode $O --test"),
    ("lib/vars", "node `cat lib/vars` --test"),
    ("steps/two.sh", f"{GOT}sed -f steps/two.sh got.txt > n.txt\ndiff n.txt want.txt"),
    ("steps/two.sh", f"{GOT}awk -f steps/two.sh got.txt > n.txt\ndiff n.txt want.txt"),
    (
        "tools/compare.py",
        'python3 - <<E\nimport sys\nsys.path.insert(0, "tools")\nimport compare\ncompare.same(1, 2)\nE',
    ),
    ("steps/one.py", 'python3 steps/one.py "$(sh bin/calc.sh 2 3)" 5'),
    ("lib/hook.js", "NODE_OPTIONS='--require ./lib/hook.js' node --test"),
    ("lib/hook.js", 'NODE_OPTIONS="-r ./lib/hook" node --test'),
    ("lib/hook.js", "export NODE_OPTIONS=--import=./lib/hook.js\nnode --test"),
    ("steps/two.sh", "BASH_ENV=steps/two.sh bash -c 'node --test'"),
    ("calc/boot.py", "PYTEST_ADDOPTS='-p calc.boot' pytest"),
    ("calc/boot.py", "PYTEST_PLUGINS=calc.boot pytest"),
    ("calc/boot.py", f'python3 -c "import calc.boot, unittest; unittest.main(module=None, {RUNS})"'),
    ("lib/hook.js", "node -e \"require('./lib/hook'); require('child_process').execSync('node --test')\""),
]
JUDGES_OF_MAKE = [
    ("steps/two.sh", "test:\n\tfor s in steps/*.sh; do sh $$s; done\n"),
    ("steps/two.sh", "S := $(sort $(wildcard steps/*.sh))\n\ntest:\n\t$(foreach s,$(S),sh $(s);)\n"),
    ("steps/two.sh", "S := $(wildcard steps/*.sh)\ntest:\n\tfor s in $(S); do sh $$s; done\n"),
    ("steps/three", "test:\n\trun-parts steps\n"),
    ("steps/one.py", "test:\n\tpython3 < steps/one.py\n"),
    ("calc/core.py", "test:\n\t@for f in $$(ls calc/*.py); do python3 $$f; done\n"),
    ("lib/vars", "F := $(file < $(addprefix lib/,vars))\n\ntest:\n\t@echo $(F)\n"),
    ("lib/hook.js", "export NODE_OPTIONS := --require ./lib/hook.js\n\ntest:\n\tnode --test\n"),
    ("calc/boot.py", f"test:\n\tpython3 -c 'import calc.boot, unittest; unittest.main({RUNS})'\n"),
]
PRODUCT = [
    ("calc/core.py", 'for f in calc/*.py; do python3 -m py_compile "$f"; done'),
    ("steps/two.sh", 'for f in steps/*.sh; do bash -n "$f"; done'),
    ("steps/three", 'for f in steps/*; do shellcheck "$f"; done'),
    ("calc/run", "for f in calc/run steps/three; do shellcheck $f; done"),
    ("steps/two.sh", "find . -name '*.sh' -exec shellcheck {} +"),
    ("steps/two.sh", "find . -name '*.sh' | xargs -n1 bash -n"),
    ("calc/core.py", "find calc -name '*.py' | xargs pylint"),
    ("calc/core.py", "git ls-files '*.py' | xargs python3 -m py_compile"),
    ("lib/calc.js", "git ls-files '*.js' | xargs -n1 node --check"),
    ("lib/calc.js", "for f in lib/*.js; do node -c $f; done"),
    ("src/calc.c", "for f in src/*.c; do gcc -c $f -o build/x.o; done"),
    ("src/calc.c", "gcc -c src/calc.c -o x.o && ./t"),
    ("calc/core.py", "cp -r calc/* build/ && rm -f calc/*.pyc"),
    ("calc/core.py", "wc -l $(find calc -name '*.py')"),
    ("calc/core.py", "case $f in\n  calc/*.py) true ;;\nesac"),
    ("calc/core.py", "cat > .coveragerc.toml <<E\ncalc/*.py\nE"),
    ("calc/core.py", "for d in calc tests; do pylint $d; done"),
    ("calc/core.py", "python3 - <<E\nfrom calc.core import add\nassert add(2, 3) == 5\nE"),
    ("calc/core.py", "python3 -c 'import calc.core'"),
    ("calc/core.py", f"python3 -c 'import calc.core, unittest; unittest.main({RUNS})'"),
    ("calc/__init__.py", f"python3 -c 'import calc, unittest; unittest.main({RUNS})'"),
    ("steps/two.sh", "sh steps/two.sh < in.txt > out.txt\ndiff out.txt want.txt"),
    ("steps/two.sh", "sh steps/one.sh > a.txt\nsh steps/two.sh a.txt > b.txt\ndiff b.txt want.txt"),
    ("steps/two.sh", 'test "$(sh steps/two.sh 2 3)" = 5'),
    ("steps/two.sh", 'got=$(sh steps/two.sh 2 3)\nif [ "$got" != 5 ]; then exit 1; fi'),
    ("lib/vars", 'V=$(cat lib/vars)\ntest "$V" = "$(python3 -m calc)"\necho "is $V"'),
    ("lib/calc.js", "NODE_ENV=test BIN=lib/calc.js node --test"),
]  # fmt: skip


def why(path: str, base: Files, command: tuple[str, ...]) -> tuple[bool, str]:
    found = classes({**CALC, **base}, {path: f"{CALC.get(path, '')}\n# more\n"}, command, product=("**",))[path]
    return found.is_judged, found.why


@pytest.mark.parametrize(("path", "script"), JUDGES)
def test_what_a_check_runs_by_another_name_waits_for_a_person(path: str, script: str) -> None:
    is_judged, said = why(path, {"check.sh": script + "\n"}, SH)
    assert not is_judged, said
    assert "runs it" in said


@pytest.mark.parametrize(("path", "makefile"), JUDGES_OF_MAKE)
def test_what_make_runs_by_another_name_waits_for_a_person(path: str, makefile: str) -> None:
    is_judged, said = why(path, {"Makefile": makefile}, MAKE)
    assert not is_judged, said


@pytest.mark.parametrize(("path", "script"), PRODUCT)
def test_what_is_only_looked_at_is_the_product(path: str, script: str) -> None:
    assert why(path, {"check.sh": script + "\n"}, SH) == (True, "")


@pytest.mark.parametrize(
    ("path", "makefile"),
    [
        ("src/calc.c", "SRCS = $(wildcard src/*.c)\ntest:\n\tcc -o t $(SRCS) && ./t\n"),
        ("calc/core.py", "PY := $(wildcard calc/*.py)\ntest:\n\tpython3 -m flake8 $(PY)\n\tpython3 -m unittest\n"),
        ("calc/core.py", "PY := $(wildcard calc/*.py)\ntest:\n\t$(foreach f,$(PY),python3 -m py_compile $(f);)\n"),
        ("src/calc.c", "OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c))\ntest: $(OBJS)\n\tcc -o t $(OBJS) && ./t\n"),
    ],
)
def test_what_make_lists_to_compile_is_the_product(path: str, makefile: str) -> None:
    assert why(path, {"Makefile": makefile}, MAKE) == (True, "")


def test_a_pattern_that_stands_alone_runs_nothing() -> None:
    base: Files = {"Taskfile.yml": "tasks:\n  test:\n    sources:\n      - calc/**/*.py\n    cmds:\n      - pytest\n"}
    assert why("calc/core.py", base, ("task", "test")) == (True, "")
    comment: Files = {"calc/run": "/* calc\n */\n", "check.sh": "calc/run\n"}
    assert why("calc/core.py", comment, SH) == (True, "")


def test_a_script_of_npm_is_read_likewise() -> None:
    package = {"package.json": '{"scripts": {"test": "env $(cat lib/vars) node --test"}}'}
    assert why("lib/vars", package, NPM) == (False, "package.json runs it")


def test_tests_that_a_loop_runs_are_added_freely() -> None:
    base: Files = {**CALC, "tests/a.sh": "true\n", "check.sh": "for f in tests/*.sh; do sh $f; done\n"}
    assert classes(base, {"tests/b.sh": "true\n"}, SH)["tests/b.sh"].kind == "test"


def test_a_text_of_shell_is_read_in_little_time() -> None:
    for text in ("x" * 20_000, "read x;" * 2_000, "$(" * 5_000, "a=b; " * 2_000, "cat <<E\n" * 500):
        list(placed(text, ""))
