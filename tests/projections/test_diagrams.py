"""`docs/loops/feedback.md` is what the machine does. `./run golden` and `./run docs` rewrite it."""

from collections.abc import Callable

from loopwright.kernel.actions import RunLoop, Stop
from loopwright.kernel.model import Ending, Key, Outcome
from loopwright.loops.feedback.state import Phase
from loopwright.projections import diagrams
from loopwright.projections.samples import answers_to, asked_for

STATES = diagrams.reachable()


def test_the_page_about_the_feedback_loop_is_current(document: Callable[[str, str], None]) -> None:
    document("loops/feedback.md", diagrams.feedback_page())


def test_the_samples_reach_every_phase() -> None:
    assert {state.phase for state in STATES} == set(Phase)


def test_only_the_end_has_no_way_on() -> None:
    assert set(Phase) - {move.phase for move in diagrams.moves(STATES)} == {Phase.DONE}


def test_a_failed_review_never_leads_to_the_tests() -> None:
    found = {move.to for move in diagrams.moves(STATES) if move.when == "NOT_COMPLIANT"}
    assert found == {Phase.IMPLEMENT, Phase.ESCALATED}


def test_only_passing_checks_or_a_person_lead_to_the_landing() -> None:
    found = {(move.phase, move.when) for move in diagrams.moves(STATES) if move.to is Phase.LAND}
    assert found == {(Phase.TEST, "ALL_TESTS_PASSING"), (Phase.ESCALATED, "accept")}


def test_nothing_answers_a_stop_and_no_child_is_started_here() -> None:
    stop = Stop(outcome=Outcome(ending=Ending.VERIFIED))
    child = RunLoop(key=Key("k"), kind="quality", params="{}")
    assert (answers_to(stop), asked_for(stop)) == ({}, "stop")
    assert (answers_to(child), asked_for(child)) == ({}, "runloop")
