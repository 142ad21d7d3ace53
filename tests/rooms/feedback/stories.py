"""States of the feedback loop as they come about: every one is reached by playing events into the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Event,
    Integrated,
    IntegrationRefused,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Finding,
    Key,
    LoopId,
    Severity,
    Tree,
    Verdict,
)
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from loopwright.ports.store import LoopRow, Status

Step = Callable[[FeedbackState], Event]
LOOP = LoopId("fb-1")
AT = 1_768_645_800.0  # 2026-01-17T10:30:00Z
PARAMS = FeedbackParams(
    task="Add a filter to the list.\n\nIt must keep the order.",
    base=Commit("b" * 40),
    target="refs/heads/main",
    criteria=("The filter keeps the order", "An empty filter shows everything"),
)

NO_ORDER = identify(
    Finding(
        severity=Severity.HIGH,
        file="src/filter.py",
        line=12,
        issue="The order is lost",
        evidence="sorted() is called on the result",
        guidance="Filter in place of sorting",
        requirement="It must keep the order",
        category="spec",
    )
)
NO_DOC = identify(Finding(severity=Severity.LOW, issue="The page about lists says nothing of the filter"))
FAILING = identify(
    Finding(
        severity=Severity.HIGH,
        category="tests",
        rule="tests/test_filter.py::test_empty",
        issue="tests/test_filter.py::test_empty - assert [] == [1]",
        evidence="def test_empty():\n>   assert shown('') == [1]\nE   assert [] == [1]",
        file="tests/test_filter.py",
        line=7,
    )
)
BROKEN_BUILD = identify(
    Finding(
        severity=Severity.HIGH,
        category="checks",
        rule="build",
        issue="check 'build' failed with exit code 2",
        evidence="make all\nexit code 2\nfilter.c:3: error",
    )
)


def played(*steps: Step, params: FeedbackParams = PARAMS) -> FeedbackState:
    return reduce(lambda state, step: FEEDBACK.apply(state, step(state)), steps, FEEDBACK.start(params))


def row(
    status: Status = "running", *, outcome: str = "", params: str = '{"task": "Add a filter", "base": "b"}'
) -> LoopRow:
    return LoopRow(
        id=LOOP,
        kind="feedback",
        params=params,
        parent=None,
        status=status,
        seq=9,
        fence=1,
        created=AT - 600,
        updated=AT,
        budget=25.0,
        spent=2.5,
        reserved=0.5,
        outcome=outcome,
    )


def _key(state: FeedbackState) -> Key:
    return FEEDBACK.decide(state)[0].key


def implemented(summary: str, *, status: AgentStatus = AgentStatus.DONE) -> Step:
    return lambda state: AgentReported(key=_key(state), report=AgentReport(summary=summary, status=status))


def silent(state: FeedbackState) -> Event:
    return AgentFailed(key=_key(state), reason="crashed", detail="exit code 1")


def kept(state: FeedbackState) -> Event:
    commit = Commit(f"{state.current.number:040d}")
    return Checkpointed(key=_key(state), commit=commit, tree=Tree("t"), files=1)


def kept_with_protected(state: FeedbackState) -> Event:
    change = (Change(path="tests/test_filter.py", how="changed", blob="1"),)
    commit = Commit(f"{state.current.number:040d}")
    return Checkpointed(
        key=_key(state), commit=commit, tree=Tree("t"), files=1, protected=change, evidence=evidence(change)
    )


def compliant(state: FeedbackState) -> Event:
    return AgentReported(key=_key(state), report=AgentReport(verdict=Verdict.PASS))


def not_compliant(*findings: Finding) -> Step:
    report = AgentReport(verdict=Verdict.FAIL, findings=findings)
    return lambda state: AgentReported(key=_key(state), report=report)


def passing(state: FeedbackState) -> Event:
    result = CheckResult(name="test", passed=True, tests=12)
    return ChecksReported(key=_key(state), tree=Tree("t"), results=(result,))


def failing(*failures: Finding) -> Step:
    result = CheckResult(name="test", passed=False, failures=failures, tests=12)
    return lambda state: ChecksReported(key=_key(state), tree=Tree("t"), results=(result,))


def landed(state: FeedbackState) -> Event:
    return Integrated(key=_key(state), branch="loop/fb-1", commit=Commit("c" * 40))


def merged(state: FeedbackState) -> Event:
    return Integrated(key=_key(state), branch="loop/fb-1", commit=Commit("c" * 40), merged_into="refs/heads/main")


def refused(state: FeedbackState) -> Event:
    return IntegrationRefused(key=_key(state), reason="conflict", detail="src/filter.py")


def answered(choice: str, text: str = "") -> Step:
    return lambda state: Answered(key=_key(state), choice=choice, text=text, by="ann")


def cancelled(cleanup: Cleanup = Cleanup.KEEP_EVERYTHING) -> Step:
    return lambda _: CancelRequested(cleanup=cleanup, by="ann")


def cleaned_up(state: FeedbackState) -> Event:
    return CleanedUp(key=_key(state))


FAILED_REVIEW = (implemented("Added filter()"), kept, not_compliant(NO_ORDER, NO_DOC))
FAILED_TEST = (implemented("Kept the order"), kept, compliant, failing(FAILING))
VERIFIED = (implemented("Handled the empty filter"), kept, compliant, passing, landed)
TWICE = replace(PARAMS, limits=FeedbackLimits(max_feedback_iterations=2))
ESCALATED = played(*FAILED_REVIEW, *FAILED_TEST, params=TWICE)

STORIES = {
    "start": played(),
    "failed-review": played(*FAILED_REVIEW),
    "failed-test": played(*FAILED_REVIEW, *FAILED_TEST),
    "verified": played(*FAILED_REVIEW, *FAILED_TEST, *VERIFIED),
    "escalated": ESCALATED,
    "accepted": played(*FAILED_REVIEW, *FAILED_TEST, answered("accept"), landed, params=TWICE),
    "cancelled": played(*FAILED_REVIEW, cancelled(), cleaned_up),
    "no-result": played(silent, silent),
}
STATUS: dict[str, Status] = {
    "verified": "complete",
    "accepted": "complete",
    "escalated": "waiting",
    "cancelled": "cancelled",
}
