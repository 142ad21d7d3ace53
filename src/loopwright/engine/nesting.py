"""Loops within loops, as data: a child is a loop of its own in the same store, found again by its name."""

from __future__ import annotations

import hashlib

from loopwright.engine.journal import folded
from loopwright.engine.world import Halt, World
from loopwright.kernel.actions import Ask, RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, Created
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.ports.store import Entry, NewLoop


def child_id(parent: LoopId, action: RunLoop) -> LoopId:
    """The same action names the same child, always."""
    if action.child:
        return action.child
    digest = hashlib.sha256(f"{parent}/{action.key}".encode()).hexdigest()[:8]
    return LoopId(f"{parent[:31]}-{digest}")


async def ready_child(world: World, parent: LoopId, action: RunLoop) -> LoopId:
    """The child exists, and has been told to continue if its parent was. Safe to repeat."""
    child = child_id(parent, action)
    created = Created(kind=action.kind, params=action.params, by=f"loop {parent}")
    first = Entry(kind="Created", data=encode(created))
    await world.store.create(NewLoop(id=child, kind=action.kind, params=action.params, parent=parent), first)
    if action.grant:
        await _tell_to_continue(world, child, action)
    return child


async def _tell_to_continue(world: World, child: LoopId, action: RunLoop) -> None:
    loaded = await world.store.load(child)
    loop = world.loops[loaded.row.kind]
    for wanted in loop.decide(folded(loop, loaded).state):
        if isinstance(wanted, Ask):
            answer = Answered(key=wanted.key, choice="continue", count=action.grant, by="the parent loop")
            await world.store.post(child, "Answered", encode(answer))


def child_outcome(child: LoopId, halt: Halt) -> Outcome:
    """What the parent hears. A child that would ask a person has escalated; only roots ask."""
    if halt.outcome is not None:
        return halt.outcome
    asked = "; ".join(getattr(action, "question", "") or action.why for action in halt.waiting)
    return Outcome(ending=Ending.ESCALATED, note=asked or halt.detail, loop=child)
