"""Loops within loops, as data: a child is a loop of its own in the same store, found again by its name."""

from __future__ import annotations

import hashlib

from loopwright.engine.journal import folded
from loopwright.engine.world import Halt, World
from loopwright.errors import UsageError
from loopwright.kernel.actions import Ask, RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, CancelRequested, Created
from loopwright.kernel.model import Cleanup, Ending, Key, LoopId, Outcome
from loopwright.ports.store import NewEvent, NewLoop

PARENT = "the parent loop"  # who tells a child what a person told its parent


def child_id(parent: LoopId, action: RunLoop) -> LoopId:
    """The same name is the same child, always."""
    digest = hashlib.sha256(f"{parent}/{action.name or action.key}".encode()).hexdigest()[:8]
    return LoopId(f"{parent[:31]}-{digest}")


async def ready_child(world: World, parent: LoopId, action: RunLoop) -> LoopId | None:
    """The child exists and has been told what its parent was told; None: there is none to cancel. Safe to repeat."""
    child = child_id(parent, action)
    if action.say == "cancel":
        return child if await _told_to_cancel(world, child, Cleanup(action.text or Cleanup.KEEP_EVERYTHING)) else None
    created = Created(kind=action.kind, params=action.params, by=f"loop {parent}")
    first = NewEvent(kind="Created", data=encode(created))
    await world.store.create(NewLoop(id=child, kind=action.kind, params=action.params, parent=parent), first)
    if action.say:
        await _answer(world, child, action)
    return child


async def _told_to_cancel(world: World, child: LoopId, cleanup: Cleanup) -> bool:
    try:
        loaded = await world.store.load(child)
    except UsageError:
        return False
    if not loaded.row.outcome:
        await world.store.post(child, "CancelRequested", encode(CancelRequested(cleanup=cleanup, by=PARENT)))
    return True


async def _answer(world: World, child: LoopId, action: RunLoop) -> None:
    loaded = await world.store.load(child)
    loop = world.loops[loaded.row.kind]
    for wanted in loop.decide(folded(loop, loaded).state):
        if isinstance(wanted, Ask) and wanted.key == action.answers:
            said = Answered(key=wanted.key, choice=action.say, count=action.grant, text=action.text, by=PARENT)
            await world.store.post(child, "Answered", encode(said))


async def taken_below(world: World, root: LoopId) -> dict[LoopId, tuple[int, float]]:
    """Tokens and seconds of every loop below the root, from their logs."""
    rows = await world.store.rows()
    below, found = {root}, True
    while found:
        fresh = {row.id for row in rows if row.parent in below and row.id not in below}
        below, found = below | fresh, bool(fresh)
    logs = [await world.store.load(loop) for loop in sorted(below - {root})]
    states = ((log.row.id, folded(world.loops[log.row.kind], log)) for log in logs)
    return {loop: (now.tokens, now.seconds) for loop, now in states}


def child_outcome(child: LoopId, halt: Halt) -> Outcome:
    """What the parent hears. A child that would ask a person has escalated; only roots ask."""
    if halt.outcome is not None:
        return halt.outcome
    asks = [action for action in halt.waiting if isinstance(action, Ask)]
    stand = halt.stand
    return Outcome(
        ending=Ending.HELD if halt.why == "held" else Ending.ESCALATED,
        attempts=stand.attempt if stand else 0,
        note=_note(halt),
        findings=tuple(finding for ask in asks for finding in ask.findings),
        at=stand.point if stand else "",
        asking=asks[0].key if asks else Key(""),
        loop=child,
    )


def _note(halt: Halt) -> str:
    """The child's newest verdict with why it stopped; without a verdict, its question."""
    headline = halt.stand.headline if halt.stand else ""
    if headline:
        why = "; ".join(action.why for action in halt.waiting)
        return f"{headline} ({why})" if why not in ("", headline) else headline
    return "; ".join(getattr(action, "question", "") or action.why for action in halt.waiting) or halt.detail
