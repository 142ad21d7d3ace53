import fcntl
import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.task_list import TaskList, TasksFound, task_folder
from loopwright.adapters.task_lock import Patience, holding
from loopwright.errors import ConfigError, TaskListLocked, UsageError
from loopwright.loops.task_file import TaskFile, TaskMetadata, merged, task_file_text
from tests.adapters.task_writers import OtherProgram

RECORDED = Path(__file__).parent / "claude_tasks"
SOON = 0.05  # seconds


def task(number: int, **changes: object) -> TaskFile:
    metadata = TaskMetadata(wave=1, loop_id="auth", verification="execution output", stuck_count=0)
    made = TaskFile(number=number, subject=f"Task {number}", description="Verify: true", metadata=metadata)
    return replace(made, **changes)  # type: ignore[arg-type]  # whichever fields


def content(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted(folder.iterdir())}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tasks"


@pytest.fixture
def other(folder: Path) -> OtherProgram:
    folder.mkdir()
    return OtherProgram(folder)


# Where they lie


def test_the_folder_is_the_loops_own_unless_a_list_is_named(tmp_path: Path) -> None:
    own, home = tmp_path / ".loop" / "tasks", tmp_path / "home"
    assert task_folder(own, "", home) == own
    assert task_folder(own, "my-loop_1", home) == home / "tasks" / "my-loop_1"
    assert task_folder(own, "my.loop", home) == home / "tasks" / "my-loop"


@pytest.mark.parametrize("name", [".", "..", "a/b", "../a", "a b", "a\n", "é", "x" * 101, "a\0"])
def test_an_id_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="give it letters, digits, dots, dashes and underscores, at most 100"):
        task_folder(tmp_path, name, tmp_path)


# Alone


def test_tasks_are_written_and_found_again(folder: Path) -> None:
    tasks = TaskList(folder)
    assert tasks.look() == TasksFound()
    put = tasks.put([task(1, blocks=(2,)), task(2, blocked_by=(1,))])
    written = (merged(None, task(1, blocks=(2,))), merged(None, task(2, blocked_by=(1,))))
    assert put == TasksFound(tasks=written)
    assert tasks.look() == TaskList(folder).look() == TasksFound(tasks=written)
    assert content(folder) == {
        ".highwatermark": "2",
        ".lock": "",
        "1.json": task_file_text(written[0]),
        "2.json": task_file_text(written[1]),
    }
    assert stat.S_IMODE((folder / "1.json").stat().st_mode) == 0o644


def test_what_stands_there_already_is_not_written_again(folder: Path) -> None:
    tasks = TaskList(folder)
    tasks.put([task(1)])
    before = (folder / "1.json").stat()
    tasks.put([task(1)])
    assert (folder / "1.json").stat() == before
    tasks.put([task(1, status="completed")])
    assert (folder / "1.json").stat().st_ino != before.st_ino


def test_a_file_that_its_owner_made_private_stays_so(folder: Path) -> None:
    tasks = TaskList(folder)
    tasks.put([task(1)])
    (folder / "1.json").chmod(0o600)
    tasks.put([task(1, status="completed")])
    assert stat.S_IMODE((folder / "1.json").stat().st_mode) == 0o600


def test_what_a_dead_process_of_ours_left_half_written_is_removed(folder: Path) -> None:
    folder.mkdir()
    (folder / ".task-abc.new").write_text("{")
    TaskList(folder).put([])
    assert content(folder) == {".lock": ""}


# Numbers


def test_numbers_of_others_are_not_given_again(folder: Path, other: OtherProgram) -> None:
    assert [other.create("a"), other.create("b"), other.create("c")] == [1, 2, 3]
    other.remove(3)
    assert other.create("d") == 4
    (folder / "12abc.json").write_text("")
    TaskList(folder).put([])
    assert (folder / ".highwatermark").read_text() == "12"


def test_a_highest_number_that_is_none_counts_for_nothing(folder: Path) -> None:
    folder.mkdir()
    (folder / ".highwatermark").write_text("many")
    TaskList(folder).put([task(1)])
    assert (folder / ".highwatermark").read_text() == "1"


# Others


@pytest.mark.parametrize(("version", "numbers"), [("2.1.197", [1, 2, 3, 5]), ("2.1.325", [7, 8])])
def test_a_list_that_claude_code_wrote_is_taken_as_it_is(folder: Path, version: str, numbers: list[int]) -> None:
    shutil.copytree(RECORDED / version, folder)
    before = content(folder)
    tasks = TaskList(folder)
    found = tasks.look()
    assert [each.number for each in found.tasks] == numbers
    assert found.left == ()
    tasks.put([task(20)])
    assert {name: text for name, text in content(folder).items() if name in before and name != ".highwatermark"} == {
        name: text for name, text in before.items() if name != ".highwatermark"
    }


def test_a_status_that_another_wrote_is_written_over_and_its_owner_stays(folder: Path, other: OtherProgram) -> None:
    TaskList(folder).put([task(1), task(2, status="completed"), task(3)])
    other.update(1, status="completed")
    other.update(2, status="pending")
    other.update(3, status="in_progress", owner="agent-a")
    found = TaskList(folder).put([task(1), task(2, status="completed"), task(3)])
    assert [each.status for each in found.tasks] == ["pending", "completed", "pending"]
    assert (found.tasks[2].owner, found.left) == ("agent-a", ())


def test_all_that_others_put_there_stays_for_as_long_as_we_write(folder: Path, other: OtherProgram) -> None:
    tasks = TaskList(folder)
    tasks.put([task(1, blocks=(2,)), task(2, blocked_by=(1,))])
    data = other.read(1)
    data |= {"colour": "red", "owner": "agent-a", "blocks": ["2", "7"]}
    data["metadata"]["mood"] = "sunny"
    (folder / "1.json").write_text(json.dumps(data))
    for status in ("in_progress", "completed", "pending"):
        tasks.put([task(1, status=status)])
    now = json.loads((folder / "1.json").read_text())
    kept = {"metadata": {**data["metadata"], "loopStatus": "pending"}, "blocks": ["7"]}
    assert now == {**data, **kept}


def test_a_task_that_another_removed_is_made_again(folder: Path, other: OtherProgram) -> None:
    tasks = TaskList(folder)
    tasks.put([task(1), task(2)])
    other.remove(2)
    assert tasks.put([task(2)]) == TasksFound(tasks=(merged(None, task(2)),))


def test_what_a_loop_leaves_undone_is_gone_and_its_number_is_not_given_again(folder: Path) -> None:
    tasks, mine = TaskList(folder), [task(1, status="in_progress", blocks=(2,)), task(2, blocked_by=(1,))]
    tasks.put([*mine, task(3, status="completed")])
    assert TaskList(folder).withdraw(mine) == tasks.withdraw(mine) == TasksFound()
    assert list(content(folder)) == [".highwatermark", ".lock", "3.json"]
    assert (folder / ".highwatermark").read_text() == "3"


@pytest.mark.parametrize(
    "said",
    [
        {"owner": "agent-a"},
        {"status": "pending"},
        {"description": "Theirs"},
        {"colour": "red"},
        {"blocks": ["9"]},
        {"blockedBy": ["2", "9"]},
    ],
)
def test_what_another_has_a_part_in_stays_without_a_word_of_the_loop(
    folder: Path, other: OtherProgram, said: dict[str, object]
) -> None:
    tasks, mine = TaskList(folder), [task(1, status="in_progress", blocked_by=(2,)), task(2, blocks=(1,))]
    tasks.put(mine)
    data = other.read(1) | said
    (folder / "1.json").write_text(json.dumps(data))
    tasks.withdraw(mine)
    noted = {name: value for name, value in data["metadata"].items() if name not in ("loopId", "loopStatus")}
    blockers = [number for number in data["blockedBy"] if number != "2"]
    now = json.loads((folder / "1.json").read_text())
    assert now == {**data, "status": "pending", "metadata": noted, "blockedBy": blockers}
    assert "2.json" not in content(folder)


def test_what_was_there_before_the_loop_stays_and_what_is_anothers_is_not_looked_at(
    folder: Path, other: OtherProgram
) -> None:
    for name in ("theirs", "taken over", "done by them"):
        other.create(name)
    tasks = TaskList(folder, taken=frozenset((2,)))
    tasks.put([task(2, status="in_progress"), task(4)])
    (folder / "4.json").write_text(json.dumps(other.read(4) | {"status": "completed"}))
    before = content(folder)
    assert tasks.withdraw([task(1), task(2), task(4), task(5)]) == TasksFound()
    assert {**content(folder), "2.json": before["2.json"]} == before
    assert (other.read(2)["status"], "loopId" in other.read(2)["metadata"]) == ("pending", False)


def test_a_number_that_is_anothers_is_left_alone(folder: Path, other: OtherProgram) -> None:
    other.create("theirs")
    before = content(folder)["1.json"]
    assert TaskList(folder).put([task(1)]) == TasksFound(
        left=(f"{folder / '1.json'}: is another's task, which has the number of T-001; it is left as it is",)
    )
    assert content(folder)["1.json"] == before


def test_files_that_cannot_be_read_are_told_and_left(folder: Path) -> None:
    folder.mkdir()
    texts = {"1.json": "", "2.json": task_file_text(task(3)), "notes.json": "[]", "4.json": "\0", "5.txt": "x"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "6.json").write_bytes(b"\xff")
    (folder / "7.json").write_text(" " * (1 << 20 | 1))
    says = [
        "1.json: is not JSON that can be read: Expecting value: line 1 column 1 (char 0)",
        "2.json: id: the task says that it is 3",
        "4.json: is not JSON that can be read: Expecting value: line 1 column 1 (char 0)",
        "6.json:1: is not UTF-8 text",
        "7.json: is larger than 1024 KiB",
        "notes.json: expected a task as a table of keys, found a list",
    ]
    left = tuple(f"{folder}/{each}; it is left as it is" for each in says)
    assert TaskList(folder).look() == TasksFound(left=left)
    assert TaskList(folder).put([task(1), task(6)]).left == (left[0], left[3])
    assert {name: (folder / name).read_text() for name in texts} == texts


def test_half_a_file_is_read_again_when_its_writer_is_done(folder: Path, other: OtherProgram) -> None:
    """Claude Code makes a file under the lock of the list, and changes one under its own."""
    whole = task_file_text(merged(None, task(1)))
    for lock in (".lock", "1.json"):
        (folder / ".lock").unlink(missing_ok=True)
        with other.locked(lock):
            other.write("1.json", whole[:40])
            found: list[TasksFound] = []
            looking = threading.Thread(target=lambda found=found: found.append(TaskList(folder).look()))
            looking.start()
            while not (folder / ".lock").exists():
                os.sched_yield()
            other.write("1.json", whole)
        looking.join()
        assert found == [TasksFound(tasks=(merged(None, task(1)),))]


# Traps


def link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "victim")


@pytest.mark.parametrize("trap", [link, Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_neither_followed_nor_waited_for(folder: Path, trap: Callable[[Path], None]) -> None:
    victim = folder.parent / "victim"
    victim.write_text(task_file_text(merged(None, task(1))))
    folder.mkdir()
    trap(folder / "1.json")
    left = TaskList(folder).look().left
    assert len(left) == 1
    assert left == TaskList(folder).put([task(1), task(2)]).left
    assert victim.read_text() == task_file_text(merged(None, task(1)))
    assert [each.number for each in TaskList(folder).look().tasks] == [2]


@pytest.mark.parametrize("name", [".lock", ".lock.lock", ".highwatermark", "."])
@pytest.mark.parametrize("trap", [link, os.mkfifo, Path.mkdir])
def test_a_trap_in_the_place_of_what_is_needed_is_refused(
    folder: Path, name: str, trap: Callable[[Path], None]
) -> None:
    victim = folder.parent / "victim"
    victim.mkdir()
    if name != ".":
        folder.mkdir()
    if trap is Path.mkdir and name in (".lock.lock", "."):
        return  # as it has to be
    trap(folder / name)
    with pytest.raises(ConfigError, match=r"remove it|is a link|is not a|cannot be"):
        TaskList(folder, SOON).put([task(1)])
    assert list(victim.iterdir()) == []
    assert name == "." or not (folder / "1.json").exists()


# Locks


@contextmanager
def flocked(folder: Path) -> Iterator[None]:
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def test_a_list_that_another_holds_is_not_written(folder: Path, other: OtherProgram) -> None:
    for hold in (other.locked(".lock"), flocked(folder)):
        with hold:
            began = time.monotonic()
            with pytest.raises(TaskListLocked, match="another program held this lock on the tasks for 0 s"):
                TaskList(folder, SOON).put([task(1)])
            assert time.monotonic() - began < 5
    assert content(folder) == {".lock": ""}
    assert TaskList(folder).put([task(1)]).left == ()


def test_a_task_that_another_holds_is_told_and_the_rest_written(folder: Path, other: OtherProgram) -> None:
    TaskList(folder).put([task(1), task(2)])
    with other.locked("1.json"):
        done = TaskList(folder, SOON).put([task(1, status="completed"), task(2, status="completed")])
    assert [each.number for each in done.tasks] == [2]
    assert len(done.left) == 1
    assert "1.json.lock: another program held this lock" in done.left[0]
    assert [each.status for each in TaskList(folder).look().tasks] == ["pending", "completed"]


def test_a_lock_that_its_holder_has_not_renewed_for_ten_seconds_is_taken(folder: Path) -> None:
    folder.mkdir()
    old = time.time() - 10.5
    for name in (".lock.lock", "1.json.lock"):
        (folder / name).mkdir()
        os.utime(folder / name, (old, old))
    assert TaskList(folder, 5).put([task(1)]).left == ()
    assert sorted(content(folder)) == [".highwatermark", ".lock", "1.json"]


def test_a_lock_of_ours_whose_process_is_dead_is_taken_at_once(folder: Path) -> None:
    folder.mkdir()
    for name in (".lock.lock", "1.json.lock"):
        (folder / name).mkdir(mode=0o500)
    assert TaskList(folder, 5).put([task(1)]).left == ()
    assert sorted(content(folder)) == [".highwatermark", ".lock", "1.json"]


def test_a_lock_that_another_took_from_us_stays_its_own(folder: Path) -> None:
    folder.mkdir()
    with holding(folder / "1.json", Patience(SOON)):
        (folder / "1.json.lock").rmdir()
        (folder / "1.json.lock").mkdir()
    assert (folder / "1.json.lock").is_dir()


def test_an_old_lock_that_is_not_empty_is_told(folder: Path) -> None:
    folder.mkdir()
    (folder / ".lock.lock").mkdir()
    (folder / ".lock.lock" / "x").touch()
    os.utime(folder / ".lock.lock", (1, 1))
    with pytest.raises(ConfigError, match="is a lock with something in it; remove it"):
        TaskList(folder).put([task(1)])


def test_one_who_takes_no_lock_sees_no_half_file_and_leaves_none(folder: Path) -> None:
    """It changes the file as an editor does: its word may come to nothing, but nothing is torn."""
    tasks = TaskList(folder)
    tasks.put([task(1)])
    ended = threading.Event()
    torn: list[str] = []

    def edit() -> None:
        while not ended.is_set():
            text = (folder / "1.json").read_text()
            try:
                data = json.loads(text)
            except ValueError:
                torn.append(text)
                return
            (folder / "edited").write_text(json.dumps({**data, "owner": "agent-a"}))
            (folder / "edited").replace(folder / "1.json")

    editor = threading.Thread(target=edit)
    editor.start()
    for turn in range(50):
        tasks.put([task(1, subject=f"Turn {turn}")])
    ended.set()
    editor.join()
    assert (torn, TaskList(folder).look().left) == ([], ())
