"""Where the lifecycle of a system begins: with its first state, or where another tool had got to."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.model import NO_COMMIT
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling
from loopwright.loops.lifecycle.failures import Blocked
from loopwright.loops.lifecycle.flow import onward
from loopwright.loops.lifecycle.limits import LifecycleAllowance
from loopwright.loops.lifecycle.state import Earlier, LifecycleParams, LifecycleState
from loopwright.loops.lifecycle.states import NORMAL, Stage


def start(params: LifecycleParams) -> LifecycleState:
    state = LifecycleState(
        plan=params,
        allowance=LifecycleAllowance.of(params.limits),
        ground=params.base,
        tip=params.base,
        landed=params.base,
        landed_tip=params.base,
        remaining=params.capabilities,
    )
    state = _taken_over(state, params.earlier) if params.earlier else onward(state)
    return c.tried_on_the_base(state, params.trust)


def _taken_over(state: LifecycleState, earlier: Earlier) -> LifecycleState:
    """What it says is done need not be done again; that anything has passed is not believed."""
    gates = tuple(
        GateRecord(
            gate=gate, evidence="", ruling=Ruling.APPROVED, by=by, due=False, why="approved before it was adopted"
        )
        for gate, by in earlier.approvals
    )
    state = replace(
        c.steered(state, gates=gates),
        done=earlier.done,
        current=earlier.current,
        built_on=state.landed if earlier.stage is Stage.IMPLEMENT else NO_COMMIT,
        builds=earlier.stage is not Stage.IMPLEMENT,
        remaining=earlier.remaining,
        history=earlier.failures,
        retries=earlier.retries,
        total=earlier.total,
        remarks=earlier.remarks,
    )
    if earlier.stage in NORMAL:
        return onward(replace(state, phase=earlier.stage))
    told = Blocked(
        cause="retries",
        reason=earlier.blocked or "It was blocked when it was adopted",
        ask="Resolve the issue.",
        stage=_last_stage(earlier),
    )
    return c.escalated(replace(state, phase=Stage.BLOCKED, blocked=told), (told.reason,))


def _last_stage(earlier: Earlier) -> Stage:
    stages = [each.stage for each in earlier.failures if each.stage in NORMAL]
    return stages[-1] if stages else Stage.INIT
