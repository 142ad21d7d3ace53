"""A controller that kills itself: `python -m tests.e2e.dying ROOT WHAT AT before|after`.

WHAT is what it drives. AT names the append it dies at: by its number, or as `signature#n`, the n-th append of that
signature; a signature is the kind of the loop and the kinds of the events. It prints the signatures it got through.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopwright.adapters.people.nobody import Nobody
from loopwright.adapters.publishing import Publisher
from loopwright.assembly.feedback import FeedbackRequest, create_feedback
from loopwright.assembly.project import Project, open_project, settings_of
from loopwright.assembly.reviews import ReviewRequest, create_review
from loopwright.assembly.running import build_world
from loopwright.engine.driver import drive
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Batch, Store


@dataclass(slots=True)
class DyingStore:
    """The real store, under a controller that dies at one append: just before or just after it is durable."""

    store: Store
    at: str
    when: str
    seen: list[str] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        return getattr(self.store, name)

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Batch) -> int:
        row = (await self.store.load(loop)).row
        signature = f"{row.kind}:{'+'.join(entry.kind for entry in batch.entries)}"
        self.seen.append(signature)
        self.times[signature] += 1
        meant = self.at in (str(len(self.seen)), f"{signature}#{self.times[signature]}")
        if meant and self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        length = await self.store.append(loop, fence=fence, expected=expected, batch=batch)
        if meant and self.when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return length


async def main(root: Path, what: str, at: str, when: str) -> None:
    whole = open_project(root, dict(os.environ))
    store = DyingStore(whole.store, at, when)
    project = replace(whole, store=store)
    loop = await chosen(project, what)
    publisher = Publisher(root, sys.exit, project.clock.now)
    world = await build_world(project, loop, people=Nobody(), observer=publisher)
    await drive(world, loop)
    await store.close()
    sys.stdout.write("\n".join(store.seen))


async def chosen(project: Project, what: str) -> LoopId:
    settings = settings_of(project)
    match what:
        case "feedback":
            return await create_feedback(project, settings, FeedbackRequest(task="Add add()", merge=True))
        case "review":
            one = ReviewRequest(paths=("stories/b.yml",), merge=True)
            return await create_review(project, settings, one, project.root)
        case "batch":
            many = ReviewRequest(paths=("stories",), batch=True, merge=True, max_attempts=2)
            return await create_review(project, settings, many, project.root)
        case _:  # what is there already goes on
            return next(row.id for row in await project.store.rows() if row.parent is None)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:5]))
