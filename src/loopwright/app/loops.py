"""Looking at the loops of a project: the list of them, and one as it stands."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.app.kinds import known_kind
from loopwright.app.project import Project
from loopwright.engine.fold import Fold, Opened
from loopwright.engine.journal import open_loop
from loopwright.kernel.actions import Action
from loopwright.kernel.codec import decode
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import LoopId, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.loops.kind import AnyKind
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
        return one_line(self.kind.title(decode(self.kind.loop.params, self.row.params)), 120)

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
    return View(opened=opened, listed=await _listed(project, opened.row))


async def listing(project: Project) -> tuple[Listed, ...]:
    """The loops that people start and answer, newest first; their parts and their logs are not read."""
    rows = await project.store.rows()
    return tuple([await _listed(project, row, rows) for row in rows if row.parent is None])


async def _listed(project: Project, row: LoopRow, among: tuple[LoopRow, ...] = ()) -> Listed:
    alive = await project.store.holder(row.id)
    return Listed(row=row, kind=known_kind(project.kinds, row.kind), alive=alive, among=among)


async def views(project: Project) -> tuple[View, ...]:
    """All loops, newest first."""
    return tuple([await view(project, row.id) for row in await project.store.rows()])
