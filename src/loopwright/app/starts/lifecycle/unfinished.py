"""What was under way when a session was stopped: the edits in workspaces, kept as commits.

The step itself is done again as the same try; whoever does it begins from what was there before it, and what was half
done can be looked at under the loop's refs.
"""

from __future__ import annotations

from collections.abc import Callable

from loopwright.adapters.from_settings import git_workspace
from loopwright.adapters.git.rules import began_with
from loopwright.app.loops import OVER, View, view
from loopwright.app.project import Project
from loopwright.app.publication import family
from loopwright.config.settings import Settings
from loopwright.engine.performing import workspace_name
from loopwright.errors import EngineError
from loopwright.kernel.actions import RunAgent
from loopwright.kernel.model import NO_COMMIT, Commit

INTERRUPTED = "interrupted"  # why a session ended that a signal stopped


async def unfinished(project: Project, root: View, failed: Callable[[str], None]) -> Commit:
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
