"""Those who write a list of tasks at the same time: other programs as Claude Code does it, and loops of ours.

`python -m tests.adapters.task_writers FOLDER NOTES` lets ten of them loose on a folder, each a process, and kills two
of ours in the middle of it. Whatever a writer has finished it notes in `NOTES/<its name>`, one line of JSON each.
"""

import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopwright.adapters.task_list import TaskList
from loopwright.adapters.task_lock import Patience, alone_among_ours, holding
from loopwright.loops.task_file import TaskFile, TaskMetadata, TaskStatus

ROUNDS = 16
KNOWN = ("id", "subject", "description", "activeForm", "owner", "status", "blocks", "blockedBy", "metadata")


class Locked(Exception):
    """Another did not let go of a lock."""


class NotThere(Exception):
    """What cannot be read is no task to them."""


class OtherProgram:
    """Writes as Claude Code 2.1.325 was seen to: locks by `mkdir`, in place and without making the file empty first."""

    def __init__(self, folder: Path, patience: float = 2.7) -> None:
        self.folder, self.patience = folder, patience

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        lock, until = self.folder / f"{name}.lock", time.monotonic() + self.patience
        while True:
            try:
                lock.mkdir()
                break
            except FileExistsError:
                if time.monotonic() > until:
                    raise Locked(name) from None
                select.select([], [], [], 0.001)
        try:
            yield
        finally:
            lock.rmdir()

    def write(self, name: str, content: str) -> None:
        handle = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT, 0o666)
        os.write(handle, content.encode())
        os.ftruncate(handle, len(content.encode()))
        os.close(handle)

    def read(self, number: int) -> dict[str, Any]:
        """Raises `NotThere` also for one that another has only begun to make: that is done under another lock."""
        try:
            data = json.loads((self.folder / f"{number}.json").read_text())
        except ValueError as error:
            raise NotThere(number) from error
        return {name: data[name] for name in KNOWN if name in data}

    def highest(self) -> int:
        names = [int(file.stem) for file in self.folder.glob("*.json")]
        kept = self.folder / ".highwatermark"
        return max([0, *names, int(kept.read_text()) if kept.exists() else 0])

    def create(self, subject: str) -> int:
        (self.folder / ".lock").touch()
        with self.locked(".lock"):
            number = self.highest() + 1
            data = {"id": str(number), "subject": subject, "description": "", "status": "pending"}
            self.write(f"{number}.json", json.dumps({**data, "blocks": [], "blockedBy": []}, indent=2))
        return number

    def update(self, number: int, **changes: object) -> None:
        with self.locked(f"{number}.json"):
            self.write(f"{number}.json", json.dumps({**self.read(number), **changes}, indent=2))

    def count_up(self, number: int, key: str) -> None:
        with self.locked(f"{number}.json"):
            data = self.read(number)
            metadata = data.get("metadata", {})
            metadata[key] = metadata.get(key, 0) + 1
            self.write(f"{number}.json", json.dumps({**data, "metadata": metadata}, indent=2))

    def remove(self, number: int) -> None:
        self.write(".highwatermark", str(number))
        (self.folder / f"{number}.json").unlink()


# Ten at once

Note = Callable[[object], None]


def task_of(name: str, number: int, status: TaskStatus, stuck: int) -> TaskFile:
    metadata = TaskMetadata(wave=1, loop_id=name, verification="execution output", stuck_count=stuck)
    return TaskFile(number=number, subject=f"of {name}", description="", status=status, metadata=metadata)


def take_number(folder: Path) -> int:
    program = OtherProgram(folder)
    patience = Patience(30)
    with alone_among_ours(folder, patience), holding(folder / ".lock", patience):
        number = program.highest() + 1
        program.write(".highwatermark", str(number))
    return number


def loop_of_ours(name: str, folder: Path, note: Note, rounds: int = ROUNDS) -> None:
    tasks = TaskList(folder)
    done: list[TaskFile] = []
    for turn in range(rounds):
        number = take_number(folder)
        note(["given", number])
        task = task_of(name, number, "pending", 0)
        for stuck, status in enumerate(("pending", "in_progress", "in_progress", "completed")):
            task = task_of(name, number, status, stuck)  # type: ignore[arg-type]  # the words of a tuple
            tasks.put((*done, task))
            note(["put", number, status, stuck])
        done.append(replace(task, subject=f"of {name}, {turn}"))
    tasks.put(done)
    note(["named", len(done)])


def loop_without_end(name: str, folder: Path, note: Note) -> None:
    loop_of_ours(name, folder, note, sys.maxsize)


def another_program(name: str, folder: Path, note: Note) -> None:
    program, chance = OtherProgram(folder, 30), random.Random(name)  # noqa: S311 - no secret
    impatient = OtherProgram(folder, 0.05)
    for _ in range(ROUNDS):
        number = program.create(f"of {name}")
        note(["given", number])
        program.update(number, status="in_progress", owner=name)
        for _ in range(4):
            chosen = chance.choice(sorted(folder.glob("*.json")))
            try:
                impatient.count_up(int(chosen.stem), name)
            except (Locked, NotThere):
                continue  # locked perhaps by one who is dead: others wait ten seconds for that
            note(["counted", int(chosen.stem)])
        program.update(number, status="completed")
        note(["put", number, "completed", None])


def started(work: Callable[[str, Path, Note], None], name: str, folder: Path, notes: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    file = os.open(notes / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(done: object) -> None:
        os.write(file, json.dumps(done).encode() + b"\n")

    try:
        work(name, folder, note)
    except BaseException as error:  # noqa: BLE001 - this process is at its end
        os.write(2, f"{name}: {error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def main(folder: Path, notes: Path) -> int:
    ours = {name: started(loop_of_ours, name, folder, notes) for name in ("ours-1", "ours-2", "ours-3")}
    doomed = {name: started(loop_without_end, name, folder, notes) for name in ("doomed-1", "doomed-2")}
    others = {f"other-{n}": started(another_program, f"other-{n}", folder, notes) for n in range(1, 6)}
    for finished, (name, pid) in zip((12, 30), doomed.items(), strict=True):
        while not (notes / name).exists() or (notes / name).read_bytes().count(b"\n") < finished:
            select.select([], [], [], 0.001)
        os.kill(pid, signal.SIGKILL)
    codes = {name: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for name, pid in (ours | doomed | others).items()}
    sys.stdout.write(json.dumps(codes))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
