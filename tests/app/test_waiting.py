"""Waiting for a gate that is decided elsewhere: until somebody does, or until its time is over."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from loopwright.app.choice import roots
from loopwright.app.loops import View
from loopwright.app.project import Project, open_project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.sessions import gates_opened
from loopwright.app.starts.lifecycle.waiting import Parked, awaited, taken_up
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Announced, Answered, Cancelled, GateDecided, Logged, Started
from loopwright.kernel.gates import gate_key
from loopwright.kernel.model import Key, LoopId
from loopwright.kernel.record import Record
from loopwright.loops.lifecycle.states import Stage
from tests.e2e.hosted_system import CONFIG, small_system

ONE, OTHER = gate_key("security", "1"), gate_key("deploy", "2")


def opening(key: Key) -> Started:
    return Started(key=key, action=AwaitGate.__name__)


def deciding(key: Key, gate: str = "security", evidence: str = "1") -> GateDecided:
    return GateDecided(key=key, gate=gate, approved=True, evidence=evidence, by="ada")


def ages(*events: Logged) -> dict[Key, float]:
    named = enumerate(events, start=1)
    return gates_opened(
        Record(loop=LoopId("one"), seq=at, at=at, kind=type(event).__name__, data=encode(event)) for at, event in named
    )


def test_a_gate_is_as_old_as_its_first_question_whoever_went_away_meanwhile() -> None:
    assert ages(opening(ONE), Announced(key=Key("move")), opening(OTHER), opening(ONE)) == {ONE: 1, OTHER: 3}
    assert ages(opening(ONE), opening(OTHER), deciding(ONE), Cancelled(key=OTHER)) == {}
    assert ages(opening(ONE), Cancelled(key=ONE), opening(ONE)) == {ONE: 3}
    assert ages(opening(ONE), Answered(key=Key("escalation"), choice="resume")) == {ONE: 2}
    assert ages(Started(key=Key("check"), action="RunChecks")) == {}


@dataclass(slots=True)
class Hours:
    """A clock on which time passes only where somebody waits; `meanwhile` happens at the first of these."""

    start: float
    meanwhile: Callable[[], Awaitable[object]] | None = None
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.slept[-1] if self.slept else self.start

    def monotonic(self) -> float:
        return self.now()

    async def sleep_until(self, when: float) -> None:
        self.slept.append(when)
        if self.meanwhile is not None:
            await self.meanwhile()
            self.meanwhile = None


def parked(project: Project, clock: Hours, *loops: LoopId) -> Parked:
    return Parked(project=replace(project, clock=clock), loops=loops, by="us", failed=print)


async def approved(root: Path) -> None:
    """In another terminal."""
    project = open_project(root, dict(os.environ))
    (seen,) = await roots(project)
    (gate,) = seen.now.state.course.open_gates
    await take_in(project, seen, deciding(gate_key(gate.gate, gate.evidence), gate.gate, gate.evidence), print)
    await project.store.close()


async def waited(root: Path, meanwhile: Callable[[], Awaitable[object]] | None) -> tuple[View | None, int, bool]:
    project = open_project(root, dict(os.environ))
    (seen,) = await roots(project)
    clock = Hours(project.clock.now(), meanwhile)
    assert await taken_up(parked(project, clock, seen.row.id)) is None
    assert await awaited(parked(project, clock), 60.0) is None
    found = await awaited(parked(project, clock, seen.row.id), 60.0)
    is_late = clock.now() - clock.start >= 3_600 - 60
    await project.store.close()
    return found, len(clock.slept), is_late


@pytest.mark.slow
def test_a_gate_is_waited_for_until_somebody_decides_or_its_time_is_over(tmp_path: Path) -> None:
    sample = small_system(tmp_path, CONFIG.replace('kind = "github"', 'kind = "local"'))
    root = sample.repo.path
    assert sample.loop("run", "--json").data["gate"] == "architecture"

    late, _, is_late = asyncio.run(waited(root, None))
    assert late is not None
    assert (late.now.state.going.to, is_late) == (Stage.BLOCKED, True)
    blocked = sample.loop("run", "--wait", "--json")
    assert (blocked.code, blocked.data["outcome"]) == (4, "blocked")
    asyncio.run(approved(root))  # the same evidence: it counts still
    assert sample.loop("run", "--json").data["gate"] == "security"

    found, looks, is_late = asyncio.run(waited(root, lambda: approved(root)))
    assert found is not None
    assert (found.now.state.phase, looks, is_late) == (Stage.VALIDATE, 1, False)
