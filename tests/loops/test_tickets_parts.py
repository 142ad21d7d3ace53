"""A ticket session as a part of a larger loop: commands that its task brings, and a result that its parent lands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import ChecksReported, Event
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import CheckResult, Commit, Demand, Ending, Outcome
from loopwright.kernel.trust import LandedBefore
from loopwright.loops.course import Station, where
from loopwright.loops.parts import TaskFacts
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Criterion, Decision, TicketFacts, TicketsState
from tests.loops import tickets as t
from tests.loops import verified as v
from tests.loops.harness import check_keys, check_refusals, check_round_trip
from tests.loops.test_tickets_walk import Alphabet, reachable

DEMANDS = (Demand("T-001", ("make", "one")),)
FACTS = TaskFacts(task_id="T-001", wave=2, request="Sell more", must_not=("It leaks",), advised=("look twice",))
AFTER = LandedBefore(commit=Commit("base"), allow=("pay",))
UNMET = replace(v.LANDS, also=(CheckResult(name="T-001", passed=False, note="exit code 3"),))
MET = replace(v.LANDS, also=(CheckResult(name="T-001", passed=True),))
GIVEN = {
    "title": "T-001: Pay orders",
    "criteria": (),
    "part": FACTS,
    "answers": ("in euros",),
    "before": (t.BROKEN_TEST,),
    "after": AFTER,
    "also": DEMANDS,
    "lands": False,
    "trust": v.PART,
}


def part(**given: object) -> TicketsState:
    return t.session(**{**GIVEN, "max": 1, **given})


def checked(state: TicketsState, report: ChecksReported, commit: str = "c1") -> TicketsState:
    kept = replace(t.saved(commit), protected=report.held, evidence=evidence(report.held))
    return t.play(state, t.MADE, kept, t.passes(), report)


def outcome(state: TicketsState) -> Outcome:
    return t.wanted(state, Stop).outcome


def rules_of(state: TicketsState) -> list[str]:
    return [each.rule for each in t.wanted(state, Ask).findings]


# --- what it is told, and what judges it


def test_every_role_is_told_of_what_it_is_a_part() -> None:
    made = t.play(part(judge=True), t.MADE, t.saved())
    told = TicketFacts(
        story=f"TICKET-{made.plan.session}-001",
        commands=DEMANDS,
        task_id="T-001",
        wave=2,
        request="Sell more",
        must_not=("It leaks",),
        advised=("look twice",),
    )
    judge = t.wanted(t.play(made, t.passes(), MET), RunAgent)
    assert [run.brief.own for run in (t.creator(part()), t.wanted(made, RunAgent), judge)] == [told] * 3
    brief = t.creator(part()).brief
    assert (brief.answers, brief.before) == (("in euros",), (t.BROKEN_TEST,))


def test_the_task_is_its_own_criterion_unless_it_has_others() -> None:
    assert part().plan.criteria == (Criterion(id="T-001", text="Pay orders"),)
    assert part(criteria=t.CRITERIA).plan.criteria == t.CRITERIA


def test_its_checks_have_the_commands_of_the_task_and_the_base_of_the_root() -> None:
    checks = t.wanted(t.play(part(), t.MADE, t.saved(), t.passes()), RunChecks)
    # What a person said besides releases no test.
    assert (checks.also, checks.after, checks.trust) == (DEMANDS, AFTER, v.PART)


def test_where_it_lands_by_itself_its_commands_run_there_too() -> None:
    state = t.play(checked(part(lands=True), MET), t.SAID)
    assert t.wanted(state, Integrate).also == DEMANDS


def test_a_command_that_failed_is_held_against_the_task() -> None:
    state = t.play(checked(part(), UNMET), t.SAID)
    (found,) = t.wanted(state, Ask).findings
    assert (found.rule, found.requirement) == ("verify T-001", "T-001")
    assert t.last(state).decision is Decision.ESCALATE
    assert [check.name for check in t.last(state).checks or ()] == ["test", "verify T-001"]


def test_where_what_was_asked_for_is_held_back_a_person_is_asked_before_a_ticket_is_wasted() -> None:
    report = replace(UNMET, held=v.MANIFEST)
    state = checked(part(what="raise the version in pyproject.toml"), report)
    assert (where(state), t.wanted(state, AwaitGate).evidence) == (Station.GATE, v.E3)
    assert t.wanted(t.play(state, t.approves(v.E3)), RunChecks).approved == v.MANIFEST
    rejected = t.play(state, t.rejects(v.E3, "no"), t.SAID)
    assert (where(rejected), len(rejected.past)) == (Station.ESCALATED, 1)


# --- what is left to the parent


def test_a_part_that_is_approved_ends_with_its_commit_and_lands_nothing() -> None:
    state = t.play(checked(part(), MET), t.SAID)
    note = f"APPROVE: TICKET-{state.plan.session}-001"
    assert outcome(state) == Outcome(ending=Ending.VERIFIED, attempts=1, commit=Commit("c1"), note=note)


def test_a_part_is_asked_for_a_test_once_and_gets_a_ticket_for_it() -> None:
    unshown = replace(v.LANDS, evidence=Evidence(level=Level.GUARDED))
    state = t.play(checked(part(), unshown), t.SAID)
    assert (t.last(state).decision, t.last(state).accuracy, state.allowance) == (Decision.ROUTE_BACK, 1.0, 2)
    assert [each.rule for each in t.creator(state).brief.findings] == ["no-witness"]
    said = replace(t.MADE, report=replace(t.MADE.report, no_test="a faster way to the same"))
    state = t.play(state, said, t.saved("c2"), t.passes(), unshown, t.SAID)
    assert (outcome(state).ending, outcome(state).no_test) == (Ending.VERIFIED, "a faster way to the same")


def test_what_is_held_back_of_it_is_its_parents_to_ask_for() -> None:
    state = t.play(checked(part(), v.WITHOUT), t.SAID)
    assert (outcome(state).ending, outcome(state).commit, state.course.open_gates) == (Ending.VERIFIED, "c1", ())


def test_a_change_that_it_needs_is_waited_for_and_then_its_commit_has_it() -> None:
    state = checked(part(what="mend tests/t.py"), v.WITHOUT)
    because = t.wanted(state, AwaitGate).because
    ended = outcome(t.play(state, t.approves(v.E1), v.LANDS, t.SAID))
    assert (ended.commit, ended.approved, ended.may_drop) == ("c1", because, ())


@pytest.mark.parametrize("accepts_checked", [True, False])
def test_what_a_person_accepts_is_the_best_ticket_unlanded_and_checked_by_the_parent(*, accepts_checked: bool) -> None:
    state = t.play(checked(part(accepts_checked=accepts_checked), UNMET), t.SAID, t.says("accept"))
    ended = outcome(state)
    assert (ended.ending, ended.commit, ended.branch) == (Ending.ACCEPTED, "c1", "")
    assert [each.rule for each in ended.findings] == ["verify T-001"]


# --- what a parent hears of one that is stuck


def test_a_retry_is_the_next_ticket_with_the_advice() -> None:
    state = t.play(checked(part(), UNMET), t.SAID, t.says("continue", count=1, text="look at the clock"))
    assert (t.keys(state), state.allowance) == (["create-2.1"], 2)
    assert t.creator(state).brief.answers == ("in euros", "look at the clock")
    assert TICKETS.stand(state).commit == "c1"
    assert TICKETS.stand(part()).commit == ""


@pytest.mark.parametrize(
    "first", [(), (t.MADE, t.saved(), t.fails(t.GRAVE), v.LANDS, t.SAID, t.says("continue", count=1))]
)
def test_that_nothing_was_changed_is_told_to_the_parent_and_asked_of_nobody(first: tuple[Event, ...]) -> None:
    state = t.play(part(), *first, t.MADE, t.saved("c9", files=0), t.SAID)
    assert "no-change" in rules_of(state)
    assert len(state.past) == (2 if first else 1)


def test_what_nobody_looked_at_again_stays_open() -> None:
    before = (t.MADE, t.saved(), t.fails(t.GRAVE), t.RED, t.SAID, t.says("continue", count=1))
    state = t.play(part(trust=t.params().trust), *before, t.MADE, t.saved("c9", files=0), t.SAID)
    assert set(rules_of(state)) == {"no-change", "grave", t.BROKEN_TEST.rule}


def test_a_creator_that_is_blocked_is_told_to_the_parent_and_asked_of_nobody() -> None:
    state = t.play(part(), t.BLOCKED, t.SAID)
    (found,) = t.wanted(state, Ask).findings
    assert (found.rule, found.issue) == ("no-result", "The creator is blocked: no network")


def test_a_creator_that_gave_no_result_has_not_found_that_it_was_done() -> None:
    state = t.play(part(), t.TIMED_OUT, t.TIMED_OUT, t.saved(files=0), t.SAID)
    (found,) = t.wanted(state, Ask).findings
    assert (found.rule, found.issue) == ("no-result", "The creator gave no result: timed_out")


def test_what_a_creator_without_a_result_left_is_judged() -> None:
    state = t.play(part(), t.TIMED_OUT, t.TIMED_OUT, t.saved())
    assert t.keys(state) == ["critique-1-1.1"]


def test_questions_are_still_a_persons() -> None:
    state = t.play(part(), t.of("creator", t.UNCLEAR))
    assert (where(state), t.wanted(state, Ask).question) == (Station.CLARIFY, "Which currency?")


def test_a_part_can_be_cancelled() -> None:
    ended = outcome(t.play(part(), t.CANCEL, t.CLEANED))
    assert (ended.ending, ended.commit) == (Ending.CANCELLED, "")


# --- wherever it stands


@pytest.mark.unmeasured
def test_every_way_ends_without_a_landing_and_only_what_was_approved_is_verified() -> None:
    alphabet = Alphabet(
        creator=(t.MADE, t.BLOCKED, t.TIMED_OUT),
        checkpoint=(t.saved("c1"), t.saved("c2", evidence="e1"), t.saved("c3", files=0)),
        checks=(t.GREEN, t.RED),
        escalated=(t.says("continue", count=1), t.says("accept")),
    )
    walked = reachable(alphabet, **{**GIVEN, "max": 1, "trust": t.params().trust})
    check_keys(TICKETS, walked)
    check_refusals(TICKETS, walked.states[::5])
    check_round_trip(TicketsState, walked.states[::20])
    for state in walked.states:
        actions = TICKETS.decide(state)
        assert actions
        assert not any(isinstance(action, Integrate) for action in actions), state
        if isinstance(actions[0], Stop) and actions[0].outcome.ending is Ending.VERIFIED:
            last = state.past[-1]
            assert (last.decision, last.commit) == (Decision.APPROVE, actions[0].outcome.commit)
            assert all(check.passed for check in last.checks or (CheckResult(name="none", passed=False),))
