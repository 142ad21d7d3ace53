"""One state of every shape that a system can be in: what is wanted there, and how it ends."""

from __future__ import annotations

from functools import cache

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import AwaitGate, Stop
from loopwright.kernel.events import CancelRequested
from loopwright.kernel.model import Ending
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.page import lifecycle_walk
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.samples import answers_to
from tests.loops.harness import check_refusals, check_round_trip

pytestmark = pytest.mark.unmeasured


@cache
def states() -> tuple[LifecycleState, ...]:
    walk = lifecycle_walk()
    found = {walk.shape(state): state for state in walk.starts}
    waiting = list(walk.starts)
    for state in waiting:
        events = [event for action in LIFECYCLE.decide(state) for event in answers_to(action, walk.verdicts).values()]
        for event in (*events, CancelRequested()):
            try:
                after = LIFECYCLE.apply(state, event)
            except InvalidTransition:
                continue
            if found.setdefault(walk.shape(after), after) is after:
                waiting.append(after)
    return tuple(waiting)


def test_something_is_always_wanted_one_thing_at_a_time_and_only_stop_is_the_end() -> None:
    for state in states():
        actions = LIFECYCLE.decide(state)
        assert actions, state
        assert sum(not isinstance(action, AwaitGate) for action in actions) <= 1, state
        assert isinstance(actions[0], Stop) == (state.course.station is Station.DONE), state


def test_whoever_waits_for_a_person_says_why() -> None:
    for state in states():
        for action in LIFECYCLE.decide(state):
            assert action.why or not isinstance(action, AwaitGate), state
            if state.course.station in (Station.ESCALATED, Station.CLARIFY):
                assert action.why, state


def test_nothing_is_complete_that_was_not_merged() -> None:
    ends = {
        action.outcome.ending for state in states() for action in LIFECYCLE.decide(state) if isinstance(action, Stop)
    }
    assert ends == {Ending.VERIFIED, Ending.CANCELLED}
    for state in states():
        outcome = state.course.outcome
        assert outcome is None or outcome.ending is Ending.CANCELLED or state.merged, state


def test_what_answers_nothing_is_refused() -> None:
    check_refusals(LIFECYCLE, states()[::40])


def test_every_state_can_be_stored() -> None:
    check_round_trip(LifecycleState, states()[::40])
