"""A feedback loop as a row of the live view of whatever it is a part of."""

from dataclasses import replace

from loopwright.loops.course import Station, stationed
from loopwright.loops.feedback.closing import lane
from loopwright.loops.feedback.kind import KIND
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.kind import Lane
from loopwright.loops.parts import TaskFacts
from tests.rooms.feedback.stories import STORIES, implemented, kept, played

WORKS = True  # it says nothing more to this loop


def part(state: FeedbackState) -> FeedbackState:
    facts = TaskFacts(task_id="T-001")
    return replace(state, plan=replace(state.plan, task="T-001: Filter\n\nThe rest", part=facts, lands=False))


def test_a_part_says_what_is_done_with_it_now() -> None:
    reviewed = part(played(implemented("All of it"), kept))
    assert lane(reviewed, WORKS) == Lane(name="T-001: Filter", count="iteration 1", word="in review")
    assert lane(part(played()), WORKS) == Lane(name="T-001: Filter", count="iteration 1", word="being made")
    assert KIND.title(reviewed.plan) == "T-001: Filter"


def test_one_that_waits_for_a_person_is_marked_unless_whoever_began_it_takes_that() -> None:
    stuck = stationed(played(), Station.ESCALATED)
    shown = lane(stuck, WORKS)
    assert shown is not None
    assert (shown.word, shown.needs_person) == ("needs you", True)
    assert lane(part(stuck), WORKS) is None
    asking = lane(part(stationed(played(), Station.CLARIFY)), WORKS)
    assert asking is not None
    assert (asking.word, asking.needs_person) == ("has a question for you", True)


def test_what_is_open_is_counted_and_what_is_over_has_no_row() -> None:
    failed = lane(STORIES["failed-review"], WORKS)
    assert failed is not None
    assert (failed.count, failed.detail) == ("iteration 2", "2 findings")
    assert lane(STORIES["verified"], WORKS) is None
