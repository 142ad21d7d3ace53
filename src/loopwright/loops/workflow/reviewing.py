"""What becomes of reviews: a light one is recorded and holds up nothing; the thorough one, the last commands and the
completion gate make tasks of what speaks against the work."""

from __future__ import annotations

import json
from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import AgentFailed, AgentReported
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.ledger import record, unresolved
from loopwright.kernel.model import AgentReport, AgentStatus, Finding, Verdict
from loopwright.kernel.quoting import one_line
from loopwright.loops import course as c
from loopwright.loops.workflow.advice import advice_text, read_advice
from loopwright.loops.workflow.decide import view_part
from loopwright.loops.workflow.remedies import became_true, forbidden_in, remedied, tasks_of
from loopwright.loops.workflow.state import (
    Resolving,
    Stopped,
    ThoroughSeen,
    Viewing,
    ViewSaid,
    WaveSeen,
    WorkflowPhase,
    WorkflowState,
)
from loopwright.loops.workflow.stops import stopped
from loopwright.loops.workflow.tasks import advanced
from loopwright.loops.workflow.views import read_score, score_of, word_of

SAID = "thorough"
BLOCKER, WARNING, SUGGESTION = "BLOCKER", "WARNING", "SUGGESTION"
FromJudge = AgentReported | AgentFailed


def said_by(view: str, event: FromJudge) -> ViewSaid:
    if isinstance(event, AgentFailed):
        return ViewSaid(view=view, failed=c.sentence_of(event))
    report = event.report
    verdict = report.verdict if report.status is AgentStatus.DONE else Verdict.FAIL
    found = tuple(identify(each) for each in report.findings)
    return ViewSaid(view=view, verdict=verdict, findings=found, score=read_score(report))


def _heard(look: Viewing, event: FromJudge, step: str) -> Viewing:
    view = next(each for each in look.open if view_part(look, each, step) == event.key.part)
    return replace(look, said=(*look.said, said_by(view, event)))


def _without_trials(state: WorkflowState, look: Viewing, step: str) -> WorkflowState:
    parts = {view_part(look, view, step) for view in look.views}
    return c.steered(state, trials=tuple(trial for trial in state.course.trials if trial.part not in parts))


# --- light ----------------------------------------------------------------------------------------------------------


def glanced(state: WorkflowState, event: FromJudge) -> WorkflowState:
    """One view of a wave has spoken. Whatever it says, the work goes on; but for what must not be."""
    look = next(each for each in state.looks if each.number == event.key.attempt)
    now = _heard(look, event, "light")
    others = tuple(each for each in state.looks if each is not look)
    if forbidden := forbidden_in(now.said[-1].findings):
        state = replace(state, looks=(*others, now)) if now.open else _recorded(replace(state, looks=others), now)
        return broken(state, forbidden)
    if now.open:
        return replace(state, looks=tuple(now if each is look else each for each in state.looks))
    return advanced(_recorded(replace(state, looks=others), now))


def _recorded(state: WorkflowState, look: Viewing) -> WorkflowState:
    found = tuple({each.fingerprint: each for said in look.said for each in said.findings}.values())
    seen = WaveSeen(
        wave=look.number,
        score=score_of(tuple(_as_report(each) for each in look.said if not each.failed)),
        issues=len(found),
        blockers=sum(word_of(each.severity) == BLOCKER for each in found),
        views=look.views,
        failed=tuple(f"{each.view}: {one_line(each.failed, 200)}" for each in look.said if each.failed),
    )
    return _without_trials(replace(state, waves=(*state.waves, seen)), look, "light")


def _as_report(said: ViewSaid) -> AgentReport:
    extras = {} if said.score is None else {"score": said.score}
    return AgentReport(findings=said.findings, extras=json.dumps(extras))


def broken(state: WorkflowState, found: tuple[Finding, ...], origin: str = "finding") -> WorkflowState:
    """Stopped at once. Whoever goes on has it mended by tasks."""
    return stopped(remedied(state, found, origin), Stopped.MUST_NOT, *became_true(found))


# --- thorough -------------------------------------------------------------------------------------------------------


def reviewed(state: WorkflowState, event: FromJudge) -> WorkflowState:
    if state.look is None:
        raise InvalidTransition(c.where(state), type(event).__name__, "no review is under way")
    if (again := _explained(state, event)) is not None:
        return again
    now = _heard(state.look, event, "thorough")
    if forbidden := forbidden_in(now.said[-1].findings):
        seen = ThoroughSeen(round=now.number, commit=now.commit, passed=False, blockers=forbidden, views=now.views)
        return broken(replace(_without_trials(state, now, "thorough"), look=None, thorough=seen), forbidden)
    state = replace(state, look=now)
    return state if now.open else _concluded(state, now)


def _explained(state: WorkflowState, event: FromJudge) -> WorkflowState | None:
    """A no that does not say why is asked for its reason, once; whatever comes then, a pass it is not."""
    trial = state.course.trial_of(event.key.part)
    if not isinstance(event, AgentReported) or event.report.findings or is_pass(event.report):
        return None
    once_more = trial.to_explain("the verdict is not a pass but no finding says why")
    return None if once_more is None else c.with_trial(state, once_more)


def is_pass(report: AgentReport) -> bool:
    return report.verdict is Verdict.PASS and report.status is AgentStatus.DONE


def _concluded(state: WorkflowState, look: Viewing) -> WorkflowState:
    silent = tuple(f"{each.view} gave no verdict ({each.failed})" for each in look.said if each.failed)
    said = tuple(_with_reason(state, look, each) for each in look.said)
    state = _without_trials(state, look, "thorough")
    if silent:
        return stopped(replace(state, look=None), Stopped.STUCK, *silent)
    found = tuple({each.fingerprint: each for one in said for each in one.findings}.values())
    no_of = {each.fingerprint for one in said if one.verdict is not Verdict.PASS for each in _rests_on(one)}
    ledger = record(state.ledger, SAID, found, look.number)
    open_now = unresolved(ledger, SAID)
    blockers = tuple(each for each in open_now if word_of(each.severity) == BLOCKER or each.fingerprint in no_of)
    rest = tuple(each for each in open_now if each not in blockers)
    seen = ThoroughSeen(
        round=look.number,
        commit=look.commit,
        passed=not blockers,
        blockers=blockers,
        warnings=tuple(each for each in rest if word_of(each.severity) != SUGGESTION),
        suggestions=tuple(each for each in rest if word_of(each.severity) == SUGGESTION),
        views=look.views,
    )
    state = replace(state, ledger=ledger, thorough=seen, look=None)
    return _to_resolve(state, seen)


def _with_reason(state: WorkflowState, look: Viewing, said: ViewSaid) -> ViewSaid:
    """A view that never says why it does not pass it, or passes it only when asked why, has said no."""
    part = view_part(look, said.view, "thorough")
    if said.verdict is Verdict.PASS and not state.course.trial_of(part).said_no:
        return said
    if said.findings:
        return replace(said, verdict=Verdict.FAIL)
    issue = f"{said.view} did not pass it and did not say why; on the same tree a no stays a no"
    return replace(said, verdict=Verdict.FAIL, findings=(engine_finding(f"no-reason-{part}", issue),))


def _rests_on(said: ViewSaid) -> tuple[Finding, ...]:
    """What a no can rest on: its blockers; without one, all of some weight; without that, what there is."""
    blockers = tuple(each for each in said.findings if word_of(each.severity) == BLOCKER)
    weighty = tuple(each for each in said.findings if word_of(each.severity) != SUGGESTION)
    return blockers or weighty or said.findings


def _to_resolve(state: WorkflowState, seen: ThoroughSeen) -> WorkflowState:
    unseen = tuple(each for each in seen.warnings if each.fingerprint not in state.acknowledged)
    if state.plan.attended and (seen.blockers or unseen):
        return stopped(replace(state, resolving=Resolving(left=(*seen.blockers, *unseen))), Stopped.FINDING)
    if seen.blockers:
        return advanced(c.entered(remedied(state, seen.blockers), WorkflowPhase.EXECUTE))
    return c.entered(replace(state, turn=state.turn + 1), WorkflowPhase.VERIFY)


def resolved(state: WorkflowState, resolving: Resolving) -> WorkflowState:
    """After a person said what is done about a finding: the next one, or on with the work."""
    state = replace(state, resolving=resolving, stopped=None)
    if resolving.left:
        return stopped(state, Stopped.FINDING)
    marks = tuple(each.fingerprint for each in resolving.acknowledged)
    # Who has just looked at what was found is not asked to look at the wave besides.
    state = replace(state, resolving=None, acknowledged=(*state.acknowledged, *marks), checked_in=state.done)
    if resolving.tasks:
        return advanced(c.entered(tasks_of(state, resolving.tasks), WorkflowPhase.EXECUTE))
    return c.entered(replace(state, turn=state.turn + 1), WorkflowPhase.VERIFY)


def discussed(state: WorkflowState, event: FromJudge) -> WorkflowState:
    found = read_advice(event.report) if isinstance(event, AgentReported) else c.sentence_of(event)
    said = found if isinstance(found, str) else advice_text(found)
    resolving = state.resolving or Resolving(left=())
    return stopped(replace(state, resolving=replace(resolving, advice=said)), Stopped.FINDING)
