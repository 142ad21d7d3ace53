"""Driving systems from the command line: one, so many transitions far, and the next ones after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loopwright.app.choice import named_root, only
from loopwright.app.loops import Listed, View, listing, view, whole_view
from loopwright.app.project import Project
from loopwright.cli.changes import with_changes
from loopwright.cli.drive import Driven, Manner, driven
from loopwright.cli.here import Here
from loopwright.cli.output import confirmation, note, put
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import AlreadyRunning, UsageError
from loopwright.kernel.model import Ending, Point
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.kind import KIND
from loopwright.loops.lifecycle.machine import stage_shown
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

RunOutcome = Literal["complete", "accepted", "blocked", "gate", "limit", "paused", "cancelled", "waiting"]
_CODES: dict[RunOutcome, int] = {
    "complete": 0,
    "accepted": 0,
    "blocked": 4,
    "gate": 4,
    "waiting": 4,
    "limit": 5,
    "paused": 5,
    "cancelled": 3,
}
_ENDED: dict[Ending, RunOutcome] = {Ending.CANCELLED: "cancelled", Ending.ACCEPTED: "accepted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """How far a drive goes, and how it came out."""

    transitions: int
    unattended: bool = False
    quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    state: LifecycleState
    outcome: RunOutcome
    gate: str = ""
    why: str = ""
    lines: Sequence[str] = ()
    made: int = 0
    stopped: int | None = None  # by a signal: the exit code

    @property
    def stage(self) -> str:
        return stage_shown(self.state).value

    @property
    def exit_code(self) -> int:
        return _CODES[self.outcome] if self.stopped is None else self.stopped


async def chosen(project: Project, loop_id: str) -> View | None:
    """The system that is named, or the only one that is under way; one that can go on comes before those that wait."""
    if loop_id:
        seen = await named_root(project, loop_id)
        if seen.row.kind != KIND.loop.name:
            raise UsageError(f"loop {loop_id} is no system of a queue; `loop resume --loop {loop_id}` goes on with it")
        return seen
    own = [each for each in await listing(project) if each.row.kind == KIND.loop.name and not each.is_over]
    found = only(own, _can_go_on) or only(own, lambda each: each.alive is None)
    if found is None and own:
        raise AlreadyRunning(own[0].row.id, own[0].alive or "another")
    return await whole_view(project, found) if found else None


async def system_under_way(project: Project, system: str) -> LifecycleState | None:
    """The newest of the system of this id; else of the only one that is not over, or of the only one that was."""
    own = [each for each in await listing(project) if each.row.kind == KIND.loop.name]
    meant = own if system else [each for each in own if not each.is_over] or own
    states: list[LifecycleState] = [(await view(project, each)).now.state for each in meant]
    fitting = [state for state in states if system in ("", state.plan.system.id)]
    return fitting[0] if len({state.plan.system.id for state in fitting}) == 1 else None


def _can_go_on(loop: Listed) -> bool:
    return loop.alive is None and loop.status in ("interrupted", "paused", "running")


def points(state: LifecycleState, more: int) -> tuple[Point, ...]:
    """Wherever it stands after so many more transitions."""
    return tuple(Point(stage.value, state.transitions + more) for stage in Stage)


def turned(project: Project, here: Here, seen: View, turn: Turn) -> Turned:
    """A session of one system: what is known is read first, and at the end it is handed over."""
    before: LifecycleState = seen.now.state
    ready = complete(with_changes(project, here, seen, confirmation(asks=here.asks and not turn.unattended)))
    if isinstance(ready, StoppedBySignal):
        return Turned(state=before, outcome="paused", stopped=ready.exit_code)
    manner = Manner(unattended=turn.unattended, as_json=turn.quiet, upto=points(before, turn.transitions))
    result = complete(driven(project, here, ready, manner), last=True)
    if isinstance(result, StoppedBySignal):
        note(f"Interrupted; nothing is lost. Go on with: loop run --loop {seen.row.id}")
        return Turned(state=before, outcome="paused", stopped=result.exit_code)
    found = _told(result, before)
    if not turn.quiet:
        for line in found.lines:
            put(line)
    return found


def _told(result: Driven, before: LifecycleState) -> Turned:
    state: LifecycleState = result.view.now.state
    made = state.transitions - before.transitions
    outcome = _outcome(result, state)
    gates = ", ".join(gate.gate for gate in state.course.open_gates if not gate.lasting) if outcome == "gate" else ""
    lines = () if result.halt.why == "held" else result.lines
    why = state.blocked.reason if state.blocked else ""
    return Turned(state=state, outcome=outcome, gate=gates, why=why or _why(state), lines=lines, made=made)


def _why(state: LifecycleState) -> str:
    if state.failure is not None and state.phase in (Stage.FAILED, Stage.RETRY):
        return state.failure.error
    return f"{state.phase} is entered"


def _outcome(result: Driven, state: LifecycleState) -> RunOutcome:
    if result.halt.outcome is not None:
        return _ENDED.get(result.halt.outcome.ending, "complete")
    if result.halt.why == "held":
        return "blocked" if state.phase is Stage.BLOCKED else "limit"
    if result.halt.why == "paused":
        return "paused"
    if state.phase is Stage.BLOCKED or state.course.station is Station.CLARIFY:
        return "blocked"
    return "gate" if state.course.station is Station.GATE else "waiting"
