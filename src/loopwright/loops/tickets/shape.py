"""What a ticket's frontmatter may hold: every field with its type, the words it may have, and how the ids agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.kernel.plain_shapes import Many, Path, Problem, Record, Text, Whole, Word, check
from loopwright.kernel.quoting import one_line

CYCLES = ("development", "documentation", "architecture", "product", "design")
STATUSES = (
    *("open", "claimed", "in_progress", "critic_review", "expediter_review", "approved"),
    *("blocked", "escalated", "route_back"),
    *("pending", "needs_changes"),  # words of other tools for open and route_back
)
OUTCOMES = ("APPROVE", "ROUTE_BACK", "ESCALATE")
LAST_SEQUENCE = 999
_SESSION = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # no dash first: commands name it
_TICKET = re.compile(r"TICKET-([a-z0-9-]{1,40})-([0-9]{3})")
_SEQUENCE = re.compile(r"[0-9]{3}")
_TEXTS = Many(of=Text())
FRONT = Record(
    fields=(
        ("ticket_id", Text(least=1)),
        ("session_id", Text(least=1)),
        ("parent_ticket", Text(least=1)),
        ("title", Text(least=1)),
        ("cycle_type", Word(CYCLES)),
        ("status", Word(STATUSES)),
        ("created", Text()),
        ("worktree_path", Text()),
        ("claimed_by", Text()),
        ("claimed_at", Text()),
        (
            "iteration",
            Record(
                fields=(("index", Whole(least=1)), ("max", Whole(least=1, most=900)), ("parent_ticket", Text(least=1)))
            ),
        ),
        (
            "attempt_history",
            Many(
                of=Record(
                    fields=(("ticket", Text(least=1)), ("outcome", Word(OUTCOMES)), ("gaps", _TEXTS)),
                    required=("ticket", "outcome"),
                )
            ),
        ),
        (
            "structured_feedback",
            Many(
                of=Record(
                    fields=(
                        ("requirement", Text(least=1)),
                        ("expected", Text()),
                        ("actual", Text()),
                        ("guidance", Text()),
                    ),
                    required=("requirement",),
                )
            ),
        ),
    )
)


def is_session(text: str) -> bool:
    return _SESSION.fullmatch(text) is not None


def ticket_parts(name: str) -> tuple[str, int] | None:
    """Session and sequence of `TICKET-<session>-NNN`."""
    found = _TICKET.fullmatch(name)
    return (found[1], int(found[2])) if found else None


def front_problems(data: object) -> tuple[Problem, ...]:
    """Where the frontmatter is not what it has to be; if it is that, where its ids and numbers are none."""
    found = tuple(check(FRONT, data))
    if found or not isinstance(data, dict):
        return found
    return (*_ids(data), *_sequence(data.get("sequence")), *_scores(data))


def _ids(data: dict[str, object]) -> Iterator[Problem]:
    session = data.get("session_id")
    if isinstance(session, str) and not is_session(session):
        says = f"has to be 1 to 40 lower-case letters, digits and dashes, not {one_line(session, 60)!r}"
        yield ("session_id",), says
    for at in (("ticket_id",), ("parent_ticket",), ("iteration", "parent_ticket")):
        yield from _id(at, _at(data, at), session)
    ticket, sequence = data.get("ticket_id"), data.get("sequence")
    parts = ticket_parts(ticket) if isinstance(ticket, str) else None
    if parts and sequence is not None and f"{parts[1]:03d}" != f"{sequence:>03}":
        yield ("sequence",), f"has to be that of ticket_id, {parts[1]:03d}"


def _id(at: Path, value: object, session: object) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    parts = ticket_parts(value)
    if parts is None:
        yield at, f"has to be TICKET-<session>-NNN with three digits, not {one_line(value, 60)!r}"
    elif session is not None and parts[0] != session:
        yield at, f"has to be a ticket of the session {one_line(str(session), 60)!r}, not {value!r}"


def _sequence(value: object) -> Iterator[Problem]:
    as_text = isinstance(value, str) and _SEQUENCE.fullmatch(value) and int(value)
    as_number = type(value) is int and 1 <= value <= LAST_SEQUENCE
    if value is not None and not as_text and not as_number:
        yield ("sequence",), f"has to be three digits from 001 to {LAST_SEQUENCE}, not {one_line(str(value), 60)!r}"


def _scores(data: dict[str, object]) -> Iterator[Problem]:
    places: list[Path] = [("iteration", "accuracy_score"), ("iteration", "score")]
    for name, key in (("attempt_history", "accuracy"), ("structured_feedback", "score")):
        listed = data.get(name)
        places += [(name, index, key) for index in range(len(listed) if isinstance(listed, list) else 0)]
    for at in places:
        value = _at(data, at)
        if value is not None and not is_score(value):
            yield at, f"has to be a number from 0 to 1, not {one_line(str(value), 60)!r}"


def is_score(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _at(data: object, path: Path) -> object:
    """What is there, or None. Lists are as long as the path says."""
    for key in path:
        if isinstance(key, int) and isinstance(data, list):
            data = data[key]
        else:
            data = data.get(key) if isinstance(data, dict) else None
    return data
