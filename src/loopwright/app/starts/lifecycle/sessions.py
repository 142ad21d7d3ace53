"""The session of a system: what is known is read before the first decision, and at the end it is handed over."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.edits import with_edit
from loopwright.app.starts.lifecycle.memory import remembered
from loopwright.config.settings import Settings
from loopwright.errors import EngineError
from loopwright.kernel.events import SessionMarked, StateEdited
from loopwright.kernel.model import LoopId
from loopwright.loops.course import Station

Failed = Callable[[str], None]


async def began(project: Project, seen: View, by: str, failed: Failed) -> View:
    """What a person edited, gates whose time is over, then the cold boot: before the first decision."""
    if seen.is_over:
        return seen
    seen = await with_edit(project, seen, by, failed)
    seen = await gates_in_time(project, seen, by, failed)
    said = SessionMarked(mark="began", why="cold boot", text=remembered(project, seen), by=by)
    return await take_in(project, seen, said, failed) or seen


async def ended(project: Project, loop: LoopId, by: str, why: str, failed: Failed) -> None:
    """A loop that is over needs no handover of a session: its own is written."""
    seen = await view(project, loop)
    if seen.is_over:
        return
    try:
        await take_in(project, seen, SessionMarked(mark="ended", why=why or why_ended(seen), by=by), failed)
    except EngineError as error:
        failed(str(error))


def why_ended(seen: View) -> str:
    """In the words of its handoff."""
    station = seen.now.state.course.station
    if station is Station.GATE:
        return "gate"
    return "blocked" if seen.standpoint.state == "BLOCKED" else "cap"


async def gates_in_time(project: Project, seen: View, by: str, failed: Failed) -> View:
    """A gate that nobody has decided in time is closed: the system is blocked."""
    if seen.now.state.course.station is not Station.GATE:
        return seen
    limit = Settings.from_json(seen.now.settings).lifecycle.gate_timeout
    if project.clock.now() - seen.row.updated < limit:
        return seen
    said = StateEdited(subject="gate-timeout", value="", by=by)
    return await take_in(project, seen, said, failed) or seen
