"""All reachable states of the feedback loop, four alphabets at a time: what must hold in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Integrate,
    RunAgent,
    RunChecks,
    RunLoop,
    Stop,
    WaitUntil,
)
from loopwright.kernel.events import AgentReported, AgentUnavailable, Answered, CancelRequested, Event
from loopwright.kernel.limits import FeedbackLimits
from loopwright.kernel.model import AgentStatus, Commit, Verdict
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import Feedback, FeedbackParams, Phase, counts, gate_is_open
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

WORKING = (Phase.IMPLEMENT, Phase.CHECKPOINT, Phase.REVIEW, Phase.ADD_TESTS, Phase.CHECKPOINT_TESTS, Phase.TEST)
EVERY_FAULT = (f.CRASHED, f.TIMED_OUT, f.IDLE, f.GARBLED, f.NEEDS_PERSON, f.UNAVAILABLE)
DECIDED = (f.says("continue", count=1), f.says("accept"), f.says("cancel"))


def alphabet(
    *,
    developer: tuple[Event, ...] = (f.DONE,),
    reviewer: tuple[Event, ...] = (f.passes(), f.fails(f.ISSUE)),
    tester: tuple[Event, ...] = (f.DONE,),
    checkpoint: tuple[Event, ...] = (f.saved(),),
    checks: tuple[Event, ...] = (f.GREEN, f.red(f.FAILURE)),
    land: tuple[Event, ...] = (f.LANDED,),
    escalated: tuple[Answered, ...] = DECIDED,
) -> Callable[[Action], Iterable[Event]]:
    roles = {"developer": developer, "reviewer": reviewer, "tester": tester}

    def letters(action: Action) -> Iterable[Event]:
        match action:
            case RunAgent():
                return roles[action.role]
            case RunChecks():
                return checks
            case Checkpoint():
                return checkpoint
            case Integrate():
                return land
            case CleanUp():
                return (f.CLEANED,)
            case WaitUntil():
                return (f.LATER,)
            case AwaitGate():
                return (f.approves(action.evidence), f.rejects(action.evidence, "no"))
            case Ask():
                offered = {option.choice for option in action.options}
                answered = (f.says("answer", text="this"), f.says("cancel"))
                return answered if action.free_text else (said for said in escalated if said.choice in offered)
            case Stop() | RunLoop():
                return ()

    return letters


def reachable(letters: Callable[[Action], Iterable[Event]], *, tester: bool = False, **limits: int) -> Walk[Feedback]:
    """Everything `letters` can lead to; any time a cancel; people and patience bounded."""
    plan = FeedbackParams(task="t", base=Commit("base"), tester=tester, limits=FeedbackLimits(**limits))
    answers = answers_from(FEEDBACK, letters)

    def bounded(state: Feedback) -> Iterator[Event]:
        yield from (event for event in answers(state) if not _too_much(state, event))
        if state.phase not in (Phase.CLEAN_UP, Phase.DONE):
            yield CancelRequested()

    return walk(FEEDBACK, FEEDBACK.start(plan), bounded)


def _too_much(state: Feedback, event: Event) -> bool:
    """Without these bounds a patient person and an unlucky agent could go on for ever."""
    match event:
        case Answered(choice="cancel") | Answered(choice="accept"):
            return False
        case Answered():
            return state.asked >= 3
        case AgentUnavailable():
            return state.tries >= 2
        case AgentReported(report=report):
            return report.status is not AgentStatus.DONE and state.asked >= 2
        case _:
            return False


@cache
def walks() -> dict[str, Walk[Feedback]]:
    e1, e2 = f.saved("c1", evidence="e1"), f.saved("c2", evidence="e2")
    return {
        "judgements": reachable(
            alphabet(
                reviewer=(f.passes(), f.passes(f.MINOR), f.passes(f.ISSUE), f.fails(f.ISSUE), f.fails(f.OTHER)),
                checks=(f.GREEN, f.red(f.FAILURE), f.red(f.ANOTHER)),
                escalated=(f.says("continue", count=1), f.says("accept")),
            ),
            max_feedback_iterations=3,
            max_consecutive_review_failures=2,
            max_consecutive_test_failures=2,
        ),
        "faults": reachable(
            alphabet(
                developer=(f.DONE, f.BLOCKED, f.UNCLEAR, *EVERY_FAULT),
                reviewer=(f.passes(), f.fails(), f.GARBLED, f.CRASHED, f.UNAVAILABLE),
                tester=(f.DONE, f.CRASHED, f.GARBLED, f.UNAVAILABLE),
                checks=(f.GREEN, f.red(), f.NO_RESULT),
            ),
            tester=True,
            max_feedback_iterations=1,
        ),
        "gates": reachable(
            alphabet(checkpoint=(f.saved(), e1, e2, f.saved(files=0)), escalated=(f.says("continue", count=1),)),
            max_feedback_iterations=2,
        ),
        "gates after a tester": reachable(
            alphabet(tester=(f.DONE, f.UNAVAILABLE), checkpoint=(f.saved(), e1, e2)),
            tester=True,
            max_feedback_iterations=1,
        ),
        "people": reachable(
            alphabet(
                developer=(f.DONE, f.BLOCKED, f.UNCLEAR, f.NEEDS_PERSON),
                land=(f.LANDED, f.REFUSED),
                escalated=(*DECIDED, f.says("history"), f.says("revise", text="otherwise"), f.says("accept", merge=True)),
            ),
            max_feedback_iterations=2,
            max_consecutive_review_failures=1,
        ),
    }
