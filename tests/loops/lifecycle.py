"""A world in which a system is built: everything goes well but for what a test says, and nothing unverified goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

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
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answered,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    Event,
    GateDecided,
    Integrated,
    LoopEnded,
    SkillSkipped,
    StateEdited,
    TimeReached,
)
from loopwright.kernel.faults import faults_of
from loopwright.kernel.findings import identify
from loopwright.kernel.model import (
    NO_KEY,
    AgentReport,
    AgentStatus,
    CheckResult,
    Commit,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.risks import GateRule, Risk
from loopwright.kernel.sightings import ChangeExamined, FilesExamined, Heard, PullRequestSeen, RanOnce
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.limits import LifecycleLimits
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState, SystemFacts
from loopwright.loops.lifecycle.states import Stage
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)
Reply = Callable[[Any], "Event | None"]

BASE = Commit("base")
CHECKS = ("build", "test", "lint", "typecheck", "complexity", "security", "perf", "integration")
ORDER = ("INIT", "SCAFFOLD", "IMPLEMENT", "TEST", "VERIFY", "VALIDATE", "DOCUMENT", "REVIEW", "SHIP", "COMPLETE")
FAILING = ("FAILED", "RETRY", "BLOCKED")
# Which of them have to pass before a state is left; those of REVIEW also before anything is merged.
MATRIX: dict[str, tuple[str, ...]] = {
    "INIT": (),
    "SCAFFOLD": ("build",),
    "IMPLEMENT": ("build",),
    "TEST": ("build", "test"),
    "VERIFY": ("build", "test", "lint", "typecheck", "complexity", "integration"),
    "VALIDATE": ("build", "test", "security", "perf", "integration"),
    "DOCUMENT": ("build", "test", "integration"),
    "REVIEW": CHECKS,
    "SHIP": (),
    "COMPLETE": (),
}
RULES = tuple(
    GateRule(gate=gate, name="sample", paths=("**",)) for gate in ("architecture", "security", "database", "external")
)


def params(**given: Any) -> LifecycleParams:  # noqa: ANN401 - the fields of the parameters and of the limits
    names = ("max_retries", "max_same_error", "max_total_failures")
    limits = LifecycleLimits(**{name: given.pop(name) for name in names if name in given})
    plan = {
        "system": SystemFacts(id="sys-001", name="Orders", description="Takes orders."),
        "domain": "shop",
        "base": BASE,
        "branch": "feature/system-orders",
        "workspace": "system-orders",
        "loop": LoopId("lc-1"),
        "queue": LoopId("queue-shop"),
        "target": "refs/heads/main",
        "capabilities": ("take", "ship"),
        "checks": CHECKS,
        "limits": limits,
        "deploy": ("make", "deploy"),
        "child": '{"branch": "b"}',
        "reviewing": "of-files",
        "review": '{"each": {}, "all": {}}',
        "rules": RULES,
    }
    return LifecycleParams(**{**plan, **given})


# --- what is answered -----------------------------------------------------------------------------------------------


def finding(issue: str, severity: Severity = Severity.HIGH, **facts: Any) -> Finding:  # noqa: ANN401 - its fields
    return identify(Finding(severity=severity, issue=issue, evidence="seen", **facts))


def reports(*found: Finding, verdict: Verdict | None = None, summary: str = "", **extras: object) -> AgentReported:
    report = AgentReport(findings=found, verdict=verdict, summary=summary, extras=json.dumps(extras))
    return AgentReported(key=NO_KEY, report=report, role="skill")


EXAMINED = ChangeExamined(key=NO_KEY, tree=Tree(""), paths=("src/a.py",), code=("src/a.py",))
CANNOT = AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.BLOCKED, summary="no network"), role="skill")
ASKS = AgentReported(
    key=NO_KEY,
    report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which currency?"),)),
    role="skill",
)


def crashes(times: int = 1) -> AgentFailed:
    """Each in another way: the same one twice asks a person."""
    return AgentFailed(key=NO_KEY, reason="crashed", detail=f"segfault {'abc'[times % 3]}", role="skill")


def red(name: str, issue: str = "boom", **facts: Any) -> ChecksReported:  # noqa: ANN401 - fields of the finding
    found = finding(issue, **{"file": "src/a.py", "line": 3, "rule": name, "category": "checks", **facts})
    return results(CheckResult(name=name, passed=False, failures=(found,)))


def results(*each: CheckResult) -> ChecksReported:
    return ChecksReported(key=NO_KEY, tree=Tree("t"), results=each, lands=Tree("red"))


def rejects(reason: str = "not yet") -> Reply:
    return lambda gate: GateDecided(
        key=gate.key, gate=gate.gate, approved=False, evidence=gate.evidence, reason=reason, by="kim"
    )


def approves(gate: AwaitGate) -> GateDecided:
    return GateDecided(key=gate.key, gate=gate.gate, approved=True, evidence=gate.evidence, by="kim")


def says(choice: str, **more: Any) -> Answered:  # noqa: ANN401 - the fields of an answer
    return Answered(key=NO_KEY, choice=choice, **more)


def skips(skill: str, reason: str = "done by hand") -> SkillSkipped:
    return SkillSkipped(skill=skill, reason=reason, by="kim")


def edits(state: str) -> StateEdited:
    return StateEdited(subject="state", value=json.dumps(state), by="kim")


def seen(**facts: Any) -> Callable[[Any], PullRequestSeen]:  # noqa: ANN401 - the fields of a pull request
    """Of what was proposed, unless said otherwise."""
    told = {key: facts.pop(key) for key in ("failed", "away") if key in facts}
    return lambda action: PullRequestSeen(
        key=action.key, seen=PullRequest(**{"number": 1, "state": "open", "head": action.commit, **facts}), **told
    )


def risk(gate: str, mark: str = "m1", file: str = "src/a.py") -> Risk:
    return Risk(gate=gate, rule="sample", file=file, line=2, text="import auth", mark=mark)


# --- when it is answered so -----------------------------------------------------------------------------------------


@dataclass
class Rule:
    """What is answered to actions of a kind, this many times (None: always)."""

    fits: Callable[[Any], bool]
    says: Event | Reply | None  # None: nobody answers
    times: int | None = 1


def on(kind: type[Any], said: Event | Reply | None, *, times: int | None = 1, **facts: Any) -> Rule:  # noqa: ANN401
    """`facts` are fields of the action; `step` is of its key, `has` one of its checks."""

    def fits(action: Action) -> bool:
        wanted = dict(facts)
        step, has = wanted.pop("step", action.key.step), wanted.pop("has", None)
        return (
            isinstance(action, kind)
            and action.key.step == step
            and (has is None or has in getattr(action, "names", ()))
            and all(getattr(action, name) == value for name, value in wanted.items())
        )

    return Rule(fits, said, times)


def skill(name: str, said: Event | Reply | None, *, times: int | None = 1) -> Rule:
    return on(RunAgent, said, times=times, skill=name)


def gate(name: str, said: Event | Reply | None, *, times: int | None = 1) -> Rule:
    return on(AwaitGate, said, times=times, gate=name)


def check(name: str, said: Event | Reply | None, *, times: int | None = 1, step: str = "check") -> Rule:
    """Where this one is among those that run in a state."""
    return on(RunChecks, said, times=times, has=name, step=step)


def calls_for(*risks: Risk, times: int | None = None) -> Rule:
    return on(ExamineChange, replace(EXAMINED, risks=risks), times=times)


# --- the world ------------------------------------------------------------------------------------------------------


class Standing(Exception):
    pass


@dataclass
class Ledger:
    """What was seen of each commit, kept apart from the machine, which may do nothing that it does not bear out."""

    trees: dict[Commit, str] = field(default_factory=lambda: {BASE: "tree-base"})
    passed: set[tuple[Commit, Commit, str]] = field(default_factory=set)  # commit, what judged it, check
    risks: dict[Commit, tuple[Risk, ...]] = field(default_factory=dict)
    approved: set[tuple[str, object]] = field(default_factory=set)  # a gate, with its marks or its tree
    keys: set[Key] = field(default_factory=set)

    def note(self, action: Action, event: Event) -> None:
        match action, event:
            case RunChecks(), ChecksReported() if not faults_of(event):
                self.passed |= {(action.commit, action.base, name) for name in action.names or CHECKS}
            case ExamineChange(), ChangeExamined():
                self.risks[action.commit] = event.risks
            case Integrate(), Integrated():
                self.trees[event.landed] = self.trees[action.commit]
                self.risks[event.landed] = self.risks.get(action.commit, ())
                self.passed |= {(event.landed, base, name) for c, base, name in self.passed if c == action.commit}
            case AwaitGate(), GateDecided(approved=True):
                marks = frozenset(each.mark for each in action.reasons)
                self.approved.add((action.gate, marks or self.trees[action.commit]))
            case _:
                pass

    def bear_out(self, before: LifecycleState, action: Action) -> None:
        """What the machine is about to do was verified and approved."""
        if isinstance(action, MergePullRequest):
            self._verified(before, before.landed, "REVIEW")
            self._open(before)
            assert ("deploy", self.trees[action.commit]) in self.approved, "merged without approval of the tree"
        going = before.going
        if isinstance(action, Announce) and action.key.step == "move" and going is not None:
            assert going.to in allowed_from(before), (before.phase, going.to)
            if before.phase in ORDER and going.to not in FAILING:
                self._verified(before, before.tip, before.phase)
                self._open(before)
                assert going.to != "SHIP" or ("deploy", self.trees[before.tip]) in self.approved, "shipped unapproved"

    def _verified(self, state: LifecycleState, commit: Commit, stage: str) -> None:
        wanted = {name for name in MATRIX[stage] if name in state.plan.checks}
        have = {name for c, base, name in self.passed if (c, base) == (commit, state.ground)}
        assert wanted <= have, f"{stage} is left without {wanted - have} on {commit}"

    def _open(self, state: LifecycleState) -> None:
        called: dict[str, set[str]] = {}
        for each in self.risks.get(state.tip, ()):
            called.setdefault(each.gate, set()).add(each.mark)
        early = ORDER.index(state.phase) < ORDER.index("VALIDATE")
        for name, marks in called.items():
            assert (name == "security" and early) or (name, frozenset(marks)) in self.approved, (state.phase, name)


def allowed_from(state: LifecycleState) -> tuple[str, ...]:
    phase = state.phase.value
    if phase == "FAILED":
        return ("RETRY", "BLOCKED")
    if phase == "RETRY":
        return ("FAILED", "BLOCKED", *((state.failure.stage.value,) if state.failure else ()))
    if phase == "BLOCKED":
        return ()  # only a person's word leads out
    if phase == "COMPLETE":
        return ("FAILED", "BLOCKED")
    following = ("IMPLEMENT",) if phase == "VERIFY" and state.remaining else (ORDER[ORDER.index(phase) + 1],)
    return (*following, "FAILED", "BLOCKED")


class World:
    """Plays one system: every action is answered by the first rule that fits, else well."""

    def __init__(self, *rules: Rule, **given: Any) -> None:  # noqa: ANN401 - as `params`
        self.state = LIFECYCLE.start(params(**given))
        self.rules = list(rules)
        self.ledger = Ledger()
        self.events = 0
        self.actions: list[Action] = []  # that were answered
        self.moves: list[str] = []
        self._made = 0

    # --- playing

    def play(self, *rules: Rule, most: int = 900) -> World:
        """Until nobody answers, or it has ended."""
        self.rules = [*rules, *self.rules]
        for _ in range(most):
            try:
                action, event = self.next()
            except Standing:
                return self
            self.take(event, action)
        raise AssertionError(f"it goes on for ever: {self.moves[-12:]}")

    def until(self, kind: type[A], **facts: Any) -> A:  # noqa: ANN401 - as `on`
        """Until such an action is wanted, and not answered."""
        halt = on(kind, None, times=None, **facts)
        self.play(halt)
        self.rules.remove(halt)
        found = [each for each in LIFECYCLE.decide(self.state) if halt.fits(each)]
        assert found, f"{kind.__name__} is not asked for: {self.wants()}"
        action = found[0]
        assert isinstance(action, kind)
        return action

    def say(self, event: Event) -> World:
        """Somebody says it, or it answers the one thing that is asked for."""
        keyed = event
        if getattr(event, "key", None) == NO_KEY:
            keyed = with_key(event, LIFECYCLE.decide(self.state)[0].key)
        self.take(keyed)
        return self

    def take(self, event: Event, action: Action | None = None) -> None:
        before = self.state
        if action is not None:
            self.ledger.bear_out(before, action)
            self.ledger.note(action, event)
            self.actions.append(action)
        self.state = taken(LIFECYCLE, before, event)
        self.events += 1
        if before.phase is not self.state.phase:
            self.moves.append(f"{before.phase}>{self.state.phase}")
        self._grown(before)

    def _grown(self, before: LifecycleState) -> None:
        """One thing at a time, under keys of their own; counters only grow."""
        after = self.state
        actions = LIFECYCLE.decide(after)
        assert sum(not isinstance(each, AwaitGate) for each in actions) <= 1 <= len(actions), actions
        for count in ("turn", "transitions", "total"):
            assert getattr(after, count) >= getattr(before, count), count
        fresh = {each.key for each in actions if not isinstance(each, AwaitGate | Stop)}
        old = {each.key for each in LIFECYCLE.decide(before)}
        assert not (fresh - old) & self.ledger.keys, "a key is used twice"
        self.ledger.keys |= fresh | old

    def next(self) -> tuple[Action, Event]:
        actions = LIFECYCLE.decide(self.state)
        for action in actions if isinstance(actions[0], AwaitGate) else actions[:1]:
            event = self._answer(action)
            if event is not None:
                return action, with_key(event, action.key)
        raise Standing

    def _answer(self, action: Action) -> Event | None:
        for rule in self.rules:
            if rule.times != 0 and rule.fits(action):
                rule.times = None if rule.times is None else rule.times - 1
                said = rule.says(action) if callable(rule.says) else rule.says
                if isinstance(said, ChangeExamined) and isinstance(action, ExamineChange):
                    return replace(said, tree=Tree(self.ledger.trees[action.commit]))
                return said
        return self.well(action)

    # --- what is answered where everything goes well

    def commit(self, parent: Commit | None = None) -> Commit:
        """A new one; with a parent, of the same tree."""
        self._made += 1
        commit = Commit(f"c{self._made:03}")
        self.ledger.trees[commit] = self.ledger.trees[parent] if parent else f"tree-{commit}"
        return commit

    def well(self, action: Action) -> Event | None:  # noqa: C901 - a row for each action
        key = action.key
        match action:
            case RunAgent():
                return reports(summary=f"{action.skill} is done", verdict=Verdict.PASS)
            case RunChecks():
                passed = tuple(CheckResult(name=name, passed=True, tests=3) for name in action.names or CHECKS)
                tree = Tree(self.ledger.trees[action.commit])
                return ChecksReported(key=key, tree=tree, results=passed, lands=tree)
            case RunLoop():
                return LoopEnded(key=key, outcome=Outcome(ending=Ending.VERIFIED, commit=self.commit()))
            case Checkpoint():
                commit = self.commit()
                tree = Tree(self.ledger.trees[commit])
                return Checkpointed(key=key, commit=commit, tree=tree, files=1, paths=("src/a.py",))
            case ExamineFiles():
                return FilesExamined(key=key)
            case ExamineChange():
                return replace(EXAMINED, tree=Tree(self.ledger.trees[action.commit]))
            case Announce():
                return Announced(key=key)
            case Tell():
                return Heard(key=key, loop=action.loop, reply=("unblocked sys-002", "next sys-002"))
            case Integrate():
                landed = self.commit(action.commit)
                return Integrated(key=key, branch=action.branch, commit=landed, landed=landed)
            case AwaitGate():
                return approves(action)
            case OpenPullRequest():
                return seen(asked="1")(action)
            case MergePullRequest() | ReadPullRequest():
                return seen(state="merged", merged_as=Commit("merged"))(action)
            case RunOnce():
                return RanOnce(key=key, code=0)
            case CleanUp():
                return CleanedUp(key=key)
            case WaitUntil():
                return TimeReached(key=key)
            case Combine():
                return Combined(key=key, commit=self.commit(), files=1)
            case _:
                assert isinstance(action, Ask | Stop), action
                return None

    # --- what is seen of it

    def wants(self) -> list[str]:
        return [f"{type(each).__name__} {each.key}" for each in LIFECYCLE.decide(self.state)]

    def asked(self, kind: type[A], **facts: Any) -> list[A]:  # noqa: ANN401 - as `on`
        """Every such action that was answered."""
        rule = on(kind, None, **facts)
        return [each for each in self.actions if isinstance(each, kind) and rule.fits(each)]

    @property
    def stage(self) -> str:
        return LIFECYCLE.stand(self.state).state

    @property
    def question(self) -> Ask:
        (action,) = (each for each in LIFECYCLE.decide(self.state) if isinstance(each, Ask))
        return action

    @property
    def reason(self) -> str:
        """Why it is blocked."""
        assert (self.state.phase, self.state.course.station) == (Stage.BLOCKED, Station.ESCALATED), self.wants()
        assert self.state.blocked is not None
        return self.state.blocked.reason

    @property
    def outcome(self) -> Outcome:
        (stop,) = (each for each in LIFECYCLE.decide(self.state) if isinstance(each, Stop))
        return stop.outcome

    def waits_for(self) -> list[str]:
        assert self.state.course.station is Station.GATE, self.wants()
        return [each.gate for each in LIFECYCLE.decide(self.state) if isinstance(each, AwaitGate)]


def world(*rules: Rule, **given: Any) -> World:  # noqa: ANN401 - as `params`
    return World(*rules, **given).play()


def at(stage: str, *rules: Rule, **given: Any) -> World:  # noqa: ANN401 - as `params`
    """In the state, with nothing of it done."""
    played = World(*rules, **given)
    while played.state.phase != stage or played.state.step.value == "tell":
        action, event = played.next()
        played.take(event, action)
    return played
