"""How one test of a check is run alone, from the check's command and the test's id. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath

from loopwright.adapters.checks.reports import Exists

UNITTEST_SCRIPT = "unittest_report.py"


def pytest_node(classname: str, name: str, exists: Exists) -> str:
    """`tests.test_a.TestB` and `test_c` as `tests/test_a.py::TestB::test_c`; empty when no such file exists."""
    parts = classname.split(".")
    if not classname or not name or not all(part.isidentifier() for part in parts):
        return ""
    for length in range(len(parts), 0, -1):
        file = "/".join(parts[:length]) + ".py"
        if _is_test_file(parts[length - 1]) and exists(file):
            return "::".join((file, *parts[length:], name))
    return ""


def _is_test_file(stem: str) -> bool:
    return stem.startswith("test") or stem.endswith("_test")


def alone(argv: tuple[str, ...], test: str) -> tuple[str, ...]:
    """The command that runs only `test`, or the whole command where nobody can say how."""
    place = _pytest_place(argv)
    if place is not None and "::" in test:
        options = tuple(_options(argv[place + 1 :]))
        return (*argv[: place + 1], *options, test)
    script = next((index for index, word in enumerate(argv) if word.endswith(UNITTEST_SCRIPT)), None)
    if script is not None and "discover" in argv:
        return (*argv[: argv.index("discover")], "run", *_folders(argv), test)
    return argv


def is_pytest(argv: tuple[str, ...]) -> bool:
    return _pytest_place(argv) is not None


def _pytest_place(argv: tuple[str, ...]) -> int | None:
    """Where the command stops being an interpreter and becomes pytest."""
    if PurePosixPath(argv[0]).name in ("pytest", "py.test"):
        return 0
    for index in range(1, len(argv) - 1):
        if argv[index] == "-m" and argv[index + 1] == "pytest":
            return index + 1
    return None


def _options(words: tuple[str, ...]) -> list[str]:
    """What is no test path. `-k`, `-m` and the like take their value along; a bare word after them is kept."""
    kept: list[str] = []
    takes_value = False
    for word in words:
        if takes_value or word.startswith("-"):
            kept.append(word)
        takes_value = not takes_value and word in ("-k", "-m", "-c", "-p", "-o", "-W", "-n", "--rootdir", "--junitxml")
    return kept


def _folders(argv: tuple[str, ...]) -> tuple[str, ...]:
    """`-s` and `-t` of a discovery: they decide what the ids are relative to."""
    words = argv[argv.index("discover") + 1 :]
    pairs = ((words[i], words[i + 1]) for i in range(len(words) - 1) if words[i] in ("-s", "-t"))
    return tuple(word for pair in pairs for word in pair)
