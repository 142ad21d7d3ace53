"""The workflow loop as the rest of the house knows it, and what a Python program says to have one driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Kind, Needs, StatusFacts, Words
from loopwright.loops.workflow import brief, closing, files, listing, past, waiting
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.progress import wave_shown
from loopwright.loops.workflow.state import WorkflowParams, WorkflowState

_RULES = (
    (
        "The spec score decides whether anything is asked first (below 5), the fit score how it is worked: 40 and more"
        " as a tool, 30 to 39 with a check-in after each wave, 25 to 29 with one after each task."
    ),
    (
        "A task begins when what it waits for is done and nobody works on its files. Each is made in a loop of"
        " its own and lands one after the other, verified together with all that has landed, with the commands of every"
        " task that is done."
    ),
    (
        "A task whose verification fails is stuck: the panel is asked at once, and it is tried again with its advice."
        " Stuck tasks never ask a person; at the most iterations, the same failure too often, or the budget, the loop"
        " pauses and keeps everything."
    ),
    (
        "A light review of a complete wave holds up nothing. The thorough review must end without a blocker: each"
        " becomes a task. A mustNot that became true stops everything at once."
    ),
)


_STAND_INS = {
    "scorer": "the request is scored by rule",
    "shaper": "it is shaped by rule",
    "planner": "it is one task",
    "panel": "stuck tasks are tried again without advice",
    "gate": "it ships when reviews and commands pass",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One request to done: scored, shaped, taken apart, run in waves, reviewed.

    It needs checks, a `developer` and a `reviewer`; a `scorer`, a `shaper`, a `planner`, a `panel` and a `gate` take
    the place of the engine's own rules.
    """

    request: str
    max_iterations: int | None = 25
    max_same_failure: int = 3
    max_total_failures: int = 25
    shape: str = ""
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)


def _status(state: WorkflowState) -> StatusFacts:
    every = files.task_lines(state)
    if not every:
        return StatusFacts()
    waves = max(task.wave for task in every)
    return StatusFacts(tasks={"done": state.done, "total": len(every), "wave": wave_shown(every), "waves": waves})


def _tells_more(loop: LoopId, _state: WorkflowState) -> str:
    return f"{files.folder(loop)}/PROGRESS.md"


KIND: Kind[WorkflowParams, WorkflowState] = Kind(
    loop=WORKFLOW,
    limits="workflow",
    request=Workflow,
    porch=("loopwright.app.starts.workflow.creation", "loopwright.app.starts.workflow.adoption"),
    words=Words(
        counter="iteration",
        promise="Complete",
        roles={
            "score": "scorer",
            "shape": "shaper",
            "plan": "planner",
            "panel": "panel",
            "light": "reviewer",
            "thorough": "reviewer",
            "discuss": "panel",
            "ship": "gate",
        },
        quiet=("light", "thorough", "combine", "checks", "cancel"),
        unsaid=("task", "combine", "checks", "land-task"),
        outcomes={"verified": "complete", "accepted": "complete", "escalated": "blocked"},
    ),
    starts='loop start "REQUEST"',
    needs=Needs(
        roles=("developer", "reviewer"),
        gates=(PROTECTED, UNTESTED, UNSHOWN),
        examiner=True,
        stand_ins=_STAND_INS,
    ),
    objection=lambda _said, _agents: "",
    title=lambda params: params.request.strip().partition("\n")[0],
    brief=brief.render,
    closing=closing.lines,
    block=closing.block,
    report=closing.report,
    so_far=closing.so_far,
    owed=closing.owed,
    result=closing.result,
    landed_so_far=closing.landed_so_far,
    unresolved=closing.unresolved,
    told_when_stopped=closing.unresolved,
    status=_status,
    rules=_RULES,
    held_up=waiting.explained,
    files=files.render,
    past=past.folded,
    notes=files.notes,
    tells_more=_tells_more,
    listing=listing.listed,
    queued=waiting.queued,
    summary=closing.summary,
    has_lanes=True,
)
