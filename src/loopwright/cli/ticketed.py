"""What ticket commands answer: how a session ended, and every ticket there is with where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopwright.app.loops import View
from loopwright.app.starts.tickets.queue import read_queued, waiting
from loopwright.app.starts.tickets.ticket_text import ENDING
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.loops.tickets.chronicle import chronicle
from loopwright.loops.tickets.files import page_text, session_pages, ticket_path
from loopwright.loops.tickets.result import result, told_of
from loopwright.loops.tickets.state import Tickets, ticket_id
from loopwright.loops.tickets.ticket_view import is_completed, views

Data = dict[str, Any]


# --- lists ------------------------------------------------------------------------------------------


Logs = Mapping[LoopId, tuple[Record, ...]]


def listed(root: Path, sessions: tuple[View, ...], logs: Logs) -> Data:
    """`sessions` are oldest first. What a person cancelled is told apart: nothing goes on with it."""
    found: dict[str, list[Data]] = {"queue": _queued(root), "active": [], "completed": [], "cancelled": []}
    for session in sessions:
        state, row = session.now.state, session.row
        where = "cancelled" if row.status == "cancelled" else "completed" if is_completed(state) else "active"
        found[where].append(_listed(session, logs.get(row.id, ())))
    return found


def _listed(session: View, log: tuple[Record, ...]) -> Data:
    state = session.now.state
    told = told_of(state)
    return {
        "session": state.plan.session,
        "ticket": ticket_id(state.plan.session, state.ticket.number),
        "title": state.plan.title,
        "status": _status(state, log),
        "iteration": {"index": state.ticket.number, "max": state.allowance},
        "accuracy": told.accuracy if told else None,
        "file": ticket_path(state),
        "loop": session.row.id,
    }


def _status(state: Tickets, log: tuple[Record, ...]) -> str:
    """As the newest ticket's file says it; one that was over when it was taken over can only be escalated."""
    known = views(state, chronicle(log, state.ticket.number))
    return known[-1].status if known else "escalated"


def _queued(root: Path) -> list[Data]:
    return [_waits(root, path) for path in waiting(root)]


def _waits(root: Path, path: Path) -> Data:
    """A ticket that cannot be read is listed too, with the sentence that says why."""
    file = str(path.relative_to(root))
    try:
        queued = read_queued(root, path)
    except ConfigError as error:
        return {"session": None, "ticket": path.name.removesuffix(ENDING), "file": file, "error": str(error)}
    return {
        "session": queued.session,
        "ticket": ticket_id(queued.session, queued.sequence),
        "title": queued.ticket.title,
        "status": queued.ticket.status,
        "file": file,
    }


def text_of(found: Data) -> str:
    """For people: a line each, with what stands where."""
    blocks = ["\n".join([f"{name.capitalize()}:", *map(_line, rows)]) for name, rows in found.items() if rows]
    return "\n\n".join(blocks) or "No tickets yet; `loop ticket new TITLE` makes one."


def _line(each: Data) -> str:
    if "error" in each:
        return f"  {each['ticket']}  cannot be read: {each['error']}"
    step = each.get("iteration")
    count = f", iteration {step['index']}/{step['max']}" if step else ""
    accuracy = f", accuracy {each['accuracy']:.2f}" if each.get("accuracy") is not None else ""
    return f"  {each['ticket']}  {each['status']}{count}{accuracy}  {each['title']}"


# --- one ticket -------------------------------------------------------------------------------------


def shown(session: View, log: tuple[Record, ...], number: int) -> Data:
    """A ticket as its file has it, made from the log: a file that was removed or changed is told as it should be.

    Raises `UsageError` for one that is not ours.
    """
    state, name = session.now.state, ticket_id(session.now.state.plan.session, number)
    page = next((each for each in session_pages(session.row.id, state, log) if each.name == name), None)
    if page is None:
        known = any(ticket.number == number for ticket in state.plan.adopted)
        why = "was adopted, and its file stays where it came from" if known else "is not there"
        raise UsageError(f"{name} {why}; the newest of the session is {result(state, {}).tickets[-1]}")
    ticket = next((each for each in state.past if each.number == number), None)
    return {
        "ticket": page.name,
        "session": state.plan.session,
        "loop": session.row.id,
        "file": ticket_path(state, number),
        "decision": ticket.decision.value if ticket and ticket.decision else None,
        "accuracy": ticket.accuracy if ticket else None,
        "score": ticket.score if ticket else None,
        "front": page.front,
        "text": page_text(page),
    }
