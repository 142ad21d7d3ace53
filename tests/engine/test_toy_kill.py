"""A loop of a test's own is killed after every append and goes on to the same end."""

import asyncio
from contextlib import suppress
from typing import cast

import pytest

from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, GateDecided
from loopwright.kernel.model import AgentReport, Ending, Verdict
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.store import Store
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed
from tests.toys.haiku import HAIKU, HaikuParams


def poet(run: AgentRun) -> AgentAnswer:
    verdict = None if run.role == "creator" else Verdict.PASS if run.brief.attempt > 1 else Verdict.FAIL
    return AgentReported(key=run.key, report=AgentReport(verdict=verdict))


async def published(dies_at: int) -> tuple[Ending | None, list[str]]:
    fakes = Fakes(agent=poet, loops={"haiku": HAIKU})
    await fakes.create_loop("haiku", encode(HaikuParams(theme="a frog", base=BASE)))
    with suppress(Killed):
        await fakes.drive(cast(Store, DyingStore(fakes.store, dies_at)))
    halt = await fakes.drive()
    for waiting in halt.waiting:
        gate = waiting.what
        said = GateDecided(key=gate.key, gate="taste", approved=True, evidence=getattr(gate, "evidence", ""))
        await fakes.store.post(LOOP, "GateDecided", encode(said))
        halt = await fakes.drive()
    kinds = [record.kind for record in await fakes.store.read(LOOP)]
    return halt.outcome.ending if halt.outcome else None, [
        kind for kind in kinds if kind not in ("Started", "Interrupted")
    ]


WHOLE = asyncio.run(published(1_000))


@pytest.mark.parametrize("dies_at", range(1, 12))
def test_killed_after_an_append_it_goes_on_to_the_same_end(dies_at: int) -> None:
    assert asyncio.run(published(dies_at)) == WHOLE
    assert WHOLE[0] is Ending.VERIFIED
