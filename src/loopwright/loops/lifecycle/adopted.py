"""What a `loop-state.json` of another tool comes to: what it says is done, what failed, what was approved."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.loop_state import LoopStateRead
from loopwright.loops.lifecycle.state import Earlier
from loopwright.loops.lifecycle.states import NORMAL, Stage

_UNNAMED = "capability {number}"  # of those that are done a file has only how many
_OPEN = ("pending", "requested")


def is_over(state: LoopStateRead) -> bool:
    return state.state is Stage.COMPLETE


def earlier_of(state: LoopStateRead) -> Earlier:
    return Earlier(
        stage=state.state,
        done=tuple(_UNNAMED.format(number=number) for number in range(1, state.completed + 1)),
        current=state.current,
        remaining=state.remaining,
        failures=tuple(_failures(state)),
        retries=state.count,
        total=max(state.failures, len(state.history)),
        approvals=tuple((name, gate.by) for name, gate in state.gates.items() if gate.status == "approved"),
        pending=tuple(name for name, gate in state.gates.items() if gate.required and gate.status in _OPEN),
        activity=state.updated,
        blocked=state.blocked,
    )


def _failures(state: LoopStateRead) -> Iterator[Failure]:
    """What sort each was, the file does not say."""
    normal = {stage.value: stage for stage in NORMAL}
    for number, each in enumerate(state.history, start=1):
        yield Failure(
            number=number,
            stage=normal.get(each.stage, Stage.IMPLEMENT),
            sort="tests",
            error=each.error,
            capability=each.capability,
            fix=each.resolution,
            resolved=bool(each.resolved_at or each.resolution),
        )
