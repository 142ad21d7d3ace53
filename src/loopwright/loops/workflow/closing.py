"""How a workflow is told when it is over or has stopped: every task in a line, what is left, and the closing block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.model import Ending, LoopId, Outcome, Question
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import counted
from loopwright.loops import closing
from loopwright.loops.course import Station
from loopwright.loops.workflow.completion import render_cancel_report
from loopwright.loops.workflow.ending import left_open
from loopwright.loops.workflow.evidence import criteria_status
from loopwright.loops.workflow.files import complete, evidence, stage_of, task_lines
from loopwright.loops.workflow.progress import wave_shown
from loopwright.loops.workflow.state import (
    Stopped,
    TaskStanding,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
    choice_of,
    fit_known,
    spec_of,
)

_SHOWN = 10
_STANDS = {
    TaskStanding.PENDING: "to do",
    TaskStanding.RUNNING: "under way",
    TaskStanding.COUNSEL: "stuck, the panel is asked before the next attempt",
    TaskStanding.MADE: "made, to be landed",
    TaskStanding.MERGING: "in conflict, another task brings it in",
    TaskStanding.IDLE: "nothing shows that it is done, you are asked",
    TaskStanding.DONE: "done",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCount:
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowResult:
    """What `loop start --json` adds to what every loop answers."""

    stage: str
    spec_score: int | None
    fit_score: int | None
    shape: str | None  # null until the request is clear enough
    tasks: TaskCount
    waves: int
    questions: tuple[Question, ...] = ()  # of an unclear request
    iterations: int = 0
    accepted: bool = False  # by a person, with what is in .loop/debt.md: it is complete by their word alone


def result(_loop: LoopId, state: WorkflowState, _parts: Mapping[LoopId, object]) -> WorkflowResult:
    spec, fit = spec_of(state), fit_known(state)
    clear = (spec, fit) != (None, None) and state.phase is not WorkflowPhase.SCORE
    outcome = state.course.outcome
    asked = tuple(each for inquiry in state.course.inquiries for each in inquiry.questions)
    return WorkflowResult(
        stage=stage_of(state, "paused" if state.stopped is Stopped.LIMIT else ""),
        spec_score=spec,
        fit_score=fit,
        shape=choice_of(state).value if clear else None,
        tasks=TaskCount(done=state.done, total=len(state.tasks)),
        waves=max((task.wave for task in state.tasks), default=0),
        questions=asked,
        iterations=state.iterations,
        accepted=outcome is not None and outcome.ending is Ending.ACCEPTED,
    )


def lines(state: WorkflowState, outcome: Outcome) -> tuple[str, ...]:
    after = f"after {counted(outcome.attempts, 'iteration')}"
    left = counted(sum(task.standing is not TaskStanding.DONE for task in state.tasks), "unfinished task")
    if outcome.ending is Ending.ACCEPTED:
        left = f"{counted(len(left_open(state)), 'known issue')}, {left}"
    return (
        *so_far(state),
        *state.remarks,
        closing.headline(outcome, promise="Complete", after=after, left=left),
        *closing.findings(outcome.findings, _SHOWN),
        *_result(state, outcome),
    )


def block(state: WorkflowState, outcome: Outcome) -> tuple[str, ...]:
    """What the seed ends with, for whoever reads the output of an agent's session."""
    return tuple(complete(state).splitlines()) if outcome.ending is Ending.VERIFIED and state.shipped else ()


def report(state: WorkflowState, outcome: Outcome, cost: str) -> tuple[str, ...]:
    """Of one that was cancelled: what it took, what is there, what is not."""
    if outcome.ending is not Ending.CANCELLED:
        return ()
    every = task_lines(state)
    done = tuple(task for task in every if task.status == "completed")
    remaining = tuple(task for task in every if task.status != "completed")
    return render_cancel_report(state.iterations, cost, done, remaining, criteria_status(evidence(state)))


def so_far(state: WorkflowState) -> tuple[str, ...]:
    is_over = state.course.outcome is not None
    return tuple(sentence(task, is_over=is_over) for task in state.tasks)


def sentence(task: WorkTask, *, is_over: bool = False) -> str:
    """Nobody goes on with what was not done when it ended."""
    stands = "not done" if is_over and task.standing is not TaskStanding.DONE else _STANDS[task.standing]
    tries = f" ({counted(task.attempts, 'attempt')})" if task.attempts else ""
    why = f": {one_line(task.why, 200)}" if task.why and task.standing is not TaskStanding.DONE else ""
    return f"{task.id}, wave {task.wave}: {one_line(task.plan.subject, 120)}; {stands}{tries}{why}"


def _result(state: WorkflowState, outcome: Outcome) -> tuple[str, ...]:
    said = closing.note(outcome)
    if landed := closing.landed(outcome, said):
        return landed
    if state.tip == state.ground:
        return ("Result: none; nothing has landed.", *said)
    return closing.kept("what has landed of the tasks", state.plan.base, state.tip, said)


def landed_so_far(state: WorkflowState) -> tuple[str, ...]:
    if state.tip == state.plan.base:
        return ()
    return (f"{counted(state.done, 'task')} landed so far ({state.tip[:12]}).",)


def unresolved(state: WorkflowState, _told: object = None) -> tuple[str, ...]:
    found = state.thorough.blockers if state.thorough and state.course.station is Station.ESCALATED else ()
    open_tasks = tuple(sentence(task) for task in state.tasks if task.standing is not TaskStanding.DONE)
    head = (f"Unresolved, {counted(len(found), 'blocker')}:", *closing.findings(found, _SHOWN)) if found else ()
    return (*open_tasks, *head)


def owed(state: WorkflowState, by: str) -> tuple[str, ...]:
    """What a person took without the rest: as many issues as the page about it counts."""
    return (
        f"- **Request**: {inline(state.plan.request)}",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: {state.done} of {counted(len(state.tasks), 'task')}",
        *closing.owed_where(state.course.outcome, state.plan.branch, state.tip),
        *closing.owed_findings("Known issues", left_open(state)),
    )


def summary(state: WorkflowState) -> str:
    """Below the lanes of the live view."""
    every = task_lines(state)
    waves = max((task.wave for task in state.tasks), default=0)
    if not every:
        return stage_of(state, "")
    return f"wave {wave_shown(every)} of {waves} · {state.done}/{len(every)} tasks · iteration {state.iterations + 1}"
