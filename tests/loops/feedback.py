"""Letters and sentences to tell a feedback loop's story with. A letter has no key; `play` gives it the wanted one."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from loopwright.kernel.actions import Action, Ask, RunAgent
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.machine import ANSWERED_BY
from loopwright.kernel.model import (
    NO_KEY,
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Finding,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.trust import FailedHiddenTest
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)

TREE = Tree("tree")
_UNKEYED = NO_KEY

ISSUE = identify(Finding(severity=Severity.HIGH, issue="no retry", rule="R1", file="a.py"))
OTHER = identify(Finding(severity=Severity.HIGH, issue="no log", rule="R2", file="a.py"))
MINOR = replace(ISSUE, severity=Severity.MEDIUM)
FAILURE = identify(Finding(severity=Severity.HIGH, issue="assert 1 == 2", rule="t::one", category="tests"))
ANOTHER = identify(Finding(severity=Severity.HIGH, issue="assert 3 < 2", rule="t::two", category="tests"))

# the developer
DONE = AgentReported(key=_UNKEYED, report=AgentReport(summary="did it"))
BLOCKED = AgentReported(key=_UNKEYED, report=AgentReport(status=AgentStatus.BLOCKED, summary="no network"))
UNCLEAR = AgentReported(
    key=_UNKEYED,
    report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which database?"),)),
)
CRASHED = AgentFailed(key=_UNKEYED, reason="crashed", detail="exit 1")
TIMED_OUT = AgentFailed(key=_UNKEYED, reason="timed_out")
IDLE = AgentFailed(key=_UNKEYED, reason="idle")
GARBLED = AgentFailed(key=_UNKEYED, reason="garbled", detail="no JSON")
NEEDS_PERSON = AgentFailed(key=_UNKEYED, reason="needs_person", detail="log in first")
UNAVAILABLE = AgentUnavailable(key=_UNKEYED, until=60.0)
LATER = TimeReached(key=_UNKEYED)


def of(role: str, letter: AgentReported | AgentFailed) -> AgentReported | AgentFailed:
    """The letter as the engine records it: with the role it comes from."""
    return replace(letter, role=role)


def passes(*findings: Finding) -> AgentReported:
    return AgentReported(key=_UNKEYED, report=AgentReport(verdict=Verdict.PASS, findings=findings))


def fails(*findings: Finding) -> AgentReported:
    return AgentReported(key=_UNKEYED, report=AgentReport(verdict=Verdict.FAIL, findings=findings))


# files and checks


def saved(commit: str = "c", *, files: int = 1, evidence: str = "") -> Checkpointed:
    """A checkpoint. With `evidence` it has changed a protected file."""
    protected = (Change(path="tests/t.py", how="changed", blob=evidence),) if evidence else ()
    return Checkpointed(
        key=_UNKEYED, commit=Commit(commit), tree=TREE, files=files, protected=protected, evidence=evidence
    )


GREEN = ChecksReported(key=_UNKEYED, tree=TREE, results=(CheckResult(name="test", passed=True),))
NO_RESULT = ChecksReported(key=_UNKEYED, tree=TREE, results=())


def red(*failures: Finding) -> ChecksReported:
    results = (CheckResult(name="lint", passed=True), CheckResult(name="test", passed=False, failures=failures))
    return ChecksReported(key=_UNKEYED, tree=TREE, results=results)


# an examiner
HIDDEN = "tests/test_hidden.py"
BROKEN = identify(Finding(severity=Severity.HIGH, issue="assert 8 == 15", rule="hidden::one", category="tests"))
EXAMINED = AgentReported(key=_UNKEYED, report=AgentReport(interface="`mul(a, b)`"), role="examiner")
TESTS_KEPT = replace(saved("hidden"), paths=(HIDDEN,))
RED_ON_BASE = ChecksReported(
    key=_UNKEYED, tree=TREE, results=(), hidden=(FailedHiddenTest(id="hidden::one", file=HIDDEN),)
)
GREEN_ON_BASE = ChecksReported(key=_UNKEYED, tree=TREE, results=(), findings=(ISSUE,))
LAID = Combined(key=_UNKEYED, commit=Commit("with-tests"))
TAKEN_AWAY = Combined(key=_UNKEYED, commit=Commit("without-tests"))
HIDDEN_FAILS = replace(red(BROKEN), hidden=RED_ON_BASE.hidden)
ACCEPTED_TESTS: tuple[Event, ...] = (EXAMINED, TESTS_KEPT, RED_ON_BASE)

LANDED = Integrated(key=_UNKEYED, branch="loop/1", commit=Commit("landed"))
REFUSED = IntegrationRefused(key=_UNKEYED, reason="checks", detail="main moved on", findings=(ANOTHER,))
CONFLICT = IntegrationRefused(key=_UNKEYED, reason="conflict", detail="both changed a.py", onto=Commit("tip"))
RED_MERGE = replace(REFUSED, onto=Commit("tip"), merged=Commit("merged"))
LEFT = replace(LANDED, not_merged="main has changes that are not committed")
CLEANED = CleanedUp(key=_UNKEYED)
CANCEL = CancelRequested(cleanup=Cleanup.ROLLBACK)


# people


def says(choice: str, *, count: int = 0, text: str = "", merge: bool = False) -> Answered:
    return Answered(key=_UNKEYED, choice=choice, count=count, text=text, merge=merge)


def approves(evidence: str) -> GateDecided:
    return GateDecided(key=_UNKEYED, gate="protected", approved=True, evidence=evidence)


def rejects(evidence: str, reason: str = "") -> GateDecided:
    return GateDecided(key=_UNKEYED, gate="protected", approved=False, evidence=evidence, reason=reason)


# whole iterations
REVIEW_FAILS: tuple[Event, ...] = (DONE, saved(), fails(ISSUE))
OTHER_FAILS: tuple[Event, ...] = (DONE, saved(), fails(OTHER))
TESTS_FAIL: tuple[Event, ...] = (DONE, saved(), passes(), red(FAILURE))
ALL_PASSES: tuple[Event, ...] = (DONE, saved(), passes(), GREEN)
NO_DEVELOPER: tuple[Event, ...] = (CRASHED, CRASHED)


# telling


def loop(**limits: int) -> FeedbackState:
    return FEEDBACK.start(params(**limits))


def params(**limits: int) -> FeedbackParams:
    plan = FeedbackParams(task="add retry", base=Commit("base"), limits=FeedbackLimits(**limits))
    return replace(plan, accepts_checked=True)


def play(state: FeedbackState, *letters: Event) -> FeedbackState:
    """The state after each letter has answered what is wanted then."""
    for letter in letters:
        state = taken(FEEDBACK, state, keyed(state, letter))
    return state


def keyed(state: FeedbackState, letter: Event) -> Event:
    """The letter with the key of the action that it can answer."""
    if not hasattr(letter, "key"):
        return letter
    for action in FEEDBACK.decide(state):
        if isinstance(letter, ANSWERED_BY[type(action)]):
            return with_key(letter, action.key)
    raise AssertionError(f"{type(letter).__name__} answers nothing in {state.phase}: {keys(state)}")


def keys(state: FeedbackState) -> list[str]:
    return [str(action.key) for action in FEEDBACK.decide(state)]


def wanted(state: FeedbackState, kind: type[A]) -> A:
    """The one action of that kind that is wanted now."""
    (found,) = [action for action in FEEDBACK.decide(state) if isinstance(action, kind)]
    return found


def developer(state: FeedbackState) -> RunAgent:
    action = wanted(state, RunAgent)
    assert action.role == "developer"
    return action


def options(state: FeedbackState) -> list[str]:
    return [option.choice for option in wanted(state, Ask).options]
