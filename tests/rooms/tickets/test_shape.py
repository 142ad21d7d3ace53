from copy import deepcopy
from typing import Any

import pytest

from loopwright.loops.tickets.shape import (
    CYCLES,
    STATUSES,
    front_problems,
    is_score,
    is_session,
    ticket_parts,
)
from tests.rooms.story_files import fits_schema, forms_of_sample

FORMS = forms_of_sample("ticket")
SESSION = "has to be 1 to 40 lower-case letters, digits and dashes, not"
TICKET = "has to be TICKET-<session>-NNN with three digits, not"
SEQUENCE = "has to be three digits from 001 to 999, not"
SCORE = "has to be a number from 0 to 1, not"


@pytest.mark.parametrize("data", FORMS)
def test_every_form_of_the_sample_is_a_frontmatter(data: dict[str, Any]) -> None:
    assert front_problems(data) == ()


def test_everything_may_be_left_out_and_more_may_be_there() -> None:
    assert front_problems({}) == ()
    assert front_problems({"owner": {"team": 1}, "iteration": None, "sequence": None, "status": None}) == ()


PLACES: list[tuple[tuple[str | int, ...], object, str]] = [
    (("ticket_id",), 7, "has to be text, not 7"),
    (("ticket_id",), "TICKET-session-2", f"{TICKET} 'TICKET-session-2'"),
    (("ticket_id",), "TICKET-other-002", "has to be a ticket of the session 'session', not 'TICKET-other-002'"),
    (("session_id",), "../up", f"{SESSION} '../up'"),
    (("session_id",), "Session", f"{SESSION} 'Session'"),
    (("session_id",), "s" * 41, f"{SESSION} '{'s' * 41}'"),
    (("sequence",), "02", f"{SEQUENCE} '02'"),
    (("sequence",), "0002", f"{SEQUENCE} '0002'"),
    (("sequence",), "000", f"{SEQUENCE} '000'"),
    (("sequence",), "٠٠٢", f"{SEQUENCE} '٠٠٢'"),
    (("sequence",), 1000, f"{SEQUENCE} '1000'"),
    (("sequence",), 0, f"{SEQUENCE} '0'"),
    (("sequence",), 2.0, f"{SEQUENCE} '2.0'"),
    (("sequence",), True, f"{SEQUENCE} 'True'"),
    (("parent_ticket",), "001", f"{TICKET} '001'"),
    (("title",), "", "has to be text, not an empty text"),
    (("cycle_type",), "coding", f"has to be one of {', '.join(CYCLES)}, not 'coding'"),
    (("status",), "done", f"has to be one of {', '.join(STATUSES)}, not 'done'"),
    (("created",), 2026, "has to be text, not 2026"),
    (("worktree_path",), [], "has to be text, not a list"),
    (("claimed_by",), {}, "has to be text, not a mapping"),
    (("claimed_at",), False, "has to be text, not false"),
    (("iteration",), 2, "has to be a mapping, not 2"),
    (("iteration", "index"), 0, "has to be a whole number from 1, not 0"),
    (("iteration", "max"), "5", "has to be a whole number from 1 to 900, not '5'"),
    (("iteration", "parent_ticket"), "x", f"{TICKET} 'x'"),
    (("iteration", "accuracy_score"), 1.5, f"{SCORE} '1.5'"),
    (("iteration", "score"), "high", f"{SCORE} 'high'"),
    (("attempt_history",), {}, "has to be a list, not a mapping"),
    (("attempt_history", 0, "outcome"), "FAILED", "has to be one of APPROVE, ROUTE_BACK, ESCALATE, not 'FAILED'"),
    (("attempt_history", 0, "accuracy"), -0.1, f"{SCORE} '-0.1'"),
    (("attempt_history", 0, "gaps", 0), 1, "has to be text, not 1"),
    (("structured_feedback", 0, "requirement"), 3, "has to be text, not 3"),
    (("structured_feedback", 0, "expected"), 80, "has to be text, not 80"),
    (("structured_feedback", 0, "score"), True, f"{SCORE} 'True'"),
]


@pytest.mark.parametrize(("at", "value", "says"), PLACES)
def test_a_mistake_is_told_at_its_place(at: tuple[str | int, ...], value: object, says: str) -> None:
    data = deepcopy(FORMS[0])
    inner: Any = data
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    assert (at, says) in front_problems(data)
    beyond_a_schema = value == "TICKET-other-002" or (isinstance(value, float) and value == 2)  # 2.0 is whole in JSON
    assert fits_schema("ticket", data) == beyond_a_schema


def test_ids_and_sequence_have_to_agree() -> None:
    data = {"ticket_id": "TICKET-s-002", "sequence": "003"}
    assert front_problems(data) == ((("sequence",), "has to be that of ticket_id, 002"),)
    assert front_problems({"ticket_id": "TICKET-s-002", "sequence": 2}) == ()
    assert front_problems({"ticket_id": "TICKET-s-002", "sequence": "002", "session_id": "s"}) == ()
    assert front_problems([]) == (((), "has to be a mapping, not a list"),)
    assert front_problems({"ticket_id": "TICKET-s-002", "parent_ticket": "TICKET-t-001"}) == ()


def test_names() -> None:
    assert [is_session(text) for text in ("a", "a-1", "", "a_b", "a/b", "a\n", "ä")] == [True, True, *[False] * 5]
    assert ticket_parts("TICKET-a-b-012") == ("a-b", 12)
    assert [ticket_parts(name) for name in ("TICKET-a-12", "TICKET--012x", "ticket-a-012", "TICKET-a-012\n")] == [
        None
    ] * 4
    assert [is_score(value) for value in (0, 1, 0.5, 1.01, -1, True, "1", None)] == [True] * 3 + [False] * 5
