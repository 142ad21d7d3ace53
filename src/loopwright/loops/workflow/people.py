"""What the workflow loop makes of what people say: answers, decisions on gates, a cancel, new limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.events import Answered, IntegrationRefused
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_COMMIT, Finding
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import join_names, told
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.hooks import refusal
from loopwright.loops.weighing import rejection
from loopwright.loops.workflow.calm import calmed, turned
from loopwright.loops.workflow.limits import WorkflowLimits, anew, at_least, grant, moved, reasons
from loopwright.loops.workflow.remedies import remedied
from loopwright.loops.workflow.reviewing import resolved
from loopwright.loops.workflow.schedule import made_ready
from loopwright.loops.workflow.state import (
    Resolving,
    Stopped,
    TaskRow,
    TaskStanding,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
    counts,
    with_task,
)
from loopwright.loops.workflow.stops import stopped
from loopwright.loops.workflow.tasks import advanced, sent_back

_ONCE_MORE = {Stopped.SHAPE: WorkflowPhase.SHAPE, Stopped.PLAN: WorkflowPhase.PLAN, Stopped.CONFIRM: WorkflowPhase.PLAN}


def continued(state: WorkflowState, event: Answered) -> WorkflowState:
    """Grants, never resets."""
    kind = state.stopped
    if kind is Stopped.LIMIT:
        state = replace(state, allowance=grant(state.allowance, counts(state), event.count))
    return _gone_on(state, kind)


def revised(state: WorkflowState, _: Answered) -> WorkflowState:
    """New guidance: whoever has not begun hears it. The limits start anew from here, and take back no grant."""
    kind = state.stopped
    if kind is Stopped.CONFIRM:
        return _entered_anew(replace(state, stopped=None), WorkflowPhase.SHAPE)
    full = anew(state.plan.limits, counts(state))
    tasks = TaskRow.of(replace(task, same=0, marks=()) for task in state.tasks)
    state = replace(
        state,
        tasks=tasks,
        worst=0,
        worst_task="",
        allowance=at_least(full, state.allowance) if state.plan.keeps_grants else full,
    )
    return _gone_on(state, kind)


def _gone_on(state: WorkflowState, kind: Stopped | None) -> WorkflowState:
    state = c.steered(replace(state, stopped=None), reasons=())
    if kind is Stopped.LANDING:
        return c.landing(state)
    if kind in _ONCE_MORE:
        return _entered_anew(state, _ONCE_MORE[kind])
    if kind is Stopped.CHECK_IN:
        state = replace(state, checked_in=state.done)
    if kind is Stopped.COMMAND:
        state = _with_commands(state, lambda task: replace(task, tried=NO_COMMIT))
    for index in state.idle:
        state = made_ready(state, index)
    return _resumed(replace(state, idle=()))


def _with_commands(state: WorkflowState, change: Callable[[WorkTask], WorkTask]) -> WorkflowState:
    """Change the tasks whose commands could not start."""
    for index, task in enumerate(state.tasks):
        if task.unable:
            state = with_task(state, index, replace(change(task), unable=""))
    return state


def _without_commands(state: WorkflowState) -> WorkflowState:
    state = _with_commands(state, lambda task: replace(task, plan=replace(task.plan, verify=())))
    return _resumed(c.steered(replace(state, stopped=None), reasons=()))


def _entered_anew(state: WorkflowState, phase: WorkflowPhase) -> WorkflowState:
    return c.entered(state, phase, tries=state.course.trial.tries + 1)


def _resumed(state: WorkflowState) -> WorkflowState:
    """At work where it was, every step that was under way under a new key; tasks made meanwhile come first."""
    trials = tuple(trial.rested() for trial in state.course.trials)
    state = c.steered(turned(state), station=None, trials=trials, inquiries=())
    is_left = state.done < len(state.tasks) or (state.phase is WorkflowPhase.REVIEW and state.look is None)
    if state.phase is WorkflowPhase.EXECUTE or is_left:
        return advanced(replace(state, phase=WorkflowPhase.EXECUTE))
    return state


def answered(state: WorkflowState, event: Answered) -> WorkflowState:
    """Of what is offered for a finding, or for tasks that may be done; the floor has refused everything else."""
    if state.stopped is Stopped.COMMAND:
        return _without_commands(state)
    return _taken_as_done(state, event) if event.choice == "done" else _on_finding(state, event)


def _by_word(state: WorkflowState, told: str, event: Answered) -> WorkflowState:
    said = f"{told} by {one_line(event.by, 100) or 'a person'}"
    return c.steered(state, by_word=(*state.course.by_word, said))


def _taken_as_done(state: WorkflowState, event: Answered) -> WorkflowState:
    """By a person's word; the checks and the commands still run."""
    names = join_names(tuple(state.tasks[index].id for index in state.idle), 3)
    state = _by_word(state, f"{names} taken as done", event)
    tasks = state.tasks
    for index in state.idle:
        tasks = tasks.changed(index, replace(tasks[index], standing=TaskStanding.MADE, as_it_is=True))
    state = replace(state, tasks=tasks, train=(*state.train, *state.idle), idle=(), stopped=None)
    return _resumed(c.steered(state, reasons=()))


# --- findings, one by one -------------------------------------------------------------------------------------------


def _on_finding(state: WorkflowState, event: Answered) -> WorkflowState:
    resolving = state.resolving or Resolving(left=())
    first, *left = resolving.left
    after = replace(resolving, left=tuple(left), advice="")
    match event.choice:
        case "approve":
            return resolved(state, replace(after, tasks=(*after.tasks, (first, ""))))
        case "task":
            if not event.text.strip():
                raise refusal(state, event, "a task needs what is to be done as text")
            return resolved(state, replace(after, tasks=(*after.tasks, (first, event.text.strip()))))
        case "skip":
            state = _by_word(state, f"finding skipped: {told(first, 200)}", event)
            return resolved(state, replace(after, acknowledged=(*after.acknowledged, first)))
        case _:
            return c.entered(replace(state, stopped=None), WorkflowPhase.DISCUSS)


# --- gates ----------------------------------------------------------------------------------------------------------


def decided(state: WorkflowState, gate: GateRecord) -> WorkflowState:
    """Checks in flight, or done, without an approval ran the base's versions: they are run anew."""
    waits = state.course.station is Station.GATE
    if gate.ruling is Ruling.APPROVED:
        if waits or c.at_work(state, WorkflowPhase.VERIFY):
            return c.entered(turned(state), WorkflowPhase.VERIFY)
        return turned(state) if state.train and (state.merged or state.gated) and not state.passed else state
    told = f"A person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
    state = c.steered(state, refusals=(*state.course.refusals, told))
    if gate.lasting:
        return state
    if waits:
        return advanced(c.entered(remedied(calmed(state), (rejection(gate),)), WorkflowPhase.EXECUTE))
    if not state.gated:
        return state
    return sent_back(calmed(state), (rejection(gate),), "a person rejected a change in it")


# --- landing, cancelling, accepting -----------------------------------------------------------------------------------


def refused(state: WorkflowState, event: IntegrationRefused) -> WorkflowState:
    """Where the target stands is known: another task brings the work together with it. Else a person decides."""
    why = event.detail or event.reason
    found = tuple(identify(each) for each in event.findings)
    if state.course.accepted or not event.onto or event.reason not in ("conflict", "checks"):
        # What a person accepted stays accepted: trying once more is no verdict.
        return stopped(state, Stopped.LANDING, f"the result could not be landed: {why}", failing=event.findings)
    told = _not_merged(state, event, why)
    tip = event.merged or event.onto
    state = replace(state, ground=event.onto, tip=tip, whole=tip, merged=NO_COMMIT, thorough=None)
    told = replace(told, file=found[0].file) if found else told
    state = remedied(state, (told,), "gate")
    return advanced(c.entered(state, WorkflowPhase.EXECUTE))


def _not_merged(state: WorkflowState, event: IntegrationRefused, why: str) -> Finding:
    begin = (
        "You begin with both merged, which is red."
        if event.merged
        else f"You begin with what the target has: make the work of commit {state.tip} again on top of it."
    )
    return engine_finding(
        "not-merged", f"The work does not go together with what the target has by now: {why}. {begin}"
    )


def relimited(state: WorkflowState, limits: WorkflowLimits) -> WorkflowState:
    state = replace(
        state,
        plan=replace(state.plan, limits=limits),
        allowance=moved(state.allowance, state.plan.limits, limits),
    )
    raised = not reasons(counts(state), state.allowance, state.worst_task)
    return _gone_on(state, Stopped.LIMIT) if state.stopped is Stopped.LIMIT and raised else state
