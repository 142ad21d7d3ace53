"""`docs/loops/feedback.md`, drawn from the machine itself: every move it makes on every kind of answer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import CancelRequested, Event
from loopwright.kernel.limits import FeedbackLimits
from loopwright.kernel.model import Commit
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import Feedback, FeedbackParams, Phase, gate_is_open
from loopwright.projections.samples import answers_to, asked_for
from loopwright.projections.wording import ALL_TESTS_PASSING, PROMISE

_ORDER = list(Phase)
_DEPTH = 2  # closed iterations after which nothing new can happen under the limits used here
_LIMITS = FeedbackLimits(max_feedback_iterations=2, max_consecutive_review_failures=2, max_consecutive_test_failures=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    phase: Phase
    asks: str
    when: str
    to: Phase


_INTRO = (
    "A developer implements, a reviewer compares the change with the task, the checks decide. What failed goes into the"
    f" next developer's brief. The loop ends with `{PROMISE}`, or asks a person when a limit is reached."
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried. Several states are named where it depends on the counters, on"
    " whether the step was tried before, or on whether a tester is configured."
)
_ABOUT_GATE = (
    "Changed or removed protected files open the gate `protected`, which a person may decide at any time. Until then"
    " the loop goes on with the base versions of those files, and stops at GATE only when nothing but the decision is"
    " missing."
)


def feedback_page() -> str:
    states = reachable()
    found = moves(states)
    cancel = f"A person may cancel in {_listed(_cancellable(states))}: that leads to CLEAN_UP."
    parts = (
        "# The feedback loop",
        "<!-- Generated from the code: `./run docs` rewrites this page. -->",
        _INTRO,
        f"```mermaid\n{_diagram(found)}\n```",
        "## Limits",
        _limits_table(FeedbackLimits()),
        "## Moves",
        _ABOUT_MOVES,
        _moves_table(found),
        f"{cancel} In LAND exactly one of landing and cancelling happens.",
        _ABOUT_GATE,
    )
    return "\n\n".join(parts) + "\n"


def moves(states: tuple[Feedback, ...]) -> tuple[Move, ...]:
    """Every move from these states, in the order of the phases. A gate decided on the way moves nothing."""
    found = {
        Move(phase=state.phase, asks=asked_for(action), when=_when(state, when), to=after.phase): None
        for state in states
        for action in FEEDBACK.decide(state)
        for when, event in answers_to(action).items()
        if (after := _applied(state, event)) is not None
        and not (isinstance(action, AwaitGate) and after.phase is state.phase)
    }
    return tuple(
        sorted(found, key=lambda move: (_ORDER.index(move.phase), move.asks, move.when, _ORDER.index(move.to)))
    )


def _when(state: Feedback, when: str) -> str:
    rejected = when == ALL_TESTS_PASSING and state.evidence in state.rejected
    return f"{when} with a rejected change" if rejected else when


def reachable() -> tuple[Feedback, ...]:
    """One state of each shape: states that differ only in numbers and texts move alike."""
    waiting = [FEEDBACK.start(_params(tester=tester)) for tester in (False, True)]
    seen = {_shape(state): state for state in waiting}
    while waiting:
        for after in _after(waiting.pop()):
            if len(after.past) <= _DEPTH and _shape(after) not in seen:
                seen[_shape(after)] = after
                waiting.append(after)
    return tuple(seen.values())


def _params(*, tester: bool) -> FeedbackParams:
    return FeedbackParams(task="sample", base=Commit("b"), tester=tester, limits=_LIMITS)


def _after(state: Feedback) -> list[Feedback]:
    events = [event for action in FEEDBACK.decide(state) for event in answers_to(action).values()]
    tried = (_applied(state, event) for event in (*events, CancelRequested()))
    return [after for after in tried if after is not None]


def _applied(state: Feedback, event: Event) -> Feedback | None:
    """None when the machine refuses the event."""
    try:
        return FEEDBACK.apply(state, event)
    except InvalidTransition:
        return None


def _shape(state: Feedback) -> tuple[object, ...]:
    return (
        state.phase,
        state.plan.tester,
        len(state.past),
        (state.respawned, state.repaired, state.until is None),
        (gate_is_open(state), state.evidence in state.rejected),
        (state.accepted, state.cancel is None),
    )


def _cancellable(states: tuple[Feedback, ...]) -> list[Phase]:
    phases = {
        state.phase
        for state in states
        if (after := _applied(state, CancelRequested())) is not None and after.phase is Phase.CLEAN_UP
    }
    return [phase for phase in _ORDER if phase in phases]


def _diagram(found: tuple[Move, ...]) -> str:
    """One arrow for each pair of phases; staying where one is needs none."""
    arrows: dict[tuple[Phase, Phase], list[str]] = {}
    for move in found:
        if move.phase is not move.to:
            labels = arrows.setdefault((move.phase, move.to), [])
            labels += [] if move.when in labels else [move.when]
    drawn = [f"    {begin.value} --> {end.value}: {', '.join(labels)}" for (begin, end), labels in arrows.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.IMPLEMENT.value}", *drawn, "    DONE --> [*]"])


def _limits_table(limits: FeedbackLimits) -> str:
    rows = (
        ("max_feedback_iterations", limits.max_feedback_iterations, "iterations in all"),
        (
            "max_consecutive_review_failures",
            limits.max_consecutive_review_failures,
            "failed reviews in a row, or the same review issue in a row",
        ),
        (
            "max_consecutive_test_failures",
            limits.max_consecutive_test_failures,
            "failed test runs in a row, or the same test failure in a row",
        ),
    )
    head = "| `[limits.feedback]` | default | asks a person after |\n|---|---|---|\n"
    return head + "\n".join(f"| `{name}` | {value} | {what} |" for name, value, what in rows)


def _moves_table(found: tuple[Move, ...]) -> str:
    rows = [
        f"| {phase.value} | {asks} | {when} | {_listed([move.to for move in group], 'or')} |"
        for (phase, asks, when), group in groupby(found, key=lambda move: (move.phase, move.asks, move.when))
    ]
    return "\n".join(("| in | asks | and hears | goes to |", "|---|---|---|---|", *rows))


def _listed(phases: list[Phase], word: str = "and") -> str:
    names = [phase.value for phase in phases]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
