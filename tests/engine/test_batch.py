"""A batch with real quality loops as its children, in a world of fakes: right lists, kills, money."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from loopwright.engine.dispatch import InProcess, Spending
from loopwright.engine.driver import drive
from loopwright.engine.fold import fold
from loopwright.engine.hearing import hear
from loopwright.engine.world import Halt
from loopwright.errors import VcsFailed
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import AgentFailed, AgentReported, Answered, BudgetChanged, CancelRequested, Said
from loopwright.kernel.findings import identify
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    Cleanup,
    Ending,
    Finding,
    LoopId,
    Severity,
    Usage,
    Verdict,
)
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams, BatchState
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityState
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.store import Store
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed

Behaviour = Callable[[AgentRun], AgentAnswer]
CRITICAL = identify(
    Finding(severity=Severity.CRITICAL, rule="S2", issue="two scopes", evidence="lines 3 and 9", guidance="split it")
)


def said(run: AgentRun, report: AgentReport) -> AgentAnswer:
    return AgentReported(key=run.key, report=report, usage=Usage(usd=0.25))


def made(run: AgentRun) -> AgentAnswer:
    return said(run, AgentReport(summary="mended it"))


def passes_at(review: int) -> Behaviour:
    """A creator that always reports, and a reviewer that passes from that review on."""

    def answer(run: AgentRun) -> AgentAnswer:
        if run.role == "creator":
            return made(run)
        if run.brief.attempt >= review:
            return said(run, AgentReport(verdict=Verdict.PASS))
        return said(run, AgentReport(verdict=Verdict.FAIL, findings=(CRITICAL,)))

    return answer


def crashes(run: AgentRun) -> AgentAnswer:
    return AgentFailed(key=run.key, reason="crashed", detail="exit 139")


def babbles(run: AgentRun) -> AgentAnswer:
    return AgentFailed(key=run.key, reason="garbled", detail="no JSON")


def gives_up(run: AgentRun) -> AgentAnswer:
    if run.role == "creator":
        return said(run, AgentReport(status=AgentStatus.BLOCKED, summary="no network"))
    return passes_at(9)(run)


def loses_its_folder(run: AgentRun) -> AgentAnswer:
    raise VcsFailed("git worktree add", "fatal: no space left on device")


def has_a_question(run: AgentRun) -> AgentAnswer:
    if run.role == "creator" and not run.brief.answers:
        return said(run, AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, summary="Which scope stays?"))
    return passes_at(2)(run)


@dataclass(frozen=True, slots=True)
class Project:
    """Artifacts, and how the agents that work on each behave."""

    agents: Mapping[str, Behaviour]

    def answer(self, run: AgentRun) -> AgentAnswer:
        (artifact,) = run.brief.artifacts
        return self.agents[artifact](run)

    async def batch(self, *, width: int = 8, budget: float | None = None, usd: float = 0.0) -> Fakes:
        fakes = Fakes(agent=self.answer, usd=usd)
        fakes.loops = {"batch": BATCH, "quality": QUALITY}
        fakes.workspace.holds[BASE] = dict.fromkeys(self.agents, "o1")
        fakes.workspace.changes = tuple(Change(path=path, how="changed", blob="o2") for path in self.agents)
        params = BatchParams(
            artifacts=tuple(BatchArtifact(path=path, own=f'{{"file": "{path}.quality.yml"}}') for path in self.agents),
            shared='{"base": "base", "story": "s", "gate": "story"}',
            base=BASE,
            width=width,
        )
        await fakes.create_loop("batch", encode(params), budget=budget)
        return fakes


async def answered(fakes: Fakes) -> Halt:
    """Drive until nobody but the batch itself asks anything; a child's own question is answered at the root."""
    halt = await fakes.drive()
    while halt.waiting and halt.waiting[0].loop != LOOP:
        assert [each.path[:-1] for each in halt.waiting] == [(LOOP,)] * len(halt.waiting)
        child = halt.waiting[0]
        answer = Answered(key=child.what.key, choice="answer", text="The first.", by="ann")
        await hear(fakes.store, fakes.loops, child.loop, answer, fakes.recorder)
        halt = await fakes.drive()
    return halt


async def says(fakes: Fakes, halt: Halt, choice: str, store: Store | None = None, **more: object) -> None:
    answer = Answered(key=halt.waiting[0].what.key, choice=choice, by="ann", **more)  # type: ignore[arg-type]
    await hear(store or fakes.store, fakes.loops, LOOP, answer, fakes.recorder)


async def state_of(fakes: Fakes) -> BatchState:
    state: BatchState = fold(BATCH, await fakes.store.load(LOOP)).state
    return state


async def children(fakes: Fakes) -> dict[str, QualityState]:
    ids = {item.path: item.loop for item in (await state_of(fakes)).items if item.loop}
    return {path: fold(QUALITY, await fakes.store.load(loop)).state for path, loop in ids.items()}


def standings(state: BatchState) -> dict[str, str]:
    return {item.path: item.standing.value for item in state.items}


# --- right lists -----------------------------------------------------------------------------------------------


TWENTY: dict[str, Behaviour] = {
    **{f"at-once-{n}.yml": passes_at(1) for n in range(6)},
    **{f"second-{n}.yml": passes_at(2) for n in range(4)},
    **{f"third-{n}.yml": passes_at(3) for n in range(3)},
    **{f"never-{n}.yml": passes_at(9) for n in range(2)},
    "crashes.yml": crashes,
    "babbles.yml": babbles,
    "gives-up.yml": gives_up,
    "no-folder.yml": loses_its_folder,
    "asks.yml": has_a_question,
}
GOOD = {path for path in TWENTY if path.startswith(("at-once", "second", "third", "asks"))}


@pytest.mark.parametrize("width", [1, 3, 50])
def test_whatever_happens_to_some_every_artifact_ends_in_the_right_list(width: int) -> None:
    async def story() -> None:
        fakes = await Project(TWENTY).batch(width=width)
        halt = await answered(fakes)
        state = await state_of(fakes)
        assert halt.why == "waiting"
        assert standings(state) == {path: "passed" if path in GOOD else "stuck" for path in TWENTY}
        assert (where(state), state.round, state.result.branch) == (Station.ESCALATED, 3, f"loop/{LOOP}")
        told = {item.path: item.line for item in state.items}
        limit = "MAX_LOOPS_REACHED: 3 reviews and {} fixes; findings in {}.quality.yml"
        assert told["never-0.yml"] == f"QUALITY_BLOCKED: never-0.yml ({limit.format(2, 'never-0.yml')})"
        assert told["crashes.yml"].startswith(
            "QUALITY_BLOCKED: crashes.yml (MAX_LOOPS_REACHED: 3 reviews and 0 fixes; "
        )
        assert "the creator is blocked: no network" in told["gives-up.yml"]
        assert told["no-folder.yml"] == (
            "FAILED: no-folder.yml: `git worktree add` failed: fatal: no space left on device"
        )
        assert {item.path: item.attempts for item in state.items if item.path in GOOD} == {
            path: {"at": 1, "se": 2, "th": 3, "as": 2}[path[:2]] for path in GOOD
        }

    asyncio.run(story())


def test_the_fixes_of_what_passed_are_landed_together_and_nothing_of_the_rest() -> None:
    async def story() -> None:
        fakes = await Project(TWENTY).batch()
        await answered(fakes)
        state = await state_of(fakes)
        fixed = {path for path, obj in fakes.workspace.holds[state.combined].items() if obj == "o2"}
        assert fixed == {path for path in GOOD if not path.startswith("at-once")}
        assert fakes.workspace.branches == {f"loop/{LOOP}": state.combined}

    asyncio.run(story())


def test_rounds_are_barriers_for_all_agents() -> None:
    async def story() -> None:
        fakes = await Project({f"{n}.yml": passes_at(3) for n in range(5)}).batch(width=2)
        await fakes.drive()
        steps = [(run.role, run.brief.attempt) for run in fakes.runs]
        assert steps == [
            *(("reviewer", 1),) * 5,
            *(("creator", 1),) * 5,
            *(("reviewer", 2),) * 5,
            *(("creator", 2),) * 5,
            *(("reviewer", 3),) * 5,
        ]

    asyncio.run(story())


def test_no_finding_is_in_the_batchs_own_log() -> None:
    async def story() -> None:
        fakes = await Project({"a.yml": passes_at(2), "b.yml": passes_at(9)}).batch()
        await fakes.drive()
        log = "".join(record.data for record in await fakes.store.read(LOOP))
        assert CRITICAL.issue not in log
        assert CRITICAL.evidence not in log
        assert "QUALITY_BLOCKED: b.yml" in log

    asyncio.run(story())


# --- people ----------------------------------------------------------------------------------------------------


def test_continue_goes_on_with_the_blocked_ones_and_their_counters() -> None:
    async def story() -> None:
        fakes = await Project({"a.yml": passes_at(1), "b.yml": passes_at(5), "c.yml": has_a_question}).batch()
        halt = await answered(fakes)
        await says(fakes, halt, "continue", count=2)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, [(part.name, part.attempts) for part in halt.outcome.parts]) == (
            Ending.VERIFIED,
            [("a.yml", 1), ("b.yml", 5), ("c.yml", 2)],
        )
        assert (await children(fakes))["b.yml"].allowance == 5

    asyncio.run(story())


def test_one_that_fell_over_goes_on_once_it_can() -> None:
    async def story() -> None:
        agents: dict[str, Behaviour] = {"a.yml": loses_its_folder, "b.yml": passes_at(1)}
        fakes = await Project(agents).batch()
        halt = await fakes.drive()
        assert [str(each.what.key) for each in halt.waiting] == ["escalation-1"]
        agents["a.yml"] = passes_at(2)
        await says(fakes, halt, "continue")
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, halt.outcome.parts[0].attempts) == (Ending.VERIFIED, 2)

    asyncio.run(story())


def test_accept_ends_them_all_with_their_best() -> None:
    async def story() -> None:
        agents = {"a.yml": passes_at(2), "b.yml": passes_at(9), "c.yml": has_a_question, "d.yml": crashes}
        fakes = await Project(agents).batch()
        halt = await answered(fakes)
        await says(fakes, halt, "accept")
        halt = await fakes.drive()
        assert halt.outcome is not None
        endings = {part.name: part.ending for part in halt.outcome.parts}
        assert (halt.outcome.ending, endings) == (
            Ending.ACCEPTED,
            {
                "a.yml": Ending.VERIFIED,
                "b.yml": Ending.ACCEPTED,
                "c.yml": Ending.VERIFIED,
                "d.yml": Ending.ESCALATED,
            },
        )

    asyncio.run(story())


def test_revise_reaches_the_creators() -> None:
    async def story() -> None:
        fakes = await Project({"a.yml": passes_at(4)}).batch()
        halt = await fakes.drive()
        await says(fakes, halt, "revise", text="one scope only")
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED
        assert fakes.runs[-2].brief.answers == ("one scope only",)

    asyncio.run(story())


def test_a_cancel_ends_every_child_also_those_that_were_never_begun() -> None:
    async def story() -> None:
        fakes = await Project({f"{n}.yml": passes_at(9) for n in range(3)}).batch(width=1)
        with suppress(Killed):
            await fakes.drive(DyingStore(fakes.store, 6))  # type: ignore[arg-type]
        cancel = CancelRequested(cleanup=Cleanup.ROLLBACK, by="ann")
        await hear(fakes.store, fakes.loops, LOOP, cancel, fakes.recorder)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, {part.ending for part in halt.outcome.parts}) == (
            Ending.CANCELLED,
            {Ending.CANCELLED},
        )
        rows = await fakes.store.rows()
        assert {row.status for row in rows} == {"cancelled"}
        assert set(fakes.workspace.cleaned) == {Cleanup.ROLLBACK}
        assert len(rows) == 2

    asyncio.run(story())


def test_killed_anywhere_and_then_cancelled_no_child_is_left_open() -> None:
    async def story() -> None:
        agents = {"a.yml": passes_at(1), "b.yml": passes_at(2)}
        fakes = await Project(agents).batch()
        counting = DyingStore(fakes.store, dies_at=0)
        await fakes.drive(counting)  # type: ignore[arg-type]
        for point in range(1, counting.appends):
            fakes = await Project(agents).batch()
            with suppress(Killed):
                await fakes.drive(DyingStore(fakes.store, point))  # type: ignore[arg-type]
            if (await state_of(fakes)).course.station is Station.DONE:
                continue
            await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
            halt = await fakes.drive()
            assert halt.outcome is not None
            landing = halt.outcome.ending is Ending.VERIFIED
            assert halt.outcome.ending in (Ending.CANCELLED, Ending.VERIFIED), point
            assert landing == bool(halt.outcome.branch), point
            assert {row.status for row in await fakes.store.rows()} <= {"complete", "cancelled"}, point

    asyncio.run(story())


# --- kills -----------------------------------------------------------------------------------------------------

THREE: dict[str, Behaviour] = {"a.yml": passes_at(1), "b.yml": passes_at(2), "c.yml": passes_at(4)}


async def whole(fakes: Fakes, store: Store | None = None) -> Halt:
    """To the end; whenever a person is asked, they grant one review more."""
    halt = await fakes.drive(store)
    while halt.why == "waiting":
        await says(fakes, halt, "continue", store, count=1)
        halt = await fakes.drive(store)
    return halt


async def reports(fakes: Fakes) -> Counter[str]:
    """How often each run of an agent is in the log."""
    found: Counter[str] = Counter()
    for row in await fakes.store.rows():
        for record in await fakes.store.read(row.id):
            if record.kind == "AgentReported":
                found[f"{row.id}/{decode(AgentReported, record.data).key}"] += 1
    return found


async def answers(fakes: Fakes) -> list[tuple[LoopId, str]]:
    kinds = [(row.id, record.kind) for row in await fakes.store.rows() for record in await fakes.store.read(row.id)]
    return sorted(each for each in kinds if each[1] == "Answered")


@pytest.mark.unmeasured
@pytest.mark.slow
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_killed_at_any_append_a_batch_resumes_to_the_same_end(*, before: bool) -> None:
    async def story() -> None:
        fakes = await Project(THREE).batch()
        counting = DyingStore(fakes.store, dies_at=0)
        await whole(fakes, counting)  # type: ignore[arg-type]
        expected = await state_of(fakes), await children(fakes), await reports(fakes), await answers(fakes)
        assert (expected[0].course.outcome is not None, len(expected[3])) == (True, 2)
        for point in range(1, counting.appends + 1):
            fakes = await Project(THREE).batch()
            with pytest.raises(Killed):
                await whole(fakes, DyingStore(fakes.store, point, before=before))  # type: ignore[arg-type]
            recorded = await reports(fakes)
            ran = Counter(f"{run.loop}/{run.key}" for run in fakes.runs)
            await whole(fakes)
            found = await state_of(fakes), await children(fakes), await reports(fakes), await answers(fakes)
            assert found == expected, point
            again = Counter(f"{run.loop}/{run.key}" for run in fakes.runs) - ran
            assert not again.keys() & recorded.keys(), point
            for row in await fakes.store.rows():
                await fakes.store.verify(row.id)
                assert (row.reserved, row.status) == (0.0, "complete"), point

    asyncio.run(story())


# --- money -----------------------------------------------------------------------------------------------------


def test_one_child_over_budget_does_not_cancel_the_others_and_the_batch_pauses_after_them() -> None:
    async def story() -> None:
        fakes = await Project({f"{n}.yml": passes_at(2) for n in range(4)}).batch(usd=1.0, budget=2.5)
        halt = await fakes.drive()
        assert (halt.why, halt.outcome) == ("paused", None)
        assert halt.detail.startswith("budget of loop l-1: ")
        rows = {row.id: row for row in await fakes.store.rows()}
        assert (rows[LOOP].status, rows[LOOP].reserved) == ("paused", 0.0)
        assert len(fakes.runs) == (await reports(fakes)).total() >= 2
        kinds = [record.kind for row in rows for record in await fakes.store.read(row)]
        assert ("Cancelled" in kinds, "Interrupted" in kinds) == (False, False)
        await hear(fakes.store, fakes.loops, LOOP, BudgetChanged(usd=50.0, by="ann"), fakes.recorder)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, len(fakes.runs)) == (Ending.VERIFIED, 12)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("limits", "reason", "says"),
    [
        (Spending(tokens=50), "tokens", "60 of 50 tokens are used (where a run did not say, estimated)"),
        (Spending(seconds=25.0), "time", "30 of 25 seconds of work are used"),
    ],
)
def test_a_limit_on_tokens_or_time_is_one_for_all_children_together(limits: Spending, reason: str, says: str) -> None:
    def costly(run: AgentRun) -> AgentAnswer:
        report = AgentReport(verdict=Verdict.PASS) if run.needs_verdict else AgentReport()
        return AgentReported(key=run.key, report=report, usage=Usage(usd=0.0, input_tokens=20, seconds=10.0))

    async def story() -> None:
        fakes = await Project({f"{n}.yml": costly for n in range(6)}).batch(width=1)
        halt = await drive(replace(fakes.world(), dispatcher=InProcess(spending=limits)), LOOP)
        assert (halt.why, halt.reason, halt.detail, len(fakes.runs)) == ("paused", reason, says, 3)
        # In a new process the children of the first count as well, those that have ended too.
        halt = await drive(replace(fakes.world(), dispatcher=InProcess(spending=limits)), LOOP)
        assert (halt.why, halt.detail, len(fakes.runs)) == ("paused", says, 3)

    asyncio.run(story())


def test_a_batch_takes_the_escalations_of_its_children_but_not_their_questions() -> None:
    def answers(asked: ForPeople) -> Said:
        return Answered(key=asked.key, choice="answer", text="The first.", by="ann")

    async def story() -> None:
        fakes = await Project({"a.yml": passes_at(9), "b.yml": has_a_question}).batch()
        fakes.people.says = [answers]
        halt = await fakes.drive()
        keys = [(len(asked.path), str(asked.what.key)) for asked in fakes.people.asked]
        assert keys == [(2, "clarify-1"), (1, "escalation-1")]
        assert (await children(fakes))["b.yml"].course.answers == ("Which scope stays?\n→ The first.",)
        await says(fakes, halt, "accept")
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert {part.name: part.ending for part in halt.outcome.parts} == {
            "a.yml": Ending.ACCEPTED,
            "b.yml": Ending.VERIFIED,
        }

    asyncio.run(story())


def test_one_that_waits_for_a_person_leaves_its_place_to_the_next() -> None:
    async def story() -> None:
        agents = {**{f"{n}.yml": has_a_question for n in range(3)}, "last.yml": passes_at(2)}
        fakes = await Project(agents).batch(width=1)
        halt = await fakes.drive()
        assert halt.why == "waiting"
        assert {child.plan.artifact for child in (await children(fakes)).values()} >= {"last.yml"}
        assert [str(each.what.key) for each in halt.waiting] == ["clarify-1"] * 3
        while halt.waiting:
            asked = halt.waiting[0]
            answer = Answered(key=asked.what.key, choice="answer", text="The first.", by="ann")
            await hear(fakes.store, fakes.loops, asked.loop, answer, fakes.recorder)
            halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.VERIFIED

    asyncio.run(story())
