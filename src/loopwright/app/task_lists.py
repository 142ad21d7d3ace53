"""Task lists that other programs read and write too: our loops put theirs there, and take nothing from them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.task_list import TaskList, TasksFound, task_folder
from loopwright.app.lease import RENEWED_EVERY, give, take_back
from loopwright.engine.driver import drive
from loopwright.engine.fold import Opened
from loopwright.engine.world import Halt, World
from loopwright.errors import TaskListLocked
from loopwright.kernel.model import LoopId, Point
from loopwright.loops.kind import TaskListing
from loopwright.ports.store import LoopRow

_PATIENCE = 1.0  # seconds for a lock: a loop has other things to do, and puts it there with its next event


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlaces:
    """Where lists are, and whose session it is."""

    root: Path
    config: Path  # of Claude Code
    session: str = ""  # of Claude Code, where the loop was started from one
    now: Callable[[], float]


class TaskLists:
    """Of all loops that one controller drives."""

    def __init__(self, place: ListPlaces, failed: Callable[[str], None]) -> None:
        self._place, self._failed = place, failed
        self._leased: dict[LoopId, str] = {}
        self._lists: dict[LoopId, TaskList] = {}
        self._last: dict[LoopId, TaskListing] = {}
        self._told: set[str] = set()
        self._passing: list[tempfile.TemporaryDirectory[str]] = []

    def put(self, loop: LoopId, listing: TaskListing) -> None:
        """What the loop says of its tasks, as far as it is new. Raises `OSError` and `ConfigError`."""
        self._keep_lease(loop, listing)
        if self._last.get(loop) == listing:
            return
        files = self._lists.get(loop) or self._opened(loop, listing)
        try:
            found = self._end(files, listing) if listing.over and listing.list_id else files.put(listing.tasks)
        except TaskListLocked as error:
            self._tell(str(error))
            return
        self._last[loop] = listing
        for sentence in found.left:
            self._tell(sentence)

    def _opened(self, loop: LoopId, listing: TaskListing) -> TaskList:
        folder = task_folder(self._place.root / listing.own, listing.list_id, self._place.config)
        if listing.passing:
            self._passing.append(tempfile.TemporaryDirectory(prefix="loop-tasks-"))
            folder = Path(self._passing[-1].name)
        self._lists[loop] = TaskList(folder, _PATIENCE, listing.taken)
        return self._lists[loop]

    def _end(self, files: TaskList, listing: TaskListing) -> TasksFound:
        """What is undone holds nobody's session any more: the list is not the loop's alone."""
        undone = tuple(task for task in listing.tasks if task.status != "completed")
        found = files.put(task for task in listing.tasks if task not in undone)
        return replace(found, left=(*found.left, *files.withdraw(undone).left)) if undone else found

    def _tell(self, sentence: str) -> None:
        """Once: a file that cannot be read is met at every event."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._failed(sentence)

    def _keep_lease(self, loop: LoopId, listing: TaskListing) -> None:
        if listing.over and listing.list_id:
            self._leased.pop(loop, "")
            take_back(self._place.root, loop)
        elif listing.list_id and loop not in self._leased:
            self._leased[loop] = listing.list_id
            self._lease()

    def _lease(self) -> None:
        """A hook holds sessions for these lists as long as somebody drives the loops."""
        now = self._place.now()
        for loop, list_id in self._leased.items():
            give(self._place.root, loop, list_id, self._place.session, now)

    def renew_leases(self) -> None:
        if self._leased:
            self._lease()

    def close(self) -> None:
        for folder in self._passing:
            folder.cleanup()


def list_places(root: Path, environ: Mapping[str, str], now: Callable[[], float]) -> ListPlaces:
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    return ListPlaces(root=root, config=config_folder(environ), session=session, now=now)


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what is the person's own."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME", "/nonexistent")) / ".claude")


async def drive_with_lists(
    world: World,
    opened: Opened,
    lists: TaskLists | None,
    rows: tuple[LoopRow, ...] = (),
    upto: tuple[Point, ...] = (),
) -> Halt:
    """Drive the loop, and keep the leases of its task lists meanwhile. `upto` as in `drive`."""
    if lists is None:
        return await drive(world, opened, upto, rows)
    task = asyncio.create_task(_keep_leases(lists))
    try:
        return await drive(world, opened, upto, rows)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        lists.close()


async def _keep_leases(lists: TaskLists) -> None:
    while True:
        await asyncio.sleep(RENEWED_EVERY)
        lists.renew_leases()
