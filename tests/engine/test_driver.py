"""The driver with a world of fakes: order of events, people, money, cancelling."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from loopwright.engine.driver import drive
from loopwright.engine.fold import fold
from loopwright.engine.hearing import hear
from loopwright.errors import AlreadyRunning, EngineError, Forbidden
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentReported,
    AgentUnavailable,
    Answered,
    BudgetChanged,
    CancelRequested,
    GateDecided,
    IntegrationRefused,
    Logged,
    Paused,
    Refused,
    Said,
    key_of,
)
from loopwright.kernel.model import NO_KEY, AgentReport, Change, Cleanup, Commit, Ending, Key, Usage, Verdict
from loopwright.kernel.record import read_event
from loopwright.loops import closing
from loopwright.loops.course import Station
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState
from loopwright.ports.agent import AgentAnswer, AgentRun
from tests.engine.worlds import LOOP, DyingStore, Fakes, failing, flaw, passing, two_setbacks


async def logged(fakes: Fakes) -> list[Logged]:
    return [read_event(record) for record in await fakes.store.read(LOOP)]


async def kinds(fakes: Fakes) -> list[str]:
    return [record.kind for record in await fakes.store.read(LOOP)]


async def state_of(fakes: Fakes) -> FeedbackState:
    state: FeedbackState = fold(FEEDBACK, await fakes.store.load(LOOP)).state
    return state


def test_a_loop_with_two_setbacks_ends_verified_on_its_own_branch() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.why, halt.outcome.ending, halt.outcome.attempts) == ("ended", Ending.VERIFIED, 3)
        assert halt.outcome.branch == f"loop/{LOOP}"
        assert [str(run.key) for run in fakes.runs] == [
            "implement-1.1",
            "review-1.1",
            "implement-2.1",
            "review-2.1",
            "implement-3.1",
            "review-3.1",
        ]
        assert [str(run.key) for run in fakes.checked] == ["checks-2.1", "checks-3.1"]

    asyncio.run(story())


def test_the_intent_is_in_the_log_before_its_answer() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        await fakes.drive()
        started: set[Key] = set()
        for event in await logged(fakes):
            key = key_of(event)
            if type(event).__name__ == "Started":
                assert key not in started
                started.add(key)
            elif key != NO_KEY:
                assert key in started

    asyncio.run(story())


def test_driving_an_ended_loop_again_changes_nothing() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        first = await fakes.drive()
        length = len(await kinds(fakes))
        assert await fakes.drive() == first
        assert len(await kinds(fakes)) == length

    asyncio.run(story())


def always_failing(run: AgentRun) -> AgentAnswer:
    if run.role == "reviewer":
        report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),))
        return AgentReported(key=run.key, report=report)
    return AgentReported(key=run.key, report=AgentReport(summary="tried"))


def test_an_escalation_with_nobody_there_waits_and_goes_on_when_answered() -> None:
    async def story() -> None:
        fakes = Fakes(agent=always_failing)
        await fakes.create()
        halt = await fakes.drive()
        assert (halt.why, [str(each.what.key) for each in halt.waiting]) == ("waiting", ["escalation-1"])
        assert (await fakes.store.load(LOOP)).row.status == "waiting"
        answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=1, by="ann")
        assert await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder) is not None
        again = await fakes.drive()
        assert [str(each.what.key) for each in again.waiting] == ["escalation-2"]
        assert len(fakes.runs) == 8

    asyncio.run(story())


def test_a_loop_ends_though_its_folder_cannot_be_removed_and_names_it() -> None:
    async def story() -> None:
        fakes = Fakes()
        fakes.workspace.stay = (".worktrees/mine",)
        await fakes.create()
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, halt.outcome.stay) == (Ending.VERIFIED, (".worktrees/mine",))
        (line,) = closing.stay(halt.outcome)
        assert ".worktrees/mine; look whose files are in it" in line

    asyncio.run(story())


def test_a_person_at_the_terminal_is_asked_only_when_nothing_else_can_go_on() -> None:
    def cancels(asked: ForPeople) -> Said:
        return Answered(key=asked.key, choice="cancel", by="ann")

    async def story() -> None:
        fakes = Fakes(agent=always_failing)
        fakes.people.says = [cancels]
        await fakes.create()
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        assert fakes.workspace.cleaned == [Cleanup.KEEP_EVERYTHING]

    asyncio.run(story())


def test_what_the_state_does_not_allow_is_refused_and_kept_in_the_log() -> None:
    async def story() -> None:
        fakes = Fakes(agent=always_failing)
        await fakes.create()
        halt = await fakes.drive()
        bad = Answered(key=halt.waiting[0].what.key, choice="dance", by="ann")
        with pytest.raises(Forbidden, match="'dance' is not one of the options"):
            await hear(fakes.store, fakes.loops, LOOP, bad, fakes.recorder)
        last = (await logged(fakes))[-1]
        assert isinstance(last, Refused)
        assert last.by == "ann"

    asyncio.run(story())


def test_a_second_controller_is_told_who_holds_the_loop() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        fence = await fakes.store.claim(LOOP, "the first")
        with pytest.raises(AlreadyRunning, match="the first"):
            await fakes.drive()
        await fakes.store.release(LOOP, fence)
        assert (await fakes.drive()).why == "ended"

    asyncio.run(story())


def test_an_agent_that_is_not_wanted_any_more_is_cancelled_and_paid_for() -> None:
    async def story() -> None:
        fakes = Fakes(usd=1.0)
        await fakes.create(budget=10.0)
        world = fakes.world()
        running = asyncio.Event()

        class Hanging:
            def reservation(self, role: str, agent: str = "") -> float:
                return 1.0

            async def run(self, run: AgentRun, watch: object) -> AgentAnswer:
                running.set()
                await asyncio.Event().wait()
                raise AssertionError

            async def reconcile(self, run: AgentRun) -> None:
                return None

        task = asyncio.create_task(drive(replace(world, agent=Hanging()), LOOP))
        await running.wait()
        cancel = CancelRequested(by="ann")
        assert await hear(fakes.store, fakes.loops, LOOP, cancel, fakes.recorder) is None
        halt = await task
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        assert "Cancelled" in await kinds(fakes)
        row = (await fakes.store.load(LOOP)).row
        assert (row.spent, row.estimated, row.reserved, row.status) == (1.0, True, 0.0, "cancelled")

    asyncio.run(story())


@pytest.mark.parametrize("more", [9.0, None])
def test_over_budget_pauses_with_the_numbers_and_goes_on_with_more_money_or_without_a_limit(more: float | None) -> None:
    async def story() -> None:
        fakes = Fakes(usd=1.0)
        await fakes.create(budget=1.5)
        halt = await fakes.drive()
        assert halt.why == "paused"
        assert halt.detail == (
            "budget of loop l-1: $0.75 spent and $0.00 reserved of $1.50; the next step reserves $1.00"
        )
        assert isinstance((await logged(fakes))[-1], Paused)
        await hear(fakes.store, fakes.loops, LOOP, BudgetChanged(usd=more, by="ann"), fakes.recorder)
        assert (await fakes.drive()).why == "ended"
        row = (await fakes.store.load(LOOP)).row
        assert (row.spent, row.estimated, row.reserved, row.budget) == (1.5, False, 0.0, more)

    asyncio.run(story())


def test_a_run_that_does_not_say_what_it_cost_is_charged_its_reservation() -> None:
    def silent(run: AgentRun) -> AgentAnswer:
        answer = two_setbacks(run)
        assert isinstance(answer, AgentReported)
        return AgentReported(key=answer.key, report=answer.report, usage=Usage())

    async def story() -> None:
        fakes = Fakes(agent=silent, usd=0.5)
        await fakes.create(budget=25.0)
        await fakes.drive()
        row = (await fakes.store.load(LOOP)).row
        assert (row.spent, row.estimated) == (3.0, True)
        assert (fakes.recorder.seen[-1].spent, fakes.recorder.seen[-1].estimated) == (3.0, True)

    asyncio.run(story())


def test_an_unavailable_agent_is_waited_for_and_costs_no_attempt() -> None:
    refused: list[str] = []

    def busy_once(run: AgentRun) -> AgentAnswer:
        if not refused:
            refused.append(str(run.key))
            return AgentUnavailable(key=run.key, until=100.0, usage=Usage(usd=0.0))
        return two_setbacks(run)

    async def story() -> None:
        fakes = Fakes(agent=busy_once)
        await fakes.create()
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.attempts == 3
        assert (await kinds(fakes)).count("TimeReached") == 1

    asyncio.run(story())


def test_an_open_gate_does_not_hold_up_the_work_beside_it() -> None:
    def approves(gate: ForPeople) -> Said:
        evidence = getattr(gate, "evidence", "")
        return GateDecided(key=gate.key, gate="protected", approved=True, evidence=evidence, by="ann")

    async def story() -> None:
        fakes = Fakes()
        fakes.workspace.changes = (Change(path="tests/test_a.py", how="changed", blob="2"),)
        fakes.people.says = [approves]
        await fakes.create(FeedbackParams(task="mend tests/test_a.py", base=Commit("base")))
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED
        assert [run.approved for run in fakes.checked] == [(), (), (fakes.checked[-1].approved[0],)]
        assert (await state_of(fakes)).course.station is Station.DONE

    asyncio.run(story())


def test_merged_trees_are_checked_again_and_refused_when_they_fail() -> None:
    async def story() -> None:
        fakes = Fakes(checks=lambda run: (failing("test_b"),) if run.step.endswith("merged") else (passing(),))
        fakes.workspace.branches["refs/heads/main"] = Commit("elsewhere")
        await fakes.create(FeedbackParams(task="add a", base=Commit("base"), target="refs/heads/main", merge=True))
        halt = await fakes.drive()
        assert halt.why == "waiting"
        refused = [event for event in await logged(fakes) if isinstance(event, IntegrationRefused)]
        assert {(event.reason, event.onto) for event in refused} == {("checks", "elsewhere")}
        assert fakes.workspace.branches["refs/heads/main"] == "elsewhere"

    asyncio.run(story())


def test_said_things_survive_as_json_in_the_inbox() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        await fakes.store.post(LOOP, "CancelRequested", encode(CancelRequested(by="ann")))
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        assert fakes.runs == []
        assert await fakes.store.inbox(LOOP) == ()

    asyncio.run(story())


def test_what_cannot_be_read_in_the_inbox_is_refused_and_the_work_goes_on() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        await fakes.store.post(LOOP, "Answered", '{"surprise": true}')
        await fakes.store.post(LOOP, "Shouted", "{}")
        halt = await fakes.drive()
        assert halt.why == "ended"
        refused = [event for event in await logged(fakes) if isinstance(event, Refused)]
        assert [event.what for event in refused] == ["Answered", "Shouted"]

    asyncio.run(story())


def test_a_loop_of_an_unknown_kind_is_an_error_in_one_sentence() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create_loop("dance", "{}")
        with pytest.raises(EngineError, match="knows no 'dance' loops"):
            await fakes.drive()

    asyncio.run(story())


def test_an_answer_and_the_intent_that_follows_from_it_are_one_commit() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        store = DyingStore(fakes.store, dies_at=0)
        await fakes.drive(store)  # type: ignore[arg-type]
        recorded = await kinds(fakes)
        answers = [kind for kind in recorded if kind not in ("Created", "Started", "Ended")]
        # The first intent, every answer with what follows from it, and the end.
        assert store.appends == 1 + len(answers) + 1
        assert recorded.count("Started") == len(answers)

    asyncio.run(story())
