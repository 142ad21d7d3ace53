"""Protected files: when the gate opens, what an approval and a rejection do, and that a verdict is final."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Announce, AwaitGate, Integrate, RunChecks
from loopwright.kernel.events import Event
from loopwright.kernel.model import Change, Commit, Key, Severity
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import TicketsPhase, TicketsState
from tests.loops import tickets as t

GATE = "gate-protected-e1"
NO = (
    "A person rejected the change to tests/t.py: leave the tests alone. Leave that as the base has it and do the work"
    " without it"
)
TOUCHED = t.made("c1", evidence="e1")


def at_the_gate(**given: bool) -> TicketsState:
    """All that is missing is a person."""
    judged = (t.passes(),) if given.get("judge") else ()
    return t.told(*TOUCHED, t.passes(), t.GREEN, *judged, **given)


def test_a_changed_protected_file_opens_a_gate_beside_the_work() -> None:
    state = t.told(*TOUCHED)
    assert t.keys(state) == ["critique-1-1.1", GATE]
    assert t.wanted(state, AwaitGate) == AwaitGate(
        key=Key.parse(GATE),
        gate="protected",
        commit=Commit("c1"),
        evidence="e1",
        because=(Change(path="tests/t.py", how="changed", blob="e1"),),
        why="protected files were changed; until a person approves, the base versions run",
    )


def test_what_would_be_approved_waits_for_the_gate_before_any_verdict() -> None:
    state = at_the_gate()
    assert (where(state), t.keys(state), state.past, state.ticket.decision) == (Station.GATE, [GATE], (), None)


def test_a_changed_protected_file_is_a_finding_until_it_is_approved() -> None:
    state = t.told(*t.ticket("c1", t.fails(t.GRAVE), evidence="e1"))
    assert [(each.rule, each.file, each.severity) for each in t.last(state).findings] == [
        ("grave", "", Severity.CRITICAL),
        ("protected tests/t.py", "tests/t.py", Severity.MEDIUM),
    ]
    approved = t.told(*TOUCHED, t.approves(), t.fails(t.GRAVE), t.GREEN, t.SAID)
    assert t.open_rules(approved) == ["grave"]


def test_an_approval_has_the_same_ticket_checked_with_the_new_versions() -> None:
    state = t.play(at_the_gate(), t.approves())
    checks = t.wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.approved, state.past) == (
        "checks-1.6",
        "c1",
        t.saved(evidence="e1").protected,
        (),
    )
    state = t.play(state, t.GREEN, t.SAID)
    assert (t.decisions(state), t.wanted(state, Integrate).approved) == (["APPROVE"], t.saved(evidence="e1").protected)


def test_what_fails_with_the_approved_versions_is_not_approved() -> None:
    state = t.play(at_the_gate(), t.approves(), t.RED, t.SAID)
    assert t.decisions(state) == ["ROUTE_BACK"]


def test_a_judge_judges_once_more_after_an_approval() -> None:
    state = t.play(at_the_gate(judge=True), t.approves(), t.GREEN)
    assert (where(state), state.ticket.judgement) == (TicketsPhase.JUDGE, None)
    assert t.decisions(t.play(state, t.fails(t.GRAVE), t.SAID)) == ["ROUTE_BACK"]


def test_a_check_that_ran_twice_is_heard_once() -> None:
    """What failed before, passed with the base versions and fails with the approved ones never was resolved."""
    first = t.bad("c0", t.GRAVE, checks=t.RED)
    state = t.told(*first, *TOUCHED, t.passes(), t.GREEN, t.approves(), t.RED, t.SAID)
    assert (t.last(state).ongoing, t.last(state).trend) == ((t.BROKEN_TEST.fingerprint,), "improving")
    assert [each.severity for each in t.last(state).findings] == [Severity.HIGH]


@pytest.mark.parametrize("before", [(t.passes(),), (t.passes(), t.GREEN)])
def test_an_approval_while_checks_or_judge_are_at_work_starts_the_checks_anew(before: tuple[Event, ...]) -> None:
    state = t.told(*TOUCHED, *before, judge=True)
    after = t.play(state, t.approves())
    assert (where(after), after.ticket.checks) == (TicketsPhase.CHECK, None)
    assert t.wanted(after, RunChecks).approved == t.saved(evidence="e1").protected
    assert not set(t.keys(state)) & set(t.keys(after))


def test_an_approval_while_the_judge_waits_for_an_answer_starts_the_checks_after_it() -> None:
    state = t.told(*TOUCHED, t.passes(), t.GREEN, t.UNCLEAR, t.approves(), judge=True)
    assert where(state) == Station.CLARIFY
    state = t.play(state, t.says("answer", text="this"))
    assert (where(state), t.wanted(state, RunChecks).approved) == (TicketsPhase.CHECK, t.saved(evidence="e1").protected)
    state = t.play(state, t.GREEN, t.passes(), t.SAID)
    assert t.decisions(state) == ["APPROVE"]


@pytest.mark.parametrize("before", [(), t.bad("c1")[2:]])
def test_an_approval_at_any_other_time_is_kept(before: tuple[Event, ...]) -> None:
    state = t.told(*TOUCHED, *before)
    after = t.play(state, t.approves())
    assert (where(after), after.course.approvals) == (where(state), ("e1",))
    assert t.keys(after) == t.keys(state)[:-1]


def test_an_approval_while_the_creator_waits_for_an_answer_is_kept() -> None:
    state = t.told(*t.ticket("c1", t.fails(t.GRAVE), evidence="e1"), t.UNCLEAR, t.approves())
    assert (where(state), state.phase) == (Station.CLARIFY, TicketsPhase.CREATE)


def test_a_rejection_at_the_gate_routes_the_ticket_back() -> None:
    state = t.play(at_the_gate(), t.rejects())
    assert (where(state), t.decisions(state), len(state.past)) == (TicketsPhase.VERDICT, ["ROUTE_BACK"], 1)
    assert t.wanted(state, Announce).text == "ROUTE_BACK: TICKET-pay-001"
    assert [(each.rule, each.issue, each.severity) for each in t.last(state).findings] == [
        ("gate-rejected", NO, Severity.CRITICAL)
    ]
    answers = t.creator(t.play(state, t.SAID)).brief.answers
    assert answers[0] == "A person rejected the change to tests/t.py: leave the tests alone"


def test_a_rejection_at_the_last_ticket_escalates() -> None:
    state = t.told(*TOUCHED, t.passes(), t.GREEN, t.rejects(reason=""), t.SAID, max=1)
    assert (t.decisions(state), where(state)) == (["ESCALATE"], Station.ESCALATED)
    assert state.course.refusals == ("A person rejected the change to tests/t.py: no reason given",)


@pytest.mark.parametrize("before", [(), (t.passes(),)])
def test_a_rejection_beside_the_work_lets_it_go_on_and_counts_in_the_end(before: tuple[Event, ...]) -> None:
    state = t.told(*TOUCHED, *before)
    after = t.play(state, t.rejects())
    assert (where(after), t.keys(after)) == (where(state), t.keys(state)[:-1])
    rest = (t.passes(), t.GREEN, t.SAID)[len(before) :]
    assert t.decisions(t.play(after, *rest)) == ["ROUTE_BACK"]


def test_a_rejection_while_the_next_creator_is_at_work_starts_it_anew() -> None:
    state = t.told(*t.ticket("c1", t.fails(t.GRAVE), evidence="e1"))
    assert t.keys(state) == ["create-2.1", GATE]
    state = t.play(state, t.rejects())
    assert t.keys(state) == ["create-2.2"]
    assert "A person rejected the change to tests/t.py: leave the tests alone" in t.creator(state).brief.answers


def test_a_rejected_change_that_is_still_there_is_not_approved() -> None:
    state = t.play(at_the_gate(), t.rejects(), t.SAID, *t.made("c2", evidence="e1"))
    assert t.keys(state) == ["critique-2-1.1"]
    state = t.play(state, t.passes(), t.GREEN, t.SAID)
    assert (t.decisions(state), t.open_rules(state)) == (["ROUTE_BACK", "ROUTE_BACK"], ["gate-rejected"])


def test_a_change_that_was_restored_is_approved() -> None:
    state = t.play(at_the_gate(), t.rejects(), t.SAID, *t.GOOD)
    assert (t.decisions(state), [each.rule for each in t.last(state).resolved]) == (
        ["ROUTE_BACK", "APPROVE"],
        ["gate-rejected"],
    )


def test_an_approval_holds_for_the_same_change_in_a_later_ticket() -> None:
    state = t.told(*TOUCHED, t.approves(), t.fails(t.GRAVE), t.GREEN, t.SAID, *t.made("c2", evidence="e1"))
    assert t.keys(state) == ["critique-2-1.1"]
    assert t.decisions(t.play(state, t.passes(), t.GREEN, t.SAID)) == ["ROUTE_BACK", "APPROVE"]


def test_a_decision_on_other_changes_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="other changes"):
        t.play(at_the_gate(), t.approves("e2"))
    with pytest.raises(InvalidTransition, match="other changes"):
        t.play(at_the_gate(), replace(t.approves(), gate="deploy"))


@pytest.mark.parametrize("ending", [(t.CANCEL,), (t.says("accept"), t.GREEN)])
def test_no_gate_is_open_once_it_lands_or_is_cleaned_up(ending: tuple[Event, ...]) -> None:
    state = t.told(*t.ticket("c1", t.fails(t.GRAVE), evidence="e1"), max=1)
    assert t.keys(state) == ["escalation-1", GATE]
    assert [type(action) for action in TICKETS.decide(t.play(state, *ending))] != [AwaitGate]
    assert GATE not in t.keys(t.play(state, *ending))


def test_a_verdict_that_was_announced_is_never_taken_back() -> None:
    """A gate that is decided while the line goes on record changes what comes next, not what was said."""
    state = t.told(*t.ticket("c1", t.fails(t.GRAVE), evidence="e1")[:-1])
    for letter in (t.approves(), t.rejects()):
        after = t.play(state, letter)
        assert (after.past, where(after)) == (state.past, TicketsPhase.VERDICT)
        assert t.wanted(after, Announce) == t.wanted(state, Announce)
