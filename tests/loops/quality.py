"""Letters and sentences to tell a quality loop's story with. A letter has no key; `play` gives it the wanted one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from loopwright.kernel.actions import Action, Ask, AwaitGate, RunAgent, Stop
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
    ConfigChanged,
    Event,
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
    CheckResult,
    Cleanup,
    Commit,
    Content,
    Finding,
    Outcome,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.touched import Touched
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityParams, QualityState
from loopwright.loops.reviewed import QualityLimits
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)

_UNKEYED = NO_KEY
ARTIFACT = "src/pay.py"
FILE = "src/pay.quality.yml"
BASE = Commit("base")


def flaw(
    name: str,
    severity: Severity = Severity.HIGH,
    *,
    evidence: str = "",
    guidance: str = "do it otherwise",
    file: str = ARTIFACT,
) -> Finding:
    """A finding that is known by its rule; what shows it is its own unless said otherwise."""
    return identify(
        Finding(
            severity=severity,
            rule=name,
            issue=f"{name} is wrong",
            file=file,
            evidence=evidence or f"see {name}",
            guidance=guidance,
        )
    )


def critical(name: str, **facts: str) -> Finding:
    return flaw(name, Severity.CRITICAL, **facts)


def medium(name: str, **facts: str) -> Finding:
    return flaw(name, Severity.MEDIUM, **facts)


def low(name: str) -> Finding:
    return flaw(name, Severity.LOW)


ALPHA, BETA, GAMMA, DELTA = flaw("alpha"), flaw("beta"), flaw("gamma"), flaw("delta")
THREE = (ALPHA, BETA, GAMMA)
UNSHOWN = Finding(severity=Severity.CRITICAL, rule="U", issue="it feels wrong", guidance="rethink")
AIMLESS = Finding(severity=Severity.HIGH, rule="V", issue="it is slow", evidence="2 s")


def renamed(finding: Finding, rule: str) -> Finding:
    """The same words under another rule."""
    return identify(replace(finding, rule=rule, fingerprint=""))


# the artifact


def loaded(content: str = "o1") -> ArtifactsLoaded:
    return ArtifactsLoaded(key=_UNKEYED, contents=(Content(path=ARTIFACT, object=content),))


LOADED = loaded()
GONE = loaded("")


# the reviewer


def review(verdict: Verdict | None, *findings: Finding, status: AgentStatus = AgentStatus.DONE) -> AgentReported:
    report = AgentReport(verdict=verdict, findings=findings, status=status, summary="looked at it")
    return AgentReported(key=_UNKEYED, report=report)


def passes(*findings: Finding) -> AgentReported:
    return review(Verdict.PASS, *findings)


def fails(*findings: Finding) -> AgentReported:
    return review(Verdict.FAIL, *findings)


SAID = Announced(key=_UNKEYED)

# the checks
BROKEN_TEST = identify(Finding(severity=Severity.HIGH, rule="t.py::test_pay", issue="assert 1 == 2", category="tests"))
GREEN = ChecksReported(key=_UNKEYED, tree=Tree("t"), results=(CheckResult(name="test", passed=True, tests=6),))
RED = ChecksReported(
    key=_UNKEYED, tree=Tree("t"), results=(CheckResult(name="test", passed=False, failures=(BROKEN_TEST,)),)
)

# the creator
FIXED = AgentReported(key=_UNKEYED, report=AgentReport(summary="mended it"))
BLOCKED = AgentReported(key=_UNKEYED, report=AgentReport(status=AgentStatus.BLOCKED, summary="no network"))
UNCLEAR = AgentReported(
    key=_UNKEYED,
    report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which currency?"),)),
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


def saved(
    commit: str = "c1",
    *,
    files: int = 1,
    dropped: tuple[str, ...] = (),
    touched: tuple[Touched, ...] = (),
    same: bool = False,
) -> Checkpointed:
    return Checkpointed(
        key=_UNKEYED,
        commit=Commit(commit),
        tree=Tree(f"tree-{commit}"),
        files=files,
        dropped=dropped,
        touched=touched,
        unchanged=same,
    )


LANDED = Integrated(key=_UNKEYED, branch="loop/1", commit=Commit("landed"))
REFUSED = IntegrationRefused(key=_UNKEYED, reason="conflict", detail="main moved on")
CONFLICT = replace(REFUSED, onto=Commit("tip"), findings=(flaw("merge-conflict"),))
RED_MERGE = replace(REFUSED, reason="checks", onto=Commit("tip"), merged=Commit("merged"), findings=(flaw("test"),))
CLEANED = CleanedUp(key=_UNKEYED)
CANCEL = CancelRequested(cleanup=Cleanup.ROLLBACK)


def says(choice: str, *, count: int = 0, text: str = "", merge: bool = False) -> Answered:
    return Answered(key=_UNKEYED, choice=choice, count=count, text=text, merge=merge)


def configured(**limits: int) -> ConfigChanged:
    text = ", ".join(f'"{name}": {value}' for name, value in limits.items())
    return ConfigChanged(digest="d", settings="{}", limits=f"{{{text}}}")


# whole steps


def looked(report: AgentReported, content: str = "o1") -> tuple[Event, ...]:
    """One review, with its line put on record."""
    return (loaded(content), report, SAID)


def blocked(*findings: Finding, content: str = "o1") -> tuple[Event, ...]:
    return looked(fails(*(findings or THREE)), content)


def fixed(commit: str = "c1") -> tuple[Event, ...]:
    return (FIXED, saved(commit))


NO_VERDICT: tuple[Event, ...] = (LOADED, CRASHED, CRASHED, SAID)
THREE_REVIEWS: tuple[Event, ...] = (
    *(*blocked(content="o1"), *fixed("c1")),
    *(*blocked(content="o2"), *fixed("c2")),
    *blocked(content="o3"),
)


# telling


def params(**given: Any) -> QualityParams:  # noqa: ANN401 - the fields of the parameters, whatever they are
    limits = {name: given.pop(name) for name in ("max_attempts", "p1_threshold") if name in given}
    plan = {"artifact": ARTIFACT, "base": BASE, "story": "pay", "limits": QualityLimits(**limits)}
    plan |= {"firm": True, "accepts_checked": True}
    return QualityParams(**{**plan, **given})


def loop(**given: Any) -> QualityState:  # noqa: ANN401 - as `params`
    return QUALITY.start(params(**given))


def play(state: QualityState, *letters: Event) -> QualityState:
    """The state after each letter has answered what is wanted then."""
    for letter in letters:
        state = taken(QUALITY, state, keyed(state, letter))
    return state


def told(*letters: Event, **given: Any) -> QualityState:  # noqa: ANN401 - as `params`
    return play(loop(**given), *letters)


def keyed(state: QualityState, letter: Event) -> Event:
    """The letter with the key of the action that it can answer."""
    if not hasattr(letter, "key"):
        return letter
    for action in QUALITY.decide(state):
        if isinstance(letter, ANSWERED_BY[type(action)]):
            return with_key(letter, action.key)
    raise AssertionError(f"{type(letter).__name__} answers nothing in {where(state)}: {keys(state)}")


def keys(state: QualityState) -> list[str]:
    return [str(action.key) for action in QUALITY.decide(state)]


def wanted(state: QualityState, kind: type[A]) -> A:
    """The one action that is wanted now, beside a gate that is open."""
    (action,) = (each for each in QUALITY.decide(state) if isinstance(each, AwaitGate) is (kind is AwaitGate))
    assert isinstance(action, kind), action
    return action


def reviewer(state: QualityState) -> RunAgent:
    action = wanted(state, RunAgent)
    assert (action.role, action.writes, action.needs_verdict) == ("reviewer", False, True)
    return action


def creator(state: QualityState) -> RunAgent:
    action = wanted(state, RunAgent)
    assert (action.role, action.writes) == ("creator", True)
    return action


def question(state: QualityState) -> Ask:
    assert state.course.station is Station.ESCALATED
    return wanted(state, Ask)


def options(state: QualityState) -> list[str]:
    return [option.choice for option in wanted(state, Ask).options]


def outcome(state: QualityState) -> Outcome:
    return wanted(state, Stop).outcome


def lines(state: QualityState) -> tuple[str, ...]:
    return QUALITY.stand(state).lines
