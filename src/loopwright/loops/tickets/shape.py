"""What a ticket's frontmatter may hold: every field with its type, the words it may have, and how the ids agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from loopwright.kernel.shapes import (
    Path,
    Problem,
    Shape,
    choice,
    expected,
    keyed,
    matching,
    number,
    several,
    text,
    whole,
)

CYCLES = ("development", "documentation", "architecture", "product", "design")
STATUSES = (
    *("open", "claimed", "in_progress", "critic_review", "expediter_review", "approved"),
    *("blocked", "escalated", "route_back"),
    *("pending", "needs_changes"),  # words of other tools for open and route_back
)
OUTCOMES = ("APPROVE", "ROUTE_BACK", "ESCALATE")
LAST_SEQUENCE = 999
_SESSION = r"[a-z0-9][a-z0-9-]{0,39}"  # no dash first: commands name it
_TICKET = re.compile(r"TICKET-([a-z0-9-]{1,40})-([0-9]{3})")


def _sequence() -> Shape:
    """Three digits, or the number they make."""
    says = f"three digits from 001 to {LAST_SEQUENCE}"

    def read(value: object) -> object:
        is_text = isinstance(value, str) and re.fullmatch("[0-9]{3}", value)
        number = int(str(value)) if is_text or type(value) is int else 0
        return number if 1 <= number <= LAST_SEQUENCE else expected(says, value)

    text_form = {"type": "string", "pattern": "^(?!000)[0-9]{3}$"}
    return Shape(says=says, read=read, json={"anyOf": [text_form, whole(1, LAST_SEQUENCE).json]})


_keys = partial(keyed, "a table of keys")  # those that are not named are other tools' own
_ID = matching("TICKET-<session>-NNN with three digits", _TICKET.pattern)
_TEXT, _NAME, SCORE = text(), text(least=1), number(0, 1, "a number from 0 to 1")
FRONT = _keys(
    ticket_id=_ID,
    session_id=matching("1 to 40 lower-case letters, digits and dashes", _SESSION),
    sequence=_sequence(),
    parent_ticket=_ID,
    title=_NAME,
    cycle_type=choice(*CYCLES),
    status=choice(*STATUSES),
    **dict.fromkeys(("created", "worktree_path", "claimed_by", "claimed_at"), _TEXT),
    iteration=_keys(index=whole(1), max=whole(1, 900), parent_ticket=_ID, accuracy_score=SCORE, score=SCORE),
    attempt_history=several(
        _keys("ticket", "outcome", ticket=_NAME, outcome=choice(*OUTCOMES), accuracy=SCORE, gaps=several(_TEXT))
    ),
    structured_feedback=several(
        _keys("requirement", requirement=_NAME, expected=_TEXT, actual=_TEXT, score=SCORE, guidance=_TEXT)
    ),
)


def is_session(name: str) -> bool:
    return re.fullmatch(_SESSION, name) is not None


def ticket_parts(name: str) -> tuple[str, int] | None:
    """Session and sequence of `TICKET-<session>-NNN`."""
    found = _TICKET.fullmatch(name)
    return (found[1], int(found[2])) if found else None


def disagreements(front: dict[str, Any]) -> Iterator[Problem]:
    """Where the ids of a frontmatter do not go together; it has its shape."""
    session, own = front.get("session_id"), ticket_parts(front.get("ticket_id", ""))
    ids: list[tuple[Path, str | None]] = [((name,), front.get(name)) for name in ("ticket_id", "parent_ticket")]
    ids.append((("iteration", "parent_ticket"), front.get("iteration", {}).get("parent_ticket")))
    for at, value in ids:
        if session and value and (ticket_parts(value) or ("",))[0] != session:
            yield Problem(expected(f"a ticket of the session {session!r}", value).says, at)
    if own and front.get("sequence", own[1]) != own[1]:
        yield Problem(f"has to be that of ticket_id, {own[1]:03d}", ("sequence",))
