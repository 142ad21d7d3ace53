"""States of the quality loop and of a batch as they come about: every one is reached by playing events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answered,
    ArtifactsLoaded,
    CancelRequested,
    Checkpointed,
    CleanedUp,
    Combined,
    Event,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Commit,
    Content,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Point,
    Severity,
    Tree,
    Verdict,
)
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams, BatchState
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityParams, QualityState
from loopwright.ports.store import LoopRow, Status
from tests.rooms.feedback.stories import row as row_of_feedback

Step = Callable[[QualityState], Event]
BASE = Commit("b" * 40)
PARAMS = QualityParams(
    artifact="src/a.py", base=BASE, story="st-1", against=Commit("a" * 40), task="Review the parser", criteria=("Fast",)
)
BY_FILE = replace(PARAMS, file="src/a.quality.yml")
UNBOUND = identify(
    Finding(
        severity=Severity.CRITICAL,
        rule="R1",
        file="src/a.py",
        line=3,
        issue="The input is read without a bound",
        evidence="read() at line 3",
        guidance="Read at most 1 MiB",
    )
)
NAMELESS = identify(
    Finding(severity=Severity.LOW, file="src/a.py", issue="x says nothing", evidence="line 9", guidance="Name it")
)
UNPROVEN = Finding(severity=Severity.HIGH, file="src/a.py", issue="It feels slow", guidance="Make it fast")


def played(*steps: Step, params: QualityParams = PARAMS) -> QualityState:
    return reduce(lambda state, step: QUALITY.apply(state, step(state)), steps, QUALITY.start(params))


def _key(state: QualityState) -> Key:
    return QUALITY.decide(state)[0].key


def loaded(state: QualityState) -> Event:
    content = Content(path=state.plan.artifact, object=state.commit)
    return ArtifactsLoaded(key=_key(state), contents=(content,))


def found(*findings: Finding, verdict: Verdict = Verdict.FAIL) -> Step:
    report = AgentReport(verdict=verdict, findings=findings)
    return lambda state: AgentReported(key=_key(state), report=report)


def silent(state: QualityState) -> Event:
    return AgentFailed(key=_key(state), reason="crashed", detail="exit code 1")


def announced(state: QualityState) -> Event:
    return Announced(key=_key(state))


def fixed(summary: str, *, status: AgentStatus = AgentStatus.DONE) -> Step:
    return lambda state: AgentReported(key=_key(state), report=AgentReport(summary=summary, status=status))


def kept(state: QualityState) -> Event:
    return Checkpointed(key=_key(state), commit=Commit(f"{state.number:040d}"), tree=Tree(f"t{state.number}"), files=1)


def kept_some(state: QualityState) -> Event:
    return replace_dropped(kept(state), ("README.md",))


def replace_dropped(event: Event, dropped: tuple[str, ...]) -> Event:
    assert isinstance(event, Checkpointed)
    return replace(event, dropped=dropped)


def landed(state: QualityState) -> Event:
    return Integrated(key=_key(state), branch="loop/q-1", commit=Commit("c" * 40))


def refused(state: QualityState) -> Event:
    return IntegrationRefused(key=_key(state), reason="conflict", detail="src/a.py")


def answered(choice: str, text: str = "") -> Step:
    return lambda state: Answered(key=_key(state), choice=choice, text=text, by="ann")


def cancelled(_: QualityState) -> Event:
    return CancelRequested(by="ann")


def cleaned_up(state: QualityState) -> Event:
    return CleanedUp(key=_key(state))


BLOCKED = (loaded, found(UNBOUND, NAMELESS), announced)
AGAIN = (loaded, found(UNBOUND), announced)
FIXED = (fixed("Read at most 1 MiB"), kept)
PASSED = (loaded, found(NAMELESS, verdict=Verdict.PASS), announced)
USED_UP = (*BLOCKED, *FIXED, *AGAIN, *FIXED, *AGAIN)

STORIES = {
    "passed": played(*BLOCKED, *FIXED, *PASSED, landed),
    "passed-at-once": played(loaded, found(verdict=Verdict.PASS), announced),
    "escalated": played(*USED_UP),
    "accepted": played(*USED_UP, answered("accept"), landed),
    "cancelled": played(*BLOCKED, *FIXED, cancelled, cleaned_up),
}

# --- a batch --------------------------------------------------------------------------------------

BatchStep = Callable[[BatchState], Event]
TOGETHER = BatchParams(
    artifacts=(
        BatchArtifact(path="a.yml", own='{"file": "a.quality.yml"}'),
        BatchArtifact(path="b.yml", own='{"file": "b.quality.yml"}'),
        BatchArtifact(path="c.yml", own='{"file": "c.quality.yml"}'),
    ),
    shared='{"gate": "story"}',
    base=BASE,
)


def batch(*steps: BatchStep, params: BatchParams = TOGETHER) -> BatchState:
    return reduce(lambda state, step: BATCH.apply(state, step(state)), steps, BATCH.start(params))


def child(index: int, outcome: Outcome) -> BatchStep:
    def step(state: BatchState) -> Event:
        key = next(action.key for action in BATCH.decide(state) if action.key.part == str(index))
        return LoopEnded(key=key, outcome=replace(outcome, loop=LoopId(f"q-{index}")))

    return step


def passes(index: int, name: str, *, commit: str = "") -> BatchStep:
    outcome = Outcome(ending=Ending.VERIFIED, attempts=1, commit=Commit(commit), note=f"QUALITY_PASS: {name}")
    return child(index, outcome)


def waits(index: int, name: str, at: str) -> BatchStep:
    return child(index, Outcome(ending=Ending.HELD, attempts=1, at=Point.parse(at), note=f"QUALITY_BLOCKED: {name}"))


def stops(index: int, name: str) -> BatchStep:
    why = f"QUALITY_BLOCKED: {name} (MAX_LOOPS_REACHED: 3 reviews and 2 fixes)"
    at, asking = Point("ESCALATED", 3), Key.parse("escalation-1")
    return child(index, Outcome(ending=Ending.ESCALATED, attempts=3, at=at, asking=asking, note=why))


def accepts(index: int, name: str) -> BatchStep:
    note = f"QUALITY_BLOCKED: {name}"
    return child(index, Outcome(ending=Ending.ACCEPTED, attempts=3, commit=Commit(f"{index:040d}"), note=note))


def _first(state: BatchState) -> Key:
    return BATCH.decide(state)[0].key


def combined(state: BatchState) -> Event:
    return Combined(key=_first(state), commit=Commit("e" * 40), files=1)


def landed_together(state: BatchState) -> Event:
    return Integrated(key=_first(state), branch="loop/b-1", commit=Commit("f" * 40))


def said(choice: str, text: str = "") -> BatchStep:
    return lambda state: Answered(key=_first(state), choice=choice, text=text, by="ann")


ROUND = (passes(1, "a.yml"), waits(2, "b.yml", "FIX@1"), stops(3, "c.yml"))
SECOND = (waits(2, "b.yml", "LOAD_ARTIFACTS@2"), passes(2, "b.yml", commit="2" * 40), combined, landed_together)
BATCHES = {
    "first-round": batch(),
    "fixing": batch(*ROUND),
    "escalated": batch(*ROUND, *SECOND),
    "accepted": batch(*ROUND, *SECOND, said("accept"), accepts(3, "c.yml"), combined, landed_together),
    "passed": batch(passes(1, "a.yml"), passes(2, "b.yml"), passes(3, "c.yml")),
}


def row(kind: str, params: str, status: Status = "running", outcome: str = "") -> LoopRow:
    return replace(row_of_feedback(status, outcome=outcome, params=params), kind=kind, id=LoopId(f"{kind[0]}-1"))
