"""Taking in what somebody said when no controller runs; with one running, its inbox is the door."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.engine.journal import Journal, Line
from loopwright.engine.world import AnyLoop, Observer, known_loop
from loopwright.errors import AlreadyRunning, Forbidden, InvalidTransition
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Logged, Refused, Said
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Store


async def hear(store: Store, loops: Mapping[str, AnyLoop], loop_id: LoopId, said: Said, observer: Observer) -> bool:
    """Record it and say True; or post it for the controller that holds the loop and say False.

    Raises `Forbidden` when the loop's state does not allow it; the attempt itself stays in the log.
    """
    try:
        fence = await store.claim(loop_id, said.by)
    except AlreadyRunning:
        await store.post(loop_id, type(said).__name__, encode(said))
        return False
    try:
        loaded = await store.load(loop_id)
        journal = Journal(store, known_loop(loops, loaded.row.kind), loaded, fence)
        if journal.outcome is not None:
            raise Forbidden(f"loop {loop_id} has ended ({journal.outcome.ending}); start a new one")
        await _record(journal, said, observer)
        return True
    finally:
        await store.release(loop_id, fence)


async def note_refusal(
    store: Store, loops: Mapping[str, AnyLoop], loop_id: LoopId, refused: Refused, observer: Observer
) -> None:
    """Put on record that somebody tried what they may not; a running controller does it from its inbox."""
    try:
        fence = await store.claim(loop_id, refused.by)
    except AlreadyRunning:
        await store.post(loop_id, "Refused", encode(refused))
        return
    try:
        loaded = await store.load(loop_id)
        journal = Journal(store, known_loop(loops, loaded.row.kind), loaded, fence)
        if journal.outcome is None:
            await _append(journal, refused, observer)
    finally:
        await store.release(loop_id, fence)


async def _record(journal: Journal, said: Said, observer: Observer) -> None:
    try:
        await _append(journal, said, observer)
    except InvalidTransition as error:
        await _append(journal, Refused(what=type(said).__name__, why=str(error), by=said.by), observer)
        raise Forbidden(f"loop {journal.id}: {error.why or error}") from error


async def _append(journal: Journal, event: Logged, observer: Observer) -> None:
    for seen in await journal.append(Line(event=event)):
        observer.recorded(seen)
