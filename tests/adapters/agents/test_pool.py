import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.agents.pool import AgentPool
from loopwright.errors import UsageError
from loopwright.kernel.events import AgentReported, AgentUnavailable
from loopwright.kernel.model import AgentReport, Usage
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import ScriptedAgent
from tests.adapters.agents.agent_parts import NOW, Bench, nobody_looks


def done(name: str, usd: float | None = 0.25) -> ScriptedAgent:
    def script(run: AgentRun) -> AgentAnswer:
        return AgentReported(key=run.key, report=AgentReport(agent=name), usage=Usage(usd=usd, seconds=1.0))

    return ScriptedAgent(script, usd=1.0)


def busy(until: float, usd: float | None = None, reserves: float = 2.0) -> ScriptedAgent:
    def script(run: AgentRun) -> AgentAnswer:
        return AgentUnavailable(key=run.key, until=until, usage=Usage(input_tokens=5, usd=usd, seconds=2.0))

    return ScriptedAgent(script, usd=reserves)


@pytest.fixture
def run(tmp_path: Path) -> AgentRun:
    return Bench(tmp_path).run()


def pool(*agents: ScriptedAgent, clock: ManualClock | None = None) -> AgentPool:
    return AgentPool(roles={"developer": agents}, clock=clock or ManualClock(NOW))


def test_the_first_agent_of_a_role_does_the_work(run: AgentRun) -> None:
    first, second = done("first"), done("second")
    answer = asyncio.run(pool(first, second).run(run, nobody_looks))
    assert answer == AgentReported(key=run.key, report=AgentReport(agent="first"), usage=Usage(usd=0.25, seconds=1.0))
    assert (first.runs, second.runs) == ([run], [])


def test_a_silent_agent_stays_silent(run: AgentRun) -> None:
    answer = asyncio.run(pool(done("first", usd=None)).run(run, nobody_looks))
    assert answer.usage.usd is None


def test_when_one_is_unavailable_the_next_goes_on_and_both_are_paid(run: AgentRun) -> None:
    second = done("second")
    answer = asyncio.run(pool(busy(NOW + 5), second).run(run, nobody_looks))
    assert answer == AgentReported(
        key=run.key,
        report=AgentReport(agent="second"),
        usage=Usage(input_tokens=5, usd=2.25, seconds=3.0, estimated=True),
    )
    assert second.runs == [run]


def test_when_all_are_unavailable_the_earliest_time_counts(run: AgentRun) -> None:
    answer = asyncio.run(pool(busy(NOW + 9, usd=0.5), busy(NOW + 5, usd=0.25)).run(run, nobody_looks))
    assert answer == AgentUnavailable(key=run.key, until=NOW + 5, usage=Usage(input_tokens=10, usd=0.75, seconds=4.0))


def test_an_unavailable_agent_is_left_alone_until_its_time(run: AgentRun) -> None:
    clock = ManualClock(NOW)
    first, second = busy(NOW + 5), done("second")
    both = pool(first, second, clock=clock)

    async def three_times() -> list[int]:
        counts = []
        for seconds in (0.0, 3.0, 2.0):
            clock.advance(seconds)
            await both.run(run, nobody_looks)
            counts.append(len(first.runs))
        return counts

    assert asyncio.run(three_times()) == [1, 1, 2]


def test_resting_agents_cost_nothing(run: AgentRun) -> None:
    alone = pool(busy(NOW + 5))

    async def twice() -> AgentAnswer:
        await alone.run(run, nobody_looks)
        return await alone.run(run, nobody_looks)

    assert asyncio.run(twice()) == AgentUnavailable(key=run.key, until=NOW + 5, usage=Usage(usd=0.0))


def test_the_dearest_agent_of_a_role_sets_the_reservation() -> None:
    assert pool(done("a"), busy(0, reserves=2.0)).reservation("developer") == 2.0


def test_a_role_nobody_plays_is_an_error_that_names_the_table(run: AgentRun) -> None:
    empty = AgentPool(roles={}, clock=ManualClock())
    with pytest.raises(UsageError, match=r'no agent plays the role "developer"; name one under \[roles\] in loop.toml'):
        asyncio.run(empty.run(run, nobody_looks))


def cast_of(usual: tuple[ScriptedAgent, ...], **others: ScriptedAgent) -> AgentPool:
    """The developers are known by number, besides others that play no role here."""
    known = {f"usual-{number}": agent for number, agent in enumerate(usual)} | others
    return AgentPool(roles={"developer": usual} if usual else {}, clock=ManualClock(NOW), known=known)


def who(answer: AgentAnswer) -> str:
    assert isinstance(answer, AgentReported)
    return answer.report.agent


def test_an_agent_that_the_run_names_plays_whatever_its_role_is(run: AgentRun) -> None:
    usual, other = done("usual"), done("other")
    everybody = cast_of((usual,), other=other)
    assert who(asyncio.run(everybody.run(replace(run, agent="other"), nobody_looks))) == "other"
    assert (usual.runs, [each.role for each in other.runs]) == ([], ["developer"])


def test_a_second_agent_of_a_role_goes_first_when_it_is_named_and_nobody_is_asked_twice(run: AgentRun) -> None:
    first, second = busy(NOW + 9), busy(NOW + 5)
    answer = asyncio.run(cast_of((first, second)).run(replace(run, agent="usual-1"), nobody_looks))
    assert isinstance(answer, AgentUnavailable)
    assert (len(first.runs), len(second.runs)) == (1, 1)


def test_when_the_named_agent_is_unavailable_the_role_goes_on_in_its_order(run: AgentRun) -> None:
    other, first, second = busy(NOW + 5, usd=0.5), done("first"), done("second")
    answer = asyncio.run(cast_of((first, second), other=other).run(replace(run, agent="other"), nobody_looks))
    assert (who(answer), answer.usage.usd, len(other.runs), second.runs) == ("first", 0.75, 1, [])


def test_a_name_nobody_has_leaves_the_usual_order(run: AgentRun) -> None:
    answer = asyncio.run(cast_of((done("first"), done("second"))).run(replace(run, agent="ghost"), nobody_looks))
    assert who(answer) == "first"


def test_a_named_agent_plays_even_a_role_that_nobody_has(run: AgentRun) -> None:
    assert who(asyncio.run(cast_of((), other=done("other")).run(replace(run, agent="other"), nobody_looks))) == "other"
    with pytest.raises(UsageError, match="no agent plays the role"):
        asyncio.run(cast_of((), other=done("other")).run(replace(run, agent="ghost"), nobody_looks))


def test_the_reservation_covers_the_named_agent_and_those_who_may_stand_in_for_it() -> None:
    everybody = cast_of((done("first"),), dear=busy(0, reserves=9.0), cheap=busy(0, reserves=0.1))
    names = ("", "dear", "cheap", "ghost")
    assert [everybody.reservation("developer", name) for name in names] == [1.0, 9.0, 1.0, 1.0]


class Remembering:
    """Found a finished run, or did not."""

    def __init__(self, answer: AgentAnswer | None) -> None:
        self.answer = answer

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.0

    async def run(self, run: AgentRun, watch: object) -> AgentAnswer:
        raise NotImplementedError

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return self.answer


def test_a_finished_run_of_any_agent_is_found_again(run: AgentRun) -> None:
    found = AgentReported(key=run.key, report=AgentReport(agent="second"))
    limited = AgentUnavailable(key=run.key, until=1.0)

    def reconciled(*answers: AgentAnswer | None) -> AgentAnswer | None:
        agents = tuple(Remembering(answer) for answer in answers)
        return asyncio.run(AgentPool(roles={"developer": agents}, clock=ManualClock()).reconcile(run))

    assert reconciled(None, found) == found
    assert reconciled(limited, found) == found
    assert reconciled(limited, None) is None


def test_a_finished_run_of_the_named_agent_is_found_again(run: AgentRun) -> None:
    found = AgentReported(key=run.key, report=AgentReport(agent="other"))
    known = {"other": Remembering(found)}
    everybody = AgentPool(roles={"developer": (Remembering(None),)}, clock=ManualClock(), known=known)
    assert asyncio.run(everybody.reconcile(replace(run, agent="other"))) == found
    assert asyncio.run(everybody.reconcile(run)) is None
