"""Sources of compiled languages that only tests are made of: a build says so where no name does."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.makefiles import Makefile, arguments, assigned
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, judge_by_name

Words = frozenset[str]  # names and patterns of files

_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".f90", ".d", ".zig", ".nim", ".hs", ".ml", ".adb", ".pas")
_OF_TESTS = re.compile(r"(?:^|[-_./])(?:(?:unit|run|self)?-?tests?|checks?|specs?|verify)(?:$|[-_.\d])", re.IGNORECASE)
_USUAL = ("all", "build", "default", "install", "lib", "static", "shared", "release", "debug", "dist")
_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)([^\n]*)\n?((?:(?:\t| {2,})[^\n]*\n?|[ \t]*\n)*)", re.MULTILINE)
_FOUND = re.compile(r"\bfind\s+([\w./-]+).*?-name\s+[\"']?([\w.*?-]+)")
_CMAKE = re.compile(r"(\w+)\s*\(([^()]*)\)")
_STARTS_TESTS = ("add_test", "gtest_discover_tests", "catch_discover_tests", "doctest_discover_tests")
_COMPILES = re.compile(r"(?:^|[;&\s])(?:cc|gcc|clang|c\+\+|g\+\+|clang\+\+|\$\{?CC\}?)\s([^\n;&|]*)", re.MULTILINE)
_MAIN = re.compile(r"\bmain\s*\(")
_SAYS = re.compile(
    r"\bassert\w*\s*\(|\b(?:EXPECT|ASSERT|CHECK|REQUIRE|TEST|RUN_TEST|START_TEST|CU|mu|ck)_?\w*\s*\(|\bnot ok\b"
    r"|\b(?:fail|pass)(?:ed|ures?)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeForTests:
    """`tests` and `others` are what is made for testing, and for anything else."""

    tests: Words = frozenset()
    others: Words = frozenset()

    def may_be_tests(self, paths: Iterable[str], is_test: Callable[[str], bool]) -> tuple[str, ...]:
        """Sources of the base that are no tests by their names, and that nothing else is made of."""
        found = (path for path in paths if path.endswith(_COMPILED) and not is_test(path))
        return tuple(path for path in found if _is_among(path, self.tests) and not _is_among(path, self.others))

    def are_tests(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        """A program that only tests start may be the product itself: a test says what it thinks of a result."""
        told = sorted(path for path, text in texts.items() if _SAYS.search(text))
        return tuple(path for path in told if self.others or _MAIN.search(texts[path]))


def made(commands: Iterable[tuple[str, ...]], texts: Mapping[str, str]) -> MadeForTests:
    """By the commands of checks, and the files of the base that say how things are built and what checks run."""
    goals = frozenset(word for command in commands for each in command[1:] for word in each.split())
    tests, others = set(goals), set[str]()
    for path, text in texts.items():
        if judge_by_name(path) is not Judge.BUILD:
            tests.update(word for line in _COMPILES.findall(text) for word in line.split())
            continue
        ours, theirs = _cmake(text) if posixpath.basename(path) == "CMakeLists.txt" else _make(text, goals)
        folder = posixpath.dirname(path)
        tests.update(posixpath.normpath(posixpath.join(folder, word)) for word in ours)
        others.update(posixpath.normpath(posixpath.join(folder, word)) for word in theirs)
    return MadeForTests(tests=_sources(tests), others=_sources(others))


def _sources(words: Iterable[str]) -> Words:
    return frozenset(word for word in words if word.endswith(_COMPILED))


def _is_among(path: str, words: Words) -> bool:
    return path in words or any("*" in word and matches(path, word) for word in words)


def _make(text: str, goals: frozenset[str]) -> tuple[Iterable[str], Iterable[str]]:
    joined = text.replace("\\\n", " ")
    build = _Build(_Values(assigned(joined)), joined)
    testing = {name for name in build.rules if _OF_TESTS.search(name)} | {name for name in goals if name not in _USUAL}
    phony = build.rules.get(".PHONY", ("", ""))[0].split()
    first = next((name for name in build.rules if not name.startswith(".") and "%" not in name), "")
    roots = dict.fromkeys((first, *phony, *_USUAL))
    programs = tuple(_programs(build.values.variables, "check_"))
    return (
        (*build.made_of(tuple(testing), frozenset()), *programs),
        (
            *build.made_of(tuple(name for name in roots if name not in testing), frozenset(testing)),
            *_programs(build.values.variables, "bin_", "lib_", "sbin_", "libexec_"),
        ),
    )


def _programs(variables: Mapping[str, str], *prefixes: str) -> Iterator[str]:
    """Of automake: what each program or library of a list is made of."""
    for prefix in prefixes:
        for kind in ("PROGRAMS", "LTLIBRARIES", "LIBRARIES"):
            for name in variables.get(f"{prefix}{kind}", "").split():
                sources = variables.get(f"{re.sub(r'[^0-9A-Za-z_@]', '_', name)}_SOURCES")
                yield from sources.split() if sources is not None else (f"{name}.c",)


@dataclass(frozen=True, slots=True)
class _Values(Makefile):
    """Values as far as they are written down: what nobody can read names no file."""

    def value(self, inner: str, depth: int) -> str:
        if re.fullmatch(r"[\w.-]+", inner):
            return self.expanded(self.variables.get(inner, ""), depth).strip()
        if replaced := re.fullmatch(r"([\w.-]+):([^=]*)=(.*)", inner, re.DOTALL):
            old, new = (each if "%" in each else f"%{each}" for each in (replaced[2].strip(), replaced[3].strip()))
            return _replaced(self.expanded(self.variables.get(replaced[1], ""), depth), old, new)
        name, _, rest = inner.strip().partition(" ")
        given = [self.expanded(each, depth).strip() for each in arguments(rest)]
        match name, given:
            case "patsubst", [old, new, words]:
                return _replaced(words, old, new)
            case "addprefix", [prefix, words]:
                return " ".join(prefix + word for word in words.split())
            case "addsuffix", [suffix, words]:
                return " ".join(word + suffix for word in words.split())
            case "notdir", [words]:
                return " ".join(map(posixpath.basename, words.split()))
            case "shell", _:
                return " ".join(f"{folder}/**/{pattern}" for folder, pattern in _FOUND.findall(rest))
            case (("wildcard" | "sort" | "strip" | "abspath" | "realpath" | "filter" | "filter-out"), [*_, words]):
                return words
            case _:
                return ""


def _replaced(words: str, old: str, new: str) -> str:
    return " ".join(new.replace("%", stem) if (stem := _stem(word, old)) else word for word in words.split())


def _stem(word: str, pattern: str) -> str:
    before, _, after = pattern.partition("%")
    fits = len(word) > len(before) + len(after) and word.startswith(before) and word.endswith(after)
    return word[len(before) : len(word) - len(after)] if fits else ""


class _Build:
    def __init__(self, values: _Values, text: str) -> None:
        self.values = values
        self.rules: dict[str, tuple[str, str]] = {}
        for names, needs, recipe in _TARGET.findall(text):
            for name in values.expanded(names, 0).split():
                before = self.rules.get(name, ("", ""))
                said = (values.expanded(needs.partition(";")[0], 0), values.expanded(recipe, 0))
                self.rules[name] = (f"{before[0]} {said[0]}", f"{before[1]} {said[1]}")

    def made_of(self, goals: tuple[str, ...], without: frozenset[str]) -> Iterator[str]:
        """Every file that these goals are made of, or whose recipes name it; not what `without` is made of."""
        waiting, done = list(goals), set(without)
        while waiting:
            goal = waiting.pop()
            if goal in done:
                continue
            done.add(goal)
            rule = self.rules.get(goal) or self._by_pattern(goal)
            if rule is not None:
                waiting += rule[0].split()
                yield from (word.strip("\"';()") for word in rule[1].split())
            elif goal.endswith((".o", ".lo", ".obj")):
                bare = posixpath.splitext(goal)[0]
                stem = bare if "*" in bare else f"**/{posixpath.basename(bare)}"
                yield from (stem + suffix for suffix in _COMPILED)
            else:
                yield goal

    def _by_pattern(self, goal: str) -> tuple[str, str] | None:
        for name, (needs, recipe) in self.rules.items():
            if "%" in name and (stem := _stem(goal, name)):
                return needs.replace("%", stem), recipe
        return None


def _cmake(text: str) -> tuple[Iterable[str], Iterable[str]]:
    """What is started as a test, or is a program that is named for it, and all else that is made."""
    values: dict[str, list[str]] = {}
    made_of: dict[str, list[str]] = {}
    started: set[str] = set()
    for command, said in _CMAKE.findall(re.sub(r"#[^\n]*", "", text)):
        filled = re.sub(r"\$\{(\w+)\}", lambda found: " ".join(values.get(found[1], ())), said)
        words = re.findall(r"[^\s\"]+", filled)
        if command.lower() in ("set", "list", "file") and words:
            at = next((place for place, word in enumerate(words) if re.fullmatch(r"[\w-]+", word)), 0)
            name = words[1] if command.lower() != "set" and len(words) > 1 else words[at]
            values.setdefault(name, []).extend(words[1:])
        elif command.lower() in ("add_executable", "add_library", "target_sources") and words:
            made_of.setdefault(words[0], []).extend(words[1:])
        elif command.lower() in _STARTS_TESTS:
            started.update(re.findall(r"[\w-]+", filled))
    tests = {name for name in made_of if name in started or _OF_TESTS.search(name)}
    return (
        [word for name in tests for word in made_of[name]],
        [word for name, words in made_of.items() if name not in tests for word in words],
    )
