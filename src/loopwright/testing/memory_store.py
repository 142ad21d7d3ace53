"""A store that keeps everything in memory: for tests, and to say in plain Python what a store does.

`Memory` is the data; every `MemoryStore` on it is a handle, as every process has its own on a file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.errors import AlreadyRunning, StoreConflict, StoreCorrupt, StoreFailed, UsageError
from loopwright.kernel.model import Blob, LoopId
from loopwright.kernel.money import Purse, bounded, micros, moved, summed, usd
from loopwright.kernel.record import Record
from loopwright.ports import hashes
from loopwright.ports.clock import Clock
from loopwright.ports.store import Append, InboxItem, Loaded, LoopRow, NewEvent, NewLoop, PendingNotice, Written

_PLACE = "memory"


@dataclass(slots=True, kw_only=True)
class MemoryLoop:
    row: LoopRow
    purse: Purse
    records: list[Record] = field(default_factory=list)
    snapshot: str | None = None
    snapshot_seq: int = 0
    inbox: dict[int, InboxItem] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        return hashes.anchor(self.row.id, self.row.kind, self.row.params)

    def hash_at(self, seq: int) -> str:
        return self.records[seq - 1].hash if seq else self.anchor

    def counted(self) -> LoopRow:
        last = self.hash_at(len(self.records))
        spent, reserved = usd(self.purse.spent), usd(self.purse.reserved)
        return replace(self.row, spent=spent, reserved=reserved, estimated=self.purse.estimated, hash=last)


@dataclass(slots=True)
class _Holder:
    handle: MemoryStore
    who: str
    fence: int


class Memory:
    """What outlives a handle. A test may damage it."""

    def __init__(self) -> None:
        self.loops: dict[LoopId, MemoryLoop] = {}
        self.receipts: dict[str, tuple[LoopId, str]] = {}
        self.outbox: dict[str, PendingNotice | None] = {}  # None: delivered
        self.blobs: dict[Blob, bytes] = {}
        self.holders: dict[LoopId, _Holder] = {}
        self.posted = 0
        self.version = 0


class MemoryStore:
    def __init__(self, memory: Memory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._closed = False

    async def create(self, new: NewLoop, first: NewEvent) -> Written | None:
        self._refuse_if_closed()
        if new.id in self._memory.loops:
            return None
        if not new.id:
            raise UsageError("a loop needs an id")
        if new.parent is not None:
            self._loop(new.parent)
        loop = _new(new, self._clock.now())
        written = self._extend(loop, Append(entries=(first,)))
        self._memory.loops[new.id] = loop
        return written

    async def claim(self, loop: LoopId, who: str) -> int:
        held = self._loop(loop)
        if loop in self._memory.holders:
            raise AlreadyRunning(loop, self._memory.holders[loop].who or "holder unknown")
        held.row = replace(held.row, fence=held.row.fence + 1)
        self._memory.holders[loop] = _Holder(self, who, held.row.fence)
        self._memory.version += 1
        return held.row.fence

    async def release(self, loop: LoopId, fence: int) -> None:
        if self._holds(loop, fence):
            del self._memory.holders[loop]

    async def holder(self, loop: LoopId) -> str | None:
        self._refuse_if_closed()
        holder = self._memory.holders.get(loop)
        return holder.who if holder else None

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        held = self._loop(loop)
        if held.row.fence != fence or not self._holds(loop, fence):
            raise StoreConflict(f"loop {loop}: fence {fence} does not hold it; claim it again")
        if held.row.seq != expected:
            raise StoreConflict(f"loop {loop}: it has {held.row.seq} events, not {expected}; load it again")
        if len(held.inbox.keys() & set(batch.taken)) != len(batch.taken):
            raise StoreConflict(f"loop {loop}: an inbox item was taken before; load the loop again")
        written = self._extend(held, batch)
        for item in batch.taken:
            del held.inbox[item]
        for notice in batch.notices:
            self._memory.outbox.setdefault(notice.id, PendingNotice(notice=notice, at=held.row.updated))
        return written

    async def load(self, loop: LoopId, *, snapshot: bool = True) -> Loaded:
        held = self._loop(loop)
        state, seq = (held.snapshot, held.snapshot_seq) if snapshot else (None, 0)
        return Loaded(row=held.counted(), snapshot=state, snapshot_seq=seq, tail=tuple(self._checked(held, seq)))

    async def read(self, loop: LoopId, *, after: int = 0, limit: int | None = None) -> tuple[Record, ...]:
        held = self._loop(loop)
        after = max(after, 0)
        return tuple(self._checked(held, after))[:limit] if after < held.row.seq else ()

    async def verify(self, loop: LoopId) -> None:
        held = self._loop(loop)
        self._checked(held, 0)

    async def rows(self) -> tuple[LoopRow, ...]:
        self._refuse_if_closed()
        return tuple(loop.counted() for loop in reversed(self._memory.loops.values()))

    async def post(self, loop: LoopId, kind: str, data: str) -> int:
        held = self._loop(loop)
        hashes.digest(kind, data)
        self._memory.posted += 1
        item = InboxItem(id=self._memory.posted, kind=kind, data=data, at=self._clock.now())
        held.inbox[item.id] = item
        self._memory.version += 1
        return item.id

    async def inbox(self, loop: LoopId) -> tuple[InboxItem, ...]:
        return tuple(self._loop(loop).inbox.values())

    async def notices(self) -> tuple[PendingNotice, ...]:
        self._refuse_if_closed()
        return tuple(each for each in self._memory.outbox.values() if each)

    async def notice_delivered(self, notice: str) -> None:
        self._refuse_if_closed()
        if notice in self._memory.outbox:
            self._memory.outbox[notice] = None
            self._memory.version += 1

    async def notice_failed(self, notice: str, why: str) -> None:
        self._refuse_if_closed()
        if known := self._memory.outbox.get(notice):
            tried = self._clock.now() + 0.0
            self._memory.outbox[notice] = replace(known, attempts=known.attempts + 1, tried=tried, why=why)
            self._memory.version += 1

    async def version(self) -> int:
        self._refuse_if_closed()
        return self._memory.version

    async def receipt(self, key: str) -> str | None:
        self._refuse_if_closed()
        found = self._memory.receipts.get(key)
        return found[1] if found else None

    async def keep_receipt(self, key: str, loop: LoopId, data: str) -> None:
        self._refuse_if_closed()
        self._memory.receipts.pop(key, None)
        self._memory.receipts[key] = (loop, data)
        self._memory.version += 1

    async def receipts(self, loop: LoopId) -> tuple[str, ...]:
        self._refuse_if_closed()
        return tuple(data for owner, data in self._memory.receipts.values() if owner == loop)

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:
        self._refuse_if_closed()
        loops = self._memory.loops
        asked = loops.values() if loop is None else filter(None, [loops.get(loop)])
        return any(name in hashes.named_in(record) for each in asked for record in self._checked(each, 0))

    async def keep(self, content: bytes) -> Blob:
        self._refuse_if_closed()
        blob = Blob(hashlib.sha256(content).hexdigest())
        self._memory.blobs[blob] = content
        return blob

    async def keep_file(self, path: Path) -> Blob:
        blob = await self.keep(path.read_bytes())
        path.unlink()
        return blob

    async def fetch(self, blob: Blob, *, limit: int | None = None) -> bytes:
        self._refuse_if_closed()
        if blob not in self._memory.blobs:
            raise StoreCorrupt(_PLACE, f"blob {blob}", "it is missing")
        return self._memory.blobs[blob][:limit]

    async def close(self) -> None:
        """What this handle holds is let go, as a process's locks are when it ends."""
        self._closed = True
        mine = [loop for loop, holder in self._memory.holders.items() if holder.handle is self]
        for loop in mine:
            del self._memory.holders[loop]

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreFailed(f"{_PLACE}: the store is closed; open it again")

    def _loop(self, loop: LoopId) -> MemoryLoop:
        self._refuse_if_closed()
        if loop not in self._memory.loops:
            raise UsageError(f"there is no loop {loop!r}; `loop status` lists them")
        return self._memory.loops[loop]

    def _holds(self, loop: LoopId, fence: int) -> bool:
        holder = self._memory.holders.get(loop)
        return holder is not None and holder.handle is self and holder.fence == fence

    def _extend(self, loop: MemoryLoop, batch: Append) -> Written:
        """Everything that can be refused comes before the first change."""
        length, now = len(loop.records), self._clock.now() + 0.0
        records = hashes.linked(loop.row.id, batch.entries, previous=loop.hash_at(length), after=length, at=now)
        limit = loop.purse.budget if batch.budget is None else micros(batch.budget)
        budget = None if batch.unlimited else limit
        purses = self._after_paying(loop, replace(loop.purse, budget=budget), batch.entries)
        loop.records.extend(records)
        loop.purse = purses.pop(loop.row.id)
        for ancestor, purse in purses.items():
            self._memory.loops[ancestor].purse = purse
        loop.row = replace(
            loop.row,
            seq=len(loop.records),
            updated=now,
            status=loop.row.status if batch.status is None else batch.status,
            outcome=loop.row.outcome if batch.outcome is None else batch.outcome,
            budget=None if budget is None else usd(budget),
        )
        if batch.snapshot is not None:
            loop.snapshot, loop.snapshot_seq = batch.snapshot, loop.row.seq
        self._memory.version += 1
        return Written(row=loop.counted(), records=records)

    def _after_paying(self, loop: MemoryLoop, purse: Purse, entries: tuple[NewEvent, ...]) -> dict[LoopId, Purse]:
        amounts = ((entry.reserve, entry.release, entry.spend, entry.estimated) for entry in entries)
        move = bounded(purse, summed(amounts, paid=any(entry.paid for entry in entries)))
        paid = {loop.row.id: moved(purse, move)}
        parent = loop.row.parent
        while parent is not None:
            paid[parent] = moved(self._memory.loops[parent].purse, move)
            parent = self._memory.loops[parent].row.parent
        return paid

    def _checked(self, loop: MemoryLoop, after: int) -> list[Record]:
        found = loop.records[after:]
        checked = list(hashes.checked(_PLACE, loop.row.id, found, previous=loop.hash_at(after), after=after))
        if after + len(checked) < loop.row.seq:
            missing = f"loop {loop.row.id}, event {after + len(checked) + 1}"
            raise StoreCorrupt(_PLACE, missing, "it is missing")
        return checked


def _new(new: NewLoop, now: float) -> MemoryLoop:
    budget = None if new.budget is None else micros(new.budget)
    row = LoopRow(
        id=new.id,
        kind=new.kind,
        params=new.params,
        parent=new.parent,
        status="running",
        seq=0,
        fence=0,
        created=now,
        updated=now,
        budget=None if budget is None else usd(budget),
        spent=0.0,
        reserved=0.0,
    )
    return MemoryLoop(row=row, purse=Purse(loop=new.id, budget=budget, spent=0, reserved=0))
