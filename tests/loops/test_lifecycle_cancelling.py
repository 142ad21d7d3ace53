"""A system that is cancelled: whoever keeps the queue hears of it, and nothing that is said later brings it back."""

from __future__ import annotations

import json

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import CleanUp, Stop, Tell
from loopwright.kernel.changing import replace
from loopwright.kernel.events import Answered, CancelRequested, CleanedUp, SkillSkipped, StateEdited
from loopwright.kernel.model import Cleanup, Commit, Ending, LoopId
from loopwright.kernel.sightings import Heard
from loopwright.loops import course as c
from loopwright.loops.lifecycle.failures import Blocked
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState, SystemFacts
from loopwright.loops.lifecycle.states import Stage

CANCEL = CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING, by="ann")
WHY = {"loop": "system-1", "reason": "cancelled by a person", "status": "blocked"}


def begun(queue: str = "queue-shop") -> LifecycleState:
    params = LifecycleParams(
        system=SystemFacts(id="sys-001", name="Orders"),
        domain="shop",
        base=Commit("base"),
        branch="feature/system-orders",
        workspace="system-orders",
        loop=LoopId("system-1"),
        queue=LoopId(queue),
    )
    return LIFECYCLE.start(params)


def blocked() -> LifecycleState:
    told = Blocked(cause="target", reason="It does not fit", ask="Look.", stage=Stage.SHIP)
    state = replace(begun(), phase=Stage.BLOCKED, blocked=told, queued="blocked")
    return c.escalated(state, (told.reason,))


def told(state: LifecycleState) -> Tell:
    (action,) = LIFECYCLE.decide(state)
    assert isinstance(action, Tell)
    return action


@pytest.mark.parametrize("state", [begun(), replace(begun(), queued="review"), blocked()])
def test_the_queue_hears_that_it_is_cancelled_before_anything_is_cleared_away(state: LifecycleState) -> None:
    state = LIFECYCLE.apply(state, CANCEL)
    tell = told(state)
    assert isinstance(tell.said, StateEdited)
    assert (tell.loop, tell.said.subject, json.loads(tell.said.value)) == ("queue-shop", "sys-001", WHY)
    state = LIFECYCLE.apply(state, Heard(key=tell.key, loop=tell.loop))
    (clean,) = LIFECYCLE.decide(state)
    assert isinstance(clean, CleanUp)
    state = LIFECYCLE.apply(state, CleanedUp(key=clean.key))
    (stop,) = LIFECYCLE.decide(state)
    assert isinstance(stop, Stop)
    assert stop.outcome.ending is Ending.CANCELLED


def test_one_that_answers_with_cancel_is_cancelled_likewise() -> None:
    state = blocked()
    (ask,) = LIFECYCLE.decide(state)
    state = LIFECYCLE.apply(state, Answered(key=ask.key, choice="cancel", by="ann"))
    assert json.loads(told(state).said.value) == WHY  # type: ignore[union-attr]


@pytest.mark.parametrize("state", [begun(queue=""), replace(begun(), queued="complete")])
def test_where_no_queue_waits_for_it_nobody_is_told(state: LifecycleState) -> None:
    (clean,) = LIFECYCLE.decide(LIFECYCLE.apply(state, CANCEL))
    assert isinstance(clean, CleanUp)


@pytest.mark.parametrize(
    "said",
    [StateEdited(subject="state", value='"INIT"', by="ann"), SkillSkipped(skill="deploy", reason="no", by="ann")],
)
def test_nothing_that_is_said_afterwards_brings_it_back(said: StateEdited | SkillSkipped) -> None:
    state = LIFECYCLE.apply(blocked(), CANCEL)
    with pytest.raises(InvalidTransition, match="the system is cancelled"):
        LIFECYCLE.apply(state, said)
