"""What nobody can take in does not stop a loop for ever, and a limit reaches a step that runs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from loopwright.engine.dispatch import InProcess, Spending
from loopwright.engine.driver import drive
from loopwright.engine.world import World
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, AgentUnavailable, CancelRequested, ChecksReported
from loopwright.kernel.model import AgentReport, Cleanup, Ending, Usage, Verdict
from loopwright.kernel.record import read_event
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined
from loopwright.ports.store import Append, NewEvent, NewLoop
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import ScriptedPeople
from tests.engine.worlds import LOOP, Fakes, Killed, passing, two_setbacks


def good(run: AgentRun) -> AgentAnswer:
    return AgentReported(key=run.key, report=AgentReport(verdict=Verdict.PASS), usage=Usage(usd=0.25))


async def kinds(fakes: Fakes) -> list[str]:
    return [record.kind for record in await fakes.store.read(LOOP)]


# --- results that nobody can take in ---------------------------------------------------------------


def raises(fault: Exception) -> Callable[[AgentRun], AgentAnswer]:
    def script(_: AgentRun) -> AgentAnswer:
        raise fault

    return script


def with_usd(usd: float) -> Callable[[AgentRun], AgentAnswer]:
    return lambda run: AgentReported(key=run.key, report=AgentReport(), usage=Usage(usd=usd))


@pytest.mark.parametrize(
    "broken",
    [
        raises(ValueError("Exceeds the limit")),
        raises(OverflowError("int too large")),
        with_usd(math.nan),
        with_usd(math.inf),
        lambda run: AgentReported(key=run.key, report=AgentReport(), usage=Usage(input_tokens=10**5000)),
    ],
    ids=["value", "overflow", "nan", "inf", "digits"],
)
def test_a_result_that_cannot_be_taken_in_is_asked_for_once_more(broken: Callable[[AgentRun], AgentAnswer]) -> None:
    async def story() -> None:
        fakes = Fakes(
            agent=lambda run: broken(run) if len(fakes.runs) == 1 else good(run), checks=lambda _: (passing(),)
        )
        fakes.usd = 0.5
        await fakes.create(budget=9.0)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED
        failed = next(record for record in await fakes.store.read(LOOP) if record.kind == "AgentFailed")
        assert ("garbled" in failed.data, "could not be taken in" in failed.data, failed.spend) == (True, True, 0.5)

    asyncio.run(story())


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """An agent whose finished run breaks whoever reads it."""

    inner: object

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.5

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        return await self.inner.run(run, watch)  # type: ignore[attr-defined,no-any-return]

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        raise ValueError(f"the result of {run.key} cannot be read")


async def left_behind(agent: Callable[[AgentRun], AgentAnswer] = good) -> tuple[Fakes, World]:
    """A loop whose controller died while its developer was at work."""

    def dies(_: AgentRun) -> AgentAnswer:
        raise Killed

    fakes = Fakes(agent=dies, checks=lambda _: (passing(),))
    await fakes.create(budget=9.0)
    with pytest.raises(Killed):
        await fakes.drive()
    fakes.agent = agent
    world = fakes.world()
    return fakes, replace(world, agent=Remembering(inner=world.agent))


def test_a_finished_run_that_cannot_be_read_does_not_stop_every_resume() -> None:
    async def story() -> None:
        fakes, world = await left_behind()
        halt = await drive(world, LOOP)
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED
        assert "the result of implement-1.1 cannot be read" in "".join(r.data for r in await fakes.store.read(LOOP))

    asyncio.run(story())


def test_to_cancel_no_result_is_read() -> None:
    async def story() -> None:
        fakes, world = await left_behind()
        said = CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING, by="ann")
        await fakes.store.post(LOOP, "CancelRequested", encode(said))
        halt = await drive(world, LOOP)
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        assert "AgentFailed" not in await kinds(fakes)
        row = (await fakes.store.load(LOOP)).row
        assert (row.reserved, row.status) == (0.0, "cancelled")

    asyncio.run(story())


def test_a_part_that_cannot_be_read_is_ended_with_the_whole() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create(budget=9.0)
        part = NewLoop(id=type(LOOP)("l-1-part"), kind="feedback", params="{}", parent=LOOP)
        await fakes.store.create(part, NewEvent(kind="Danced", data="{}", reserve=1.0))
        below = NewLoop(id=type(LOOP)("l-1-part-2"), kind="feedback", params="{}", parent=part.id)
        await fakes.store.create(below, NewEvent(kind="Danced", data="{}", reserve=1.0))
        await fakes.store.post(LOOP, "CancelRequested", encode(CancelRequested(by="ann")))
        assert (await drive(replace(fakes.world(), dispatcher=InProcess(spending=Spending(tokens=10))), LOOP)).outcome
        rows = {row.id: (row.status, row.reserved) for row in await fakes.store.rows()}
        assert set(rows.values()) == {("cancelled", 0.0)}

    asyncio.run(story())


# --- an agent that is never there --------------------------------------------------------------------


def test_an_agent_that_is_never_there_is_waited_for_ever_longer_and_then_a_person_is_asked() -> None:
    async def story() -> None:
        clock = ManualClock()

        def away(run: AgentRun) -> AgentAnswer:
            return AgentUnavailable(key=run.key, until=clock.now(), detail="usage limit reached", usage=Usage(usd=0.0))

        fakes = Fakes(agent=away, people=ScriptedPeople())
        await fakes.create()
        began = clock.now()
        halt = await drive(replace(fakes.world(), clock=clock), LOOP)
        (waiting,) = halt.waiting
        waited = 5 + 10 + 20 + 40 + 80 + 160 + 320 + 3 * 600
        assert (halt.why, len(fakes.runs), clock.now() - began) == ("waiting", 11, waited)
        assert "not available 11 times in a row: usage limit reached" in str(waiting.what)

    asyncio.run(story())


# --- the time of the budget --------------------------------------------------------------------------


@dataclass(slots=True)
class Hanging:
    """Agents and checks that never come to an end, and know whether they were ended."""

    ended: int = 0

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.5

    async def run(self, run: AgentRun | ChecksRun, watch: Watch) -> ChecksReported:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1
        raise AssertionError

    async def reconcile(self, run: AgentRun) -> None:
        return None

    async def examine(self, *_: object, **__: object) -> Examined:
        return Examined()

    async def new_tests(self, *_: object) -> Callable[[str], bool]:
        return lambda _path: False

    async def compare(self, *_: object) -> Compared:
        return Compared()


def with_wall(world: World, seconds: float, **changes: object) -> World:
    return replace(world, dispatcher=InProcess(spending=Spending(seconds=seconds)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["agent", "checks"])
def test_a_step_is_ended_when_the_time_of_the_budget_is_up_and_goes_on_with_more(what: str) -> None:
    async def story() -> None:
        hanging = Hanging()
        fakes = Fakes(agent=good, checks=lambda _: (passing(),))
        await fakes.create(budget=9.0)
        halt = await drive(with_wall(fakes.world(), 0.05, **{what: hanging}), LOOP)
        assert (halt.why, halt.reason, hanging.ended) == ("paused", "time", 1)
        row, records = (await fakes.store.load(LOOP)).row, await fakes.store.read(LOOP)
        assert (row.status, row.reserved) == ("paused", 0.0)
        (out,) = (read_event(record) for record in records if record.kind == "Interrupted")
        assert (out.seconds >= 0.05, "the time of the budget is up" in out.detail) == (True, True)  # type: ignore[union-attr]

        again = await drive(with_wall(fakes.world(), 0.05, **{what: hanging}), LOOP)
        assert (again.why, again.reason, hanging.ended) == ("paused", "time", 1)  # nothing was begun
        more = await drive(with_wall(fakes.world(), 600.0), LOOP)
        assert more.outcome is not None
        assert more.outcome.ending is Ending.VERIFIED

    asyncio.run(story())


def test_tokens_that_a_run_did_not_say_count_as_they_were_guessed() -> None:
    async def story() -> None:
        fakes = Fakes(agent=lambda run: replace(two_setbacks(run), usage=Usage(guessed_tokens=10_000)))
        await fakes.create()
        halt = await drive(replace(fakes.world(), dispatcher=InProcess(spending=Spending(tokens=15_000))), LOOP)
        assert (halt.why, halt.reason, len(fakes.runs)) == ("paused", "tokens", 2)
        assert halt.detail == "20000 of 15000 tokens are used (where a run did not say, estimated)"

    asyncio.run(story())


def test_what_an_unreadable_append_left_is_not_taken_for_a_loop_that_runs() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        fence = await fakes.store.claim(LOOP, "a mistake")
        batch = Append(entries=(NewEvent(kind="TimeReached", data='{"key":"wait-implement-1.1"}'),))
        await fakes.store.append(LOOP, fence=fence, expected=1, batch=batch)
        await fakes.store.release(LOOP, fence)
        with pytest.raises(Exception, match=r"`loop cancel --loop l-1` ends it and keeps every commit"):
            await fakes.drive()

    asyncio.run(story())
