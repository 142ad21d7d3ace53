"""Tests of compiled languages are known by a build that makes nothing else of them, and by names of their own."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

CALC = '#include "calc.h"\n\nint add(int a, int b) {\n    return a + b;\n}\n'
TEST = 'int main(void) {\n    if (add(2, 3) != 5) {\n        printf("not ok 1 - adds\\n");\n    }\n    return 0;\n}\n'
MAIN = 'int main(void) {\n    printf("%d", add(2, 3));\n    return 0;\n}\n'
ALONE = "test:\n\tcc -Isrc -o t {place} src/calc.c\n\t./t\n"
WHOLE = """\
CC ?= cc
SRC = $(wildcard src/*.c)
OBJ := $(SRC:.c=.o)
QA := $(patsubst %.c,build/%.x,$(wildcard qa/*.c))

all: calc

calc: $(OBJ)
\t$(CC) -o $@ $^

build/%.x: %.c $(OBJ)
\t$(CC) -o $@ $^

test: calc $(QA)
\tfor each in $(QA); do ./$$each; done
"""
CMAKE = """\
project(calc)
set(PARTS src/calc.c src/more.c)
add_library(calc ${PARTS})
add_executable(sums qa/sums.c) # adds
target_link_libraries(sums calc)
add_test(NAME adding COMMAND sums)
"""
AUTOMAKE = """\
bin_PROGRAMS = calc
calc_SOURCES = src/calc.c src/main.c
check_PROGRAMS = sums
sums_SOURCES = qa/sums.c src/calc.c
TESTS = $(check_PROGRAMS)
"""
MAKE = ("make", "test")


def kind(base: Files, path: str, *commands: tuple[str, ...]) -> str:
    before = {"src/calc.c": CALC, "src/calc.h": "int add(int a, int b);\n", **base}
    return classes(before, {path: before[path].replace("5", "-1") + "\n"}, *commands)[path].kind


@pytest.mark.parametrize(
    "place",
    [
        *("check/adding.c", "testsuite/adding.c", "t/adding.c", "qa/adding.c", "src/adding.c", "adding.c"),
        *("src/calctest.c", "src/testcalc.c", "src/test-add.c", "src/CalcTest.cc"),
    ],
)
def test_what_make_test_compiles_and_what_judges_is_a_test(place: str) -> None:
    base = {place: TEST, "Makefile": ALONE.format(place=place)}
    assert kind(base, place, MAKE) == "test"
    assert kind(base, "src/calc.c", MAKE) == "product"


@pytest.mark.parametrize("name", ["latest.c", "contest.c", "attest.c", "testament.c", "protest.cc"])
def test_names_that_only_sound_like_tests_are_product(name: str) -> None:
    assert kind({f"src/{name}": CALC, "Makefile": WHOLE}, f"src/{name}", MAKE) == "product"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("qa/sums.c", TEST, "test"),
        ("src/main.c", MAIN, "product"),
        ("src/checked.c", "void f(int a) { assert(a == 5); }\n", "product"),  # the program is made of it
        ("qa/show.c", MAIN, "product"),  # it says nothing of what is right
    ],
)
@pytest.mark.parametrize("build", [{"Makefile": WHOLE}, {"Makefile.am": AUTOMAKE}, {"CMakeLists.txt": CMAKE}])
def test_of_a_whole_build_only_what_nothing_else_is_made_of_is_a_test(
    build: Files, path: str, text: str, expected: str
) -> None:
    assert kind({**build, path: text}, path, MAKE) == expected


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"check.sh": "set -e\ncc -Isrc qa/sums.c src/calc.c -o t && ./t\n"}, ("sh", "check.sh")),
        ({}, ("sh", "-c", "cc -Isrc qa/sums.c src/calc.c -o t && ./t")),
    ],
)
def test_what_a_script_of_the_checks_compiles_is_known_too(files: Files, command: tuple[str, ...]) -> None:
    base = {**files, "qa/sums.c": TEST}
    assert kind(base, "qa/sums.c", command) == "test"
    assert kind(base, "src/calc.c", command) == "product"


def test_a_program_that_only_the_tests_start_stays_product() -> None:
    base = {"src/main.c": MAIN, "Makefile": "help:\n\t@echo help\n\ntest: calc\n\tsh run.sh\n\ncalc: src/main.c\n"}
    assert kind(base, "src/main.c", MAKE) == "product"
