"""What a run's own output says of its tests: the line it closes with counts them, and some runners list each by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from loopwright.adapters.checks.ids import Outcomes, steady_id
from loopwright.adapters.checks.reports import Report, counted, failed_test, join_reports
from loopwright.adapters.checks.runners import listing
from loopwright.adapters.checks.runners.listing import Listed, matches
from loopwright.adapters.checks.runners.voices import voices
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LARGEST_TEXT = 20_000
_CRASH = 1000  # characters that a file of tests may have said last
# How node says, in its report and its output, that the process of a file of tests failed.
_FAILED_FILE = re.compile(r"cause: 'test failed'|^ *'test failed'$|^ *exitCode: \d", re.MULTILINE)
# The place of an uncaught error, which stands above its source line, or the error itself.
_THROWN = r"^\S.*:\d+\n(?:.*\n){1,2} *\^|^\w*Error\b.*:"
# What may stand before what a file of tests printed: the end of another result, with what it failed by.
_ENDS_BEFORE = r"^(?: *\.\.\.|TAP version \d+| *[\u2714\u2716\u25b6\u2139\ufe63] .*(?:\n  .*)*)$"


def read_output(text: str, runner: str = "", *, errors: str = "") -> Report | None:
    """The tests a run speaks of in its output; None when it does not count any. No runner: any that is recognised.

    What the packages of a workspace say is told apart: two of them may have tests of the same name.
    """
    streams = (_COLOUR.sub("", stream).replace("\r\n", "\n") for stream in (text, errors))
    said = [(package, _of_one(each, runner)) for package, each in voices(*streams).items()]
    return join_reports([_named_after(package, report) for package, report in said if report is not None])


def _of_one(text: str, runner: str) -> Report | None:
    told = [(family, family.count(text)) for family in _FAMILIES if not runner or runner in family.runners]
    counts = [(family, count) for family, count in told if count is not None]
    if not counts:
        return None
    outcomes: Outcomes = ()
    failing: list[str] = []
    for family, count in counts:
        listed = tuple((steady_id(visible(test)), how) for test, how in family.listed(text))
        # Output of tests stands between these lines: a list that is not whole says nothing of what is missing.
        is_whole = bool(listed) and counted(listed) == count
        outcomes += listed if is_whole else ()
        failing += [test for test, how in listed if how == "failed"] if is_whole else family.failing(text)
    failed = tuple(_failure(text, test) for test in dict.fromkeys(failing))
    report = Report(tests=sum(count for _, count in counts), failures=failed, outcomes=outcomes)
    return _with_load_errors(report, text)


def with_load_errors(report: Report, text: str, *, errors: str = "") -> Report:
    """Say why a file of tests failed as a whole, of which node's report only says that it did: its output has why."""
    said = voices(*(_COLOUR.sub("", stream).replace("\r\n", "\n") for stream in (text, errors)))
    return _with_load_errors(report, "\n".join(said.values()))


def _with_load_errors(report: Report, text: str) -> Report:
    return replace(report, failures=tuple(_with_load_error(each, text) for each in report.failures))


def _with_load_error(failure: Finding, text: str) -> Finding:
    if not _FAILED_FILE.search(failure.evidence):
        return failure
    name = re.escape(failure.rule)
    head = re.search(rf"^(?:# Subtest: {name}|\u2716 {name} \(.*)$", text, re.MULTILINE)
    before = text[: head.start()] if head else ""
    ends = matches(_ENDS_BEFORE, before)
    said = re.sub(r"^# ?", "", before[ends[-1].end() if ends else 0 :], flags=re.MULTILINE)
    thrown = re.search(_THROWN, said, re.MULTILINE)
    said = (said[thrown.start() :] if thrown else said[-_CRASH:]).strip()
    if not said:
        return failure
    return failed_test(failure.rule, message=_message(said), text=said, file=failure.file, line=failure.line)


def _named_after(package: str, report: Report) -> Report:
    if not package:
        return report
    return replace(
        report,
        failures=tuple(
            identify(replace(each, rule=f"{package} > {each.rule}", issue=f"{package} > {each.issue}"))
            for each in report.failures
        ),
        outcomes=tuple((f"{package} > {test}", how) for test, how in report.outcomes),
    )


def _failure(text: str, test: str) -> Finding:
    block = _block(text, test)
    return failed_test(test, message=_message(block), text=block)


def _message(block: str) -> str:
    """What was raised: a traceback has it in its last line, the others say it soon."""
    if "Traceback" in block:
        raised = matches(r"^[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b.*$", block)
        return raised[-1][0] if raised else block.rstrip().rpartition("\n")[2]
    places = (
        r"panicked at .*\n(.*)",
        r"^ *error: (?:\|-\n *)?(.*)$",
        r"^ *(\w*Error\b.*|expect\(.*)$",
        r"\n\s*(\S.*)$",
    )
    found = next((match for place in places if (match := re.search(place, block, re.MULTILINE))), None)
    return re.sub("^'(.*)'$", r"\1", found[1]) if found else ""


def _block(text: str, test: str) -> str:
    """What the runner printed about one failing test, under a headline that names it."""
    last = re.escape(test.rpartition(".")[2])
    name = re.escape(test.rpartition(" > ")[2]).replace(r"\#", r"\\?\#")
    titles = re.escape(" \u203a ".join(test.split(" > ")[1:]))
    heads = (
        rf"^---- {re.escape(test)} stdout ----$",
        rf"^(?:FAIL|ERROR): (?:[\w.]+\.)?{last} \(.*$",
        rf"^ERROR: {re.escape(test)}$",
        rf"^ *not ok \d+(?: -)? {name}(?: # time=.*)?$",
        rf"^ *\u2716 {name} \(.*$",
        rf"^  \u25cf {titles}$",
        rf"^ FAIL +{re.escape(test)}$",
        rf"^ {{5,}}{last}:$",
    )
    for head in heads:
        if found := re.search(head, text, re.MULTILINE):
            rest = text[found.start() : found.start() + _LARGEST_TEXT]
            ends = re.search(_ENDS, rest[1:], re.MULTILINE)
            return rest[: ends.start() + 1] if ends else rest
    return ""


_ENDS = (
    r"\n(?:={70}|-{70}\nRan .*|---- .* stdout ----|failures:)$"
    r"|\n *\.\.\.$|\n(?:  \u25cf |FAIL | FAIL |  \d+\) |Test Suites: |\u23af{4}| *[\u2714\u2716\u25b6] ).*$"
)


# Lines that close


def _sum(pattern: str) -> Callable[[str], int | None]:
    """Adds the groups named `ran…` and takes off those named `not…`, over all lines that match."""

    def count(text: str) -> int | None:
        found = [match.groupdict() for match in matches(pattern, text)]
        signed = ((-1 if name.startswith("not") else 1) * int(n or 0) for one in found for name, n in one.items())
        return sum(signed) if found else None

    return count


def _words(pattern: str, ran: tuple[str, ...]) -> Callable[[str], int | None]:
    """Of a line such as `2 failed, 12 passed, 1 skipped`: what these words count."""

    def count(text: str) -> int | None:
        lines = [match[1] for match in matches(pattern, text)]
        pairs = (pair for line in lines for pair in re.findall(r"(\d+) (\w+)", line))
        return sum(int(number) for number, word in pairs if word.rstrip("s") in ran) if lines else None

    return count


def _unittest(text: str) -> int | None:
    ran = _sum(r"^Ran (?P<ran>\d+) tests? in ")(text)
    skipped = _sum(r"^(?:OK|FAILED|NO TESTS RAN) \(.*?skipped=(?P<ran>\d+)")(text) or 0
    expected = _sum(r"^(?:OK|FAILED) \(.*?expected failures=(?P<ran>\d+)")(text) or 0
    return None if ran is None else ran - skipped - expected


_NODE_FAILS = r"^(?:#|\u2139) fail +(\d+)$"


def _is_nodes_own(text: str) -> bool:
    """tape closes like node's runner, which counts suites as well."""
    return re.search(r"^(?:#|\u2139) suites \d+$", text, re.MULTILINE) is not None


def _tape(text: str) -> int | None:
    return None if _is_nodes_own(text) else _closing_of_node(text)


def _node(text: str) -> int | None:
    return _closing_of_node(text) if _is_nodes_own(text) else None


def _closing_of_node(text: str) -> int | None:
    found = matches(r"^(?:#|\u2139) (tests|skipped|todo) (\d+)$", text)
    signed = (int(match[2]) * (1 if match[1] == "tests" else -1) for match in found)
    return sum(signed) if any(match[1] == "tests" for match in found) else None


def _go(text: str) -> int | None:
    tests = listing.by_go(text)
    return counted(tuple(tests)) if tests else None


def _tap(text: str) -> int | None:
    if _closing_of_node(text) is not None or not re.search(r"^1\.\.\d+$", text, re.MULTILINE):
        return None
    return counted(tuple(listing.as_tap(text)))


@dataclass(frozen=True, slots=True)
class _Family:
    """Runners that close alike."""

    runners: tuple[str, ...]
    count: Callable[[str], int | None]
    listed: Callable[[str], Listed] = listing.nothing
    failing: Callable[[str], Iterable[str]] = lambda _text: ()  # where the list of all is not there, or not whole


def _named(closing: str, names: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    """The names of tests that fail, if the run closes by saying that some do: else they are somebody's output."""
    return lambda text: tuple(names(text)) if any(int(match[1]) for match in matches(closing, text)) else ()


def _red(listed: Callable[[str], Listed]) -> Callable[[str], Iterable[str]]:
    return lambda text: (test for test, how in listed(text) if how == "failed")


_RAN = ("passed", "failed", "error", "xpassed", "pass", "fail")
_FAMILIES = (
    _Family(
        ("unittest", "django", "nose2"),
        _unittest,
        listing.by_unittest,
        _named(r"^FAILED \(.*?=(\d+)", listing.failing_in_unittest),
    ),
    _Family(
        ("pytest",),
        _words(r"^(?:=+ )?((?:\d+ \w+, )*\d+ \w+|no tests ran) in [\d.:]+s", _RAN),
        listing.by_pytest,
        _named(r"^(?:=+ )?(?:.*, )?(\d+) (?:failed|errors?)\b.* in [\d.:]+s", listing.failing_in_pytest),
    ),
    _Family(("node",), _node, listing.by_node, _named(_NODE_FAILS, _red(listing.by_node))),
    _Family(("tape",), _tape, listing.by_tape, _named(_NODE_FAILS, _red(listing.by_tape))),
    _Family(("bats", "tape"), _tap, listing.as_tap),
    _Family(
        ("mocha",),
        _sum(r"^ +(?:(?P<ran>\d+) passing \(|(?P<ran_too>\d+) failing$)"),
        failing=_named(r"^ +(\d+) failing$", listing.failing_in_mocha),
    ),
    _Family(
        ("jest",),
        _words(r"^Tests: +(.*, )\d+ total$", _RAN),
        failing=_named(r"^(?:Tests|Test Suites): +(\d+) failed,", listing.failing_in_jest),
    ),
    _Family(
        ("vitest",),
        _words(r"^ *Tests  +(.*) \(\d+\)$", _RAN),
        failing=_named(r"^ *(?:Tests|Test Files)  +(\d+) failed\b", listing.failing_in_vitest),
    ),
    _Family(
        ("cargo",),
        _sum(r"^test result: \w+\. (?P<ran>\d+) passed; (?P<ran_too>\d+) failed;"),
        listing.by_cargo,
        _named(r"^test result: FAILED\. \d+ passed; (\d+) failed;", _red(listing.by_cargo)),
    ),
    _Family(("nextest",), _sum(r"^ *Summary \[.*?\] +(?P<ran>\d+)(?:/\d+)? tests? run:")),
    _Family(("go",), _go, lambda text: iter(listing.by_go(text))),
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
