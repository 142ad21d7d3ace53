"""The session of a system: what is known is read before the first decision, and at the end it is handed over."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.errors import EngineError
from loopwright.kernel.events import SessionMarked, StateEdited
from loopwright.kernel.model import LoopId
from loopwright.loops.course import Station

Failed = Callable[[str], None]


async def began(project: Project, seen: View, by: str, failed: Failed) -> View:
    """Cold boot: the first of what the log has of this session."""
    said = SessionMarked(mark="began", why="cold boot", by=by)
    return await take_in(project, seen, said, failed) or seen


async def ended(project: Project, loop: LoopId, by: str, why: str, failed: Failed) -> None:
    """A loop that is over needs no handover of a session: its own is written."""
    seen = await view(project, loop)
    if seen.is_over:
        return
    try:
        await take_in(project, seen, SessionMarked(mark="ended", why=why, by=by), failed)
    except EngineError as error:
        failed(str(error))


async def gates_in_time(project: Project, seen: View, by: str, failed: Failed, *, attended: bool) -> View:
    """A gate that nobody has decided in time is closed: the system is blocked. Not where a person is there."""
    if attended or seen.now.state.course.station is not Station.GATE:
        return seen
    limit = seen_limit(seen)
    if limit is None or project.clock.now() - seen.row.updated < limit:
        return seen
    said = StateEdited(subject="gate-timeout", value="", by=by)
    return await take_in(project, seen, said, failed) or seen


def seen_limit(seen: View) -> float | None:
    from loopwright.config.settings import Settings  # noqa: PLC0415

    return Settings.from_json(seen.now.settings).lifecycle.gate_timeout
