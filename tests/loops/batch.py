"""Letters and sentences to tell a batch's story with: what each child's loop came to, by the artifact's number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from loopwright.kernel.actions import Action, AwaitGate, RunLoop, Stop
from loopwright.kernel.events import (
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
from loopwright.kernel.machine import ANSWERED_BY
from loopwright.kernel.model import (
    NO_COMMIT,
    NO_KEY,
    CheckResult,
    Cleanup,
    Commit,
    Conflict,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Point,
    Severity,
    Tree,
)
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams, BatchState
from loopwright.loops.reviewed import QualityLimits
from tests.loops.harness import taken, with_key

A = TypeVar("A", bound=Action)

_UNKEYED = NO_KEY
BASE = Commit("base")


def path(number: int) -> str:
    return f"stories/ST-{number}.yml"


def ended(number: int, ending: Ending, **facts: Any) -> tuple[int, Outcome]:  # noqa: ANN401 - the outcome's fields
    return number, Outcome(ending=ending, loop=LoopId(f"child-{number}"), **facts)


def passed(number: int, commit: str = BASE, *, attempts: int = 1) -> tuple[int, Outcome]:
    line = f"QUALITY_PASS: {path(number)}"
    return ended(number, Ending.REVIEWED, commit=Commit(commit), note=line, attempts=attempts)


def accepted(number: int, commit: str) -> tuple[int, Outcome]:
    line = f"QUALITY_BLOCKED: {path(number)}"
    return ended(number, Ending.ACCEPTED, commit=Commit(commit), note=line, attempts=3)


def blocked(number: int, review: int = 1) -> tuple[int, Outcome]:
    line = f"QUALITY_BLOCKED: {path(number)}"
    return ended(number, Ending.HELD, at=Point("FIX", review), note=line, attempts=review)


def waits(number: int, review: int) -> tuple[int, Outcome]:
    """Held before that review: after its fix, or after a review that came to no verdict."""
    line = f"QUALITY_BLOCKED: {path(number)}"
    return ended(number, Ending.HELD, at=Point("LOAD_ARTIFACTS", review), note=line, attempts=review)


def asks(number: int, review: int = 3, *, asked: int = 1) -> tuple[int, Outcome]:
    line = f"QUALITY_BLOCKED: {path(number)} (MAX_LOOPS_REACHED: 3 reviews and 2 fixes)"
    key = Key("escalation", asked)
    return ended(number, Ending.ESCALATED, at=Point("ESCALATED", review), note=line, attempts=review, asking=key)


def fell_over(number: int, why: str = "`git add` failed: disk full") -> tuple[int, Outcome]:
    return ended(number, Ending.FAILED, note=why)


def cancelled(number: int) -> tuple[int, Outcome]:
    return ended(number, Ending.CANCELLED)


def combined(commit: str = "all", *, files: int = 2, left_out: tuple[str, ...] = ()) -> Combined:
    """As a log of before has it: what is left out, but not where it conflicts."""
    return Combined(key=_UNKEYED, commit=Commit(commit), files=files, left_out=tuple(Commit(each) for each in left_out))


def conflicting(*commits: str, commit: str = "all", paths: tuple[str, ...] = ("a",)) -> Combined:
    conflicts = tuple(Conflict(commit=Commit(each), paths=paths) for each in commits)
    return replace(combined(commit, left_out=commits), conflicts=conflicts)


def checked(*, passed: bool) -> ChecksReported:
    result = CheckResult(name="test", passed=passed, failures=() if passed else (WRONG,))
    return ChecksReported(key=_UNKEYED, tree=Tree("t"), results=(result,))


LANDED = Integrated(key=_UNKEYED, branch="loop/1", commit=Commit("landed"))
REFUSED = IntegrationRefused(key=_UNKEYED, reason="moved", detail="the branch is locked")
WRONG = Finding(severity=Severity.HIGH, issue="a test fails", fingerprint="wrong")
CONFLICT = IntegrationRefused(key=_UNKEYED, reason="conflict", detail="both changed a", onto=Commit("tip"))
RED_MERGE = IntegrationRefused(
    key=_UNKEYED, reason="checks", detail="test fails", onto=Commit("tip"), merged=Commit("m"), findings=(WRONG,)
)
CLEANED = CleanedUp(key=_UNKEYED)
CANCEL = CancelRequested(cleanup=Cleanup.ROLLBACK)


def says(choice: str, *, count: int = 0, text: str = "", merge: bool = False) -> Answered:
    return Answered(key=_UNKEYED, choice=choice, count=count, text=text, merge=merge)


def params(many: int = 3, **given: Any) -> BatchParams:  # noqa: ANN401 - the fields of the parameters
    limits = {name: given.pop(name) for name in ("max_attempts", "p1_threshold") if name in given}
    artifacts = tuple(
        BatchArtifact(path=path(number), own=f'{{"story": "ST-{number}"}}') for number in range(1, many + 1)
    )
    plan = {
        "artifacts": artifacts,
        "shared": '{"base": "base"}',
        "base": BASE,
        "limits": QualityLimits(**limits),
        "firm": True,
        "accepts_checked": True,
    }
    return BatchParams(**{**plan, **given})


def batch(many: int = 3, **given: Any) -> BatchState:  # noqa: ANN401 - as `params`
    return BATCH.start(params(many, **given))


Letter = Event | tuple[int, Outcome]


def play(state: BatchState, *letters: Letter) -> BatchState:
    """The state after each letter has answered what is wanted then."""
    for letter in letters:
        state = taken(BATCH, state, keyed(state, letter))
    return state


def keyed(state: BatchState, letter: Letter) -> Event:
    if isinstance(letter, tuple):
        number, outcome = letter
        (key,) = [run.key for run in runs(state) if run.name.partition("//")[0] == path(number)]
        return LoopEnded(key=key, outcome=outcome)
    if not hasattr(letter, "key"):
        return letter
    fitting = [action for action in BATCH.decide(state) if isinstance(letter, ANSWERED_BY[type(action)])]
    assert fitting, f"{letter} answers nothing in {BATCH.decide(state)}"
    return with_key(letter, fitting[0].key)


def runs(state: BatchState) -> tuple[RunLoop, ...]:
    return tuple(action for action in BATCH.decide(state) if isinstance(action, RunLoop))


def at_work(state: BatchState) -> list[tuple[int, str]]:
    """Which artifacts' loops are driven now, and as what."""
    return [(int(run.key.part), run.key.step) for run in runs(state)]


def wanted(state: BatchState, kind: type[A]) -> A:
    """The one action that is wanted now, beside a gate that is open."""
    (action,) = (each for each in BATCH.decide(state) if isinstance(each, AwaitGate) is (kind is AwaitGate))
    assert isinstance(action, kind), action
    return action


def outcome(state: BatchState) -> Outcome:
    return wanted(state, Stop).outcome


def commits(state: BatchState) -> tuple[Commit, ...]:
    return tuple(item.commit for item in state.items if item.commit != NO_COMMIT)
