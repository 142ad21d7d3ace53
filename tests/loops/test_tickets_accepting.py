"""What a person accepts of a ticket has run the checks as it would land, or they saw what fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry
from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks
from loopwright.kernel.events import ChecksReported, Event
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import Change, Commit, Ending, LoopId
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.closing import lines as closing_lines
from loopwright.loops.tickets.files import pages
from loopwright.loops.tickets.kind import KIND
from loopwright.loops.tickets.machine import TICKETS, stand
from loopwright.loops.tickets.past import SessionPast
from loopwright.loops.tickets.state import TicketsState
from tests.loops import tickets as t
from tests.loops import verified as v

MAIN = "refs/heads/main"
MERGE = t.says("accept", merge=True)
ACCEPT = t.says("accept")


def begun(**given: object) -> TicketsState:
    """A session of today, past its preflight."""
    return t.play(t.session(trust=v.NOW, target=MAIN, merge=True, **{"max": 1, **given}), v.LANDS)


def judged(
    state: TicketsState,
    report: ChecksReported,
    commit: str = "c1",
    changes: tuple[Change, ...] = (),
    *,
    no: bool = True,
) -> TicketsState:
    """One ticket with a critic's no, unless it is wanted otherwise."""
    kept = replace(t.saved(commit), protected=changes, evidence=evidence(changes))
    critic = t.fails(t.ALPHA) if no else t.passes()
    return t.play(state, t.MADE, kept, critic, report, t.SAID)


def green() -> TicketsState:
    """Only its critic says no."""
    return judged(begun(), v.LANDS)


def claimed() -> TicketsState:
    """Its checks are red without a change that nobody has approved."""
    state = judged(begun(), replace(v.RED, held=v.BENT), changes=v.BENT, no=False)
    assert where(state) == Station.ESCALATED
    return state


def debt(state: TicketsState) -> str:
    return debt_entry(KIND, LoopId("t-1"), state, 0.0, "ann")


def test_green_it_lands_verified_so_that_a_target_that_moved_is_checked_with_it() -> None:
    state = t.play(green(), MERGE)
    checks = t.wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.base, checks.trust) == ("checks-1-1.6", "c1", "base", v.NOW)
    state = t.play(state, v.LANDS)
    land = t.wanted(state, Integrate)
    assert (str(land.key), land.commit, land.tree, land.target) == ("land-1-1.6", "c1", "lands", MAIN)
    assert (land.verified, land.holds_back, land.why) == (True, False, "accepted by a person: TICKET-pay-001")
    ended = t.play(state, t.LANDED)
    assert (t.outcome(ended).ending, t.outcome(ended).findings) == (Ending.ACCEPTED, (t.ALPHA,))
    assert "- **Checks**: passed\n" in debt(ended)


def test_what_was_approved_while_it_was_escalated_is_checked_before_it_lands() -> None:
    state = t.play(claimed(), v.approves(), MERGE)
    assert (t.wanted(state, RunChecks).commit, t.wanted(state, RunChecks).approved) == ("c1", v.BENT)
    landed = t.play(state, v.LANDS)
    assert (t.wanted(landed, Integrate).verified, t.wanted(landed, Integrate).approved) == (True, v.BENT)
    assert t.outcome(t.play(landed, t.LANDED)).findings == ()
    assert where(t.play(state, v.RED)) == Station.ESCALATED


def test_red_it_is_not_landed_and_the_person_hears_what_fails() -> None:
    state = t.play(green(), MERGE, v.RED)
    assert (where(state), t.keys(state), state.course.accepted) == (Station.ESCALATED, ["escalation-2"], False)
    assert t.options(state) == t.options(green())
    asked = t.question(state)
    assert "ticket 1 of 1 was not approved; what was accepted is not landed: these fail: test" in asked.question
    assert asked.findings == stand(state).findings == (t.ALPHA, v.WRONG)
    assert any("assert 1 == 2" in line for line in KIND.unresolved(state, None))


def test_accepted_once_more_it_lands_with_what_fails_as_debt() -> None:
    state = t.play(green(), MERGE, v.RED, MERGE)
    land = t.wanted(state, Integrate)
    assert (str(land.key), land.commit, land.target, land.verified, land.tree) == ("land-1-2.6", "c1", MAIN, False, "")
    assert land.known_on == ""
    assert land.holds_back
    ended = t.play(state, t.LANDED)
    assert (t.outcome(ended).ending, t.outcome(ended).findings) == (Ending.ACCEPTED, (t.ALPHA, v.WRONG))
    assert debt(ended).count("assert 1 == 2") == 1
    assert "- **Checks**" not in debt(ended)
    assert any("assert 1 == 2" in line for line in closing_lines(ended, t.outcome(ended)))


def test_what_a_person_saw_fail_is_not_asked_for_again() -> None:
    red = judged(begun(), v.RED)
    assert t.wanted(t.play(red, ACCEPT), Integrate).verified is False


def test_what_fails_of_an_earlier_ticket_they_are_shown_first() -> None:
    worse = t.fails(t.GRAVE, t.BETA)
    state = t.play(judged(begun(max=2), v.RED, no=False), t.MADE, t.saved("c2"), worse, v.LANDS, t.SAID)
    state = t.play(state, MERGE)
    assert t.wanted(state, RunChecks).commit == "c1"
    state = t.play(state, v.RED)
    assert (where(state), v.WRONG in t.question(state).findings) == (Station.ESCALATED, True)
    assert t.wanted(t.play(state, MERGE), Integrate).verified is False


def test_nor_is_what_the_next_ticket_leaves_so() -> None:
    state = t.play(judged(begun(max=2), v.RED), t.MADE, t.saved("c1"), t.SAID)
    assert (state.ticket.repeats, state.ticket.failed_with) == (1, ())
    assert t.wanted(t.play(state, ACCEPT), Integrate).verified is False


def test_the_ticket_that_was_accepted_is_checked_and_not_the_last() -> None:
    state = judged(judged(begun(max=2), v.LANDS), v.RED, "c2")
    checks = t.wanted(t.play(state, ACCEPT), RunChecks)
    assert (str(checks.key), checks.commit) == ("checks-1-1.6", "c1")
    ended = t.play(state, ACCEPT, v.LANDS, t.LANDED)
    assert t.outcome(ended).note == "ROUTE_BACK: TICKET-pay-001"


def test_what_no_test_notices_has_not_failed_and_is_said() -> None:
    ended = t.play(green(), ACCEPT, v.UNNOTICED, t.LANDED)
    assert t.outcome(ended).unnoticed == v.MISSED.sentence
    assert "- **Checks**: passed, but " in debt(ended)


def test_checks_that_do_not_look_at_it_are_none() -> None:
    state = t.play(green(), ACCEPT, v.UNREAD)
    assert [each.rule for each in stand(state).findings if each.category == "engine"] == ["unread"]


def test_what_nobody_approved_is_held_back_and_not_waited_for() -> None:
    state = t.play(judged(begun(), replace(v.WITHOUT, results=v.RED.results), changes=v.BENT), v.rejects(), ACCEPT)
    assert t.wanted(state, Integrate).verified is False
    for report in (v.WITHOUT, v.NOTHING_ELSE):
        state = t.play(green(), ACCEPT, report)
        assert (t.wanted(state, Integrate).tree, t.wanted(state, Integrate).holds_back) == ("lands", True)
        ended = t.play(state, replace(t.LANDED, held_on="loop/1-held", landed=Commit("own")))
        assert (t.outcome(ended).held, t.wanted(ended, AwaitGate).evidence) == (v.BENT, v.E1)


def test_what_was_told_of_a_protected_file_is_settled_once_it_is_approved_and_green() -> None:
    state = judged(begun(), v.RED, changes=v.BENT)
    assert "protected tests/t.py" in t.open_rules(state)
    ended = t.play(state, v.approves(), ACCEPT, v.LANDS, t.LANDED)
    assert t.outcome(ended).findings == (t.ALPHA,)


def test_red_with_what_was_approved_meanwhile_that_stays_held_back() -> None:
    moved = replace(t.REFUSED, reason="moved")
    state = t.play(green(), ACCEPT, v.WITHOUT, moved, v.approves(), ACCEPT)
    assert t.wanted(state, RunChecks).approved == v.BENT
    state = t.play(state, v.RED)
    assert t.wanted(state, RunChecks).approved == ()
    ended = t.play(state, v.WITHOUT, replace(t.LANDED, held_on="loop/1-held", landed=Commit("own")))
    assert (t.outcome(ended).ending, t.outcome(ended).held) == (Ending.ACCEPTED, v.BENT)


def test_an_approval_while_the_checks_run_has_them_run_with_it() -> None:
    state = t.play(green(), ACCEPT, v.WITHOUT, replace(t.REFUSED, reason="moved"), ACCEPT)
    after = t.play(state, v.approves())
    assert (t.wanted(state, RunChecks).approved, t.wanted(after, RunChecks).approved) == ((), v.BENT)
    assert (after.ticket, after.past) == (state.ticket, state.past)


def test_an_approval_while_it_lands_waits_for_that() -> None:
    state = t.play(green(), ACCEPT, v.WITHOUT)
    key = t.wanted(state, Integrate).key
    after = TICKETS.apply(state, replace(v.approves(), key=key))
    assert (where(after), t.wanted(after, Integrate).commit) == (Station.LAND, "c1")


def test_a_rejection_meanwhile_does_not_change_what_was_accepted() -> None:
    state = t.play(judged(judged(begun(max=2), v.LANDS, changes=v.BENT), v.RED, "c2"), ACCEPT, v.WITHOUT)
    decided = TICKETS.apply(state, replace(v.rejects(), key=t.wanted(state, Integrate).key))
    assert t.wanted(decided, Integrate).commit == t.wanted(state, Integrate).commit == "c1"


def test_red_together_with_the_target_it_is_asked_for_once_more() -> None:
    state = t.play(green(), MERGE, v.LANDS, t.RED_MERGE)
    assert (where(state), t.BROKEN_TEST in stand(state).findings) == (Station.ESCALATED, True)
    taken = t.play(state, MERGE)
    assert (t.wanted(taken, Integrate).verified, t.wanted(taken, Integrate).known_on) == (False, "tip")
    assert t.outcome(t.play(taken, t.LANDED)).findings == (t.ALPHA, t.BROKEN_TEST)


def test_an_approved_ticket_that_was_refused_with_failing_checks_is_taken_with_them() -> None:
    nowhere = replace(t.RED_MERGE, onto=Commit(""))
    for refusal in (nowhere, t.RED_MERGE):
        state = t.play(judged(begun(), v.LANDS, no=False), refusal, MERGE)
        assert t.wanted(state, Integrate).verified is False
        assert [each.rule for each in t.outcome(t.play(state, t.LANDED)).findings] == [t.BROKEN_TEST.rule]


def test_going_on_the_creator_hears_what_fails_of_what_it_goes_on_from() -> None:
    state = t.play(green(), ACCEPT, v.RED, t.says("continue", count=1))
    assert (t.creator(state).start, t.creator(state).brief.findings) == ("c1", (t.ALPHA, v.WRONG))
    assert judged(state, v.LANDS, "c2").red is None
    other = judged(judged(begun(max=2), v.LANDS), v.RED_LANDING, "c2")
    other = t.play(other, ACCEPT, v.UNREAD, t.says("continue", count=1))
    assert t.creator(other).start == "c2"
    assert "unread" not in [each.rule for each in t.creator(other).brief.findings]


def test_while_its_checks_run_the_ticket_is_still_escalated() -> None:
    page = pages(LoopId("t-1"), t.play(green(), ACCEPT), SessionPast())[-1]
    assert page.front["status"] == "escalated"


@pytest.mark.parametrize("refusal", [t.REFUSED, replace(t.REFUSED, reason="checks", findings=(t.BROKEN_TEST,))])
def test_one_that_began_before_takes_it_as_it_is(refusal: Event) -> None:
    state = t.play(judged(begun(accepts_checked=False), v.LANDS), MERGE)
    assert (t.wanted(state, Integrate).verified, t.wanted(state, Integrate).known_on) == (False, None)
    again = t.play(state, refusal, MERGE)
    assert (t.keys(again)[0], again.red) == ("land-1-2.5", None)
    assert t.outcome(t.play(again, t.LANDED)).findings == (t.ALPHA,)
