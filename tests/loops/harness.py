"""What every loop's tests share: a walk over all reachable states, agreement, and the table of transitions."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, AwaitGate, Stop
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answer,
    Answered,
    ArtifactsLoaded,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    LoopEnded,
    TimeReached,
)
from loopwright.kernel.machine import ANSWERED_BY, Loop, asked_for
from loopwright.kernel.model import AgentReport, Commit, Ending, Key, Outcome, Tree

S = TypeVar("S")
P = TypeVar("P")

MANY = 200_000
NOBODYS = Key.parse("nobody-9.9")

# One of each kind that carries a key, to knock on doors with.
KNOCKS: tuple[Answer | Answered | GateDecided, ...] = (
    AgentReported(key=NOBODYS, report=AgentReport()),
    AgentFailed(key=NOBODYS, reason="crashed"),
    AgentUnavailable(key=NOBODYS, until=1.0),
    ChecksReported(key=NOBODYS, tree=Tree("t"), results=()),
    Checkpointed(key=NOBODYS, commit=Commit("c"), tree=Tree("t"), files=1),
    ArtifactsLoaded(key=NOBODYS, contents=()),
    Announced(key=NOBODYS),
    Combined(key=NOBODYS, commit=Commit("c")),
    Integrated(key=NOBODYS, branch="b", commit=Commit("c")),
    IntegrationRefused(key=NOBODYS, reason="conflict"),
    LoopEnded(key=NOBODYS, outcome=Outcome(ending=Ending.VERIFIED)),
    CleanedUp(key=NOBODYS),
    TimeReached(key=NOBODYS),
    Answered(key=NOBODYS, choice="cancel"),
    Answered(key=NOBODYS, choice="continue"),
    GateDecided(key=NOBODYS, gate="protected", approved=True, evidence=""),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    before: S
    event: Event
    after: S


@dataclasses.dataclass(frozen=True, slots=True)
class Walk(Generic[S]):
    """Every state that can be reached, in the order of discovery, and every step between two of them."""

    states: tuple[S, ...]
    steps: tuple[Step[S], ...]

    def __add__(self, other: Walk[S]) -> Walk[S]:
        return Walk(self.states + other.states, self.steps + other.steps)


def walk(loop: Loop[P, S], first: S, answers: Callable[[S], Iterable[Event]]) -> Walk[S]:
    """Breadth first. Every event that `answers` names must be accepted: that is half of the agreement."""
    states: dict[S, S] = {first: first}
    steps: list[Step[S]] = []
    queue = [first]
    loop = _remembering(loop)
    for state in queue:
        for event in answers(state):
            reached = _accepted(loop, state, event)
            after = states.setdefault(reached, reached)
            steps.append(Step(state, event, after))
            if after is reached:
                queue.append(after)
        assert len(states) < MANY, "the alphabet is too large to walk"
    return Walk(tuple(states), tuple(steps))


def _remembering(loop: Loop[P, S]) -> Loop[P, S]:
    """The loop, asked once for what it wants in a state and not again for every event there."""
    newest: list[tuple[S, tuple[Action, ...]]] = []

    def decide(state: S) -> tuple[Action, ...]:
        if not newest or newest[0][0] is not state:
            newest[:] = [(state, loop.decide(state))]
        return newest[0][1]

    return dataclasses.replace(loop, decide=decide)


def taken(loop: Loop[P, S], state: S, event: Event) -> S:
    """The state after `event`, as the engine has it: what was not asked for never reaches the machine."""
    asked_for(loop, state, event)
    return loop.apply(state, event)


def _accepted(loop: Loop[P, S], state: S, event: Event) -> S:
    try:
        return taken(loop, state, event)
    except InvalidTransition as error:
        raise AssertionError(f"{event} answers {loop.decide(state)} but was refused in {state}") from error


def answers_from(loop: Loop[P, S], alphabet: Callable[[Action], Iterable[Event]]) -> Callable[[S], Iterator[Event]]:
    """For each action that is wanted, each letter of its alphabet with the action's key."""

    def answers(state: S) -> Iterator[Event]:
        for action in loop.decide(state):
            for letter in alphabet(action):
                yield with_key(letter, action.key)

    return answers


def with_key(letter: Event, key: Key) -> Event:
    """An event that answers `key`. Only for kinds that answer something."""
    unkeyed: Any = letter
    event: Event = replace(unkeyed, key=key)
    return event


# --- what holds for every loop ---------------------------------------------------------------------------


def check_decisions(loop: Loop[P, S], walked: Walk[S]) -> None:
    """`decide` is total, keys are unique, one thing is done at a time, and only `Stop` is the end."""
    leaves = set(map(id, walked.states)) - {id(step.before) for step in walked.steps if step.after != step.before}
    for state in walked.states:
        actions = loop.decide(state)
        keys = [action.key for action in actions]
        assert len(set(keys)) == len(keys), state
        assert sum(not isinstance(action, AwaitGate) for action in actions) <= 1 <= len(actions), state
        stops = [isinstance(action, Stop) for action in actions] == [True]
        assert stops == (id(state) in leaves), state


def check_refusals(loop: Loop[P, S], states: Iterable[S]) -> None:
    """The other half of the agreement: what answers nothing that is wanted is refused.

    That follows from the kinds of what is wanted: of all states that stand at one place and want things of the same
    kinds, one is knocked at.
    """
    places: dict[tuple[str, tuple[type, ...]], S] = {}
    for state in states:
        places[loop.stand(state).state, tuple(map(type, loop.decide(state)))] = state
    loop = _remembering(loop)
    for state in places.values():
        for event in strangers(loop.decide(state)):
            try:
                after = taken(loop, state, event)
            except InvalidTransition:
                continue
            raise AssertionError(f"{event} answers nothing in {state} but led to {after}")


def strangers(actions: tuple[Action, ...]) -> Iterator[Event]:
    """Each kind of event with a key that nobody asked about, and with the key of an action it cannot answer."""
    for knock in KNOCKS:
        yield knock
        for action in actions:
            if not isinstance(knock, ANSWERED_BY[type(action)]):
                yield replace(knock, key=action.key)


def check_keys(loop: Loop[P, S], walked: Walk[S]) -> None:
    """A key names one try: its action never changes while it is wanted, and once gone it never comes back.

    A gate is bound to its evidence: it may come back with that, and the commit it shows may move on. The end is
    no try: it comes again when what was held back has been landed after it.
    """
    wanted = {
        id(state): {a.key: a for a in loop.decide(state) if not isinstance(a, AwaitGate | Stop)}
        for state in walked.states
    }
    later = _keys_later(walked, {state: frozenset(keys) for state, keys in wanted.items()})
    for step in walked.steps:
        before, after = wanted[id(step.before)], wanted[id(step.after)]
        for key, action in before.items():
            if key in after:
                assert _meaning(after[key]) == _meaning(action), (key, step)
            else:
                assert key not in later[id(step.after)], f"{key} comes back after {step.event} in {step.before}"


def _meaning(action: Action) -> Action:
    return replace(action, why="")


def _keys_later(walked: Walk[S], wanted: dict[int, frozenset[Key]]) -> dict[int, frozenset[Key]]:
    """Per state, the keys wanted in it or in any state after it. A loop never returns to an earlier state."""
    following: dict[int, set[int]] = defaultdict(set)
    for step in walked.steps:
        if step.before is not step.after:
            following[id(step.before)].add(id(step.after))
    later: dict[int, frozenset[Key]] = {}
    for state in _last_first(following, map(id, walked.states)):
        later[state] = wanted[state].union(*(later[after] for after in following[state]))
    return later


def _last_first(following: dict[int, set[int]], states: Iterable[int]) -> Iterator[int]:
    """Every state after all that follow it."""
    done: set[int] = set()
    opened: set[int] = set()
    stack = list(states)
    while stack:
        state = stack[-1]
        if state in done:
            stack.pop()
        elif state in opened:
            done.add(state)
            yield stack.pop()
        else:
            opened.add(state)
            ahead = following[state] - done
            assert not ahead & opened, "the loop returns to an earlier state"
            stack.extend(ahead)


def check_last_no_stands(loop: Loop[P, S], walked: Walk[S], failed_last: Callable[[Step[S]], bool]) -> None:
    """No path leads from a fail at the last attempt to an end that passed, unless a person says something.

    `failed_last` tells the steps by which somebody, or a check, said no when no attempt was left.
    """
    following: dict[int, list[S]] = defaultdict(list)
    for step in walked.steps:
        if not isinstance(step.event, Answered | GateDecided):
            following[id(step.before)].append(step.after)
    ahead = [step.after for step in walked.steps if failed_last(step)]
    assert ahead, "nobody ever says no at the last attempt"
    seen: set[int] = set()
    while ahead:
        state = ahead.pop()
        if id(state) in seen:
            continue
        seen.add(id(state))
        for action in loop.decide(state):
            assert not (isinstance(action, Stop) and action.outcome.ending.is_passed), state
        ahead += following[id(state)]


def check_round_trip(kind: type[S], states: Iterable[S]) -> None:
    for state in states:
        assert decode(kind, encode(state)) == state


# --- the table ----------------------------------------------------------------------------------------------


def table(walked: Walk[S], name: Callable[[S], str], say: Callable[[Event], str]) -> str:
    """One block per state's name: what may happen in it, and where each leads."""
    rows: dict[tuple[str, str], set[str]] = defaultdict(set)
    for step in walked.steps:
        rows[name(step.before), say(step.event)].add(name(step.after))
    order = list(dict.fromkeys(name(state) for state in walked.states))
    width = max(len(event) for _, event in rows)
    blocks = []
    for state in sorted(order):
        lines = [f"  {e:<{width}}  -> {', '.join(sorted(to))}" for (s, e), to in sorted(rows.items()) if s == state]
        blocks.append("\n".join([state, *(lines or ["  (the end)"])]))
    return "\n\n".join(blocks) + "\n"
