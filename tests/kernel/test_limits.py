from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.limits import granted, granted_iterations, reached
from loopwright.loops.feedback.limits import Allowance, Counts, FeedbackLimits, grant

NUMBERS = st.integers(min_value=0, max_value=20)
MORE = st.integers(min_value=1, max_value=20)
LIMITS = Allowance.of(FeedbackLimits())
COUNTS = Counts(iterations=4, review_failures=3, test_failures=2, same_review=4, same_test=0)


def test_the_defaults_are_five_three_and_three() -> None:
    assert Allowance(iterations=5, review_failures=3, test_failures=3, same_review=3, same_test=3) == LIMITS


def test_each_limit_has_its_place() -> None:
    limits = FeedbackLimits(
        max_feedback_iterations=7, max_consecutive_review_failures=2, max_consecutive_test_failures=4
    )
    assert Allowance.of(limits) == Allowance(
        iterations=7, review_failures=2, test_failures=4, same_review=2, same_test=4
    )


def test_a_limit_is_reached_at_its_number() -> None:
    assert [reached(count, 3) for count in (2, 3, 4)] == [False, True, True]


def test_a_grant_is_for_the_counters_at_or_over_their_limit() -> None:
    assert grant(LIMITS, COUNTS, 2) == Allowance(
        iterations=6, review_failures=5, test_failures=3, same_review=6, same_test=3
    )


def test_a_grant_never_brings_the_iterations_nearer() -> None:
    assert grant(replace(LIMITS, iterations=9), COUNTS, 2).iterations == 9


@given(NUMBERS, NUMBERS, MORE)
def test_a_granted_counter_has_room_again(count: int, limit: int, more: int) -> None:
    after = granted(count, limit, more)
    assert after >= limit
    assert not reached(count, after)
    assert after in (limit, count + more)


@given(NUMBERS, NUMBERS, MORE)
def test_granted_iterations_are_at_least_as_many_as_were_granted(done: int, limit: int, more: int) -> None:
    after = granted_iterations(done, limit, more)
    assert after >= limit
    assert after - done >= more
