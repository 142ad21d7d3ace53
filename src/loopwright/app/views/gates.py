"""Every gate of a loop, by what it was opened for: pending, approved, rejected or withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from loopwright.app.kinds import known_kind
from loopwright.app.loops import OVER, View, view
from loopwright.app.project import Project
from loopwright.kernel.events import GateDecided
from loopwright.kernel.model import Change, Commit, LoopId, Tree
from loopwright.kernel.risks import Risk
from loopwright.loops.course import Course, GateRecord, Ruling
from loopwright.loops.engine_steps import split_gate


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReason:
    file: str
    rule: str = ""
    line: int = 0
    how: str = ""  # it was changed
    moved: str = ""  # the other path, where it is one half of a move
    text: str = ""  # of the line


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
    ids_dropped: tuple[str, ...] = ()  # tests of the base that an approval lets go, and no others
    failing: tuple[str, ...] = ()  # tests that fail without it
    why: str = ""  # it is asked for
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesDocument:
    gates: tuple[ShownGate, ...]


def gates(seen: View, path: tuple[LoopId, ...] = (), *, ended_above: bool = False) -> tuple[ShownGate, ...]:
    """What the loop has asked a person to open, in the order of the decisions, then of the asking."""
    course: Course | None = getattr(seen.now.state, "course", None)
    held = course.gates if course is not None else ()
    over = ended_above or seen.is_over
    return tuple(_shown(gate, seen, path or (seen.row.id,), over=over) for gate in held)


async def gates_below(project: Project, root: View) -> tuple[ShownGate, ...]:
    """Those of a loop and of everything below it. Below one that has ended, nobody acts on a decision any more."""
    found = [*gates(root)]
    paths: dict[LoopId, tuple[LoopId, ...]] = {root.row.id: (root.row.id,)}
    over = {root.row.id: root.is_over}
    for row in reversed(await project.store.rows()):  # parents before their children
        if row.parent in paths:
            paths[row.id] = (*paths[row.parent], row.id)
            over[row.id] = over[row.parent] or row.status in OVER
            if known_kind(project.kinds, row.kind).needs.gates:
                found += gates(await view(project, row.id), paths[row.id], ended_above=over[row.parent])
    return tuple(found)


def split_by_file(seen: View, gate: ShownGate, said: GateDecided) -> tuple[ShownGate, str]:
    """Return the gate with what the decision covers, and the id under which the rest stays open, if any does.

    Raises `InvalidTransition` where the gate is not about the paths that it names.
    """
    course: Course = seen.now.state.course
    found = (each for each in course.gates if (each.gate, each.evidence) == (gate.name, gate.id))
    parts = [
        _shown(part, seen, gate.path, over=False) for each in found for part in split_gate(seen.now.state, said, each)
    ]
    return (parts[0], parts[1].id) if parts[1:] else (gate, "")


def _shown(gate: GateRecord, seen: View, path: tuple[LoopId, ...], *, over: bool) -> ShownGate:
    status = _status(gate, over=over)
    return ShownGate(
        name=gate.gate,
        id=gate.evidence,
        loop=seen.row.id,
        path=path,
        status=status,
        evidence=gate.evidence,
        tree=gate.tree,
        commit=gate.commit,
        base=seen.compared_with if status == "pending" else seen.now.state.plan.base,
        because=(*(_changed(gate.gate, change) for change in gate.because), *map(_found, gate.reasons)),
        ids_dropped=gate.dropped,
        failing=gate.failing,
        why=gate.explanation,
        by=gate.by,
        reason=gate.reason,
    )


def _changed(gate: str, change: Change) -> GateReason:
    return GateReason(file=change.path, rule=f"{gate} file {change.words}", how=change.how, moved=change.moved)


def _found(risk: Risk) -> GateReason:
    return GateReason(file=risk.file, rule=risk.rule, line=risk.line, text=risk.text)


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
