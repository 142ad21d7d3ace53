"""What the feedback loop remembers, and the questions its rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from loopwright.kernel.ledger import Ledger, longest_streak, unresolved
from loopwright.kernel.limits import Allowance, Counts, FeedbackLimits, reached
from loopwright.kernel.model import NO_COMMIT, Change, Cleanup, Commit, Ending, Finding, Outcome, Verdict
from loopwright.kernel.trying import rested

REVIEW = "review"
TESTS = "tests"
ENGINE = "engine"  # what no judge said: nothing changed, no verdict, a person's no


class Phase(StrEnum):
    IMPLEMENT = "IMPLEMENT"
    CHECKPOINT = "CHECKPOINT"
    REVIEW = "REVIEW"
    ADD_TESTS = "ADD_TESTS"
    CHECKPOINT_TESTS = "CHECKPOINT_TESTS"
    TEST = "TEST"
    GATE = "GATE"
    LAND = "LAND"
    CLARIFY = "CLARIFY"
    ESCALATED = "ESCALATED"
    CLEAN_UP = "CLEAN_UP"
    DONE = "DONE"


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
class Feedback:
    plan: FeedbackParams
    allowance: Allowance
    current: Iteration
    commit: Commit  # the newest checkpoint; the base before the first
    phase: Phase = Phase.IMPLEMENT
    past: tuple[Iteration, ...] = ()
    tries: int = 1  # of the step the phase names
    respawned: bool = False
    repaired: bool = False
    repair: str = ""
    until: float | None = None  # nobody can do the step before then
    review_failures: int = 0
    failures_before_pass: int = 0  # what a person's no, after the review has passed, goes on from
    test_failures: int = 0
    ledger: Ledger = ()
    protected: tuple[Change, ...] = ()
    evidence: str = ""
    approved: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    question: str = ""
    asked: int = 0
    reasons: tuple[str, ...] = ()  # why it is escalated
    accepted: bool = False
    merge_accepted: bool = False
    cancel: Cleanup | None = None
    outcome: Outcome | None = field(default=None)


def start(params: FeedbackParams) -> Feedback:
    """Where it begins: with the first iteration, with the one after the adopted, or at a limit they reached."""
    state = Feedback(
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


def escalated(state: Feedback, reasons: tuple[str, ...]) -> Feedback:
    """The state with a question to a person."""
    return replace(state, phase=Phase.ESCALATED, reasons=reasons, asked=state.asked + 1)


def with_open_iteration(state: Feedback) -> Feedback:
    """Ready to implement: the present iteration once more, or the next one if that is closed."""
    if state.past and state.past[-1].number == state.current.number:
        following = Iteration(number=state.current.number + 1)
        return replace(rested(state, tries=1), phase=Phase.IMPLEMENT, current=following)
    return replace(rested(state, tries=state.tries + 1), phase=Phase.IMPLEMENT)


def gate_is_open(state: Feedback) -> bool:
    """Protected files were changed and no person has decided on exactly these changes."""
    return bool(state.evidence) and state.evidence not in state.approved + state.rejected


def counts(state: Feedback) -> Counts:
    return Counts(
        iterations=len(state.past),
        review_failures=state.review_failures,
        test_failures=state.test_failures,
        same_review=longest_streak(state.ledger, REVIEW),
        same_test=longest_streak(state.ledger, TESTS),
    )


def limits_reached(state: Feedback) -> tuple[str, ...]:
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


def ended(state: Feedback, ending: Ending, **facts: str) -> Outcome:
    """How this loop ends, with everything still wrong."""
    left = () if ending is Ending.VERIFIED else unresolved(state.ledger)
    best = best_iteration(state.past)
    if ending is Ending.ACCEPTED and best:
        left = tuple(sorted(best.issues + best.failures, key=lambda finding: finding.severity.rank))
    return Outcome(
        ending=ending,
        attempts=len(state.past),
        commit=Commit(facts.get("commit", "")),
        branch=facts.get("branch", ""),
        merged_into=facts.get("merged_into", ""),
        note=facts.get("note", ""),
        findings=left,
        cleanup=state.cancel,
    )
