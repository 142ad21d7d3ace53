"""A controller that kills itself: a module for tests/forks.py, with ROOT WHAT AT before|after.

WHAT is what it drives. AT names the append it dies at: by its number, or as `signature#n`, the n-th append of that
signature; a signature is the kind of the loop and the kinds of the events; or as `step:NAME`, the first append with
which a step of that name begins. `create` is where the loop itself is put on
record, which is no append. It prints the signatures it got through.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.loops import View, view
from loopwright.app.project import Project, open_project
from loopwright.app.publication import publisher_of
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.app.starts.lifecycle.creation import SystemRequest, init_system
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.app.starts.review import ReviewRequest, create_review
from loopwright.app.starts.workflow.creation import WorkflowRequest, create_workflow
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive
from loopwright.engine.hearing import hear
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Answered, Started
from loopwright.kernel.model import Key, LoopId
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.ports.store import Append, NewEvent, NewLoop, Store, Written
from tests.e2e.ticketing import from_queue


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

    async def create(self, new: NewLoop, first: NewEvent) -> Written | None:
        self._die_here("before", meant=self.at == "create")
        made = await self.store.create(new, first)
        self._die_here("after", meant=self.at == "create")
        return made

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        row = (await self.store.load(loop)).row
        signature = f"{row.kind}:{'+'.join(entry.kind for entry in batch.entries)}"
        self.seen.append(signature)
        self.times[signature] += 1
        meant = self.at in (str(len(self.seen)), f"{signature}#{self.times[signature]}", *_begun(batch))
        self._die_here("before", meant=meant)
        written = await self.store.append(loop, fence=fence, expected=expected, batch=batch)
        self._die_here("after", meant=meant)
        return written

    def _die_here(self, when: str, *, meant: bool) -> None:
        if meant and self.when == when:
            os.kill(os.getpid(), signal.SIGKILL)


def _begun(batch: Append) -> list[str]:
    events = [decode(Started, entry.data) for entry in batch.entries if entry.kind == Started.__name__]
    return [f"step:{event.key.step}" for event in events]


async def live(root: Path, what: str, at: str, when: str) -> None:
    if notes := os.environ.get("NOTES"):
        (Path(notes) / "controller").write_text(str(os.getpid()))  # for a check that kills it, see deadly.py
    whole = open_project(root, dict(os.environ))
    store = DyingStore(whole.store, at, when)
    project = replace(whole, store=store)
    loop = await chosen(project, what)
    ready = await make_ready(project, loop, sys.exit)
    world = build_world(project, ready, people=Nobody(), observer=ready.publisher)
    await drive(world, ready.seen.opened)
    await store.close()
    sys.stdout.write("\n".join(store.seen))


async def chosen(project: Project, what: str) -> LoopId | View:
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
        case "tickets":
            return await from_queue(project, merge=True)
        case "last ticket":
            return await from_queue(project, merge=True, max=1)
        case "workflow":
            words = WorkflowRequest(request="Add every word to its file in src/, until all tests pass.", shape="tool")
            return await create_workflow(project, settings, words)
        case "system":
            return await one_system(project)
        case "continued":
            loop = await there(project)
            said = Answered(key=Key.parse("escalation-1"), choice="continue", count=1, by="a person")
            publisher = await publisher_of(project, sys.exit, await view(project, loop))
            await hear(project.store, project.loops, loop, said, publisher)
            return loop
        case _:
            return await there(project)


async def one_system(project: Project) -> LoopId | View:
    """The one that is under way, else the next that is ready."""
    for row in await project.store.rows():
        if row.kind == LIFECYCLE.name:
            return row.id
    asked = SystemRequest(domain=domain_of(project))
    return await init_system(project, settings_of(project), asked, sys.exit) or sys.exit("no system is ready")


async def there(project: Project) -> LoopId:
    """What is there already."""
    return next(row.id for row in await project.store.rows() if row.parent is None)


def main() -> None:
    root, what, at, when = sys.argv[1:]
    asyncio.run(live(Path(root), what, at, when))
