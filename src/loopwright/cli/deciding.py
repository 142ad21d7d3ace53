"""A person's decision on a gate, for `loop approve` and `loop reject`: bound to exactly the changes it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.app.project import LOOPS, Project, View
from loopwright.app.publication import publisher_of
from loopwright.cli.guarding import only_for_people
from loopwright.cli.here import Here
from loopwright.cli.output import note, put, put_json
from loopwright.cli.picking import gates_of, opened, pick, roots
from loopwright.cli.showing import Data, gates
from loopwright.engine.hearing import hear
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import GateDecided


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    gate: str
    approved: bool
    reason: str = ""
    loop_id: str = ""

    @property
    def word(self) -> str:
        return "approved" if self.approved else "rejected"


def decide(here: Here, decision: Decision, *, as_json: bool) -> int:
    with opened(here) as project:
        data = asyncio.run(_decide(project, here, decision))
        put_json(data) if as_json else put(_sentence(data))
    return 0


async def _decide(project: Project, here: Here, decision: Decision) -> Data:
    await only_for_people(project, here, "approve" if decision.approved else "reject")
    view = await pick(project, decision.loop_id, lambda each: _open(each, decision.gate) is not None)
    gate = _open(view, decision.gate) if view else None
    if view is None or gate is None:
        return await _already(project, await roots(project) if view is None else (view,), decision)
    said = GateDecided(
        key=gate.key,
        gate=gate.gate,
        approved=decision.approved,
        evidence=gate.evidence,
        reason=decision.reason,
        by=here.who,
    )
    publisher = await publisher_of(project, note, view.row.id)
    recorded = await hear(project.store, LOOPS, view.row.id, said, publisher)
    command = f"loop resume --loop {view.row.id}" if recorded else ""
    return {**_data(view, gate), "status": decision.word, "by": here.who, "command": command}


def _open(view: View, name: str) -> AwaitGate | None:
    return next((gate for gate in gates_of(view) if gate.gate == name), None)


async def _already(project: Project, among: Sequence[View], decision: Decision) -> Data:
    """No such gate is open: it was decided, it was withdrawn, or there never was one."""
    known = [gate for view in among for gate in await gates(project, view) if gate["name"] == decision.gate]
    decided = next((gate for gate in reversed(known) if gate["status"] in ("approved", "rejected")), None)
    if decided is None:
        names = sorted({gate.gate for view in among for gate in gates_of(view)})
        raise UsageError(f"no gate {decision.gate!r} is open; open are: {', '.join(names) or 'none'}")
    if decided["status"] != decision.word:
        raise Forbidden(f"gate {decision.gate} was already {decided['status']} by {decided['by'] or 'somebody'}")
    return {**decided, "gate": decision.gate, "already": True, "command": ""}


def _data(view: View, gate: AwaitGate) -> Data:
    files = [{"file": change.path, "how": change.how} for change in gate.because]
    return {"loop": view.row.id, "gate": gate.gate, "evidence": gate.evidence, "because": files}


def _sentence(data: Data) -> str:
    if data.get("already"):
        return f"Gate {data['gate']} was already {data['status']} by {data['by'] or 'somebody'}."
    files = ", ".join(each["file"] for each in data["because"])
    tail = f" Go on with: {data['command']}" if data["command"] else ""
    return f"Gate {data['gate']} of loop {data['loop']} is {data['status']} for exactly these changes: {files}.{tail}"
