"""Kill after, and before, every append of a whole run; resume; the end is the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.engine.driver import drive
from loopwright.engine.fold import fold
from loopwright.engine.hearing import hear
from loopwright.engine.session import SNAPSHOT_EVERY
from loopwright.kernel.events import AgentReported, Answered
from loopwright.kernel.model import AgentReport, Change, Ending, Verdict
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.testing.fakes import MemoryWorkspace
from tests.engine.worlds import BASE, HIDDEN, LOOP, DyingStore, Fakes, Killed, flaw


def never_good_enough(run: AgentRun) -> AgentAnswer:
    report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),), summary="tried")
    return AgentReported(key=run.key, report=report)


PLAIN = FeedbackParams(task="add a", base=BASE)
EXAMINED = replace(PLAIN, examiner="named")


def examined_fakes() -> Fakes:
    """A world whose examiner adds a test, and touches what is not its own."""
    theirs = (HIDDEN, Change(path="b.py", how="changed", blob="1"))
    return Fakes(usd=1.0, workspace=MemoryWorkspace(changes_in={f"examiner-{LOOP}": theirs}))


async def uninterrupted(params: FeedbackParams = PLAIN) -> tuple[object, int]:
    """The end, and how many appends it took."""
    fakes = examined_fakes()
    await fakes.create(params, budget=100.0)
    store = DyingStore(fakes.store, dies_at=0)
    await fakes.drive(store)  # type: ignore[arg-type]
    return fold(FEEDBACK, await fakes.store.load(LOOP)).state, store.appends


@pytest.mark.parametrize("params", [PLAIN, EXAMINED], ids=["maker", "examiner"])
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_killed_at_any_append_it_resumes_to_the_same_end(params: FeedbackParams, *, before: bool) -> None:
    async def story() -> None:
        expected, appends = await uninterrupted(params)
        for point in range(1, appends + 1):
            fakes = examined_fakes()
            await fakes.create(params, budget=100.0)
            with pytest.raises(Killed):
                await fakes.drive(DyingStore(fakes.store, point, before=before))  # type: ignore[arg-type]
            reported = {record.data for record in await fakes.store.read(LOOP) if record.kind == "AgentReported"}
            runs_before = Counter(run.key for run in fakes.runs)
            await fakes.drive()
            loaded = await fakes.store.load(LOOP)
            assert fold(FEEDBACK, loaded).state == expected
            assert loaded.row.reserved == 0.0
            again = Counter(run.key for run in fakes.runs) - runs_before
            assert not [key for key in again if any(f'"key":"{key}"' in data for data in reported)]
            await fakes.store.verify(LOOP)

    asyncio.run(story())


def test_what_an_examiner_adds_lands_with_the_change_and_no_maker_starts_from_it() -> None:
    async def story() -> None:
        fakes = examined_fakes()
        await fakes.create(EXAMINED, budget=100.0)
        halt = await drive(replace(fakes.world(), scratchpad=lambda _loop, _kind: Path("/pad")), LOOP)
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED
        state = fold(FEEDBACK, await fakes.store.load(LOOP)).state
        assert HIDDEN.path in fakes.workspace.holds[state.past[-1].commit]
        assert HIDDEN.path not in fakes.workspace.holds[state.commit]
        folders = {run.role: run.folder.name for run in fakes.runs}
        assert folders["examiner"] == f"examiner-{LOOP}"
        assert [run.scratchpad for run in fakes.runs if run.role == "examiner"] == [None]
        first = fakes.checked[0].hidden
        assert (first.files, first.must_fail) == ((HIDDEN.path,), True)

    asyncio.run(story())


def test_ten_kills_in_a_row_during_recovery_end_in_the_same_state() -> None:
    async def story() -> None:
        expected, _ = await uninterrupted()
        fakes = Fakes(usd=1.0)
        await fakes.create(budget=100.0)
        for _ in range(10):
            with pytest.raises(Killed):
                await fakes.drive(DyingStore(fakes.store, 2))  # type: ignore[arg-type]
        await fakes.drive()
        assert fold(FEEDBACK, await fakes.store.load(LOOP)).state == expected

    asyncio.run(story())


def test_a_long_log_is_loaded_from_its_snapshot_and_goes_on() -> None:
    async def story() -> None:
        fakes = Fakes(agent=never_good_enough)
        await fakes.create()
        for _ in range(4):
            halt = await fakes.drive()
            answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=3, by="ann")
            await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
        loaded = await fakes.store.load(LOOP)
        assert loaded.snapshot_seq >= SNAPSHOT_EVERY
        assert len(loaded.tail) < loaded.row.seq
        state = fold(FEEDBACK, loaded).state
        assert state == fold(FEEDBACK, replace(loaded, snapshot=None, tail=await fakes.store.read(LOOP))).state
        assert [iteration.number for iteration in state.past] == list(range(1, 13))

    asyncio.run(story())
