"""Every gate of a loop, by what it was opened for: pending, approved, rejected or withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from loopwright.app.kinds import known_kind
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.views.needs import gate_id
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.loops.course import Course, GateRecord, Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReason:
    file: str
    rule: str = ""
    line: int = 0
    how: str = ""  # it was changed


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGate:
    name: str
    id: str  # what `loop approve NAME@ID` names
    loop: LoopId
    path: tuple[LoopId, ...]  # from the root to the loop
    status: Literal["pending", "approved", "rejected", "withdrawn"]
    evidence: str
    tree: Tree
    commit: Commit
    base: Commit
    because: tuple[GateReason, ...]
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesDocument:
    gates: tuple[ShownGate, ...]


def gates(seen: View, path: tuple[LoopId, ...] = ()) -> tuple[ShownGate, ...]:
    """What the loop has asked a person to open, in the order of the decisions, then of the asking."""
    course: Course | None = getattr(seen.now.state, "course", None)
    held = course.gates if course is not None else ()
    return tuple(_shown(gate, seen, path or (seen.row.id,)) for gate in held)


async def gates_below(project: Project, root: View) -> tuple[ShownGate, ...]:
    """Those of a loop and of everything below it."""
    parts = await below(project, root)
    return (*gates(root), *(gate for each, path in parts for gate in gates(each, path)))


async def below(project: Project, root: View) -> list[tuple[View, tuple[LoopId, ...]]]:
    """Every loop below this one that may have gates, with the way to it."""
    paths: dict[LoopId, tuple[LoopId, ...]] = {root.row.id: (root.row.id,)}
    found = []
    for row in reversed(await project.store.rows()):  # parents before their children
        if row.parent in paths:
            paths[row.id] = (*paths[row.parent], row.id)
            if known_kind(project.kinds, row.kind).needs.gates:
                found.append((await view(project, row.id), paths[row.id]))
    return found


def _shown(gate: GateRecord, seen: View, path: tuple[LoopId, ...]) -> ShownGate:
    return ShownGate(
        name=gate.gate,
        id=gate_id(gate.evidence),
        loop=seen.row.id,
        path=path,
        status=_status(gate, over=seen.is_over),
        evidence=gate.evidence,
        tree=gate.tree,
        commit=gate.commit,
        base=seen.now.state.plan.base,
        because=tuple(
            GateReason(file=change.path, rule=f"{gate.gate} file {change.how}", how=change.how)
            for change in gate.because
        ),
        by=gate.by,
        reason=gate.reason,
    )


def _status(gate: GateRecord, *, over: bool) -> Literal["pending", "approved", "rejected", "withdrawn"]:
    match gate.ruling:
        case Ruling.APPROVED:
            return "approved"
        case Ruling.REJECTED:
            return "rejected"
        case Ruling.OPEN:
            return "pending" if gate.due and (gate.lasting or not over) else "withdrawn"
        case _:
            assert_never(gate.ruling)
