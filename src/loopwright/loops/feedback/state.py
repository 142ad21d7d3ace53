"""What the feedback loop remembers, and the questions its rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from loopwright.kernel.ledger import Ledger, longest_streak
from loopwright.kernel.limits import reached
from loopwright.kernel.model import NO_COMMIT, Commit, Finding, Verdict
from loopwright.loops.course import Course, entered, escalated
from loopwright.loops.feedback.limits import Allowance, Counts, FeedbackLimits

REVIEW = "review"
TESTS = "tests"
LANDING = "landing"
ENGINE = "engine"  # what no judge said: nothing changed, no verdict, a person's no


class FeedbackPhase(StrEnum):
    IMPLEMENT = "IMPLEMENT"
    CHECKPOINT = "CHECKPOINT"
    REVIEW = "REVIEW"
    ADD_TESTS = "ADD_TESTS"
    CHECKPOINT_TESTS = "CHECKPOINT_TESTS"
    TEST = "TEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One implement, review, test. `None` means that stage was not reached."""

    number: int
    implementation: str = ""
    commit: Commit = NO_COMMIT
    review: Verdict | None = None
    issues: tuple[Finding, ...] = ()
    tests: Verdict | None = None
    failures: tuple[Finding, ...] = ()
    refused: str = ""  # why it passed and yet could not be landed
    onto: Commit = NO_COMMIT  # what it is measured against, if that is not the base the loop began with


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackParams:
    """What a feedback loop is started with. `adopted` carries on somebody else's count."""

    task: str
    base: Commit
    target: str = ""  # the branch that was current, as a full ref; empty on a detached HEAD
    branch: str = ""  # where it lands; empty: a branch of its own
    merge: bool = False
    tester: bool = False
    criteria: tuple[str, ...] = ()
    limits: FeedbackLimits = FeedbackLimits()
    adopted: tuple[Iteration, ...] = ()
    adopted_review_failures: int = 0
    adopted_test_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackState:
    plan: FeedbackParams
    allowance: Allowance
    current: Iteration
    commit: Commit  # the newest checkpoint; the base before the first
    phase: FeedbackPhase = FeedbackPhase.IMPLEMENT
    course: Course = Course()
    past: tuple[Iteration, ...] = ()
    review_failures: int = 0
    review_failures_before: int = 0  # what a person's no, after the review has passed, goes on from
    test_failures: int = 0
    test_failures_before: int = 0  # the same for a landing that is refused after the tests have passed
    ledger: Ledger = ()


def start(params: FeedbackParams) -> FeedbackState:
    """Where it begins: with the first iteration, with the one after the adopted, or at a limit they reached."""
    state = FeedbackState(
        plan=params,
        allowance=Allowance.of(params.limits),
        current=params.adopted[-1] if params.adopted else Iteration(number=1),
        commit=params.base,
        past=params.adopted,
        review_failures=params.adopted_review_failures,
        test_failures=params.adopted_test_failures,
    )
    if reasons := limits_reached(state):
        return escalated(state, reasons)
    return with_open_iteration(state) if params.adopted else state


def with_open_iteration(state: FeedbackState) -> FeedbackState:
    """Ready to implement: the present iteration once more, or the next one if that is closed."""
    if state.past and state.past[-1].number == state.current.number:
        following = Iteration(number=state.current.number + 1, onto=state.current.onto)
        return entered(replace(state, current=following), FeedbackPhase.IMPLEMENT)
    return entered(state, FeedbackPhase.IMPLEMENT, tries=state.course.trial.tries + 1)


def base_of(state: FeedbackState) -> Commit:
    """What the change is measured against: a landing that was refused moves it to where the target stands."""
    return state.current.onto or state.plan.base


def counts(state: FeedbackState) -> Counts:
    return Counts(
        iterations=len(state.past),
        review_failures=state.review_failures,
        test_failures=state.test_failures,
        same_review=longest_streak(state.ledger, REVIEW),
        same_test=max(longest_streak(state.ledger, source) for source in (TESTS, LANDING)),
    )


def limits_reached(state: FeedbackState) -> tuple[str, ...]:
    """Every limit that the closed iterations have reached, as sentences."""
    now, most = counts(state), state.allowance
    last = state.past[-1] if state.past else state.current
    same_review = last.review is Verdict.FAIL and reached(now.same_review, most.same_review)
    same_test = last.tests is Verdict.FAIL and reached(now.same_test, most.same_test)
    fired = (
        (same_review, f"the same review issue came back {now.same_review} times in a row"),
        (same_test, f"the same test failure came back {now.same_test} times in a row"),
        (reached(now.review_failures, most.review_failures), f"{now.review_failures} reviews in a row failed"),
        (reached(now.test_failures, most.test_failures), f"{now.test_failures} test runs in a row failed"),
        (reached(now.iterations, most.iterations), f"{now.iterations} of {most.iterations} iterations are used"),
    )
    return tuple(sentence for happened, sentence in fired if happened)


def best_iteration(past: tuple[Iteration, ...]) -> Iteration | None:
    """The attempt that got furthest with least left wrong; of equals, the later one."""
    tried = [iteration for iteration in past if iteration.commit]
    return min(tried, key=_distance_from_done, default=None)


def _distance_from_done(iteration: Iteration) -> tuple[bool, bool, int, int, int]:
    return (
        iteration.review is not Verdict.PASS,
        iteration.tests is not Verdict.PASS,
        len(iteration.failures),
        len(iteration.issues),
        -iteration.number,
    )
