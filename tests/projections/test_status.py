from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from loopwright.kernel.actions import Action, Ask, AwaitGate
from loopwright.kernel.codec import encode
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import NO_COMMIT, AgentStatus, Key, LoopId
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from loopwright.ports.store import Status
from loopwright.projections import status
from tests.projections.stories import (
    ESCALATED,
    FAILED_REVIEW,
    STORIES,
    compliant,
    implemented,
    kept_with_protected,
    passing,
    played,
    row,
)

AT_GATE = played(implemented("x"), kept_with_protected, compliant, passing)


def shown(state: FeedbackState, word: Status = "running", *, alive: bool = True) -> dict[str, Any]:
    outcome = encode(state.course.outcome) if state.course.outcome else ""
    return status.build(
        row(word, outcome=outcome),
        FEEDBACK.stand(state),
        FEEDBACK.decide(state),
        alive=alive,
        gates={"protected": "approved"} if state.course.approved else {},
    )


def test_a_running_loop_as_the_format_has_it() -> None:
    assert shown(played(*FAILED_REVIEW)) == {
        "id": "fb-1",
        "kind": "feedback",
        "parent": None,
        "status": "running",
        "outcome": None,
        "task": "Add a filter",
        "system": None,
        "state": "IMPLEMENT",
        "capability": None,
        "attempt": 2,
        "limit": 5,
        "failures": {"count": 1, "total": 1, "resolved": 0},
        "gates": {},
        "cost": {"usd": 2.5, "reserved": 0.5, "budget": 25.0},
        "tasks": None,
        "needs": [],
        "next": {
            "action": "run_agent",
            "role": "developer",
            "key": "implement-2.1",
            "why": "iteration 1 failed: review failed with 2 issues",
        },
        "last_activity": "2026-01-17T10:30:00Z",
        "result": None,
    }


def test_a_verified_loop_has_its_result_and_wants_nothing() -> None:
    data = shown(STORIES["verified"], "complete")
    assert (data["outcome"], data["needs"], data["next"]) == ("verified", [], None)
    assert data["failures"] == {"count": 0, "total": 2, "resolved": 2}
    assert data["result"] == {
        "commit": "c" * 40,
        "branch": "loop/fb-1",
        "merged_into": "",
        "note": "",
        "attempts": 3,
    }


def test_an_escalation_is_a_question_with_a_command_for_every_option() -> None:
    (need,) = shown(ESCALATED, "waiting")["needs"]
    assert need == {
        "kind": "question",
        "what": "The feedback loop stopped: 2 of 2 iterations are used. How should it go on?",
        "why": "2 of 2 iterations are used",
        "command": "loop answer continue 3",
        "choices": [
            {"label": "Continue", "command": "loop answer continue 3"},
            {"label": "Accept current state", "command": "loop answer accept"},
            {"label": "Review iteration history", "command": "loop answer history"},
            {"label": "Cancel feature", "command": "loop answer cancel"},
            {"label": "Revise the approach", "command": 'loop answer revise --text "new guidance"'},
        ],
    }


def test_an_open_gate_is_pending_and_names_its_command() -> None:
    data = shown(AT_GATE, "waiting")
    assert data["gates"] == {"protected": "pending"}
    assert data["needs"] == [
        {
            "kind": "gate",
            "what": "protected",
            "why": "protected files were changed; until a person approves, the base versions run"
            " (tests/test_filter.py changed)",
            "command": "loop approve protected",
            "choices": [
                {"label": "Approve", "command": "loop approve protected"},
                {"label": "Reject", "command": 'loop reject protected --reason "why"'},
            ],
        }
    ]


def test_a_question_of_the_developer_is_answered_with_text() -> None:
    state = played(implemented("Which order?", status=AgentStatus.NEEDS_CLARIFICATION))
    assert shown(state, "waiting")["needs"][0]["command"] == 'loop answer "your answer"'


def test_a_gate_and_a_question_without_details_still_have_a_command() -> None:
    actions: tuple[Action, ...] = (
        Ask(key=Key.parse("ask-1"), question="What now?"),
        AwaitGate(key=Key.parse("gate-1"), gate="deploy", commit=NO_COMMIT, evidence="e", because=(), why="always due"),
    )
    data = status.build(row("waiting"), Standpoint(state="SHIP", attempt=1, limit=1), actions, alive=True)
    assert [(need["command"], need["why"]) for need in data["needs"]] == [
        ('loop answer "your answer"', ""),
        ("loop approve deploy", "always due"),
    ]


@pytest.mark.parametrize(
    ("word", "alive", "expected", "commands"),
    [
        ("running", True, "running", []),
        ("running", False, "interrupted", ["loop resume"]),
        ("paused", False, "paused", ["loop resume"]),
        ("blocked", False, "blocked", ["loop explain"]),
        ("waiting", False, "waiting", []),
    ],
)
def test_what_stopped_it_decides_what_it_needs(
    *, word: Status, alive: bool, expected: str, commands: list[str]
) -> None:
    data = shown(played(), word, alive=alive)
    assert data["status"] == expected
    assert [need["command"] for need in data["needs"]] == commands


def test_a_pause_tells_the_numbers() -> None:
    with_budget, without = (
        status.build(one, FEEDBACK.stand(played()), (), alive=False)["needs"][0]["why"]
        for one in (row("paused"), replace(row("paused"), budget=None))
    )
    assert with_budget == "a limit was reached: 2.50 USD spent and 0.50 USD reserved of 25.00 USD"
    assert without == "a limit was reached: 2.50 USD spent and 0.50 USD reserved"


def test_a_loop_about_no_task_and_with_nothing_to_do() -> None:
    for params in ("[]", "{}", '{"task": 3}'):
        data = status.build(row(params=params), FEEDBACK.stand(played()), (), alive=True)
        assert (data["task"], data["next"]) == ("", None)


def test_the_five_lines_and_then_what_is_needed(golden: Callable[[str, str], None]) -> None:
    approved = shown(STORIES["verified"], "complete")
    blocks = [
        shown(played(*FAILED_REVIEW)),
        shown(ESCALATED, "waiting"),
        shown(AT_GATE, "waiting"),
        {**approved, "gates": {"protected": "approved", "security": "rejected"}},
        shown(played(), alive=False),
    ]
    golden("projections/status.txt", "\n".join(status.human(block) for block in blocks))


def one(name: str, parent: str | None = None, *, needs: bool = False) -> dict[str, Any]:
    state = ESCALATED if needs else played()
    data = shown(state, "waiting" if needs else "running")
    return {**data, "id": LoopId(name), "parent": parent}


def test_those_that_need_a_person_come_first_and_children_after_their_parent() -> None:
    loops = [one("d"), one("c-1", "c"), one("c-1-1", "c-1"), one("c", needs=True), one("b"), one("orphan", "gone")]
    document = status.document(loops)
    assert [loop["id"] for loop in document["loops"]] == ["c", "c-1", "c-1-1", "d", "b", "orphan"]
    assert document["loops"][0]["needs"][0]["command"] == "loop answer continue 3"


def test_where_several_need_a_person_the_commands_name_their_loop() -> None:
    loops = status.document([one("b", needs=True), one("a", needs=True)])["loops"]
    assert [loop["needs"][0]["command"] for loop in loops] == [
        "loop answer continue 3 --loop b",
        "loop answer continue 3 --loop a",
    ]
    assert loops[0]["needs"][0]["choices"][1]["command"] == "loop answer accept --loop b"
