"""Everything that is held against a ticket, by who says it, and the ledger of it all once the ticket is over.

The ledger moves on once for each ticket: however often its checks or its judge ran, each source is heard once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.kernel.events import ChecksReported, IntegrationRefused
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.kernel.ledger import Ledger, record, unresolved
from loopwright.kernel.model import AgentReport, AgentStatus, CheckResult, Commit, Finding, Severity, Verdict
from loopwright.loops.course import Ruling, Trial
from loopwright.loops.parts import NO_CHANGE, SAME_PRODUCT, is_left_as_it_was
from loopwright.loops.tickets.state import (
    AS_IT_WAS,
    CHECKS,
    CRITIC,
    ENGINE,
    JUDGE,
    LANDING,
    Critique,
    Ticket,
    TicketsState,
    about,
)
from loopwright.loops.tickets.thresholds import is_security, weighed
from loopwright.loops.weighing import rejection

PROTECTED_FILE = "protected "  # begins the rule of a finding on one
_BLOCKING = (Severity.CRITICAL, Severity.HIGH)


def closing_ledger(state: TicketsState) -> Ledger:
    """The ledger as it is if the ticket ends with what has been heard so far."""
    ticket, ledger = state.ticket, state.ledger
    ledger = _heard(ledger, CRITIC, ticket.critiques, ticket.number)
    if ticket.checks is not None:
        ledger = record(ledger, CHECKS, _from_checks(ticket), ticket.number)
    if ticket.judgement is not None:
        ledger = _heard(ledger, JUDGE, (ticket.judgement,), ticket.number)
    ledger = record(ledger, LANDING, (), ticket.number)  # it is tried anew with every ticket
    return record(ledger, ENGINE, tuple(_from_engine(state)), ticket.number)


def open_findings(ledger: Ledger) -> tuple[Finding, ...]:
    """What is open, worst first, and each only once however many say it."""
    by_mark: dict[str, Finding] = {}
    for finding in unresolved(ledger):
        by_mark.setdefault(finding.fingerprint, finding)
    return tuple(by_mark.values())


def critique_of(role: str, report: AgentReport) -> Critique:
    """One that is not done has given no verdict."""
    verdict = report.verdict if report.status is AgentStatus.DONE else None
    return Critique(role=role, verdict=verdict, summary=report.summary, findings=report.findings, about=report.about)


def leaves_code_as_it_was(state: TicketsState, report: ChecksReported, words: tuple[str, ...]) -> bool:
    """As for every loop, unless a person said that nothing has to be done, or to work differently."""
    ticket, may_be = state.ticket, state.plan.trust.keeps_behaviour
    return not may_be and ticket.files != AS_IT_WAS and is_left_as_it_was(report, about(state), words, ticket.files)


def is_mute(critique: Critique) -> bool:
    """No verdict, or a no without a reason: neither says anything about what was found before."""
    return critique.verdict is None or (critique.verdict is Verdict.FAIL and not critique.findings)


def as_said(critique: Critique, trial: Trial) -> Critique:
    """A no that was asked for its reason stays one, whatever comes instead of the reason."""
    if not trial.said_no or critique.verdict is Verdict.FAIL:
        return critique
    came = "it gave no verdict" if critique.verdict is None else "it passed it"
    word = f"; its word: {critique.summary}" if critique.summary else ""
    told = f"asked why, {came} instead: on the same tree a no stays a no{word}"
    return replace(critique, verdict=Verdict.FAIL, summary=told)


def is_no(critique: Critique | None) -> bool:
    """A pass with a critical finding is none."""
    if critique is None or critique.verdict is None:
        return False
    return critique.verdict is Verdict.FAIL or any(f.severity is Severity.CRITICAL for f in critique.findings)


def _heard(ledger: Ledger, source: str, critiques: tuple[Critique, ...], number: int) -> Ledger:
    found = tuple(weighed(identify(finding)) for critique in critiques for finding in critique.findings)
    if not critiques or any(map(is_mute, critiques)):
        found += unresolved(ledger, source)  # whoever is silent resolves nothing
    return record(ledger, source, found, number)


def _from_checks(ticket: Ticket) -> tuple[Finding, ...]:
    failures = tuple(failure for result in ticket.checks or () for failure in failures_of(result))
    # A change that gives itself away is never a minor matter: fewer tests, a check that was bent.
    own = tuple(
        replace(identify(finding), severity=Severity.CRITICAL)
        for finding in ticket.own
        if finding.severity in _BLOCKING
    )
    return failures + own


def marks_of_checks(ticket: Ticket) -> frozenset[str]:
    """Of what its checks found."""
    return frozenset(failure.fingerprint for result in ticket.checks or () for failure in failures_of(result))


def failures_of(result: CheckResult) -> tuple[Finding, ...]:
    """Never empty for a check that failed: one that does not say why is a failure of that name."""
    if result.passed:
        return ()
    why = f"The check {result.name} failed: {result.note or 'it did not say why'}"
    said = tuple(_of_check(identify(failure)) for failure in result.failures)
    return said or (engine_finding(f"check-{result.name}", why, Severity.HIGH),)


def _of_check(failure: Finding) -> Finding:
    return replace(failure, severity=Severity.CRITICAL) if is_security(failure) else failure


def _from_engine(state: TicketsState) -> Iterator[Finding]:
    """What no judge says: that nothing changed, that somebody was silent, that protected files were touched."""
    ticket = state.ticket
    if not ticket.files:
        unchanged = SAME_PRODUCT if ticket.checks else "No file was changed against the base"
        told = ("no-result", ticket.unmade) if ticket.unmade else (NO_CHANGE, unchanged)
        yield engine_finding(*told)
    if ticket.repeats:
        yield engine_finding("nothing-changed", f"Nothing was changed: ticket {ticket.repeats} was judged by this tree")
    if ticket.checks == ():
        yield engine_finding("no-result", "No check gave a result")
    silent = tuple(critique for critique in ticket.critiques if is_mute(critique))
    judge = (ticket.judgement,) if ticket.judgement and judge_is_mute(ticket) else ()
    yield from map(_silence, silent + judge)
    yield from _protected(state)


def judge_is_mute(ticket: Ticket) -> bool:
    """As a critic, but a judge may say what is wrong in aspects instead of findings."""
    judgement = ticket.judgement
    if judgement is None or not is_mute(judgement):
        return False
    return judgement.verdict is None or all(aspect.passed for aspect in ticket.added)


def _silence(critique: Critique) -> Finding:
    lack = "gave no verdict" if critique.verdict is None else "did not pass it and did not say why"
    said = f" ({critique.summary})" if critique.summary else ""
    return engine_finding(f"no-verdict {critique.role}", f"The {critique.role} {lack}{said}")


def _protected(state: TicketsState) -> Iterator[Finding]:
    for unseen in (state.course.due(UNTESTED), state.course.due(UNSHOWN)):
        if unseen is not None and unseen.ruling is Ruling.REJECTED:
            yield replace(rejection(unseen), severity=Severity.CRITICAL)
    gate = state.course.due(PROTECTED)
    if gate is None or gate.ruling is Ruling.APPROVED or gate.lasting:  # what is not needed does not land
        return
    if gate.ruling is Ruling.REJECTED:
        yield replace(rejection(gate), severity=Severity.CRITICAL)
        return
    for change in gate.because:
        told = (
            f"{change.path} is protected and was {change.words}: the base version runs;"
            " restore it unless the task asks for the change"
        )
        yield replace(engine_finding(f"{PROTECTED_FILE}{change.path}", told, Severity.MEDIUM), file=change.path)


def landing_failures(event: IntegrationRefused, commit: Commit) -> tuple[Finding, ...]:
    """Why an approved ticket could not be landed; nothing lands with any of it, so none of it is minor."""
    found = tuple(replace(identify(finding), severity=Severity.CRITICAL) for finding in event.findings)
    if found and event.merged:
        return found
    why = f"It does not go together with what was landed meanwhile: {event.detail or event.reason}"
    kept = f"the change so far is commit {commit}; it has to be made again on top of {event.onto}"
    return (*found, engine_finding("not-merged", why if event.merged else f"{why}; {kept}"))


def engine_finding(rule: str, issue: str, severity: Severity = Severity.CRITICAL) -> Finding:
    return identify(Finding(severity=severity, rule=rule, issue=issue, category="engine"))
