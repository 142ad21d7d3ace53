"""One ticket after the other: the seed's example, what each role is told, what stays on record, how it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Announce, Checkpoint, CleanUp, Integrate, RunAgent, RunChecks
from loopwright.kernel.events import BudgetChanged, Combined, Event
from loopwright.kernel.model import NO_KEY, Cleanup, Ending, Outcome, Severity
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Decision, Ticket, TicketsPhase
from tests.loops import tickets as t


def test_a_ticket_goes_through_creator_checkpoint_critic_checks_and_verdict() -> None:
    state, seen = t.session(), []
    for letter in (*t.GOOD, t.LANDED):
        seen.append((where(state), t.keys(state)))
        state = t.play(state, letter)
    assert seen == [
        ("CREATE", ["create-1.1"]),
        ("CHECKPOINT", ["checkpoint-1"]),
        ("CRITIQUE", ["critique-1-1.1"]),
        ("CHECK", ["checks-1.4"]),
        ("VERDICT", ["verdict-1.5"]),
        ("LAND", ["land-1-0.6"]),
    ]
    assert where(state) == Station.DONE


def test_the_line_of_the_verdict_is_put_on_record() -> None:
    state = t.told(*t.GOOD[:-1])
    assert t.wanted(state, Announce).text == "APPROVE: TICKET-pay-001"
    assert TICKETS.stand(state).headline == "APPROVE: TICKET-pay-001"


def test_what_is_not_approved_becomes_a_new_ticket_with_a_parent() -> None:
    state = t.told(*t.bad("c1"))
    assert t.decisions(state) == ["ROUTE_BACK"]
    assert state.ticket == Ticket(number=2, parent=1)
    assert t.keys(state) == ["create-2.1"]


def test_an_approved_ticket_lands_its_own_commit_and_ends_verified() -> None:
    state = t.told(*t.bad("c1"), *t.GOOD, target="refs/heads/main", merge=True, branch="loop/7")
    land = t.wanted(state, Integrate)
    assert (land.commit, land.base, land.branch, land.target, land.verified, land.message, land.why) == (
        "good",
        "base",
        "loop/7",
        "refs/heads/main",
        True,
        "Pay orders",
        "APPROVE: TICKET-pay-002",
    )
    assert t.outcome(t.play(state, t.LANDED)) == Outcome(
        ending=Ending.VERIFIED, attempts=2, commit=t.LANDED.commit, branch="loop/1", note="APPROVE: TICKET-pay-002"
    )


def test_without_the_wish_to_merge_it_stays_on_its_branch() -> None:
    assert t.wanted(t.told(*t.GOOD, target="refs/heads/main"), Integrate).target == ""


def test_the_fifth_ticket_that_is_not_approved_escalates() -> None:
    state = t.told(*t.bads(4))
    assert state.ticket.number == 5
    state = t.play(state, *t.bad("c5"))
    assert t.decisions(state) == ["ROUTE_BACK"] * 4 + ["ESCALATE"]
    assert (where(state), state.course.reasons) == (Station.ESCALATED, ("ticket 5 of 5 was not approved",))


def test_the_fifth_ticket_may_still_be_approved() -> None:
    state = t.told(*t.bads(4), *t.GOOD)
    assert (t.decisions(state)[-1], where(state)) == ("APPROVE", Station.LAND)


def test_a_session_of_one_ticket_escalates_with_the_first() -> None:
    assert t.decisions(t.told(*t.bad(), max=1)) == ["ESCALATE"]


# --- what each role is told ----------------------------------------------------------------------------------------


def test_the_first_creator_is_told_the_task_and_the_criteria() -> None:
    action = t.creator(t.session(what="with a card", context="see docs"))
    brief = action.brief
    assert (brief.task, brief.attempt, brief.limit, brief.own.story, brief.criteria) == (
        "Pay orders\n\nwith a card\n\nsee docs",
        1,
        5,
        "TICKET-pay-001",
        ("AC-1: Orders can be paid", "AC-2: Errors are told", "AC-3: Receipts are sent"),
    )
    assert (brief.findings, brief.history, brief.answers, action.start, action.agent, action.why) == (
        (),
        (),
        (),
        "base",
        "",
        "the ticket is new",
    )


def test_a_rework_brief_has_the_history_what_is_open_and_the_gaps_lowest_score_first() -> None:
    worst = t.critical("alpha", requirement="AC-2", guidance="x")
    better = t.critical("beta", requirement="AC-1", expected="6 paths", actual="4 of 6")
    action = t.creator(t.told(*t.bad("c1", better, worst, checks=t.RED)))
    assert set(action.brief.findings) == {worst, better, t.BROKEN_TEST}
    assert action.brief.answers == ()
    assert action.brief.own.feedback == (
        "PRIORITY Errors are told / alpha: expected Errors are told; actual alpha is wrong; score 0.00; guidance: x",
        "Orders can be paid / beta: expected 6 paths; actual 4 of 6; score 0.67",
        (
            "Tests / test check: expected all tests pass; actual 5 of 6 passed; score 0.83;"
            " guidance: make these pass: t.py::test_pay"
        ),
    )
    (line,) = action.brief.history
    assert line == (
        "TICKET-pay-001: ROUTE_BACK, accuracy 0.40, first; gaps: Errors are told, Orders can be paid, Tests;"
        " tried: wrote it"
    )
    assert (action.start, action.why) == ("c1", "ticket 2: retry")


def test_an_approach_that_made_it_worse_is_flagged() -> None:
    state = t.told(*t.bad("c1", t.GRAVE), *t.bad("c2", t.GRAVE, t.ALPHA, checks=t.RED))
    assert [ticket.worse for ticket in state.past] == [False, True]
    assert "TICKET-pay-002: ROUTE_BACK, accuracy 0.67, stalled, worse than before; gaps" in "\n".join(
        t.creator(state).brief.history
    )
    assert "accuracy 0.67, score 0.81, stalled, worse than the ticket before" in TICKETS.stand(state).lines


def test_critics_are_told_what_was_open_before_and_nothing_the_creator_says() -> None:
    state = t.told(*t.bad("c1"), *t.made("c2"))
    (critic,) = t.judges(state)
    assert (critic.role, critic.start, critic.brief.candidate, critic.brief.base) == ("critic", "c2", "c2", "base")
    assert (critic.brief.findings, critic.brief.history) == ((t.GRAVE,), ())
    assert "wrote it" not in str(critic.brief)


def test_the_judge_is_told_what_critics_and_checks_found() -> None:
    state = t.told(*t.made(), t.fails(t.GRAVE), t.RED, judge=True)
    (judge,) = t.judges(state)
    assert (str(judge.key), judge.role) == ("judge-1.5", "judge")
    assert judge.brief.findings == (t.GRAVE, t.BROKEN_TEST)


def test_the_checks_run_on_the_tickets_commit() -> None:
    checks = t.wanted(t.told(*t.made("c1"), t.passes()), RunChecks)
    assert (checks.commit, checks.base, checks.names, checks.approved) == ("c1", "base", (), ())


def test_every_tickets_work_is_kept() -> None:
    checkpoint = t.wanted(t.told(*t.bad("c1"), t.MADE), Checkpoint)
    assert (str(checkpoint.key), checkpoint.label, checkpoint.parent, checkpoint.base) == (
        "checkpoint-2",
        "2",
        "c1",
        "base",
    )


# --- what stays on record ------------------------------------------------------------------------------------------


def test_a_ticket_keeps_everything_that_was_said_about_it() -> None:
    state = t.told(*t.made("c1"), t.fails(t.GRAVE), t.GREEN, t.SAID)
    closed = t.last(state)
    assert (closed.number, closed.notes, closed.commit, closed.files, closed.checks) == (
        1,
        "wrote it",
        "c1",
        ("src/pay.py",),
        (t.BUILD, t.TESTS),
    )
    assert [(each.role, each.verdict, each.findings) for each in closed.critiques] == [("critic", "fail", (t.GRAVE,))]
    assert (closed.decision, closed.trend) == (Decision.ROUTE_BACK, "first")


def test_issues_are_resolved_ongoing_or_new() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.ALPHA, t.critical("other")))
    second = t.last(state)
    assert second.resolved == (t.GRAVE,)
    assert second.ongoing == (t.ALPHA.fingerprint,)
    assert [each.rule for each in second.findings if each.fingerprint not in second.ongoing] == ["other"]


def test_a_finding_that_comes_back_weighs_more() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.GRAVE), *t.bad("c3", t.GRAVE, t.ALPHA))
    assert {each.rule: each.severity for each in t.last(state).findings} == {
        "grave": Severity.CRITICAL,
        "alpha": Severity.CRITICAL,
    }


def test_a_finding_that_critic_and_check_share_is_told_once() -> None:
    state = t.told(*t.ticket("c1", t.fails(t.BROKEN_TEST), t.RED))
    assert t.open_rules(state) == ["t.py::test_pay"]


def test_a_ticket_without_any_change_is_not_approved() -> None:
    state = t.told(*t.bad("c1"), *t.made("c2", files=0), t.passes(), t.GREEN, t.SAID)
    assert (t.open_rules(state), t.decisions(state)) == (["no-change"], ["ROUTE_BACK", "ROUTE_BACK"])


def test_a_change_whose_files_are_not_named_is_a_change() -> None:
    unnamed = replace(t.saved("c1"), paths=())
    state = t.told(t.MADE, unnamed, t.passes(), t.GREEN, t.SAID)
    assert (t.last(state).files, t.decisions(state)) == (("(not named)",), ["APPROVE"])


# --- ends ----------------------------------------------------------------------------------------------------------


def test_a_refused_landing_asks_a_person_and_is_told_to_the_next_creator() -> None:
    refused = replace(t.REFUSED, reason="checks", detail="", findings=(t.ALPHA,))
    state = t.told(*t.GOOD, refused)
    assert (where(state), state.course.reasons) == (Station.ESCALATED, ("the result could not be landed: checks",))
    assert t.decisions(state) == ["APPROVE"]
    state = t.play(state, t.says("continue"))
    assert (state.ticket.number, t.creator(state).brief.answers) == (
        2,
        ("the result could not be landed: checks; alpha is wrong",),
    )


def test_a_merge_with_a_conflict_is_a_failed_ticket_and_the_next_begins_at_the_new_tip() -> None:
    state = t.told(*t.GOOD, t.CONFLICT)
    assert (where(state), state.ticket.number, t.decisions(state)) == (TicketsPhase.CREATE, 2, ["ROUTE_BACK"])
    creator = t.creator(state)
    assert (creator.start, creator.brief.base) == ("tip", "tip")
    assert [(each.rule, each.severity, each.issue) for each in creator.brief.findings] == [
        (
            "not-merged",
            Severity.CRITICAL,
            (
                "It does not go together with what was landed meanwhile: main moved on; the change so far is commit"
                " good; it has to be made again on top of tip"
            ),
        )
    ]
    assert creator.brief.history == (
        (
            "TICKET-pay-001: ROUTE_BACK, accuracy 1.00, first, could not be landed: main moved on; gaps: none;"
            " tried: wrote it"
        ),
    )
    state = t.play(state, *t.made("c2"))
    assert t.judges(state)[0].brief.base == "tip"
    assert t.wanted(t.play(state, t.passes()), RunChecks).base == "tip"


def test_what_fails_on_the_merged_tree_is_told_and_the_next_ticket_goes_on_from_that_tree() -> None:
    state = t.told(*t.GOOD, t.RED_MERGE)
    creator = t.creator(state)
    assert (creator.start, creator.brief.base) == ("merged", "tip")
    assert [(each.rule, each.severity) for each in creator.brief.findings] == [("t.py::test_pay", Severity.CRITICAL)]
    silent = replace(t.RED_MERGE, findings=(), detail="")
    assert [each.issue for each in t.creator(t.told(*t.GOOD, silent)).brief.findings] == [
        "It does not go together with what was landed meanwhile: checks"
    ]


def test_a_ticket_that_could_be_merged_at_last_resolves_what_kept_the_one_before_from_it() -> None:
    state = t.told(*t.GOOD, t.RED_MERGE, *t.ticket("c2", t.passes()))
    assert (t.decisions(state), t.open_rules(state)) == (["ROUTE_BACK", "APPROVE"], [])
    assert [each.rule for each in t.last(state).resolved] == ["t.py::test_pay"]
    assert (t.wanted(state, Integrate).commit, t.wanted(state, Integrate).base) == ("c2", "tip")
    assert t.outcome(t.play(state, t.LANDED)).attempts == 2


def test_the_last_ticket_that_cannot_be_merged_goes_to_a_person() -> None:
    state = t.told(*t.GOOD, t.CONFLICT, max=1)
    assert (where(state), t.decisions(state)) == (Station.ESCALATED, ["ESCALATE"])
    assert t.question(state).why == "ticket 1 of 1 could not be landed: main moved on"
    taken = t.wanted(t.play(state, t.says("accept"), t.GREEN), Integrate)
    assert (taken.commit, taken.base, taken.target) == ("good", "base", "")
    assert t.creator(t.play(state, t.says("continue"))).start == "tip"


def test_a_fresh_start_after_a_refused_merge_takes_no_ticket_of_the_old_base() -> None:
    """The best of those that stand on the new tip, and before there is one, the tip itself."""
    state = t.told(*t.bads(2), *t.ticket("c3", t.passes()), t.CONFLICT, max=9)
    assert t.creator(state).start == "tip"
    state = t.play(state, *t.bad("n4", t.GRAVE, t.ALPHA, checks=t.RED), *t.bad("n5"), *t.bad("n6", checks=t.RED))
    assert (state.ticket.move, t.creator(state).start) == ("retry", "n6")
    state = t.play(state, *t.bad("n7", checks=t.RED))
    assert (state.ticket.move, t.creator(state).start) == ("fresh context", "n5")


def test_a_merge_that_could_not_be_made_is_told_with_what_was_verified() -> None:
    done = t.outcome(t.told(*t.GOOD, t.LEFT))
    assert (done.ending, done.not_merged) == (Ending.VERIFIED, "main has changes that are not committed")


def test_what_was_refused_may_be_accepted_and_refused_again() -> None:
    checks = t.told(*t.GOOD, t.REFUSED, t.says("accept"))
    land = t.play(checks, t.GREEN)
    again = t.play(land, t.REFUSED, t.says("accept"))
    assert [t.keys(each) for each in (checks, land, again)] == [["checks-1-1.7"], ["land-1-1.7"], ["checks-1-2.8"]]
    assert t.keys(t.play(again, t.GREEN)) == ["land-1-2.8"]


def test_what_a_ticket_never_asks_for_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="a ticket never asks for it"):
        TICKETS.apply(t.session(), Combined(key=NO_KEY, commit=t.BASE))


def test_a_cancel_cleans_up_and_ends_it() -> None:
    state = t.told(*t.bad("c1"), t.CANCEL)
    assert t.wanted(state, CleanUp).choice is Cleanup.ROLLBACK
    assert t.outcome(t.play(state, t.CLEANED)) == Outcome(
        ending=Ending.CANCELLED,
        attempts=1,
        note="ROUTE_BACK: TICKET-pay-001",
        findings=(t.GRAVE,),
        cleanup=Cleanup.ROLLBACK,
    )


def test_a_cancel_before_the_first_ticket_is_over_has_nothing_to_show() -> None:
    state = t.told(t.MADE, t.CANCEL, t.CLEANED)
    assert t.outcome(state) == Outcome(ending=Ending.CANCELLED, cleanup=Cleanup.ROLLBACK)


def test_a_cancel_while_landing_lets_it_land_or_cleans_up() -> None:
    state = t.told(*t.GOOD, t.CANCEL)
    assert (where(state), t.keys(state)) == (Station.LAND, ["land-1-0.6"])
    assert t.outcome(t.play(state, t.LANDED)).ending is Ending.VERIFIED
    assert where(t.play(state, t.REFUSED)) == Station.CLEAN_UP


@pytest.mark.parametrize("ending", [(t.CANCEL,), (t.CANCEL, t.CLEANED)])
def test_what_has_ended_cannot_be_cancelled(ending: tuple[Event, ...]) -> None:
    with pytest.raises(InvalidTransition, match="the session has ended"):
        t.told(*ending, t.CANCEL)


def test_money_is_not_the_machines_business() -> None:
    state = t.session()
    assert t.play(state, BudgetChanged(usd=3.0)) == state


# --- new limits ----------------------------------------------------------------------------------------------------


def test_new_limits_move_the_allowance_by_their_difference() -> None:
    state = t.told(*t.bads(5), t.says("continue", count=2), t.configured(max=6))
    assert (state.allowance, state.plan.limits.max) == (8, 6)


def test_lower_limits_let_the_ticket_under_way_end_and_no_other_begin() -> None:
    state = t.told(*t.bads(3), t.configured(max=1))
    assert (state.ticket.number, state.allowance) == (4, 4)
    assert t.decisions(t.play(state, *t.bad("c4")))[-1] == "ESCALATE"


def test_lower_limits_leave_a_decision_as_it_is() -> None:
    state = t.told(*t.bad("c1"), *t.bad("c2")[:-1], t.configured(max=1))
    assert (t.decisions(state), state.allowance) == (["ROUTE_BACK", "ROUTE_BACK"], 3)
    state = t.play(state, t.SAID, *t.bad("c3"))
    assert t.decisions(state)[-1] == "ESCALATE"


def test_limits_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InvalidTransition, match="limits: "):
        t.told(t.configured(most=3))


def test_limits_come_too_late_for_what_has_ended() -> None:
    with pytest.raises(InvalidTransition, match="the session has ended"):
        t.told(*t.GOOD, t.LANDED, t.configured(max=3))


# --- adopted tickets -----------------------------------------------------------------------------------------------


def adopted(number: int, **facts: object) -> Ticket:
    known: dict[str, object] = {"number": number, "decision": Decision.ROUTE_BACK, "accuracy": 0.3, **facts}
    return Ticket(**known)  # type: ignore[arg-type]  # the fields of a ticket, whatever they are


def test_adopted_tickets_go_on_with_the_next_number() -> None:
    state = t.session(adopted=(adopted(1), adopted(2, findings=(t.GRAVE,))))
    assert (state.ticket.number, state.ticket.parent, len(state.past)) == (3, 2, 2)
    action = t.creator(state)
    assert action.brief.findings == (t.GRAVE,)
    assert action.brief.history[0] == "TICKET-pay-001: ROUTE_BACK, accuracy 0.30, adopted; gaps: none"
    assert t.decisions(t.play(state, *t.GOOD)) == ["ROUTE_BACK", "ROUTE_BACK", "APPROVE"]


def test_what_was_open_in_an_adopted_ticket_is_resolved_or_ongoing() -> None:
    state = t.session(adopted=(adopted(1, findings=(t.GRAVE, t.ALPHA)),))
    closed = t.last(t.play(state, *t.bad("c1", t.GRAVE)))
    assert (closed.resolved, closed.ongoing) == ((t.ALPHA,), (t.GRAVE.fingerprint,))


def test_an_adopted_ticket_that_is_under_way_keeps_its_number() -> None:
    begun = Ticket(number=2, parent=1, focus=("AC-1",), guidance=("do it so",), notes="half")
    state = t.session(adopted=(adopted(1), begun))
    assert state.ticket == Ticket(number=2, parent=1, focus=("AC-1",), guidance=("do it so",))
    assert [ticket.number for ticket in state.past] == [1]


def test_numbers_of_adopted_tickets_need_not_begin_at_one() -> None:
    state = t.session(adopted=(adopted(4),), max=5)
    assert t.decisions(t.play(state, *t.bad("c5"))) == ["ROUTE_BACK", "ESCALATE"]


def test_as_many_adopted_tickets_as_allowed_ask_a_person_first() -> None:
    state = t.session(adopted=tuple(adopted(number) for number in range(1, 6)))
    assert (where(state), state.course.reasons) == (Station.ESCALATED, ("5 tickets were adopted, and 5 are allowed",))
    assert "accept" not in t.options(state)
    assert t.play(state, t.says("continue")).ticket.number == 6


def test_an_escalated_ticket_that_is_adopted_asks_a_person_first() -> None:
    state = t.session(adopted=(adopted(1), adopted(2, decision=Decision.ESCALATE)))
    assert (where(state), state.course.reasons) == (
        Station.ESCALATED,
        ("the last ticket that was adopted is escalated",),
    )
    assert t.play(state, t.says("examples", text="so")).ticket.number == 3


# --- where it stands -----------------------------------------------------------------------------------------------


def test_a_new_session_has_little_to_say() -> None:
    stand = TICKETS.stand(t.session())
    assert (str(stand.point), stand.limit, stand.failures, stand.headline, stand.lines) == (
        "CREATE@1",
        5,
        0,
        "",
        ("tickets used: 0 of 5",),
    )


def test_where_it_stands_names_the_lines_the_gaps_and_the_next_move() -> None:
    stand = TICKETS.stand(t.told(*t.bads(2)))
    assert (str(stand.point), stand.failures, stand.headline, stand.findings) == (
        "CREATE@3",
        2,
        "ROUTE_BACK: TICKET-pay-002",
        (t.GRAVE,),
    )
    assert stand.lines == (
        "tickets used: 2 of 5",
        "accuracy 0.83, score 0.83, stalled",
        "automatic reject: critical issue unresolved (grave is wrong)",
        "consider accept, not met: all critical issues resolved (grave is wrong)",
        "critic: a critic does not approve (critic: looked at it)",
        "persistent gap: grave, in 2 tickets",
        "tickets without progress in a row: 1; this ticket's move: retry",
        "if it escalates: examples (grave failed in 2 tickets: show what is wanted)",
    )


def test_a_role_never_gets_a_second_step_while_its_first_is_wanted() -> None:
    assert [type(action) for action in TICKETS.decide(t.session())] == [RunAgent]
