"""Taking in what somebody said when no controller runs; with one running, the loop's inbox is the door.

It is the door of every loop, a root or deep below one: a child that waits for people listens to its own inbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.engine.fold import AnyLoop, Opened
from loopwright.engine.journal import Held, Journal, holding, open_loop, read_item
from loopwright.engine.session import Recording, Session
from loopwright.engine.world import Observer
from loopwright.errors import AlreadyRunning, Forbidden
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested, Ended, GateDecided, Refused, Said
from loopwright.kernel.model import Cleanup, Ending, LoopId, Outcome
from loopwright.kernel.record import event_of
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
    _refuse_after_end(known, said)
    item = await store.post(known.id, type(said).__name__, encode(said)) if isinstance(said, GateDecided) else None
    try:
        async with holding(store, known, said.by, patience=patience, pause=_PAUSE) as held:
            journal = _journal(store, held)
            if item is not None and await _decide_first(journal, said, item, observer):
                await _refuse_second(store, known, said, item)
                return journal.opened
            _refuse_after_end(held.opened, said)
            refusal = journal.session.refusal(said)
            await _record(journal, journal.session.heard(said), observer, taken=() if item is None else (item,))
            if refusal is not None:
                await _refuse_second(store, known, said)
                raise Forbidden(f"{known.id}: {refusal.why or refusal}") from refusal
            return journal.opened
    except AlreadyRunning:
        if patience:
            raise  # nobody would ever look into its inbox
        if item is None:
            await store.post(known.id, type(said).__name__, encode(said))
        else:
            await _refuse_second(store, known, said, item)
        return None


async def _decide_first(journal: Journal, said: Said, item: int, observer: Observer) -> bool:
    """Record the decisions on the same gate that were posted before this one. Return whether it was taken itself."""
    posted = await journal.inbox()
    for each in posted:
        if each.item < item and _is_rival(each.said, said):
            await _record(journal, journal.session.heard(each.said), observer, taken=(each.item,))
    return item not in [each.item for each in posted]


async def _refuse_second(store: Store, known: Opened, said: Said, item: int = 0) -> None:
    """Raise `Forbidden` if another decision on the same gate came first: into the inbox, or into the log.

    With `item` it is posted, and may be in the log itself by now.
    """
    posted = [read_item(each) for each in await store.inbox(known.id) if each.id < item]
    logged = [event_of(each) for each in await store.read(known.id, after=known.row.seq)]
    first = next((each for each in (*logged, *posted) if _is_rival(each, said)), None)
    if not isinstance(first, GateDecided) or (item and first == said):
        return
    word, by = "approved" if first.approved else "rejected", first.by or "another person"
    told = f"gate {first.gate} was {word} by {by} a moment ago; your decision came second and was not recorded"
    raise Forbidden(f"{known.id}: {told}")


def _is_rival(first: object, said: Said) -> bool:
    if not isinstance(first, GateDecided) or not isinstance(said, GateDecided):
        return False
    return (first.gate, first.evidence) == (said.gate, said.evidence)


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


def _refuse_after_end(opened: Opened, said: Said) -> None:
    """Raise `Forbidden` if the loop has ended; a gate may be left for a person to decide when the work is over."""
    if not opened.is_over or opened.outcome is None:
        return
    gates = [action.key for action in opened.wanted if isinstance(action, AwaitGate)]
    if not isinstance(said, GateDecided) or said.key not in gates:
        raise Forbidden(f"loop {opened.id} has ended ({opened.outcome.ending}); start a new one")


def _journal(store: Store, held: Held) -> Journal:
    """For what is said only: nothing is begun here."""
    return Journal(store, Session.of(held.opened, Errand(path=(held.opened.id,)), lambda _action, _now: 0.0), held)


async def _record(
    journal: Journal, lines: tuple[Recording, ...], observer: Observer, *, taken: tuple[int, ...] = ()
) -> None:
    for seen in await journal.record(*lines, taken=taken):
        observer.recorded(seen)
