"""The files of a ticket session: `TICKET-<session>-NNN.md` for each ticket, in `active/` and later in `completed/`, and
the lines of the observer.

Each can be made anew from the log, with the same bytes. Whatever an agent, a check or a person wrote stands in quotes,
cells and lists that it cannot leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import inline, one_line, quoted
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import moment
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.course import Station
from loopwright.loops.kind import Files, Noted, Scene
from loopwright.loops.tickets.chronicle import CLAIMED, CREATED, ChangelogEntry
from loopwright.loops.tickets.past import ALL, SessionPast
from loopwright.loops.tickets.sections import context, creator, critic, expediter, requirements
from loopwright.loops.tickets.state import Criterion, TicketsState, is_completed, ticket_id
from loopwright.loops.tickets.ticket_view import TicketView, views

FOLDER = ".loop/tickets"
ACTIVE, COMPLETED = "active", "completed"
ENDING = ".md"
_OBSERVER = ".loop/observer"
_WORKSPACES = ".worktrees"
_TITLE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A ticket file: what its frontmatter holds, and what follows it."""

    name: str  # without `.md`
    front: dict[str, object]
    body: str

    @property
    def text(self) -> str:
        return f"---\n{write_yaml(self.front)}---\n\n{self.body}"


def render(scene: Scene[TicketsState]) -> Files:
    """The pages that the event can have changed. Written where it belongs before it is gone from where it was."""
    past: SessionPast = scene.past
    here, there = _folders(scene.state)
    made = pages(scene.loop, scene.state, past, ALL if scene.event is None else past.stale)
    return {f"{here}/{page.name}{ENDING}": page.text for page in made} | {
        f"{there}/{page.name}{ENDING}": None for page in made
    }


def notes(scene: Scene[TicketsState]) -> Mapping[str, tuple[Noted, ...]]:
    """The lines that came of the event."""
    watch = scene.past.watch
    found = {"iterations": watch.dispatches, "violations": watch.breaches}
    fresh = {name: lines if scene.event is None else watch.newest(lines) for name, lines in found.items()}
    return {f"{_OBSERVER}/{name}.jsonl": lines for name, lines in fresh.items()}


def ticket_path(state: TicketsState, number: int = 0) -> str:
    """Where the file of a ticket is, or would be; without a number, the newest."""
    return f"{_folders(state)[0]}/{ticket_id(state.plan.session, number or state.ticket.number)}{ENDING}"


def tells_more(_loop: LoopId, state: TicketsState) -> str:
    return ticket_path(state)


def _folders(state: TicketsState) -> tuple[str, str]:
    """Where the session's files belong, and where they may have been."""
    active, completed = (f"{FOLDER}/{where}/{state.plan.session}" for where in (ACTIVE, COMPLETED))
    return (completed, active) if is_completed(state) else (active, completed)


# --- one ticket ---------------------------------------------------------------------------------


def pages(loop: LoopId, state: TicketsState, past: SessionPast, numbers: tuple[int, ...] = ALL) -> tuple[Page, ...]:
    """The tickets of the session that are ours, or of them those with these numbers.

    The workspace is told from the root of the repository, so that the file says the same on every machine.
    """
    worktree = None if state.course.station is Station.DONE else f"{_WORKSPACES}/{loop}"
    return tuple(_page(view, worktree) for view in views(state, past, numbers))


def draft(*, title: str, what: str, criteria: tuple[Criterion, ...], context: str = "", cycle: str = "") -> Page:
    """A ticket for the queue, which has no sequence and no history yet."""
    listed = "\n".join(f"- [ ] {each.id}: {inline(each.text, len(visible(each.text)))}" for each in criteria)
    parts = (
        "# Requirements",
        "## What We're Building",
        quoted(what if what.strip() else title),
        "## Acceptance Criteria",
        listed,
        *(("# Context", quoted(context)) if context.strip() else ()),
    )
    front: dict[str, object] = {
        "title": one_line(title, _TITLE),
        "cycle_type": cycle or "development",
        "status": "open",
    }
    return Page(name="", front=front, body=_joined(parts))


def _page(view: TicketView, worktree: str | None) -> Page:
    parts = (
        *requirements(view),
        *context(view),
        *view.told.inherited,
        *creator(view),
        *critic(view),
        *expediter(view),
        *_changelog(view),
    )
    return Page(name=view.name, front=_front(view, worktree), body=_joined(parts))


def _joined(parts: tuple[str, ...]) -> str:
    return "\n\n".join(parts) + "\n"


def _front(view: TicketView, worktree: str | None) -> dict[str, object]:
    plan, number = view.state.plan, view.ticket.number
    title = f"[Iteration {number}/{view.state.allowance}] {plan.title}" if view.ticket.parent else plan.title
    claimed_at = view.told.when(CLAIMED)
    claimed_by = None if claimed_at is None else one_line(view.told.creator or "creator", _TITLE)
    return {
        "ticket_id": view.name,
        "session_id": plan.session,
        "sequence": f"{number:03d}",
        "parent_ticket": view.parent_name,
        "title": one_line(title, _TITLE),
        "cycle_type": plan.cycle,
        "status": view.status,
        "created": view.told.when(CREATED),
        "worktree_path": worktree,
        "claimed_by": claimed_by,
        "claimed_at": claimed_at,
        "iteration": {
            "index": number,
            "max": view.state.allowance,
            "parent_ticket": view.parent_name,
            "accuracy_score": view.parent.accuracy if view.parent else None,
            "score": view.parent.score if view.parent else None,
        },
    }


def _changelog(view: TicketView) -> tuple[str, ...]:
    return ("# Changelog", *(_entry(entry) for entry in view.told.entries))


def _entry(entry: ChangelogEntry) -> str:
    head = f"## [{moment(entry.at).replace('T', ' ')}] - {entry.role}: {entry.what}"
    return f"{head}\n- {inline(entry.text)}" if entry.text.strip() else head
