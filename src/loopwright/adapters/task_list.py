"""A folder of task files that other programs write at the same time: read strictly, changed under their locks.

A file is read again before it is written, and holds afterwards what another put there and ours; it is written beside
its place and moved there, so that nobody sees half of it. Before that it is compared with what was read, and if another
who takes no lock has changed it, everything is done anew. What remains: such a writer is not heard if it writes between
that look and the move, some microseconds, or into a file that it had open before. Whoever takes the lock never is lost.

Claude Code writes in place. Whoever reads without its lock may see half a file, so that one that cannot be read is read
once more under the lock. `.highwatermark`, the largest number that was given, it writes only when it removes a task; it
gives the number after the largest of that and of the names in the folder, and so do we.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import Sight, put_if_free, replace_unchanged, sight_of, sync
from loopwright.adapters.task_lock import LOCK, Patience, alone_among_ours, holding
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError, TaskListLocked, UsageError
from loopwright.loops.task_file import (
    LARGEST_NUMBER,
    TaskFile,
    is_same_task,
    is_untouched,
    merged,
    name_of,
    read_task_file,
    released,
    task_file_text,
)

HIGHEST = ".highwatermark"
PATIENCE = 12.0  # seconds: a lock that somebody died with is free after 10, or 11 where it was dated ahead
_LARGEST = 1 << 20  # bytes of a file
_TRIES = 20
_NUMBERED = re.compile(r"([0-9]+).*\.json", re.DOTALL)
_NEW, _NEW_END = ".task-", ".new"  # Claude Code takes what ends in `.json` for a task
_LIST_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksFound:
    """`left`: a sentence for each file that was left as it is."""

    tasks: tuple[TaskFile, ...] = ()
    left: tuple[str, ...] = ()


def task_folder(own: Path, list_id: str, config: Path) -> Path:
    """Where the tasks of a loop lie: in its own folder, or where Claude Code has the list of this id.

    Claude Code writes `-` for the dots of an id. Raises `UsageError` for what is no id.
    """
    if not list_id:
        return own
    if not _LIST_ID.fullmatch(list_id):
        rule = "letters, digits, dots, dashes and underscores, at most 100"
        raise UsageError(f"the task list id {list_id[:100]!r} cannot be taken: give it {rule}")
    return config / "tasks" / list_id.replace(".", "-")


class TaskList:
    """The tasks of one folder, as one loop writes them.

    Every method raises `OSError`, and `ConfigError` if something else is in the place of the folder or of a lock.
    """

    def __init__(self, folder: Path, patience: float = PATIENCE, taken: frozenset[int] = frozenset()) -> None:
        """`taken` are numbers of tasks that nobody's loop had, and that this one has taken over."""
        self._folder, self._patience, self._taken_over = folder, patience, taken
        self._said: dict[int, TaskFile] = {}  # what we wrote last: tasks that others made wait for each other stay

    def look(self) -> TasksFound:
        """All that is there. Nothing is changed."""
        self._refuse_links()
        held = {name: self._read(name) for name in self._names() if _is_meant(name)}
        if any(isinstance(each, str) for each in held.values()):
            held |= self._read_under_locks(name for name, each in held.items() if isinstance(each, str))
        tasks = sorted((each for each in held.values() if isinstance(each, TaskFile)), key=lambda task: task.number)
        unreadable = {name for name, each in held.items() if isinstance(each, str)}
        return TasksFound(tasks=tuple(tasks), left=tuple(str(held[name]) for name in sorted(unreadable)))

    def put(self, tasks: Iterable[TaskFile]) -> TasksFound:
        """Have the files say what the loop says. The answer has the tasks as they stand there now.

        A status that another wrote is written over; keys of another's own stay. Raises `TaskListLocked`; then nothing
        was written.
        """
        wanted = tuple(tasks)
        patience = Patience(self._patience)
        self._make()
        with alone_among_ours(self._folder, patience):
            self._sweep()
            missing = [task for task in wanted if not os.path.lexists(self._path(task.number))]
            self._create(missing, patience)
            done = [self._update(task, patience) for task in wanted]
            sync(self._folder)
        return TasksFound(
            tasks=tuple(task for each in done for task in each.tasks),
            left=tuple(sentence for each in done for sentence in each.left),
        )

    def withdraw(self, tasks: Iterable[TaskFile]) -> TasksFound:
        """What the loop leaves undone is nobody's to do: a file that only the loop ever wrote goes.

        One in which another has a part stays as that one's, and so does one that was there before the loop. Raises
        `TaskListLocked`; then a part of it may be left to do.
        """
        patience, left = Patience(self._patience), []
        self._make()
        with alone_among_ours(self._folder, patience), holding(self._folder / LOCK, patience):
            own = [(task, found) for task in tasks if (found := self._unfinished(task)) is not None]
            lone = {task.number for task, found in own if is_untouched(found, task)} - self._taken_over
            self._keep_highest(self._highest())
            for task, found in own:
                path = self._path(task.number)
                with holding(path, patience):
                    left += self._withdrawn(path, found, frozenset(lone))
            sync(self._folder)
        return TasksFound(left=tuple(left))

    # --- the folder

    def _refuse_links(self) -> None:
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(self._folder.lstat().st_mode):
                raise ConfigError(str(self._folder), "", "is not a folder; tasks are neither read nor written there")

    def _make(self) -> None:
        self._refuse_links()
        self._folder.mkdir(parents=True, exist_ok=True)

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))  # noqa: PTH208 - names only
        except FileNotFoundError:
            return []

    def _sweep(self) -> None:
        """What was left by ours that died while they wrote."""
        for name in self._names():
            if name.startswith(_NEW) and name.endswith(_NEW_END):
                (self._folder / name).unlink()

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"

    # --- reading

    def _read(self, name: str) -> TaskFile | str | None:
        """The task, or a sentence that says why it is left as it is. None: no such file."""
        try:
            return self._taken(name, self._text(name))
        except FileNotFoundError:
            return None
        except ConfigError as error:
            return f"{error}; it is left as it is"

    def _text(self, name: str) -> str:
        return read_plain_file(self._folder / name, str(self._folder / name), _LARGEST, follow=False)

    def _taken(self, name: str, text: str) -> TaskFile | str:
        found = read_task_file(text)
        if isinstance(found, TaskFile):
            if name == f"{found.number}.json":
                return found
            found = f"id: the task says that it is {found.number}"
        return f"{self._folder / name}: {found}; it is left as it is"

    def _read_under_locks(self, names: Iterable[str]) -> dict[str, TaskFile | str | None]:
        """Once more, for whoever makes or changes them may have been in the middle of it."""
        patience = Patience(self._patience)
        held: dict[str, TaskFile | str | None] = {}
        with suppress(TaskListLocked, ConfigError), alone_among_ours(self._folder, patience):
            for name in names:
                with holding(self._folder / LOCK, patience), holding(self._folder / name, patience):
                    held[name] = self._read(name)
        return held

    # --- writing

    def _create(self, tasks: list[TaskFile], patience: Patience) -> None:
        """One that another makes meanwhile is let be; what is there is updated afterwards."""
        if not tasks and self._highest() <= self._kept_highest():
            return
        with holding(self._folder / LOCK, patience):
            self._keep_highest(max([self._highest(), *(task.number for task in tasks)]))
            for task in tasks:
                with self._written(task_file_text(merged(None, task))) as new:
                    put_if_free(new, self._path(task.number))

    def _update(self, ours: TaskFile, patience: Patience) -> TasksFound:
        path = self._path(ours.number)
        try:
            with holding(path, patience):
                return self._updated(ours, path)
        except TaskListLocked as error:
            return TasksFound(left=(str(error),))

    def _updated(self, ours: TaskFile, path: Path) -> TasksFound:
        for _ in range(_TRIES):
            sight = sight_of(path, _LARGEST)
            found = self._read(path.name)
            if isinstance(found, str):
                return TasksFound(left=(found,))
            if found is None or sight is None:  # removed this very moment
                return TasksFound()
            is_free = found.number in self._taken_over and found.metadata.loop_status is None
            if not is_free and not is_same_task(found, ours):
                owner = f"another's task, which has the number of {name_of(ours.number)}"
                return TasksFound(left=(f"{path}: is {owner}; it is left as it is",))
            after = merged(found, ours, found if is_free else self._said.get(ours.number))
            if after == found or self._replaced(path, sight, after):
                self._said[ours.number] = ours
                return TasksFound(tasks=(after,))
        return TasksFound(left=(f"{path}: a program that takes no lock changes it all the time; it is left as it is",))

    def _unfinished(self, ours: TaskFile) -> TaskFile | None:
        """As it stands, if it is the loop's and to be done. What cannot be read was told when the loop put it there."""
        found = self._read(f"{ours.number}.json")
        if not isinstance(found, TaskFile) or found.status == "completed":
            return None
        return found if is_same_task(found, ours) else None

    def _withdrawn(self, path: Path, found: TaskFile, lone: frozenset[int]) -> list[str]:
        """A sentence, if it is not any more what was found."""
        sight = sight_of(path, _LARGEST)
        if sight is None or self._read(path.name) != found:
            return [f"{path}: was changed as its loop ended; it is left as it is"]
        if found.number in lone:
            path.unlink()
        elif not self._replaced(path, sight, released(found, lone)):
            return [f"{path}: was changed as its loop ended; it is left as it is"]
        self._said.pop(found.number, None)
        return []

    def _replaced(self, path: Path, sight: Sight, after: TaskFile) -> bool:
        """False: it is not any more what was seen."""
        with self._written(task_file_text(after)) as new:
            return replace_unchanged(path, sight, new)

    @contextmanager
    def _written(self, text: str) -> Iterator[Path]:
        """A file on the disk under a name that nobody looks for, gone afterwards unless it was moved."""
        handle, name = tempfile.mkstemp(prefix=_NEW, suffix=_NEW_END, dir=self._folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    # --- numbers

    def _highest(self) -> int:
        """The largest that anybody was given: what was removed is in the file, the rest are names."""
        names = (_NUMBERED.fullmatch(name) for name in self._names())
        return max([self._kept_highest(), *(_number(fits[1]) for fits in names if fits)])

    def _kept_highest(self) -> int:
        path = self._folder / HIGHEST
        try:
            digits = re.match(r"\s*([0-9]+)", read_plain_file(path, str(path), _LARGEST, follow=False))
        except FileNotFoundError:
            return 0
        return _number(digits[1]) if digits else 0

    def _keep_highest(self, number: int) -> None:
        if number > self._kept_highest():
            with self._written(str(number)) as new:
                new.replace(self._folder / HIGHEST)


def _is_meant(name: str) -> bool:
    """Whether it is a task to Claude Code, or would be if it were one."""
    return name.endswith(".json") and not name.startswith(".")


def _number(digits: str) -> int:
    return min(int(digits[:18]), LARGEST_NUMBER)
