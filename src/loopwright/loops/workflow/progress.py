"""`PROGRESS.md`: a workflow for people, in the seed's words; every task of every wave is on it.

A wave that has begun has a heading of its own. Those that have not are gathered under the seed's one heading
`Pending (Wave 3+)`, each after the first with a smaller heading inside: the page still says which task is in which.
Subjects and notes are other people's words: they are shown, and nothing in them makes a heading, a box or a fence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.quoting import fenced, inline
from loopwright.kernel.wording import dollars

TaskStatus = Literal["pending", "in_progress", "completed"]
_WORKING = "executing"  # the stage that the seed's line of status does not name: the wave says it
_ID = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A task as pages tell it. `blocked_by` are those of its blockers that are not done."""

    id: str
    subject: str
    wave: int
    status: TaskStatus
    blocked_by: tuple[str, ...] = ()
    assigned: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressPicture:
    """All that the page shows. `complete` is the block that ends a loop, `graph` the plan in Mermaid's words."""

    title: str
    wave: int
    waves: int
    iteration: int
    spent: float
    estimated: bool
    budget: float | None
    tasks: tuple[TaskLine, ...]
    stuck: int
    counsel: bool
    stage: str
    graph: str = ""
    complete: str = ""
    remarks: tuple[str, ...] = ()


def wave_shown(tasks: tuple[TaskLine, ...]) -> int:
    """The lowest wave with a task that is not done, for tasks of later ones may be; the last where all are; else 0."""
    unfinished = [task.wave for task in tasks if task.status != "completed"]
    return min(unfinished) if unfinished else max((task.wave for task in tasks), default=0)


def cost_shown(spent: float, *, estimated: bool, budget: float | None) -> str:
    """`$2.50/$25`."""
    limit = "no limit" if budget is None else dollars(budget).removesuffix(".00")
    return f"{dollars(spent, estimated=estimated)}/{limit}"


def render_progress(picture: ProgressPicture) -> str:
    parts = [
        f"# Loop Progress: {inline(picture.title)}",
        _status(picture),
        *_waves(picture.tasks),
        _metrics(picture),
        *(f"**Note:** {inline(remark)}" for remark in picture.remarks),
    ]
    if picture.graph:
        parts.append(f"## 🧭 Plan\n{fenced(picture.graph, 'mermaid')}")
    if picture.complete:
        parts.append(f"## 🏁 Complete\n{fenced(picture.complete)}")
    return "\n\n".join(parts) + "\n"


def _status(picture: ProgressPicture) -> str:
    wave = f"Wave {picture.wave} of {picture.waves}" if picture.waves else ""
    stage = "" if wave and picture.stage == _WORKING else inline(picture.stage.capitalize())
    cost = cost_shown(picture.spent, estimated=picture.estimated, budget=picture.budget)
    parts = (stage, wave, f"Iteration {picture.iteration}", f"Cost: {cost}")
    return f"**Status:** {' | '.join(part for part in parts if part)}"


def _waves(tasks: tuple[TaskLine, ...]) -> Iterator[str]:
    """What is done, what is under way, what is ahead. A wave of which a task has begun is under way."""
    waves: dict[int, list[TaskLine]] = {}
    for task in sorted(tasks, key=lambda each: each.wave):
        waves.setdefault(task.wave, []).append(task)
    done = [wave for wave, held in waves.items() if {task.status for task in held} == {"completed"}]
    ahead = [wave for wave, held in waves.items() if {task.status for task in held} == {"pending"}]
    under_way = [wave for wave in waves if wave not in done and wave not in ahead]
    headings = [
        *((wave, f"## ✅ Completed (Wave {wave})") for wave in done),
        *((wave, f"## 🔄 In Progress (Wave {wave})") for wave in under_way),
        *((wave, f"## ⏳ Pending (Wave {wave}{'+' if len(ahead) > 1 else ''})") for wave in ahead[:1]),
        *((wave, f"### Wave {wave}") for wave in ahead[1:]),
    ]
    for wave, heading in headings:
        yield "\n".join((heading, *map(_line, waves[wave])))


def _line(task: TaskLine) -> str:
    line = f"- [{'x' if task.status == 'completed' else ' '}] {inline(task.id, _ID)}: {inline(task.subject)}"
    return " ".join((line, *(f"({aside})" for aside in _asides(task))))


def _asides(task: TaskLine) -> Iterator[str]:
    if task.status != "completed" and task.assigned:
        yield "assigned to subagent"
    if task.status != "completed" and task.blocked_by:
        yield f"blocked by {', '.join(inline(each, _ID) for each in task.blocked_by)}"
    if task.note:
        yield inline(task.note)


def _metrics(picture: ProgressPicture) -> str:
    done = sum(task.status == "completed" for task in picture.tasks)
    return (
        "## 📊 Metrics\n"
        f"- Tasks: {done}/{len(picture.tasks)} complete\n"
        f"- Stuck count: {picture.stuck}\n"
        f"- Counsel consulted: {'Yes' if picture.counsel else 'No'}"
    )
