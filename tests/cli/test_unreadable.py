"""A loop of whose log nobody can make anything: it is shown, told, and can be ended; the others go on."""

import asyncio
from pathlib import Path

import pytest

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent
from tests.cli.projects import NEVER_RIGHT, Sample

pytestmark = pytest.mark.sampled("kills")

AWAY = '{"key":"wait-implement-1.1"}'
HUGE = f'{{"key":"implement-9.1","report":{{"extras":{"9" * 5000}}}}}'


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    made = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    assert made.loop("feedback", "Make it good", "--max-iterations", "1", "--budget", "5").code == 4
    return made


def spoilt(sample: Sample, kind: str, data: str) -> LoopId:
    """The newest loop with one more event, written as the engine would."""

    async def spoil() -> LoopId:
        store = SqliteStore.open(sample.repo.path / ".loop" / "loop.db", SystemClock())
        row = (await store.rows())[0]
        fence = await store.claim(row.id, "a mistake")
        batch = Append(entries=(NewEvent(kind=kind, data=data, reserve=0.5),), status="running")
        await store.append(row.id, fence=fence, expected=row.seq, batch=batch)
        await store.release(row.id, fence)
        await store.close()
        return row.id

    return asyncio.run(spoil())


@pytest.mark.parametrize(("kind", "data"), [("Danced", "{}"), ("TimeReached", AWAY), ("AgentReported", HUGE)])
def test_a_loop_that_cannot_be_read_is_shown_and_told_and_can_be_cancelled(
    sample: Sample, kind: str, data: str
) -> None:
    loop = spoilt(sample, kind, data)
    tips = sample.repo.git("for-each-ref", "--format=%(refname) %(objectname)")

    shown = sample.loop("status", "--json").data["loops"][0]
    assert (shown["id"], shown["state"], shown["status"]) == (loop, "UNREADABLE", "blocked")
    assert shown["needs"][0]["command"] == f"loop cancel --loop {loop}"
    assert f"loop cancel --loop {loop}" in sample.loop("status").out
    assert "feedback loop created" in sample.loop("log").out
    resumed = sample.loop("resume")
    assert (resumed.code, f"`loop cancel --loop {loop}` ends it" in resumed.err) == (1, True)

    cancelled = sample.loop("cancel")
    assert (cancelled.code, "is cancelled without its log being read" in cancelled.out) == (0, True)
    after = sample.loop("status", "--json").data["loops"][0]
    assert (after["status"], after["outcome"], after["needs"]) == ("cancelled", "cancelled", [])
    assert after["cost"] == {"usd": 0.5, "estimated": True, "reserved": 0.0, "budget": 5.0}
    assert sample.repo.git("for-each-ref", "--format=%(refname) %(objectname)") == tips
    assert sample.loop("resume").out == "Nothing to resume.\n"
    assert sample.loop("cancel", "--loop", loop).code == 3


def test_the_other_loops_go_on_beside_one_that_cannot_be_read(sample: Sample) -> None:
    first = spoilt(sample, "Danced", "{}")
    assert sample.loop("feedback", "Another", "--max-iterations", "1").code == 4
    shown = {each["id"]: each["state"] for each in sample.loop("status", "--json").data["loops"]}
    assert sorted(shown.values()) == ["ESCALATED", "UNREADABLE"]
    assert sample.loop("gates").code == 0
    other = next(each for each in shown if each != first)
    assert sample.loop("cancel", "--loop", other).code == 0
    assert sample.loop("cancel", "--json").data["loop"] == first
