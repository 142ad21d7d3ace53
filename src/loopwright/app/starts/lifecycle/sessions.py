"""The session of a system: what is known is read before the first decision, and at the end it is handed over."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.adapters.from_settings import git_workspace
from loopwright.adapters.git.rules import began_with
from loopwright.app.loops import OVER, View, view
from loopwright.app.project import Project
from loopwright.app.publication import family
from loopwright.app.said import take_in
from loopwright.config.settings import Settings
from loopwright.engine.performing import workspace_name
from loopwright.errors import EngineError
from loopwright.kernel.actions import RunAgent
from loopwright.kernel.events import SessionMarked, StateEdited
from loopwright.kernel.model import NO_COMMIT, Commit, LoopId
from loopwright.loops.course import Station

INTERRUPTED = "interrupted"  # why a session ended that a signal stopped
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
    commit = await _unfinished(project, seen, failed) if why == INTERRUPTED else NO_COMMIT
    try:
        await take_in(project, seen, SessionMarked(mark="ended", why=why, commit=commit, by=by), failed)
    except EngineError as error:
        failed(str(error))


async def _unfinished(project: Project, root: View, failed: Failed) -> Commit:
    """The edits of whoever was stopped in mid-step, in the system's workspace or in that of a part, as a commit."""
    pinned = began_with(root.base, root.now.rules)
    settings = Settings.from_json(root.now.settings)
    workspace = git_workspace(settings, root=project.root, environ=project.environ, pinned=pinned)
    found = NO_COMMIT
    try:
        for row in family(root.row.id, await project.store.rows()):
            for action, step in _writing(await view(project, row.id)) if row.status not in OVER else ():
                found = await workspace.keep(row.id, workspace_name(row.id, action), action.start, step) or found
    except EngineError as error:
        failed(f"what was under way could not be kept as a commit, and stays in its workspace: {error}")
    return found


def _writing(seen: View) -> list[tuple[RunAgent, str]]:
    """Who was at work in a workspace, and the step by which that is known."""
    flights = ((action, seen.now.flight(action.key)) for action in seen.wanted)
    return [(at, flight.step) for at, flight in flights if isinstance(at, RunAgent) and at.writes and flight]


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
    return Settings.from_json(seen.now.settings).lifecycle.gate_timeout
