"""The limits of the feedback loop, and what of them is in force after every grant."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.kernel.limits import granted, granted_iterations


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackLimits:
    max_feedback_iterations: int = 5
    max_consecutive_review_failures: int = 3
    max_consecutive_test_failures: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is in force now: the profile plus every grant so far."""

    iterations: int
    review_failures: int
    test_failures: int
    same_review: int
    same_test: int

    @staticmethod
    def of(limits: FeedbackLimits) -> Allowance:
        return Allowance(
            iterations=limits.max_feedback_iterations,
            review_failures=limits.max_consecutive_review_failures,
            test_failures=limits.max_consecutive_test_failures,
            same_review=limits.max_consecutive_review_failures,
            same_test=limits.max_consecutive_test_failures,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    iterations: int
    review_failures: int
    test_failures: int
    same_review: int
    same_test: int


def grant(allowance: Allowance, counts: Counts, more: int) -> Allowance:
    """`more` on every counter at or over its limit, and on the iterations if those are nearer."""
    return replace(
        allowance,
        iterations=granted_iterations(counts.iterations, allowance.iterations, more),
        review_failures=granted(counts.review_failures, allowance.review_failures, more),
        test_failures=granted(counts.test_failures, allowance.test_failures, more),
        same_review=granted(counts.same_review, allowance.same_review, more),
        same_test=granted(counts.same_test, allowance.same_test, more),
    )
