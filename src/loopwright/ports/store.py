"""Where the log lives. The only truth; everything else can be made anew from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from loopwright.kernel.model import Blob, LoopId, Topic
from loopwright.kernel.record import Record

Status = Literal["running", "waiting", "paused", "blocked", "complete", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """One event to be appended. Money moves with the event that moves it."""

    kind: str
    data: str  # canonical JSON
    reserve: float = 0.0  # added to what is reserved
    release: float = 0.0  # taken from what is reserved
    spend: float = 0.0  # added to what is spent
    estimated: bool = False  # whether that is a guess; it stands in the row, and the event itself says why
    paid: bool = False  # it begins what may cost: something of the budget has to be left, whatever is reserved


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoop:
    id: LoopId
    kind: str
    params: str
    parent: LoopId | None = None
    budget: float | None = None  # USD; a child has none of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRow:
    """`spent`, `reserved` and `estimated` cover the loop and everything below it."""

    id: LoopId
    kind: str
    params: str
    parent: LoopId | None
    status: Status
    seq: int
    fence: int
    created: float
    updated: float
    budget: float | None
    spent: float
    reserved: float
    estimated: bool = False  # whether some of what was spent is a guess
    outcome: str = ""  # JSON of the `Outcome`, once ended
    hash: str = ""  # of the last event


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    row: LoopRow
    snapshot: str | None
    snapshot_seq: int
    tail: tuple[Record, ...]  # what came after the snapshot, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    id: int
    kind: str
    data: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotice:
    """What people are told away from the screen. Its id names the event it comes from: a repeat is the same notice."""

    id: str
    loop: LoopId  # the root it is about
    topic: Topic
    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingNotice:
    """One that was not delivered so far."""

    notice: NewNotice
    at: float
    attempts: int = 0
    tried: float = 0.0  # when, the last time
    why: str = ""  # that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """What one append makes durable, all or nothing."""

    entries: tuple[NewEvent, ...]
    status: Status | None = None
    outcome: str | None = None
    snapshot: str | None = None  # the folded state after the last entry
    taken: tuple[int, ...] = ()  # inbox items these entries came from
    budget: float | None = None  # a new limit, with the event that says so
    unlimited: bool = False  # there is none from here on, with the event that says so
    notices: tuple[NewNotice, ...] = ()  # that people are to be sent because of these entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was made durable, so that nobody has to read it back."""

    row: LoopRow  # as it is now
    records: tuple[Record, ...]


class Store(Protocol):
    """One writer per loop, by fence. Readers never block.

    Any method may raise `StoreCorrupt`, `StoreTooNew` or `StoreFailed`; after `StoreFailed` from a
    write nothing may be taken as durable and the caller stops.
    """

    async def create(self, new: NewLoop, first: NewEvent) -> Written | None:
        """Make the loop with its first event, durable on return. None: it exists already, nothing changed."""

    async def claim(self, loop: LoopId, who: str) -> int:
        """Become the loop's one writer and get its new fence. Raises `AlreadyRunning` naming the live holder."""

    async def release(self, loop: LoopId, fence: int) -> None:
        """Let go. Harmless when the fence is no longer ours."""

    async def holder(self, loop: LoopId) -> str | None:
        """Who holds the loop now (and is alive), or None. Takes no lock."""

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        """Append after `expected` events and return what was written, durable on return.

        Raises `StoreConflict` if the fence is old or the length is another, `OverBudget` if a
        reservation does not fit this loop or any of its ancestors: then nothing was written.
        """

    async def load(self, loop: LoopId, *, snapshot: bool = True) -> Loaded:
        """Row, latest snapshot and what came after it; without `snapshot` every event from the first.

        Verifies the hashes it reads. Raises `UsageError` if the loop is unknown.
        """

    async def read(self, loop: LoopId, *, after: int = 0, limit: int | None = None) -> tuple[Record, ...]:
        """Records with `seq > after`, oldest first."""

    async def verify(self, loop: LoopId) -> None:
        """Walk the whole chain. Raises `StoreCorrupt` naming the first event that does not fit."""

    async def rows(self) -> tuple[LoopRow, ...]:
        """All loops, newest first."""

    async def post(self, loop: LoopId, kind: str, data: str) -> int:
        """Put what somebody said into the loop's inbox. Anyone may; no fence needed."""

    async def inbox(self, loop: LoopId) -> tuple[InboxItem, ...]:
        """What was posted and not yet taken, oldest first."""

    async def notices(self) -> tuple[PendingNotice, ...]:
        """What nobody was able to deliver so far, of all loops, oldest first."""

    async def notice_delivered(self, notice: str) -> None:
        """It is pending no longer. Harmless when it was not."""

    async def notice_failed(self, notice: str, why: str) -> None:
        """One more attempt came to nothing; it stays pending. Harmless when it is not."""

    async def version(self) -> int:
        """A number that changes when another process has written. Cheap enough to poll."""

    async def receipt(self, key: str) -> str | None:
        """The stored receipt with this key."""

    async def keep_receipt(self, key: str, loop: LoopId, data: str) -> None:
        """Store a receipt; the same key again replaces it."""

    async def receipts(self, loop: LoopId) -> tuple[str, ...]:
        """The loop's receipts, oldest first."""

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:
        """Whether an event of the loop's chain, or of any loop's, rests on what has this name.

        Verifies the hashes it reads: a row that somebody wrote beside the log is named by nothing.
        """

    async def keep(self, content: bytes) -> Blob:
        """Store bytes by their content."""

    async def keep_file(self, path: Path) -> Blob:
        """Move a file in by its content; the file is gone from `path` afterwards. Memory use is flat."""

    async def fetch(self, blob: Blob, *, limit: int | None = None) -> bytes:
        """The bytes, or the first `limit` of them."""

    async def close(self) -> None: ...
