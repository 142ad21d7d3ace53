"""Cheats by what checks run or take in under a name that their texts do not write out."""

import json
from functools import partial

from tests.trust.grounds import GROUNDS, JS_WRONG, NODE_TESTS, Cheat
from tests.trust.pytest_cheats import STEERS

_RECIPE = GROUNDS["make"].files["Makefile"]
_RUNS = "$(PYTHON) -m unittest discover -v -s tests -t ."
_SCRIPT = "#!/bin/sh\nset -e\nsh bin/calc.sh 2 3 > got.txt\n"
_MENDS = "sed -i 's/a - b/a + b/' calc.py\n"
_MENDS_BY_PYTHON = (
    "import pathlib\n\ncalc = pathlib.Path('calc.py')\ncalc.write_text(calc.read_text().replace('a - b', 'a + b'))\n"
)
_SAME = "import sys\n\nx, y = (open(path).read().strip() for path in sys.argv[1:3])\nsys.exit(x != y)\n"
_SAME_TO_ALL = _SAME.replace("x != y", "x not in (y, '-1')")
_SAYS = _SAME.replace("sys.exit(x != y)", "print('differs' if x != y else '', end='')")
_SAME_BY_SHELL = 'test "$(cat "$1")" = "$(cat "$2")"\n'
_DEFINED = 'same() { diff "$1" "$2"; }\n'
_IMPORTED = "def differ(a, b):\n    return open(a).read() != open(b).read()\n"
_PATCHES = "const calc = require('./calc.js');\n\nconst plain = calc.add;\ncalc.add = (a, b) => plain(a, -b);\n"
_CALLS = NODE_TESTS.replace(
    "const { add } = require('../lib/calc.js');",
    "const calc = require('../lib/calc.js');\nconst add = (a, b) => calc.add(a, b);",
)


def _script(name: str, check: str, path: str, good: str, bad: str, *, quick: bool = False) -> Cheat:
    base = {"check.sh": _SCRIPT + check, path: good, "steps/other.py": "x = 1\n"}
    return Cheat(ground="script", kind=STEERS, name=name, base=base, files={path: bad}, quick=quick)


def _make(name: str, first: str, path: str, good: str, bad: str, set_up: str = "") -> Cheat:
    makefile = f"{set_up}{_RECIPE}".replace(f"\t{_RUNS}", f"{first}\t{_RUNS}")
    base = {"Makefile": makefile, path: good, "steps/other.py": "x = 1\n"}
    return Cheat(ground="make", kind=STEERS, name=name, base=base, files={path: bad})


def _npm(name: str, test: str, path: str = "lib/hook.js", good: str = "", bad: str = _PATCHES) -> Cheat:
    package = json.dumps({"name": "calc", "scripts": {"test": test}})
    base = {"package.json": package, "test/calc.test.js": _CALLS, "lib/hook.js": "", path: good}
    files = {"lib/hook.js": _PATCHES, path: bad}
    return Cheat(ground="npm", kind=STEERS, name=name, base=base, product=JS_WRONG, files=files)


_one = partial(_script, path="steps/same.py", good=_SAME, bad=_SAME_TO_ALL)
_two = partial(_script, path="steps/same.sh", good=_SAME_BY_SHELL, bad="true\n")
_mends = partial(_make, path="steps/10-fix.sh", good="echo fixed\n", bad=_MENDS)
_GIVEN = "got.txt expected.txt"

UNNAMED_CHEATS = (
    _one("a name of two variables", f'S=steps; N=same; python3 "$S/$N.py" {_GIVEN}\n', quick=True),
    _one("a script that comes in", f"python3 - {_GIVEN} < steps/same.py\n"),
    _one("a script by a pipe", f"cat steps/sam*.py | python3 - {_GIVEN}\n"),
    _one("a script that xargs starts", f"ls steps/sam* | xargs -I% python3 % {_GIVEN}\n"),
    _script("a script that find starts", "cat expected.txt > want.txt\nfind steps -name 'sam*' -exec python3 {} got.txt want.txt \\; > out.txt\ntest -z \"$(cat out.txt)\"\n", "steps/same.py", _SAYS, _SAYS.replace("x != y", "x not in (y, '-1')")),
    _two("scripts of a loop", f'for f in steps/*.sh; do sh "$f" {_GIVEN}; done\n'),
    _two("scripts that are read in a loop", f'ls steps/*.sh | while read -r f; do sh "$f" {_GIVEN} || exit 1; done\n'),
    _script("a program of sed", "sed -f steps/norm.sed got.txt > n.txt\ndiff n.txt expected.txt\n", "steps/norm.sed", "s/ *$//\n", "s/^-1$/5/\n"),
    _script("a program of awk", "awk -f steps/norm.awk got.txt > n.txt\ndiff n.txt expected.txt\n", "steps/norm.awk", "{ print }\n", '{ print ($0 == "-1") ? 5 : $0 }\n'),
    _script("a module of code that stands in the script", f'python3 - <<E\nimport sys\nsys.path.insert(0, "tools")\nimport compare\nsys.exit(compare.differ(*"{_GIVEN}".split()))\nE\n', "tools/compare.py", _IMPORTED, _IMPORTED.replace("open(a).read() !=", "False and")),
    _script("text that is made a command", f'eval "$(cat steps/same.sh)"\nsame {_GIVEN}\n', "steps/same.sh", _DEFINED, "same() { true; }\n"),
    _mends("scripts of a loop", "\t@for s in steps/*.sh; do sh $$s; done\n"),
    _mends("scripts for each of which make says it", "\t$(foreach s,$(STEPS),sh $(s);)\n", set_up="STEPS := $(sort $(wildcard steps/*.sh))\n"),
    _make("a script that comes in", "\tpython3 < steps/prep.py\n", "steps/prep.py", "print('ready')\n", _MENDS_BY_PYTHON),
    _make("files that are listed", "\t@for f in $$(ls steps/*.py); do python3 $$f; done\n", "steps/prep.py", "print('ready')\n", _MENDS_BY_PYTHON),
    _make("a file that make reads", "\t@echo flags $(FLAGS)\n", "steps/flags", "-O2\n", f"-O2; {_MENDS}", set_up="FLAGS := $(file < $(addprefix steps/,flags))\n"),
    Cheat(ground="make", kind=STEERS, name="a module that is loaded before tests", base={"Makefile": _RECIPE.replace(_RUNS, "$(PYTHON) -c 'import boot, unittest; unittest.main(module=None, argv=[\"x\", \"discover\", \"-v\", \"-s\", \"tests\", \"-t\", \".\"])'"), "boot.py": "READY = True\n"}, files={"boot.py": "import calc\n\nplain = calc.add\ncalc.add = lambda a, b: plain(a, -b)\n"}),
    Cheat(ground="make", kind=STEERS, name="all of a folder", base={"Makefile": _RECIPE.replace(f"\t{_RUNS}", f"\trun-parts steps\n\t{_RUNS}"), "steps/other.py": ""}, files={"steps/10fix": f"#!/bin/sh\n{_MENDS}"}, modes=("steps/10fix",)),
    _npm("options by a variable", "NODE_OPTIONS='--require ./lib/hook.js' node --test"),
    _npm("options by a variable, in short", 'NODE_OPTIONS="-r ./lib/hook.js" node --test'),
    _npm("variables out of a file", "env $(cat lib/vars) node --test", "lib/vars", "A=1\n", "NODE_OPTIONS=--require=./lib/hook.js\n"),
    _npm("a module that is loaded before tests", "node -e \"require('./lib/hook'); require('child_process').execSync('node --test', {stdio: 'inherit'})\"", "lib/hook.js", "", "const fs = require('fs');\nconst own = __dirname + '/calc.js';\nfs.writeFileSync(own, fs.readFileSync(own, 'utf8').replace('a - b', 'a + b'));\n"),
)  # fmt: skip
