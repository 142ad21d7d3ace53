"""What the driver does with people and with answers that come at the wrong moment."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from loopwright.engine.driver import drive
from loopwright.engine.hearing import hear, note_refusal
from loopwright.engine.journal import Journal, holding, open_loop, post
from loopwright.engine.session import Session
from loopwright.errors import Forbidden
from loopwright.kernel.actions import AwaitGate, ForPeople
from loopwright.kernel.events import (
    AgentReported,
    Answered,
    CancelRequested,
    GateDecided,
    Refused,
    ReportedLate,
    Said,
    key_of,
)
from loopwright.kernel.model import AgentReport, Change, Commit, Ending, LoopId, Usage, Verdict
from loopwright.kernel.record import read_event
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.dispatcher import Errand
from loopwright.ports.people import Reply, Waiting
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.worlds import LOOP, Fakes, flaw


def never_passes(run: AgentRun) -> AgentAnswer:
    report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),), summary="tried")
    return AgentReported(key=run.key, report=report)


class FinishesAnyway:
    """An agent whose work was done the very moment it was told to stop."""

    def __init__(self) -> None:
        self.running = asyncio.Event()

    def reservation(self, role: str, agent: str = "") -> float:
        return 1.0

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        self.running.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return AgentReported(key=run.key, report=AgentReport(summary="done"), usage=Usage(usd=0.4))

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return None


def test_a_report_that_comes_after_the_cancel_is_kept_with_its_cost() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create(budget=10.0)
        agent = FinishesAnyway()
        driving = asyncio.create_task(drive(replace(fakes.world(), agent=agent), LOOP))
        await agent.running.wait()
        await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
        halt = await driving
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        late = [read_event(r) for r in await fakes.store.read(LOOP) if r.kind == "ReportedLate"]
        assert [(str(event.key), event.kind) for event in late if isinstance(event, ReportedLate)] == [
            ("implement-1.1", "AgentReported")
        ]
        row = (await fakes.store.load(LOOP)).row
        assert (row.spent, row.estimated, row.reserved) == (0.4, False, 0.0)

    asyncio.run(story())


class AtThePrompt:
    """A person who reads the question and does not answer here."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def test_an_answer_from_elsewhere_ends_the_prompt() -> None:
    async def story() -> None:
        fakes = Fakes(agent=never_passes)
        await fakes.create()
        person = AtThePrompt()
        driving = asyncio.create_task(drive(replace(fakes.world(), people=person), LOOP))
        await person.asked.wait()
        (asked,) = [s.event for s in fakes.recorder.seen if key_of(s.event).step == "escalation"]
        answer = Answered(key=asked.key, choice="cancel", by="bob")  # type: ignore[union-attr]
        assert await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder) is None
        halt = await driving
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED

    asyncio.run(story())


def test_an_answer_that_is_no_option_is_refused_and_the_person_is_asked_again() -> None:
    def nonsense(asked: ForPeople) -> Said:
        return Answered(key=asked.key, choice="dance", by="ann")

    def stop(asked: ForPeople) -> Said:
        return Answered(key=asked.key, choice="cancel", by="ann")

    async def story() -> None:
        fakes = Fakes(agent=never_passes)
        fakes.people.says = [nonsense, stop]
        await fakes.create()
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert [str(each.what.key) for each in fakes.people.asked] == ["escalation-1", "escalation-1"]
        refused = [read_event(r) for r in await fakes.store.read(LOOP) if r.kind == "Refused"]
        assert [event.by for event in refused if isinstance(event, Refused)] == ["ann"]

    asyncio.run(story())


def test_nobody_talks_to_a_loop_that_has_ended() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        await fakes.drive()
        length = len(await fakes.store.read(LOOP))
        with pytest.raises(Forbidden, match="has ended \\(verified\\); start a new one"):
            await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
        await note_refusal(fakes.store, fakes.loops, LOOP, Refused(what="approve", why="no", by="a"), fakes.recorder)
        assert len(await fakes.store.read(LOOP)) == length

    asyncio.run(story())


def test_an_attempt_that_was_refused_at_the_door_is_put_on_record_now_or_by_the_controller() -> None:
    refused = Refused(what="approve", why="inside a step", by="agent")

    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        await note_refusal(fakes.store, fakes.loops, LOOP, refused, fakes.recorder)
        fence = await fakes.store.claim(LOOP, "a controller")
        await note_refusal(fakes.store, fakes.loops, LOOP, refused, fakes.recorder)
        await fakes.store.release(LOOP, fence)
        assert [item.kind for item in await fakes.store.inbox(LOOP)] == ["Refused"]
        await fakes.drive()
        assert [read_event(r) for r in await fakes.store.read(LOOP) if r.kind == "Refused"] == [refused, refused]

    asyncio.run(story())


# --- decisions at once --------------------------------------------------------------------------------------------


async def at_a_gate(fakes: Fakes) -> GateDecided:
    """Return the approval of the gate at which the loop waits."""
    fakes.workspace.changes = (Change(path="tests/test_a.py", how="changed", blob="2"),)
    await fakes.create(FeedbackParams(task="mend tests/test_a.py", base=Commit("base")))
    (waiting,) = (await fakes.drive()).waiting
    assert isinstance(waiting.what, AwaitGate)
    gate = waiting.what
    return GateDecided(key=gate.key, gate=gate.gate, approved=True, evidence=gate.evidence, by="ann")


async def decisions(fakes: Fakes) -> list[str]:
    records = await fakes.store.read(LOOP)
    return [each.kind for each in records if each.kind in ("GateDecided", "Refused")]


def test_of_two_decisions_that_a_controller_is_sent_the_second_is_refused() -> None:
    async def story() -> None:
        fakes = Fakes()
        yes = await at_a_gate(fakes)
        no = replace(yes, approved=False, by="bob")
        fence = await fakes.store.claim(LOOP, "a controller")
        assert await hear(fakes.store, fakes.loops, LOOP, yes, fakes.recorder) is None
        for second in (no, replace(no, by="ann", approved=True, reason="fine")):
            with pytest.raises(Forbidden, match="approved by ann a moment ago"):
                await hear(fakes.store, fakes.loops, LOOP, second, fakes.recorder)
        await fakes.store.release(LOOP, fence)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert await decisions(fakes) == ["GateDecided", "Refused", "Refused"]

    asyncio.run(story())


def test_a_decision_that_the_controller_has_taken_meanwhile_came_first() -> None:
    async def story() -> None:
        fakes = Fakes()
        yes = await at_a_gate(fakes)
        before = await open_loop(fakes.store, fakes.loops, LOOP)
        await hear(fakes.store, fakes.loops, LOOP, yes, fakes.recorder)
        with pytest.raises(Forbidden, match="a moment ago"):  # recorded by itself
            await hear(fakes.store, fakes.loops, before, replace(yes, approved=False, by="bob"), fakes.recorder)
        await fakes.store.claim(LOOP, "a controller")
        with pytest.raises(Forbidden, match="a moment ago"):  # left for the controller
            await hear(fakes.store, fakes.loops, before, replace(yes, approved=False, by="bob"), fakes.recorder)
        assert await hear(fakes.store, fakes.loops, before, yes, fakes.recorder) is None  # it may be this one

    asyncio.run(story())


def test_a_decision_posted_before_is_recorded_before() -> None:
    async def story() -> None:
        fakes = Fakes()
        yes = await at_a_gate(fakes)
        await post(fakes.store, LOOP, yes)
        with pytest.raises(Forbidden, match="approved by ann a moment ago"):
            await hear(fakes.store, fakes.loops, LOOP, replace(yes, approved=False, by="bob"), fakes.recorder)
        assert (await decisions(fakes), await fakes.store.inbox(LOOP)) == (["GateDecided", "Refused"], ())

    asyncio.run(story())


def test_a_decision_that_another_one_took_in_is_not_recorded_twice() -> None:
    class TakesAtOnce(MemoryStore):
        """A store whose loop is driven by somebody for the moment in which something is posted."""

        async def post(self, loop: LoopId, kind: str, data: str) -> int:
            item = await super().post(loop, kind, data)
            opened = await open_loop(self, fakes.loops, loop)
            async with holding(self, opened, "another") as held:
                session = Session.of(held.opened, Errand(path=(loop,)), lambda _action, _now: 0.0)
                journal = Journal(self, session, held)
                (posted,) = await journal.inbox()
                await journal.record(*session.heard(posted.said), taken=(posted.item,))
            return item

    fakes = Fakes(store=TakesAtOnce(Memory(), ManualClock()))

    async def story() -> None:
        yes = await at_a_gate(fakes)
        before = await open_loop(fakes.store, fakes.loops, LOOP)
        assert await hear(fakes.store, fakes.loops, before, yes, fakes.recorder) is not None
        with pytest.raises(Forbidden, match="a moment ago"):
            await hear(fakes.store, fakes.loops, before, replace(yes, approved=False), fakes.recorder)
        assert await decisions(fakes) == ["GateDecided", "Refused"]

    asyncio.run(story())
