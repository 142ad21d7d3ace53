"""The plan as people and programs are shown it: waves, tasks with their state, what each waits for, and how it is seen
that it is done."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.kernel.model import Commit, LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.workflow.files import stage_of, task_lines
from loopwright.loops.workflow.plan import mermaid
from loopwright.loops.workflow.progress import TaskLine, TaskStatus, wave_shown
from loopwright.loops.workflow.state import TaskStanding, WorkflowState, WorkTask

_MARKS: dict[TaskStatus, str] = {"completed": "x", "in_progress": ">", "pending": " "}
_MADE_OF = {
    "conflict": "made of a conflict",
    "red": "made of a red merge",
    "finding": "made of a finding",
    "gate": "made at the completion gate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTask:
    id: str
    subject: str
    wave: int
    status: TaskStatus
    standing: TaskStanding
    blocked_by: tuple[str, ...]  # all it waits for, or has waited for
    waits_for: tuple[str, ...]  # those of them that are not done
    verify: tuple[str, ...]
    files: tuple[str, ...]
    about: str = ""  # code, text, tests or cleanup; empty: nobody said so
    attempts: int
    stuck: int  # verifications that failed
    origin: str
    loop: LoopId  # that makes it; empty: none yet
    landed: Commit
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """What `loop plan --json` answers."""

    loop: LoopId
    request: str
    stage: str
    wave: int
    waves: int
    done: int
    total: int
    tasks: tuple[ShownTask, ...]
    mermaid: str


def shown_plan(loop: LoopId, state: WorkflowState, status: str = "") -> ShownPlan:
    lines = task_lines(state)
    by_id = {line.id: line.status for line in lines}
    return ShownPlan(
        loop=loop,
        request=state.plan.request,
        stage=stage_of(state, status),
        wave=wave_shown(lines),
        waves=max((line.wave for line in lines), default=0),
        done=state.done,
        total=len(lines),
        tasks=tuple(_task(state, task, line) for task, line in zip(state.tasks, lines, strict=True)),
        mermaid=mermaid(tuple(task.plan for task in state.tasks), by_id) if lines else "",
    )


def _task(state: WorkflowState, task: WorkTask, line: TaskLine) -> ShownTask:
    return ShownTask(
        id=task.id,
        subject=task.plan.subject,
        wave=task.wave,
        status=line.status,
        standing=task.standing,
        blocked_by=tuple(state.tasks[other].id for other in task.after),
        waits_for=line.blocked_by,
        verify=task.plan.verify,
        files=task.plan.files,
        about=task.plan.about,
        attempts=task.attempts,
        stuck=task.stuck,
        origin=task.origin,
        loop=task.loop,
        landed=task.landed,
        note=line.note,
    )


def plan_lines(plan: ShownPlan) -> Iterator[str]:
    yield f"{one_line(plan.request, 200)} ({plan.loop})"
    if not plan.tasks:
        yield f"Stage {plan.stage}: there is no plan yet."
        return
    yield f"Stage {plan.stage}, wave {plan.wave} of {plan.waves}, {plan.done} of {counted(plan.total, 'task')} done"
    for wave in range(1, plan.waves + 1):
        yield ""
        yield f"Wave {wave}"
        for task in plan.tasks:
            if task.wave == wave:
                yield from _lines(task)


def _lines(task: ShownTask) -> Iterator[str]:
    waits = f"waits for {', '.join(task.waits_for)}" if task.waits_for and task.status != "completed" else ""
    tries = counted(task.attempts, "attempt") if task.attempts else ""
    stuck = f"{task.stuck} failed" if task.stuck else ""
    about = f"about {task.about}" if task.about else ""
    asides = (waits, tries, stuck, about, _MADE_OF.get(task.origin, ""), one_line(task.note, 120))
    said = ", ".join(each for each in asides if each)
    yield f"  [{_MARKS[task.status]}] {task.id}  {one_line(task.subject, 120)}" + (f"  ({said})" if said else "")
    if task.verify:
        yield f"      verify: {one_line(shlex.join(task.verify), 200)}"
