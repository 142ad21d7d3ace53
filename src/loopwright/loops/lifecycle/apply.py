"""What the lifecycle makes of the answer to its step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.kernel.changing import replace
from loopwright.kernel.events import Announced, Answer
from loopwright.kernel.sightings import Heard
from loopwright.loops import course as c
from loopwright.loops.lifecycle.ending import COMPLETING
from loopwright.loops.lifecycle.flow import decided, expected, moved, onward, queue_status
from loopwright.loops.lifecycle.retrying import retried, retry_begun
from loopwright.loops.lifecycle.shipped import SHIPPED
from loopwright.loops.lifecycle.skilled import skilled
from loopwright.loops.lifecycle.state import LifecycleState, Step, begun
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.lifecycle.verifying import VERIFYING

_OF_SKILLS = (Step.SKILL, Step.RECORD, Step.EXAMINE, Step.REVIEWS)
_OF_RETRIES = (Step.DIAGNOSE, Step.FIX, Step.RECORD_FIX, Step.DECIDED, Step.RECHECK, Step.SUITE)


def took(state: LifecycleState, event: Answer) -> LifecycleState:
    if state.step in _OF_SKILLS:
        return skilled(state, event)
    if state.step in _OF_RETRIES:
        return retried(state, event)
    return _BY_STEP[state.step](state, event)


# --- transitions ----------------------------------------------------------------------------------------------------


def _told(state: LifecycleState, event: Answer) -> LifecycleState:
    """The queue may know better: a person who edited it is not overruled, and it is said."""
    event = expected(state, event, Heard)
    if state.course.cancel is not None:
        return c.cleaning_up(replace(state, queued="blocked"))
    status = queue_status(state.heading.to)
    if state.queued == "blocked" and status == "review" and not event.refused:
        return begun(replace(state, queued="in-progress"), Step.TELL)
    state = replace(state, queued=status)
    if event.refused:
        state = replace(state, remarks=(*state.remarks, f"the queue: {event.refused}"))
    return begun(state, Step.MOVE) if state.going else onward(state)


def _moved(state: LifecycleState, event: Answer) -> LifecycleState:
    expected(state, event, Announced)
    return _arrived(moved(state, state.heading.to))


def _arrived(state: LifecycleState) -> LifecycleState:
    """What a state begins with."""
    match state.phase:
        case Stage.FAILED if state.failure is not None:
            return decided(state, state.failure)
        case Stage.RETRY:
            return retry_begun(state)
        case Stage.BLOCKED:
            told = state.blocked
            return c.escalated(state, (told.reason,) if told else ())
        case _:
            return onward(state)


_BY_STEP: Mapping[Step, Callable[[LifecycleState, Answer], LifecycleState]] = {
    Step.TELL: _told,
    Step.MOVE: _moved,
    **VERIFYING,
    **SHIPPED,
    **COMPLETING,
}
