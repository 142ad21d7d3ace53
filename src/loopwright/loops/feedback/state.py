"""What the feedback loop remembers, and the questions its rules ask of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from loopwright.kernel.ledger import Ledger, longest_streak, unresolved
from loopwright.kernel.limits import reached
from loopwright.kernel.model import NO_COMMIT, Change, Commit, Demand, Finding, Severity, Tree, Verdict
from loopwright.kernel.quoting import one_line
from loopwright.kernel.trust import LandedBefore, Trust
from loopwright.kernel.wording import counted, join_names
from loopwright.loops.accepting import ShownRed, with_shown
from loopwright.loops.course import Course, entered, escalated, tried_on_the_base
from loopwright.loops.examination import Examination, ask_about_examiner
from loopwright.loops.feedback.limits import Allowance, Counts, FeedbackLimits
from loopwright.loops.parts import NO_CHANGE, TaskFacts
from loopwright.loops.weighing import asks_for_witness, is_told_once

REVIEW = "review"
TESTS = "tests"
LANDING = "landing"
EVIDENCE = "evidence"  # that no test shows the change: no failure that a limit counts
ENGINE = "engine"  # what no judge said: nothing changed, no verdict, a person's no
NOTHING_CHANGED, NO_VERDICT = "nothing-changed", "no-verdict"
PROTECTED_FILE = "protected"  # the rule of a finding on one
_OF_ENGINE = (ENGINE, "tampering")  # categories of what is wrong although every test may pass
_UNNOTICED = ("untested-change", "disarmed")  # rules of the mutation check
_NAMED = 3  # files in a sentence
_LINE = 120  # characters of a finding in a sentence


class FeedbackPhase(StrEnum):
    EXAMINE = "EXAMINE"
    KEEP_TESTS = "KEEP_TESTS"
    TRY_TESTS = "TRY_TESTS"
    TAKE_TESTS_AWAY = "TAKE_TESTS_AWAY"
    IMPLEMENT = "IMPLEMENT"
    CHECKPOINT = "CHECKPOINT"
    REVIEW = "REVIEW"
    ADD_TESTS = "ADD_TESTS"
    CHECKPOINT_TESTS = "CHECKPOINT_TESTS"
    LAY_TESTS = "LAY_TESTS"
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
    rejected: bool = False  # it passed, with a change that a person had said no to
    gated: tuple[Change, ...] = ()  # what its commit changes of protected files
    tree: Tree = Tree("")  # what it left
    heard: int = 0  # what people had said by then
    onto: Commit = NO_COMMIT  # what it is measured against, if that is not the base the loop began with
    failed_with: tuple[str, ...] | None = None  # the approvals with which its checks failed; None: they did not
    paths: tuple[str, ...] = ()  # the first that it changed
    about: str = ""  # what its reviewer says the task is about

    @property
    def without_review(self) -> str:
        """What happened in the place of a review, in words that follow "the attempt"; empty where one was made."""
        if self.rejected:
            return "had a change that a person rejected"
        seen = {finding.rule for finding in self.issues if finding.category == ENGINE}
        if NO_CHANGE in seen and self.paths:
            return f"changed no code ({join_names(self.paths, _NAMED)})"
        if seen & {NO_CHANGE, NOTHING_CHANGED}:
            return "changed nothing"
        return "got no verdict from the reviewer" if NO_VERDICT in seen else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackParams:
    """What a feedback loop is started with. `adopted` carries on somebody else's count. A child (`lands` false) leaves
    its result to its parent.
    """

    task: str
    base: Commit
    target: str = ""  # the branch that was current, as a full ref; empty on a detached HEAD
    branch: str = ""  # where it lands; empty: a branch of its own
    merge: bool = False
    tester: bool = False
    examiner: Literal["", "named", "missing"] = ""  # who writes acceptance tests first; empty: nobody has to
    criteria: tuple[str, ...] = ()
    limits: FeedbackLimits = FeedbackLimits()
    adopted: tuple[Iteration, ...] = ()
    adopted_review_failures: int = 0
    adopted_test_failures: int = 0
    trust: Trust = Trust()
    accepts_checked: bool = False  # what is accepted runs the checks, too; one that began before lands it as it did
    part: TaskFacts | None = None  # of a larger thing
    answers: tuple[str, ...] = ()  # what people said to whoever had it begun
    before: tuple[Finding, ...] = ()  # what was wrong before that began
    after: LandedBefore = LandedBefore()  # what landed before it in the same work
    also: tuple[Demand, ...] = ()  # commands that must pass besides the checks
    lands: bool = True
    about: str = ""  # code, text, tests or cleanup; empty: the reviewer says so


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackState:
    plan: FeedbackParams
    allowance: Allowance
    current: Iteration
    commit: Commit  # the newest checkpoint, without tests of an examiner; the base before the first
    phase: FeedbackPhase = FeedbackPhase.IMPLEMENT
    course: Course = Course()
    past: tuple[Iteration, ...] = ()
    review_failures: int = 0
    review_failures_before: int = 0  # what a person's no, after the review has passed, goes on from
    test_failures: int = 0
    test_failures_before: int = 0  # the same for a landing that is refused after the tests have passed
    ledger: Ledger = ()
    taken: int = 0  # the iteration that a person has accepted
    verified: bool = False  # the checks have passed on that
    red: ShownRed | None = None  # what of an iteration that a person would accept they saw fail
    examination: Examination = Examination()


def start(params: FeedbackParams) -> FeedbackState:
    """Where it begins: with the first iteration, with the one after the adopted, or at a limit they reached."""
    state = FeedbackState(
        plan=params,
        allowance=Allowance.of(params.limits),
        current=params.adopted[-1] if params.adopted else Iteration(number=1),
        commit=params.base,
        past=params.adopted,
        course=Course(answers=params.answers, before=params.before),
        review_failures=params.adopted_review_failures,
        test_failures=params.adopted_test_failures,
    )
    if reasons := limits_reached(state):
        return escalated(state, reasons)
    if params.part is not None and params.part.done_before:
        return entered(replace(state, current=Iteration(number=1, commit=params.base)), FeedbackPhase.REVIEW)
    state = with_open_iteration(state) if params.adopted or params.examiner else state
    return tried_on_the_base(state, params.trust)


def with_open_iteration(state: FeedbackState) -> FeedbackState:
    """Ready to implement: the present iteration once more, or the next one if that is closed.

    Before the first, an examiner writes the acceptance tests; none of them lies where an attempt starts.
    """
    tries = state.course.trial.tries + 1
    if state.past and state.past[-1].number == state.current.number:
        state = replace(state, current=Iteration(number=state.current.number + 1, onto=state.current.onto))
        tries = 1
    held = state.examination
    if held.laid:
        return entered(state, FeedbackPhase.TAKE_TESTS_AWAY)
    if not state.plan.examiner or held.settled:
        return entered(state, FeedbackPhase.IMPLEMENT, tries=tries)
    if state.plan.examiner == "named":
        return entered(state, FeedbackPhase.EXAMINE)
    why = ask_about_examiner(held, missing=True)
    return escalated(replace(state, examination=replace(held, asks="examiner")), (why,))


def base_of(state: FeedbackState) -> Commit:
    """What the change is measured against: a landing that was refused moves it to where the target stands."""
    return state.current.onto or state.plan.base


def counts(state: FeedbackState) -> Counts:
    return Counts(
        iterations=len(state.past),
        review_failures=state.review_failures,
        test_failures=state.test_failures,
        same_review=longest_streak(state.ledger, REVIEW),
        same_test=max(longest_streak(state.ledger, TESTS), _same_landing(state)),
    )


def _same_landing(state: FeedbackState) -> int:
    return longest_streak(state.ledger, LANDING)


def limits_reached(state: FeedbackState) -> tuple[str, ...]:
    """Every limit that the closed iterations have reached, as sentences."""
    now, most = counts(state), state.allowance
    last = state.past[-1] if state.past else state.current
    same_review = last.review is Verdict.FAIL and reached(now.same_review, most.same_review)
    same_test = last.tests is Verdict.FAIL and reached(now.same_test, most.same_test)
    fired = (
        (same_review, f"the same review issue came back {counted(now.same_review, 'time')} in a row"),
        (same_test, _same_failure(state, now.same_test)),
        (reached(now.review_failures, most.review_failures), _failed_reviews(state, now.review_failures)),
        (reached(now.test_failures, most.test_failures), _failed_tests(state, now.test_failures)),
        (reached(now.iterations, most.iterations), _used(now.iterations, most.iterations)),
    )
    return tuple(sentence for happened, sentence in fired if happened)


def _same_failure(state: FeedbackState, count: int) -> str:
    if _same_landing(state) == count:
        return f"the landing was refused {counted(count, 'time')} in a row for the same reason"
    return f"the same test failure came back {counted(count, 'time')} in a row"


def _failed_reviews(state: FeedbackState, count: int) -> str:
    """What counts as a failed review and was none, such as a person's no, is told as what it was."""
    failed = [iteration for iteration in state.past if iteration.review is Verdict.FAIL][-count:]
    others = Counter(each.without_review for each in failed if each.without_review)
    if not others:
        return f"{_in_a_row(count, 'review')} failed"
    reviews = count - others.total()
    kinds = ([f"{reviews} failed in review"] if reviews else []) + [f"{number} {why}" for why, number in others.items()]
    if len(kinds) == 1:
        return f"{_in_a_row(count, 'attempt')} {next(iter(others))}"
    return f"{_in_a_row(count, 'attempt')} failed: {', '.join(kinds)}"


def _failed_tests(state: FeedbackState, count: int) -> str:
    """A refused landing counts as a failed test run, and is told as what it was."""
    failed = [iteration for iteration in state.past if iteration.tests is Verdict.FAIL][-count:]
    refused = sum(bool(iteration.refused) for iteration in failed)
    if refused == count:
        return f"{_in_a_row(count, 'landing')} {'was' if count == 1 else 'were'} refused"
    of_them = f", {refused} of them when it was to be landed" if refused else ""
    return f"{_in_a_row(count, 'test run')} failed{of_them}"


def _in_a_row(count: int, noun: str) -> str:
    return counted(count, noun, f"{noun}s in a row")


def _used(count: int, limit: int) -> str:
    return f"{count} of {limit} {'iteration is' if count == limit == 1 else 'iterations are'} used"


def tests_in_words(iteration: Iteration) -> str:
    """Say how the checks failed an attempt. What the engine finds by itself is no failure of a test."""
    failed = sum(finding.category not in _OF_ENGINE for finding in iteration.failures)
    if failed or not iteration.failures:
        return f"tests failed with {counted(failed, 'failure')}"
    if asks_for_witness(iteration.failures):
        return "tests passed, but none fails without the change"
    if all(finding.rule in _UNNOTICED for finding in iteration.failures):
        return "tests passed, but none notices when the change is broken on purpose"
    first, *others = sorted(iteration.failures, key=lambda finding: is_told_once((finding,)))
    more = f" (and {counted(len(others), 'other finding')})" if others else ""
    return f"not accepted: {one_line(first.issue, _LINE).rstrip('.')}{more}"


def best_to_take(state: FeedbackState) -> Iteration | None:
    """What is accepted. A change that a person rejected is in it only if no attempt is without one."""
    if state.course.accepted and state.taken:
        return next(each for each in state.past if each.number == state.taken)
    return best_iteration(state.course.not_rejected(state.past)) or best_iteration(state.past)


def failing(state: FeedbackState, taken: Iteration) -> tuple[Finding, ...]:
    """What fails of what a person takes, as far as they know."""
    return () if state.verified else with_shown(taken.failures, _red_of(state, taken))


def known_issues(taken: Iteration) -> tuple[Finding, ...]:
    """Return the findings that stay open when a person accepts.

    Protected files are approved by then, or as the base has them. Whoever accepts a change without code says with it
    that the task was about what changed.
    """
    return tuple(issue for issue in taken.issues if not _is_settled_by_taking(issue))


def _is_settled_by_taking(issue: Finding) -> bool:
    is_no_code = issue.rule == NO_CHANGE and issue.severity is Severity.LOW
    return issue.category == ENGINE and (is_no_code or issue.rule == PROTECTED_FILE)


def open_findings(state: FeedbackState) -> tuple[Finding, ...]:
    """Everything that is wrong, with what a person saw fail of what they would accept."""
    best = best_to_take(state)
    return with_shown(unresolved(state.ledger), _red_of(state, best) if best else None)


def _red_of(state: FeedbackState, taken: Iteration) -> ShownRed | None:
    return state.red if state.red and state.red.of == taken.commit else None


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
