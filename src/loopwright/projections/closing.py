"""What is said when a run of a loop is over: what happened, where the result is, and the one command to take it."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.model import Cleanup, Ending, Finding, Outcome, Verdict
from loopwright.loops.feedback.state import Feedback, Iteration, best_iteration
from loopwright.projections.quoting import one_line
from loopwright.projections.wording import (
    ALL_TESTS_PASSING,
    NOT_COMPLIANT,
    PROMISE,
    SPEC_COMPLIANT,
    counted,
    told,
)

_SHOWN = 5
_LEFT = {
    Cleanup.KEEP_EVERYTHING: "workspace and files are kept",
    Cleanup.KEEP_ARTIFACTS: "the workspace is removed, its files are kept",
    Cleanup.ROLLBACK: "workspace and branch are removed",
    Cleanup.FULL: "workspace, branch and the loop's files are removed",
}


def render(loop_id: str, state: Feedback, outcome: Outcome, scratchpad: str) -> tuple[str, ...]:
    """The closing lines of a loop that ended."""
    gone = outcome.cleanup is Cleanup.FULL
    return (
        *(sentence(iteration) for iteration in state.past),
        _headline(outcome),
        *(f"  {line}" for line in _left(outcome.findings)),
        *_result(state, outcome),
        f"Look closer: `loop log --loop {loop_id}`{'' if gone else f', {one_line(scratchpad, 500)}'}",
    )


def sentence(iteration: Iteration) -> str:
    """One iteration in a sentence."""
    did = one_line(iteration.implementation, 120) or "no summary"
    return f"Iteration {iteration.number}: {did}; {_verdicts(iteration)}"


def _verdicts(iteration: Iteration) -> str:
    if iteration.review is None:
        return "no review"
    if iteration.review is Verdict.FAIL:
        return f"review failed with {counted(len(iteration.issues), 'issue')} ({NOT_COMPLIANT})"
    if iteration.tests is None:
        return f"review passed ({SPEC_COMPLIANT}), no tests"
    if iteration.tests is Verdict.FAIL:
        return f"review passed, tests failed with {counted(len(iteration.failures), 'failure')}"
    return f"review passed ({SPEC_COMPLIANT}), tests passed ({ALL_TESTS_PASSING})"


def _headline(outcome: Outcome) -> str:
    after = f"after {counted(outcome.attempts, 'iteration')}"
    left = counted(len(outcome.findings), "known issue")
    match outcome.ending:
        case Ending.VERIFIED:
            return f"{PROMISE} {after}."
        case Ending.ACCEPTED:
            return f"Accepted by a person {after} with {left}, recorded in .loop/debt.md."
        case Ending.CANCELLED:
            return f"Cancelled {after}; {_LEFT[outcome.cleanup or Cleanup.KEEP_EVERYTHING]}."
        case Ending.ESCALATED:
            return f"Escalated {after} with {left}."
        case Ending.FAILED:
            return f"Failed {after} with {left}."
        case _:
            assert_never(outcome.ending)


def _result(state: Feedback, outcome: Outcome) -> tuple[str, ...]:
    note = (f"Note: {one_line(outcome.note, 500)}",) if outcome.note else ()
    if outcome.merged_into:
        return (f"Result: merged into {_short(outcome.merged_into)} ({outcome.commit[:12]}).", *note)
    if outcome.branch:
        where = f"Result: branch {outcome.branch} ({outcome.commit[:12]})."
        return (where, *note, f"Take it: `git merge {outcome.branch}`")
    best = best_iteration(state.past)
    if best is None:
        return ("Result: none; no attempt left a commit.", *note)
    # No choice of clean-up removes an attempt, so the best one can still be had.
    kept = f"Result: not landed; the best attempt, iteration {best.number}, is kept as {best.commit[:12]}."
    return (kept, *note, f"Take it: `git merge {best.commit}`")


def _short(ref: str) -> str:
    return one_line(ref.removeprefix("refs/heads/"), 120)


def _left(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    shown = tuple(f"[{finding.severity.value}] {told(finding)}" for finding in findings[:_SHOWN])
    return shown + ((f"and {counted(len(findings) - _SHOWN, 'other')}",) if len(findings) > _SHOWN else ())
