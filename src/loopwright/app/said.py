"""Taking in what a person said to a loop, from whatever door: recorded, or posted for the controller that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from loopwright.app.approvers import objection_to
from loopwright.app.choice import named, refuse_part, root_of
from loopwright.app.loops import View, listed, listing, view, whole_view
from loopwright.app.project import Project
from loopwright.app.publication import publisher_of
from loopwright.app.views.events import said_in_words
from loopwright.app.views.standing import why_paused
from loopwright.engine.hearing import hear
from loopwright.engine.nesting import Asker, askers
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Answered, GateDecided, Said
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import event_of
from loopwright.ports.people import Waiting


async def take_in(project: Project, seen: View, said: Said, failed: Callable[[str], None]) -> View | None:
    """The loop with it on record; None: the controller that holds the loop was told. Its files follow at once.

    Raises `Forbidden` when the loop's state does not allow it; the attempt itself stays in the log. So it does when it
    is not theirs to say.
    """
    if isinstance(said, GateDecided) and (why := await objection_to(project, seen.row.id, said)):
        raise Forbidden(f"{why}; nothing was recorded")
    return await record(project, seen, said, failed)


async def record(project: Project, seen: View, said: Said, failed: Callable[[str], None]) -> View | None:
    """As `take_in`, of what was settled to be theirs to say."""
    publisher = await publisher_of(project, failed, seen, seen.listed.among)
    heard = await hear(project.store, project.loops, seen.opened, said, publisher)
    if heard is None:
        return None
    now = replace(seen.listed, row=heard.row)
    return View(opened=heard, listed=now, past=publisher.past_of(heard.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    waiting: Waiting
    ask: Ask
    asker: View  # the loop that asks, as it was read to find the question


async def find_question(project: Project, loop_id: str) -> OpenQuestion:
    """The one question that is meant: of the loop that is named, a root or a part of one; else the only one."""
    meant = await named(project, loop_id, whole_view) if loop_id else None
    asked = [each for root in await _roots(project, meant) for each in await _questions(project, root)]
    if meant is not None:
        own = [each for each in asked if each.waiting.loop == meant.row.id]
        asked = own if own or meant.row.parent is not None else asked
    if len(asked) == 1:
        return asked[0]
    if asked:
        several = "; ".join(f"{each.waiting.loop} ({one_line(each.ask.question, 80)})" for each in asked)
        raise UsageError(f"several questions are open, name one with --loop ID: {several}")
    for each in await _roots(project, meant):
        if why := await why_paused(project, each.row):
            raise Forbidden(f"loop {each.row.id} asks nothing: {why}")
    if meant is None:
        raise Forbidden("no loop asks anything now; `loop status` shows what they do")
    if not meant.is_over and any(isinstance(action, Ask) for action in meant.wanted):
        refuse_part(meant)  # what a part asks and its parent takes is the root's to answer
    why = f"has ended ({meant.row.status})" if meant.is_over else "asks nothing now"
    raise Forbidden(f"loop {meant.row.id} {why}{await _answered(project, meant)}; the answer was not recorded")


async def _answered(project: Project, seen: View) -> str:
    """What became of its last question, if it ever asked one."""
    records = await project.store.read(seen.row.id)
    said = next((event for each in reversed(records) if isinstance(event := event_of(each), Answered)), None)
    return f", its last question was {said_in_words(said)}" if said else ""


async def _roots(project: Project, meant: View | None) -> list[View]:
    """Those that may ask: of what is named its own root, else all that are not over."""
    if meant is None:
        return [await whole_view(project, each) for each in await listing(project) if not each.is_over]
    if meant.row.parent is None:
        return [meant]
    root, rows = root_of(meant), meant.listed.among
    return [await view(project, await listed(project, row, rows)) for row in rows if row.id == root]


async def _questions(project: Project, root: View) -> list[OpenQuestion]:
    return [
        OpenQuestion(waiting=each, ask=each.what, asker=await _asker(project, root, found))
        for found in await askers(project.store, project.loops, root.opened)
        for each in found.waiting
        if isinstance(each.what, Ask)
    ]


async def _asker(project: Project, root: View, found: Asker) -> View:
    if found.opened.id == root.row.id:
        return root
    return View(opened=found.opened, listed=await listed(project, found.opened.row, root.listed.among))
