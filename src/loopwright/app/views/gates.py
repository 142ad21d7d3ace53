"""Every gate of a loop, by what it was opened for: pending, approved, rejected or withdrawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from loopwright.app.kinds import known_kind
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.views.needs import gate_id
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import Checkpointed, GateDecided
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.kernel.record import Record, read_event


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


async def gates(project: Project, seen: View, path: tuple[LoopId, ...] = ()) -> tuple[ShownGate, ...]:
    if not seen.kind.needs.gates:
        return ()
    found: dict[str, ShownGate] = {}
    for record in await project.store.read(seen.row.id):
        _take_in(found, record, seen, path or (seen.row.id,))
    pending = {gate.evidence for gate in open_gates(seen)}
    return tuple(
        replace(gate, status="withdrawn") if gate.status == "pending" and gate.evidence not in pending else gate
        for gate in found.values()
    )


async def gates_below(project: Project, root: View) -> tuple[ShownGate, ...]:
    """Those of a loop and of everything below it."""
    found = list(await gates(project, root))
    for each, path in await below(project, root):
        found += await gates(project, each, path)
    return tuple(found)


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


def open_gates(seen: View) -> tuple[AwaitGate, ...]:
    """Those that wait for a decision now."""
    return () if seen.is_over else tuple(action for action in seen.wanted if isinstance(action, AwaitGate))


def _take_in(found: dict[str, ShownGate], record: Record, seen: View, path: tuple[LoopId, ...]) -> None:
    if record.kind not in ("Checkpointed", "GateDecided"):
        return
    event = read_event(record)
    if isinstance(event, Checkpointed) and event.evidence:
        old = found.get(event.evidence)
        new = _gate(event, seen, path)
        found[event.evidence] = replace(new, status=old.status, by=old.by, reason=old.reason) if old else new
    elif isinstance(event, GateDecided) and event.evidence in found:
        status: Literal["approved", "rejected"] = "approved" if event.approved else "rejected"
        found[event.evidence] = replace(found[event.evidence], status=status, by=event.by, reason=event.reason)


def _gate(event: Checkpointed, seen: View, path: tuple[LoopId, ...]) -> ShownGate:
    return ShownGate(
        name=PROTECTED,
        id=gate_id(event.evidence),
        loop=seen.row.id,
        path=path,
        status="pending",
        evidence=event.evidence,
        tree=event.tree,
        commit=event.commit,
        base=seen.now.state.plan.base,
        because=tuple(
            GateReason(file=change.path, rule=f"protected file {change.how}", how=change.how)
            for change in event.protected
        ),
    )
