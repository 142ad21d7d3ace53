"""What the roles of a workflow are told: the scorer, the shaper, the planner, the panel, the reviewers, the gate.

Whoever makes a task works in that task's own loop, and is told there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.changing import replace
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Brief, Commit, Finding
from loopwright.kernel.quoting import fenced, one_line
from loopwright.loops import brief_parts
from loopwright.loops.workflow.shape import criterion_name, must_not_name
from loopwright.loops.workflow.state import Viewing, WorkflowState, WorkTask, of_wave
from loopwright.loops.workflow.views import LOOKS_AT

_FOUND = 8_192  # bytes of findings in a brief
_MOST = 50  # lines of a list
_INTRO = (
    "## Result\n\nWhen finished, write one JSON object to the file named by the environment variable `LOOP_RESULT`."
    " The file named by `LOOP_CONTEXT` has everything in this brief as data. Nothing else that is written is kept."
)
_DUTY = {
    "scorer": (
        "Score how clear the request is, before anybody works on it. Each of five dimensions gets 0, 1 or 2: outcome"
        " (vague, a direction, measurable), scope (the whole application, an area, an exact target), constraints (none,"
        ' soft, explicit limits), success (none, tests pass, tests and more), done (implied, "works", a definite'
        " event). Where the sum is below 5 a person is asked your questions."
    ),
    "shaper": (
        "Say what has to hold when the request is done, as criteria that are true or false, what must not happen on the"
        " way, and how each is seen. At least two mustNot, each with a command that fails when it is so, or words that"
        " a reviewer can see it by. A verification of type `assumption` is refused."
    ),
    "planner": (
        'Take the request apart into tasks. A task is one sentence without "and", small enough for one sitting,'
        " with the tasks it waits for (`blockedBy`), a command that fails before it is done and passes afterwards"
        " (`verify`, a list of words), the files it is expected to change, and what it is about. At most 25 tasks,"
        " without a cycle; waves of one to six."
    ),
    "panel": (
        "A task is stuck. Look at it with two to four different pairs of eyes: what each sees as the cause, what to do"
        " about it, ranked, what all of them agree on, and what to fall back to. Advise; change nothing."
    ),
    "gate": (
        "Everything is done: every task, the thorough review, every command. Decide whether it ships. Look at the"
        " files and the diff yourself; believe no claim. `confidence` below 70 fails it."
    ),
}
_RESULTS = {
    "scorer": (
        '{"status": "done",\n "scores": {"outcome": 2, "scope": 1, "constraints": 0, "success": 2, "done": 1},\n'
        ' "summary": "why, in a sentence",\n "questions": [{"question": "…", "options": ["…"], "impact": "…"}]}'
    ),
    "shaper": (
        '{"status": "done",\n "shape": {"criteria": ["…"],\n   "mustNot": ["…", {"text": "…", "command": ["…"]}],\n'
        '   "verification": [{"criterion": "…", "type": "execution output | observation | measurement | code review",'
        ' "command": ["…"]}]}}'
    ),
    "planner": (
        '{"status": "done",\n "tasks": [{"id": "T-001", "subject": "…", "description": "…", "verify": ["…"],'
        ' "blockedBy": [], "files": ["…"], "about": "code | text | tests | cleanup"}]}'
    ),
    "panel": (
        '{"status": "done",\n "advice": {"diagnosis": ["one for each pair of eyes"], "recommendations": ["best first"],'
        ' "consensus": "…", "fallback": "…"}}'
    ),
}
_FINDING = (
    '{"severity": "critical | high | medium | low", "file": "src/a.py", "line": 12, "issue": "what is wrong",'
    ' "evidence": "what shows it", "guidance": "what to do", "requirement": "criterion-1 | mustNot-1"}'
)
_LIGHT = (
    "This is a light look at a wave of tasks that has landed: is it idiomatic, clean, and what was to be delivered?"
    " Nothing waits for it."
)
_THOROUGH = (
    "This is the thorough review before completion. Critical is a BLOCKER, high and medium a WARNING, low a SUGGESTION."
    " Advise no fix that breaks what must not happen; where the plain fix would, offer another."
)
_BELIEVE = (
    "Look at the files and the diff yourself; believe no claim, in comments and commit messages either. The working"
    " directory is a throw-away checkout: what is written there is discarded."
)
_SHIP = (
    ' "ship": {"confidence": 90, "reversibility": "2B", "points": 5, "alternative": "what else could have been done",'
    ' "risk": "what may still go wrong"}'
)
_JUDGE_RULES = (
    "A verdict is required. `fail` needs at least one finding, and every finding needs evidence. A finding that"
    " something happened that must not names it as its requirement (`mustNot-1`) and is critical: it stops everything."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBrief:
    """What only a workflow tells, under the names agents find it by."""

    view: str = ""
    task_id: str = ""
    wave: int = 0
    looks: str = ""  # of a review: light or thorough
    must_not: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()  # learnings that a person confirmed
    tasks: tuple[str, ...] = ()


def _brief(state: WorkflowState, attempt: int, own: RequestBrief, *, part: str = "") -> Brief:
    confirmed = tuple(each.text for each in state.plan.recalled if each.confirmed)
    must_not = tuple(each.text for each in state.shape.must_not) if state.shape else ()
    return Brief(
        task=state.plan.request,
        attempt=attempt,
        limit=max(1, attempt),
        criteria=tuple(each.text for each in state.shape.criteria) if state.shape else (),
        answers=state.course.answers,
        repair=state.course.trial_of(part).repair,
        base=state.ground,
        own=replace(own, recalled=confirmed, must_not=must_not),
    )


def for_intent(state: WorkflowState) -> Brief:
    """The scorer, the shaper and the planner know the request, what people said, and what is known by then."""
    return _brief(state, state.course.asked + 1, RequestBrief())


def for_panel(state: WorkflowState, task: WorkTask, part: str) -> Brief:
    own = RequestBrief(task_id=task.id, wave=task.wave)
    said = f"{task.id}: {task.plan.subject}\n\n{task.plan.description}\n\nHow the last attempt ended: {task.why}"
    stuck = _brief(state, max(1, task.stuck), own, part=part)
    return replace(stuck, task=said, failures=task.failures, candidate=shown_of(state, task), criteria=())


def shown_of(state: WorkflowState, task: WorkTask) -> Commit:
    """What there is to see of a task that is stuck. What others land meanwhile is no part of it."""
    return task.commit or task.made_on or state.ground


def for_discussion(state: WorkflowState) -> Brief:
    left = state.resolving.left if state.resolving else ()
    own = RequestBrief(looks="thorough")
    return replace(_brief(state, state.course.asked + 1, own), findings=left[:1], candidate=state.tip)


def for_review(state: WorkflowState, look: Viewing, view: str, part: str) -> Brief:
    """A light one sees what its wave landed; the thorough one all of it, and what was open when it last looked."""
    light = look is not state.look
    seen = of_wave(state, look.number) if light else tuple(state.tasks)
    own = RequestBrief(
        view=view,
        wave=look.number if light else 0,
        looks="light" if light else "thorough",
        tasks=tuple(map(_line, seen[:_MOST])),
    )
    brief = _brief(state, look.number, own, part=part)
    still_open: tuple[Finding, ...] = () if light else unresolved(state.ledger)
    return replace(brief, base=look.base, candidate=look.commit, findings=still_open)


def for_gate(state: WorkflowState) -> Brief:
    own = RequestBrief(tasks=tuple(map(_line, tuple(state.tasks)[:_MOST])))
    warnings = state.thorough.warnings if state.thorough else ()
    return replace(_brief(state, state.turn, own), candidate=state.tip, findings=warnings)


def _line(task: WorkTask) -> str:
    return f"{task.id}: {one_line(task.plan.subject, 120)}"


# --- as Markdown ----------------------------------------------------------------------------------------------------


def render(run: Assignment) -> str:
    brief, own = run.brief, run.brief.own
    parts = (
        f"# Brief for the {one_line(run.role, 60)} of a workflow",
        *_duty(run),
        brief_parts.task(brief),
        *_named("## Criteria", criterion_name, brief.criteria),
        *_named("## Must not happen", must_not_name, own.must_not),
        *_plain("## Tasks", own.tasks),
        *_plain("## Learned before, and confirmed by a person", own.recalled),
        *_found(run.role, brief),
        *_change(run),
        *brief_parts.from_person(brief),
        *brief_parts.repair(brief),
        _result(run),
    )
    return "\n\n".join(parts) + "\n"


def _duty(run: Assignment) -> tuple[str, ...]:
    own = run.brief.own
    if run.role != "reviewer":
        return (_DUTY.get(run.role, "Do what the task below asks of this role."),)
    kind = _LIGHT if own.looks == "light" else _THOROUGH
    return (f"{kind} You look at it as: {own.view}. {LOOKS_AT.get(own.view, '')}", _BELIEVE)


def _named(heading: str, name: Callable[[int], str], texts: tuple[str, ...]) -> tuple[str, ...]:
    lines = (f"- `{name(index)}`: {one_line(text, 1_000)}" for index, text in enumerate(texts[:_MOST], start=1))
    return (f"{heading}\n\n" + "\n".join(lines),) if texts else ()


def _plain(heading: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    return (f"{heading}\n\n" + "\n".join(f"- {one_line(text, 1_000)}" for text in texts),) if texts else ()


def _found(role: str, brief: Brief) -> tuple[str, ...]:
    parts = []
    if brief.failures:
        parts.append(brief_parts.listed("## What failed (data)", brief.failures, _FOUND))
    if brief.findings:
        heading = "## Open findings to check again (data)" if role == "reviewer" else "## Findings (data)"
        parts.append(brief_parts.listed(heading, brief.findings, _FOUND))
    return tuple(parts)


def _change(run: Assignment) -> tuple[str, ...]:
    if not run.brief.candidate:
        return ()
    without = "The diff is empty." if run.diff else "The diff is not included: look at the files."
    return (brief_parts.change("## What was done", run.brief, run.diff, without),)


def _result(run: Assignment) -> str:
    if run.role == "reviewer":
        return brief_parts.for_judge(_FINDING, _JUDGE_RULES, ' "score": 8')
    if run.role == "gate":
        return brief_parts.for_judge(_FINDING, _JUDGE_RULES, _SHIP)
    return f"{_INTRO}\n\n{fenced(_RESULTS.get(run.role, _RESULTS['panel']), 'json')}"
