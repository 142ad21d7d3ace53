"""The packages of a workspace, told apart in what a run of all of them printed. Pure.

Package managers run the script of each package, side by side or in turn, and say in their own way whose lines are
whose. What is taken for a package and is none has no tests to count, and takes nothing from the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# pnpm, yarn, turbo and lerna put a name before each line; all but yarn begin with a line that shows it.
_BEFORE_EACH = (
    re.compile(r"^(\S+ [\w:.-]+)\$ \S", re.MULTILINE),
    re.compile(r"^(\[[\w@./-]+\]): ", re.MULTILINE),
    re.compile(r"^(\S+:[\w-]+): cache (?:miss|hit|bypass)\b", re.MULTILINE),
    re.compile(r"^(\S+): > \S+@\S+ [\w:.-]+$", re.MULTILINE),
)
# npm and the first yarn run one after the other, each under a headline.
_HEADLINE = re.compile(r"^> (\S+?)@\S+ [\w:.-]+\n> .+$|^> (\S+)\n(?:(?:yarn run|warning) .*\n)*\$ .+$", re.MULTILINE)

# jest speaks on the other stream, where no headline stands: once for each of them, in the same order.
_CLOSING = re.compile(r"^Ran all test suites.*(?:\n|\Z)", re.MULTILINE)
_RUNS_OTHERS = re.compile(r"\b(?:workspaces?|-ws)\b")


def voices(*streams: str) -> dict[str, str]:
    """Each package with what it printed. All of it is one nameless voice, where there are not several."""
    prefixes = {match[1] for text in streams for pattern in _BEFORE_EACH for match in pattern.finditer(text)}
    found: dict[str, str] = {}
    heads = [head for text in streams for head in _HEADLINE.finditer(text) if not _RUNS_OTHERS.search(head[0])]
    turns = tuple(head[1] or head[2] for head in heads)
    for text in streams:
        for name, said in _by_prefix(text, prefixes) if prefixes else _by_turn(text, turns) or _by_headline(text):
            found[name] = f"{found[name]}\n{said}" if name in found else said
    return found if prefixes or len(found.keys() - {""}) > 1 else {"": "\n".join(streams)}


def _by_prefix(text: str, prefixes: set[str]) -> Iterator[tuple[str, str]]:
    lines: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, said = _split(line, prefixes)
        lines.setdefault(name, []).append(said)
    return ((name, "\n".join(said)) for name, said in lines.items())


def _split(line: str, prefixes: set[str]) -> tuple[str, str]:
    """`packages/a test: ok 1` is `ok 1`, said by `packages/a`. A prefix may itself have colons."""
    for match in re.finditer(":", line):
        if line[: match.start()] in prefixes:
            return re.split(r"[ :\]]", line.removeprefix("["))[0], line[match.end() :].removeprefix(" ")
    return "", line


def _by_turn(text: str, turns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Empty, where it cannot be told whose turn it was."""
    ends = [closing.end() for closing in _CLOSING.finditer(text)]
    if len(turns) != len(ends) or len(set(turns)) != len(turns) or _HEADLINE.search(text):
        return []
    starts = [0, *ends]
    told = [(name, text[start:end]) for name, start, end in zip(turns, starts, ends, strict=False)]
    return [*told, ("", text[starts[-1] :])] if told else []


def _by_headline(text: str) -> Iterator[tuple[str, str]]:
    heads = list(_HEADLINE.finditer(text))
    ends = [head.start() for head in heads] + [len(text)]
    yield "", text[: ends[0]]
    for head, end in zip(heads, ends[1:], strict=True):
        yield head[1] or head[2], text[head.end() : end]
