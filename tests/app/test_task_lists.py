"""Task lists that others write too: what a loop says is there, and what others write changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.app.task_lists import ListPlaces, TaskLists, list_places
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import TaskListing
from loopwright.loops.task_file import TaskFile, TaskMetadata

LOOP = LoopId("auth-1")


@dataclass
class Scene:
    root: Path
    heard: list[str] = field(default_factory=list)
    at: float = 1_700_000_000.0

    @property
    def config(self) -> Path:
        return self.root / "home" / ".claude"

    def lists(self) -> TaskLists:
        place = ListPlaces(root=self.root, config=self.config, session="s-1", now=lambda: self.at)
        return TaskLists(place, self.heard.append)

    @property
    def lease(self) -> dict[str, object] | None:
        file = self.root / ".loop" / "lease.json"
        return json.loads(file.read_text()) if file.exists() else None


def scene(root: Path) -> Scene:
    (root / ".loop").mkdir()
    return Scene(root=root)


def task(number: int, **given: object) -> TaskFile:
    made = TaskFile(number=number, subject=f"Do {number}", description="", metadata=TaskMetadata(loop_id=LOOP))
    return replace(made, **given)  # type: ignore[arg-type]  # its own fields


def listing(*tasks: TaskFile, **given: object) -> TaskListing:
    return replace(TaskListing(own=".loop/workflow/auth-1/tasks", tasks=tasks), **given)  # type: ignore[arg-type]


def say(folder: Path, number: int, status: str) -> None:
    file = folder / f"{number}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": status}))


def held(folder: Path) -> dict[str, str]:
    return {file.stem: json.loads(file.read_text())["status"] for file in sorted(folder.glob("*.json"))}


def test_without_a_list_the_tasks_lie_in_the_loops_own_folder(tmp_path: Path) -> None:
    here = scene(tmp_path)
    here.lists().put(LOOP, listing(task(1, status="completed"), task(2)))
    assert held(tmp_path / ".loop/workflow/auth-1/tasks") == {"1": "completed", "2": "pending"}
    assert here.lease is None


def test_a_task_that_another_marked_done_is_pending_again_at_the_next_put(tmp_path: Path) -> None:
    here, folder = scene(tmp_path), tmp_path / ".loop/workflow/auth-1/tasks"
    here.lists().put(LOOP, listing(task(1), task(2)))
    say(folder, 2, "completed")
    here.lists().put(LOOP, listing(task(1, status="completed"), task(2)))
    assert held(folder) == {"1": "completed", "2": "pending"}


def test_a_named_list_is_the_persons_and_the_stop_hook_gets_a_lease_for_it(tmp_path: Path) -> None:
    here = scene(tmp_path)
    lists = here.lists()
    lists.put(LOOP, listing(task(4), list_id="my-list", shift=3))
    folder = here.config / "tasks" / "my-list"
    assert held(folder) == {"4": "pending"}
    assert here.lease == {
        "version": 1,
        "loop": "auth-1",
        "list": "my-list",
        "session": "s-1",
        "expires": "2023-11-14T23:13:20Z",
        "holds": 0,
    }
    lists.put(LOOP, listing(task(4, status="completed"), list_id="my-list", shift=3, over=True))
    assert here.lease is None


def test_what_a_loop_leaves_undone_holds_nobody_who_has_the_list(tmp_path: Path) -> None:
    here = scene(tmp_path)
    folder = here.config / "tasks" / "my-list"
    done, undone = task(1, status="completed"), task(2, status="in_progress")
    lists = here.lists()
    lists.put(LOOP, listing(done, undone, list_id="my-list"))
    over = listing(done, undone, list_id="my-list", over=True)
    for each in (lists, lists, here.lists()):  # at its last events, and by whoever makes its files anew
        each.put(LOOP, over)
        assert (held(folder), here.lease, here.heard) == ({"1": "completed"}, None, [])


def test_a_list_of_the_loops_own_stays_as_it_ended(tmp_path: Path) -> None:
    here = scene(tmp_path)
    here.lists().put(LOOP, listing(task(1, status="in_progress"), over=True))
    assert held(tmp_path / ".loop/workflow/auth-1/tasks") == {"1": "in_progress"}


def test_a_lease_is_renewed_while_the_loop_is_driven_and_keeps_whom_a_hook_bound(tmp_path: Path) -> None:
    here = scene(tmp_path)
    lists = here.lists()
    lists.put(LOOP, listing(task(1), list_id="my-list"))
    file = tmp_path / ".loop" / "lease.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "session": "s-2", "holds": 3}))
    here.at += 601
    lists.renew_leases()
    renewed = here.lease or {}
    assert (renewed["session"], renewed["holds"], renewed["expires"]) == ("s-2", 3, "2023-11-14T23:23:21Z")


def test_the_end_of_a_loop_leaves_the_lease_of_another(tmp_path: Path) -> None:
    here = scene(tmp_path)
    here.lists().put(LoopId("other"), listing(task(1, metadata=TaskMetadata(loop_id="other")), list_id="their-list"))
    here.lists().put(LOOP, listing(task(1), list_id="my-list", over=True))
    assert (here.lease or {})["loop"] == "other"


def test_a_lease_that_is_none_is_replaced(tmp_path: Path) -> None:
    here = scene(tmp_path)
    for text in ("[]", "{", '{"loop": "auth-1", "list": "my-list", "session": 7, "holds": "x"}'):
        (tmp_path / ".loop" / "lease.json").write_text(text)
        here.lists().put(LOOP, listing(task(1), list_id="my-list"))
        assert (here.lease or {})["session"] == "s-1"


def test_tasks_of_a_passing_list_are_gone_with_whoever_drives_it(tmp_path: Path) -> None:
    here = scene(tmp_path)
    lists = here.lists()
    lists.put(LOOP, listing(task(1), passing=True))
    assert not (tmp_path / ".loop/workflow").exists()
    lists.close()


def test_a_task_that_was_there_before_is_taken_over(tmp_path: Path) -> None:
    here = scene(tmp_path)
    folder = here.config / "tasks" / "my-list"
    folder.mkdir(parents=True)
    foreign = {"id": "2", "subject": "Do 2", "description": "", "status": "pending", "blocks": [], "blockedBy": []}
    (folder / "2.json").write_text(json.dumps(foreign))
    here.lists().put(LOOP, listing(task(2, status="completed"), list_id="my-list", taken=frozenset((2,))))
    assert held(folder) == {"2": "completed"}


def test_a_task_of_a_loop_of_another_tool_is_taken_over_and_one_of_another_of_ours_is_not(tmp_path: Path) -> None:
    here = scene(tmp_path)
    folder = here.config / "tasks" / "my-list"
    folder.mkdir(parents=True)
    foreign = {"subject": "Do", "description": "", "status": "pending", "blocks": [], "blockedBy": []}
    for number, noted in (("1", {"loopId": "theirs"}), ("2", {"loopId": "other-1", "loopStatus": "pending"})):
        (folder / f"{number}.json").write_text(json.dumps({"id": number, **foreign, "metadata": noted}))
    done = (task(1, status="completed"), task(2, status="completed"))
    here.lists().put(LOOP, listing(*done, list_id="my-list", taken=frozenset((1, 2))))
    assert held(folder) == {"1": "completed", "2": "pending"}


def test_a_file_that_cannot_be_read_is_told_once_and_left(tmp_path: Path) -> None:
    here, folder = scene(tmp_path), tmp_path / ".loop/workflow/auth-1/tasks"
    lists = here.lists()
    lists.put(LOOP, listing(task(1)))
    (folder / "1.json").write_text("{")
    lists.put(LOOP, listing(task(1, status="in_progress")))
    lists.put(LOOP, listing(task(1, status="completed")))
    assert len(here.heard) == 1
    assert "1.json" in here.heard[0]
    assert (folder / "1.json").read_text() == "{"


def test_the_persons_environment_says_where_lists_are(tmp_path: Path) -> None:
    now = lambda: 1.0  # noqa: E731 - a clock
    own = list_places(tmp_path, {"HOME": "/home/me"}, now)
    assert (own.config, own.session) == (Path("/home/me/.claude"), "")
    moved = list_places(tmp_path, {"CLAUDE_CONFIG_DIR": "/conf", "CLAUDE_CODE_SESSION_ID": "s"}, now)
    assert (moved.config, moved.session) == (Path("/conf"), "s")
