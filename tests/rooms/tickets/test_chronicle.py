from dataclasses import replace

from loopwright.kernel.codec import encode
from loopwright.kernel.events import Announced, Created
from loopwright.kernel.model import NOT_TOUCHED, CheckResult, Key
from loopwright.kernel.record import Record
from loopwright.loops.tickets.chronicle import step_of
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.past import SessionPast, folded
from loopwright.loops.tickets.state import Decision, Ticket
from tests.rooms.tickets.stories import (
    APPROVED,
    AT,
    GREEN,
    LOOP,
    LOOSE,
    PARAMS,
    PROTECTED,
    ROUTED_BACK,
    Step,
    announced,
    answered,
    asks,
    away,
    blocked,
    cancelled,
    checked,
    conflicted,
    crashed,
    criticised,
    gate,
    judged,
    kept,
    landed,
    made,
    merged,
    not_landed,
    played,
    refused,
)


def told(*steps: Step, judge: bool = False) -> list[tuple[int, str, str, str]]:
    return entries(played(*steps, params=replace(PARAMS, judge=judge)).past)


def entries(past: SessionPast) -> list[tuple[int, str, str, str]]:
    """Ticket by ticket."""
    told = ((number, entry) for number, ticket in sorted(past.tickets.items()) for entry in ticket.entries)
    return [(number, entry.role, entry.what, entry.text) for number, entry in told]


BEGUN = [
    (1, "Coordinator", "created", "by ann"),
    (1, "Creator", "claimed", "the ticket is new"),
    (1, "Coordinator", "activated", ""),
]
FIRST = [
    *BEGUN,
    (1, "Creator", "work_done", "Added the time-out"),
    (1, "Critic", "reviewed", "fail, 3 findings: Untested."),
    (1, "Expediter", "validated", "build passed, test failed, coverage failed, links passed"),
    (1, "Expediter", "decided", "ROUTE_BACK: TICKET-session-001"),
    (2, "Expediter", "created", ""),
    (2, "Creator", "claimed", "ticket 2: retry"),
    (2, "Coordinator", "activated", ""),
]


def test_two_tickets_from_beginning_to_end() -> None:
    assert told(*ROUTED_BACK, *APPROVED, landed) == [
        *FIRST,
        (2, "Creator", "work_done", "Tested both"),
        (2, "Critic", "reviewed", "pass, 0 findings: Good."),
        (2, "Expediter", "validated", "build passed, test passed"),
        (2, "Expediter", "decided", "APPROVE: TICKET-session-002"),
        (2, "Expediter", "completed", "landed on loop/ticket-7"),
    ]


def test_what_goes_wrong_is_told() -> None:
    assert told(away)[3:4] == [(1, "Creator", "blocked", "not available before 2026-01-17T11:30:00Z")]
    assert told(crashed(), crashed("gone"))[3:] == [
        (1, "Creator", "blocked", "no result (crashed)"),
        (1, "Creator", "blocked", "no result (crashed): gone"),
    ]
    assert told(asks("Which?"), answered("answer", "this"), blocked("no disk"))[3:] == [
        (1, "Creator", "clarification_needed", "Which?"),
        (1, "Coordinator", "answered", "answer: this (by ann)"),
        (1, "Creator", "blocked", "no disk"),
    ]
    assert told(*APPROVED[:2], criticised(), checked())[4:6] == [
        (1, "Critic", "reviewed", "pass, 0 findings"),
        (1, "Expediter", "validated", "no check ran"),
    ]
    idle = CheckResult(name="lint", passed=True, note=NOT_TOUCHED)
    assert told(*APPROVED[:2], criticised(), checked(idle))[5][3] == "lint not run: nothing in its paths changed"
    assert told(*APPROVED, not_landed)[-1] == (1, "Expediter", "blocked", "not landed: src/client.py")
    assert told(*APPROVED, merged)[-1][3] == "landed on loop/ticket-7, merged into refs/heads/main"
    assert told(cancelled)[-1] == (1, "Coordinator", "cancelled", "keep_everything (by ann)")


def test_what_a_person_decides_is_told() -> None:
    guarded = (made("x"), kept("a", protected=PROTECTED), criticised(LOOSE), checked(*GREEN))
    assert told(*guarded, gate(approved=True))[-1] == (1, "Coordinator", "gate_approved", "protected (by ann)")
    rejected = told(*guarded, gate(approved=False, reason="no"))
    assert (1, "Coordinator", "gate_rejected", "protected: no (by ann)") in rejected
    escalated = told(*APPROVED, not_landed, answered("continue", by=""))
    assert escalated[-4:-2] == [(1, "Coordinator", "answered", "continue"), (2, "Coordinator", "created", "")]


def test_a_judge_validates_too() -> None:
    assert told(*APPROVED[:4], judged("Fine"), announced, judge=True)[-2:] == [
        (1, "Expediter", "validated", "pass, 0 findings: Fine"),
        (1, "Expediter", "decided", "APPROVE: TICKET-session-001"),
    ]
    silent = told(*APPROVED[:4], crashed("gone"), judge=True)
    assert silent[-1] == (1, "Expediter", "blocked", "no result (crashed): gone")


def test_what_is_not_of_a_ticket_leaves_no_entry() -> None:
    assert told(refused) == BEGUN
    assert step_of(Announced(key=Key.parse("verdict-12.3"))) == ("verdict", 12)
    assert step_of(Announced(key=Key.parse("wait-create-2.1"))) == ("create", 2)
    assert step_of(Announced(key=Key.parse("escalation-1"))) == ("", 0)


def test_a_record_that_this_version_cannot_read_is_passed_over() -> None:
    story = played(*ROUTED_BACK)
    strange = Record(loop=LOOP, seq=20, at=AT, kind="Unheard", data="{}")
    assert folded(story.past, strange, story.state) == replace(story.past, stale=(2,))


def test_a_ticket_that_was_just_opened_is_there_before_anything_happens_in_it() -> None:
    story = played(*ROUTED_BACK)
    assert story.records[-1].kind == "Started"
    early = story.first(len(story.records) - 1).past.of(2)
    assert [(entry.role, entry.what) for entry in early.entries] == [("Expediter", "created")]
    assert early.when("created") == story.past.of(2).when("created") == "2026-01-17T10:41:00Z"
    assert early.when("claimed") is None


def test_a_session_that_was_taken_over_begins_with_its_own_ticket() -> None:
    past = (Ticket(number=1, decision=Decision.ROUTE_BACK), Ticket(number=2, parent=1, decision=Decision.ROUTE_BACK))
    taken = played(params=replace(PARAMS, adopted=past))
    assert [number for number, *_ in entries(taken.past)] == [3, 3, 3]
    full = replace(PARAMS, adopted=past, limits=TicketLimits(max=2))
    asked = played(answered("continue"), params=full)
    assert [(number, what) for number, _, what, _ in entries(asked.past)] == [
        *((2, "answered"), (3, "created"), (3, "claimed"), (3, "activated"))
    ]


def test_the_agent_that_did_the_work_is_known() -> None:
    story = played(*ROUTED_BACK, *APPROVED)
    assert (story.past.of(1).creator, story.past.of(2).creator) == ("alpha", "beta")
    assert played(made("x", "")).past.of(1).creator == "alpha"


def test_who_began_a_session_may_be_unknown() -> None:
    created = Created(kind="tickets", params=encode(PARAMS))
    record = Record(loop=LOOP, seq=1, at=AT, kind="Created", data=encode(created))
    assert entries(folded(None, record, TICKETS.start(PARAMS))) == [(1, "Coordinator", "created", "")]


def test_a_ticket_that_could_not_be_merged_opens_the_next_one() -> None:
    assert told(*APPROVED, conflicted)[-4:-2] == [
        (1, "Expediter", "blocked", "not landed: src/client.py"),
        (2, "Expediter", "created", ""),
    ]
