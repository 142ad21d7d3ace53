"""What the contracts of the store are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from loopwright.kernel.model import LoopId
from loopwright.ports.store import NewEvent, NewLoop, Store

Opened = Callable[[], Awaitable[Store]]  # one more handle on the same data
Fresh = Callable[[], AbstractAsyncContextManager[Opened]]  # data that was never used; closes its handles at the end
Contract = Callable[[Fresh], Coroutine[None, None, None]]

Raised = TypeVar("Raised", bound=Exception)

LOOP = LoopId("l-1")


async def raised(kind: type[Raised], doing: Awaitable[object]) -> Raised:
    """What the call raised; it is an error if it did not."""
    try:
        await doing
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


async def begin(
    store: Store, loop: LoopId = LOOP, *, parent: LoopId | None = None, budget: float | None = None, who: str = "test"
) -> int:
    """A new loop, claimed."""
    new = NewLoop(id=loop, kind="sample", params="{}", parent=parent, budget=budget)
    assert await store.create(new, NewEvent(kind="Created", data="{}"))
    return await store.claim(loop, who)


def entries(count: int) -> tuple[NewEvent, ...]:
    return tuple(NewEvent(kind="Happened", data=f'{{"n":{n}}}') for n in range(count))
