"""One answer of every kind that the feedback loop tells apart, with the words for it. The diagrams try them all."""

from __future__ import annotations

from typing import assert_never

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
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Commit,
    Finding,
    Severity,
    Tree,
    Verdict,
)
from loopwright.projections.wording import ALL_TESTS_PASSING, NOT_COMPLIANT, SPEC_COMPLIANT

Answers = dict[str, Event]  # in words, and as it is recorded
_WRONG = Finding(severity=Severity.HIGH, issue="sample", fingerprint="sample")
_PROTECTED = (Change(path="tests/sample.py", how="changed", blob="1"),)


def answers_to(action: Action) -> Answers:
    match action:
        case RunAgent():
            return _reports(action) | _no_report(action)
        case RunChecks():
            return _checks(action)
        case Checkpoint():
            return _checkpoints(action)
        case Integrate():
            refused = IntegrationRefused(key=action.key, reason="conflict")
            return {"landed": Integrated(key=action.key, branch="b", commit=action.commit), "refused": refused}
        case Ask() | AwaitGate():
            return _from_person(action)
        case CleanUp():
            return {"cleaned up": CleanedUp(key=action.key)}
        case WaitUntil():
            return {"the agent is available again": TimeReached(key=action.key)}
        case Stop() | RunLoop():
            return {}
        case _:
            assert_never(action)


def asked_for(action: Action) -> str:
    """Who or what the action asks, for the table."""
    match action:
        case RunAgent():
            return action.role
        case Ask() | AwaitGate():
            return "a person"
        case RunChecks():
            return "checks"
        case WaitUntil():
            return "time"
        case Checkpoint() | Integrate() | CleanUp() | Stop() | RunLoop():
            return {"CleanUp": "clean-up"}.get(type(action).__name__, type(action).__name__.lower())
        case _:
            assert_never(action)


def _reports(action: RunAgent) -> Answers:
    if action.needs_verdict:
        good, bad = AgentReport(verdict=Verdict.PASS), AgentReport(verdict=Verdict.FAIL, findings=(_WRONG,))
        return {
            SPEC_COMPLIANT: AgentReported(key=action.key, report=good),
            NOT_COMPLIANT: AgentReported(key=action.key, report=bad),
        }
    done = AgentReported(key=action.key, report=AgentReport())
    if action.role != "developer":
        return {"done": done}
    asks, blocked = (AgentReport(status=s) for s in (AgentStatus.NEEDS_CLARIFICATION, AgentStatus.BLOCKED))
    return {
        "done": done,
        "needs clarification": AgentReported(key=action.key, report=asks),
        "blocked": AgentReported(key=action.key, report=blocked),
    }


def _no_report(action: RunAgent) -> Answers:
    return {
        "crashed or timed out": AgentFailed(key=action.key, reason="crashed"),
        "unreadable result": AgentFailed(key=action.key, reason="garbled"),
        "not available": AgentUnavailable(key=action.key, until=1.0),
    }


def _checks(action: RunChecks) -> Answers:
    good, bad = (
        CheckResult(name="test", passed=passed, failures=() if passed else (_WRONG,)) for passed in (True, False)
    )
    return {
        ALL_TESTS_PASSING: ChecksReported(key=action.key, tree=Tree("t"), results=(good,)),
        "a check fails": ChecksReported(key=action.key, tree=Tree("t"), results=(bad,)),
    }


def _checkpoints(action: Checkpoint) -> Answers:
    commit, tree = Commit("c"), Tree("t")
    return {
        "files changed": Checkpointed(key=action.key, commit=commit, tree=tree, files=1),
        "protected files changed": Checkpointed(
            key=action.key, commit=commit, tree=tree, files=1, protected=_PROTECTED, evidence=evidence(_PROTECTED)
        ),
        "nothing changed": Checkpointed(key=action.key, commit=commit, tree=tree),
    }


def _from_person(action: Ask | AwaitGate) -> Answers:
    if isinstance(action, AwaitGate):
        return {
            f"gate {action.gate} {word}": GateDecided(
                key=action.key, gate=action.gate, approved=word == "approved", evidence=action.evidence
            )
            for word in ("approved", "rejected")
        }
    return {option.choice: Answered(key=action.key, choice=option.choice, text="…") for option in action.options}
