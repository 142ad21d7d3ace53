"""How loops stand now: their status objects, put together from a project's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from loopwright.app.kinds import known_kind
from loopwright.app.loops import OVER, Unread, View, seen
from loopwright.app.project import Project
from loopwright.app.views import status
from loopwright.app.views.gates import gates
from loopwright.app.views.needs import confirmation
from loopwright.app.views.status import LoopStatus, StatusDocument
from loopwright.engine.nesting import waiting_below
from loopwright.engine.world import Halt
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import Answered, GateDecided, Paused, SessionMarked, Started
from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.wording import way_on
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow

_SAID = (Answered.__name__, GateDecided.__name__)


async def waiting_for(project: Project, view: View) -> tuple[Waiting, ...]:
    """What a root and everything below it wait for; what a part waits for is its root's to tell."""
    if view.row.parent is not None:
        return ()
    if view.is_over:  # a gate may be decided when the work is over
        return tuple(Waiting(path=(view.row.id,), what=gate) for gate in view.wanted if isinstance(gate, AwaitGate))
    return await waiting_below(project.store, project.loops, view.opened)


async def status_of_loop(
    project: Project,
    view: View,
    *,
    alive: bool | None = None,
    waiting: tuple[Waiting, ...] | None = None,
    answered: bool = False,
) -> LoopStatus:
    """`waiting` is what it waits for, for those who know that already; `answered` is as in `needs`."""
    lives = view.alive is not None if alive is None else alive
    decided = {gate.name: gate.status for gate in gates(view)}
    known = await waiting_for(project, view) if waiting is None else waiting
    paused = await _pause_of(project, view.row)
    shown = status.build(view, known, decided, alive=lives, answered=answered, paused=paused)
    has_sessions = bool(view.kind.sessions) and view.row.parent is None
    if shown.status == "interrupted" and has_sessions and is_at_rest(await project.store.read(view.row.id)):
        shown = status.rested(shown)
    is_left = has_sessions and not (lives or view.is_over)
    why = await import_module(view.kind.sessions).describe_unconfirmed(project, view) if is_left else ""
    return replace(shown, needs=(confirmation(view.row.id, why), *shown.needs)) if why else shown


def is_at_rest(records: Sequence[Record]) -> bool:
    """Whether its last session came to its end by itself, or nothing was begun yet."""
    marked = [event_of(record) for record in records if record.kind == SessionMarked.__name__]
    if not marked:
        return not any(record.kind == Started.__name__ for record in records)
    last = marked[-1]
    return isinstance(last, SessionMarked) and last.mark == "ended" and last.why != "interrupted"


async def why_paused(project: Project, row: LoopRow) -> str:
    """For whoever answers a loop that asks nothing; empty where no limit of all its work is what it stands still at."""
    paused = await _pause_of(project, row)
    if paused is None:
        return ""
    way = way_on(paused.reason, row.budget)
    return f"it paused at its {paused.reason} ({one_line(paused.detail, 500)}); it goes on with {way}"


async def _pause_of(project: Project, row: LoopRow) -> Paused | None:
    """What a loop is short of that stands still at a limit of all its work; at one of its own it asks a person."""
    newest = await project.store.read(row.id, after=row.seq - 1) if row.status == "paused" else ()
    event = event_of(newest[-1]) if newest else None
    return event if isinstance(event, Paused) else None


async def status_document(project: Project) -> StatusDocument:
    """Every loop, in the order and shape of the format."""
    everything = [each for each in await seen(project) if each.kind.driven]
    found = [each for each in everything if isinstance(each, View)]
    driven = {view.row.id for view in found if view.alive is not None}
    answered = await _answered(project, found)
    shown: dict[LoopId, LoopStatus] = {}
    for view in reversed(found):  # parents before their children
        # A part that waits for the others is held by nobody, and yet under way as long as the whole is.
        alive, row = bool(driven & {view.row.id, view.row.parent}), view.row
        own = await status_of_loop(project, view, alive=alive, answered=row.id in answered)
        above = shown.get(row.parent) if row.parent else None
        shown[row.id] = status.beside(own, above, view) if above else own
    for each in everything:
        if isinstance(each, Unread):
            shown[each.listed.row.id] = status.unread(each)
    return status.document([shown[row.id] for row in (_row(each) for each in everything)])


async def kept_beside(project: Project) -> tuple[str, ...]:
    """What the records tell that nobody drives."""
    found = [each for each in await seen(project) if isinstance(each, View) and not each.kind.driven]
    return tuple(line for each in found for line in each.kind.so_far(each.now.state))


def _row(each: View | Unread) -> LoopRow:
    return each.row if isinstance(each, View) else each.listed.row


async def _answered(project: Project, found: Sequence[View]) -> set[LoopId]:
    """The loops that nobody has gone on with since a person said something, to them or below."""
    parents = {view.row.id: view.row.parent for view in found}
    answered: set[LoopId] = set()
    for view in found:
        if view.row.status == "running" and view.alive is None:
            newest = await project.store.read(view.row.id, after=view.row.seq - 1)
            loop = view.row.id if newest and newest[-1].kind in _SAID else None
            while loop is not None and loop not in answered:
                answered.add(loop)
                loop = parents.get(loop)
    return answered


async def current(project: Project, view: View, halt: Halt) -> LoopStatus:
    """The loop after a drive; with other loops open, its commands name this one."""
    waiting = halt.waiting if halt.why == "waiting" else None
    shown = await status_of_loop(project, view, alive=False, waiting=waiting)
    rows = [row for row in view.listed.among or await project.store.rows() if row.parent is None]
    driven = [row for row in rows if row.id != view.row.id and known_kind(project.kinds, row.kind).driven]
    others = [row for row in driven if row.status not in OVER]
    return status.named_commands(shown) if others else shown
