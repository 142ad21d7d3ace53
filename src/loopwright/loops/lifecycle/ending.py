"""How the lifecycle of a system ends: complete, after five actions, or cancelled by a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.kernel.changing import replace
from loopwright.kernel.events import Announced, Answer, CleanedUp
from loopwright.kernel.model import NO_COMMIT, Commit, Ending, Outcome
from loopwright.kernel.sightings import Heard
from loopwright.loops import course as c
from loopwright.loops.hooks import untested
from loopwright.loops.lifecycle import completing
from loopwright.loops.lifecycle.evidence import system_evidence
from loopwright.loops.lifecycle.flow import blocked, expected
from loopwright.loops.lifecycle.state import LifecycleState, Step, begun


def _weighed(state: LifecycleState, event: Answer) -> LifecycleState:
    expected(state, event, Announced)
    unmet = tuple(each.name for each in completing.conditions(state) if not (each.met or each.waived))
    if unmet:
        why = f"Not complete: {'; '.join(unmet)}"
        return blocked(state, "completion", why, "Say how what is missing is to be made good.")
    return begun(state, Step.QUEUE)


def _queued(state: LifecycleState, event: Answer) -> LifecycleState:
    if isinstance(event, Heard):
        words = [line.partition(" ") for line in event.reply]
        unblocked = tuple(rest for first, _, rest in words if first == "unblocked")
        following = next((rest for first, _, rest in words if first == "next"), "")
        remarks = (*state.remarks, f"the queue: {event.refused}") if event.refused else state.remarks
        state = replace(state, queued="complete", unblocked=unblocked, next=following, remarks=remarks)
    return begun(state, Step.HANDOFF)


def _then(step: Step) -> Callable[[LifecycleState, Answer], LifecycleState]:
    return lambda state, _event: begun(state, step)


def _cleaned(state: LifecycleState, event: Answer) -> LifecycleState:
    expected(state, event, CleanedUp)
    return begun(state, Step.NEXT)


def finished(state: LifecycleState) -> LifecycleState:
    took = state.untested or state.course.untested or bool(state.accepted)
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
        evidence=c.with_decisions(system_evidence(state), course.decisions),
        waiting=untested(state) if passed else (),
    )


def _commit(state: LifecycleState) -> Commit:
    return state.merged or (state.landed if state.landed != state.plan.base else NO_COMMIT)


COMPLETING: Mapping[Step, Callable[[LifecycleState, Answer], LifecycleState]] = {
    Step.WEIGH: _weighed,
    Step.QUEUE: _queued,
    Step.HANDOFF: _then(Step.INTERFACES),
    Step.INTERFACES: _then(Step.CLEAN),
    Step.CLEAN: _cleaned,
    Step.NEXT: lambda state, _event: finished(state),
}
