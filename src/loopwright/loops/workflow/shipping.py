"""The last verification and the completion gate: what speaks against the work there becomes tasks, too."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import AgentFailed, Announced, ChecksReported
from loopwright.kernel.evidence import Level, combine
from loopwright.kernel.faults import engine_finding, faults_of
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Severity
from loopwright.kernel.quoting import one_line
from loopwright.loops import course as c
from loopwright.loops.weighing import (
    Failed,
    Passed,
    Rejected,
    ShowPolicy,
    has_to_be_shown,
    rejection,
    unshown_levels,
    weighed,
)
from loopwright.loops.workflow.calm import calmed
from loopwright.loops.workflow.ending import closed
from loopwright.loops.workflow.remedies import forbidden_in, remedied
from loopwright.loops.workflow.reviewing import FromJudge, broken, is_pass
from loopwright.loops.workflow.ship import Ship, read_ship, verdict_of
from loopwright.loops.workflow.state import Stopped, WorkflowPhase, WorkflowState, verified_by
from loopwright.loops.workflow.stops import stopped
from loopwright.loops.workflow.tasks import advanced, broken_rules


def verified(state: WorkflowState, event: ChecksReported) -> WorkflowState:
    if broken := broken_rules(state, event):
        return stopped(remedied(state, faults_of(event)), Stopped.MUST_NOT, *broken)
    before = c.steered(replace(state, calm=state.course), told_untested=True)
    event, policy = _with_evidence_of_tasks(state, event), _show_policy(state, unshown_levels(event))
    state, said = weighed(before, event, state.whole, (state.plan.request,), is_last=True, policy=policy)
    if isinstance(said, Passed):
        met = tuple(each.name for each in event.also if each.passed)
        shown = tuple(each.name for each in event.also if each.red_before)
        return c.entered(replace(state, met=met, shown=shown, calm=None), WorkflowPhase.SHIP)
    if isinstance(said, Failed | Rejected):
        found = said.faults if isinstance(said, Failed) else (rejection(said.gate),)
        return advanced(c.entered(remedied(calmed(state), found), WorkflowPhase.EXECUTE))
    return c.at_the_gate(state)


def _with_evidence_of_tasks(state: WorkflowState, event: ChecksReported) -> ChecksReported:
    """The whole is shown as far as the least of its tasks is."""
    if event.evidence is None or state.course.evidence is None:
        return event
    return replace(event, evidence=combine({"": state.course.evidence}, event.evidence))


def _show_policy(state: WorkflowState, levels: tuple[Level, ...]) -> ShowPolicy:
    unshown = tuple(
        f'{task.id} ("{one_line(task.no_test, 200)}")' if task.no_test else task.id
        for task in state.tasks
        if task.evidence is not None
        and task.evidence.level in levels
        and has_to_be_shown(task.plan.about, same_product=task.same_product, alters_code=task.alters_code)
    )
    return ShowPolicy(
        asks=state.plan.trust.asks_witness and bool(unshown),
        merges=state.plan.merge and bool(state.plan.target),
        parts=unshown,
    )


def gate_spoke(state: WorkflowState, event: FromJudge | Announced) -> WorkflowState:
    """RESEARCH and a no fail the gate, like a blocker of the review; MONITOR completes."""
    if isinstance(event, Announced):
        return closed(replace(state, shipped=verdict_of(Ship(), verified_by(state))))
    if isinstance(event, AgentFailed):
        return stopped(state, Stopped.STUCK, f"the gate gave no verdict ({c.sentence_of(event)})")
    report, found = event.report, tuple(identify(each) for each in event.report.findings)
    ship = read_ship(report)
    trial = state.course.trial
    # A pass with a critical finding is none.
    is_no = trial.said_no or not is_pass(report) or any(each.severity is Severity.CRITICAL for each in found)
    if isinstance(ship, str):
        if not is_no:
            again = trial.to_repair(ship)
            return c.with_trial(state, again) if again else stopped(state, Stopped.STUCK, f"the gate's result: {ship}")
        ship = Ship()  # a no needs no card
    word = "RESEARCH" if is_no else verdict_of(ship, verified_by(state))
    state = replace(state, ship=ship, shipped=word)
    if forbidden := forbidden_in(found):
        return broken(state, forbidden, "gate")
    if word != "RESEARCH":
        return closed(state)
    if not found and not trial.said_no and (again := trial.to_explain("it is not passed and no finding says why")):
        return c.with_trial(state, again)
    why = report.summary or ("no reason given" if ship.confidence is None else f"confidence {ship.confidence}")
    left = found or (engine_finding("gate-failed", f"The completion gate says {word} ({one_line(why, 300)})"),)
    return advanced(c.entered(remedied(state, left, "gate"), WorkflowPhase.EXECUTE))
