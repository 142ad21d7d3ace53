"""What a run's own output says of its tests: the line it closes with counts them, and some runners list each by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loopwright.adapters.checks.ids import Outcomes, steady_id
from loopwright.adapters.checks.reports import Outcome, Report, counted, failed_test
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LARGEST_TEXT = 20_000


def read_output(text: str, runner: str = "") -> Report | None:
    """The tests a run speaks of in its output; None when it does not count any. No runner: any that is recognised."""
    text = _COLOUR.sub("", text).replace("\r\n", "\n")
    told = [(family, family.count(text)) for family in _FAMILIES if not runner or runner in family.runners]
    counts = [(family, count) for family, count in told if count is not None]
    if not counts:
        return None
    outcomes: Outcomes = ()
    for family, count in counts:
        listed = tuple((steady_id(visible(test)), how) for test, how in family.listed(text))
        # Output of tests stands between these lines: a list that is not whole says nothing of what is missing.
        outcomes += listed if counted(listed) == count else ()
    failed = tuple(_failure(text, test) for test, how in outcomes if how == "failed")
    return Report(tests=sum(count for _, count in counts), failures=failed, outcomes=outcomes)


def _failure(text: str, test: str) -> Finding:
    block = _block(text, test)
    panic = re.search(r"panicked at .*\n(.*)", block)
    last = block.rstrip().rpartition("\n")[2]  # where a traceback says what was raised
    return failed_test(test, message=panic[1] if panic else last, text=block)


def _block(text: str, test: str) -> str:
    """What the runner printed about one failing test, under a headline that names it."""
    last = test.rpartition(".")[2]
    heads = (rf"^---- {re.escape(test)} stdout ----$", rf"^(?:FAIL|ERROR): {re.escape(last)} \(.*$")
    for head in heads:
        if found := re.search(head, text, re.MULTILINE):
            rest = text[found.start() : found.start() + _LARGEST_TEXT]
            ends = re.search(r"\n(?:={70}|-{70}\nRan .*|---- .* stdout ----|failures:)\n", rest[1:])
            return rest[: ends.start() + 1] if ends else rest
    return ""


# Lines that close


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(pattern, text, re.MULTILINE))


def _sum(pattern: str) -> Callable[[str], int | None]:
    """Adds the groups named `ran…` and takes off those named `not…`, over all lines that match."""

    def count(text: str) -> int | None:
        found = [match.groupdict() for match in _matches(pattern, text)]
        signed = ((-1 if name.startswith("not") else 1) * int(n or 0) for one in found for name, n in one.items())
        return sum(signed) if found else None

    return count


def _words(pattern: str, ran: tuple[str, ...]) -> Callable[[str], int | None]:
    """Of a line such as `2 failed, 12 passed, 1 skipped`: what these words count."""

    def count(text: str) -> int | None:
        lines = [match[1] for match in _matches(pattern, text)]
        pairs = (pair for line in lines for pair in re.findall(r"(\d+) (\w+)", line))
        return sum(int(number) for number, word in pairs if word.rstrip("s") in ran) if lines else None

    return count


def _unittest(text: str) -> int | None:
    ran = _sum(r"^Ran (?P<ran>\d+) tests? in ")(text)
    skipped = _sum(r"^(?:OK|FAILED|NO TESTS RAN) \(.*?skipped=(?P<ran>\d+)")(text) or 0
    expected = _sum(r"^(?:OK|FAILED) \(.*?expected failures=(?P<ran>\d+)")(text) or 0
    return None if ran is None else ran - skipped - expected


def _node(text: str) -> int | None:
    found = _matches(r"^(?:#|\u2139) (tests|skipped|todo) (\d+)$", text)
    signed = (int(match[2]) * (1 if match[1] == "tests" else -1) for match in found)
    return sum(signed) if any(match[1] == "tests" for match in found) else None


def _go(text: str) -> int | None:
    tests = _listed_by_go(text)
    return counted(tuple(tests)) if tests else None


def _tap(text: str) -> int | None:
    if _node(text) is not None or not re.search(r"^1\.\.\d+$", text, re.MULTILINE):
        return None
    return counted(tuple(_listed_as_tap(text)))


# Lines that list


_Listed = Iterator[tuple[str, Outcome]]


def _how(word: str) -> Outcome:
    if word.startswith(("ok", "PASS", "XPASS", "unexpected")):
        return "passed"
    return "failed" if word.startswith(("FAIL", "ERROR", "not ok")) else "skipped"


def _nothing(_: str) -> _Listed:
    return iter(())


def _listed_by_cargo(text: str) -> _Listed:
    for match in _matches(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b", text):
        yield match[1], _how(match[2])


def _listed_by_unittest(text: str) -> _Listed:
    words = r"ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success"
    for match in _matches(rf"^(\w+) \(([\w.]+)\)(?:\n[^\n]*?)?? \.\.\. ({words})$", text):
        name, place, how = match.groups()
        test = place if place.endswith(f".{name}") else f"{place}.{name}"
        yield test, "failed" if how == "unexpected success" else _how(how)


def _listed_by_pytest(text: str) -> _Listed:
    words = "PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS"
    for match in _matches(rf"^(?:(\S+::.+?) ({words})\b|\[gw\d+\] \[ *\d+%\] ({words}) (\S+::.+?)\s*$)", text):
        yield (match[1] or match[4]), _how(match[2] or match[3])


def _listed_by_go(text: str) -> list[tuple[str, Outcome]]:
    """The name of a package comes after its tests."""
    tests: list[tuple[str, Outcome]] = []
    waiting: list[tuple[str, Outcome]] = []
    for match in _matches(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(|^(?:ok|FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\))", text):
        if match[2]:
            waiting.append((match[2], _how(match[1])))
        else:
            tests += [(f"{match[3]} > {test}", how) for test, how in waiting]
            waiting = []
    return tests + waiting


def _listed_as_tap(text: str) -> _Listed:
    for match in _matches(r"^(not ok|ok) \d+(?: -)?(?: (.*?))?(?: # (SKIP|TODO|skip|todo)\b.*)?$", text):
        yield match[2] or "", "skipped" if match[3] else _how(match[1])


@dataclass(frozen=True, slots=True)
class _Family:
    """Runners that close alike."""

    runners: tuple[str, ...]
    count: Callable[[str], int | None]
    listed: Callable[[str], _Listed] = _nothing


_RAN = ("passed", "failed", "error", "xpassed", "pass", "fail")
_FAMILIES = (
    _Family(("unittest", "django", "nose2"), _unittest, _listed_by_unittest),
    _Family(("pytest",), _words(r"^(?:=+ )?((?:\d+ \w+, )*\d+ \w+|no tests ran) in [\d.:]+s", _RAN), _listed_by_pytest),
    _Family(("node", "tape"), _node),
    _Family(("bats", "tape"), _tap, _listed_as_tap),
    _Family(("mocha",), _sum(r"^ +(?:(?P<ran>\d+) passing \(|(?P<ran_too>\d+) failing$)")),
    _Family(("jest",), _words(r"^Tests: +(.*, )\d+ total$", _RAN)),
    _Family(("vitest",), _words(r"^ *Tests  +(.*) \(\d+\)$", _RAN)),
    _Family(
        ("cargo",),
        _sum(r"^test result: \w+\. (?P<ran>\d+) passed; (?P<ran_too>\d+) failed;"),
        _listed_by_cargo,
    ),
    _Family(("nextest",), _sum(r"^ *Summary \[.*?\] +(?P<ran>\d+)(?:/\d+)? tests? run:")),
    _Family(("go",), _go, lambda text: iter(_listed_by_go(text))),
    _Family(("rspec",), _sum(r"^(?P<ran>\d+) examples?, \d+ failures?(?:, (?P<not_ran>\d+) pending)?")),
    _Family(
        ("phpunit",),
        _sum(
            r"^(?:OK \((?P<ran>\d+) tests?, \d+ assertions?\)|Tests: (?P<ran_too>\d+), Assertions: \d+"
            r"(?:.*Skipped: (?P<not_ran>\d+))?)"
        ),
    ),
    _Family(
        ("mvn", "mvnw"),
        _sum(r"^(?:\[\w+\] )?Tests run: (?P<ran>\d+), Failures: \d+, Errors: \d+, Skipped: (?P<not_ran>\d+)$"),
    ),
    _Family(("dotnet",), _sum(r"Failed: +(?P<ran>\d+), Passed: +(?P<ran_too>\d+), Skipped: +\d+, Total: +\d+")),
    _Family(("ctest",), _sum(r"^\d+% tests passed, \d+ tests? failed out of (?P<ran>\d+)$")),
    _Family(("rails",), _sum(r"^(?P<ran>\d+) runs, \d+ assertions, \d+ failures, \d+ errors, (?P<not_ran>\d+) skips")),
    _Family(("mix",), _sum(r"^(?:\d+ doctests?, )?(?P<ran>\d+) tests?, \d+ failures?")),
    _Family(("ava",), _sum(r"^ +(?P<ran>\d+) tests? (?:passed|failed)$")),
    _Family(("jasmine",), _sum(r"^(?P<ran>\d+) specs?, \d+ failures?(?:, (?P<not_ran>\d+) pending specs?)?$")),
    _Family(("bun",), _sum(r"^ +(?P<ran>\d+) (?:pass|fail)$")),
    _Family(("deno",), _sum(r"^(?:ok|FAILED) \| (?P<ran>\d+) passed(?: \(.*?\))? \| (?P<ran_too>\d+) failed")),
    _Family(("prove",), _sum(r"^Files=\d+, Tests=(?P<ran>\d+),")),
    _Family(("swift",), _sum(r"^\s*Executed (?P<ran>\d+) tests?, with \d+ failures? .*$")),
)
