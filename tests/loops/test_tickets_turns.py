"""Whose turn it is: where a ticket is adopted, and where its creator has changed nothing."""

from __future__ import annotations

from loopwright.kernel.actions import Ask, Checkpoint, RunAgent, RunChecks
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
    assert t.wanted(turn("blocked"), Ask).question == "The ticket is blocked and does not say why. How can it go on?"
    state = turn("blocked", hold="which database?")
    assert t.wanted(state, Ask).question == "The ticket is blocked: which database?"
    state = t.play(state, t.says("answer", text="SQLite"))
    assert t.creator(state).brief.answers == ("The ticket is blocked: which database?\n→ SQLite",)


def test_all_else_is_the_creators() -> None:
    assert t.creator(turn("")).start == Commit("base")


# --- where nothing was changed ---------------------------------------------------------------------------------------


def test_at_the_first_attempt_a_person_is_asked_whether_it_was_done_already() -> None:
    state = t.told(*t.made("c1", files=0))
    ask = t.wanted(state, Ask)
    assert ask.question == "The creator has changed nothing. Was it done already?"
    assert ([option.choice for option in ask.options], ask.questions[0].impact[:6]) == (
        ["answer", "done", "cancel"],
        "`done`",
    )
    again = t.play(state, t.says("answer", text="look at pay.py"))
    assert (str(t.creator(again).key), t.creator(again).brief.answers[0][-16:]) == ("create-1.4", "→ look at pay.py")
    made = t.play(again, t.MADE)
    assert (t.keys(made), t.wanted(made, Checkpoint).label) == (["checkpoint-1.5"], "1-5")
    assert where(t.play(made, t.saved("c1"))) == "CRITIQUE"
    judged = t.play(state, t.says("done"), t.passes(), t.GREEN, t.SAID)
    assert (t.decisions(judged), where(judged)) == (["APPROVE"], "LAND")
    assert t.decisions(t.play(state, t.says("done"), t.fails(t.ALPHA), t.GREEN, t.SAID)) == ["ROUTE_BACK"]


def test_a_creator_that_failed_and_left_nothing_is_not_asked_about() -> None:
    assert where(t.told(t.CRASHED, t.CRASHED, t.saved("c1", files=0))) == "CRITIQUE"


def test_the_same_tree_has_the_same_verdict_and_nobody_is_asked_again() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.made("c1"))
    assert where(state) == "VERDICT"
    assert t.open_rules(state) == ["grave", "nothing-changed", "alpha"]
    assert (t.last(state).critiques, t.last(state).checks) == (state.past[0].critiques, state.past[0].checks)
    assert t.decisions(state) == ["ROUTE_BACK", "ROUTE_BACK"]
    assert t.last(state).resolved == ()


def test_it_is_never_approved_however_good_the_tree_looked() -> None:
    red = t.ticket("c1", t.passes(), t.RED)
    assert t.decisions(t.told(*red, *t.made("c1"), t.SAID, max=2)) == ["ROUTE_BACK", "ESCALATE"]


def test_what_a_person_said_since_is_a_reason_to_judge_the_same_tree_again() -> None:
    state = t.play(t.told(*t.bads(2), max=2), t.says("examples", text="like this"), *t.made("c2"))
    assert where(state) == "CRITIQUE"


def test_where_a_critic_was_silent_there_is_no_verdict_that_could_stand() -> None:
    silent = (*t.made("c1"), t.CRASHED, t.CRASHED, t.GREEN, t.SAID)
    assert where(t.told(*silent, *t.made("c1"))) == "CRITIQUE"


def test_a_session_that_began_before_the_rule_asks_again() -> None:
    assert where(t.told(*t.bad("c1"), *t.made("c1"), firm=False)) == "CRITIQUE"
    assert where(t.told(*t.made("c1", files=0), firm=False)) == "CRITIQUE"
