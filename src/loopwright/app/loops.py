"""Looking at the loops of a project: the list of them, and one as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopwright.app.kinds import known_kind
from loopwright.app.project import Project
from loopwright.engine.fold import Fold, Opened
from loopwright.engine.journal import open_loop, open_whole
from loopwright.engine.world import Seen
from loopwright.errors import LoopUnreadable
from loopwright.kernel.actions import Action
from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import NO_COMMIT, Commit, LoopId, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import Record
from loopwright.loops.kind import AnyKind
from loopwright.ports.agent import Update
from loopwright.ports.store import LoopRow

OVER = ("complete", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A loop as the list of loops has it: nothing of its log is read."""

    row: LoopRow
    kind: AnyKind
    alive: str | None  # who drives it now
    among: tuple[LoopRow, ...] = ()  # the list it was read with, so that nobody reads it twice

    @property
    def title(self) -> str:
        """What the loop is about, from what it was started with."""
        try:
            return one_line(self.kind.title(decode(self.kind.loop.params, self.row.params)), 120)
        except DecodeError:
            return "(cannot be read)"

    @property
    def is_over(self) -> bool:
        return self.row.status in OVER

    @property
    def status(self) -> str:
        """The store's word for it, unless its controller died."""
        return "interrupted" if self.row.status == "running" and self.alive is None else self.row.status


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A loop as it stands, for those who look and for whoever drives it: its log was read once."""

    opened: Opened
    listed: Listed
    past: Any = None  # what its kind has made of the whole log, where that was read
    parts: Mapping[LoopId, View] = field(default_factory=dict)  # below it, where they were driven just now

    @property
    def row(self) -> LoopRow:
        return self.opened.row

    @property
    def now(self) -> Fold:
        return self.opened.now

    @property
    def kind(self) -> AnyKind:
        return self.listed.kind

    @property
    def alive(self) -> str | None:
        return self.listed.alive

    @property
    def is_over(self) -> bool:
        return self.listed.is_over

    @property
    def title(self) -> str:
        return self.listed.title

    @property
    def base(self) -> Commit:
        """The commit it began at; of a kind that began at none, nothing."""
        params = decode(self.kind.loop.params, self.row.params)
        return getattr(params, "base", NO_COMMIT)

    @property
    def compared_with(self) -> Commit:
        """What a person who decides looks at its work against: what it changes of this is what its merge does."""
        state = self.now.state
        base: Commit = self.kind.brought_onto(state) or state.plan.base
        return base

    @property
    def outcome(self) -> Outcome | None:
        return self.opened.outcome

    @property
    def wanted(self) -> tuple[Action, ...]:
        return self.opened.wanted

    @property
    def standpoint(self) -> Standpoint:
        return self.opened.standpoint


async def view(project: Project, loop: LoopId | Listed) -> View:
    if isinstance(loop, Listed):
        return View(opened=await open_loop(project.store, project.loops, loop.row.id), listed=loop)
    opened = await open_loop(project.store, project.loops, loop)
    return View(opened=opened, listed=await listed(project, opened.row))


async def whole_view(project: Project, loop: Listed) -> View:
    """For whoever goes on with the loop: with its past, where its kind has one, from the same reading of the log."""
    if loop.kind.past is None:
        return await view(project, loop)
    past = Past(loop.kind)
    opened = await open_whole(project.store, project.loops, loop.row.id, past.hear)
    return View(opened=opened, listed=loop, past=past.known)


class Past:
    """What a kind makes of a log that is told to it event by event."""

    def __init__(self, kind: AnyKind) -> None:
        self._fold, self.known = kind.past, None

    def hear(self, record: Record, state: object) -> None:
        self.known = self._fold(self.known, record, state) if self._fold else None


async def listing(project: Project) -> tuple[Listed, ...]:
    """The loops that people start and answer, newest first; their parts and their logs are not read."""
    rows = await project.store.rows()
    found = [await listed(project, row, rows) for row in rows if row.parent is None]
    return tuple(each for each in found if each.kind.driven)


async def listed(project: Project, row: LoopRow, among: tuple[LoopRow, ...] = ()) -> Listed:
    alive = await project.store.holder(row.id)
    return Listed(row=row, kind=known_kind(project.kinds, row.kind), alive=alive, among=among)


class Newest:
    """An observer that remembers how each loop stands, so that nobody reads back what was just written."""

    def __init__(self) -> None:
        self.states: dict[LoopId, Any] = {}

    def recorded(self, seen: Seen) -> None:
        self.states[seen.loop] = seen.state

    def progressed(self, update: Update) -> None:
        """Only what is on record stands."""


async def left(project: Project, start: View, now: Fold, newest: Newest) -> View:
    """The loop after a drive. Its log is known; the list tells what all of it has cost and who else is there."""
    rows = await project.store.rows()
    parts: dict[LoopId, View] = {}
    for row in rows:
        if row.parent is not None and row.id in newest.states:
            parts[row.id] = _after(project, row, Fold(state=newest.states[row.id]), rows, parts)
    own = next(row for row in rows if row.id == start.row.id)
    return _after(project, own, now, rows, parts)


def _after(project: Project, row: LoopRow, now: Fold, rows: tuple[LoopRow, ...], parts: Mapping[LoopId, View]) -> View:
    kind = known_kind(project.kinds, row.kind)
    opened = Opened(row=row, loop=kind.loop, now=now)
    return View(opened=opened, listed=Listed(row=row, kind=kind, alive=None, among=rows), parts=parts)


async def views(project: Project) -> tuple[View, ...]:
    """All loops that can be read, newest first."""
    return tuple([each for each in await seen(project) if isinstance(each, View)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A loop as the list has it, of whose log nobody can make anything, and why."""

    listed: Listed
    why: str

    @property
    def kind(self) -> AnyKind:
        return self.listed.kind


async def seen(project: Project) -> tuple[View | Unread, ...]:
    """All loops, newest first."""
    found: list[View | Unread] = []
    for row in await project.store.rows():
        try:
            found.append(await view(project, row.id))
        except LoopUnreadable as error:
            found.append(Unread(listed=await listed(project, row), why=str(error)))
    return tuple(found)
