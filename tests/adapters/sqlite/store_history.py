"""A store with something of everything in it, and all that can be seen of a store."""

from pathlib import Path

from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent, NewLoop
from loopwright.testing.clock import ManualClock

ROOT, CHILD = LoopId("root"), LoopId("child")


async def write_history(path: Path) -> None:
    clock = ManualClock()
    store = SqliteStore.open(path, clock)
    await store.create(
        NewLoop(id=ROOT, kind="workflow", params='{"task":"ä"}', budget=5.0), NewEvent(kind="Created", data="{}")
    )
    await store.create(
        NewLoop(id=CHILD, kind="feedback", params="{}", parent=ROOT), NewEvent(kind="Created", data="{}")
    )
    fence = await store.claim(CHILD, "pid 1 on here since then")
    for seq in range(1, 9):
        clock.advance(1.5)
        money = NewEvent(
            kind="Started",
            data=f'{{"n":{seq},"text":"{"x" * 100}"}}',
            reserve=0.5,
            release=0.25,
            spend=0.125,
            estimated=True,
        )
        await store.append(CHILD, fence=fence, expected=seq, batch=Append(entries=(money,)))
    item = await store.post(CHILD, "Answered", '{"choice":"a"}')
    batch = Append(entries=(NewEvent(kind="Answered", data="{}"),), taken=(item,), snapshot='{"phase":"review"}')
    await store.append(CHILD, fence=fence, expected=9, batch=batch)
    ended = Append(entries=(NewEvent(kind="Ended", data="{}"),), status="complete", outcome='{"ending":"verified"}')
    await store.append(CHILD, fence=fence, expected=10, batch=ended)
    await store.post(ROOT, "BudgetChanged", '{"usd":7}')
    await store.keep_receipt("tree/check", CHILD, '{"passed":true}')
    await store.keep(b"a transcript")
    await store.close()


async def everything(path: Path) -> list[object]:
    """Verified, then read whole."""
    store = SqliteStore.open(path, ManualClock())
    try:
        seen: list[object] = [await store.rows(), await store.receipt("tree/check")]
        for loop in (ROOT, CHILD):
            await store.verify(loop)
            seen += [
                await store.load(loop),
                await store.read(loop),
                await store.inbox(loop),
                await store.receipts(loop),
            ]
        return seen
    finally:
        await store.close()
