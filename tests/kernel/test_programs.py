"""Which files a command starts or names, by its words and by the texts of its scripts."""

import shlex

import pytest

from loopwright.kernel.programs import beside, named_files, started_by, started_files

THERE = frozenset(
    {"calc.py", "cli.py", "check", "scripts/look.py", "scripts/look.sh", "scripts/inner.sh", "scripts/want.txt"}
    | {"tools/guard.py", "expected/two.txt", "out/two.txt", "pack/__init__.py"}
)


def started(command: str) -> frozenset[str]:
    return THERE.intersection(started_files(tuple(shlex.split(command)), THERE))


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("", set()),
        ("env A=1", set()),
        ("./check calc.py", {"check"}),
        ("sh check", {"check"}),
        ("env -i X=1 tools/guard.py", {"tools/guard.py"}),
        ("python -B tools/guard.py calc.py", {"tools/guard.py"}),
        ("python -W ignore tools/guard.py", {"tools/guard.py"}),
        ("python -X dev tools/guard.py", {"tools/guard.py"}),
        ("python3 -m scripts.look", {"scripts/look.py"}),
        ("python3 -mscripts.look", {"scripts/look.py"}),
        ("python -m unittest scripts.look", {"scripts/look.py"}),
        ("python -m pytest scripts/look.py::test", {"scripts/look.py"}),
        ("python -m cli mul", {"cli.py"}),
        ("python -m pack.new", {"pack/__init__.py"}),
        ("python -m", set()),
        ("bash -lc 'python -m scripts.look'", {"scripts/look.py"}),
        ("sh -ec 'python -m scripts.look'", {"scripts/look.py"}),
        ("sh -c 'python cli.py mul 2 3 | grep -qx 6'", {"cli.py"}),
        ("""sh -c 'test "$(python cli.py mul 2 3)" = 6' """, {"cli.py"}),
        ("sh -c 'cd scripts && sh look.sh'", {"scripts/look.sh"}),
        ("sh -c 'cd; sh scripts/look.sh; ;'", {"scripts/look.sh"}),
        ("sh -c 'sh <scripts/look.sh'", {"scripts/look.sh"}),
        ('sh -c "it\'s; sh scripts/look.sh"', {"scripts/look.sh"}),
        ("timeout 60 sh scripts/look.sh", {"scripts/look.sh"}),
        ("nice -n 5 nohup xargs tools/guard.py", {"tools/guard.py"}),
        ("bash -o pipefail scripts/look.sh", {"scripts/look.sh"}),
        ("make --file=scripts/look.sh look", {"scripts/look.sh"}),
        ("sh -c 'python -c pass | diff - expected/two.txt'", {"expected/two.txt"}),
        ("grep -q x calc.py", set()),
        ("timeout 5 grep -q 'see calc.py' calc.py", set()),
        ("sh -c '! grep -q x calc.py'", set()),
        ("python -c \"open('calc.py').read()\"", set()),
        ('sh -c \'sh -c "sh -c \\"sh -c \\\\\\"sh -c a;b\\\\\\"\\""\'', set()),
    ],
)
def test_what_it_starts(command: str, files: set[str]) -> None:
    assert started(command) == files


def test_with_a_module_come_the_packages_above_it() -> None:
    assert "scripts/__init__.py" in started_files(("python", "-m", "scripts.look"), THERE)
    assert "pack/new.py" not in started_files(("python", "-m", "pack.new"), THERE)  # it is to be made


def test_what_it_names() -> None:
    assert {"out/two.txt", "expected/two.txt"} <= set(named_files(("diff", "out/two.txt", "expected/two.txt")))
    assert "expected/two.txt" in named_files(("python", "-c", "open('expected/two.txt')"))


@pytest.mark.parametrize(
    ("path", "text", "files"),
    [
        ("scripts/look.sh", "exec sh scripts/inner.sh\n", {"scripts/inner.sh"}),
        ("scripts/look.sh", "sh inner.sh\n", {"scripts/inner.sh"}),
        ("check", "#!/usr/bin/env bash\npython tools/guard.py || exit 1\n", {"tools/guard.py"}),
        ("check", "#!/usr/bin/env python\nopen('tools/guard.py')\n", set()),
        ("scripts/look.py", "import tools.guard\n", set()),
    ],
)
def test_what_a_script_starts(path: str, text: str, files: set[str]) -> None:
    assert THERE.intersection(started_by(path, text, THERE)) == files


@pytest.mark.parametrize(
    ("path", "text", "files"),
    [
        ("scripts/look.py", "open('scripts/want.txt')", {"scripts/want.txt"}),
        ("scripts/look.py", "open(here / 'want.txt')\nopen('calc.py')", {"scripts/want.txt"}),
        ("scripts/look.py", "import calc", {"scripts/calc.py", "scripts/calc/__init__.py"}),
        ("scripts/a.py", "from scripts.look import x", {"scripts/look.py", "scripts/look/__init__.py"}),
        ("scripts/a.py", "from . import look", {"scripts/look.py", "scripts/look/__init__.py"}),
        ("scripts/look.py", "this is no Python", set()),
        ("check.py", "import calc", set()),
    ],
)
def test_what_a_script_needs_of_its_folder(path: str, text: str, files: set[str]) -> None:
    assert set(beside(path, text, THERE)) >= files
    assert bool(beside(path, text, THERE)) == bool(files)
