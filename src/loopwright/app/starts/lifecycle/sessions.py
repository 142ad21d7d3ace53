"""The session of a system: what is known is read before the first decision, and at the end it is handed over."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loopwright.app.loops import View, view
from loopwright.app.project import Confirm, Project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.edits import by_hand, describe_edit
from loopwright.app.starts.lifecycle.handwork import describe_moved_branch
from loopwright.app.starts.lifecycle.memory import remembered
from loopwright.app.starts.lifecycle.pull_requests import read_first
from loopwright.app.starts.lifecycle.unfinished import INTERRUPTED, unfinished
from loopwright.config.settings import Settings
from loopwright.engine.nesting import can_go_on
from loopwright.errors import AlreadyRunning, EngineError
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import Answered, Cancelled, GateDecided, SessionMarked, Started, StateEdited
from loopwright.kernel.model import NO_COMMIT, Key, LoopId
from loopwright.kernel.record import Record, event_of
from loopwright.loops.course import Station

Failed = Callable[[str], None]


async def describe_unconfirmed(project: Project, seen: View) -> str:
    """Say what a person has to confirm before the system continues; empty: nothing."""
    return describe_moved_branch(project, seen) or await describe_edit(project, seen)


async def began(project: Project, seen: View, by: str, failed: Failed, confirm: Confirm | None) -> View:
    """What a person edited, what was decided on the pull request, gates whose time is over, then the cold boot: before
    the first decision. Where somebody is there, time does not close a gate."""
    if seen.is_over:
        return seen
    if holder := await project.store.holder(seen.row.id):
        raise AlreadyRunning(seen.row.id, holder)  # before anything is put into another's log
    seen = await by_hand(project, seen, by, failed, confirm)
    seen = await read_first(project, seen, failed)
    if confirm is None:
        seen = await gates_in_time(project, seen, by, failed)
    said = SessionMarked(mark="began", why="cold boot", text=remembered(project, seen), by=by)
    return await take_in(project, seen, said, failed) or seen


async def ended(project: Project, loop: LoopId, by: str, why: str, failed: Failed) -> None:
    """A loop that is over needs no handover of a session: its own is written. Nor is there one of a session in which
    nothing happened."""
    seen = await view(project, loop)
    newest = [event_of(record) for record in await project.store.read(loop, after=seen.row.seq - 1)]
    if seen.is_over or any(isinstance(each, SessionMarked) and each.mark == "began" for each in newest):
        return
    commit = await unfinished(project, seen, failed) if why == INTERRUPTED else NO_COMMIT
    try:
        marked = SessionMarked(mark="ended", why=why or await _why_ended(project, seen), commit=commit, by=by)
        await take_in(project, seen, marked, failed)
    except EngineError as error:
        failed(str(error))


async def _why_ended(project: Project, seen: View) -> str:
    """In the words of its handoff."""
    if seen.now.state.course.station is Station.GATE:
        return "gate"
    if seen.standpoint.state == "BLOCKED":
        return "blocked"
    if seen.row.status == "paused":
        return "budget"
    return "cap" if await can_go_on(project.store, project.loops, seen.opened) else "question"


async def gates_in_time(project: Project, seen: View, by: str, failed: Failed) -> View:
    """A gate that nobody has decided in time is closed: the system is blocked."""
    if seen.now.state.course.station is not Station.GATE:
        return seen
    limit = Settings.from_json(seen.now.settings).lifecycle.gate_timeout
    opened = gates_opened(await project.store.read(seen.row.id))
    if project.clock.now() - min(opened.values(), default=seen.row.updated) < limit:
        return seen
    said = StateEdited(subject="gate-timeout", value="", by=by)
    return await take_in(project, seen, said, failed) or seen


_TELLING = {kind.__name__ for kind in (Started, Cancelled, GateDecided, Answered)}


def gates_opened(records: Iterable[Record]) -> dict[Key, float]:
    """Since when each gate that is open now has been. A person's word to go on is a new beginning."""
    opened: dict[Key, float] = {}
    for record in records:
        match event_of(record) if record.kind in _TELLING else None:
            case Started(key=key, action=AwaitGate.__name__):
                opened.setdefault(key, record.at)
            case Cancelled(key=key) | GateDecided(key=key):
                opened.pop(key, None)
            case Answered():
                opened = dict.fromkeys(opened, record.at)
            case _:
                pass
    return opened
