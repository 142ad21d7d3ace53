"""One answer of every kind that a loop tells apart, with the words for it. The diagrams try them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Combine,
    ExamineChange,
    ExamineFiles,
    Integrate,
    LoadArtifacts,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    RunOnce,
    Stop,
    Tell,
    WaitUntil,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    ArtifactsLoaded,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    LoopEnded,
    TimeReached,
)
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Commit,
    Conflict,
    Content,
    Ending,
    Finding,
    Key,
    Outcome,
    Point,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.trust import FailedHiddenTest
from loopwright.kernel.wording import ALL_TESTS_PASSING
from loopwright.loops.sample_sightings import sightings_of

Answers = dict[str, Event]  # in words, and as it is recorded
_WRONG = Finding(severity=Severity.HIGH, issue="sample", fingerprint="sample")
_GRAVE = Finding(severity=Severity.CRITICAL, issue="sample", evidence="seen", guidance="mend it", fingerprint="sample")
PASSES, FINDS = "pass", "fail with a critical finding"
LOADED, RECORDED, DONE, CHANGED, LANDED = "it is there", "on record", "done", "files changed", "landed"
Verdicts = Mapping[str, AgentReport]  # what a judge may say, in the words of the loop
FOUND = AgentReport(verdict=Verdict.FAIL, findings=(_WRONG,))
PASSED_IT = AgentReport(verdict=Verdict.PASS)
BLOCKED_IT = AgentReport(verdict=Verdict.FAIL, findings=(_GRAVE,))
_SAID = {"split": "AC-1", "reassign": "creator=other"}  # other answers may say anything
_PASSED = {  # only where a review is made
    "passed": Outcome(ending=Ending.REVIEWED, commit=Commit("c")),
    "passed as it was": Outcome(ending=Ending.REVIEWED),
}
_PROTECTED = (Change(path="tests/sample.py", how="changed", blob="1"),)


def answers_to(action: Action, verdicts: Verdicts) -> Answers:
    """`verdicts` are what a judge of this loop may say, in its own words."""
    match action:
        case RunAgent():
            return _reports(action, verdicts) | _no_report(action)
        case RunChecks():
            return _checks(action)
        case RunLoop():
            return _children(action)
        case Ask() | AwaitGate():
            return _from_person(action)
        case Announce():
            return {RECORDED: Announced(key=action.key)}
        case WaitUntil():
            return {"the agent is available again": TimeReached(key=action.key)}
        case Checkpoint() | LoadArtifacts() | Combine() | Integrate() | CleanUp():
            return _files(action)
        case (
            Tell()
            | ExamineFiles()
            | ExamineChange()
            | RunOnce()
            | OpenPullRequest()
            | ReadPullRequest()
            | MergePullRequest()
        ):
            return sightings_of(action)
        case Stop():
            return {}
        case _:
            assert_never(action)


_ASKED = {"CleanUp": "clean-up", "LoadArtifacts": "the tree", "Announce": "the record", "RunLoop": "each one's loop"}


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
        case _:
            name = type(action).__name__
            return _ASKED.get(name, name.lower())


def _reports(action: RunAgent, verdicts: Verdicts) -> Answers:
    said = {"needs clarification": AgentReport(status=AgentStatus.NEEDS_CLARIFICATION)}
    if action.needs_verdict:
        said |= verdicts
    elif action.role == "tester":
        said |= {DONE: AgentReport()}
    elif action.role == "examiner":
        said |= {DONE: AgentReport(interface="sample"), "no interface": AgentReport()}
        said |= {"blocked": AgentReport(status=AgentStatus.BLOCKED)}
    else:
        said |= {DONE: AgentReport(), "blocked": AgentReport(status=AgentStatus.BLOCKED)}
    return {word: AgentReported(key=action.key, report=report, role=action.role) for word, report in said.items()}


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
    tried = ChecksReported(key=action.key, tree=Tree("t"), results=())
    hidden = tuple(FailedHiddenTest(id="sample", file=path) for path in action.hidden.files[:1])
    if action.hidden.must_fail:
        return {
            "each fails as it should": replace(tried, hidden=hidden),
            "one does not fail": replace(tried, findings=(_WRONG,)),
        }
    answers: Answers = {
        ALL_TESTS_PASSING: replace(tried, results=(good,)),
        "a check fails": replace(tried, results=(bad,)),
    }
    return answers | ({"an acceptance test fails": replace(tried, results=(bad,), hidden=hidden)} if hidden else {})


def _files(action: Checkpoint | LoadArtifacts | Combine | Integrate | CleanUp) -> Answers:
    match action:
        case Checkpoint():
            return _checkpoints(action)
        case LoadArtifacts():
            here, gone = (
                tuple(Content(path=path, object=held) for path in action.paths) for held in (str(action.commit), "")
            )
            return {
                LOADED: ArtifactsLoaded(key=action.key, contents=here),
                "it is gone": ArtifactsLoaded(key=action.key, contents=gone),
            }
        case Combine():
            whole = Combined(key=action.key, commit=Commit("m"), files=1)
            conflicts = tuple(Conflict(commit=each) for each in action.commits)
            none = Combined(key=action.key, commit=action.base, left_out=action.commits, conflicts=conflicts)
            return {"combined": whole, "nothing goes together": none}
        case Integrate():
            refused = IntegrationRefused(key=action.key, reason="moved")
            conflict = IntegrationRefused(key=action.key, reason="conflict", onto=Commit("t"))
            red = IntegrationRefused(key=action.key, reason="checks", onto=Commit("t"), merged=Commit("m"))
            landed = Integrated(key=action.key, branch="b", commit=action.commit)
            return {
                LANDED: landed,
                "refused": refused,
                "a conflict with what was landed meanwhile": conflict,
                "checks fail on the merged tree": red,
            }
        case CleanUp():
            return {"cleaned up": CleanedUp(key=action.key)}
        case _:
            assert_never(action)


def _checkpoints(action: Checkpoint) -> Answers:
    commit, tree = Commit("c"), Tree(str(action.key))
    answers: Answers = {
        CHANGED: Checkpointed(key=action.key, commit=commit, tree=tree, files=1),
        "nothing changed": Checkpointed(key=action.key, commit=commit, tree=tree, unchanged=True),
    }
    if action.new_tests_only:
        made = Checkpointed(key=action.key, commit=commit, tree=tree, files=1, paths=("tests/hidden.py",))
        return answers | {CHANGED: made}
    if action.only:
        return answers  # of what is not to be taken, nothing is seen
    guarded = Checkpointed(
        key=action.key, commit=commit, tree=tree, files=1, protected=_PROTECTED, evidence=evidence(_PROTECTED)
    )
    return answers | {"protected files changed": guarded}


def _children(action: RunLoop) -> Answers:
    """What a child may say that was driven so far: it waits at a point, it has ended, or it needs a person."""
    match action.said:
        case CancelRequested():
            heard = {"cancelled": Outcome(ending=Ending.CANCELLED)}
        case Answered(choice="accept"):
            heard = {"accepted": Outcome(ending=Ending.ACCEPTED, commit=Commit("c"))}
        case _:
            stuck = Outcome(
                ending=Ending.ESCALATED, at=Point("ESCALATED", 1), asking=Key("escalation", 1), note="sample"
            )
            made = {} if action.upto else {"verified": Outcome(ending=Ending.VERIFIED, commit=Commit("c"))}
            held = {_waits(at): Outcome(ending=Ending.HELD, at=at, note="sample") for at in action.upto}
            heard = {**made, **held, **(_PASSED if _is_reviewed(action) else {}), "needs a person": stuck}
    return {word: LoopEnded(key=action.key, outcome=outcome) for word, outcome in heard.items()}


def _is_reviewed(action: RunLoop) -> bool:
    """Whether the child comes by a review before it waits for its fix."""
    return any(at.state == "FIX" and Point("LOAD_ARTIFACTS", at.attempt) not in action.upto for at in action.upto)


def _waits(at: Point) -> str:
    return f"waits at {at.state}"


def _from_person(action: Ask | AwaitGate) -> Answers:
    if isinstance(action, AwaitGate):
        return {
            f"gate {action.gate} {word}": GateDecided(
                key=action.key, gate=action.gate, approved=word == "approved", evidence=action.evidence
            )
            for word in ("approved", "rejected")
        }
    return {
        option.choice: Answered(key=action.key, choice=option.choice, text=_SAID.get(option.choice, "…"))
        for option in action.options
    }
