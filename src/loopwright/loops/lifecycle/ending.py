"""How the lifecycle of a system ends: complete, or cancelled by a person."""

from __future__ import annotations

from loopwright.kernel.model import NO_COMMIT, Commit, Ending, Outcome
from loopwright.loops import course as c
from loopwright.loops.hooks import untested
from loopwright.loops.lifecycle.state import LifecycleState


def finished(state: LifecycleState) -> LifecycleState:
    took = state.untested or state.course.untested
    return c.done(state, outcome(state, Ending.ACCEPTED if took else Ending.VERIFIED))


def outcome(state: LifecycleState, ending: Ending) -> Outcome:
    course, passed = state.course, ending in (Ending.VERIFIED, Ending.ACCEPTED)
    return Outcome(
        ending=ending,
        attempts=state.transitions,
        commit=_commit(state),
        branch=state.plan.branch if state.landed != state.plan.base else "",
        merged_into=state.plan.target.removeprefix("refs/heads/") if state.merged else "",
        findings=() if passed else (state.failure.findings if state.failure else ()),
        note=state.blocked.reason if state.blocked else "",
        held=course.held,
        held_on=state.held_on,
        written=course.written,
        tests_of_agents=course.tests_of_agents,
        allowed=state.plan.trust.allow,
        unnoticed=course.unnoticed,
        waiting=untested(state) if passed else (),
    )


def _commit(state: LifecycleState) -> Commit:
    return state.merged or (state.landed if state.landed != state.plan.base else NO_COMMIT)
