"""`TICKET-<session>-NNN.md`: one file per ticket of a session, as data for its frontmatter and Markdown for the rest.

Whatever an agent, a check or a person wrote stands in quotes, cells and lists that it cannot leave.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.quoting import inline, one_line, quoted
from loopwright.kernel.record import Record
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import moment
from loopwright.loops.tickets.chronicle import Entry, chronicle
from loopwright.loops.tickets.sections import (
    context,
    creator,
    feedback,
    history,
    issues,
    requirements,
)
from loopwright.loops.tickets.state import Criterion, Tickets
from loopwright.loops.tickets.ticket_view import View, views
from loopwright.loops.tickets.verdict import critic, expediter

TITLE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A ticket file: what its frontmatter holds, and what follows it."""

    name: str  # without `.md`
    front: dict[str, object]
    body: str


def pages(state: Tickets, records: tuple[Record, ...], worktree: str | None = None) -> tuple[Page, ...]:
    """Every ticket of the session. The records are the session's whole log; they give what happened and when."""
    told = chronicle(records, state.ticket.number)
    return tuple(_page(view) for view in views(state, told, worktree))


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
    front: dict[str, object] = {"title": one_line(title, TITLE), "cycle_type": cycle or "development", "status": "open"}
    return Page(name="", front=front, body=_joined(parts))


def _page(view: View) -> Page:
    parts = (
        *requirements(view),
        *context(view),
        *history(view),
        *feedback(view),
        *issues(view),
        *creator(view),
        *critic(view),
        *expediter(view),
        *_changelog(view),
    )
    return Page(name=view.name, front=_front(view), body=_joined(parts))


def _joined(parts: tuple[str, ...]) -> str:
    return "\n\n".join(parts) + "\n"


def _front(view: View) -> dict[str, object]:
    plan, number = view.state.plan, view.ticket.number
    title = f"[Iteration {number}/{view.state.allowance}] {plan.title}" if view.ticket.parent else plan.title
    return {
        "ticket_id": view.name,
        "session_id": plan.session,
        "sequence": f"{number:03d}",
        "parent_ticket": view.parent_name,
        "title": one_line(title, TITLE),
        "cycle_type": plan.cycle,
        "status": view.status,
        "created": view.chronicle.when(number, "created"),
        "worktree_path": view.worktree,
        "claimed_by": _claimed_by(view),
        "claimed_at": view.claimed_at,
        "iteration": {
            "index": number,
            "max": view.state.allowance,
            "parent_ticket": view.parent_name,
            "accuracy_score": view.parent.accuracy if view.parent else None,
            "score": view.parent.score if view.parent else None,
        },
    }


def _claimed_by(view: View) -> str | None:
    """The agent that did the work; before it reports, the one that is to do it."""
    if view.claimed_at is None:
        return None
    meant = (dict(view.state.cast).get("creator"), *view.state.plan.creators[:1])
    named = dict(view.chronicle.creators).get(view.ticket.number) or next(filter(None, meant), None)
    return one_line(named, TITLE) if named else "creator"


def _changelog(view: View) -> tuple[str, ...]:
    return ("# Changelog", *(_entry(entry) for entry in view.chronicle.of(view.ticket.number)))


def _entry(entry: Entry) -> str:
    head = f"## [{moment(entry.at).replace('T', ' ')}] - {entry.role}: {entry.what}"
    return f"{head}\n- {inline(entry.text)}" if entry.text.strip() else head
