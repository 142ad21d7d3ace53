import asyncio
import threading
from pathlib import Path

import pytest

from loopwright.adapters.agents.callable import CallableAgent, Function, Said
from loopwright.kernel.events import AgentFailed, AgentReported
from loopwright.kernel.model import AgentReport, Key, Usage
from loopwright.ports.agent import AgentAnswer
from loopwright.testing.clock import ManualClock
from tests.adapters.agents.agent_parts import Bench, nobody_looks

KEY = Key.parse("implement-1.1")


def answered(tmp_path: Path, function: Function, *, needs_verdict: bool = False) -> AgentAnswer:
    agent = CallableAgent(name="py", function=function, clock=ManualClock())
    return asyncio.run(agent.run(Bench(tmp_path).run(needs_verdict=needs_verdict), nobody_looks))


def test_a_function_gets_the_context_and_its_dict_is_the_result(tmp_path: Path) -> None:
    def work(context: dict[str, object]) -> Said:
        return {"status": "done", "summary": f"{context['task']} in {context['workspace']}", "usage": {"usd": 0.5}}

    summary = f"add a thing in {tmp_path / '.worktrees' / 'w'}"
    assert answered(tmp_path, work) == AgentReported(
        key=KEY, report=AgentReport(summary=summary, agent="py"), usage=Usage(usd=0.5)
    )


def test_a_coroutine_function_will_do(tmp_path: Path) -> None:
    async def work(context: dict[str, object]) -> Said:
        await asyncio.sleep(0)
        return AgentReport(summary=str(context["role"]))

    answer = answered(tmp_path, work)
    assert answer == AgentReported(key=KEY, report=AgentReport(summary="developer", agent="py"))


def test_nothing_returned_is_done(tmp_path: Path) -> None:
    answer = answered(tmp_path, lambda _: None)
    assert answer == AgentReported(key=KEY, report=AgentReport(summary="(no summary)", agent="py"))


def test_an_exception_is_a_crash(tmp_path: Path) -> None:
    def work(_: dict[str, object]) -> Said:
        raise ZeroDivisionError("by \x1b[31mzero")

    assert answered(tmp_path, work) == AgentFailed(
        key=KEY, reason="crashed", detail="ZeroDivisionError: by \\x1b[31mzero"
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"status": 1}, "$.status: expected one of done, blocked, needs_clarification, found the number 1"),
        ({"status": "done", "x": {1, 2}}, "$.x: set cannot be part of a result"),
        ({"status": "done"}, "$.verdict: missing, and this role must give one"),
        (None, "$.verdict: missing, and this role must give one"),
    ],
)
def test_a_bad_result_is_garbled(tmp_path: Path, said: Said, why: str) -> None:
    answer = answered(tmp_path, lambda _: said, needs_verdict=True)
    assert answer == AgentFailed(key=KEY, reason="garbled", detail=why)


def test_cancelling_waits_for_a_thread_that_cannot_be_ended(tmp_path: Path) -> None:
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()

    def work(_: dict[str, object]) -> Said:
        entered.set()
        leave.wait()
        left.set()
        return None

    async def cancelled() -> None:
        agent = CallableAgent(name="py", function=work, clock=ManualClock())
        task = asyncio.create_task(agent.run(Bench(tmp_path).run(), nobody_looks))
        await asyncio.to_thread(entered.wait)
        task.cancel()
        leave.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert left.is_set()

    asyncio.run(cancelled())


def test_no_function_waits_for_a_thread_that_another_has(tmp_path: Path) -> None:
    many = 40  # more than asyncio's own pool has on any machine
    all_here = threading.Barrier(many, timeout=20)

    def work(_: dict[str, object]) -> Said:
        all_here.wait()
        return None

    async def run() -> list[AgentAnswer]:
        agent = CallableAgent(name="py", function=work, clock=ManualClock())
        return await asyncio.gather(*(agent.run(Bench(tmp_path).run(), nobody_looks) for _ in range(many)))

    assert [type(answer) for answer in asyncio.run(run())] == [AgentReported] * many


def test_what_ran_in_a_dead_process_is_gone(tmp_path: Path) -> None:
    agent = CallableAgent(name="py", function=lambda _: None, clock=ManualClock(), usd=0.5)
    assert asyncio.run(agent.reconcile(Bench(tmp_path).run())) is None
    assert agent.reservation("developer") == 0.5
