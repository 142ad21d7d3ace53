"""Where the workflow loop stands with a question: what it asks, and what may be answered.

Stuck tasks never ask. A person is asked about an unclear request, a shape to confirm, a check-in that the shape calls
for, a finding at the end, a limit that is reached, and what only they can decide.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace

from loopwright.kernel.actions import Option
from loopwright.kernel.faults import KEPT
from loopwright.kernel.model import Finding
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, told
from loopwright.loops import course as c
from loopwright.loops.hooks import Escalation
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.state import Stopped, TaskStanding, WorkflowState, WorkTask, choice_of, fit_of, spec_of
from loopwright.loops.workflow.views import word_of

_NAMED = 6  # things in a sentence
_CANCEL = Option(choice="cancel", label="Cancel the workflow")
_ACCEPT = Option(choice="accept", label="Accept what has landed so far")
_HISTORY = Option(choice="history", label="Show what every task came to")
_GO_ON = Option(choice="continue", label="Go on", how="continue", prompt="continue: go on")
_REVISE = Option(choice="revise", label="Revise: give new guidance")
_GUIDED = Option(
    choice="revise", label="Go on with new guidance", prompt="revise GUIDANCE: it goes to all that follows"
)
BLOCKER = "BLOCKER"
_ON_FAILING = (Stopped.LIMIT, Stopped.STUCK)  # asked because something fails


def stopped(state: WorkflowState, kind: Stopped, *why: str, failing: tuple[Finding, ...] = ()) -> WorkflowState:
    fails = tuple(each for task in state.tasks if task.standing is not TaskStanding.DONE for each in task.failures)
    return c.escalated(replace(state, stopped=kind), why, failing or (fails if kind in _ON_FAILING else ()))


def escalation(state: WorkflowState) -> Escalation:
    return _ASKED[state.stopped](state) if state.stopped else _unasked(state)


@dataclass(frozen=True, slots=True)
class _Asks:
    """Most questions differ in their words and options only."""

    question: str
    options: tuple[Option, ...]
    kind: str = "escalation"
    paused: bool = False
    findings: Callable[[WorkflowState], tuple[Finding, ...]] = lambda _state: ()

    def __call__(self, state: WorkflowState) -> Escalation:
        why = "; ".join(state.course.reasons)
        return Escalation(
            question=self.question.format(why=why, plan=_plan_line(state), hint=_hint(state)),
            options=self.options,
            why=why,
            findings=self.findings(state),
            kind="check-in" if self.kind == "check-in" else "escalation",
            paused=self.paused,
        )


def _unasked(state: WorkflowState) -> Escalation:
    """What may be said besides an answer to an agent's question."""
    return Escalation(question="", options=(_CANCEL,), why="; ".join(state.course.reasons))


def _confirm(state: WorkflowState) -> Escalation:
    shape = state.shape
    criteria = _listed(tuple(each.text for each in shape.criteria)) if shape else ""
    must_not = _listed(tuple(each.text for each in shape.must_not)) if shape else ""
    return Escalation(
        question=(
            f"The shape, before any task is made (spec {spec_of(state)}/10, fit {fit_of(state)},"
            f" {choice_of(state).value}). It is done when: {criteria}. It must not happen that: {must_not}."
            " Is that what you mean? .loop/shape/SHAPE.md has all of it."
        ),
        options=(
            replace(_GO_ON, label="Yes, go on"),
            replace(_GUIDED, label="No: say what is missing", prompt="revise WHAT: it is shaped once more with that"),
            _CANCEL,
        ),
        why="; ".join(state.course.reasons),
        kind="check-in",
    )


def _check_in(state: WorkflowState) -> Escalation:
    what = "this task" if choice_of(state) is ShapeChoice.COLLEAGUE else "this wave"
    return Escalation(
        question=f"{_plan_line(state)}. Go on after {what}? .loop/PROGRESS.md shows where it stands.",
        options=(_GO_ON, _GUIDED, _HISTORY, _CANCEL),
        why="; ".join(state.course.reasons),
        kind="check-in",
    )


def _finding(state: WorkflowState) -> Escalation:
    """The first is what is done where nobody answers: a blocker is mended, a warning is seen."""
    resolving = state.resolving
    left = resolving.left if resolving else ()
    first = left[0]
    word = BLOCKER if first in _blockers(state) else word_of(first.severity)
    mend = Option(choice="approve", label="It is right: make a task of it")
    own = Option(
        choice="task",
        label="Make a task of it in your words",
        how='task --text "what is to be done"',
        needs="what is to be done",
    )
    skip = Option(choice="skip", label="Leave it as it is")
    discuss = (Option(choice="discuss", label="Hear the panel on it"),) if "panel" in state.plan.cast else ()
    options = (mend, own, *discuss) if word == BLOCKER else (replace(skip, label="Seen: leave it"), mend, own, *discuss)
    panel = resolving.advice if resolving else ""
    facts = (("Evidence", first.evidence), ("Guidance", first.guidance), ("The panel", panel))
    advice = "".join(f"\n{name}: {one_line(said, 1_000)}" for name, said in facts if said)
    many = counted(len(left), "finding")
    return Escalation(
        question=f"[{word}] {told(first)} ({many} to resolve).{advice}\nWhat is done about it?",
        options=(*options, _CANCEL),
        why="the thorough review found it",
        findings=(first,),
        kind="check-in",
    )


def _blockers(state: WorkflowState) -> tuple[Finding, ...]:
    return state.thorough.blockers if state.thorough else ()


_ASKED: dict[Stopped, Callable[[WorkflowState], Escalation]] = {
    Stopped.CONFIRM: _confirm,
    Stopped.CHECK_IN: _check_in,
    Stopped.FINDING: _finding,
    Stopped.LIMIT: _Asks(
        question="Paused: {why}. {plan}. Everything is kept.{hint} How should it go on?",
        options=(
            replace(_GO_ON, label="Grant more attempts", how="continue 10", prompt="continue N: N more attempts"),
            _ACCEPT,
            _HISTORY,
            _REVISE,
            _CANCEL,
        ),
        paused=True,
    ),
    Stopped.MUST_NOT: _Asks(
        question="Stopped at once: {why}. {plan}. How should it go on?",
        options=(replace(_GO_ON, label="Go on: it is mended by another task"), _ACCEPT, _HISTORY, _REVISE, _CANCEL),
        findings=_blockers,
    ),
    Stopped.SHAPE: _Asks(
        question="The shape cannot be worked by: {why}. How should it go on?",
        options=(replace(_GO_ON, label="Have it shaped once more"), _REVISE, _CANCEL),
    ),
    Stopped.PLAN: _Asks(
        question="No task was started: {why}. How should it go on?",
        options=(replace(_GO_ON, label="Have it planned once more"), _REVISE, _CANCEL),
    ),
    Stopped.IDLE: _Asks(
        question="Nothing shows that these are done: {why}. {plan}. How should it go on?",
        options=(
            Option(choice="done", label="They are done already: count them as done by your word"),
            replace(_GO_ON, label="Have them tried once more"),
            _ACCEPT,
            _HISTORY,
            _REVISE,
            _CANCEL,
        ),
    ),
    Stopped.COMMAND: _Asks(
        question=(
            "No maker was started: {why}. Write `verify` with a program that is on PATH, or one that `setup` in"
            " [workspace] brings into checkouts. How should it go on?"
        ),
        options=(
            replace(_GO_ON, label="Try the command once more"),
            Option(choice="skip", label="Go on without the command: the checks and the reviewer judge the task"),
            _CANCEL,
        ),
    ),
    Stopped.STUCK: _Asks(
        question="Nothing goes on: {why}. {plan}. How should it go on?",
        options=(replace(_GO_ON, label="Try once more"), _ACCEPT, _HISTORY, _REVISE, _CANCEL),
    ),
    Stopped.LANDING: _Asks(
        question="The work is done and could not be landed: {why}. How should it go on?",
        options=(replace(_GO_ON, label="Try once more"), _ACCEPT, _HISTORY, _CANCEL),
    ),
}


def _plan_line(state: WorkflowState) -> str:
    """Where the tasks stand, in a line."""
    left = [task for task in state.tasks if task.standing is not TaskStanding.DONE]
    named = ", ".join(f"{task.id} {one_line(task.plan.subject, 60)}" for task in left[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"{state.done} of {counted(len(state.tasks), 'task')} done" + (f"; to do: {named}{more}" if left else "")


def _hint(state: WorkflowState) -> str:
    """Where more attempts alone would not help, as far as that can be seen."""
    return _failing_command(state) or _kept(state)


def _failing_command(state: WorkflowState) -> str:
    """Where it is a task's own command that fails and no attempt makes it pass, the plan may be what is wrong."""
    task = next((each for each in state.tasks if fails_its_own(each)), None)
    if task is None:
        return ""
    command = one_line(shlex.join(task.plan.verify), 120)
    return (
        f" What fails in {task.id} is the command that its plan verifies it by ({command}). If that is wrong: a plan"
        " cannot be edited yet, `loop answer revise` tells the next attempts what to do about it, and"
        " `loop start --fresh` with a better request plans anew."
    )


def _kept(state: WorkflowState) -> str:
    """Where a task may have to change a test that an earlier one wrote, a person can say so."""
    for task in state.tasks:
        if task.standing is not TaskStanding.DONE and KEPT in [each.rule for each in task.failures]:
            return (
                f" {task.id} changes a test that landed with an earlier task, which stays as it landed. If that test"
                " has to change: `loop answer revise --allow FILE GUIDANCE` lets it; guidance alone does not."
            )
    return ""


def fails_its_own(task: WorkTask) -> bool:
    of_its_command = task.id in [each.requirement for each in task.failures]
    return of_its_command and task.stuck > 0 and task.standing is not TaskStanding.DONE


def _listed(texts: tuple[str, ...]) -> str:
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return "; ".join(one_line(each, 120).rstrip(".") for each in texts[:_NAMED]) + more


# --- for the page about it ------------------------------------------------------------------------------------------

_WHEN = {
    Stopped.CONFIRM: "the shape is shown, below fit 40, where somebody is there",
    Stopped.CHECK_IN: "after each wave (tool-review), or after each task (colleague)",
    Stopped.FINDING: "a finding of the thorough review, where somebody is there: each is resolved by them",
    Stopped.LIMIT: "a limit is reached: paused",
    Stopped.MUST_NOT: "what must not happen has happened",
    Stopped.SHAPE: "the shape cannot be worked by",
    Stopped.PLAN: "the plan is wrong, twice",
    Stopped.IDLE: "a maker changed nothing, and the command of its task passed before the task started",
    Stopped.COMMAND: "the command of a task cannot start",
    Stopped.STUCK: "nothing goes on for another reason",
    Stopped.LANDING: "the result could not be landed",
}
_OF_FINDINGS = ("approve", "task", "discuss", "skip (of a warning)", "cancel")
_OF_OTHERS = {
    Stopped.CONFIRM: ("continue", "revise", "cancel"),
    Stopped.CHECK_IN: ("continue", "revise", "history", "cancel"),
    Stopped.FINDING: _OF_FINDINGS,
}


def asked_in() -> list[tuple[str, str]]:
    """Each question with its answers; the first answer to a check-in continues the work."""
    return [(when, ", ".join(_choices(kind))) for kind, when in _WHEN.items()]


def _choices(kind: Stopped) -> tuple[str, ...]:
    asks = _ASKED[kind]
    return tuple(option.choice for option in asks.options) if isinstance(asks, _Asks) else _OF_OTHERS[kind]
