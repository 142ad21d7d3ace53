"""Taking in what somebody said when no controller runs; with one running, the loop's inbox is the door.

It is the door of every loop, a root or deep below one: a child that waits for people listens to its own inbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.engine.fold import AnyLoop, Opened
from loopwright.engine.journal import Held, Journal, holding, open_loop
from loopwright.engine.session import Recording, Session
from loopwright.engine.world import Observer
from loopwright.errors import AlreadyRunning, Forbidden
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested, Ended, GateDecided, Refused, Said
from loopwright.kernel.model import Cleanup, Ending, LoopId, Outcome
from loopwright.ports.dispatcher import Errand
from loopwright.ports.store import Append, NewEvent, Store

_PAUSE = 0.05  # seconds
_UNREAD = "its log could not be read; it was ended without"


async def hear(
    store: Store,
    loops: Mapping[str, AnyLoop],
    loop: LoopId | Opened,
    said: Said,
    observer: Observer,
    *,
    patience: int = 0,
) -> Opened | None:
    """Record it and give the loop as it is then; or post it for the controller that holds the loop, and give None.

    A loop that nobody drives is held by others for a moment only: `patience` is how often that is waited for, then
    `AlreadyRunning` is raised.

    Raises `Forbidden` when the loop's state does not allow it; the attempt itself stays in the log.
    """
    known = loop if isinstance(loop, Opened) else await open_loop(store, loops, loop)
    try:
        async with holding(store, known, said.by, patience=patience, pause=_PAUSE) as held:
            journal = _journal(store, held)
            outcome = held.opened.outcome if held.opened.is_over else None
            if outcome is not None and not _is_awaited(journal.session, said):
                raise Forbidden(f"loop {known.id} has ended ({outcome.ending}); start a new one")
            refusal = journal.session.refusal(said)
            await _record(journal, journal.session.heard(said), observer)
            if refusal is not None:
                raise Forbidden(f"{known.id}: {refusal.why or refusal}") from refusal
            return journal.opened
    except AlreadyRunning:
        if patience:
            raise  # nobody would ever look into its inbox
        await store.post(known.id, type(said).__name__, encode(said))
        return None


async def end_unread(store: Store, loop: LoopId, said: CancelRequested) -> Outcome:
    """End a loop that nobody can go on from, and all below it. Nothing of their logs is read, and no commit is touched.

    What was reserved counts as spent. Raises `AlreadyRunning` while somebody holds one of them.
    """
    for row in await store.rows():
        if row.parent == loop and not row.outcome:
            await end_unread(store, row.id, said)
    outcome = Outcome(ending=Ending.CANCELLED, loop=loop, cleanup=Cleanup.KEEP_EVERYTHING, note=_UNREAD)
    fence = await store.claim(loop, said.by)
    try:
        row = next(row for row in await store.rows() if row.id == loop)
        entries = (
            NewEvent(kind=CancelRequested.__name__, data=encode(replace(said, cleanup=Cleanup.KEEP_EVERYTHING))),
            NewEvent(
                kind=Ended.__name__,
                data=encode(Ended(outcome=outcome)),
                release=row.reserved,
                spend=row.reserved,
                estimated=True,
            ),
        )
        taken = tuple(item.id for item in await store.inbox(loop))
        batch = Append(entries=entries, status="cancelled", outcome=encode(outcome), taken=taken)
        await store.append(loop, fence=fence, expected=row.seq, batch=batch)
    finally:
        await store.release(loop, fence)
    return outcome


async def note_refusal(
    store: Store, loops: Mapping[str, AnyLoop], loop_id: LoopId, refused: Refused, observer: Observer
) -> None:
    """Put on record that somebody tried what they may not; a running controller does it from its inbox."""
    known = await open_loop(store, loops, loop_id)
    try:
        async with holding(store, known, refused.by) as held:
            if held.opened.outcome is None:
                await _record(_journal(store, held), (Recording(event=refused),), observer)
    except AlreadyRunning:
        await store.post(loop_id, "Refused", encode(refused))


def _is_awaited(session: Session, said: Said) -> bool:
    """A gate may be left for a person to decide when the work is over."""
    return isinstance(said, GateDecided) and any(
        action.key == said.key for action in session.wanted if isinstance(action, AwaitGate)
    )


def _journal(store: Store, held: Held) -> Journal:
    """For what is said only: nothing is begun here."""
    return Journal(store, Session.of(held.opened, Errand(path=(held.opened.id,)), lambda _action, _now: 0.0), held)


async def _record(journal: Journal, lines: tuple[Recording, ...], observer: Observer) -> None:
    for seen in await journal.record(*lines):
        observer.recorded(seen)
