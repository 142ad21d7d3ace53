"""Which status follows which, what comes next, and what makes no sense."""

from itertools import pairwise, product
from typing import get_args

import pytest

from loopwright.errors import InvalidTransition
from loopwright.loops.queue.edges import (
    new_id,
    newly_unblocked,
    next_ready,
    number_of,
    progress,
    why_unsound,
)
from loopwright.loops.queue.state import System, SystemStatus
from tests.rooms.queue.queues import AT, LATER, a_system, queue, told

LEGAL = {
    ("discovered", "specified"),
    ("discovered", "blocked"),
    ("specified", "ready"),
    ("specified", "in-progress"),
    ("specified", "blocked"),
    ("ready", "in-progress"),
    ("ready", "blocked"),
    ("in-progress", "review"),
    ("in-progress", "blocked"),
    ("review", "complete"),
    ("review", "in-progress"),
    ("review", "blocked"),
    ("blocked", "discovered"),
    ("blocked", "specified"),
    ("blocked", "ready"),
    ("blocked", "in-progress"),
}
EVERY = get_args(SystemStatus)
PAIRS = [pair for pair in product(EVERY, EVERY) if pair[0] != pair[1]]


@pytest.mark.parametrize(("before", "after"), [pair for pair in PAIRS if pair in LEGAL])
def test_a_status_becomes_what_may_follow_it(before: SystemStatus, after: SystemStatus) -> None:
    (changed,) = told(queue(a_system(1, status=before)), "sys-001", status=after, at=LATER).systems
    assert changed == a_system(
        1,
        status=after,
        started_at=LATER if after == "in-progress" else None,
        completed_at=LATER if after == "complete" else None,
        blocked_reason="no reason was given" if after == "blocked" else None,
    )


@pytest.mark.parametrize(("before", "after"), [pair for pair in PAIRS if pair not in LEGAL])
def test_a_status_does_not_become_anything_else(before: SystemStatus, after: SystemStatus) -> None:
    with pytest.raises(InvalidTransition, match=f"sys-001 is {before} and cannot become {after}; "):
        told(queue(a_system(1, status=before)), "sys-001", status=after, at=LATER)


def test_what_started_keeps_its_first_moment() -> None:
    state = queue(a_system(1, status="review", started_at=AT))
    assert told(state, "sys-001", status="in-progress", at=LATER).systems[0].started_at == AT


def test_next_is_the_lowest_priority_of_what_may_be_started() -> None:
    state = queue(
        a_system(1, priority=9),
        a_system(2, priority=3, status="specified"),
        a_system(3, 1, priority=1),
        a_system(4, priority=1, status="discovered"),
        a_system(5, priority=3),
        a_system(6, priority=2, status="in-progress"),
    )
    following = next_ready(state)
    assert following is not None
    assert following.id == "sys-002"
    assert next_ready(queue()) is None


def test_what_was_waited_for_frees_those_that_wait_for_nothing_else() -> None:
    state = queue(
        a_system(1, status="complete"),
        a_system(2),
        a_system(3, 1),
        a_system(4, 1, 2),
        a_system(5, 1, status="in-progress"),
        a_system(6, 2),
    )
    assert [each.id for each in newly_unblocked(state, "sys-001")] == ["sys-003"]


def test_progress_is_the_share_of_what_is_complete() -> None:
    assert progress(queue()) == 0
    assert progress(queue(a_system(1, status="complete"), a_system(2), a_system(3))) == 33


def test_an_id_is_never_given_twice() -> None:
    assert new_id(queue()) == "sys-001"
    state = told(queue(a_system(1), a_system(2)), "sys-002", remove=True)
    assert new_id(state) == "sys-003"
    assert number_of("auth") == 0


@pytest.mark.parametrize(
    ("systems", "why"),
    [
        ((a_system(1), a_system(2, 1)), ""),
        ((a_system(1), a_system(1)), "sys-001 is there twice"),
        ((a_system(1, name=" "),), "sys-001 has no name"),
        ((a_system(1, priority=0),), "the priority of sys-001 is 0, and 1 is the highest there is"),
        ((a_system(1, 7),), "sys-001 depends on sys-007, which is not in the queue"),
        ((a_system(1, 1),), "the dependencies go round in a circle: sys-001 needs sys-001"),
    ],
)
def test_what_is_wrong_with_the_whole_is_named(systems: tuple[System, ...], why: str) -> None:
    assert why_unsound(systems) == why


def test_a_circle_is_named_by_who_needs_whom() -> None:
    told_of = why_unsound((a_system(1, 2), a_system(2, 3), a_system(3, 1), a_system(4, 1)))
    assert told_of.startswith("the dependencies go round in a circle: ")
    named = told_of.partition(": ")[2].split(" needs ")
    assert named[0] == named[-1]
    needs = {"sys-001": "sys-002", "sys-002": "sys-003", "sys-003": "sys-001"}
    assert all(needs[one] == other for one, other in pairwise(named))
    assert len(named) == 4
