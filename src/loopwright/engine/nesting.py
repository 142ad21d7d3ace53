"""Loops within loops, as data: a child is a loop of its own in the same store, found again by its name."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from loopwright.engine.fold import AnyLoop, Opened, just_made, known_loop
from loopwright.engine.hearing import end_unread
from loopwright.engine.journal import open_loop
from loopwright.engine.session import Session
from loopwright.engine.world import Halt, Seen, World
from loopwright.errors import CheckNotRunnable, LoopUnreadable, SetupFailed, Suspended, UsageError, VcsFailed
from loopwright.kernel.actions import Ask, ForPeople, RunLoop, stop_of
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, CancelRequested, Created, GateDecided, Said
from loopwright.kernel.machine import answers_one_of
from loopwright.kernel.model import NO_COMMIT, NO_KEY, NO_POINT, Cleanup, Ending, LoopId, Outcome
from loopwright.ports.dispatcher import Errand, Tell
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow, NewEvent, NewLoop, Store

DriveChild = Callable[[World, Opened, Errand, Tell], Awaitable[Halt]]
PARENT = "the parent loop"  # who tells a child what a person told its parent


def child_id(parent: LoopId, action: RunLoop) -> LoopId:
    """The same name is the same child, always."""
    digest = hashlib.sha256(f"{parent}/{action.name or action.key}".encode()).hexdigest()[:8]
    return LoopId(f"{parent[:31]}-{digest}")


async def ready_child(world: World, parent: LoopId, action: RunLoop) -> Opened | None:
    """The child exists and has been told what its parent was told; None: there is none to cancel. Safe to repeat."""
    child, said = child_id(parent, action), action.said
    opened = world.known.pop(child, None)
    if opened is None and not isinstance(said, CancelRequested):
        opened = await _made(world, parent, child, action)
    opened = opened or await _opened_if_there(world.store, world.loops, child)
    if opened is not None and said is not None and _is_for(opened, said):
        await world.store.post(child, type(said).__name__, encode(said if said.by else replace(said, by=PARENT)))
    return opened


async def _made(world: World, parent: LoopId, child: LoopId, action: RunLoop) -> Opened | None:
    """The child, if it was not there before."""
    created = Created(kind=action.kind, params=action.params, by=f"loop {parent}")
    new = NewLoop(id=child, kind=action.kind, params=action.params, parent=parent)
    written = await world.store.create(new, NewEvent(kind="Created", data=encode(created)))
    if written is None:
        return None
    opened, row, (first,) = just_made(known_loop(world.loops, action.kind), written), written.row, written.records
    seen = Seen(
        loop=child,
        kind=action.kind,
        state=opened.now.state,
        event=created,
        seq=first.seq,
        status=row.status,
        at=first.at,
        spent=row.spent,
        budget=row.budget,
    )
    world.observer.recorded(seen)  # whoever makes files of a log has to know it from its beginning
    return opened


def _is_for(child: Opened, said: Said) -> bool:
    """No answer is ever given twice, nor to another question; nobody talks to a loop that has ended."""
    if isinstance(said, Answered | GateDecided):
        return answers_one_of(child.wanted, said)
    return not child.row.outcome


async def _opened_if_there(store: Store, loops: Mapping[str, AnyLoop], loop: LoopId) -> Opened | None:
    try:
        return await open_loop(store, loops, loop)
    except UsageError:
        return None


async def _opened_if_readable(store: Store, loops: Mapping[str, AnyLoop], loop: LoopId) -> Opened | None:
    """None as well where nobody can make anything of its log: whoever only counts or looks passes it over."""
    try:
        return await _opened_if_there(store, loops, loop)
    except LoopUnreadable:
        return None


async def run_child(world: World, parent: Errand, action: RunLoop, tell: Tell, drive: DriveChild) -> Outcome:
    """What became of the child. Raises `Suspended` where it stopped at a limit.

    What goes wrong in one child's files is that child's end, not its siblings'; a broken store is everybody's.
    """
    child, errand = await ready_child(world, parent.child, action), _errand(parent, action)
    if child is None:
        return Outcome(ending=Ending.CANCELLED)

    return await _driven(world, child, errand, tell, drive)


async def _driven(world: World, child: Opened, errand: Errand, tell: Tell, drive: DriveChild) -> Outcome:
    async def here() -> Outcome:
        halt = await drive(world, child, errand, tell)
        if halt.why == "paused":
            raise Suspended(halt.reason, halt.detail)
        return child_outcome(errand.child, halt)

    try:
        return await world.dispatcher.run(errand, tell, here)
    except (VcsFailed, SetupFailed, CheckNotRunnable) as error:
        return Outcome(ending=Ending.FAILED, note=str(error), loop=errand.child)


async def cancel_below(world: World, parent: Errand, cleanup: Cleanup | None, drive: DriveChild) -> None:
    """Every loop that is still open below a cancelled one is cancelled too, and takes with it what is below it.

    Safe to repeat: the cancelled one has not ended before all of them have.
    """
    said = CancelRequested(cleanup=cleanup or Cleanup.KEEP_EVERYTHING, by=PARENT)
    for row in await world.store.rows():
        if row.parent != parent.child or row.outcome or row.kind not in world.loops:  # nobody here could end those
            continue
        child = world.known.pop(row.id, None) or await _opened_if_readable(world.store, world.loops, row.id)
        if child is None:
            await end_unread(world.store, row.id, said)
            continue
        errand = Errand(path=(*parent.path, row.id))
        is_told = any(item.kind == type(said).__name__ for item in await world.store.inbox(row.id))
        if not is_told and not _is_ending(child, errand, said):
            await world.store.post(row.id, type(said).__name__, encode(said))
        await _driven(world, child, errand, lambda _waiting: None, drive)


def _is_ending(child: Opened, errand: Errand, said: CancelRequested) -> bool:
    stops = stop_of(child.wanted) is not None
    return stops or Session.of(child, errand, lambda _action, _now: 0.0).refusal(said) is not None


async def below(world: World, root: LoopId, rows: tuple[LoopRow, ...]) -> tuple[Opened, ...]:
    """Every loop of `rows` that is below the root and of a kind that is known here."""
    rows = tuple(row for row in rows if row.kind in world.loops)
    known, found = {root}, True
    while found:
        fresh = {row.id for row in rows if row.parent in known and row.id not in known}
        known, found = known | fresh, bool(fresh)
    opened = [await _opened_if_readable(world.store, world.loops, loop) for loop in sorted(known - {root})]
    return tuple(each for each in opened if each is not None)


class Asker(NamedTuple):
    """A loop that waits for people, as it was read, and what for."""

    opened: Opened
    waiting: tuple[Waiting, ...]


async def waiting_below(store: Store, loops: Mapping[str, AnyLoop], root: Opened) -> tuple[Waiting, ...]:
    """What people may say now to the root and to the loops it has in flight, from the logs alone."""
    return tuple(each for asker in await askers(store, loops, root) for each in asker.waiting)


async def askers(
    store: Store, loops: Mapping[str, AnyLoop], opened: Opened, errand: Errand | None = None
) -> tuple[Asker, ...]:
    """The loop and those it has in flight, as far as they wait for people. `errand` leads to one that is no root."""
    errand = errand or Errand(path=(opened.id,))
    session = Session.of(opened, errand, lambda _action, _now: 0.0)
    is_asking = not opened.row.outcome and not session.is_held and not session.is_its_parents
    found = [Asker(opened, session.waiting)] if is_asking else []
    for action in opened.wanted:
        if isinstance(action, RunLoop) and opened.now.flight(action.key) is not None:
            child = await _opened_if_readable(store, loops, child_id(opened.id, action))
            found += await askers(store, loops, child, _errand(errand, action)) if child else ()
    return tuple(found)


async def can_go_on(store: Store, loops: Mapping[str, AnyLoop], opened: Opened, errand: Errand | None = None) -> bool:
    """Whether anything is left to do, of the loop or below it, before people say more than they have."""
    if await store.inbox(opened.id):
        return True
    own = errand or Errand(path=(opened.id,))
    for action in opened.wanted:
        if isinstance(action, RunLoop) and opened.now.flight(action.key) is not None:
            child = await _opened_if_readable(store, loops, child_id(opened.id, action))
            if child is None or await can_go_on(store, loops, child, _errand(own, action)):
                return True
        elif not isinstance(action, ForPeople):
            return True
    return errand is not None and Session.of(opened, own, lambda _action, _now: 0.0).is_its_parents


def _errand(parent: Errand, action: RunLoop) -> Errand:
    return Errand(path=(*parent.path, child_id(parent.child, action)), upto=action.upto, takes=action.takes)


def child_outcome(child: LoopId, halt: Halt) -> Outcome:
    """What the parent hears of a child that stopped: one that waits for what its parent takes has escalated."""
    if halt.outcome is not None:
        return halt.outcome
    asks = [each.what for each in halt.waiting if isinstance(each.what, Ask)]
    stand = halt.stand
    return Outcome(
        ending=Ending.HELD if halt.why == "held" else Ending.ESCALATED,
        attempts=stand.attempt if stand else 0,
        commit=stand.commit if stand else NO_COMMIT,
        note=_note(halt),
        findings=tuple(finding for ask in asks for finding in ask.findings),
        at=stand.point if stand else NO_POINT,
        asking=asks[0].key if asks else NO_KEY,
        loop=child,
    )


def _note(halt: Halt) -> str:
    """The child's newest verdict with why it stopped; without a verdict, its question."""
    headline, waiting = halt.stand.headline if halt.stand else "", [each.what for each in halt.waiting]
    if headline:
        why = "; ".join(action.why for action in waiting)
        return f"{headline} ({why})" if why not in ("", headline) else headline
    return "; ".join(getattr(action, "question", "") or action.why for action in waiting) or halt.detail
