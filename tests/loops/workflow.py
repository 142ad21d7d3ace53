"""Letters and sentences to tell a workflow's story with: what its roles, its tasks' loops and its checks come to."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from loopwright.kernel.actions import Action, AwaitGate, RunLoop, Stop
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    CancelRequested,
    ChecksReported,
    CleanedUp,
    Combined,
    Event,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.machine import ANSWERED_BY
from loopwright.kernel.model import (
    NO_KEY,
    AgentReport,
    AgentStatus,
    CheckResult,
    Cleanup,
    Commit,
    Conflict,
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
from loopwright.loops.workflow.limits import WorkflowLimits
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import WorkflowParams, WorkflowState
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)

BASE = Commit("base")
REQUEST = "Add a colour to names()"
ALL_ROLES = ("scorer", "shaper", "planner", "panel", "gate")
TOOL, TOOL_REVIEW, COLLEAGUE = (2, 2, 2, 1, 1), (2, 1, 1, 1, 1), (1, 1, 1, 1, 1)  # scores that lead to each
VIEWS = ("delivery", "correctness", "craft")  # of a request without aspects
LIGHT = VIEWS[0], VIEWS[2]


@dataclass(frozen=True, slots=True)
class At:
    """An answer to one of several steps that are under way."""

    step: str
    event: Event
    part: str = ""  # begins with this


Letter = Event | tuple[int, Outcome] | At

# --- what roles say -------------------------------------------------------------------------------------------------


def reports(*findings: Finding, verdict: Verdict | None = None, summary: str = "", **extras: Any) -> AgentReported:  # noqa: ANN401 - what a role has of its own
    report = AgentReport(findings=findings, verdict=verdict, summary=summary, extras=json.dumps(extras))
    return AgentReported(key=NO_KEY, report=report, role="role")


def scores(of: tuple[int, int, int, int, int], *questions: str) -> AgentReported:
    given = dict(zip(("outcome", "scope", "constraints", "success", "done"), of, strict=True))
    said = reports(scores=given)
    return replace(said, report=replace(said.report, questions=tuple(Question(question=each) for each in questions)))


def shapes(*criteria: str, must_not: tuple[object, ...] = ("It breaks", "It leaks"), **more: object) -> AgentReported:
    return reports(shape={"criteria": list(criteria), "mustNot": list(must_not), **more})


def task(number: int, *blocked_by: int, verify: bool = True, files: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "id": str(number),
        "subject": f"Do part {number}",
        "description": f"All of part {number}.",
        "verify": ["make", f"part-{number}"] if verify else [],
        "blockedBy": [str(each) for each in blocked_by],
        "files": list(files),
    }


def plans(*tasks: dict[str, object]) -> AgentReported:
    return reports(tasks=list(tasks))


def advises(text: str = "look at the clock") -> AgentReported:
    return reports(advice={"consensus": text})


def passes(*findings: Finding, **extras: Any) -> AgentReported:  # noqa: ANN401 - as `reports`
    return reports(*findings, verdict=Verdict.PASS, **extras)


def refuses(*findings: Finding, summary: str = "", **extras: Any) -> AgentReported:  # noqa: ANN401 - as `reports`
    return reports(*findings, verdict=Verdict.FAIL, summary=summary, **extras)


def ships(confidence: int = 90, reversibility: str = "2B") -> AgentReported:
    return passes(ship={"confidence": confidence, "reversibility": reversibility})


SAID = Announced(key=NO_KEY)
GARBLED = AgentFailed(key=NO_KEY, reason="garbled", detail="no JSON", role="role")
CRASHED = AgentFailed(key=NO_KEY, reason="crashed", detail="segfault", role="role")
AWAY = AgentUnavailable(key=NO_KEY, until=9.0, detail="rate limit", role="role")
ASKS = AgentReported(
    key=NO_KEY,
    report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which clock?"),)),
    role="role",
)


def finding(issue: str, severity: Severity = Severity.CRITICAL, **facts: Any) -> Finding:  # noqa: ANN401 - its fields
    return identify(Finding(severity=severity, issue=issue, evidence="seen", **facts))


BLOCKER, WARNING, SUGGESTION = (
    finding("it leaks", Severity.CRITICAL, file="src/a.py"),
    finding("it is clumsy", Severity.HIGH),
    finding("a name is long", Severity.LOW),
)
FORBIDDEN = finding("the names are blue", requirement="mustNot-1")

# --- what tasks' loops come to --------------------------------------------------------------------------------------

RED = finding("assert 1 == 2", Severity.HIGH, rule="t::one", category="tests")
OTHER_RED = finding("assert 3 == 4", Severity.HIGH, rule="t::two", category="tests")
NOT_COLLECTED = replace(
    finding("t - collection failure", Severity.HIGH, rule="t", category="tests"),
    evidence="t.py:1: in <module>\nE   AttributeError: no py.test",
)
NO_CHANGE = engine_finding("no-change", "Nothing was changed")


def ended(number: int, ending: Ending, **facts: Any) -> tuple[int, Outcome]:  # noqa: ANN401 - the outcome's fields
    return number, Outcome(ending=ending, loop=LoopId(f"child-{number}"), **facts)


def makes(number: int, commit: str = "", **facts: Any) -> tuple[int, Outcome]:  # noqa: ANN401 - as `ended`
    return ended(number, Ending.VERIFIED, commit=Commit(commit or f"c{number}"), **facts)


def stuck(number: int, *found: Finding, asked: int = 1, commit: str = "") -> tuple[int, Outcome]:
    key = Key("escalation", asked)
    found = found or (RED,)
    note = f"{found[0].issue} again"
    return ended(number, Ending.ESCALATED, findings=found, asking=key, note=note, commit=Commit(commit))


def fell_over(number: int, why: str = "disk full") -> tuple[int, Outcome]:
    return ended(number, Ending.FAILED, note=why)


def cancelled(number: int) -> tuple[int, Outcome]:
    return ended(number, Ending.CANCELLED)


# --- the merge train ------------------------------------------------------------------------------------------------


def combined(commit: str = "all") -> Combined:
    return Combined(key=NO_KEY, commit=Commit(commit), files=1)


def conflicts(commit: str, *paths: str) -> Combined:
    found = (Conflict(commit=Commit(commit), paths=paths),) if paths else ()
    return Combined(key=NO_KEY, commit=BASE, left_out=(Commit(commit),), conflicts=found)


def checked(*, red: tuple[Finding, ...] = (), unmet: tuple[str, ...] = (), **facts: Any) -> ChecksReported:  # noqa: ANN401 - its fields
    result = CheckResult(name="test", passed=not red, failures=red, tests=3)
    also = tuple(CheckResult(name=each, passed=False, note="exit code 1") for each in unmet)
    return ChecksReported(
        key=NO_KEY, tree=Tree("t"), results=(result,), **{"also": also, "lands": Tree("lands"), **facts}
    )


GREEN = checked()


def tried(number: int, *, passed: bool = False, red_before: bool | None = None, unable: str = "") -> At:
    """What the command of a task says before anybody works on it."""
    also = (CheckResult(name=f"T-{number:03d}", passed=passed, red_before=red_before, unable=unable),)
    return At("start", ChecksReported(key=NO_KEY, tree=Tree("t"), results=(), also=also), str(number))


def landed(commit: str = "tip") -> Integrated:
    return Integrated(key=NO_KEY, branch="loop/1", commit=Commit(commit), landed=Commit(commit))


def train(commit: str) -> tuple[Letter, ...]:
    """The first of the train lands, as this commit."""
    return At("combine", combined(f"m-{commit}")), At("checks", GREEN), At("land-task", landed(commit))


def does(number: int) -> tuple[Letter, ...]:
    """A task is made and lands."""
    return makes(number), *train(f"tip-{number}")


def seen(*answers: Event, step: str = "light", views: tuple[str, ...] = LIGHT) -> tuple[Letter, ...]:
    """What each view of a review says; those that are not told pass it."""
    every = (*answers, *([passes()] * (len(views) - len(answers))))
    return tuple(At(step, said, view) for view, said in zip(views, every, strict=True))


def thoroughly(*answers: Event) -> tuple[Letter, ...]:
    return seen(*answers, step="thorough", views=VIEWS)


LANDED = landed("landed")
REFUSED = IntegrationRefused(key=NO_KEY, reason="moved", detail="the branch is locked")
CONFLICT = IntegrationRefused(
    key=NO_KEY, reason="conflict", detail="both changed a", onto=Commit("theirs"), findings=(finding("a", file="a"),)
)
RED_MERGE = IntegrationRefused(
    key=NO_KEY, reason="checks", detail="test fails", onto=Commit("theirs"), merged=Commit("both"), findings=(RED,)
)
CLEANED = CleanedUp(key=NO_KEY)
CANCEL = CancelRequested(cleanup=Cleanup.ROLLBACK)

# --- what people say ------------------------------------------------------------------------------------------------


def says(choice: str, *, count: int = 0, text: str = "", merge: bool = False, allow: tuple[str, ...] = ()) -> Answered:
    return Answered(key=NO_KEY, choice=choice, count=count, text=text, merge=merge, allow=allow)


# --- playing --------------------------------------------------------------------------------------------------------


def params(**given: Any) -> WorkflowParams:  # noqa: ANN401 - the fields of the parameters and of the limits
    names = ("max_iterations", "max_same_failure", "max_total_failures")
    limits = WorkflowLimits(**{name: given.pop(name) for name in names if name in given})
    plan = {"request": REQUEST, "base": BASE, "limits": limits, "checks": ("test",), "cast": ("scorer", "planner")}
    return WorkflowParams(**{**plan, **given})


def workflow(**given: Any) -> WorkflowState:  # noqa: ANN401 - as `params`
    return play(WORKFLOW.start(params(**given)))


def planned(*tasks: dict[str, object], of: tuple[int, int, int, int, int] = TOOL, **given: Any) -> WorkflowState:  # noqa: ANN401 - as `params`
    """At work on these tasks; by default one that runs through."""
    cast = ("scorer", "planner", *given.pop("also_cast", ()))
    return play(untried(*tasks, of=of, cast=cast, **given))


def untried(*tasks: dict[str, object], of: tuple[int, int, int, int, int] = TOOL, **given: Any) -> WorkflowState:  # noqa: ANN401 - as `params`
    """As `planned`, before the command of any task was run."""
    return play_each(workflow(**given), scores(of), SAID, plans(*(tasks or (task(1),))))


def play(state: WorkflowState, *letters: Letter) -> WorkflowState:
    """The state after each letter has answered what is wanted then. Commands are red where their tasks start."""
    for letter in letters:
        state = _all_tried(taken(WORKFLOW, state, keyed(state, letter)))
    return _all_tried(state)


def play_each(state: WorkflowState, *letters: Letter) -> WorkflowState:
    """As `play`, where the letters also tell what commands say before the work starts."""
    for letter in letters:
        state = taken(WORKFLOW, state, keyed(state, letter))
    return state


def _all_tried(state: WorkflowState) -> WorkflowState:
    for action in WORKFLOW.decide(state):
        if action.key.step == "start":
            state = taken(WORKFLOW, state, with_key(tried(int(action.key.part)).event, action.key))
    return state


def keyed(state: WorkflowState, letter: Letter) -> Event:
    if isinstance(letter, tuple):
        number, outcome = letter
        (key,) = [run.key for run in runs(state) if run.key.part == str(number)]
        return LoopEnded(key=key, outcome=outcome)
    event = letter.event if isinstance(letter, At) else letter
    if not hasattr(event, "key"):
        return event
    fitting = [
        action
        for action in WORKFLOW.decide(state)
        if isinstance(event, ANSWERED_BY[type(action)])
        and (not isinstance(letter, At) or (action.key.step == letter.step and action.key.part.startswith(letter.part)))
    ]
    assert fitting, f"{letter} answers nothing of {keys(state)}"
    return with_key(event, fitting[0].key)


def keys(state: WorkflowState) -> list[str]:
    return [str(action.key) for action in WORKFLOW.decide(state)]


def runs(state: WorkflowState) -> tuple[RunLoop, ...]:
    return tuple(action for action in WORKFLOW.decide(state) if isinstance(action, RunLoop))


def at_work(state: WorkflowState) -> list[str]:
    """The tasks whose loops are driven now."""
    return [run.name.partition("//")[0] for run in runs(state)]


def wanted(state: WorkflowState, kind: type[A], step: str = "") -> A:
    """The one action of this kind that is wanted now."""
    (action,) = (each for each in WORKFLOW.decide(state) if isinstance(each, kind) and each.key.step.startswith(step))
    return action


def gates(state: WorkflowState) -> list[str]:
    return [each.evidence for each in WORKFLOW.decide(state) if isinstance(each, AwaitGate)]


def outcome(state: WorkflowState) -> Outcome:
    return wanted(state, Stop).outcome
