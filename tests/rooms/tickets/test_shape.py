from copy import deepcopy
from typing import Any, cast

import pytest

from loopwright.kernel.shapes import Path, Problem
from loopwright.loops.tickets.shape import (
    CYCLES,
    FRONT,
    STATUSES,
    disagreements,
    is_session,
    ticket_parts,
)
from tests.rooms.story_files import fits_schema, forms_of_sample

FORMS = forms_of_sample("ticket")
SESSION = "expected 1 to 40 lower-case letters, digits and dashes, found"
TICKET = "expected TICKET-<session>-NNN with three digits, found"
SEQUENCE = "expected three digits from 001 to 999, found"
SCORE = "expected a number from 0 to 1, found"


def front_problems(data: object) -> tuple[tuple[Path, str], ...]:
    held = FRONT.read(data)
    found = (held,) if isinstance(held, Problem) else tuple(disagreements(cast(dict[str, Any], held)))
    return tuple((problem.at, problem.says) for problem in found)


@pytest.mark.parametrize("data", FORMS)
def test_every_form_of_the_sample_is_a_frontmatter(data: dict[str, Any]) -> None:
    assert front_problems(data) == ()


def test_everything_may_be_left_out_and_more_may_be_there() -> None:
    assert front_problems({}) == ()
    assert front_problems({"owner": {"team": 1}, "iteration": None, "sequence": None, "status": None}) == ()


PLACES: list[tuple[tuple[str | int, ...], object, str]] = [
    (("ticket_id",), 7, f"{TICKET} the number 7"),
    (("ticket_id",), "TICKET-session-2", f'{TICKET} the text "TICKET-session-2"'),
    (
        ("ticket_id",),
        "TICKET-other-002",
        "expected a ticket of the session 'session', found the text \"TICKET-other-002\"",
    ),
    (("session_id",), "../up", f'{SESSION} the text "../up"'),
    (("session_id",), "Session", f'{SESSION} the text "Session"'),
    (("session_id",), "s" * 41, f'{SESSION} the text "{"s" * 41}"'),
    (("sequence",), "02", f'{SEQUENCE} the text "02"'),
    (("sequence",), "0002", f'{SEQUENCE} the text "0002"'),
    (("sequence",), "000", f'{SEQUENCE} the text "000"'),
    (("sequence",), "٠٠٢", f'{SEQUENCE} the text "٠٠٢"'),
    (("sequence",), 1000, f"{SEQUENCE} the number 1000"),
    (("sequence",), 0, f"{SEQUENCE} the number 0"),
    (("sequence",), 2.0, f"{SEQUENCE} the number 2.0"),
    (("sequence",), True, f"{SEQUENCE} true"),
    (("parent_ticket",), "001", f'{TICKET} the text "001"'),
    (("title",), "", "expected text that is not empty, found an empty text"),
    (("cycle_type",), "coding", f'expected one of {", ".join(CYCLES)}, found the text "coding"'),
    (("status",), "done", f'expected one of {", ".join(STATUSES)}, found the text "done"'),
    (("created",), 2026, "expected text, found the number 2026"),
    (("worktree_path",), [], "expected text, found a list"),
    (("claimed_by",), {}, "expected text, found a table of keys"),
    (("claimed_at",), False, "expected text, found false"),
    (("iteration",), 2, "expected a table of keys, found the number 2"),
    (("iteration", "index"), 0, "expected a whole number, at least 1, found the number 0"),
    (("iteration", "max"), "5", 'expected a whole number, at least 1, found the text "5"'),
    (("iteration", "parent_ticket"), "x", f'{TICKET} the text "x"'),
    (("iteration", "accuracy_score"), 1.5, f"{SCORE} the number 1.5"),
    (("iteration", "score"), "high", f'{SCORE} the text "high"'),
    (("attempt_history",), {}, "expected a list, found a table of keys"),
    (
        ("attempt_history", 0, "outcome"),
        "FAILED",
        'expected one of APPROVE, ROUTE_BACK, ESCALATE, found the text "FAILED"',
    ),
    (("attempt_history", 0, "accuracy"), -0.1, f"{SCORE} the number -0.1"),
    (("attempt_history", 0, "gaps", 0), 1, "expected text, found the number 1"),
    (("structured_feedback", 0, "requirement"), 3, "expected text that is not empty, found the number 3"),
    (("structured_feedback", 0, "expected"), 80, "expected text, found the number 80"),
    (("structured_feedback", 0, "score"), True, f"{SCORE} true"),
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
    assert front_problems([]) == (((), "expected a table of keys, found a list"),)
    assert front_problems({"ticket_id": "TICKET-s-002", "parent_ticket": "TICKET-t-001"}) == ()


def test_names() -> None:
    assert [is_session(text) for text in ("a", "a-1", "", "a_b", "a/b", "a\n", "ä")] == [True, True, *[False] * 5]
    assert ticket_parts("TICKET-a-b-012") == ("a-b", 12)
    assert [ticket_parts(name) for name in ("TICKET-a-12", "TICKET--012x", "ticket-a-012", "TICKET-a-012\n")] == [
        None
    ] * 4
