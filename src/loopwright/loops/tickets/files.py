"""The files of a ticket session: one per ticket, in `active/` and later in `completed/`, and the observer's lines.

Each can be made anew from the log, with the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.kind import Files, Noted, Scene
from loopwright.loops.tickets.observer import iterations, violations
from loopwright.loops.tickets.state import Phase, Tickets, ticket_id
from loopwright.loops.tickets.ticket_file import Page, pages
from loopwright.loops.tickets.ticket_view import is_completed

FOLDER = ".loop/tickets"
ACTIVE, COMPLETED = "active", "completed"
ENDING = ".md"
_OBSERVER = ".loop/observer"
_WORKSPACES = ".worktrees"


def past(known: tuple[Record, ...] | None, record: Record, _state: Tickets) -> tuple[Record, ...]:
    return (*(known or ()), record)


def render(scene: Scene[Tickets]) -> Files:
    """Written where it belongs before it is gone from where it was."""
    state = scene.state
    here, there = _folders(state)
    made = session_pages(scene.loop, state, scene.past or ())
    return {f"{here}/{page.name}{ENDING}": page_text(page) for page in made} | {
        f"{there}/{page.name}{ENDING}": None for page in made
    }


def notes(scene: Scene[Tickets]) -> Mapping[str, tuple[Noted, ...]]:
    plan, records = scene.state.plan, scene.past or ()
    return {
        f"{_OBSERVER}/iterations.jsonl": iterations(plan, records),
        f"{_OBSERVER}/violations.jsonl": violations(plan, records),
    }


def page_text(page: Page) -> str:
    return f"---\n{write_yaml(page.front)}---\n\n{page.body}"


def session_pages(loop: LoopId, state: Tickets, records: tuple[Record, ...]) -> tuple[Page, ...]:
    """Every ticket of the session that is ours, as its file has it.

    The workspace is told from the root of the repository, so that the file says the same on every machine.
    """
    return pages(state, records, None if state.phase is Phase.DONE else f"{_WORKSPACES}/{loop}")


def ticket_path(state: Tickets, number: int = 0) -> str:
    """Where the file of a ticket is, or would be; without a number, the newest."""
    return f"{_folders(state)[0]}/{ticket_id(state.plan.session, number or state.ticket.number)}{ENDING}"


def tells_more(_loop: LoopId, state: Tickets) -> str:
    return ticket_path(state)


def _folders(state: Tickets) -> tuple[str, str]:
    """Where the session's files belong, and where they may have been."""
    active, completed = (f"{FOLDER}/{where}/{state.plan.session}" for where in (ACTIVE, COMPLETED))
    return (completed, active) if is_completed(state) else (active, completed)
