"""`loop status`: one object per loop as other programs read it, and the five lines people read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from loopwright.kernel.actions import Action, AwaitGate, RunAgent
from loopwright.kernel.machine import Standpoint
from loopwright.ports.store import LoopRow
from loopwright.projections.needs import Need, needs
from loopwright.projections.quoting import one_line
from loopwright.projections.wording import counted, counter, moment

Shown = dict[str, Any]  # one element of `loops`, as the schema of the format has it
_NO_GATES: Mapping[str, str] = {}


def build(
    row: LoopRow,
    standpoint: Standpoint,
    actions: tuple[Action, ...],
    *,
    alive: bool,
    gates: Mapping[str, str] = _NO_GATES,
) -> Shown:
    """`gates` are those decided; the ones `actions` wait for are pending."""
    status = shown_status(row, alive=alive)
    outcome = json.loads(row.outcome) if row.outcome else None
    return {
        "id": row.id,
        "kind": row.kind,
        "parent": row.parent,
        "status": status,
        "outcome": outcome["ending"] if outcome else None,
        "task": title(row),
        "system": None,
        "state": standpoint.state,
        "capability": None,
        "attempt": standpoint.attempt,
        "limit": standpoint.limit,
        "failures": _failures(standpoint, outcome),
        "gates": {**gates, **{action.gate: "pending" for action in actions if isinstance(action, AwaitGate)}},
        "cost": {"usd": row.spent, "reserved": row.reserved, "budget": row.budget},
        "tasks": None,
        "needs": [_need(need) for need in needs(row, actions, status)],
        "next": _next(actions) if status not in ("complete", "cancelled") else None,
        "last_activity": moment(row.updated),
        "result": _result(outcome) if outcome else None,
    }


def document(loops: Sequence[Shown]) -> Shown:
    """Roots that need a person first, then newest; children after their parent.

    `loops` come newest first. Where several need a person, the commands name their loop.
    """
    several = sum(bool(loop["needs"]) for loop in loops) > 1
    known = {loop["id"] for loop in loops}
    roots = [loop for loop in loops if loop["parent"] not in known]
    roots.sort(key=lambda loop: not loop["needs"])
    ordered = [one for root in roots for one in _family(root, loops)]
    return {"loops": [_with_id(loop) if several else loop for loop in ordered]}


def human(shown: Shown) -> str:
    """The five lines, then what needs the person."""
    lines = [
        f"Loop: {shown['task']} ({shown['id']}, {shown['kind']})",
        f"State: {_state_line(shown)}",
        f"Failures: {_failures_line(shown['failures'])}",
        f"Gates: {_gates_line(shown['gates'])}",
        f"Last activity: {shown['last_activity']}",
    ]
    for need in shown["needs"]:
        lines += ["", *_need_lines(need)]
    return "\n".join(lines) + "\n"


def shown_status(row: LoopRow, *, alive: bool) -> str:
    return "interrupted" if row.status == "running" and not alive else row.status


def title(row: LoopRow) -> str:
    """What the loop is about, from what it was started with: a task, an artifact, or several."""
    params = json.loads(row.params)
    if not isinstance(params, dict):
        return ""
    match row.kind:
        case "quality":
            said = params.get("artifact")
        case "batch":
            said = _together(params["artifacts"])
        case "tickets":
            said = params.get("title")
        case _:
            said = params.get("task")
    return one_line(said, 120) if isinstance(said, str) else ""


def _together(artifacts: Sequence[Mapping[str, str]]) -> str:
    """How many, then their names as far as there is room."""
    return f"{counted(len(artifacts), 'artifact')}: {', '.join(each['path'] for each in artifacts)}"


def _failures(standpoint: Standpoint, outcome: Shown | None) -> dict[str, int]:
    """`total` attempts failed; `resolved` of them were made good by one that was verified."""
    resolved = standpoint.failures if outcome is not None and outcome["ending"] == "verified" else 0
    return {"count": standpoint.failures - resolved, "total": standpoint.failures, "resolved": resolved}


def _need(need: Need) -> Shown:
    data = asdict(need)
    data["choices"] = list(data["choices"])
    return data


def _next(actions: tuple[Action, ...]) -> Shown | None:
    if not actions:
        return None
    first = actions[0]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(first).__name__).lower()
    role = first.role if isinstance(first, RunAgent) else None
    return {"action": name, "role": role, "key": str(first.key), "why": one_line(first.why, 500)}


def _result(outcome: Shown) -> Shown:
    return {name: outcome[name] for name in ("commit", "branch", "merged_into", "note", "attempts")}


def _family(root: Shown, loops: Sequence[Shown]) -> list[Shown]:
    children = [loop for loop in loops if loop["parent"] == root["id"]]
    return [root, *(one for child in children for one in _family(child, loops))]


def _with_id(loop: Shown) -> Shown:
    def named(command: str) -> str:
        return f"{command} --loop {loop['id']}"

    wanted = [
        {
            **need,
            "command": named(need["command"]),
            "choices": [{**choice, "command": named(choice["command"])} for choice in need["choices"]],
        }
        for need in loop["needs"]
    ]
    return {**loop, "needs": wanted}


def _state_line(shown: Shown) -> str:
    how = f"{shown['status']}, {shown['outcome']}" if shown["outcome"] else shown["status"]
    return f"{shown['state']} ({counter(shown['kind'])} {shown['attempt']}/{shown['limit']}, {how})"


def _failures_line(failures: Mapping[str, int]) -> str:
    resolved = " (resolved)" if failures["total"] and failures["resolved"] == failures["total"] else ""
    return f"{failures['total']}{resolved}"


def _gates_line(gates: Mapping[str, str]) -> str:
    marks = {"approved": "✓", "rejected": "✗"}
    return ", ".join(f"{name} {marks.get(how, how)}" for name, how in gates.items()) or "none"


def _need_lines(need: Shown) -> list[str]:
    lines = [f"Needs you ({need['kind']}): {need['what']}", f"  Why: {need['why']}"]
    if not need["choices"]:
        return [*lines, f"  {need['command']}"]
    width = max(len(choice["command"]) for choice in need["choices"])
    return [*lines, *(f"  {choice['command']:<{width}}  {choice['label']}" for choice in need["choices"])]
