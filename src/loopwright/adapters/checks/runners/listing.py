"""The tests that runners list in their output, each by its id, and those that they name as failing. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.adapters.checks.reports import Outcome

Listed = Iterator[tuple[str, Outcome]]


def matches(pattern: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(pattern, text, re.MULTILINE))


def _how(word: str) -> Outcome:
    if word.startswith(("ok", "PASS", "XPASS", "unexpected")):
        return "passed"
    return "failed" if word.startswith(("FAIL", "ERROR", "not ok")) else "skipped"


def nothing(_: str) -> Listed:
    return iter(())


def by_cargo(text: str) -> Listed:
    for match in matches(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b", text):
        yield match[1], _how(match[2])


def by_unittest(text: str) -> Listed:
    words = r"ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success"
    for match in matches(rf"^(\w+) \(([\w.]+)\)(?:\n[^\n]*?)?? \.\.\. ({words})$", text):
        name, place, how = match.groups()
        test = place if place.endswith(f".{name}") else f"{place}.{name}"
        yield test, "failed" if how == "unexpected success" else _how(how)


def by_pytest(text: str) -> Listed:
    words = "PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS"
    for match in matches(rf"^(?:(\S+::.+?) ({words})\b|\[gw\d+\] \[ *\d+%\] ({words}) (\S+::.+?)\s*$)", text):
        yield (match[1] or match[4]), _how(match[2] or match[3])


def by_go(text: str) -> list[tuple[str, Outcome]]:
    """The name of a package comes after its tests."""
    tests: list[tuple[str, Outcome]] = []
    waiting: list[tuple[str, Outcome]] = []
    for match in matches(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(|^(?:ok|FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\))", text):
        if match[2]:
            waiting.append((match[2], _how(match[1])))
        else:
            tests += [(f"{match[3]} > {test}", how) for test, how in waiting]
            waiting = []
    return tests + waiting


def as_tap(text: str) -> Listed:
    """List points by their names below those of their subtests, which stand before, or behind in braces."""
    above: dict[int, str] = {}
    point = r"(not ok|ok) \d+(?: -)?(?: (.*?))?(?: # (?:(SKIP|TODO|skip|todo)\b.*?|time=\S+))?( \{)?$"
    for match in matches(rf"^((?: {{4}})*)(?:# Subtest: (.*)$|{point})", text):
        depth, subtest, word, name, directive, brace = len(match[1]) // 4, *match.groups()[1:]
        if depth > len(above):  # what a test printed was not announced
            continue
        above = {at: each for at, each in above.items() if at < depth}
        if word:
            yield " > ".join(filter(None, (*above.values(), name))), "skipped" if directive else _how(word)
        if brace or not word:
            above[depth] = subtest or name or ""


def by_tape(text: str) -> Listed:
    """Points have numbers, and stand under the name of their test."""
    above = ""
    point = r"^(not ok|ok) \d+(?: -)?(?: (.*?))?(?: # (SKIP|TODO|skip|todo)\b.*)?$|^# (?!(?:tests|pass|fail) )(.+)$"
    for match in matches(point, text):
        if match[4] is not None:
            above = match[4]
        else:
            yield " > ".join(filter(None, (above, match[2]))), "skipped" if match[3] else _how(match[1])


def by_node(text: str) -> Listed:
    """Whatever has tests in it is named before them, and told after them."""
    yield from _nested_tap(text) if "# Subtest: " in text else _nested_marks(text)


def _nested_tap(text: str) -> Listed:
    above: dict[int, str] = {}
    result = r"(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO)\b.*)?$(?!\n *---\n.*\n *type: 'suite')"
    for match in matches(rf"^( *)(?:# Subtest: (.*)$|{result})", text):
        depth = len(match[1]) // 4
        if match[2] is not None:
            above = {at: name for at, name in above.items() if at < depth} | {depth: match[2]}
        elif above.get(depth) == match[4]:  # what a test printed was not announced
            name = " > ".join(above[at] for at in sorted(above) if at <= depth)
            yield name.replace("\\#", "#"), "skipped" if match[5] else _how(match[3])


def _nested_marks(text: str) -> Listed:
    """As it looks for people. Suites and tests that have tests look alike: they are left out where all are suites."""
    told, parents = [], 0
    above: dict[int, str] = {}
    whole = text.partition("\n\u2716 failing tests:")[0]  # where they are told once more
    for match in matches(r"^( *)([\u25b6\u2714\u2716\ufe63]) (.+?)(?: \([\d.]+ms\))?(?: # (SKIP|TODO)\b.*)?$", whole):
        depth, mark, name = len(match[1]) // 2, match[2], match[3]
        is_parent = above.get(depth) == name
        above = {at: each for at, each in above.items() if at < depth}
        if mark == "\u25b6" and not is_parent:
            above[depth] = name
            continue
        parents += is_parent
        how: Outcome = "failed" if mark == "\u2716" else "skipped" if match[4] else "passed"
        told.append((" > ".join((*(above[at] for at in sorted(above)), name)), how, is_parent))
    suites = sum(int(match[1]) for match in matches(r"^\u2139 suites (\d+)$", text))
    yield from ((name, how) for name, how, is_parent in told if not (is_parent and suites == parents))


# Names of tests that fail, from runners that list no others


def failing_in_mocha(text: str) -> Iterator[str]:
    for match in matches(r"^  \d+\) (.+(?:\n {5,}\S.*)*?):$", text):
        *suites, name = (line.strip() for line in match[1].splitlines())
        yield ".".join(filter(None, (" ".join(suites), name)))


def failing_in_jest(text: str) -> Iterator[str]:
    file = ""
    for match in matches(r"^ *FAIL (\S+).*$|^  \u25cf (.+)$", text):
        if match[1]:
            file = match[1]
        elif match[2] == "Test suite failed to run":
            yield file
        elif match[2] != "Console":
            yield " > ".join(filter(None, (file, *match[2].split(" \u203a "))))


def failing_in_vitest(text: str) -> Iterator[str]:
    for match in matches(r"^ FAIL +(?:\|[^|\n]*\| )?(\S.*?)(?: \[ .* \])?$", text):
        yield match[1]


def failing_in_pytest(text: str) -> Iterator[str]:
    for match in matches(r"^(?:FAILED|ERROR) (\S+\.py(?:::\S.*?)?)(?: - .*)?$", text):
        yield match[1]


def failing_in_unittest(text: str) -> Iterator[str]:
    """From the headlines above tracebacks. A fixture is no test, and named with what it is for."""
    for match in matches(r"^={70}\n(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([\w.]+)\)", text):
        name, place = match.groups()
        if name.startswith(("setUp", "tearDown")):
            yield f"{name} ({place})"
        else:
            yield place if place.endswith(f".{name}") else f"{place}.{name}"
