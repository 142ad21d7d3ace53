"""What a verification leads to in a ticket session: held back, waited for, told once; and what is asked afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks, Stop
from loopwright.kernel.events import ChecksReported, Event
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import Change, Commit, Ending, LoopId, Outcome
from loopwright.loops.course import Station, where
from loopwright.loops.tickets import closing
from loopwright.loops.tickets.files import Page, pages
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.past import SessionPast
from loopwright.loops.tickets.state import TicketsPhase, TicketsState
from tests.loops import afterwards
from tests.loops import verified as v
from tests.loops.tickets import (
    LANDED,
    MADE,
    SAID,
    creator,
    decisions,
    fails,
    keys,
    open_rules,
    passes,
    play,
    saved,
    says,
    session,
    wanted,
)


def begun(title: str = "Pay orders", **given: object) -> TicketsState:
    """A session of today, past its preflight."""
    return play(session(title=title, trust=v.NOW, **given), v.LANDS)


def kept(commit: str, changes: tuple[Change, ...] = ()) -> Event:
    return replace(saved(commit), protected=changes, evidence=evidence(changes))


def checked(state: TicketsState, report: ChecksReported, commit: str = "c1") -> TicketsState:
    changes = report.held or (report.claim.changes if report.claim else ())
    return play(state, MADE, kept(commit, changes), passes(), report)


def outcome(state: TicketsState) -> Outcome:
    return wanted(state, Stop).outcome


def gate(state: TicketsState) -> AwaitGate:
    return wanted(state, AwaitGate)


def test_the_checks_are_tried_before_the_first_agent_and_only_in_a_root() -> None:
    assert keys(session(trust=v.NOW)) == ["preflight"]
    assert keys(begun()) == ["create-1.1"]
    assert keys(session(trust=v.PART)) == ["create-1.1"]
    assert wanted(play(session(trust=v.PART), MADE, kept("c1"), passes()), RunChecks).trust.base == "root"


def test_what_cannot_run_ends_it_and_what_is_red_is_told_as_of_before() -> None:
    ended = outcome(play(session(trust=v.NOW), v.UNABLE))
    assert (ended.ending, ended.note) == (Ending.FAILED, "check 'test' cannot run: no pytest")
    state = play(session(trust=v.NOW), v.RED)
    assert creator(state).brief.before == (v.WRONG,)
    again = creator(play(checked(state, v.RED), SAID)).brief.findings
    assert [each.issue for each in again] == [f"(was so before you) {v.WRONG.issue}"]


def test_a_change_the_verdict_does_not_need_is_held_back_and_may_be_decided_afterwards() -> None:
    state = play(checked(begun(), v.WITHOUT), SAID)
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("lands", True)
    state = play(state, replace(LANDED, held_on="loop/1-held"))
    assert (outcome(state).ending, outcome(state).held, gate(state).evidence) == (Ending.VERIFIED, v.BENT, v.E1)


@pytest.mark.parametrize(("title", "report"), [("Loosen tests/t.py", v.WITHOUT), ("Pay", v.NOTHING_ELSE)])
def test_what_was_asked_for_or_is_all_there_is_is_waited_for(title: str, report: ChecksReported) -> None:
    state = checked(begun(title), report)
    assert (where(state), state.past) == (Station.GATE, ())
    again = play(state, v.approves())
    assert wanted(again, RunChecks).approved == v.BENT
    assert decisions(play(again, v.LANDS)) == ["APPROVE"]
    refused = play(state, v.rejects())
    assert (decisions(refused), open_rules(refused)) == (["ROUTE_BACK"], ["gate-rejected"])


def test_a_rejected_change_that_is_not_needed_is_left_out() -> None:
    state = play(begun(), MADE, kept("c1", v.BENT), v.rejects(), passes(), v.WITHOUT)
    assert decisions(state) == ["APPROVE"]
    assert [type(action) for action in TICKETS.decide(play(state, SAID, LANDED))] == [Stop]


def test_a_claim_is_told_once_and_then_waited_for_with_no_ticket_used() -> None:
    state = checked(begun(), v.CLAIMED)
    assert (decisions(state), "needs-approval" in open_rules(state)) == (["ROUTE_BACK"], True)
    state = checked(play(state, SAID), v.CLAIMED, "c2")
    assert (where(state), len(state.past), gate(state).failing) == (Station.GATE, 1, v.CLAIM.failing)
    assert wanted(play(state, v.approves()), RunChecks).approved == v.BENT
    refused = play(state, v.rejects())
    assert decisions(refused) == ["ROUTE_BACK", "ROUTE_BACK"]
    assert {"t::old", "gate-rejected"} <= set(open_rules(refused))


def test_a_creator_that_leaves_it_so_is_taken_at_its_word() -> None:
    state = play(checked(begun(), v.CLAIMED), SAID, MADE, kept("c1", v.BENT))
    assert keys(state)[0] == "checks-2.3"
    assert where(play(state, v.CLAIMED)) == Station.GATE


def test_a_manifest_waits_at_once_and_is_red_all_the_same() -> None:
    state = checked(begun(), v.AT_ONCE)
    assert (where(state), state.past) == (Station.GATE, ())
    again = play(state, v.approves(v.E3), v.AT_ONCE)
    assert (decisions(again), open_rules(again)) == (["ROUTE_BACK"], ["t::old"])


def test_an_untested_change_is_told_and_then_a_persons_business() -> None:
    state = checked(begun(), v.UNNOTICED)
    assert open_rules(state) == ["untested-change"]
    state = checked(play(state, SAID), v.UNNOTICED, "c2")
    asked = gate(state)
    assert (where(state), asked.gate) == (Station.GATE, "untested")
    taken = play(state, v.approves(asked.evidence, "untested"), v.UNNOTICED, SAID, LANDED)
    assert (outcome(taken).ending, [each.rule for each in outcome(taken).findings]) == (
        Ending.ACCEPTED,
        ["untested-change"],
    )
    refused = play(state, v.rejects(asked.evidence, "untested"))
    assert open_rules(refused) == ["gate-rejected"]
    # The next one is tested: nothing of the old question is left.
    assert decisions(checked(play(refused, SAID), v.LANDS, "c3"))[-1] == "APPROVE"


def unread() -> TicketsState:
    return checked(begun(), v.UNREAD)


def ticket_file(state: TicketsState) -> Page:
    return pages(LoopId("t-1"), state, SessionPast())[-1]


def test_at_its_gate_it_is_told_what_untested_is() -> None:
    why = "is untested (no test notices src/a.py: add)"
    assert closing.so_far(unread()) == (
        f"TICKET-pay-001: nothing speaks against it, but it {why} and waits at its gate.",
    )
    both = checked(begun("Loosen tests/t.py"), replace(v.UNREAD, held=v.BENT))
    assert f"but it changes protected files and {why} and waits" in closing.so_far(both)[-1]


@pytest.mark.parametrize(("by", "told"), [("ann", "**Taken untested** by ann: "), ("", "**Taken untested**: ")])
def test_the_file_of_a_ticket_that_was_taken_untested_says_so_and_that_it_is_approved(by: str, told: str) -> None:
    asked = unread()
    state = play(asked, replace(v.approves(gate(asked).evidence, "untested"), by=by), v.UNREAD, SAID)
    for page in (ticket_file(state), ticket_file(play(state, LANDED))):
        assert (page.front["status"], "- [ ]" in page.body) == ("approved", False)
        assert f"- {told}no test notices src/a.py: add" in page.body
    assert "Taken untested" not in ticket_file(asked).body


def test_a_no_to_an_untested_change_is_told_as_what_it_is() -> None:
    asked = unread()
    (told,) = play(asked, v.rejects(gate(asked).evidence, "untested")).course.refusals
    assert told == "A person rejected src/a.py as it is (no): no test notices src/a.py: add"


def test_a_question_about_an_earlier_ticket_does_not_keep_the_next_waiting() -> None:
    state = play(begun(), MADE, kept("c1"), fails(), fails(), v.UNREAD)
    assert (decisions(state), gate(state).gate) == (["ROUTE_BACK"], "untested")
    state = checked(play(state, SAID), v.LANDS, "c2")
    assert (where(state), decisions(state)[-1]) == (TicketsPhase.VERDICT, "APPROVE")


def test_what_is_held_back_may_be_decided_while_another_gate_is_waited_for() -> None:
    both = replace(v.UNREAD, held=v.BENT)
    state = checked(begun(), both)
    assert [each.split("-")[1] for each in keys(state)] == ["protected", "untested"]
    assert where(play(state, v.rejects())) == Station.GATE
    assert wanted(play(state, v.approves()), RunChecks).approved == v.BENT


def test_a_red_landing_run_is_a_fault_like_any_other() -> None:
    assert open_rules(checked(begun(), v.RED_LANDING)) == ["t::old"]


def landed() -> afterwards.Stand:
    state = play(begun(), MADE, kept("c0"), fails(afterwards.IN_TESTS), v.LANDS, SAID)
    state = play(checked(state, v.WITHOUT), SAID, afterwards.LANDED)
    return afterwards.Stand(loop=TICKETS, state=state, candidate="c1")


@pytest.mark.parametrize("story", afterwards.STORIES, ids=lambda story: story.__name__)
def test_a_change_that_was_held_back_after_the_end(story: Callable[[afterwards.Stand], None]) -> None:
    story(landed())


def test_what_a_person_accepts_lands_without_what_nobody_approved() -> None:
    state = play(checked(begun(max=1), replace(v.RED, held=v.BENT)), SAID, says("accept"))
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("", True)
    state = play(state, replace(LANDED, held=v.BENT, held_on="loop/1-held", landed=Commit("own")))
    assert (outcome(state).ending, outcome(state).held, gate(state).evidence) == (Ending.ACCEPTED, v.BENT, v.E1)
    assert wanted(play(state, v.approves()), RunChecks).commit == "c1"
