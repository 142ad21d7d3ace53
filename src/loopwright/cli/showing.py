"""What commands answer about a loop: its status object, how its drive ended, its gates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopwright.adapters.handoffs import handoff_path
from loopwright.adapters.publishing import scratchpad_file
from loopwright.adapters.tickets.files import ticket_path
from loopwright.assembly.project import Project, View
from loopwright.cli.picking import OVER, gates_of, is_over
from loopwright.cli.reviewed import reviewed, unresolved_lines
from loopwright.cli.ticketed import ticketed
from loopwright.engine.journal import read_event
from loopwright.engine.world import Halt
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Checkpointed, GateDecided
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import Change, Outcome
from loopwright.loops.batch.state import Batch
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.quality.state import Quality
from loopwright.loops.tickets.state import Tickets
from loopwright.ports.store import Record
from loopwright.projections import closing, status, tickets_closing

Data = dict[str, Any]


async def status_of_loop(project: Project, view: View, *, alive: bool | None = None) -> Data:
    """One element of `loops` as formats have it."""
    lives = view.alive is not None if alive is None else alive
    decided = {gate["name"]: gate["status"] for gate in await gates(project, view)}
    actions = () if is_over(view) else view.wanted
    shown = status.build(view.row, view.standpoint, actions, alive=lives, gates=decided)
    return shown if view.row.parent is None else {**shown, "needs": []}  # whose part it is asks for it


async def current(project: Project, view: View) -> Data:
    """The loop's status object after a drive; with other loops open, its commands name this one."""
    shown = await status_of_loop(project, view, alive=True)
    rows = [row for row in await project.store.rows() if row.parent is None]
    others = [row for row in rows if row.id != view.row.id and row.status not in OVER]
    return named_commands(shown) if others else shown


def named_commands(shown: Data) -> Data:
    def with_id(item: Data) -> Data:
        inner = {"choices": [with_id(choice) for choice in item["choices"]]} if "choices" in item else {}
        return {**item, "command": f"{item['command']} --loop {shown['id']}", **inner}

    return {**shown, "needs": [with_id(need) for need in shown["needs"]]}


async def result_of(project: Project, view: View, halt: Halt, shown: Data) -> Data:
    """What the command that started the loop answers with `--json`, whatever way the drive ended.

    `shown` is the loop's status object.
    """
    outcome, row = halt.outcome, view.row
    word = outcome.ending.value if outcome else {"waiting": "escalated", "paused": "paused"}[halt.why]
    places = ("commit", "branch", "merged_into")
    return {
        "loop": row.id,
        "outcome": "escalated" if word == "failed" else word,
        **await _came_to(project, view, outcome),
        **({name: said for name in places if (said := getattr(outcome, name))} if outcome else {}),
        "note": outcome.note if outcome else halt.detail,
        "cost": {"usd": row.spent, "reserved": row.reserved, "budget": row.budget},
        "needs": shown["needs"],
    }


async def _came_to(project: Project, view: View, outcome: Outcome | None) -> Data:
    """What a loop of this kind has to tell, with where its newest attempt is, if one was kept."""
    state = view.now.state
    if isinstance(state, FeedbackState):
        told: Data = {"iterations": outcome.attempts if outcome else view.standpoint.failures}
    elif isinstance(state, Tickets):
        told = ticketed(state)
    else:
        told = (await reviewed(project, view)).data
    landed = state if isinstance(state, Batch) else None  # a batch lands what passed before it asks about the rest
    return {
        **told,
        "commit": state.commit if state.commit != state.plan.base else "",
        "branch": landed.branch if landed else "",
        "merged_into": landed.merged_into if landed else "",
    }


async def closing_lines(project: Project, view: View, halt: Halt, shown: Data) -> Sequence[str]:
    """What people read at the end."""
    if halt.outcome is not None:
        return ended_lines(project.root, view, halt.outcome)
    if halt.why == "paused":
        grant = "raise it with `loop resume --budget USD`" if "budget" in halt.detail else "`loop resume` goes on"
        return (f"Paused: {halt.detail}; {grant}.",)
    unresolved = await _story(project, view)
    return (
        "Stopped: a person is needed.",
        *_landed_so_far(view),
        "",
        *((unresolved, "") if unresolved else ()),
        status.human(shown).rstrip("\n"),
        "",
        f"Then: loop resume --loop {view.row.id}",
    )


async def _story(project: Project, view: View) -> str:
    """What led here, for whoever is not asked at the terminal: there the question itself tells a session's tickets."""
    state = view.now.state
    return "\n".join(closing.so_far(state)) if isinstance(state, Tickets) else await unresolved_text(project, view)


def _landed_so_far(view: View) -> Sequence[str]:
    """A batch lands what passed before it asks about the rest."""
    state = view.now.state
    if not isinstance(state, Batch) or not state.branch:
        return ()
    into = f", merged into {state.merged_into.removeprefix('refs/heads/')}" if state.merged_into else ""
    return (f"The fixes of what passed are on branch {state.branch} ({state.commit[:12]}){into}.",)


async def unresolved_text(project: Project, view: View) -> str:
    """What a person should see before they decide on a review or a ticket; other loops tell it as they go."""
    if isinstance(view.now.state, Tickets):
        return "\n".join(tickets_closing.unresolved(view.now.state))
    if not isinstance(view.now.state, Quality | Batch):
        return ""
    return "\n".join(unresolved_lines(await reviewed(project, view)))


def ended_lines(root: Path, view: View, outcome: Outcome) -> Sequence[str]:
    state = view.now.state
    match state:
        case FeedbackState():
            file: Path | None = scratchpad_file(root, view.row.id)
        case Quality():
            file = handoff_path(root, state.plan.story)
        case Tickets():
            file = ticket_path(root, state)
        case _:
            file = None
    there = (str(file),) if file is not None and file.is_file() else ()
    return closing.render(view.row.id, state, outcome, *there)


def outcome_of(view: View) -> Outcome | None:
    return decode(Outcome, view.row.outcome) if view.row.outcome else None


# --- gates ------------------------------------------------------------------------------------------


async def gates(project: Project, view: View) -> list[Data]:
    """Every gate of the loop, by what it was opened for: pending, approved, rejected or withdrawn."""
    if isinstance(view.now.state, Quality | Batch):
        return []  # a review has none: what may be changed is named by its findings
    records = await project.store.read(view.row.id)
    found: dict[str, Data] = {}
    for record in records:
        _take_in(found, record)
    pending = {gate.evidence for gate in gates_of(view)}
    for evidence, gate in found.items():
        if gate["status"] == "pending" and evidence not in pending:
            gate["status"] = "withdrawn"
    return [{"loop": view.row.id, "base": view.now.state.plan.base, **gate} for gate in found.values()]


def _take_in(found: dict[str, Data], record: Record) -> None:
    if record.kind not in ("Checkpointed", "GateDecided"):
        return
    event = read_event(record)
    if isinstance(event, Checkpointed) and event.evidence:
        old = found.get(event.evidence, {"status": "pending"})
        found[event.evidence] = {**_gate(event), **{key: old[key] for key in ("status", "by", "reason") if key in old}}
    elif isinstance(event, GateDecided) and event.evidence in found:
        word = "approved" if event.approved else "rejected"
        found[event.evidence] |= {"status": word, "by": event.by, "reason": event.reason}


def _gate(event: Checkpointed) -> Data:
    return {
        "name": PROTECTED,
        "status": "pending",
        "tree": event.tree,
        "commit": event.commit,
        "evidence": event.evidence,
        "because": [_reason(change) for change in event.protected],
    }


def _reason(change: Change) -> Data:
    return {"file": change.path, "line": 0, "rule": f"protected file {change.how}"}
