"""Task lists that other programs write too: what our loops say is put there, and what others say is heard.

Nothing here decides: a task that somebody else calls done comes to the loop as what it is, somebody's word.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.task_list import SaidOfTask, TaskList, TasksFound, task_folder
from loopwright.app.lease import RENEWED_EVERY, give, take_back
from loopwright.engine.driver import drive
from loopwright.engine.fold import Opened
from loopwright.engine.world import Halt, World
from loopwright.errors import ConfigError, TaskListLocked
from loopwright.kernel.codec import encode
from loopwright.kernel.events import StateEdited
from loopwright.kernel.model import LoopId, Point
from loopwright.loops.kind import TaskListing
from loopwright.loops.task_file import TaskWord, name_of
from loopwright.ports.store import LoopRow, Store

_PATIENCE = 1.0  # seconds for a lock: a loop has other things to do, and puts it there with its next event
_EVERY = 1.0  # seconds between two looks
_VALUES = {TaskWord.COMPLETED: "completed", TaskWord.REOPENED: "pending"}
SOMEBODY = "the task list"


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
        self._renewed = 0.0
        self._lists: dict[LoopId, TaskList] = {}
        self._shifts: dict[LoopId, int] = {}
        self._last: dict[LoopId, TaskListing] = {}
        self._news: list[tuple[LoopId, StateEdited]] = []
        self._told: set[str] = set()
        self._stamps: dict[LoopId, object] = {}
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
        self._hear(loop, found)

    def _opened(self, loop: LoopId, listing: TaskListing) -> TaskList:
        folder = task_folder(self._place.root / listing.own, listing.list_id, self._place.config)
        if listing.passing:
            self._passing.append(tempfile.TemporaryDirectory(prefix="loop-tasks-"))
            folder = Path(self._passing[-1].name)
        self._lists[loop] = TaskList(folder, _PATIENCE, listing.taken)
        self._shifts[loop] = listing.shift
        return self._lists[loop]

    def _end(self, files: TaskList, listing: TaskListing) -> TasksFound:
        """What is undone holds nobody's session any more: the list is not the loop's alone."""
        undone = tuple(task for task in listing.tasks if task.status != "completed")
        found = files.put(task for task in listing.tasks if task not in undone)
        return replace(found, left=(*found.left, *files.withdraw(undone).left)) if undone else found

    def _hear(self, loop: LoopId, found: TasksFound) -> None:
        for sentence in found.left:
            self._tell(sentence)
        for each in found.said:
            self._news += [(loop, edit) for edit in self._edit(loop, each)]

    def _edit(self, loop: LoopId, said: SaidOfTask) -> tuple[StateEdited, ...]:
        value = _VALUES.get(said.word)
        number = said.number - self._shifts[loop]
        if said.word is not TaskWord.APPEARED:
            self._last.pop(loop, None)  # whatever the loop makes of it, its files are to say so again
        return (StateEdited(subject=name_of(number), value=value, by=SOMEBODY),) if value and number > 0 else ()

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
        self._renewed = self._place.now()
        for loop, list_id in self._leased.items():
            give(self._place.root, loop, list_id, self._place.session, self._renewed)

    def news(self) -> tuple[tuple[LoopId, StateEdited], ...]:
        """What others have said since it was last asked for."""
        if self._leased and self._place.now() - self._renewed > RENEWED_EVERY:
            self._lease()
        for loop, files in self._lists.items():
            stamp = files.stamp()
            if self._stamps.get(loop) == stamp and stamp:
                continue
            self._stamps[loop] = stamp
            try:
                self._hear(loop, files.look())
            except (OSError, ConfigError) as error:
                self._tell(str(error))
        found, self._news = tuple(self._news), []
        return found

    def close(self) -> None:
        for folder in self._passing:
            folder.cleanup()


def list_places(root: Path, environ: Mapping[str, str], now: Callable[[], float]) -> ListPlaces:
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    return ListPlaces(root=root, config=config_folder(environ), session=session, now=now)


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what is the person's own."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME", "/nonexistent")) / ".claude")


async def drive_and_listen(
    world: World,
    opened: Opened,
    lists: TaskLists | None,
    rows: tuple[LoopRow, ...] = (),
    upto: tuple[Point, ...] = (),
) -> Halt:
    """Drive the loop; what others write into its task list meanwhile is told to it. `upto` as in `drive`."""
    if lists is None:
        return await drive(world, opened, upto, rows)
    task = asyncio.create_task(_listen(lists, world.store))
    try:
        return await drive(world, opened, upto, rows)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        lists.close()


async def _listen(lists: TaskLists, store: Store) -> None:
    while True:
        for loop, edit in lists.news():
            await store.post(loop, type(edit).__name__, encode(edit))
        await asyncio.sleep(_EVERY)
