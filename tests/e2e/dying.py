"""A controller that kills itself: `python -m tests.e2e.dying ROOT N before|after`, N being the append it dies at."""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loopwright.adapters.people.nobody import Nobody
from loopwright.adapters.publishing import Publisher
from loopwright.assembly import FeedbackRequest, build_world, create_feedback, open_project, settings_of
from loopwright.engine.driver import drive
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Batch, Store


@dataclass(slots=True)
class DyingStore:
    """The real store, under a controller that dies at one append: just before or just after it is durable."""

    store: Store
    at: int
    when: str
    count: int = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        return getattr(self.store, name)

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Batch) -> int:
        self.count += 1
        if (self.count, self.when) == (self.at, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        length = await self.store.append(loop, fence=fence, expected=expected, batch=batch)
        if (self.count, self.when) == (self.at, "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return length


async def main(root: Path, at: int, when: str) -> None:
    whole = open_project(root, dict(os.environ))
    store = DyingStore(whole.store, at, when)
    project = replace(whole, store=store)
    loop = await create_feedback(project, settings_of(project), FeedbackRequest(task="Add add()", merge=True))
    publisher = Publisher(root, sys.exit, project.clock.now)
    world = await build_world(project, loop, people=Nobody(), observer=publisher)
    await drive(world, loop)
    await store.close()
    sys.stdout.write(str(store.count))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
