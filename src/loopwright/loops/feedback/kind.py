"""The feedback loop as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import AgentReport, LoopId
from loopwright.kernel.wording import ALL_TESTS_PASSING
from loopwright.loops.feedback import brief, closing, files
from loopwright.loops.feedback.iterations import NOT_COMPLIANT, PROMISE, SPEC_COMPLIANT, compliant
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.request import Feedback
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from loopwright.loops.kind import Kind, Needs, Words

_COMPLIANCE = (
    f"A review that passes without a critical or high finding is {SPEC_COMPLIANT}; anything else is {NOT_COMPLIANT} and"
    " begins the next iteration without running the checks."
)
_TESTING = (
    f"Checks that all pass are {ALL_TESTS_PASSING}: with {SPEC_COMPLIANT} that is {PROMISE}. A failed check begins the"
    " next iteration."
)
_COUNTING = (
    "A counter that reaches its limit asks a person. Continuing grants more; only revising starts a counter anew."
)


def _token(report: AgentReport) -> str:
    return SPEC_COMPLIANT if compliant(report) else NOT_COMPLIANT


def _title(params: FeedbackParams) -> str:
    """Of a part its first line: the rest is for whoever makes it."""
    return params.task.partition("\n")[0] if params.part else params.task


def _tells_more(loop: LoopId, _state: FeedbackState) -> str:
    return files.scratchpad_path(loop)


def _unresolved(state: FeedbackState, _told: object) -> tuple[str, ...]:
    return closing.unresolved_now(state)


KIND: Kind[FeedbackParams, FeedbackState] = Kind(
    loop=FEEDBACK,
    limits="feedback",
    request=Feedback,
    porch=("loopwright.app.starts.feedback",),
    words=Words(
        counter="iteration",
        promise=PROMISE,
        roles={"examine": "examiner", "implement": "developer", "review": "reviewer", "test": "tester"},
        token=_token,
        passes=compliant,
    ),
    starts='loop feedback "TASK"',
    needs=Needs(roles=("developer", "reviewer"), gates=(PROTECTED,), examiner=True),
    title=_title,
    brief=brief.render,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=closing.result,
    unresolved=_unresolved,
    told_when_stopped=_unresolved,
    rules=(_COMPLIANCE, _TESTING, _COUNTING),
    in_force="Counters:",
    files=files.render,
    tells_more=_tells_more,
    scratchpad=files.scratchpad_path,
    history=files.history,
    lane=closing.lane,
)
