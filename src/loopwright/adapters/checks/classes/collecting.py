"""What runners collect by themselves or by configuration: texts with examples, patterns of names, set-up files."""

from __future__ import annotations

import fnmatch
import itertools
import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.called import Command
from loopwright.kernel.judges import Judge, judge_by_name

# A runner that imports whatever has the name of a test, by a pattern without an underscore.
_DISCOVERING = re.compile(
    r"""-m["',\s]+(?:unittest|nose2?)\b | \bnose2\b | (?:manage\.py|django-admin|-m\s+django)["',\s]+test\b""",
    re.VERBOSE,
)
_WITH_VALUE = ("-s", "--start-directory", "-p", "--pattern", "-t", "--top-level-directory", "-k")
_USUAL_NAMES = "test*.py"
_COLLECTED_TEXTS = ("test*.txt",)  # pytest takes the examples of these for tests, without being told


@dataclass(frozen=True, slots=True)
class Discovery:
    """Imports files of this name below `start`, package by package. None: nobody knows where it starts."""

    start: str | None = ""
    names: str = _USUAL_NAMES

    def imports(self, path: str, tracked: frozenset[str]) -> bool:
        *folders, name = path.split("/")
        if not fnmatch.fnmatchcase(name, self.names) or not path.endswith(".py"):
            return False
        if self.start is None:
            return True
        begin = len(self.start.split("/")) if self.start else 0
        if "/".join(folders[:begin]) != self.start:
            return False
        below = range(begin + 1, len(folders) + 1)
        return all(f"{'/'.join(folders[:depth])}/__init__.py" in tracked for depth in below)


def discoveries(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[Discovery, ...]:
    """Where checks let a runner find tests by their names; by their commands, or by the scripts these call."""
    written = (line for text in texts.values() for line in text.replace("\\\n", " ").splitlines())
    found = (_discovery(line) for line in itertools.chain(map(" ".join, commands), written))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _discovery(line: str) -> Discovery | None:
    found = _DISCOVERING.search(line)
    if found is None:
        return None
    words = re.findall(r"""[^\s"',\[\]&;|]+""", re.split(r"&&|;|\|", line[found.end() :])[0].replace("=", " "))
    plain = [word for before, word in zip(["", *words], words, strict=False) if before not in _WITH_VALUE]
    plain = [word for word in plain if not word.startswith("-")]
    if "unittest" in found[0] and plain and plain[0] != "discover":
        return None  # its tests are named one by one
    given = dict(itertools.pairwise(words))
    rest = plain[1:] if "unittest" in found[0] else []
    start = given.get("-s", given.get("--start-directory", rest[0] if rest else "."))
    names = given.get("-p", given.get("--pattern", rest[1] if len(rest) > 1 else _USUAL_NAMES))
    is_elsewhere = "$" in start or re.search(r"\bcd\s", line[: found.start()])
    folder = posixpath.normpath(start if "/" in start or start == "." else start.replace(".", "/"))
    return Discovery(None if is_elsewhere else folder.removeprefix("."), _USUAL_NAMES if "$" in names else names)


def runs_doctests(commands: Iterable[Command], texts: Mapping[str, str]) -> bool:
    """Whether a check collects the examples in docstrings: by its command, or by what configures its runner."""
    said = "\n".join([" ".join(command) for command in commands] + [t for p, t in texts.items() if "/" not in p])
    return re.search(r"doctest[-_]?modules|doctest_plus|-m doctest|with-doctest|xdoctest|testmod\(", said) is not None


def doctest_globs(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Patterns of texts that are collected as tests."""
    said = "\n".join([" ".join(command) for command in commands] + [t for p, t in texts.items() if "/" not in p])
    told = re.findall(r"doctest-glob[=\s]+[\"']?([^\s\"',\]]+)", said)
    return tuple(dict.fromkeys((*told, *_COLLECTED_TEXTS)))


def collected_globs(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Patterns of files that a runner is told to collect, besides those it knows by itself."""
    found = [
        word for command in commands for before, word in itertools.pairwise(command) if before in ("-p", "--pattern")
    ]
    for path, text in texts.items():
        if "/" not in path and judge_by_name(path) in (Judge.RUNNER, Judge.MANIFEST):
            found += re.findall(r"^\s*python_files\s*=\s*(.+)$", text, re.MULTILINE)
            found += re.findall(r"""["']?(?:testMatch|spec|include)["']?\s*[:=]\s*(\[[^\]]*\])""", text)
    words = [word.strip("\"'[],") for value in found for word in value.split()]
    return tuple(
        dict.fromkeys(f"**/{posixpath.basename(word)}" for word in words if "*" in posixpath.basename(word)[:-2])
    )


def configured_setups(texts: Mapping[str, str], paths: frozenset[str]) -> frozenset[str]:
    """Files that the configuration of a runner loads first: set-up of jest and vitest, what mocha requires."""
    found: set[str] = set()
    for path, text in texts.items():
        if "/" in path or judge_by_name(path) not in (Judge.RUNNER, Judge.MANIFEST):
            continue
        part = _sections(path, text)
        keys = (
            r"(?:setup\w*|globalSetup|globalTeardown|require|file|import|bootstrap|testEnvironment|transform|resolver)"
        )
        for value in re.findall(rf"""["']?{keys}["']?\s*[:=]\s*(\[[^\]]*\]|\{{[^}}]*\}}|["'][^"']+["']|\S+)""", part):
            for word in re.findall(r"[\w@./<>-]+", value):
                name = posixpath.normpath(word.replace("<rootDir>/", "").removeprefix("/"))
                found.update(p for p in (name, f"{name}.js", f"{name}.ts", f"{name}.py") if p in paths)
    return frozenset(found)


def _sections(path: str, text: str) -> str:
    """What of a manifest configures runners; of any other file the whole."""
    try:
        if path == "package.json":
            data = json.loads(text)
            wanted = ("jest", "mocha", "tap", "ava", "nyc", "c8", "vitest", "jasmine")
            return json.dumps({k: data[k] for k in wanted if k in data}) if isinstance(data, dict) else ""
        if path == "pyproject.toml":
            tools = tomllib.loads(text).get("tool", {})
            return json.dumps({k: v for k, v in tools.items() if k in ("pytest", "tox", "nose2")})
    except (ValueError, RecursionError):
        return text
    return text
