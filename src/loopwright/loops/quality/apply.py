"""How the quality loop moves through its own phases, and what the common turns mean to its reviews."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answer,
    Answered,
    ArtifactsLoaded,
    Checkpointed,
    ChecksReported,
    IntegrationRefused,
)
from loopwright.kernel.faults import engine_finding, faults_of, names_of_faults
from loopwright.kernel.findings import identify
from loopwright.kernel.ledger import record, unresolved
from loopwright.kernel.limits import granted_iterations, reached
from loopwright.kernel.model import NO_KEY, AgentStatus, Finding, Severity, Verdict
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.quality.accepting import checked_as_accepted, shown_red
from loopwright.loops.quality.decide import limit_reached
from loopwright.loops.quality.ending import landed_or_done
from loopwright.loops.quality.state import (
    ENGINE,
    LANDING,
    QualityParams,
    QualityPhase,
    QualityState,
    Round,
    base_of,
    next_review,
    next_step,
    open_findings,
    reviews_made,
    start,
    to_fix,
    tokens,
    with_mended,
)
from loopwright.loops.quality.verdict import judge, rests_on, tally, usable
from loopwright.loops.reviewed import QualityLimits
from loopwright.loops.weighing import Failed, Passed, Rejected, Waits, is_told_once, rejection, weighed

_MUTE_NO = ("no-evidence", "no-finding")


def took(state: QualityState, event: Answer) -> QualityState:
    match event:
        case ArtifactsLoaded():
            return _loaded(state, event)
        case AgentReported():
            return _reviewed(state, event) if state.phase is QualityPhase.RUN_CHECKS else _fixed(state, event)
        case AgentFailed():
            return _agent_failed(state, event)
        case Announced():
            return _announced(state)
        case Checkpointed():
            return _checkpointed(state, event)
        case ChecksReported() if state.phase is QualityPhase.VERIFY:
            return checked_as_accepted(state, event) if state.course.accepted else _verified(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, "a review never asks for it")


# --- the three steps of a review ----------------------------------------------------------------


def _loaded(state: QualityState, event: ArtifactsLoaded) -> QualityState:
    before = {content.path: content.object for content in state.contents}
    if state.rounds and state.rounds[-1].fix:
        untouched = all(before.get(each.path) == each.object for each in event.contents)
        state = replace(state, untouched=untouched)
    state = replace(state, contents=event.contents, red=None)
    if any(not content.object for content in event.contents):
        return _gone(state)
    return next_step(state, QualityPhase.RUN_CHECKS)


def _gone(state: QualityState) -> QualityState:
    """There is nothing to review; the creator is told to bring it back."""
    plan = state.plan
    lost = identify(
        Finding(
            severity=Severity.CRITICAL,
            rule="artifact-gone",
            file=plan.artifact,
            issue=f"{plan.artifact} is not there",
            evidence=f"{state.commit} has nothing at {plan.artifact}",
            guidance="bring it back",
            category="engine",
        )
    )
    found = (*unresolved(state.ledger, plan.gate), lost)
    ledger = record(state.ledger, plan.gate, found, state.number)
    return _closed(replace(state, ledger=ledger), Verdict.FAIL, lost.issue, gone=True)


def _reviewed(state: QualityState, event: AgentReported) -> QualityState:
    report = event.report
    found, dropped = usable(report)
    state = replace(state, dropped=dropped)
    if report.verdict is None or (report.verdict is Verdict.PASS and report.status is not AgentStatus.DONE):
        return _unusable(state, "no-verdict", "the review is not done or has no verdict")
    if report.verdict is Verdict.FAIL and not found:
        return _unfounded(state)
    if report.verdict is Verdict.FAIL and dropped and not rests_on(state, report, found):
        return _unfounded(state)  # what could be shown does not count, so that the no rests on what could not
    if report.verdict is Verdict.PASS and state.course.trial.said_no and state.plan.firm:
        return _stays_a_no(state, "no-finding", "it was not passed, and then passed instead of saying why")
    result = judge(state, report, found)
    return _closed(result.state, result.verdict, result.why)


def _unfounded(state: QualityState) -> QualityState:
    """A no that shows nothing is asked for once more, and then stays a no."""
    rule, lack = "no-finding", "it is not passed, but no finding says why"
    if state.dropped:
        rule, lack = "no-evidence", "it is not passed, but what says why lacks evidence or guidance"
    once_more = state.course.trial.to_explain(lack)
    return _stays_a_no(state, rule, lack) if once_more is None else c.with_trial(state, once_more)


def _stays_a_no(state: QualityState, rule: str, lack: str) -> QualityState:
    """There is nothing to fix, and the same tree is not looked at again: a person is asked. Before, it was."""
    return _unjudged(state, engine_finding(rule, f"The reviewer gave no usable verdict: {lack}"))


def _unusable(state: QualityState, rule: str, lack: str) -> QualityState:
    if (once_more := state.course.trial.to_repair(lack)) is not None:
        return c.with_trial(state, once_more)
    return _unjudged(state, engine_finding(rule, f"The reviewer gave no usable verdict: {lack}"))


def _unjudged(state: QualityState, finding: Finding) -> QualityState:
    """Fails closed, and says nothing about what was found before."""
    state = replace(state, ledger=record(state.ledger, ENGINE, (finding,), state.number))
    return _closed(state, Verdict.FAIL, finding.issue, judged=False)


def _closed(
    state: QualityState,
    verdict: Verdict,
    why: str,
    *,
    judged: bool = True,
    gone: bool = False,
    unchanged: bool = False,
) -> QualityState:
    """The verdict is decided: one more review is used, and the line is put on record next."""
    passed, blocked = tokens(state.plan)
    notes = f"; {len(state.dropped)} dropped for want of evidence or guidance" if state.dropped else ""
    this = Round(
        number=state.number,
        commit=state.commit,
        verdict=verdict,
        line=f"{passed if verdict is Verdict.PASS else blocked}: {state.plan.artifact}",
        why=why + notes,
        findings=open_findings(state),
        judged=judged,
        gone=gone,
        unchanged=unchanged,
        changed=state.changed,
        onto=state.onto,
        tree=state.tree,
        answers=len(state.course.answers),
    )
    return next_step(replace(state, rounds=(*state.rounds, this)), QualityPhase.EMIT_VERDICT)


def _announced(state: QualityState) -> QualityState:
    if state.rounds[-1].verdict is not Verdict.PASS:
        return _blocked(state)
    plan = state.plan
    lands = plan.lands and state.rounds[-1].changed
    return next_step(state, QualityPhase.VERIFY) if plan.firm and plan.checked and lands else landed_or_done(state)


def _verified(state: QualityState, event: ChecksReported) -> QualityState:
    """Red, it is blocked after all: as if it could not be landed."""
    is_last = reached(reviews_made(state), state.allowance)
    state, said = weighed(state, event, state.commit, state.plan.asked_in, is_last=is_last)
    match said:
        case Passed():
            return landed_or_done(replace(state, verified=True))
        case Waits():
            return c.at_the_gate(state)
        case Failed():
            state = shown_red(state, faults_of(event))
            return _not_verified(state, f"these fail: {names_of_faults(event, said.faults)}", said.faults)
        case Rejected():
            return _rejected(state, said.gate)
        case _:
            assert_never(said)


def _rejected(state: QualityState, gate: GateRecord) -> QualityState:
    why = f"a person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
    return _not_verified(state, why, (rejection(gate),))


def _not_verified(state: QualityState, why: str, faults: tuple[Finding, ...]) -> QualityState:
    return refused(
        state,
        IntegrationRefused(
            key=NO_KEY, reason="checks", detail=why, findings=faults, onto=base_of(state), merged=state.commit
        ),
    )


def decided(state: QualityState, gate: GateRecord) -> QualityState:
    """What was checked without the approval ran the base's versions: once more."""
    waits = state.course.station is Station.GATE
    if gate.ruling is Ruling.APPROVED:
        stale = waits or c.at_work(state, QualityPhase.VERIFY)
        return next_step(state, QualityPhase.VERIFY) if stale else state
    return _rejected(state, gate) if waits and not gate.lasting else state


def _blocked(state: QualityState, *why: str) -> QualityState:
    """A fix that another review will see; or, after the last review, a person."""
    if reached(reviews_made(state), state.allowance):
        return c.escalated(state, (limit_reached(state), *why), state.rounds[-1].findings)
    last = state.rounds[-1]
    if state.plan.firm and not last.judged and any(each.rule in _MUTE_NO for each in last.findings):
        return c.escalated(state, ("the reviewer does not pass it and does not say why", *why), last.findings)
    return _fix_or_review(state)


def _fix_or_review(state: QualityState) -> QualityState:
    """A fix where a review said what to fix; where none gave a verdict, another review.

    One that was asked for and not made, since a person accepted meanwhile what then could not be landed, comes first.
    """
    if reviews_made(state) < state.number:
        return next_step(state, QualityPhase.LOAD_ARTIFACTS)
    known = state.rounds[-1].judged and to_fix(state)
    if not known:
        return next_review(state)
    state = next_step(state, QualityPhase.FIX)
    return c.tried_on_the_base(state, state.plan.trust) if state.plan.checked and state.plan.lands else state


# --- agents -------------------------------------------------------------------------------------


def _agent_failed(state: QualityState, event: AgentFailed) -> QualityState:
    sentence = c.sentence_of(event)
    if state.phase is QualityPhase.RUN_CHECKS:
        state = replace(state, dropped=())
        return _unjudged(state, engine_finding("no-verdict", f"The reviewer gave no verdict ({sentence})"))
    return next_review(_with_fix(state, f"(the creator gave no result: {sentence})"))


def _fixed(state: QualityState, event: AgentReported) -> QualityState:
    report = event.report
    if report.status is AgentStatus.BLOCKED:
        told = f"the creator is blocked: {report.summary or 'no reason given'}"
        return c.escalated(state, (told,), state.rounds[-1].findings)
    return next_step(_with_fix(state, report.summary or "(no summary)"), QualityPhase.CHECKPOINT)


def _with_fix(state: QualityState, said: str) -> QualityState:
    *earlier, last = state.rounds
    return replace(state, rounds=(*earlier, replace(last, fix=said)), fixes=state.fixes + 1, ignored=())


def _checkpointed(state: QualityState, event: Checkpointed) -> QualityState:
    changed = event.files > 0
    same = _judged_before(state, event) if state.plan.firm else None
    state = replace(
        c.note_made(state, base_of(state), event.commit),
        commit=event.commit,
        changed=changed,
        ignored=event.dropped,
        touched=event.touched,
        tree=event.tree,
        verified=False,
    )
    if same is None:
        return next_review(state)
    state = next_review(state)
    left_so = same.refused and is_told_once(same.findings)
    return _left_so(state, same) if left_so else _unchanged(state, same)


def _judged_before(state: QualityState, event: Checkpointed) -> Round | None:
    """The review whose verdict stands: it saw this very tree, and nobody has said anything since."""
    last, heard = state.rounds[-1], len(state.course.answers)
    if event.unchanged:
        return last if last.answers == heard else None
    seen = [each for each in reversed(state.rounds) if each.tree == event.tree and each.onto == state.onto]
    return next((each for each in seen if each.reviewed and each.answers == heard), None)


def _unchanged(state: QualityState, same: Round) -> QualityState:
    """A failed attempt of its own. No reviewer is asked about what it has judged; what was open stays open."""
    marks = {entry.finding.fingerprint for entry in state.ledger if entry.source == state.plan.gate}
    found = tuple(finding for finding in same.findings if finding.fingerprint in marks)
    state = replace(state, ledger=record(state.ledger, state.plan.gate, found, state.number), untouched=True)
    why = f"{tally(open_findings(state))}; nothing changed: what review {same.number} said of this tree stands"
    return _closed(state, Verdict.FAIL, why, unchanged=True)


def _left_so(state: QualityState, same: Round) -> QualityState:
    """The creator was told to leave it so if it has to be: what the review passed leads on to a person."""
    state = replace(state, ledger=record(state.ledger, LANDING, (), state.number), untouched=True)
    return _closed(state, Verdict.PASS, f"nothing changed: review {same.number} passed this tree", unchanged=True)


# --- landing -------------------------------------------------------------------------------------


def begin(params: QualityParams) -> QualityState:
    """At the first review, or where the landing of what an earlier loop had passed was refused."""
    state, earlier = start(params), params.earlier
    if earlier is None:
        return state
    line = f"{tokens(params)[0]}: {params.artifact}"
    passed = Round(number=earlier.attempts, commit=earlier.commit, verdict=Verdict.PASS, line=line, why="passed before")
    ledger = with_mended(state.ledger, params.gate, earlier)
    state = replace(state, number=earlier.attempts, commit=earlier.commit, rounds=(passed,), ledger=ledger)
    return refused(state, earlier.landing)


def refused_landing(state: QualityState, event: IntegrationRefused) -> QualityState:
    """What fails of it together with what the target has by now, a person hears as well."""
    return refused(shown_red(state, event.findings, event.onto) if event.reason == "checks" else state, event)


def refused(state: QualityState, event: IntegrationRefused) -> QualityState:
    """Where the target stands is known: the review is blocked after all, and its fix starts from there."""
    if state.course.accepted or not event.onto or event.reason not in ("conflict", "checks"):
        return c.not_landed(state, event)
    why = f"the result could not be landed: {event.detail or event.reason}"
    found = tuple(identify(finding) for finding in event.findings)
    if not (found and event.merged):
        kept = f"the fixes so far are commit {state.commit} and have to be made again on top of {event.onto}"
        found += (engine_finding("not-merged", why if event.merged else f"{why}; {kept}"),)
    state = replace(
        state,
        ledger=record(state.ledger, LANDING, found, state.number),
        onto=event.onto,
        commit=event.merged or event.onto,
        changed=bool(event.merged),
    )
    *earlier, last = state.rounds
    last = replace(
        last,
        verdict=Verdict.FAIL,
        why=f"{last.why}; {why}",
        refused=why,
        findings=open_findings(state),
    )
    return _blocked(replace(state, rounds=(*earlier, last)), why)


# --- people -------------------------------------------------------------------------------------


def continued(state: QualityState, event: Answered) -> QualityState:
    """Grants, never resets: the reviews go on from where they are."""
    allowance = granted_iterations(reviews_made(state), state.allowance, event.count)
    return _fix_or_review(replace(state, allowance=allowance))


def revised(state: QualityState, _: Answered) -> QualityState:
    allowance = reviews_made(state) + state.plan.limits.max_attempts
    return _fix_or_review(replace(state, allowance=allowance, since=state.number + 1))


def relimited(state: QualityState, limits: QualityLimits) -> QualityState:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    allowance = state.allowance + limits.max_attempts - state.plan.limits.max_attempts
    return replace(state, plan=replace(state.plan, limits=limits), allowance=allowance)
