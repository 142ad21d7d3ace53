"""The lifecycle of one system as one value.

| state     | asks for                                                     | then                                     |
|-----------|--------------------------------------------------------------|------------------------------------------|
| INIT      | its skills                                                   | SCAFFOLD                                 |
| SCAFFOLD  | its skills, the build; what judges is a gate                 | IMPLEMENT                                |
| IMPLEMENT | a loop that makes the capability, the build                  | TEST                                     |
| TEST      | its skill, build and tests                                   | VERIFY                                   |
| VERIFY    | its skill, build, tests, lint, types                         | IMPLEMENT with the next one, or VALIDATE |
| VALIDATE  | its skills, security, performance, integration               | DOCUMENT                                 |
| DOCUMENT  | its skill, build and tests                                   | REVIEW                                   |
| REVIEW    | its skills, a loop over the changed files, everything        | SHIP, once deploy is approved            |
| SHIP      | its skills, the pull request, its merge, the deploy command  | COMPLETE, once it is merged              |
| COMPLETE  | its skills, ten conditions, five actions                     | nothing                                  |
| FAILED    | nothing: whether it is tried again is decided                | RETRY, or BLOCKED                        |
| RETRY     | a diagnosis, a fix, the failed check, the whole suite        | the state that failed, or FAILED         |
| BLOCKED   | a person                                                     | the state that it could not leave        |

Before any of them is left: its skills, its checks, its gates, in this order. GATE, CLARIFY, ESCALATED, PREFLIGHT,
CLEAN_UP and DONE are the floor's.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops import floor
from loopwright.loops.hooks import Machine
from loopwright.loops.lifecycle import ending, people
from loopwright.loops.lifecycle.apply import took
from loopwright.loops.lifecycle.beginning import start
from loopwright.loops.lifecycle.completing import message
from loopwright.loops.lifecycle.decide import landing, work
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState
from loopwright.loops.lifecycle.states import Stage

MACHINE: Machine[LifecycleState, LifecycleLimits] = Machine(
    limits=LifecycleLimits,
    base=lambda state: state.ground,
    trust=lambda state: state.plan.trust,
    work=work,
    took=took,
    landing=lambda state: landing(state, message(state)),
    outcome=ending.outcome,
    escalation=people.escalation,
    accepted=people.accepted,
    continued=people.continued,
    revised=people.revised,
    relimited=people.relimited,
    decided=people.decided,
    cancelled=people.cancelled,
    unable=people.unable,
    red_base=people.red_base,
    answered=people.answered,
    edited=people.edited,
    skipped=people.skipped,
    marked=people.marked,
    noun="system",
    on_hold="the {who} cannot go on without a person: {question}",
)


def stage_shown(state: LifecycleState) -> Stage:
    """A question to a person blocks it, whatever it was at."""
    return Stage.BLOCKED if state.course.station is c.Station.CLARIFY else state.phase


def stand(state: LifecycleState) -> Standpoint:
    most = state.allowance
    done, total = len(state.done), len(state.done) + len(state.remaining) + bool(state.current)
    return Standpoint(
        state=stage_shown(state).value,
        attempt=state.transitions,
        limit=0,
        failures=state.failures,
        findings=state.failure.findings if state.failure else (),
        headline=f"{done} of {counted(total, 'capability', 'capabilities')} done",
        lines=(
            f"retries of the present failure: {state.retries} of {most.retries}",
            f"the same failure again: at most {most.same} times",
            f"failures in all: {state.total} of {most.failures}" + _rejections(state),
            *state.remarks,
        ),
        commit=state.tip,
    )


def _rejections(state: LifecycleState) -> str:
    beside = state.failures - state.total
    return f", and {counted(beside, 'rejection')}, which no limit counts" if beside else ""


LIFECYCLE: Loop[LifecycleParams, LifecycleState] = Loop(
    name="lifecycle",
    params=LifecycleParams,
    state=LifecycleState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
