"""Taking in what a person said to a loop, from whatever door: recorded, or posted for the controller that runs it."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.app.choice import named, named_root, roots
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.publication import publisher_of
from loopwright.app.views.events import said_in_words
from loopwright.app.views.standing import waiting_for
from loopwright.engine.hearing import hear
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Answered, Said
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import event_of
from loopwright.ports.people import Waiting


async def take_in(project: Project, seen: View, said: Said, failed: Callable[[str], None]) -> bool:
    """Whether it is recorded; else the controller that holds the loop was told. Its files follow at once.

    Raises `Forbidden` when the loop's state does not allow it; the attempt itself stays in the log.
    """
    publisher = await publisher_of(project, failed, seen)
    return await hear(project.store, project.loops, seen.opened, said, publisher)


async def find_question(project: Project, loop_id: str) -> tuple[Waiting, Ask]:
    """The one question that is meant: of the loop that is named, a root or a part of one; else the only one."""
    meant = await named(project, loop_id) if loop_id else None
    among = [meant] if meant and meant.row.parent is None else await roots(project)
    found = [(each, each.what) for root in among for each in await waiting_for(project, root)]
    asked = [(each, what) for each, what in found if isinstance(what, Ask)]
    if meant is not None and meant.row.parent is not None:
        asked = [(each, what) for each, what in asked if each.loop == meant.row.id]
    if len(asked) == 1:
        return asked[0]
    if asked:
        listed = "; ".join(f"{each.loop} ({one_line(what.question, 80)})" for each, what in asked)
        raise UsageError(f"several questions are open, name one with --loop ID: {listed}")
    if meant is None:
        raise Forbidden("no loop asks anything now; `loop status` shows what they do")
    if not meant.is_over and any(isinstance(action, Ask) for action in meant.wanted):
        await named_root(project, loop_id)  # what a part asks and its parent takes is the root's to answer
    why = f"has ended ({meant.row.status})" if meant.is_over else "asks nothing now"
    raise Forbidden(f"loop {meant.row.id} {why}{await _answered(project, meant)}; the answer was not recorded")


async def _answered(project: Project, seen: View) -> str:
    """What became of its last question, if it ever asked one."""
    records = await project.store.read(seen.row.id)
    said = next((event for each in reversed(records) if isinstance(event := event_of(each), Answered)), None)
    return f", its last question was {said_in_words(said)}" if said else ""
