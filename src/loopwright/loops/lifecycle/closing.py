"""What is said of a system when its lifecycle has ended, and before a person decides how it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops import closing
from loopwright.loops.course import Ruling
from loopwright.loops.lifecycle.completing import conditions, papers_line
from loopwright.loops.lifecycle.evidence import unshown_capabilities
from loopwright.loops.lifecycle.machine import stage_shown
from loopwright.loops.lifecycle.state import LifecycleState

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleResult:
    """What `--json` adds of a lifecycle."""

    system: str
    state: str
    transitions: int
    capabilities: int
    failures: int


def result(_loop: LoopId, state: LifecycleState, _parts: Mapping[LoopId, object]) -> LifecycleResult:
    return LifecycleResult(
        system=state.plan.system.id,
        state=stage_shown(state).value,
        transitions=state.transitions,
        capabilities=len(state.built),
        failures=state.failures,
    )


def lines(state: LifecycleState, outcome: Outcome) -> tuple[str, ...]:
    after = f"after {counted(state.transitions, 'transition')}"
    name = f"{one_line(state.plan.system.name, 80)} ({state.plan.system.id})"
    head = closing.headline(outcome, promise=f"COMPLETE: {name}", after=after, left=closing_left(outcome))
    landed = closing.landed(outcome, closing.note(outcome))
    return (head, *_conditions(state, outcome), *landed, *_unshown(state), *_next(state, outcome))


def _unshown(state: LifecycleState) -> tuple[str, ...]:
    names = ", ".join(one_line(name, 60) for name in unshown_capabilities(state))
    return (f"No test shows: {names}.",) if names else ()


def closing_left(outcome: Outcome) -> str:
    return counted(len(outcome.findings), "finding")


def _conditions(state: LifecycleState, outcome: Outcome) -> tuple[str, ...]:
    if not outcome.ending.is_passed and outcome.ending is not Ending.ACCEPTED:
        return ()
    return tuple(
        f"  [{'x' if each.met else ' '}] {each.name} ({one_line(each.shown_by, 100)})" for each in conditions(state)
    )


def _next(state: LifecycleState, outcome: Outcome) -> tuple[str, ...]:
    if outcome.ending is Ending.CANCELLED:
        return ()
    papers = tuple(filter(None, (papers_line(state),)))
    unblocked = (f"Can begin now: {', '.join(state.unblocked)}.",) if state.unblocked else ()
    return (*papers, *unblocked, *((f"Next: {state.next}.",) if state.next else ()))


def so_far(state: LifecycleState) -> tuple[str, ...]:
    """Each failure in a line, and what was done about it."""
    found = state.history[-_SHOWN:]
    earlier = (f"{counted(len(state.history) - _SHOWN, 'earlier failure')}",) if len(state.history) > _SHOWN else ()
    told = tuple(
        f"{each.stage}: {one_line(each.error, 200)}" + (f"; {one_line(each.fix, 120)}" if each.fix else "")
        for each in found
    )
    return (*earlier, *told) or ("nothing has failed so far",)


def owed(state: LifecycleState, by: str) -> tuple[str, ...]:
    """What a person took although no test notices it, or nothing was built."""
    without = (
        f"- **Accepted without product code** by {one_line(by, 60)}: {one_line(name)}" for name in state.accepted
    )
    found = (each for each in state.course.gates if each.gate == "untested" and each.ruling is Ruling.APPROVED)
    taken = (f"- **Taken untested** by {one_line(each.by or by, 60)}: {one_line(each.why, 300)}" for each in found)
    return (*without, *taken)
