"""Which runner a command line starts, seen through the programs that only start another one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from loopwright.adapters.checks.runners.table import (
    BY_COMMAND,
    BY_NAME,
    NODE,
    OUR_UNITTEST,
    PYTEST,
    REPORT,
    SCRIPT,
    UNITTEST,
    UNITTEST_AS_IT_IS,
    Runner,
)

_SLOT = "\0"  # no word of a command can be that: where further words go
# They start the command that follows them, with the words that make them do so.
_STARTERS: tuple[tuple[str, ...], ...] = (
    *((tool, "run") for tool in ("uv", "poetry", "pdm", "pipenv", "rye", "pixi", "hatch", "conda", "mamba")),
    *((tool, "exec") for tool in ("npm", "pnpm", "yarn", "bundle", "mise", "direnv")),
    ("yarn", "run"), ("pnpm", "dlx"), ("npm", "x"), ("bun", "x"), ("coverage", "run"), ("op", "run"),
    *((tool,) for tool in ("npx", "bunx", "uvx", "pipx", "nyc", "c8", "cross-env", "dotenv", "env", "time", "nice")),
    *((tool,) for tool in ("timeout", "xvfb-run", "stdbuf", "ionice", "exec", "command", "yarn", "pnpm", "kcov")),
)  # fmt: skip
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|php|tsx|ts-node")

_TAKE_A_VALUE = ("-W", "-X", "-d", "-r", "-C", "--require", "--import", "--loader")  # options of interpreters


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRunner:
    """A runner and its command. Without a slot for more words only its environment can be reached."""

    runner: Runner
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()  # what lets the runner's own variable through

    @property
    def takes_words(self) -> bool:
        return _SLOT in self.argv

    @property
    def takes_words_at_its_end(self) -> bool:
        return self.argv[-1] == _SLOT

    def with_words(self, words: tuple[str, ...]) -> tuple[str, ...]:
        place = self.argv.index(_SLOT)
        return (*self.argv[:place], *words, *self.argv[place + 1 :])

    def out_of_reach(self, argv: tuple[str, ...]) -> FoundRunner:
        """The same runner, started by something else that takes no words for it."""
        runner = UNITTEST_AS_IT_IS if self.runner is OUR_UNITTEST else self.runner
        return replace(self, runner=runner, argv=argv)


def with_slot_at_the_end(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Before a `--`, where there is one: what follows it are no options."""
    place = argv.index("--") if "--" in argv else len(argv)
    return (*argv[:place], _SLOT, *argv[place:])


def passing_on(argv: tuple[str, ...], *, separator: bool) -> tuple[str, ...]:
    """The command of a script runner, with a slot whose words go to the end of the script."""
    return (*argv, *(("--",) if separator and "--" not in argv else ()), _SLOT)


def name_of(word: str) -> str:
    """`./node_modules/.bin/jest` and `jest.js` are `jest`."""
    name = PurePosixPath(word).name
    return name.removesuffix(".js").removesuffix(".mjs").removesuffix(".cjs") if not name.startswith(".") else name


def find_runner(argv: tuple[str, ...]) -> FoundRunner | None:
    """The runner that stands in the command itself; None when another file would have to be read."""
    return next((found for place in _places(argv) if (found := _at(argv, place)) is not None), None)


def _places(argv: tuple[str, ...]) -> Iterator[int]:
    """Where a program may stand: at the front, and after whatever only starts another program."""
    yield 0
    words = [at for at in range(1, len(argv)) if not argv[at].startswith("-") and argv[at - 1] not in _TAKE_A_VALUE]
    if is_starter(argv):
        yield from words
    elif _INTERPRETER.fullmatch(name_of(argv[0])):
        yield from words[:1]


def is_starter(argv: tuple[str, ...]) -> bool:
    """Options may stand before the word that makes it one, as in `poetry -C part run`."""
    verbs = [words[1:] for words in _STARTERS if words[0] == name_of(argv[0])]
    return () in verbs or any(_begins_with(argv, verb[0]) for verb in verbs)


def _begins_with(argv: tuple[str, ...], verb: str) -> bool:
    before = argv[: argv.index(verb)] if verb in argv[1:] else ()
    return bool(before) and all(any(word.startswith("-") for word in pair) for pair in pairwise(before))


def _at(argv: tuple[str, ...], place: int) -> FoundRunner | None:
    name = name_of(argv[place])
    if name_of(argv[0]) == "hatch":
        name = name.rpartition(":")[2]  # `test:pytest` is the pytest of the environment `test`
    rest = argv[place + 1 :]
    if name in BY_NAME:
        return FoundRunner(runner=BY_NAME[name], argv=(*argv[: place + 1], *with_slot_at_the_end(rest)))
    first = next((at for at, word in enumerate(rest) if not word.startswith("-")), None)
    if first is not None and (name, rest[first]) in BY_COMMAND:
        return _command(BY_COMMAND[name, rest[first]], argv, place + 1 + first)
    if re.fullmatch(r"(?:python|pypy)[\d.]*|coverage", name):
        return _module(argv, place)
    if argv[place] == UNITTEST or name == SCRIPT:
        return FoundRunner(runner=OUR_UNITTEST, argv=(*argv, _SLOT))
    if name == "node" and "--test" in rest:
        return _command(NODE, argv, argv.index("--test", place))
    return None


def _command(runner: Runner, argv: tuple[str, ...], word: int) -> FoundRunner:
    """`word` is the place of what makes it a test run: `test` of `go test`."""
    if runner.place == "after":
        return FoundRunner(runner=runner, argv=(*argv[: word + 1], _SLOT, *argv[word + 1 :]))
    if runner is PYTEST:  # `hatch test` has options of its own
        return FoundRunner(runner=runner, argv=argv)
    return FoundRunner(runner=runner, argv=(*argv[: word + 1], *with_slot_at_the_end(argv[word + 1 :])))


def _module(argv: tuple[str, ...], place: int) -> FoundRunner | None:
    """What stands after the interpreter's own `-m`: after a file name `-m` is an argument of that file."""
    for at in range(place + 1, len(argv) - 1):
        if argv[at] == "-m":
            return _started_as_module(argv, at)
        if argv[at].endswith(".py") or argv[at] == "-c":
            return None
    return None


def _started_as_module(argv: tuple[str, ...], at: int) -> FoundRunner | None:
    module, rest = argv[at + 1], argv[at + 2 :]
    if module in BY_NAME:
        return FoundRunner(runner=BY_NAME[module], argv=(*argv[: at + 2], *with_slot_at_the_end(rest)))
    if module == "unittest":
        ours = (UNITTEST, f"--report={REPORT}", "unittest")
        return FoundRunner(runner=OUR_UNITTEST, argv=(*argv[:at], *ours, *rest, _SLOT))
    if module == "coverage" and rest[:1] == ("run",):
        return _module(argv, at + 1)
    if module == "django" and rest[:1] == ("test",):
        return _command(BY_COMMAND["django", "test"], argv, at + 2)
    return None
