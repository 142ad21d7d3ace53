"""What a shell, make or a compiler would find instead of what checks mean, and the many files that hide nothing."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

PRODUCT: Files = {"bin/calc": "#!/bin/sh\necho\n", "bin/more.sh": "echo\n", "lib/calc.py": "x = 1\n"}
SCRIPT = ("sh", "check.sh")
MAKE = ("make", "test")
TOX = "[testenv]\nsetenv =\n    PATH = {toxinidir}/bin{:}{env:PATH}\n"
C: Files = {
    "src/calc.h": "int add(int, int);\n",
    "src/calc.c": '#include "calc.h"\n#include "util.h"\n',
    "src/util.h": "int x;\n",
    "include/other.h": "int y;\n",
    "tests/adding.c": "#include <calc.h>\n#include <error.h>\n#include <sys/wait.h>\n",
}


def script(line: str) -> Files:
    return {**PRODUCT, "check.sh": f"set -e\n{line}\ncalc 2 3 | cmp - expected.txt\n", "expected.txt": "5\n"}


def make(text: str, **more: str) -> Files:
    return {**PRODUCT, "Makefile": text, **more}


def compiled(flags: str) -> Files:
    return {**C, "Makefile": f"FLAGS = {flags}\ntest:\n\tcc $(FLAGS) -o t tests/adding.c src/calc.c\n\t./t\n"}


@pytest.mark.parametrize(
    ("base", "path", "command"),
    [
        (script('PATH="$PWD/bin:$PATH"'), "bin/diff", SCRIPT),
        (script("export PATH=bin:$PATH"), "bin/cmp", SCRIPT),
        (script('export PATH="$(cd "$(dirname "$0")" && pwd)/bin:$PATH"'), "bin/python3.12", SCRIPT),
        (script('BIN="$PWD/bin"\nPATH=$BIN:$PATH'), "bin/sed", SCRIPT),
        (script("PATH=$PWD/tools/bin:$PATH"), "tools/bin/grep", SCRIPT),
        (script("PATH=bin:$PATH\nfrobnicate"), "bin/frobnicate", SCRIPT),
        (script("PATH=tools:bin:$PATH"), "tools/calc", SCRIPT),
        (make("export PATH := $(CURDIR)/bin:$(PATH)\ntest:\n\tpython3 -m unittest\n"), "bin/python3", MAKE),
        (make("test:\n\tPATH=$$PWD/bin:$$PATH sh -c 'uname; true'\n"), "bin/uname", MAKE),
        (PRODUCT, "bin/env", ("env", "PATH=bin:/usr/bin", "python3", "-m", "unittest")),
        ({**PRODUCT, "tox.ini": TOX}, "bin/pytest", ("tox",)),
    ],
)  # fmt: skip
def test_a_program_on_the_path_of_checks_is_a_judges(base: Files, path: str, command: tuple[str, ...]) -> None:
    assert classes(base, {path: "#!/bin/sh\n"}, command)[path].kind == "judge"


def test_a_program_that_stands_for_another_stays_a_judges() -> None:
    base = {**script("PATH=bin:$PATH"), "bin/python3": "#!/bin/sh\nexec /usr/bin/python3\n"}
    assert classes(base, {"bin/python3": "#!/bin/sh\n"}, SCRIPT)["bin/python3"].kind == "judge"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (script("PATH=bin:$PATH"), "bin/calc"),  # what the check calls by its name is what it tests
        (script("PATH=bin:$PATH"), "bin/report"),  # a new command that no check means
        (script("PATH=$PATH:bin"), "bin/diff"),  # comes after the usual ones
        (script("PYTHONPATH=bin:lib"), "bin/diff"),
        (script("true"), "bin/diff"),
    ],
)
def test_a_command_of_the_product_stays_product(base: Files, path: str) -> None:
    assert classes(base, {path: "#!/bin/sh\necho 1\n"}, SCRIPT)[path].kind == "product"


OBJECTS = "OBJS = lib/calc.o\nof = $(1:.o=.d)\n"


@pytest.mark.parametrize(
    "said",
    [
        "$(foreach o,$(OBJS),$(o:.o=.d))",
        "$(foreach o,$(OBJS),$(basename $o).d)",
        "$(call of,$(OBJS))",
        "$(if $(FAST),,$(OBJS:.o=.d))",
    ],
)
def test_what_a_makefile_would_take_in_is_a_judges(said: str) -> None:
    base = make(f"{OBJECTS}-include {said}\ntest:\n\ttrue\n")
    found = classes(base, {"lib/calc.d": "x\n", "lib/calc.e": "x\n"}, MAKE)
    assert (found["lib/calc.d"].kind, found["lib/calc.e"].kind) == ("judge by name", "product")


INCLUDES = "-include lib/config.mk\n-include local\n-include $(SRC:.c=.d)\ntest:\n\ttrue\n"


@pytest.mark.parametrize(
    "path",
    [
        *("lib/config.mk.sh", "lib/calc.py.sh", "lib/calc.py,v", "lib/RCS/calc.py,v", "lib/s.calc.py"),
        *("lib/SCCS/s.calc.py", "lib/calc.py.sh,v", "lib/calc.d.sh"),
    ],
)
def test_what_make_would_write_others_out_of_is_a_judges(path: str) -> None:
    found = classes(make(INCLUDES), {path: "x\n"}, MAKE)[path]
    assert found.kind == "judge"
    assert "make would write" in found.why


def test_a_makefile_that_is_not_there_yet_is_made_by_nobody() -> None:
    found = classes(make(INCLUDES), {"local.sh": "x\n", "local": "x\n"}, MAKE)
    assert [found[path].is_gated for path in ("local", "local.sh")] == [True, True]


@pytest.mark.parametrize(
    ("path", "command"),
    [("lib/install.sh", MAKE), ("lib/calc.py.sh", ("python3", "-m", "unittest")), ("lib/sums.y", MAKE)],
)
def test_what_makes_nothing_anew_is_product(path: str, command: tuple[str, ...]) -> None:
    assert classes(make("test:\n\ttrue\n"), {path: "x\n"}, command)[path].kind == "product"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (compiled("-Isrc"), "src/stdio.h"),
        (compiled("-Isrc"), "src/string.h"),
        (compiled("-I src"), "src/sys/wait.h"),
        (compiled("-Isrc"), "src/error.h"),
        (compiled("-Iinclude -Isrc"), "include/calc.h"),
        (compiled("--include-directory=src"), "src/stdio.h"),
        (compiled("--include-directory src"), "src/stdio.h"),
        (compiled("-O1\nexport CPATH = src"), "src/stdio.h"),
        (compiled("-O1\nexport C_INCLUDE_PATH=$(CURDIR)/include:src"), "include/calc.h"),
        ({**C, "Makefile": "test:\n\tCPLUS_INCLUDE_PATH=src c++ tests/adding.c\n"}, "src/assert.h"),
        ({**C, "CMakeLists.txt": "include_directories(src)\n", "Makefile": "test:\n\tcmake .\n"}, "src/assert.h"),
        ({**C, "Makefile": "VPATH = lib:src\ntest: calc.o\n", "lib/x.c": "int x;\n"}, "lib/calc.c"),
        ({**C, "Makefile": "vpath %.c lib src\ntest: calc.o\n", "lib/x.c": "int x;\n"}, "lib/calc.c"),
        ({"lib/calc.rb": "x\n", "Makefile": "test:\n\truby -Ilib qa/a.rb\n"}, "lib/minitest/autorun.rb"),
        ({"lib/Calc.pm": "x\n", "Makefile": "test:\n\tprove -Ilib t\n", "t/a.t": "x\n"}, "lib/Test/More.pm"),
    ],
)  # fmt: skip
def test_a_header_or_source_in_front_of_another_is_a_judges(base: Files, path: str) -> None:
    assert classes(base, {path: "int z;\n"}, MAKE)[path].kind == "judge"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (compiled("-Isrc"), "src/sums.h"),
        (compiled("-Isrc"), "src/check.h"),  # nobody asks for the library of this name
        (compiled("-Isrc"), "src/calc/string.h"),  # asked for with its folder
        (compiled("-Isrc -Iinclude"), "include/calc.h"),  # comes after the other
        (compiled("-Iinclude -Isrc"), "include/util.h"),  # who includes it has one beside itself
        (compiled("-O2"), "src/stdio.h"),
        ({**C, "Makefile": "VPATH = lib:src\ntest: calc.o\n", "lib/x.c": "int x;\n"}, "lib/sums.c"),
    ],
)
def test_a_header_or_source_of_its_own_is_product(base: Files, path: str) -> None:
    assert classes(base, {path: "int z;\n"}, MAKE)[path].kind == "product"


def test_a_file_that_holds_words_of_a_command_is_a_judges() -> None:
    base = {**compiled("-Isrc @src/flags"), "src/flags": "-O1\n"}
    assert classes(base, {"src/flags": "-DX\n"}, MAKE)["src/flags"].kind == "judge by name"


@pytest.mark.parametrize(
    "run", ["mocha --require ./lib/boot", "mocha --require=./lib/boot", "node -r ./lib/boot run.js"]
)
def test_what_is_loaded_first_is_a_judges_also_as_a_folder(run: str) -> None:
    base = {
        "package.json": f'{{"scripts": {{"test": "rm -r ./lib/out && {run}"}}}}',
        "lib/boot/index.js": "x\n",
        "lib/out/index.js": "x\n",
        "run.js": "x\n",
    }
    found = classes(base, {"lib/boot/index.js": "y\n", "lib/out/index.js": "y\n"}, ("npm", "test"))
    assert [each.kind for each in found.values()] == ["judge by name", "product"]


@pytest.mark.parametrize(("manifest", "path"), [("svc/go.mod", "svc/vendor/a/b.go"), ("composer.json", "vendor/a.php")])
def test_what_is_taken_instead_of_what_is_installed_is_a_judges(manifest: str, path: str) -> None:
    base = {manifest: "x\n", "svc/calc.go": "x\n", "svc/vendor/seen.go": "x\n", "lib/vendor/x.go": "x\n"}
    found = classes(base, {path: "y\n", "lib/vendor/y.go": "y\n"}, ("go", "test", "./..."))
    assert (found[path].kind, found["lib/vendor/y.go"].kind) == ("judge by name", "product")


NODE: Files = {
    "lib/calc.js": "x\n",
    "qa/same.js": "x\n",
    "tests/calc.test.js": "const { same } = require('same');\nrequire('calc');\n",
}


@pytest.mark.parametrize(
    ("more", "path", "kind"),
    [
        ({"package.json": '{"scripts": {"test": "NODE_PATH=lib:qa node --test"}}'}, "lib/same.js", "judge"),
        ({"package.json": '{"jest": {"modulePaths": ["<rootDir>/lib", "<rootDir>/qa"]}}'}, "lib/same.js", "judge"),
        ({"package.json": '{"jest": {"moduleDirectories": ["lib", "qa"]}}'}, "lib/same/index.js", "judge"),
        ({"package.json": '{"jest": {"modulePaths": ["lib"]}}'}, "lib/more.js", "product"),  # nobody asks for it
        ({"package.json": '{"jest": {"modulePaths": ["lib"]}}'}, "lib/calc/index.js", "product"),  # found as before
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "lib/same.js", "product"),
    ],
)
def test_a_script_that_a_bare_name_would_find_is_a_judges(more: Files, path: str, kind: str) -> None:
    assert classes({**NODE, **more}, {path: "y\n"}, ("npm", "test"))[path].kind == kind
