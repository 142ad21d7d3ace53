"""What the feedback loop's files say about its iterations, in the seed's own words."""

from __future__ import annotations

from loopwright.kernel.model import AgentReport, Ending, Severity, Verdict
from loopwright.loops.course import Station
from loopwright.loops.feedback.state import FeedbackState, Iteration, best_to_take, limits_reached

PROMISE = "IMPLEMENTATION_VERIFIED"
SPEC_COMPLIANT = "SPEC_COMPLIANT"
NOT_COMPLIANT = "NOT_COMPLIANT"
CONTINUING = "continuing"
_ENDED = {
    Ending.VERIFIED: PROMISE,
    Ending.ACCEPTED: "accepted",
    Ending.CANCELLED: "cancelled",
    Ending.ESCALATED: "escalated",
    Ending.FAILED: "escalated",
}


def loop_status(state: FeedbackState, status: str) -> str:
    """in_progress, IMPLEMENTATION_VERIFIED, escalated, accepted, cancelled or paused.

    `status` is the store's word for the loop; only it knows of a pause.
    """
    if state.course.outcome is not None:
        return _ENDED[state.course.outcome.ending]
    if status == "paused":
        return "paused"
    return "escalated" if state.course.station is Station.ESCALATED else "in_progress"


def current_number(state: FeedbackState) -> int:
    """The iteration in progress; once nothing is in progress, the last one there was."""
    if not state.past:
        return state.current.number
    stuck = state.course.station is Station.ESCALATED and bool(limits_reached(state))
    over = state.course.outcome is not None or stuck
    return state.past[-1].number if over else state.current.number


def review_result(iteration: Iteration) -> str:
    """An iteration without a review did not pass one."""
    return "PASS" if iteration.review is Verdict.PASS else "FAIL"


def test_result(iteration: Iteration) -> str:
    if iteration.tests is None:
        return "SKIPPED"
    return "PASS" if iteration.tests is Verdict.PASS else "FAIL"


def iteration_status(state: FeedbackState, index: int, status: str) -> str:
    """Of `state.past[index]`: how the loop stands, if it was the last or the one that was accepted.

    What a person takes is not verified, whatever passed: no check may have looked at it.
    """
    iteration, word = state.past[index], loop_status(state, status)
    if word == "accepted" and (taken := best_to_take(state)) is not None:
        return word if iteration.number == taken.number else CONTINUING
    if iteration.review is Verdict.PASS and iteration.tests is Verdict.PASS and not state.course.untested:
        return PROMISE
    if index < len(state.past) - 1 or word in ("in_progress", "paused"):
        return CONTINUING
    return word


def compliant(report: AgentReport) -> bool:
    """A pass with a critical or high finding is none."""
    worst = min((finding.severity.rank for finding in report.findings), default=Severity.LOW.rank)
    return report.verdict is Verdict.PASS and worst > Severity.HIGH.rank
