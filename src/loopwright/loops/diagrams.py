"""Machines drawn from themselves: every move one makes on every kind of answer, as a diagram and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, AwaitGate
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What a machine did when it was tried in one state of each shape."""

    moves: tuple[DrawnMove, ...]  # in the order of the phases
    cancels: frozenset[tuple[str, str]]  # from where a cancel leads to where


def explored(walk: Walk[P, S]) -> Explored:
    """A gate decided on the way moves nothing."""
    waiting = list(walk.starts)
    seen = {walk.shape(state) for state in waiting}
    moves: set[DrawnMove] = set()
    cancels: set[tuple[str, str]] = set()
    while waiting:
        state = waiting.pop()
        phase = phase_of(walk, state)
        for asks, when, after in _after(walk, state):
            to = phase_of(walk, after)
            if asks is None:
                cancels.add((phase, to))
            elif not (isinstance(asks, AwaitGate) and to == phase):
                moves.add(DrawnMove(phase=phase, asks=asked_for(asks), when=walk.when(state, when), to=to))
            if walk.within(after) and (shape := walk.shape(after)) not in seen:
                seen.add(shape)
                waiting.append(after)
    order = walk.phases.index
    found = sorted(moves, key=lambda move: (order(move.phase), move.asks, move.when, order(move.to)))
    return Explored(moves=tuple(found), cancels=frozenset(cancels))


def _after(walk: Walk[P, S], state: S) -> Iterator[tuple[Action | None, str, S]]:
    """Every answer to what is asked for that is not refused, and a cancel, which answers nothing: where each leads."""
    asked: list[tuple[Action | None, str, Event]] = [
        (action, when, event)
        for action in walk.loop.decide(state)
        for when, event in answers_to(action, walk.verdicts).items()
    ]
    for action, when, event in (*asked, (None, "", CancelRequested())):
        with suppress(InvalidTransition):
            yield action, when, walk.loop.apply(state, event)


def phase_of(walk: Walk[P, S], state: S) -> str:
    return walk.loop.stand(state).state


def cancelled_in(walk: Walk[P, S], found: Explored) -> str:
    """The sentence that says in which phases a person may cancel, and where that leads."""
    left = {(begin, end) for begin, end in found.cancels if begin != end}
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
