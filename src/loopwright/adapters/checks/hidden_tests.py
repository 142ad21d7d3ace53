"""Acceptance tests of an examiner: whether each fails on the base for the right reason, and what of them is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from loopwright.adapters.checks.canary.answers import count_tests
from loopwright.adapters.checks.candidate import without_tests
from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.ids import file_of, find_file
from loopwright.adapters.checks.judgement import Ran, ended_how
from loopwright.adapters.checks.sequence import run_checks
from loopwright.adapters.checks.single_test import choose_files
from loopwright.adapters.checks.trial_runs import TrialRuns, failed_tests, outcomes_of
from loopwright.adapters.checks.witnesses import reason_of
from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Level, Witness
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import Finding
from loopwright.kernel.trust import FailedHiddenTest, FileClass, HiddenTests

_GUIDANCE = (
    "This is an acceptance test of the examiner, which is not shown. Keep to the interface page and the task; if the"
    " test contradicts the task, say so with `needs_clarification`: a person decides."
)
_ALONE = "An acceptance test passes only together with your tests, and fails without them"
_RAISED = re.compile(r"^(?:E\s+)?((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE)
_MISSING = re.compile(r"(?:name|named|attribute|argument) '([^']+)'|([\w.]+)(?:\(\) (?:takes|got)| is not a )")


async def try_on_base(desk: Desk, specs: tuple[CheckSettings, ...]) -> ChecksReported:
    """Run the acceptance tests alone where nothing else was changed; findings say which do not fail as they should."""
    run, hidden = desk.run, desk.run.hidden
    tree = await desk.outfit.source.tree(run.commit)
    counting = count_tests(await run_checks(desk, specs, desk.seen.base))
    failed: list[FailedHiddenTest] = []
    faults: list[Finding] = []
    seen: set[str] = set()
    nameless: list[str] = []
    for spec in (each for each in specs if each.name in counting or not counting):
        async with TrialRuns(desk=desk, specs=specs).bench(spec, tree) as bench:
            ran = await bench.run(replace(spec, run=choose_files(spec.run, _collected(hidden)) or spec.run))
        if not ran.finished:
            faults.append(engine_finding("not-finished", f"check {spec.name!r}: {ended_how(spec, ran)}"))
        found = tuple(_outcomes(spec, ran, hidden))
        seen.update(file for _, file, _ in found)
        nameless += [spec.name] if ran.ids and not any(file_of(test) for test, _ in ran.ids) else []
        failed += [FailedHiddenTest(id=test, file=file) for test, file, finding in found if finding]
        faults += [fault for test, _, finding in found if (fault := _fault(test, finding, hidden.interface))]
    unseen = (path for path in _collected(hidden) if path not in seen)
    faults += [engine_finding("not-collected", _not_collected(path, nameless)) for path in unseen]
    return ChecksReported(
        key=run.key, tree=tree, results=(), findings=tuple(dict.fromkeys(faults)), hidden=tuple(dict.fromkeys(failed))
    )


def _not_collected(path: str, nameless: list[str]) -> str:
    if nameless:
        whose = f"check {nameless[0]!r} do not name their files, as those of pytest and unittest do"
        return f"Nobody can tell whether tests of {path} ran: the ids of {whose}. No other acceptance test can help"
    return f"No test of {path} was run: no check collects it"


def _collected(hidden: HiddenTests) -> tuple[str, ...]:
    return tuple(path for path in hidden.files if collected_by_name(path))


def _outcomes(spec: CheckSettings, ran: Ran, hidden: HiddenTests) -> Iterator[tuple[str, str, Finding | None]]:
    """Return each acceptance test with its file and its failure, if it failed. A module that does not load is one."""
    found = failed_tests(spec, ran)
    for test in dict.fromkeys((*(test for test, _ in ran.ids), *found)):
        if file := find_file(test, hidden.files):
            yield test, file, found.get(test)


def _fault(test: str, finding: Finding | None, interface: str) -> Finding | None:
    """Return what is wrong with a test that does not fail on the base by an assertion or a name of the page."""
    if finding is None:
        return engine_finding("passes-on-base", f"{test} does not fail on the base: it shows nothing")
    text = f"{finding.issue.removeprefix(f'{test} - ')}\n{finding.evidence}"
    raised = {each.rpartition(".")[2] for each in _RAISED.findall(text)}
    if reason_of(finding) == "missing-name":
        names = [one or other for one, other in _MISSING.findall(text)]
        if any(_stands_on(interface, name) for name in names):
            return None
        what = f"for a name that the interface page does not have ({', '.join(names[:3]) or 'unknown'})"
    elif text.startswith("failed on setup"):
        what = "in its set-up, and not by an assertion"
    elif not raised or "AssertionError" in raised or text.startswith("assert "):  # pytest names no class
        return None
    else:
        what = f"by {min(raised)}, and not by an assertion"
    return replace(engine_finding("fails-otherwise", f"{test} fails on the base {what}"), evidence=finding.evidence)


def _stands_on(page: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", page) is not None


async def judge_hidden(desk: Desk, specs: tuple[CheckSettings, ...], report: ChecksReported) -> ChecksReported:
    """Add findings for acceptance tests that are skipped or not run, and for those that need the maker's tests."""
    ran, hidden = report.landing or report.results, desk.run.hidden
    if not hidden.files or hidden.must_fail or not all(each.passed for each in ran):
        return report
    found = {each.name: dict(await desk.outfit.ids(each.receipt, desk.book)) for each in ran}
    own = {name: frozenset(test for test in ids if find_file(test, hidden.files)) for name, ids in found.items()}
    hows = [(find_file(test, hidden.files), found[name][test]) for name, tests in own.items() for test in tests]
    missed = set(_collected(hidden)) & set(await desk.outfit.source.paths(desk.seen.landing))
    missed -= {file for file, how in hows if how == "passed" and (file, "skipped") not in hows}
    told = [engine_finding("hidden-not-run", f"Acceptance tests in {path} did not run") for path in sorted(missed)]
    runs = TrialRuns(desk=desk, specs=specs)
    alone = [each for spec in specs if own.get(spec.name) for each in await _fail_alone(runs, spec, own[spec.name])]
    evidence = report.evidence
    if evidence and any(own.values()) and evidence.level is Level.SHOWN and _of_maker(evidence.witnesses, hidden):
        evidence = replace(evidence, level=Level.GUARDED)  # the acceptance tests assert nothing
    return replace(report, findings=(*report.findings, *told, *alone), evidence=evidence)


def _of_maker(witnesses: tuple[Witness, ...], hidden: HiddenTests) -> bool:
    return not any(each.by == "base" or find_file(each.id, hidden.files) for each in witnesses)


async def _fail_alone(runs: TrialRuns, spec: CheckSettings, tests: frozenset[str]) -> list[Finding]:
    """Run acceptance tests without the tests that the maker changed, which could patch the product for them."""
    seen, files = runs.desk.seen, runs.desk.run.hidden.files
    changed = frozenset(each.change.path for each in seen.made if each.kind is FileClass.TEST).difference(files)
    tree = (await without_tests(seen, changed, runs.desk.outfit.checkouts)).landing
    if tree == seen.landing:
        return []
    found = outcomes_of(spec, await runs.run(spec, tree, tests), tests)
    said = {test: found.failed[test].issue if test in found.failed else f"{test} did not run" for test in tests}
    return [
        engine_finding("hidden-fails-alone", f"{_ALONE}: {said[test]}", file=find_file(test, files))
        for test in sorted(tests - found.passed)
    ]


def conceal(report: ChecksReported, hidden: HiddenTests) -> ChecksReported:
    """Return the report where no failure quotes an acceptance test, and witnesses among these say whose they are."""
    if not hidden.files or hidden.must_fail:
        return report
    failed = [each for result in (*report.results, *report.landing) for each in result.failures]
    known = {each.rule: _file_behind(each, hidden.files) for each in (*failed, *report.findings)}
    evidence = report.evidence and replace(
        report.evidence,
        witnesses=tuple(
            replace(each, by="examiner") if find_file(each.id, hidden.files) else each
            for each in report.evidence.witnesses
        ),
    )
    return replace(
        report,
        results=tuple(replace(each, failures=_without_source(each.failures, known)) for each in report.results),
        landing=tuple(replace(each, failures=_without_source(each.failures, known)) for each in report.landing),
        findings=_without_source(report.findings, known),
        hidden=tuple(FailedHiddenTest(id=test, file=file) for test, file in known.items() if file),
        evidence=evidence,
    )


def _file_behind(finding: Finding, files: tuple[str, ...]) -> str:
    """Return the file of an acceptance test that a failure is about, be it one of a linter."""
    own = find_file(finding.rule, files) if finding.category == "tests" else ""
    quoted = (path for path in files if path in f"{finding.file}\n{finding.issue}\n{finding.evidence}")
    return own or next(quoted, "")


def _without_source(found: tuple[Finding, ...], known: dict[str, str]) -> tuple[Finding, ...]:
    return tuple(replace(each, evidence="", guidance=_GUIDANCE) if known[each.rule] else each for each in found)
