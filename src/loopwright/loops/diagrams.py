"""Machines drawn from themselves: every move one makes on every kind of answer, as a diagram and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import CancelRequested, Event
from loopwright.kernel.machine import Loop
from loopwright.loops.samples import Verdicts, answers_to, asked_for

P = TypeVar("P")
S = TypeVar("S")
ONE_OF_BOTH = "In LAND exactly one of landing and cancelling happens."
GENERATED = "<!-- Generated from the code: `./run docs` rewrites this page. -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnMove:
    phase: str
    asks: str
    when: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk(Generic[P, S]):
    """A machine, from where it is tried and how far.

    States of one shape differ in numbers and texts only: they move alike, so one of them is tried.
    """

    loop: Loop[P, S]
    phases: tuple[str, ...]  # in the order they are shown
    starts: tuple[S, ...]
    shape: Callable[[S], tuple[object, ...]]
    within: Callable[[S], bool]
    when: Callable[[S, str], str]  # the words for an answer, where they depend on the state
    verdicts: Verdicts = field(default_factory=dict)  # what its judges may say


def reachable(walk: Walk[P, S]) -> tuple[S, ...]:
    """One state of each shape."""
    waiting = list(walk.starts)
    seen = {walk.shape(state): state for state in waiting}
    while waiting:
        for after in _after(walk, waiting.pop()):
            if walk.within(after) and walk.shape(after) not in seen:
                seen[walk.shape(after)] = after
                waiting.append(after)
    return tuple(seen.values())


def moves(walk: Walk[P, S], states: tuple[S, ...]) -> tuple[DrawnMove, ...]:
    """Every move from these states, in the order of the phases. A gate decided on the way moves nothing."""
    found = {
        DrawnMove(
            phase=phase_of(walk, state), asks=asked_for(action), when=walk.when(state, when), to=phase_of(walk, after)
        )
        for state in states
        for action in walk.loop.decide(state)
        for when, event in answers_to(action, walk.verdicts).items()
        if (after := applied(walk, state, event)) is not None
        and not (isinstance(action, AwaitGate) and phase_of(walk, after) == phase_of(walk, state))
    }
    order = walk.phases.index
    return tuple(sorted(found, key=lambda move: (order(move.phase), move.asks, move.when, order(move.to))))


def phase_of(walk: Walk[P, S], state: S) -> str:
    return walk.loop.stand(state).state


def applied(walk: Walk[P, S], state: S, event: Event) -> S | None:
    """None when the machine refuses the event."""
    try:
        return walk.loop.apply(state, event)
    except InvalidTransition:
        return None


def _after(walk: Walk[P, S], state: S) -> list[S]:
    asked = walk.loop.decide(state)
    events = [event for action in asked for event in answers_to(action, walk.verdicts).values()]
    tried = (applied(walk, state, event) for event in (*events, CancelRequested()))
    return [after for after in tried if after is not None]


def cancelled_in(walk: Walk[P, S], states: tuple[S, ...]) -> str:
    """The sentence that says in which phases a person may cancel, and where that leads."""
    found = {
        (phase_of(walk, state), phase_of(walk, after))
        for state in states
        if (after := applied(walk, state, CancelRequested())) is not None
    }
    left = {(begin, end) for begin, end in found if begin != end}
    begins, ends = ([phase for phase in walk.phases if phase in {pair[side] for pair in left}] for side in (0, 1))
    return f"A person may cancel in {listed(begins)}: that leads to {listed(ends, 'or')}."


def diagram(walk: Walk[P, S], found: tuple[DrawnMove, ...]) -> str:
    """One arrow for each pair of phases; staying where one is needs none."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for move in found:
        if move.phase != move.to:
            labels = arrows.setdefault((move.phase, move.to), [])
            labels += [] if move.when in labels else [move.when]
    drawn = [f"    {begin} --> {end}: {', '.join(labels)}" for (begin, end), labels in arrows.items()]
    first = phase_of(walk, walk.starts[0])
    body = "\n".join(["stateDiagram-v2", f"    [*] --> {first}", *drawn, "    DONE --> [*]"])
    return f"```mermaid\n{body}\n```"


def moves_table(found: tuple[DrawnMove, ...]) -> str:
    rows = [
        (phase, asks, when, listed([move.to for move in group], "or"))
        for (phase, asks, when), group in groupby(found, key=lambda move: (move.phase, move.asks, move.when))
    ]
    return table(("in", "asks", "and hears", "goes to"), rows)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    first, rule, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join((first, rule.replace(" ", ""), *rest))


def listed(names: list[str], word: str = "and") -> str:
    return f" {word} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
