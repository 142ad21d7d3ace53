"""How one test of a check is run alone, or the files of some tests, from its command and their ids. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.adapters.checks.reports import Exists
from loopwright.adapters.checks.runners.commands import find_runner, name_of
from loopwright.adapters.checks.runners.table import OUR_UNITTEST, PYTEST

_STEERING = ("-o", "-c", "-p", "--override-ini", "--config-file", "--rootdir", "--import-mode")  # each takes a value
_NARROWING = ("-k", "-m", "--ignore", "--deselect")
_WITH_VALUE = (*_NARROWING, "--ignore-glob", "-n", "-W", "-r", "--tb", "--maxfail", "--durations", "--junitxml")
# Options of a discovery that take a value, and their short names.
_VALUES = {
    "-s": "-s",
    "-t": "-t",
    "-p": "-p",
    "-k": "-k",
    "--start-directory": "-s",
    "--top-level-directory": "-t",
    "--pattern": "-p",
}


def pytest_node(classname: str, name: str, exists: Exists) -> str:
    """`tests.test_a.TestB` and `test_c` as `tests/test_a.py::TestB::test_c`; empty when no such file exists.

    The examples of a text are one test with the name of the file: `docs.use.md` and `use.md`.
    """
    text = classname.removesuffix(name).replace(".", "/") + name
    if "." in name and f".{classname}".endswith(f".{name}") and exists(text):
        return f"{text}::{name}"
    parts = classname.split(".")
    if not classname or not name or not all(part.isidentifier() for part in parts):
        return ""
    for length in range(len(parts), 0, -1):
        file, stem = "/".join(parts[:length]) + ".py", parts[length - 1]
        if (stem.startswith("test") or stem.endswith("_test")) and exists(file):
            return "::".join((file, *parts[length:], name))
    return ""


def alone(argv: tuple[str, ...], test: str) -> tuple[str, ...]:
    """The command that runs only `test`, or the whole command where nobody can say how."""
    return choose_tests(argv, (test,)) or argv


def choose_tests(argv: tuple[str, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that runs only these tests, or nothing where the command cannot say which it runs."""
    place = _pytest_place(argv)
    if place is not None and all("::" in test for test in tests):
        return _with_places(argv, place, tests)
    found = find_runner(argv)
    if found is None or found.runner is not OUR_UNITTEST:
        return ()
    ours = found.with_words(())
    mode = next((at for at, word in enumerate(ours) if word in ("discover", "unittest")), len(ours))
    if mode == len(ours):
        return ()
    return (*ours[:mode], "run", *_folders(ours[mode:]), *tests)


def choose_files(argv: tuple[str, ...], files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that runs only the tests in these files, or nothing where it is not pytest's own."""
    place = _pytest_place(argv)
    return _with_places(argv, place, files) if place is not None and files else ()


def _with_places(argv: tuple[str, ...], place: int, places: tuple[str, ...]) -> tuple[str, ...]:
    """In front of the options: the last one may take a value that is left out."""
    return (*argv[: place + 1], *places, *_options(argv[place + 1 :]))


def is_pytest(argv: tuple[str, ...]) -> bool:
    """Whether the command is pytest itself, so that its exit code is pytest's."""
    return _pytest_place(argv) is not None


def plain_command(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the command without the words by which pytest runs a part of the tests; None where there are none."""
    place = _pytest_place(argv)
    if place is None:
        return None
    groups = tuple(_groups(argv[place + 1 :]))
    steering = (word for group in groups if group[0] in _STEERING for word in group)
    others = [group[0] for group in groups if group[0] not in _STEERING]
    narrows = any(not word.startswith("-") or word.startswith(_NARROWING) for word in others)
    return (*argv[: place + 1], *steering) if narrows else None


def _pytest_place(argv: tuple[str, ...]) -> int | None:
    """Where the command stops being an interpreter, or what starts pytest, and becomes pytest."""
    found = find_runner(argv)
    if found is None or found.runner is not PYTEST or not found.takes_words:
        return None
    return next((at for at, word in enumerate(argv) if name_of(word) in ("pytest", "py.test")), None)


def _options(words: tuple[str, ...]) -> list[str]:
    """What is no test path."""
    return [word for group in _groups(words) if group[0].startswith("-") for word in group]


def _groups(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words of pytest; `-k`, `-m` and the like take their value along."""
    rest = list(words)
    while rest:
        length = 2 if rest[0] in (*_STEERING, *_WITH_VALUE) else 1
        yield tuple(rest[:length])
        del rest[:length]


def _folders(words: tuple[str, ...]) -> tuple[str, ...]:
    """`-s` and `-t` of a discovery, or what stands in their place: they decide what the ids are relative to."""
    if "discover" not in words:
        return ()
    told: dict[str, str] = {}
    bare: list[str] = []
    rest = list(words[words.index("discover") + 1 :])
    while rest:
        word = rest.pop(0)
        name, _, value = word.partition("=")
        if name in _VALUES and (value or rest):
            told[_VALUES[name]] = value or rest.pop(0)
        elif not word.startswith("-"):
            bare.append(word)
    told = dict(zip(("-s", "-p", "-t"), bare, strict=False)) | told
    return tuple(word for name in ("-s", "-t") if name in told for word in (name, told[name]))
