"""A system driven by a scripted world through the real machine, and its files told from the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

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
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentReported,
    Announced,
    Answered,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    Created,
    Ended,
    Event,
    GateDecided,
    Integrated,
    Logged,
    LoopEnded,
    SessionMarked,
    Started,
    TimeReached,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.model import (
    AgentReport,
    CheckResult,
    Commit,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.record import Record
from loopwright.kernel.risks import Risk
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.loops.course import Station
from loopwright.loops.kind import Door, Scene
from loopwright.loops.lifecycle import files
from loopwright.loops.lifecycle.handoff import Leaving
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.past import LifecyclePast, folded
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState, SystemFacts
from loopwright.loops.lifecycle.states import Stage

LOOP = LoopId("orders-1")
AT = 1_770_285_600.0  # 2026-02-05T10:00:00Z
SYSTEM = SystemFacts(id="sys-002", name="Work Order Service", description="orders of a workshop", issue=123)
PLAN = LifecycleParams(
    system=SYSTEM,
    domain="workshop",
    base=Commit("base"),
    branch="feature/system-work-orders",
    workspace="system-work-orders",
    target="refs/heads/main",
    capabilities=("creation", "assignment"),
    checks=("build", "test", "lint", "typecheck"),
    reviewing="batch",
    review=json.dumps({"each": {}, "all": {}}),
    deploy=("npm", "publish"),
)
TYPE_ERROR = identify(
    Finding(severity=Severity.HIGH, issue="Type error in WorkOrder model", file="src/order.py", line=12, rule="T1")
)
SCHEMA = Risk(gate="database", rule="schema", file="migrations/1.sql", line=3, text="create table")

Reply = Callable[[Action], Event]


def report(**given: object) -> Reply:
    extras = {
        name: given.pop(name) for name in ("deliverables", "references", "capabilities", "estimate") if name in given
    }
    told = AgentReport(summary=str(given.pop("summary", "done")), extras=json.dumps(extras), **given)  # type: ignore[arg-type]
    return lambda action: AgentReported(key=action.key, report=told, role="skill")


def red(name: str, *failures: Finding) -> Reply:
    def answer(action: Action) -> Event:
        assert isinstance(action, RunChecks)
        results = tuple(
            CheckResult(name=each, passed=each != name, failures=failures if each == name else ())
            for each in action.names or PLAN.checks
        )
        return ChecksReported(key=action.key, tree=Tree("t"), results=results)

    return answer


def decided(*, approved: bool, by: str = "", reason: str = "") -> Reply:
    def answer(action: Action) -> Event:
        assert isinstance(action, AwaitGate)
        return GateDecided(
            key=action.key, gate=action.gate, approved=approved, evidence=action.evidence, by=by, reason=reason
        )

    return answer


def loop_ended(ending: Ending, *findings: Finding) -> Reply:
    return lambda action: LoopEnded(
        key=action.key, outcome=Outcome(ending=ending, findings=findings, loop=LoopId("inner-1"), note="stuck")
    )


def risky(*risks: Risk) -> Reply:
    made = ("src/order.py",)
    return lambda action: ChangeExamined(key=action.key, tree=Tree("t"), paths=made, code=made, risks=risks)


class Story:
    """`replies` are by the step of the key, each used once, oldest first; without one everything goes well."""

    def __init__(self, plan: LifecycleParams = PLAN, loop: LoopId = LOOP, **replies: list[Reply]) -> None:
        self.loop = loop
        self.state: LifecycleState = LIFECYCLE.start(plan)
        self.past: LifecyclePast | None = None
        self.seq, self.at, self.commits = 0, AT, 0
        self.last: Logged | None = None
        self.replies = {step.replace("_", "-"): list(each) for step, each in replies.items()}
        self.noted(Created(kind="lifecycle", params="{}"))

    def noted(self, event: Logged, after: LifecycleState | None = None) -> Story:
        self.seq += 1
        self.state = after or self.state
        record = Record(loop=self.loop, seq=self.seq, at=self.at, kind=type(event).__name__, data=encode(event))
        self.past = folded(self.past, record, self.state)
        self.last = event
        self.at += 60
        return self

    def said(self, event: Event) -> Story:
        return self.noted(event, LIFECYCLE.apply(self.state, event))

    def step(self) -> Story:
        action = LIFECYCLE.decide(self.state)[0]
        if isinstance(action, Stop):
            return self.noted(Ended(outcome=action.outcome))
        what = action.text if isinstance(action, Announce) else ""
        self.noted(Started(key=action.key, action=type(action).__name__, what=what, why=action.why))
        waiting = self.replies.get(action.key.step)
        return self.said(waiting.pop(0)(action) if waiting else self._well(action))

    def to(self, stage: Stage, most: int = 400) -> Story:
        return self.until(lambda state: state.phase is stage, most)

    def at_gate(self) -> Story:
        return self.until(lambda state: state.course.station is Station.GATE)

    def until(self, there: Callable[[LifecycleState], bool], most: int = 400) -> Story:
        for _ in range(most):
            if there(self.state):
                return self
            self.step()
        raise AssertionError(f"it stands in {self.state.phase} {self.state.step} {self.state.course.station}")

    def done(self) -> Story:
        return self.until(lambda state: state.course.station is Station.DONE).step()

    def scene(self, event: Logged | None = None, status: str = "running") -> Scene[LifecycleState]:
        return Scene(loop=self.loop, state=self.state, status=status, past=self.past, event=event)

    @property
    def held(self) -> LifecyclePast:
        assert self.past is not None
        return self.past

    def _commit(self) -> Commit:
        self.commits += 1
        return Commit(f"{self.commits:04}abcdef")

    def _well(self, action: Action) -> Event:  # noqa: C901 - one answer for each
        match action:
            case RunAgent():
                return report(verdict=Verdict.PASS)(action)
            case RunLoop():
                outcome = Outcome(ending=Ending.VERIFIED, commit=self._commit(), loop=LoopId("inner-1"))
                return LoopEnded(key=action.key, outcome=outcome)
            case Checkpoint():
                return Checkpointed(key=action.key, commit=self._commit(), tree=Tree("t"), paths=("src/order.py",))
            case ExamineFiles():
                return FilesExamined(key=action.key)
            case RunChecks():
                return red("")(action)
            case ExamineChange():
                return risky()(action)
            case Combine():
                return Combined(key=action.key, commit=self._commit())
            case Integrate():
                landed = self._commit()
                return Integrated(key=action.key, branch=action.branch, commit=landed, landed=landed)
            case Announce():
                return Announced(key=action.key)
            case Tell():
                return Heard(key=action.key, loop=action.loop)
            case WaitUntil():
                return TimeReached(key=action.key)
            case OpenPullRequest():
                seen = PullRequest(number=7, url="https://forge/7", state="open", head=action.commit)
                return PullRequestSeen(key=action.key, seen=seen)
            case MergePullRequest() | ReadPullRequest():
                merged = PullRequest(
                    number=7, url="https://forge/7", state="merged", head=action.commit, merged_as=self._commit()
                )
                return PullRequestSeen(key=action.key, seen=merged)
            case RunOnce():
                return RanOnce(key=action.key, code=0)
            case CleanUp():
                return CleanedUp(key=action.key)
            case AwaitGate():
                return decided(approved=True, by="lead@company.com")(action)
            case Ask():
                return Answered(key=action.key, choice="resume", by="someone")
            case _:
                raise AssertionError(action)


def planned(**changes: object) -> LifecycleParams:
    return replace(PLAN, **changes)  # type: ignore[arg-type]  # the fields of the plan


BEGAN = SessionMarked(mark="began", by="someone")


def ended(why: str, commit: str = "") -> SessionMarked:
    return SessionMarked(mark="ended", why=why, commit=Commit(commit))


def stuck() -> Story:
    """The same type error until nobody tries again."""
    again = [red("typecheck", TYPE_ERROR)] * 9
    return Story(check=[red("")] * 3 + again, recheck=again)


def door(story: Story, name: str, event: Event | None = None) -> Door | None:
    return next((each for each in files.doors(story.scene(event)) if each.path.endswith(name)), None)


def held_in(story: Story, name: str, before: object = None) -> Any:  # noqa: ANN401 - what the file would hold
    found = door(story, name)
    assert found is not None
    assert list(found.problems(before)) == [] or before is None
    after = found.change(before)
    assert list(found.problems(after)) == []
    return after


def key_of_next(story: Story) -> Key:
    return LIFECYCLE.decide(story.state)[0].key


def leaving(story: Story, *, complete: bool = False) -> Leaving:
    return Leaving(
        loop=story.loop,
        state=story.state,
        moments=story.held.moments,
        log=story.held.log,
        at=story.at,
        complete=complete,
    )
