"""Tasks that nobody planned: made of a change that does not go together with the rest, and of what reviews found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from loopwright.kernel.findings import cut
from loopwright.kernel.model import Finding, Outcome, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import place, told
from loopwright.loops.task_file import name_of, number_of
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.schedule import added
from loopwright.loops.workflow.state import WorkflowState, WorkTask

Origin = Literal["conflict", "red"]
MUST_NOT = "mustNot-"
_SIDES = 5  # tasks that landed and are named
_LINE = 300  # characters that are kept of what a loop says of itself
_WRONG = 10  # findings that are named
_BEGIN = {
    "red": (
        "You begin with both together, which is red, or, if more has landed since, with what has landed: mend it, or"
        " make the change again, so that both hold."
    ),
    "conflict": "You begin with what has landed: make the change of the other side on top of it, so that both hold.",
}


def forbidden_in(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """What must not be and a judge says is so."""
    return tuple(each for each in found if each.severity is Severity.CRITICAL and each.requirement.startswith(MUST_NOT))


def became_true(found: tuple[Finding, ...]) -> tuple[str, ...]:
    return tuple(f"{each.requirement} became true: {one_line(each.issue, 300)}" for each in found)


def why_of(outcome: Outcome) -> str:
    """What is wrong, where the loop says it: that its one attempt is used up is how every stuck task ends."""
    said = told(outcome.findings[0]) if outcome.findings else outcome.note
    more = f" and {len(outcome.findings) - 1} more" if len(outcome.findings) > 1 else ""
    return cut(" ".join(said.split()), _LINE) + more


def next_name(state: WorkflowState, ahead: int = 0) -> str:
    """Behind the largest number there is: a plan need not count without gaps."""
    return name_of(max((number_of(task.id) for task in state.tasks), default=0) + 1 + ahead)


def both_sides(state: WorkflowState, task: WorkTask, origin: Origin) -> PlannedTask:
    """What was right by itself and is not together with what landed meanwhile: whoever mends it knows both."""
    others = [other for other in state.tasks if other.landed and other.id != task.id]
    landed = [f"- {other.id}, {other.plan.subject}: commit {other.landed}" for other in others[-_SIDES:]]
    wrong = [f"- {one_line(each.issue, 300)}" for each in task.failures[:_WRONG]]
    parts = (
        (
            f"{task.id} ({task.plan.subject}) was made and verified by itself as commit {task.commit}, a change to"
            f" commit {task.made_on}. But {task.why}."
        ),
        f"What {task.id} is to do: {task.plan.description}",
        "\n".join(("What has landed meanwhile:", *(landed or ["- nothing that is known"]))),
        "\n".join(("What is wrong:", *wrong)) if wrong else "",
        _BEGIN[origin],
    )
    # What fails is for the code to pass, and not expected to change.
    conflicting = (each.file for each in task.failures if each.file and origin == "conflict")
    paths = dict.fromkeys((*task.plan.files, *conflicting))
    return PlannedTask(
        id=next_name(state),
        subject=f"Bring {task.id} together with what has landed",
        description="\n\n".join(filter(None, parts)),
        verify=task.plan.verify,
        about=task.plan.about,
        files=tuple(paths),
        active_form=f"Bringing {task.id} together with what has landed",
    )


def remedy(name: str, finding: Finding, said: str) -> PlannedTask:
    """One finding, and what a person said to it."""
    what = one_line(said or finding.issue, 120).rstrip(".")
    facts = (
        ("Found", finding.issue),
        ("Where", place(finding)),
        ("Evidence", finding.evidence),
        ("Guidance", finding.guidance),
        ("A person says", said),
    )
    text = "\n".join(f"{label}: {value}" for label, value in facts if value)
    files = (finding.file,) if finding.file else ()
    return PlannedTask(id=name, subject=f"Mend: {what}", description=text, files=files, active_form=f"Mending: {what}")


def remedied(state: WorkflowState, found: Iterable[Finding], origin: str = "finding") -> WorkflowState:
    return tasks_of(state, tuple((each, "") for each in found), origin)


def tasks_of(state: WorkflowState, wanted: tuple[tuple[Finding, str], ...], origin: str = "finding") -> WorkflowState:
    """The next wave: one task for each finding."""
    wave = len(state.open_in_wave) + 1
    tasks = tuple(
        WorkTask(
            plan=remedy(next_name(state, place), finding, said),
            asked=PlannedTask(id=next_name(state, place), subject=said),  # a finding lets nobody change tests
            wave=wave,
            origin="gate" if origin == "gate" else "finding",
        )
        for place, (finding, said) in enumerate(wanted)
    )
    return added(state, tasks)
