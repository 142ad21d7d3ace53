"""Whether the tickets get anywhere, what is tried next, and what a coordinator is advised to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.events import Answered
from loopwright.kernel.ledger import Ledger
from loopwright.loops.tickets.aspects import UNMAPPED
from loopwright.loops.tickets.convergence import (
    intervention,
    is_worse,
    next_move,
    persistent_gaps,
    trend,
    without_progress,
)
from loopwright.loops.tickets.state import Aspect, Decision, Ticket, TicketsState
from tests.loops import tickets as t

EMPTY: Ledger = ()


def trends(state: TicketsState) -> list[str]:
    return [ticket.trend for ticket in state.past]


def moves(state: TicketsState) -> list[str]:
    return [ticket.move for ticket in (*state.past, state.ticket)]


def failed(number: int, *requirements: str, how: str = "stalled", move: str = "retry") -> Ticket:
    """A ticket in which these fell short."""
    aspects = tuple(
        Aspect(requirement=name, aspect=name, expected="", actual="", passed=False, score=0.0) for name in requirements
    )
    return Ticket(number=number, aspects=aspects, trend=how, move=move, decision=Decision.ROUTE_BACK)


# --- the trend -----------------------------------------------------------------------------------------------------


def test_fewer_grave_findings_are_an_improvement() -> None:
    assert trends(t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.GRAVE))) == ["first", "improving"]


def test_fewer_failing_checks_are_an_improvement() -> None:
    assert trends(t.told(*t.bad("c1", checks=t.RED), *t.bad("c2"))) == ["first", "improving"]


def test_as_much_trouble_as_before_is_a_stall() -> None:
    state = t.told(*t.bads(2))
    assert (trends(state), t.last(state).worse) == (["first", "stalled"], False)


def test_other_trouble_of_the_same_amount_is_a_stall() -> None:
    assert trends(t.told(*t.bad("c1", t.GRAVE), *t.bad("c2", t.critical("other")))) == ["first", "stalled"]


def test_prose_and_lesser_findings_are_no_trend() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.medium("m")), *t.bad("c2", t.GRAVE))
    assert trends(state) == ["first", "stalled"]


def test_more_trouble_is_a_stall_that_is_flagged() -> None:
    state = t.told(*t.bad("c1"), *t.bad("c2", t.GRAVE, t.ALPHA))
    assert (trends(state), t.last(state).worse) == (["first", "stalled"], True)


def test_a_finding_that_comes_back_is_an_oscillation() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.GRAVE), *t.bad("c3", t.GRAVE, t.ALPHA))
    assert trends(state) == ["first", "improving", "oscillating"]


def test_what_came_back_and_stays_is_no_second_oscillation() -> None:
    both = (t.GRAVE, t.ALPHA)
    state = t.told(*t.bad("c1", *both), *t.bad("c2", t.GRAVE), *t.bad("c3", *both), *t.bad("c4", *both))
    assert trends(state)[-1] == "stalled"


def test_after_an_approved_group_a_new_trend_begins() -> None:
    state = t.told(*t.bad("c1"), t.says("split", text="AC-1"), *t.GOOD, *t.bad("c3"), max=1)
    assert (trends(state)[-1], t.last(state).worse) == ("first", False)


def test_one_ticket_makes_no_trend() -> None:
    assert (trend((failed(1),), EMPTY), is_worse((failed(1),))) == ("first", False)


# --- the next move -------------------------------------------------------------------------------------------------


def test_it_is_tried_again_then_afresh_then_by_somebody_else() -> None:
    state = t.told(*t.bads(4), creators=("claude", "codex"))
    assert moves(state) == ["retry", "retry", "retry", "fresh context", "other agent"]
    assert t.creator(state).agent == "codex"


def test_where_there_is_nobody_else_it_is_tried_afresh_again() -> None:
    for creators in ((), ("claude",)):
        state = t.told(*t.bads(4), creators=creators)
        assert (moves(state)[-2:], t.creator(state).agent) == (["fresh context", "fresh context"], "")


def test_an_improvement_gives_patience_anew() -> None:
    state = t.told(
        *(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.GRAVE, t.ALPHA), *t.bad("c3"), *t.bad("c4")),
    )
    assert (trends(state), moves(state)[-1]) == (["first", "stalled", "improving", "stalled"], "retry")


def test_a_fresh_start_begins_at_the_best_tickets_commit() -> None:
    worse = t.bad("c2", t.GRAVE, t.ALPHA)
    state = t.told(*t.bad("c1"), *worse, *t.bad("c3", t.GRAVE, t.ALPHA, checks=t.RED))
    assert state.ticket.move == "fresh context"
    action = t.creator(state)
    assert (action.start, action.brief.candidate, action.why) == ("c1", "c1", "ticket 4: fresh context")


def test_another_agent_begins_at_the_best_tickets_commit_too() -> None:
    state = t.told(*t.bad("c1"), *t.bad("c2", t.GRAVE, t.ALPHA), *t.bad("c3", t.GRAVE, t.ALPHA), creators=("a", "b"))
    state = t.play(state, *t.bad("c4", t.GRAVE, t.ALPHA))
    assert (state.ticket.move, t.creator(state).start) == ("other agent", "c1")


def test_a_fresh_start_without_anything_to_start_from_begins_where_it_is() -> None:
    nothing = tuple(
        event
        for number in range(3)
        for event in (t.TIMED_OUT, t.IDLE, t.saved(f"e{number}", files=0), t.passes(), t.GREEN, t.SAID)
    )
    state = t.told(*nothing)
    assert (state.ticket.move, t.creator(state).start) == ("fresh context", "e2")


def test_a_fresh_start_leaves_the_gate_of_the_last_ticket_behind() -> None:
    touched = t.ticket("c3", t.fails(t.GRAVE, t.ALPHA), evidence="e1")
    state = t.told(*t.bad("c1"), *t.bad("c2", t.GRAVE, t.ALPHA), *touched)
    assert (t.creator(state).start, t.keys(state)) == ("c1", ["create-4.1"])


def test_a_fresh_start_at_the_very_commit_keeps_its_gate() -> None:
    state = t.told(*t.bads(2), *t.ticket("c3", t.fails(t.GRAVE), evidence="e1"))
    assert (t.creator(state).start, t.keys(state)) == ("c3", ["create-4.1", "gate-protected-e1"])


def test_creators_take_turns_round_and_round() -> None:
    state = t.told(*t.bads(6), creators=("a", "b"), max=9)
    assert (moves(state)[4:], t.creator(state).agent) == (["other agent"] * 3, "b")
    assert t.creator(t.play(state, *t.bad("c7"))).agent == "a"


def test_an_agent_that_is_none_of_the_creators_is_followed_by_the_first() -> None:
    state = t.told(
        *t.bads(1), t.says("reassign", text="creator=x", count=9), *t.bads(3, first=2), creators=("a", "b"), max=1
    )
    assert (moves(state)[-1], t.creator(state).agent) == ("other agent", "a")


@pytest.mark.parametrize(
    "answer",
    [
        t.says("examples", text="so", count=9),
        t.says("revise", text="otherwise"),
        t.says("reassign", text="creator=x", count=9),
    ],
)
def test_what_a_person_decides_is_given_patience(answer: Answered) -> None:
    state = t.told(*t.bads(4), answer, *t.bad("c5"), creators=("a", "b"), max=4)
    assert (moves(state)[-2:], without_progress(state.past)) == ([answer.choice, "retry"], 1)
    state = t.play(state, *t.bad("c6"))
    assert moves(state)[-1] == "fresh context"


def test_a_row_without_progress_may_go_back_to_the_very_first() -> None:
    assert without_progress((failed(1), failed(2, how="oscillating"))) == 2


def test_adopted_tickets_are_not_held_against_the_next() -> None:
    past = tuple(failed(number, "Tests", how="") for number in range(1, 5))
    assert next_move(past, has_others=True) == "retry"


# --- persistent gaps and advice ------------------------------------------------------------------------------------


def test_a_gap_persists_when_it_fails_in_half_of_the_tickets() -> None:
    past = (failed(1, "Tests", "Build"), failed(2, "Tests"), failed(3, "Docs", "Tests"), failed(4, "Build"))
    assert persistent_gaps(past) == (("Tests", 3), ("Build", 2))


def test_one_failure_does_not_persist() -> None:
    assert persistent_gaps((failed(1, "Tests"),)) == ()


def test_what_maps_to_no_criterion_is_a_gap_by_its_own_name() -> None:
    state = t.told(*t.bads(2))
    assert UNMAPPED in {aspect.requirement for aspect in t.last(state).aspects}
    assert persistent_gaps(state.past) == (("grave", 2),)


def test_many_gaps_at_once_call_for_a_split() -> None:
    past = (failed(1, "a", "b", "c"), failed(2, "a", "b", "c"))
    assert intervention(past, can_split=True) == (
        "split",
        "3 requirements fail at once: the scope is too large for one ticket",
    )
    assert intervention((failed(1, "a", "b", "c", "d"),), can_split=True)[0] == "split"


def test_what_cannot_be_split_is_not_advised_to_be() -> None:
    past = (failed(1, "a", "b", "c"), failed(2, "a", "b", "c"))
    assert intervention(past, can_split=False)[0] == "examples"


def test_an_oscillation_calls_for_somebody_else() -> None:
    past = (failed(1, "a"), failed(2, "a", how="oscillating"))
    assert intervention(past, can_split=True) == (
        "reassign",
        "what was fixed comes back: the same agent undoes its own work",
    )


def test_a_persistent_gap_calls_for_examples() -> None:
    past = (failed(1, "a"), failed(2, "a"))
    assert intervention(past, can_split=True) == ("examples", "a failed in 2 tickets: show what is wanted")


def test_a_stall_that_no_gap_explains_calls_for_somebody_else() -> None:
    past = (failed(1, "a"), failed(2, "b"), failed(3, "c"))
    assert intervention(past, can_split=True) == (
        "reassign",
        "nothing has improved, and no single gap explains it",
    )


def test_an_improvement_calls_for_more_tickets() -> None:
    past = (failed(1, "a"), failed(2, "b", how="improving"))
    assert intervention(past, can_split=True) == ("continue", "it is improving: more tickets may do")


def test_before_there_is_a_pattern_more_tickets_are_advised() -> None:
    for past in ((), (failed(1, "a", how="first"),)):
        assert intervention(past, can_split=True) == ("continue", "too little was tried to tell")


def test_a_ticket_that_got_worse_is_still_a_stall() -> None:
    first = replace(failed(1), findings=(t.GRAVE,))
    second = replace(failed(2), findings=(t.GRAVE, t.ALPHA))
    assert (trend((first, second), EMPTY), is_worse((first, second))) == ("stalled", True)
