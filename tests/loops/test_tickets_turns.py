"""Whose turn it is: a ticket that is adopted goes on with the role that its own status names."""

from __future__ import annotations

from loopwright.kernel.actions import Ask, RunAgent, RunChecks
from loopwright.kernel.model import Commit, Finding, Severity, Verdict
from loopwright.loops.course import where
from loopwright.loops.tickets.state import Critique, Ticket, TicketsState
from tests.loops import tickets as t

PASSED = Critique(role="critic", verdict=Verdict.PASS, summary="it is good")
NO = Finding(severity=Severity.CRITICAL, rule="needs-changes", issue="The critic wants changes")
SENT_BACK = Critique(role="critic", verdict=Verdict.FAIL, summary="no tests", findings=(NO,))


def turn(status: str, *critiques: Critique, **given: object) -> TicketsState:
    begun = Ticket(number=2, parent=1, notes="wrote it", critiques=critiques)
    return t.session(adopted=(begun,), stands=status, **given)


def test_what_was_made_is_looked_at_by_the_critics() -> None:
    state = turn("critic_review", critics=("critic", "security-critic"))
    assert [(str(action.key), action.role, action.start) for action in t.judges(state)] == [
        ("critique-2-1.1", "critic", t.BASE),
        ("critique-2-2.1", "security-critic", t.BASE),
    ]
    state = t.play(state, t.passes(), t.passes(), t.GREEN, t.SAID)
    assert (t.decisions(state), where(state)) == (["APPROVE"], "LAND")


def test_what_was_criticised_is_judged() -> None:
    state = turn("expediter_review", PASSED)
    assert t.wanted(state, RunChecks).commit == t.BASE
    assert t.decisions(t.play(state, t.GREEN, t.SAID)) == ["APPROVE"]
    assert t.decisions(t.play(state, t.RED, t.SAID)) == ["ROUTE_BACK"]


def test_a_no_that_was_written_down_before_stays_a_no() -> None:
    state = t.play(turn("expediter_review", SENT_BACK), t.GREEN, t.SAID)
    assert (t.decisions(state), t.open_rules(state)) == (["ROUTE_BACK"], ["needs-changes"])
    assert t.creator(state).start == t.BASE


def test_where_nobody_can_tell_what_the_critic_said_it_is_asked() -> None:
    assert t.wanted(turn("expediter_review"), RunAgent).role == "critic"


def test_the_first_ticket_may_be_a_critics_too() -> None:
    assert t.wanted(t.session(stands="critic_review"), RunAgent).role == "critic"


def test_a_blocked_ticket_asks_what_keeps_it() -> None:
    assert t.wanted(turn("blocked"), Ask).question == "The ticket is blocked: it does not say why"
    state = turn("blocked", hold="which database?")
    assert t.wanted(state, Ask).question == "The ticket is blocked: which database?"
    state = t.play(state, t.says("answer", text="SQLite"))
    assert t.creator(state).brief.answers == ("The ticket is blocked: which database?\n→ SQLite",)


def test_all_else_is_the_creators() -> None:
    assert t.creator(turn("")).start == Commit("base")
