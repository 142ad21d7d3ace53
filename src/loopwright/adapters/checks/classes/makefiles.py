"""What a makefile says: its rules, and which files it takes in, by name or by a pattern that a new file may match."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.command_lines import joined, program_named

Rules = Mapping[str, tuple[str, str]]  # what a target needs, and its recipe

_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)([^\n]*)\n?((?:(?:\t| {2,})[^\n]*\n?|[ \t]*\n)*)", re.MULTILINE)
_INCLUDE = re.compile(r"^ *[-s.]?include[ \t]+(.+)$", re.MULTILINE)
_ASSIGNED = re.compile(r"^ *(?:export +|override +)*([\w.-]+)[ \t]*(?:::?:?|[?+])?=[ \t]*(.*)$", re.MULTILINE)
_EXPORTED = re.compile(r"^ *(?:override +)?export +(\w+)[ \t]*(?:::?:?|[?+])?=[ \t]*(.*)$", re.MULTILINE)
_REPLACED = re.compile(r"[\w.-]+:[^=]*=(.*)", re.DOTALL)
_SHELL = re.compile(r"(?:\$[({](?:shell|file)\s|!=)([^\n]*)")
_READ = re.compile(r"(?:\b(?:cat|head|tail)\s+(?:-\w+\s+)*|<\s*)([\w./*?-]+)")
_KEPT = ("wildcard", "sort", "strip", "abspath", "realpath", "wordlist", "filter-out", "firstword", "lastword", "word")
_LISTS = re.compile(r"\$[({](?:foreach|wildcard|sort|strip|filter-out|firstword|lastword|word|addprefix)\s")
_BOUND, _ANY_OF = ("foreach", "call"), ("if", "or", "and", "join")
_DEEPEST = 8  # variables of variables
_ANYTHING = "**"


def read_by_shell(text: str) -> Iterator[str]:
    """Names and patterns of files whose content becomes the value of a variable, and with it a part of commands."""
    joined = text.replace("\\\n", " ")
    for said in _SHELL.findall(with_lists(joined)):
        yield from (posixpath.normpath(word) for word in _READ.findall(said))


def assigned(joined: str) -> dict[str, str]:
    """Everything that is said of each variable."""
    variables: dict[str, str] = {}
    for name, value in _ASSIGNED.findall(joined):
        variables[name] = f"{variables.get(name, '')} {value}"
    return variables


def included(text: str) -> Iterator[str]:
    """Names and patterns; what only make itself could work out is left out, or known by its suffix."""
    joined = text.replace("\\\n", " ")
    variables = assigned(joined)
    for said in _INCLUDE.findall(joined):
        for word in Makefile(variables).expanded(said.partition(" #")[0], 0).split():
            plain = re.sub(r"\*{3,}", _ANYTHING, word.strip("\"'"))
            if plain.strip("*./"):
                yield posixpath.normpath(plain)


def exported(text: str) -> Iterator[tuple[str, str]]:
    """Variables that recipes find in their environment, with their values."""
    yield from _EXPORTED.findall(text.replace("\\\n", " "))


def with_lists(text: str) -> str:
    """The text with patterns for what make would list, and with what it says once for each of them."""
    parts, place, known = [], 0, Makefile(assigned(text))
    for found in _LISTS.finditer(text):
        if found.start() < place or text[: found.start()].endswith("$"):
            continue
        end = _closing(text, found.start() + 1)
        said = known.expanded(text[found.start() : end + 1], 0)
        if "\n" not in said and _ANYTHING not in said.split():
            parts += [text[place : found.start()], said]
            place = end + 1
    return "".join((*parts, text[place:]))


def with_values(text: str) -> str:
    """The text with its variables filled in; one that only make could work out is what its name says."""
    values: dict[str, str] = {}
    for name, value in _ASSIGNED.findall(text := with_lists(text.replace("\\\n", " "))):
        plain = value.partition(" #")[0].strip()
        values[name] = program_named(name) if re.search(r"\$[({]\w+[ ,]", plain) else plain
    for _ in range(_DEEPEST):
        text = re.sub(r"\$[({]([\w.-]+)[)}]", lambda m: values.get(m[1], program_named(m[1])), text)
    return text.replace("$$", "$")


def rules_of(text: str) -> Rules:
    """What several rules say of one target holds together."""
    rules: dict[str, tuple[str, str]] = {}
    for names, needs, recipe in _TARGET.findall(text):
        for name in names.split():
            before = rules.get(name, ("", ""))
            rules[name] = (f"{before[0]} {needs}", before[1] + recipe)
    return rules


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeRequest:
    at: str  # the folder it works in
    files: tuple[str, ...]
    goals: tuple[str, ...]


def asked_of_make(rest: list[str], at: str) -> MakeRequest:
    files, goals, waiting = list[str](), list[str](), iter(rest)
    for word in waiting:
        option, is_joined, value = word.partition("=")
        if option in ("-C", "--directory"):
            at = joined(at, value if is_joined else next(waiting, ""))
        elif word.startswith("-C"):
            at = joined(at, word[2:])
        elif option in ("-f", "--file", "--makefile"):
            files.append(joined(at, value if is_joined else next(waiting, "")))
        elif not word.startswith("-") and not is_joined:
            goals.append(word)
    return MakeRequest(at=at, files=tuple(files), goals=tuple(goals))


@dataclass(frozen=True, slots=True)
class Makefile:
    variables: Mapping[str, str]

    def expanded(self, said: str, depth: int) -> str:
        parts, place = [], 0
        while (begin := said.find("$", place)) >= 0 and depth < _DEEPEST:
            end = _closing(said, begin + 1)
            parts += [said[place:begin], self.value(said[begin + 2 : end], depth + 1)]
            place = end + 1
        return "".join((*parts, said[place:] if depth < _DEEPEST else _ANYTHING))

    def value(self, inner: str, depth: int) -> str:
        if re.fullmatch(r"[\w.-]+", inner):
            return self.expanded(self.variables.get(inner, _ANYTHING), depth).strip()
        if replaced := _REPLACED.fullmatch(inner):
            return _by_suffix(replaced[1])
        name, _, rest = inner.strip().partition(" ")
        given = arguments(rest)
        if name in _KEPT:
            return self.expanded(given[-1], depth)
        if name == "addprefix":
            return " ".join(f"{given[0].strip()}{word}" for word in self.expanded(given[-1], depth).split())
        if name in ("patsubst", "subst") and len(given) > 1:
            return _by_suffix(given[1])
        if name in ("addsuffix", "filter"):
            return _by_suffix(given[0])
        if name in _BOUND:
            return self._bound(name, given, depth)
        if name in _ANY_OF and len(given) > 1:
            return " ".join(self.expanded(each, depth) for each in given)
        if name == "shell":
            return " ".join(f"**/{posixpath.basename(word)}" for word in re.findall(r"[\w./*-]*\*[\w./*-]+", rest))
        return _ANYTHING

    def _bound(self, name: str, given: list[str], depth: int) -> str:
        """Said once for each, or by a function of the makefile's own: what stands there with its names filled in."""
        match given:
            case [each, among, said] if name == "foreach":
                bound = {each.strip(): among}
            case _:
                bound = {str(place): each for place, each in enumerate(given)}
                said = self.variables.get(given[0].strip(), _ANYTHING)
        values = {each: self.expanded(value, depth) for each, value in bound.items()}
        return Makefile({**self.variables, **values}).expanded(said, depth)


def _closing(said: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; without one, a single letter is the name."""
    open_brackets = 0
    for place in range(start, len(said)):
        open_brackets += (said[place] in "({") - (said[place] in ")}")
        if not open_brackets:
            return place
    return len(said)


def arguments(rest: str) -> list[str]:
    found, open_brackets = [""], 0
    for letter in rest:
        open_brackets += (letter in "({") - (letter in ")}")
        if letter == "," and not open_brackets:
            found.append("")
        else:
            found[-1] += letter
    return found


def _by_suffix(word: str) -> str:
    _, dot, suffix = word.strip().rpartition(".")
    return f"**/*.{suffix}" if dot and re.fullmatch(r"\w+", suffix) else _ANYTHING
