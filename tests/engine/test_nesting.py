"""Loops within loops: only roots ask, a child keeps its counters, money is one tree."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from loopwright.engine.driver import drive
from loopwright.engine.fold import fold
from loopwright.engine.hearing import hear
from loopwright.engine.nesting import ready_child
from loopwright.kernel.actions import RunLoop
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import AgentReported, Answered, BudgetChanged, Cancelled, CancelRequested, LoopEnded
from loopwright.kernel.model import AgentReport, Demand, Ending, Key, LoopId, Outcome, Point, Usage, Verdict
from loopwright.kernel.record import event_of
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from loopwright.ports.agent import AgentAnswer, AgentRun
from tests.engine.nested import FORK, PARENT, Branch, ForkParams, ParentParams
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed, flaw, passing

DEMAND = Demand("T-001", ("make", "one"))


def passes_at_four(run: AgentRun) -> AgentAnswer:
    usage = Usage(usd=0.25)
    if run.role != "reviewer":
        return AgentReported(key=run.key, report=AgentReport(summary="did it"), usage=usage)
    if run.brief.attempt < 4:
        report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),))
    else:
        report = AgentReport(verdict=Verdict.PASS)
    return AgentReported(key=run.key, report=report, usage=usage)


async def nested(**settings: float) -> Fakes:
    fakes = Fakes(agent=passes_at_four, checks=lambda _run: (passing(),), usd=settings.get("usd", 0.0))
    fakes.loops = {"feedback": FEEDBACK, "parent": PARENT}
    child = encode(FeedbackParams(task="add a", base=BASE, branch="loop/parent"))
    await fakes.create_loop("parent", encode(ParentParams(child=child)), budget=settings.get("budget"))
    return fakes


async def child_of(fakes: Fakes) -> LoopId:
    (child,) = [row.id for row in await fakes.store.rows() if row.parent == LOOP]
    return child


def test_a_child_that_would_ask_escalates_to_its_parent_who_asks() -> None:
    async def story() -> None:
        fakes = await nested()
        halt = await fakes.drive()
        assert [str(each.what.key) for each in halt.waiting] == ["ask-1"]
        assert (await fakes.store.load(await child_of(fakes))).row.status == "waiting"

    asyncio.run(story())


async def part(**given: object) -> Fakes:
    """A parent whose child lands nothing and brings a command."""
    fakes = Fakes(agent=passes_at_four, checks=lambda _run: (passing(),), unmet=("T-001",))
    fakes.loops = {"feedback": FEEDBACK, "parent": PARENT}
    limits = FeedbackLimits(max_feedback_iterations=4, max_consecutive_review_failures=5)
    plan = FeedbackParams(task="add a", base=BASE, also=(DEMAND,), lands=False, limits=limits)
    child = encode(replace(plan, **given))  # type: ignore[arg-type]
    await fakes.create_loop("parent", encode(ParentParams(child=child)))
    return fakes


async def heard(fakes: Fakes) -> Outcome:
    """What the parent heard last of its child."""
    events = [event_of(record) for record in await fakes.store.read(LOOP)]
    return [event.outcome for event in events if isinstance(event, LoopEnded)][-1]


def test_a_parent_hears_what_a_stuck_child_left_and_which_command_of_it_failed() -> None:
    async def story() -> None:
        fakes = await part()
        await fakes.drive()
        state: FeedbackState = fold(FEEDBACK, await fakes.store.load(await child_of(fakes))).state
        told = await heard(fakes)
        assert (told.ending, told.commit) == (Ending.ESCALATED, state.past[-1].commit)
        assert [(each.rule, each.requirement) for each in told.findings] == [("verify T-001", "T-001")]
        assert [run.also for run in fakes.checked] == [(DEMAND,)]

    asyncio.run(story())


def test_a_part_that_passed_is_its_parents_to_land() -> None:
    async def story() -> None:
        fakes = await part()
        fakes.unmet = ()
        halt = await fakes.drive()
        assert halt.outcome is not None
        state: FeedbackState = fold(FEEDBACK, await fakes.store.load(await child_of(fakes))).state
        assert (halt.outcome.ending, halt.outcome.commit) == (Ending.VERIFIED, state.commit)
        assert (halt.outcome.branch, fakes.workspace.branches) == ("", {})

    asyncio.run(story())


def test_whoever_watches_sees_a_child_from_its_first_event_on() -> None:
    async def story() -> None:
        fakes = await part()
        await fakes.drive()
        child = await child_of(fakes)
        seen = [(each.seq, each.at, type(each.event).__name__) for each in fakes.recorder.seen if each.loop == child]
        assert seen == [(each.seq, each.at, each.kind) for each in await fakes.store.read(child)]

    asyncio.run(story())


def test_a_parent_can_tell_that_its_child_changed_nothing() -> None:
    async def story() -> None:
        fakes = await part(trust=Trust(in_force=True, base=BASE))
        fakes.workspace.changes = ()
        await fakes.drive()
        told = await heard(fakes)
        assert (told.ending, [each.rule for each in told.findings]) == (Ending.ESCALATED, ["no-change"])

    asyncio.run(story())


def test_continue_on_the_parent_goes_on_with_the_same_child_and_its_counters() -> None:
    async def story() -> None:
        fakes = await nested()
        halt = await fakes.drive()
        answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=2, by="ann")
        await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, halt.outcome.attempts) == (Ending.VERIFIED, 4)
        child: FeedbackState = fold(FEEDBACK, await fakes.store.load(await child_of(fakes))).state
        assert [iteration.number for iteration in child.past] == [1, 2, 3, 4]
        assert fakes.workspace.branches == {"loop/parent": child.commit}

    asyncio.run(story())


def test_a_child_spends_its_parents_money_and_pauses_it() -> None:
    async def story() -> None:
        fakes = await nested(usd=1.0, budget=1.4)
        halt = await fakes.drive()
        assert halt.why == "paused"
        assert halt.detail.startswith("budget of loop l-1: $0.50 spent")
        rows = {row.id: row for row in await fakes.store.rows()}
        assert (rows[LOOP].status, rows[LOOP].spent, rows[LOOP].reserved) == ("paused", 0.5, 0.0)
        await hear(fakes.store, fakes.loops, LOOP, BudgetChanged(usd=50.0, by="ann"), fakes.recorder)
        assert (await fakes.drive()).why == "waiting"
        spent = {row.id: row.spent for row in await fakes.store.rows()}
        assert spent == {LOOP: 1.5, await child_of(fakes): 1.5}

    asyncio.run(story())


def test_an_answer_reaches_a_child_only_as_the_answer_to_the_question_it_has() -> None:
    async def story() -> None:
        fakes = await nested()
        await fakes.drive()
        child = await child_of(fakes)
        other = RunLoop(
            key=Key.parse("k"),
            kind="feedback",
            params="{}",
            name="child",
            said=Answered(key=Key.parse("escalation-9"), choice="continue", count=2),
        )
        await ready_child(fakes.world(), LOOP, other)
        assert await fakes.store.inbox(child) == ()
        asked = Answered(key=Key.parse("escalation-1"), choice="continue", count=2)
        await ready_child(fakes.world(), LOOP, replace(other, said=asked))
        (item,) = await fakes.store.inbox(child)
        assert decode(Answered, item.data) == replace(asked, by="the parent loop")

    asyncio.run(story())


def test_an_answer_that_was_posted_twice_is_given_once() -> None:
    async def story() -> None:
        fakes = await nested()
        halt = await fakes.drive()
        child = await child_of(fakes)
        told = RunLoop(
            key=Key.parse("k"),
            kind="feedback",
            params="{}",
            name="child",
            said=Answered(key=Key.parse("escalation-1"), choice="continue", count=1),
        )
        await ready_child(fakes.world(), LOOP, told)
        answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=1, by="ann")
        await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
        await fakes.drive()
        kinds = [record.kind for record in await fakes.store.read(child)]
        assert (kinds.count("Answered"), kinds.count("Refused")) == (1, 1)
        state: FeedbackState = fold(FEEDBACK, await fakes.store.load(child)).state
        assert state.allowance.review_failures == 4

    asyncio.run(story())


def test_a_child_that_was_never_made_needs_no_cancelling() -> None:
    async def story() -> None:
        fakes = await nested()
        cancel = RunLoop(key=Key.parse("k"), kind="feedback", params="{}", name="nobody", said=CancelRequested())
        assert await ready_child(fakes.world(), LOOP, cancel) is None
        assert [row.id for row in await fakes.store.rows()] == [LOOP]

    asyncio.run(story())


def test_a_loop_is_held_where_it_is_to_wait_with_nothing_begun() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        for _ in range(2):
            halt = await drive(fakes.world(), LOOP, upto=(Point("IMPLEMENT", 2), Point("TEST", 1)))
            assert (halt.why, halt.stand and halt.stand.point) == ("held", Point("IMPLEMENT", 2))
            log = await fakes.store.read(LOOP)
            assert (log[-1].kind, len(fakes.runs)) == ("AgentReported", 2)
        assert (await fakes.drive()).why == "ended"

    asyncio.run(story())


def test_killed_at_any_append_of_parent_or_child_it_resumes_to_the_same_end() -> None:
    async def whole(fakes: Fakes) -> None:
        halt = await fakes.drive()
        if halt.why == "waiting":
            answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=2, by="ann")
            await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
            await fakes.drive()

    async def story() -> None:
        fakes = await nested()
        await whole(fakes)
        child = await child_of(fakes)
        expected = fold(FEEDBACK, await fakes.store.load(child)).state
        for point in range(1, 40):
            fakes = await nested()
            with suppress(Killed):
                await fakes.drive(DyingStore(fakes.store, point))  # type: ignore[arg-type]
            await whole(fakes)
            assert fold(FEEDBACK, await fakes.store.load(child)).state == expected

    asyncio.run(story())


def test_what_is_no_longer_wanted_is_ended_side_by_side_and_recorded_in_its_order() -> None:
    """Each agent takes its end only when all have been told to: one after the other they would wait for ever."""

    async def story() -> None:
        plan = encode(FeedbackParams(task="add a", base=BASE))
        names = ("a", "b", "c")
        branches = tuple(Branch(name=name, kind="feedback", params=plan) for name in names)
        fakes = Fakes(loops={"feedback": FEEDBACK, "fork": FORK})
        await fakes.create_loop("fork", encode(ForkParams(branches=branches)))
        all_run, all_told = asyncio.Barrier(len(names) + 1), asyncio.Barrier(len(names))

        class Stubborn:
            def reservation(self, role: str, agent: str = "") -> float:
                return 0.0

            async def run(self, run: AgentRun, watch: object) -> AgentAnswer:
                await all_run.wait()
                try:
                    await asyncio.Event().wait()
                finally:
                    await all_told.wait()
                raise AssertionError

            async def reconcile(self, run: AgentRun) -> None:
                return None

        task = asyncio.create_task(drive(replace(fakes.world(), agent=Stubborn()), LOOP))
        await all_run.wait()
        await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
        halt = await asyncio.wait_for(task, 10)
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        ended = [event_of(each) for each in await fakes.store.read(LOOP) if each.kind == "Cancelled"]
        assert ended == [Cancelled(key=Key.parse(f"run-{name}")) for name in names]

    asyncio.run(story())
