"""`docs/loops/*.md` are what the machines do. `./run golden` and `./run docs` rewrite them."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TypeVar

import pytest

from loopwright.kernel.actions import Stop
from loopwright.kernel.model import Ending, Outcome
from loopwright.loops import diagrams
from loopwright.loops.batch import page as batch_page
from loopwright.loops.batch.state import BatchPhase
from loopwright.loops.course import Station
from loopwright.loops.diagrams import DrawnMove, Walk
from loopwright.loops.feedback import page as feedback_page
from loopwright.loops.feedback.state import FeedbackPhase
from loopwright.loops.lifecycle import page as lifecycle_page
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.quality import page as quality_page
from loopwright.loops.quality import seed_states
from loopwright.loops.quality.seed_states import SeedMove
from loopwright.loops.quality.state import QualityPhase
from loopwright.loops.samples import answers_to, asked_for
from loopwright.loops.tickets import page as tickets_page
from loopwright.loops.tickets.state import TicketsPhase
from loopwright.loops.workflow import page as workflow_page
from loopwright.loops.workflow.state import WorkflowPhase

Document = Callable[[str, str], None]
P = TypeVar("P")
S = TypeVar("S")
EITHER_BLOCKED = "CHECK_BLOCKED or QUALITY_BLOCKED"

# The state machine that the quality loop was built after, arrow by arrow.
SEED = {
    SeedMove(begin="start", when="spawn reviewer", end="Review"),
    SeedMove(begin="Review", when="CHECK_PASSED or QUALITY_PASS", end="Pass"),
    SeedMove(begin="Review", when=EITHER_BLOCKED, end="Fix"),
    SeedMove(begin="Fix", when="creator agent finished", end="IncrementAttempt"),
    SeedMove(begin="IncrementAttempt", when="attempt < max_attempts", end="Review"),
    SeedMove(begin="IncrementAttempt", when="attempt >= max_attempts", end="Blocked"),
    SeedMove(begin="Pass", when="append to handoff.quality_findings", end="PersistFindings"),
    SeedMove(begin="PersistFindings", when="PASS", end="end"),
    SeedMove(begin="Blocked", when="MAX_LOOPS_REACHED", end="EscalateToUser"),
    SeedMove(begin="EscalateToUser", when="BLOCKED", end="end"),
}


@cache
def feedback_moves() -> tuple[DrawnMove, ...]:
    return moves_of(feedback_page.feedback_walk())


@cache
def quality_moves() -> tuple[DrawnMove, ...]:
    return moves_of(quality_page.quality_walk())


@cache
def batch_moves() -> tuple[DrawnMove, ...]:
    return moves_of(batch_page.batch_walk())


@cache
def tickets_moves() -> tuple[DrawnMove, ...]:
    return moves_of(tickets_page.tickets_walk())


@cache
def workflow_moves() -> tuple[DrawnMove, ...]:
    return moves_of(workflow_page.workflow_walk())


@cache
def lifecycle_moves() -> tuple[DrawnMove, ...]:
    return moves_of(lifecycle_page.lifecycle_walk())


def moves_of(walk: Walk[P, S]) -> tuple[DrawnMove, ...]:
    return diagrams.explored(walk).moves


def test_the_page_about_the_feedback_loop_is_current(document: Document) -> None:
    document("loops/feedback.md", feedback_page.page())


def test_the_page_about_the_quality_loop_is_current(document: Document) -> None:
    document("loops/quality.md", quality_page.page(batch_page.section()))


def test_the_page_about_the_ticket_cycle_is_current(document: Document) -> None:
    document("loops/tickets.md", tickets_page.page())


def test_the_page_about_the_workflow_loop_is_current(document: Document) -> None:
    document("loops/workflow.md", workflow_page.page())


def test_the_page_about_the_lifecycle_is_current(document: Document) -> None:
    document("loops/lifecycle.md", lifecycle_page.page())


@pytest.mark.unmeasured
def test_the_samples_reach_every_phase_and_only_the_end_has_no_way_on() -> None:
    # Before the first agent and after the end all machines do the same: the walks of today's rules go there.
    stations = {*Station} - {Station.PREFLIGHT, Station.HELD_CHECK, Station.HELD_LAND}
    for found, phases in (
        (feedback_moves(), {*FeedbackPhase, *stations}),
        (quality_moves(), {*QualityPhase, *stations} - {Station.GATE}),
        (batch_moves(), {*BatchPhase, *stations} - {Station.GATE, Station.CLARIFY}),
        (tickets_moves(), {*TicketsPhase, *stations}),
        (workflow_moves(), {*WorkflowPhase, *stations} - {Station.GATE}),
    ):
        assert {move.to for move in found} | {found[0].phase} == set(phases)
        assert set(phases) - {move.phase for move in found} == {"DONE"}


@pytest.mark.unmeasured
def test_a_failed_review_never_leads_to_the_tests() -> None:
    found = {move.to for move in feedback_moves() if move.when == "NOT_COMPLIANT"}
    assert found == {FeedbackPhase.IMPLEMENT, Station.ESCALATED}


@pytest.mark.unmeasured
def test_only_passing_checks_or_a_person_lead_to_the_landing() -> None:
    found = {(move.phase, move.when) for move in feedback_moves() if move.to == Station.LAND}
    assert found == {(FeedbackPhase.TEST, "ALL_TESTS_PASSING"), (Station.ESCALATED, "accept")}


@pytest.mark.unmeasured
def test_only_a_pass_on_record_or_a_person_ends_a_review_with_a_result() -> None:
    found = {(move.phase, move.when) for move in quality_moves() if move.to in (Station.LAND, Station.DONE)}
    assert found == {
        (QualityPhase.EMIT_VERDICT, "CHECK_PASSED or QUALITY_PASS on record"),
        (QualityPhase.VERIFY, "ALL_TESTS_PASSING"),
        (Station.CLARIFY, "accept"),
        (Station.ESCALATED, "accept"),
        (Station.LAND, "landed"),
        (Station.CLEAN_UP, "cleaned up"),
    }


@pytest.mark.unmeasured
def test_only_an_approval_on_record_or_a_person_lands_a_ticket() -> None:
    found = {(move.phase, move.when) for move in tickets_moves() if move.to == Station.LAND}
    assert found == {
        (TicketsPhase.VERDICT, "APPROVE on record"),
        (TicketsPhase.CHECK, "ALL_TESTS_PASSING"),  # of what a person has accepted
        (Station.ESCALATED, "accept"),
    }


@pytest.mark.unmeasured
def test_a_new_ticket_is_opened_only_by_a_decision_on_record_a_refused_merge_or_a_person() -> None:
    found = {
        move.phase for move in tickets_moves() if move.to == TicketsPhase.CREATE and move.phase != TicketsPhase.CREATE
    }
    assert found == {TicketsPhase.VERDICT, Station.LAND, Station.CLARIFY, Station.ESCALATED}


@pytest.mark.unmeasured
def test_every_critic_and_the_checks_come_before_any_decision() -> None:
    before = {move.phase for move in tickets_moves() if move.to == TicketsPhase.VERDICT}
    assert before == {TicketsPhase.CHECK, TicketsPhase.JUDGE, Station.GATE}
    assert {move.phase for move in tickets_moves() if move.to == TicketsPhase.CHECK} >= {TicketsPhase.CRITIQUE}
    assert {move.to for move in tickets_moves() if move.phase == TicketsPhase.CRITIQUE} == {
        TicketsPhase.CRITIQUE,
        TicketsPhase.CHECK,
        Station.CLARIFY,
    }


@pytest.mark.unmeasured
def test_only_the_completion_gate_or_a_person_lands_a_workflow() -> None:
    found = {(move.phase, move.when) for move in workflow_moves() if move.to == Station.LAND}
    assert {phase for phase, _ in found} == {WorkflowPhase.SHIP, WorkflowPhase.CANCEL, Station.ESCALATED}
    assert {when for phase, when in found if phase == Station.ESCALATED} == {"accept", "continue"}
    assert {when for phase, when in found if phase == WorkflowPhase.SHIP} == {"on record", "pass"}


NORMAL = tuple(stage for stage in Stage if stage not in (Stage.FAILED, Stage.RETRY, Stage.BLOCKED))
LIFECYCLE = {
    *pairwise(NORMAL),
    (Stage.VERIFY, Stage.IMPLEMENT),  # with the next capability
    *((stage, Stage.FAILED) for stage in NORMAL),
    (Stage.FAILED, Stage.RETRY),
    (Stage.FAILED, Stage.BLOCKED),
    (Stage.RETRY, Stage.FAILED),
    *((Stage.RETRY, stage) for stage in NORMAL),
}


@pytest.mark.unmeasured
def test_the_lifecycle_makes_its_transitions_and_no_other() -> None:
    by_itself = {
        (move.phase, move.to) for move in lifecycle_moves() if move.asks != "a person" and move.phase != move.to
    }
    to_a_person = {(begin, end) for begin, end in by_itself if end == Stage.BLOCKED}
    sent_back = (Stage.SHIP, Stage.IMPLEMENT)  # whoever asks for changes on the pull request is a person
    assert by_itself - to_a_person - {sent_back} == LIFECYCLE - to_a_person
    people = {(move.phase, move.to) for move in lifecycle_moves() if move.asks == "a person" and move.phase != move.to}
    assert {begin for begin, end in people if end not in NORMAL} <= {Stage.BLOCKED}
    resumed = {end for begin, end in people if begin == Stage.BLOCKED}
    assert resumed == {*NORMAL, Stage.RETRY}


@pytest.mark.unmeasured
def test_no_verdict_is_acted_on_before_it_is_on_record() -> None:
    assert {move.to for move in quality_moves() if move.phase == QualityPhase.RUN_CHECKS} == {
        QualityPhase.RUN_CHECKS,
        QualityPhase.EMIT_VERDICT,
        Station.CLARIFY,
    }


def test_the_machine_is_the_seeds_but_for_the_fix_that_nobody_would_see() -> None:
    """The review counts the attempt, so that at the last one Review goes to Blocked without another fix."""
    ours = set(seed_states.rows())
    assert SEED - ours == {
        SeedMove(begin="Review", when=EITHER_BLOCKED, end="Fix"),
        SeedMove(begin="IncrementAttempt", when="attempt >= max_attempts", end="Blocked"),
    }
    assert ours - SEED == {
        SeedMove(begin="Review", when=f"{EITHER_BLOCKED}, attempt < max_attempts", end="Fix"),
        SeedMove(begin="Review", when=f"{EITHER_BLOCKED}, attempt >= max_attempts", end="Blocked"),
    }


def test_the_steps_of_a_review_and_of_a_fix_are_the_seeds_in_its_order() -> None:
    assert seed_states.phases() == {
        "Review": ["LOAD_ARTIFACTS", "RUN_CHECKS", "EMIT_VERDICT"],
        "Fix": ["FIX", "CHECKPOINT"],
    }


def test_nothing_answers_a_stop() -> None:
    stop = Stop(outcome=Outcome(ending=Ending.VERIFIED))
    assert (answers_to(stop, {}), asked_for(stop)) == ({}, "stop")
