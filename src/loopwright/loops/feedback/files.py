"""The files of a feedback loop: `progress.json`, and `feedback-scratchpad.md`: what every iteration did and what came
of it, for the next agent and for people.
"""

from __future__ import annotations

from loopwright.kernel.findings import cut
from loopwright.kernel.ledger import resolved, unresolved
from loopwright.kernel.model import Finding, LoopId
from loopwright.kernel.quoting import fenced, inline
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import counted, told
from loopwright.loops.feedback import progress
from loopwright.loops.feedback.iterations import (
    CONTINUING,
    PROMISE,
    current_number,
    iteration_status,
    loop_status,
    review_result,
    test_result,
)
from loopwright.loops.feedback.state import FeedbackState, Iteration
from loopwright.loops.kind import Files, Scene

_TASK = 4096
_SUMMARY = 600
_ISSUES = 20
_FINAL = ("escalated", "accepted", "cancelled", PROMISE)
_FOLDER = ".loop/feedback"


def scratchpad_path(loop: LoopId) -> str:
    return f"{_FOLDER}/{loop}/feedback-scratchpad.md"


def render(scene: Scene[FeedbackState]) -> Files:
    return {
        scratchpad_path(scene.loop): scratchpad(scene.loop, scene.state, scene.status),
        f"{_FOLDER}/{scene.loop}/progress.json": progress.render(scene.state, scene.status),
    }


def history(scene: Scene[FeedbackState]) -> str:
    """What a person is shown who asks for it: the scratchpad itself."""
    return visible(scratchpad(scene.loop, scene.state, scene.status))


# --- the scratchpad ---------------------------------------------------------------------------------------------------


def scratchpad(loop_id: str, state: FeedbackState, status: str) -> str:
    """Valid from the very start: then it is the header alone."""
    blocks = [_header(loop_id, state)]
    blocks += [_block(state, index, status) for index in range(len(state.past))]
    word = loop_status(state, status)
    if word in _FINAL:
        blocks.append(_summary(state, word))
    return "\n\n".join(blocks) + "\n"


def _header(loop_id: str, state: FeedbackState) -> str:
    lines = (
        "# Feedback Scratchpad",
        "",
        f"- **Loop**: {inline(loop_id)}",
        f"- **Completion Promise**: {PROMISE}",
        f"- **Max Iterations**: {state.allowance.iterations}",
        f"- **Current Iteration**: {current_number(state)}",
        f"- **Consecutive Review Failures**: {state.review_failures}",
        f"- **Consecutive Test Failures**: {state.test_failures}",
        "",
        "The task, as it was given:",
        "",
        fenced(cut(state.plan.task, _TASK)),
    )
    return "\n".join(lines)


def _block(state: FeedbackState, index: int, status: str) -> str:
    iteration = state.past[index]
    word = iteration_status(state, index, status)
    lines = (
        f"## Iteration {iteration.number}",
        f"- **Implementation**: {inline(iteration.implementation, _SUMMARY) or '(no summary)'}",
        f"- **Review Result**: {_review(iteration)}",
        f"- **Test Result**: {_tests(iteration)}",
        f"- **Status**: {word if word == CONTINUING else word.upper()}",
    )
    return "\n".join(lines)


def _review(iteration: Iteration) -> str:
    if iteration.review is None:
        return "FAIL - not reached"
    word = review_result(iteration)
    return f"{word} - {_listed(iteration.issues)}" if iteration.issues else word


def _tests(iteration: Iteration) -> str:
    word = test_result(iteration)
    if not iteration.failures:
        return word
    listed = _listed(iteration.failures)
    return f"{word} - {listed}" if iteration.tests else f"{word} - still open: {listed}"


def _listed(findings: tuple[Finding, ...]) -> str:
    """On the one line the seed has, worst first."""
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    shown = [inline(told(finding), 400) for finding in ordered[:_ISSUES]]
    if len(ordered) > _ISSUES:
        shown.append(f"and {len(ordered) - _ISSUES} more")
    return "; ".join(shown)


def _summary(state: FeedbackState, word: str) -> str:
    outcome = state.course.outcome
    later = outcome.waiting if outcome else ()
    gone = [finding for finding in resolved(state.ledger) if finding not in later]
    taken = outcome.findings if outcome and word == "accepted" else None
    left = () if word == PROMISE else unresolved(state.ledger) if taken is None else taken
    lines = [
        "## Summary",
        f"- **Total Iterations**: {len(state.past)}",
        f"- **Final Status**: {word.upper()}",
        f"- **Issues Resolved**: {len(gone)}",
        f"- **Known Issues Remaining**: {len(left)}",
        *(f"  - {inline(told(finding), 400)}" for finding in left[:_ISSUES]),
        *(f"- **Mended only in what did not land**: {inline(told(finding), 400)}" for finding in later[:_ISSUES]),
    ]
    if len(left) > _ISSUES:
        lines.append(f"  - and {counted(len(left) - _ISSUES, 'other')}")
    if state.course.reasons and word == "escalated":
        lines.append(f"- **Escalated Because**: {inline('; '.join(state.course.reasons), _SUMMARY)}")
    return "\n".join(lines)
