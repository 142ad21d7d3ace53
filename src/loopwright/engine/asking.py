"""What stands before a person, or before those above: kept while it is the same, withdrawn when it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeVar

from loopwright.ports.dispatcher import Tell
from loopwright.ports.people import People, Reply, Waiting

T = TypeVar("T")


async def stopped(tasks: Iterable[asyncio.Future[T]]) -> list[T]:
    """Cancel, wait until all are over, and give what they had already produced."""
    under_way = list(tasks)
    for task in under_way:
        task.cancel()
    results = await asyncio.gather(*under_way, return_exceptions=True)
    return [result for result in results if not isinstance(result, BaseException)]


class Asking:
    """A root asks people; a child tells its parent what it waits for, and its parent's root asks."""

    def __init__(self, people: People, tell: Tell | None) -> None:
        self._people, self._tell = people, tell
        self._about: tuple[Waiting, ...] = ()
        self.tasks: list[asyncio.Future[Reply | None]] = []  # at most one

    async def ask(self, waiting: tuple[Waiting, ...]) -> None:
        if waiting == self._about:
            return
        await self.withdraw()
        self._about = waiting
        if self._tell is None:
            self.tasks = [asyncio.ensure_future(self._people.ask(waiting))]
        else:
            self._tell(waiting)

    def tell_at_work(self) -> None:
        """Those above hear at once that it no longer waits."""
        if self._tell is not None and self._about:
            self._about = ()
            self._tell(())

    async def withdraw(self) -> None:
        self.tell_at_work()
        await stopped(self.tasks)
        self.tasks, self._about = [], ()

    def replies(self) -> list[Reply | None]:
        """What was answered since, once. None: nobody is there."""
        if not any(task.done() for task in self.tasks):
            return []
        done, self.tasks, self._about = self.tasks, [], ()
        return [task.result() for task in done]
