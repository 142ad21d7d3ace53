"""All reachable states of the feedback loop, four alphabets at a time: what must hold in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import pytest

from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Combine,
    Integrate,
    RunAgent,
    RunChecks,
    Stop,
    WaitUntil,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    Event,
    GateDecided,
    IntegrationRefused,
)
from loopwright.kernel.model import AgentStatus, CheckResult, Commit, Demand, Ending, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackPhase, FeedbackState, counts, failing
from tests.loops import feedback as f
from tests.loops.harness import (
    Walk,
    answers_from,
    check_decisions,
    check_keys,
    check_refusals,
    check_round_trip,
    table,
    walk,
)

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

WORKING = tuple(FeedbackPhase)
EVERY_FAULT = (f.CRASHED, f.TIMED_OUT, f.IDLE, f.GARBLED, f.NEEDS_PERSON, f.UNAVAILABLE)
UNMET = replace(f.GREEN, also=(CheckResult(name="T-001", passed=False),))
DECIDED = (f.says("continue", count=1), f.says("accept"), f.says("cancel"))


@dataclass(frozen=True, kw_only=True)
class Alphabet:
    """What may answer each action."""

    developer: tuple[Event, ...] = (f.DONE,)
    reviewer: tuple[Event, ...] = (f.passes(), f.fails(f.ISSUE))
    tester: tuple[Event, ...] = (f.DONE,)
    checkpoint: tuple[Event, ...] = (f.saved(),)
    checks: tuple[Event, ...] = (f.GREEN, f.red(f.FAILURE))
    examiner: tuple[Event, ...] = (f.EXAMINED,)
    tests_kept: tuple[Event, ...] = (f.TESTS_KEPT,)
    tests_tried: tuple[Event, ...] = (f.RED_ON_BASE,)
    land: tuple[Event, ...] = (f.LANDED,)
    escalated: tuple[Answered, ...] = DECIDED

    def letters(self, action: Action) -> Iterable[Event]:
        match action:
            case RunAgent():
                letters: tuple[Event, ...] = getattr(self, action.role)
                return letters
            case Checkpoint(new_tests_only=True):
                return self.tests_kept
            case RunChecks() if action.hidden.must_fail:
                return self.tests_tried
            case Combine():
                return (f.LAID,) if action.base == Commit("c") else (f.TAKEN_AWAY,)
            case AwaitGate():
                return (f.approves(action.evidence), f.rejects(action.evidence, "no"))
            case Ask(free_text=True):
                offered = {option.choice for option in action.options} & {"keep", "drop"}
                return (f.says("answer", text="this"), f.says("cancel"), *map(f.says, sorted(offered)))
            case Ask():
                offered = {option.choice for option in action.options}
                return (said for said in self.escalated if said.choice in offered)
            case _:
                return self.by_kind[type(action)]

    @property
    def by_kind(self) -> dict[type[Action], tuple[Event, ...]]:
        return {
            RunChecks: self.checks,
            Checkpoint: self.checkpoint,
            Integrate: self.land,
            CleanUp: (f.CLEANED,),
            WaitUntil: (f.LATER,),
            Stop: (),
        }


@cache
def reachable(
    alphabet: Alphabet,
    *,
    tester: bool = False,
    examiner: Literal["", "named", "missing"] = "",
    lands: bool = True,
    **limits: int,
) -> Walk[FeedbackState]:
    """Everything `alphabet` can lead to; any time a cancel; people and patience bounded."""
    bounds = FeedbackLimits(**limits)
    plan = FeedbackParams(task="t", base=Commit("base"), tester=tester, limits=bounds, accepts_checked=True)
    plan = replace(plan, lands=lands, also=(Demand("T-001", ("make", "check")),), examiner=examiner)
    answers = answers_from(FEEDBACK, alphabet.letters)

    def bounded(state: FeedbackState) -> Iterator[Event]:
        yield from (event for event in answers(state) if not _too_much(state, event))
        if where(state) not in (Station.CLEAN_UP, Station.DONE):
            yield CancelRequested()

    return walk(FEEDBACK, FEEDBACK.start(plan), bounded)


def _too_much(state: FeedbackState, event: Event) -> bool:
    """Without these bounds a patient person and an unlucky agent could go on for ever."""
    match event:
        case Answered(choice="cancel") | Answered(choice="accept"):
            return False
        case Answered():
            return state.course.asked >= 2
        case IntegrationRefused():
            return state.course.asked >= 3
        case AgentUnavailable():
            return state.course.trial.tries >= 2
        case AgentFailed(reason="needs_person"):
            return state.course.asked >= 1
        case AgentReported(report=report):
            return report.status is not AgentStatus.DONE and state.course.asked >= 1
        case _:
            return False


def part() -> Walk[FeedbackState]:
    """Of a larger loop: it lands nothing itself."""
    return reachable(
        Alphabet(
            checkpoint=(f.saved(), f.saved("c1", evidence="e1"), f.saved(files=0)),
            checks=(f.GREEN, f.red(f.FAILURE), UNMET),
        ),
        lands=False,
        max_feedback_iterations=2,
    )


lazily = partial(partial, reachable)  # each is walked by whoever asks for it


def walks_with_examiner() -> dict[str, partial[Walk[FeedbackState]]]:
    return {
        "an examiner": lazily(
            Alphabet(
                examiner=(f.EXAMINED, f.DONE, f.BLOCKED, f.CRASHED, f.of("examiner", f.UNCLEAR)),
                tests_kept=(f.TESTS_KEPT, f.saved(files=0)),
                tests_tried=(f.RED_ON_BASE, f.GREEN_ON_BASE),
                reviewer=(f.passes(),),
                escalated=(f.says("retry"), f.says("maker"), f.says("cancel")),
            ),
            examiner="named",
            max_feedback_iterations=1,
        ),
        "acceptance tests": lazily(
            Alphabet(
                developer=(f.DONE, f.BLOCKED, f.of("developer", f.UNCLEAR)),
                checks=(f.GREEN, f.HIDDEN_FAILS),
                land=(f.LANDED, f.RED_MERGE),
                escalated=(*DECIDED, f.says("keep"), f.says("drop")),
            ),
            examiner="named",
            max_feedback_iterations=3,
            max_consecutive_test_failures=2,
        ),
        "no examiner": lazily(
            Alphabet(escalated=(f.says("maker"), f.says("cancel"))),
            examiner="missing",
            lands=False,
            max_feedback_iterations=1,
        ),
    }


def walks() -> dict[str, partial[Walk[FeedbackState]]]:
    e1, e2 = f.saved("c1", evidence="e1"), f.saved("c2", evidence="e2")
    return {
        "judgements": lazily(
            Alphabet(
                reviewer=(f.passes(), f.passes(f.MINOR), f.passes(f.ISSUE), f.fails(f.ISSUE), f.fails(f.OTHER)),
                checks=(f.GREEN, f.red(f.FAILURE), f.red(f.ANOTHER)),
                escalated=(f.says("continue", count=1), f.says("accept")),
            ),
            max_feedback_iterations=3,
            max_consecutive_review_failures=2,
            max_consecutive_test_failures=2,
        ),
        "faults": lazily(
            Alphabet(
                developer=(f.DONE, f.BLOCKED, f.UNCLEAR, *EVERY_FAULT),
                reviewer=(f.passes(), f.fails(), f.GARBLED, f.CRASHED, f.UNAVAILABLE, f.of("reviewer", f.UNCLEAR)),
                tester=(f.DONE, f.CRASHED, f.GARBLED, f.UNAVAILABLE, f.of("tester", f.NEEDS_PERSON)),
                checks=(f.GREEN, f.red(), f.NO_RESULT),
            ),
            tester=True,
            max_feedback_iterations=1,
        ),
        "gates": lazily(
            Alphabet(checkpoint=(f.saved(), e1, e2, f.saved(files=0)), escalated=()),
            max_feedback_iterations=2,
        ),
        "gates after a tester": lazily(
            Alphabet(tester=(f.DONE, f.UNAVAILABLE), checkpoint=(f.saved(), e1, e2)),
            tester=True,
            max_feedback_iterations=1,
        ),
        "people": lazily(
            Alphabet(
                developer=(f.DONE, f.BLOCKED, f.UNCLEAR, f.NEEDS_PERSON),
                land=(f.LANDED, f.REFUSED, f.CONFLICT, f.LEFT),
                escalated=(
                    *DECIDED,
                    f.says("history"),
                    f.says("revise", text="otherwise"),
                    f.says("accept", merge=True),
                ),
            ),
            max_feedback_iterations=2,
            max_consecutive_review_failures=1,
        ),
        "a part": partial(part),
        **walks_with_examiner(),
    }


@pytest.fixture(scope="module", params=walks())
def walked(request: pytest.FixtureRequest) -> Walk[FeedbackState]:
    return walks()[request.param]()


def test_decide_is_total_and_only_stop_is_the_end(walked: Walk[FeedbackState]) -> None:
    check_decisions(FEEDBACK, walked)


def test_a_key_names_one_try_for_ever(walked: Walk[FeedbackState]) -> None:
    check_keys(FEEDBACK, walked)


def test_what_answers_nothing_is_refused(walked: Walk[FeedbackState]) -> None:
    check_refusals(FEEDBACK, walked.states)


def test_every_state_can_be_stored(walked: Walk[FeedbackState]) -> None:
    check_round_trip(FeedbackState, walked.states[::20])


def test_no_work_goes_on_past_a_limit(walked: Walk[FeedbackState]) -> None:
    for state in walked.states:
        assert len(state.past) <= state.allowance.iterations, state
        if where(state) in WORKING and not state.course.accepted:
            now, most = counts(state), state.allowance
            assert state.current.number == now.iterations + 1 <= most.iterations, state
            assert now.review_failures < most.review_failures, state
            assert now.test_failures < most.test_failures, state


def test_no_failed_stage_with_the_same_fault_too_often_goes_on(walked: Walk[FeedbackState]) -> None:
    for state in (each for each in walked.states if where(each) in WORKING and each.past and not each.course.accepted):
        now, most, last = counts(state), state.allowance, state.past[-1]
        assert last.review is not Verdict.FAIL or state.current.review or now.same_review < most.same_review, state
        assert last.tests is not Verdict.FAIL or now.same_test < most.same_test, state


def test_iterations_are_numbered_without_a_gap(walked: Walk[FeedbackState]) -> None:
    for state in walked.states:
        assert [past.number for past in state.past] == list(range(1, len(state.past) + 1)), state
        assert state.current.number - len(state.past) in (0, 1), state


def test_what_lands_is_verified_or_accepted(walked: Walk[FeedbackState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.LAND):
        (land,) = FEEDBACK.decide(state)
        assert isinstance(land, Integrate)
        judged = [past for past in state.past if past.commit == land.commit]
        if state.course.accepted:
            assert judged, state
            assert land.verified or any(failing(state, each) for each in judged), "what no check has seen"
        else:
            assert land.verified, state
            assert (judged[-1].review, judged[-1].tests) == (Verdict.PASS, Verdict.PASS), state
            assert judged[-1] is state.past[-1]
            gate = state.course.due("protected")
            assert gate is None or {*gate.because} <= {*land.approved}, state


def test_what_lands_was_checked_with_the_approvals_it_has(walked: Walk[FeedbackState]) -> None:
    for step in walked.steps:
        if where(step.before) == FeedbackPhase.TEST and where(step.after) == Station.LAND:
            checks = f.wanted(step.before, RunChecks)
            land = f.wanted(step.after, Integrate)
            assert (checks.commit, checks.approved) == (land.commit, land.approved), step


def test_a_part_ends_with_its_commit_and_lands_nothing(walked: Walk[FeedbackState]) -> None:
    for state in (state for state in walked.states if not state.plan.lands):
        assert where(state) != Station.LAND, state
        stop, *gates = FEEDBACK.decide(state)
        if isinstance(stop, Stop):
            assert not gates, state
            ended = stop.outcome
            assert bool(ended.commit) == (ended.ending in (Ending.VERIFIED, Ending.ACCEPTED)), state
            if ended.ending is Ending.VERIFIED:
                assert (state.past[-1].commit, state.past[-1].tests) == (ended.commit, Verdict.PASS), state


def test_every_run_of_the_checks_has_the_commands_of_the_task(walked: Walk[FeedbackState]) -> None:
    for state in walked.states:
        for action in FEEDBACK.decide(state):
            if isinstance(action, RunChecks | Integrate) and not action.hidden.must_fail:
                assert action.also == state.plan.also, state


def test_no_agent_but_the_examiner_starts_from_acceptance_tests(walked: Walk[FeedbackState]) -> None:
    has_tests = {f.LAID.commit, f.TESTS_KEPT.commit, f.RED_MERGE.merged}
    for state in (each for each in walked.states if each.examination.files):
        for action in FEEDBACK.decide(state):
            if isinstance(action, RunAgent) and action.role != "examiner":
                assert action.start not in has_tests, state
                assert {action.brief.base, action.brief.candidate}.isdisjoint(has_tests), state


def test_what_lands_has_the_acceptance_tests_that_nobody_dropped(walked: Walk[FeedbackState]) -> None:
    for state in (each for each in walked.states if each.plan.examiner and where(each) == Station.LAND):
        land = f.wanted(state, Integrate)
        if not state.course.accepted:
            assert bool(state.examination.files) == (land.commit == f.LAID.commit), state
            assert state.examination.files or state.examination.decisions, state


def test_a_cancelled_loop_never_works_again(walked: Walk[FeedbackState]) -> None:
    for step in walked.steps:
        if step.before.course.cancel is not None:
            assert where(step.after) in (Station.LAND, Station.CLEAN_UP, Station.DONE), step


def test_the_table_of_transitions(golden: Callable[[str, str], None]) -> None:
    first, *others = (each() for each in walks().values())
    golden("loops/feedback-table.txt", table(sum(others, first), where, said))


def said(event: Event) -> str:
    """The event in a few words: its kind and what sets it apart."""
    match event:
        case AgentReported(report=report):
            return f"AgentReported {report.verdict or report.status}"
        case AgentFailed():
            return f"AgentFailed {event.reason}"
        case Answered():
            return f"Answered {event.choice}"
        case GateDecided():
            return f"GateDecided {'approved' if event.approved else 'rejected'}"
        case ChecksReported():
            return f"ChecksReported {'green' if event == replace(f.GREEN, key=event.key) else 'red'}"
        case Checkpointed():
            return f"Checkpointed {'files' if event.files else 'nothing'}"
        case _:
            return type(event).__name__
