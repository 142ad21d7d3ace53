"""What every agent must do, as numbered contracts: run each against an agent made to behave so, see `CONTRACTS`.

    @pytest.mark.parametrize("contract", CONTRACTS)
    def test_my_agent(contract, tmp_path): asyncio.run(contract(my_maker, tmp_path))

`my_maker(behaviour)` returns an agent that does what the behaviour says, each time it is run:

- `done`      says done with the summary `did it`, and costs 0.25 USD
- `silent`    ends well and says nothing at all
- `writes`    writes `hello` to the file `note.txt` of its folder, and says done
- `fails`     judges `fail`, with one finding: `P1`, issue `bad`, `a.py` line 1
- `garbled`   gives a verdict that is none: `maybe`
- `crashes`   ends badly without a result
- `hangs`     never ends
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from loopwright.kernel.events import AgentFailed, AgentReported
from loopwright.kernel.model import AgentStatus, Brief, Key, LoopId, Severity, Verdict
from loopwright.ports.agent import Agent, AgentAnswer, AgentRun, Update

Behaviour = Literal["done", "silent", "writes", "fails", "garbled", "crashes", "hangs"]
Maker = Callable[[Behaviour], Agent]
Contract = Callable[[Maker, Path], Awaitable[None]]

KEY = Key("review", 1, tries=1)


def _run(folder: Path, *, needs_verdict: bool = False) -> AgentRun:
    return AgentRun(
        loop=LoopId("conformance"),
        kind="sample",
        key=KEY,
        step="conformance/1/review-1.1",
        role="reviewer" if needs_verdict else "developer",
        brief=Brief(task="do it", attempt=1, limit=3),
        folder=folder,
        needs_verdict=needs_verdict,
    )


def _unseen(_: Update) -> None:
    return None


async def _answer(make: Maker, behaviour: Behaviour, folder: Path, *, needs_verdict: bool = False) -> AgentAnswer:
    return await make(behaviour).run(_run(folder, needs_verdict=needs_verdict), _unseen)


async def c01_what_it_says_is_reported_with_its_key_cost_and_name(make: Maker, folder: Path) -> None:
    answer = await _answer(make, "done", folder)
    assert isinstance(answer, AgentReported)
    assert (answer.key, answer.report.status, answer.report.summary) == (KEY, AgentStatus.DONE, "did it")
    assert answer.usage.usd == 0.25
    assert answer.report.agent
    assert answer.usage.seconds >= 0


async def c02_a_maker_that_says_nothing_is_done(make: Maker, folder: Path) -> None:
    answer = await _answer(make, "silent", folder)
    assert isinstance(answer, AgentReported)
    assert (answer.report.status, answer.report.summary) == (AgentStatus.DONE, "(no summary)")


async def c03_a_judge_that_says_nothing_is_garbled(make: Maker, folder: Path) -> None:
    answer = await _answer(make, "silent", folder, needs_verdict=True)
    assert isinstance(answer, AgentFailed)
    assert (answer.key, answer.reason) == (KEY, "garbled")


async def c04_a_verdict_comes_with_findings_that_have_an_identity(make: Maker, folder: Path) -> None:
    await asyncio.to_thread((folder / "a.py").write_text, "x = 1\n")
    answer = await _answer(make, "fails", folder, needs_verdict=True)
    assert isinstance(answer, AgentReported)
    (finding,) = answer.report.findings
    assert answer.report.verdict is Verdict.FAIL
    assert (finding.severity, finding.issue, finding.file, finding.line) == (Severity.HIGH, "bad", "a.py", 1)
    await asyncio.to_thread((folder / "a.py").write_text, "something = 'else'\n")
    other = await _answer(make, "fails", folder, needs_verdict=True)
    assert isinstance(other, AgentReported)
    assert finding.fingerprint
    assert finding.fingerprint != other.report.findings[0].fingerprint


async def c05_a_result_that_cannot_be_read_names_its_place(make: Maker, folder: Path) -> None:
    answer = await _answer(make, "garbled", folder, needs_verdict=True)
    assert isinstance(answer, AgentFailed)
    assert answer.reason == "garbled"
    assert answer.detail.startswith("$.verdict: ")


async def c06_a_crash_is_an_answer(make: Maker, folder: Path) -> None:
    answer = await _answer(make, "crashes", folder)
    assert isinstance(answer, AgentFailed)
    assert (answer.key, answer.reason, bool(answer.detail)) == (KEY, "crashed", True)
    assert answer.usage.usd in (None, 0.0)


async def c07_it_works_in_its_folder(make: Maker, folder: Path) -> None:
    await _answer(make, "writes", folder)
    assert await asyncio.to_thread((folder / "note.txt").read_text) == "hello"


async def c08_a_cancelled_run_ends(make: Maker, folder: Path) -> None:
    task = asyncio.create_task(make("hangs").run(_run(folder), _unseen))
    await asyncio.sleep(0)
    task.cancel()
    (ended,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError)


async def c09_a_run_that_never_began_is_not_found_again(make: Maker, folder: Path) -> None:
    assert await make("done").reconcile(_run(folder)) is None


async def c10_a_reservation_is_an_amount(make: Maker, folder: Path) -> None:
    agent = make("done")
    assert agent.reservation("developer") >= 0
    assert agent.reservation("developer", "somebody nobody knows") == agent.reservation("developer")


async def c11_a_run_that_names_an_agent_nobody_knows_is_a_run_like_any_other(make: Maker, folder: Path) -> None:
    run = replace(_run(folder), agent="somebody nobody knows")
    answer = await make("done").run(run, _unseen)
    assert isinstance(answer, AgentReported)
    assert (answer.key, answer.report.summary) == (KEY, "did it")


CONTRACTS: tuple[Contract, ...] = (
    c01_what_it_says_is_reported_with_its_key_cost_and_name,
    c02_a_maker_that_says_nothing_is_done,
    c03_a_judge_that_says_nothing_is_garbled,
    c04_a_verdict_comes_with_findings_that_have_an_identity,
    c05_a_result_that_cannot_be_read_names_its_place,
    c06_a_crash_is_an_answer,
    c07_it_works_in_its_folder,
    c08_a_cancelled_run_ends,
    c09_a_run_that_never_began_is_not_found_again,
    c10_a_reservation_is_an_amount,
    c11_a_run_that_names_an_agent_nobody_knows_is_a_run_like_any_other,
)
