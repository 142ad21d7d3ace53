"""From what a run did to whether it passed. Pure: exit code and report both have a say, and either can fail it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.adapters.checks.coverage_report import FileCoverage
from loopwright.adapters.checks.ids import Lost, Outcomes, lost, named
from loopwright.adapters.checks.reports import COVERAGE, COVERAGE_OF_NEW_CODE, Report, counted
from loopwright.adapters.checks.single_test import is_pytest
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Blob, Coverage, Finding, Severity
from loopwright.kernel.wording import join_names

TAIL_LINES = 40
TAIL_BYTES = 4096
MOST_FAILURES = 50  # kept of one check; the rest is counted
_PYTEST_FOUND_NOTHING = 5
_NOTHING_THERE = re.compile(  # as a runner says it whose manifest is still to come, or whose tests are
    r"ENOENT.*package\.json|could not find `Cargo\.toml`|go\.mod file not found|no makefile found|no Go files in"
    r"|No rule to make target 'test'|No tests found|No test files found|NO TESTS RAN|no tests ran in"
    r"|no packages to test",
)
# What a command names is not there, as it says itself: no error only where that may be.
_NOT_THERE_YET = re.compile(
    r"file or directory not found|No such file or directory|not importable|can't read file|No files matching"
)
_NO_MANIFEST_YET = re.compile(r"(?:No|find a) package\.json|matched no packages|does not contain main module")
MOST_SUSPECTS = 5  # more failing tests than this are no accident


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """What a run did to the files that it judges."""

    written: tuple[str, ...] = ()  # made anew, to whatever came out
    rewritten: tuple[str, ...] = ()  # not as it was laid
    put_back: tuple[str, ...] = ()  # as it was laid, and yet written, linked or touched

    @property
    def is_any(self) -> bool:
        return bool(self.written or self.rewritten or self.put_back)

    def of_at_most(self, many: int) -> Rewriting:
        return Rewriting(written=self.written[:many], rewritten=self.rewritten[:many], put_back=self.put_back[:many])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of one command. `report` is None when there is none that can be believed; `refused` says why."""

    how: Literal["exited", "wall", "gone"]
    exit_code: int | None
    signal: int | None = None
    seconds: float = 0.0
    report: Report | None = None
    lines: tuple[FileCoverage, ...] = ()  # of a coverage report
    refused: str = ""
    tail: str = ""  # the last lines of the output, visible
    output: Blob = Blob("")
    runner: str = ""  # the known one that its command starts
    bent: tuple[str, ...] = ()  # files that judge it, written or removed while it ran
    wrote: Rewriting = Rewriting()
    phases: tuple[Report | None, ...] = ()  # of the same tests, where it was to run them in phases; None: none is left
    notes: tuple[tuple[str, str], ...] | None = None  # that a phase took of calls or reads, by file

    @property
    def tests(self) -> int | None:
        return self.report.tests if self.report else None

    @property
    def ids(self) -> Outcomes:
        return self.report.outcomes if self.report else ()

    @property
    def finished(self) -> bool:
        return self.how == "exited" and self.exit_code is not None

    @property
    def coverage(self) -> Coverage | None:
        return self.report.coverage if self.report else None

    def outcome(self, test: str) -> str | None:
        return self.report.outcome(test) if self.report else None


COVERED = (COVERAGE, COVERAGE_OF_NEW_CODE)  # failures of tests that are no test
FEWER = "fewer-tests"
FLOOR = "coverage-floor"  # of the runner's own, the only thing that its exit code complains of
_BELOW_FLOOR = re.compile(
    r"(?:required test coverage of .* not reached|coverage failure: total of|coverage for \w+ \([\d.]+%\) does not meet"
    r"|coverage threshold for .* not met).*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What the base gives to be measured by. `tests` or `percent` None: the base has no count.

    `ids` are its tests, as far as they have ids; those in `may_drop` may be gone.
    """

    tests: int | None = None
    ids: Outcomes = ()
    may_drop: frozenset[str] = frozenset()
    percent: float | None = None  # of the lines that its tests run
    failing: frozenset[str] = frozenset()
    bent: frozenset[str] = frozenset()  # files that its own run writes, too
    wrote: Rewriting = Rewriting()  # the same, of files that are judged


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJudgement:
    passed: bool
    failures: tuple[Finding, ...] = ()
    known: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    lost: Lost = Lost()  # tests of the base that did not run
    note: str = ""

    @property
    def forgiven(self) -> bool:
        return self.passed and bool(self.known or self.flaky)


def mark(finding: Finding) -> str:
    """What a failure is known by between base and candidate: a test by its id, the rest by fingerprint."""
    return finding.rule if finding.category == "tests" else finding.fingerprint


def failures(spec: CheckSettings, ran: Ran) -> tuple[Finding, ...]:
    """Every failure of a run, on its own: nothing forgiven yet."""
    found = ran.report.failures if ran.report else ()
    if ran.how != "exited":
        return (*found, _engine(spec, "not-finished", f"check {spec.name!r} failed: {ended_how(spec, ran)}", ran))
    if spec.may_be_empty and is_empty(spec, ran):
        return ()
    if ran.refused:
        found = (_engine(spec, "no-report", f"check {spec.name!r}: {ran.refused}", ran),)
    elif ran.tests == 0 and (spec.report == "junit" or ran.runner):
        found = (*found, _engine(spec, "no-tests", f"check {spec.name!r} ran no test at all", ran))
    if _ended_badly(spec, ran):
        ended = _engine(spec, spec.name, f"check {spec.name!r} failed: {ended_how(spec, ran)}", ran)
        return (*found, replace(ended, guidance=_not_forgiven(spec) if fell_short(spec.run, ran.exit_code) else ""))
    return (_unexplained(spec, ran),) if ran.exit_code != 0 and not found else found


def _unexplained(spec: CheckSettings, ran: Ran) -> Finding:
    """By no test that fails: of a runner's own floor it is known, and told apart."""
    if ran.tests and (said := _BELOW_FLOOR.search(ran.tail)):
        why = f"its tests pass and cover too little ({said[0].strip()})"
        return _engine(spec, FLOOR, f"check {spec.name!r} failed: {why}", ran)
    return _engine(spec, spec.name, f"check {spec.name!r} failed: {ended_how(spec, ran)}", ran)


def is_empty(spec: CheckSettings, ran: Ran) -> bool:
    """Whether there was nothing to run: no test is collected, or what the runner needs is not written yet."""
    if not ran.finished or ran.ids or ran.tests or (ran.report is not None and ran.report.failures):
        return False
    if spec.report == "coverage" and ran.exit_code == 0 and ran.refused:
        return True  # a measure of no lines at all has no form
    if ran.exit_code and spec.may_be_empty and _is_still_to_come(spec, ran):
        return True
    if is_pytest(spec.run):
        return ran.exit_code == _PYTEST_FOUND_NOTHING
    return ran.tests == 0 if ran.exit_code == 0 else _NOTHING_THERE.search(ran.tail) is not None


def _is_still_to_come(spec: CheckSettings, ran: Ran) -> bool:
    words = tuple(word for word in spec.run[1:] if not word.startswith("-"))
    missing = (line for line in ran.tail.splitlines() if _NOT_THERE_YET.search(line))
    is_named = any(re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", line) for line in missing for word in words)
    return is_named or _NO_MANIFEST_YET.search(ran.tail) is not None


def needs_base(spec: CheckSettings, ran: Ran) -> bool:
    """A report that counts is always compared with the base; `baseline` only matters once something failed."""
    return (
        spec.report == "junit"
        or bool(ran.runner)
        or ran.tests is not None
        or bool(ran.bent or ran.wrote.is_any)
        or (spec.baseline and bool(failures(spec, ran)))
    )


def _ended_badly(spec: CheckSettings, ran: Ran) -> bool:
    """Whether it ended in a way that failing tests do not explain, so that forgiving them forgives too much."""
    if spec.report == "coverage":
        return ran.exit_code != 0  # such a report says nothing of tests that fail
    return ran.exit_code is None or fell_short(spec.run, ran.exit_code)


def fell_short(command: tuple[str, ...], exit_code: int | None) -> bool:
    """Whether the runner itself says that it stopped before its tests had run, as where one cannot be imported.

    Nobody knows how those would have come out, so that a base where it is the same excuses nothing.
    """
    return is_pytest(command) and exit_code not in (0, 1)


def _not_forgiven(spec: CheckSettings) -> str:
    return (
        "its tests did not all run, which `baseline = true` does not forgive: mend what stops them, or leave that file"
        f" out in `run` of [checks.{spec.name}] (`--ignore=FILE`)"
    )


def judge(spec: CheckSettings, ran: Ran, standard: Standard, flaky: tuple[str, ...] = ()) -> CheckJudgement:
    """The verdict. `flaky` are ids of tests that were proven so."""
    found = failures(spec, ran)
    forgives = spec.baseline and not fell_short(spec.run, ran.exit_code)
    known = tuple(
        mark(f) for f in found if forgives and mark(f) in standard.failing and _forgivable(spec, ran, standard, f)
    )
    forgiven = {*known, *(flaky if spec.flaky == "warn" else ())}
    left = tuple(finding for finding in found if mark(finding) not in forgiven)
    missing = missed(ran, standard)
    left = (*left, *_missing(spec, ran, standard, missing, also_failed=bool(left)), *_bent(spec, ran, standard))
    left = (*left, *_rewritten(spec, ran, standard))
    rest = len(left) - MOST_FAILURES
    return CheckJudgement(
        passed=not left,
        failures=left[:MOST_FAILURES],
        known=known,
        flaky=flaky,
        lost=missing or Lost(gone=_by_number(spec, ran, standard)),
        note=f"{rest} more failures are not shown" if rest > 0 else "",
    )


def suspects(spec: CheckSettings, ran: Ran, standard: Standard) -> tuple[str, ...]:
    """Failing tests that may be flaky. None when anything else went wrong too, or too much did."""
    if spec.report == "coverage":
        return ()
    left = judge(spec, ran, standard).failures
    tests = tuple(finding.rule for finding in left if finding.category == "tests")
    return tests if len(tests) == len(left) <= MOST_SUSPECTS else ()


def _forgivable(spec: CheckSettings, ran: Ran, standard: Standard, finding: Finding) -> bool:
    """A base without a report does not excuse a candidate without one, nor one below the floor a worse one.

    Code that was new on the base, once, excuses nothing that is new now.
    """
    if finding.category == "tests" and ran.coverage is not None:
        return finding.rule == COVERAGE and standard.percent is not None and ran.coverage.percent >= standard.percent
    return finding.category != "checks" or finding.rule in (spec.name, f"{FLOOR} {spec.name}")


def missed(ran: Ran, standard: Standard) -> Lost:
    """Tests of the base, by id, that this run has not or skipped."""
    return lost(standard.ids, ran.ids, standard.may_drop)


def _missing(spec: CheckSettings, ran: Ran, standard: Standard, missing: Lost, *, also_failed: bool) -> list[Finding]:
    """Findings of tests that vanished: by id, and by number where not all tests of the base have one."""
    if also_failed and not ran.ids and not ran.tests:
        return []  # it came to no test at all, and that is said already
    found = []
    if missing.gone:
        issue = f"check {spec.name!r}: {_tests(missing.gone)} of the base did not run at all"
        found.append(_lost(f"ids-gone {spec.name}", issue, missing.gone))
    if missing.skipped:
        issue = f"check {spec.name!r}: {_tests(missing.skipped)} of the base ran there and were skipped here"
        found.append(_lost(f"newly-skipped {spec.name}", issue, missing.skipped))
    if not found and _by_number(spec, ran, standard):
        tests = "1 test" if ran.tests == 1 else f"{ran.tests or 'no'} tests"
        found.append(
            _lost(f"{FEWER} {spec.name}", f"check {spec.name!r} ran {tests}, {standard.tests} on the base", ())
        )
    return found


def _by_number(spec: CheckSettings, ran: Ran, standard: Standard) -> tuple[str, ...]:
    """What is gone, or may be, where tests have no ids: in the words in which a person lets it go."""
    missing = _short_by(ran, standard)
    words = f"{missing} of {standard.tests} that check {spec.name!r} only counts"
    return (words,) if missing and words not in standard.may_drop else ()


def _short_by(ran: Ran, standard: Standard) -> int:
    """How many tests are missing by number, where not all tests of the base have an id."""
    if standard.tests is None or standard.tests <= counted(standard.ids):
        return 0
    dropped = sum(test in standard.may_drop for test, _ in standard.ids)
    return max(0, standard.tests - dropped - (ran.tests or 0))


def _bent(spec: CheckSettings, ran: Ran, standard: Standard) -> list[Finding]:
    paths = tuple(path for path in ran.bent if path not in standard.bent)
    if not paths:
        return []
    issue = f"check {spec.name!r}: while it ran, files that judge it were written or removed ({join_names(paths, 1)})"
    guidance = "Code and tests leave tests, what they compare with and settings of the runner alone; write elsewhere."
    found = _lost(f"judge-bent {spec.name}", issue, paths)
    return [replace(found, guidance=guidance)]


def _rewritten(spec: CheckSettings, ran: Ran, standard: Standard) -> list[Finding]:
    """What the base's run makes anew, too, is the project's way, whatever comes out: a generator, a formatter."""
    paths = tuple(path for path in ran.wrote.rewritten if path not in standard.wrote.written and path not in ran.bent)
    how = "changed"
    if not paths and not standard.wrote.is_any:
        paths, how = ran.wrote.put_back, "wrote and put back"
    if not paths:
        return []
    issue = f"check {spec.name!r} {how} {join_names(paths, 1)} while it ran: what lands would not be what was checked"
    guidance = (
        "Where that is a formatter's or a generator's work, do it yourself, so that the check finds nothing to change;"
        " code and tests write elsewhere than into files of the project."
    )
    return [replace(_lost(f"rewritten {spec.name}", issue, paths), guidance=guidance)]


def _tests(ids: tuple[str, ...]) -> str:
    return f"1 test ({ids[0]})" if len(ids) == 1 else f"{len(ids)} tests"


def _lost(rule: str, issue: str, ids: tuple[str, ...]) -> Finding:
    return identify(Finding(severity=Severity.HIGH, category="checks", rule=rule, issue=issue, evidence=named(ids)))


def _engine(spec: CheckSettings, rule: str, issue: str, ran: Ran) -> Finding:
    """A failure that the engine states itself: the command, how it ended and the end of its output."""
    text = clipped(f"{' '.join(spec.run)}\n{ended_how(spec, ran)}\n{ran.tail}")
    found = Finding(
        severity=Severity.HIGH,
        category="checks",
        rule=rule if rule == spec.name else f"{rule} {spec.name}",
        issue=issue,
        evidence=text,
    )
    return identify(found, "" if rule == FLOOR else ran.tail)  # every new line of code is in a table of coverage


def ended_how(spec: CheckSettings, ran: Ran) -> str:
    command = f"`{' '.join(spec.run)}`"
    if ran.how == "wall":
        return f"{command} was stopped after {spec.timeout:g} s"
    if ran.how == "gone":
        return f"{command} cannot start: the candidate has no {spec.run[0]}"
    if ran.signal is not None:
        return f"{command} was killed by signal {ran.signal}"
    return f"{command} ended with exit code {ran.exit_code}"


def clipped(text: str) -> str:
    """At most 4 KiB, the beginning with the command and as much of the end as fits."""
    data = text.encode()
    if len(data) <= TAIL_BYTES:
        return text
    head, gap = data[:512], b"\n...\n"
    return (head + gap + data[-(TAIL_BYTES - len(head) - len(gap)) :]).decode("utf-8", "ignore")


def last_lines(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-TAIL_LINES:])
