"""A loop's log, opened: the only way to read it into a session, and the only way to add to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, get_args

from loopwright.engine.fold import FROM_DATA, AnyLoop, Each, Opened, is_of_this_form, known_loop, opened
from loopwright.engine.session import Recording, Session, sort_of
from loopwright.engine.steps import Draft
from loopwright.engine.world import News, Notices, Seen
from loopwright.errors import AlreadyRunning, SnapshotUnusable
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.events import Logged, Refused, Said, Started
from loopwright.kernel.model import LoopId
from loopwright.ports.people import Waiting
from loopwright.ports.store import InboxItem, LoopRow, NewNotice, Store

_WITNESS = 32  # characters of a hash
_SAID: dict[str, type] = {kind.__name__: kind for kind in (*get_args(Said), Refused)}


async def open_loop(store: Store, loops: Mapping[str, AnyLoop], loop_id: LoopId) -> Opened:
    """The loop as it stands. A snapshot is only a shorter way there: one that cannot be gone on from is passed over."""
    with suppress(SnapshotUnusable):
        loaded = await store.load(loop_id)
        if loaded.snapshot is None or is_of_this_form(loaded.snapshot):
            return opened(known_loop(loops, loaded.row.kind), loaded)
    return await open_whole(store, loops, loop_id)


async def open_whole(store: Store, loops: Mapping[str, AnyLoop], loop_id: LoopId, each: Each | None = None) -> Opened:
    """As `open_loop`, from its first event."""
    loaded = await store.load(loop_id, snapshot=False)
    return opened(known_loop(loops, loaded.row.kind), loaded, each)


async def passed_over(store: Store, loops: Mapping[str, AnyLoop], row: LoopRow) -> str:
    """Why nobody can go on from the loop's snapshot; empty where there is none, or it can be used."""
    loaded = await store.load(row.id)
    if loaded.snapshot is None or row.kind not in loops:
        return ""
    if not is_of_this_form(loaded.snapshot):  # nobody goes on with a loop that has ended
        return "" if row.outcome else "another version made it"
    try:
        opened(loops[row.kind], loaded)
    except SnapshotUnusable as error:
        return error.why
    return ""


class Held(NamedTuple):
    opened: Opened
    fence: int


@asynccontextmanager
async def holding(
    store: Store, known: Opened, who: str, *, patience: int = 0, pause: float = 0.0
) -> AsyncIterator[Held]:
    """Be the loop's one writer for a while. Raises `AlreadyRunning`, after so many pauses, while somebody else is.

    What was read before is not read again, unless somebody has written since, be it that they held it already then.
    """
    fence = await _claimed(store, known.id, who, patience, pause)
    try:
        current = known.row.fence + 1 == fence and not await store.read(known.id, after=known.row.seq, limit=1)
        yield Held(known if current else await open_loop(store, {known.loop.name: known.loop}, known.id), fence)
    finally:
        await store.release(known.id, fence)


async def _claimed(store: Store, loop: LoopId, who: str, patience: int, pause: float) -> int:
    while True:
        try:
            return await store.claim(loop, who)
        except AlreadyRunning:
            if not patience:
                raise
            patience -= 1
            await asyncio.sleep(pause)


async def post(store: Store, loop: LoopId, said: Said) -> None:
    """Put what somebody said where whoever drives the loop looks."""
    await store.post(loop, type(said).__name__, encode(said))


class Posted(NamedTuple):
    item: int
    said: Said | Refused


def read_item(item: InboxItem) -> Said | Refused:
    try:
        said: Said | Refused = decode(_SAID[item.kind], item.data)
    except (DecodeError, KeyError) as error:
        return Refused(what=item.kind, why=f"it cannot be read: {error}")
    return said


class Journal:
    """The writing side, held by the one controller that has the loop's fence; it hears what others post meanwhile."""

    def __init__(self, store: Store, session: Session, held: Held, notices: Notices | None = None) -> None:
        self._store, self.session, self._fence, self._notices = store, session, held.fence, notices
        self._row = held.opened.row
        self._version: int | None = None

    @property
    def opened(self) -> Opened:
        """The loop after all that was recorded."""
        session = self.session
        return Opened(
            row=self._row,
            loop=session.loop,
            now=session.now,
            snapshot_seq=session.snapshot_at,
            snapshot_size=session.snapshot_size,
        )

    @property
    def stand(self) -> str:
        """How far the log has come: its length, and the beginning of its last hash."""
        return f"{self._row.seq} {self._row.hash[:_WITNESS]}" if self._row.hash else ""

    async def is_current(self) -> bool:
        """Whether nothing was written since the inbox was looked into."""
        return await self._store.version() == self._version

    async def inbox(self) -> tuple[Posted, ...]:
        """What was posted and not yet taken; nothing, and cheaply, where nobody has written since."""
        version = await self._store.version()
        if version == self._version:
            return ()
        self._version = version
        return tuple(Posted(item.id, read_item(item)) for item in await self._store.inbox(self.session.id))

    async def record(self, *lines: Recording, taken: tuple[int, ...] = ()) -> tuple[Seen, ...]:
        """Make the events durable, all or none. Raises `OverBudget` where a reservation does not fit."""
        session = self.session
        draft = session.draft(*lines, taken=taken)
        batch = replace(draft.append, notices=self._called_for(draft)) if self._notices else draft.append
        written = await self._store.append(session.id, fence=self._fence, expected=session.length, batch=batch)
        if self._notices and batch.notices:
            self._notices.made()
        self._row = written.row
        self.session = self.session.written(draft)  # what is under way may have changed meanwhile
        return tuple(
            Seen(
                loop=session.id,
                kind=session.loop.name,
                state=stage.state,
                event=stage.event,
                seq=record.seq,
                status=stage.status,
                at=record.at,
                spend=record.spend,
                spent=written.row.spent,
                estimated=written.row.estimated,
                budget=written.row.budget,
            )
            for stage, record in zip(draft.stages, written.records, strict=True)
        )

    def _called_for(self, draft: Draft) -> tuple[NewNotice, ...]:
        """What people are sent because of a draft; what nobody can put into words keeps no event out of the log."""
        session, found = self.session, []
        for number, stage in enumerate(draft.stages, start=1):
            news = News(
                id=f"{session.id}/{session.length + number}",
                path=session.errand.path,
                row=self._row,
                state=stage.state,
                event=stage.event,
                asks=self._asked(stage.event, draft),
            )
            with suppress(*FROM_DATA):
                found.append(self._notices.notice(news) if self._notices else None)
        return tuple(filter(None, found))

    def _asked(self, event: Logged, draft: Draft) -> Waiting | None:
        errand = self.session.errand
        key = event.key if isinstance(event, Started) else None
        own = (each for each in draft.wanted if isinstance(each, ForPeople) and each.key == key)
        return next((Waiting(path=errand.path, what=each) for each in own if sort_of(each) not in errand.takes), None)
