"""Where the tasks of a new workflow lie, and taking up a list that is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.app.project import open_project
from loopwright.app.starts.workflow.creation import WorkflowRequest
from loopwright.app.starts.workflow.task_list import TaskListMode, open_tasks, with_its_tasks, with_task_list
from loopwright.errors import UsageError
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.state import TakenOver
from tests.repository import Repository

ASKED = WorkflowRequest(request="Add validation")


def taken(root: Path, mode: TaskListMode, list_id: str = "", asked: WorkflowRequest = ASKED) -> WorkflowRequest:
    project = open_project(root / "repo", environ(root, list_id))
    return with_task_list(project, asked, mode)


def environ(root: Path, list_id: str) -> dict[str, str]:
    return {"HOME": str(root / "home"), "PATH": "/usr/bin:/bin", "CLAUDE_CODE_TASK_LIST_ID": list_id}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Repository.create(tmp_path / "repo")
    return tmp_path


def lay(root: Path, number: int, **facts: object) -> None:
    folder = root / "home" / ".claude" / "tasks" / "my-list"
    folder.mkdir(parents=True, exist_ok=True)
    task = {"id": str(number), "subject": f"Do {number}", "description": "", "status": "pending"}
    (folder / f"{number}.json").write_text(json.dumps({**task, "blocks": [], "blockedBy": [], **facts}))


def test_a_new_one_lies_in_a_folder_of_its_own_unless_a_list_is_named(root: Path) -> None:
    assert taken(root, "new") == ASKED
    named = taken(root, "new", "my-list")
    assert (named.list_id, named.list_shift) == ("my-list", 0)


def test_in_a_list_that_has_tasks_a_new_one_counts_on_behind_them(root: Path) -> None:
    lay(root, 3)
    assert taken(root, "new", "my-list").list_shift == 3


def test_for_one_session_only_nothing_is_kept(root: Path) -> None:
    asked = taken(root, "session-only", "my-list")
    assert (asked.session_only, asked.list_id) == (True, "")


def test_a_list_that_is_there_becomes_the_plan(root: Path) -> None:
    lay(root, 1, status="completed", description="An import. Verify: grep 'X' a.py")
    lay(root, 2, blockedBy=["1"], activeForm="Doing 2")
    asked = taken(root, "resume", "my-list")
    verified = ("grep", "X", "a.py")
    tasks = (
        PlannedTask(id="T-001", subject="Do 1", description="An import. Verify: grep 'X' a.py", verify=verified),
        PlannedTask(id="T-002", subject="Do 2", description="", blocked_by=("T-001",), active_form="Doing 2"),
    )
    assert asked.taken_over == TakenOver(stage="executing", tasks=tasks, done=("T-001",))
    assert (asked.list_id, asked.list_shift) == ("my-list", 0)


@pytest.mark.parametrize(
    "said",
    [
        "Verify: make it",
        "Verify: `make it`",
        "Verify: ``make it``.",
        "**Verify:** make it",
        "**Verify**: `make it`",
        "**Verify: make it**",
        "__verify:__ **make it**",
        "- VERIFY:make it",
        "Write it.\n\n  Verify: make it  \n\nIt is small.",
        "Write it.\r\nVerify: `make it`\r\nIt is small.",
        "Write it. Verify: make it",
        "Verify: see | it\nVerify: make it",
        "Verify:\nVerify: make it",
    ],
)
def test_a_command_is_found_however_people_write_it(root: Path, said: str) -> None:
    lay(root, 1, description=said)
    over = taken(root, "resume", "my-list").taken_over
    assert over is not None
    assert over.tasks[0].verify == ("make", "it")


def test_a_shell_that_is_named_is_a_command_as_any_other(root: Path) -> None:
    lay(root, 1, description="Verify: `sh -c 'make | it'`")
    over = taken(root, "resume", "my-list").taken_over
    assert over is not None
    assert over.tasks[0].verify == ("sh", "-c", "make | it")


@pytest.mark.parametrize(
    "said",
    [
        *("Verify: a | b", "Verify: a && b", "Verify: a; b", "Verify: a > b", "Verify: a $(b)", "Verify: `a` && `b`"),
        *("Verify: `a` says nothing", "Verify: 'open", "Verify:", "verify nothing", "Unverify: a"),
    ],
)
def test_what_is_no_plain_command_verifies_nothing(root: Path, said: str) -> None:
    lay(root, 1, description=said)
    over = taken(root, "resume", "my-list").taken_over
    assert over is not None
    assert over.tasks[0].verify == ()


@pytest.mark.parametrize(
    ("list_id", "sentence"), [("", "CLAUDE_CODE_TASK_LIST_ID is not set"), ("my-list", "list 'my-list' has no tasks")]
)
def test_nothing_to_resume_is_refused_with_a_sentence(root: Path, list_id: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        taken(root, "resume", list_id)


def test_a_name_that_no_list_can_have_is_refused(root: Path) -> None:
    with pytest.raises(UsageError, match="cannot be taken"):
        taken(root, "new", "../up")


def test_open_tasks_are_those_that_no_loop_of_ours_has_made(root: Path) -> None:
    lay(root, 1, status="completed")
    lay(root, 2)
    lay(root, 3, metadata={"loopId": "auth-1"})
    project = open_project(root / "repo", environ(root, "my-list"))
    assert [task.number for task in open_tasks(project)] == [2]


def taken_with_a_file(root: Path, list_id: str) -> WorkflowRequest:
    project = open_project(root / "repo", environ(root, list_id))
    return with_its_tasks(project, ASKED, TakenOver(stage="review", spec=7))


def test_what_is_taken_over_brings_the_tasks_that_no_loop_of_ours_wrote(root: Path) -> None:
    lay(root, 1, status="completed", metadata={"loopId": "theirs"})
    lay(root, 2, status="in_progress")
    lay(root, 3, metadata={"loopId": "auth-1", "loopStatus": "pending"})
    asked = taken_with_a_file(root, "my-list")
    tasks = tuple(PlannedTask(id=f"T-00{number}", subject=f"Do {number}") for number in (1, 2))
    assert asked.taken_over == TakenOver(stage="review", spec=7, tasks=tasks, done=("T-001",))
    assert asked.list_id == "my-list"


def test_without_tasks_only_the_rest_is_taken_over(root: Path) -> None:
    for list_id in ("", "my-list"):
        asked = taken_with_a_file(root, list_id)
        assert (asked.taken_over, asked.list_id) == (TakenOver(stage="review", spec=7), "")


def test_a_task_that_cannot_be_read_is_named_and_nothing_is_taken_over(root: Path) -> None:
    lay(root, 1, status="maybe")
    with pytest.raises(UsageError, match=r"nothing was taken over: .*1\.json: status: .*; mend or remove that file"):
        taken_with_a_file(root, "my-list")


@pytest.mark.parametrize(
    ("first", "second", "part"),
    [
        ({"blockedBy": ["2"]}, {"blockedBy": ["1"]}, "a cycle, in which each task waits for the next: T-001 → T-002"),
        ({"blockedBy": ["1"]}, {}, "a cycle, in which each task waits for the next: T-001 → T-001"),
        ({"blockedBy": ["9"]}, {}, "blockedBy names tasks that are not in the plan: T-001 waits for T-009"),
        ({}, {"id": "1"}, r"2\.json: id: the task says that it is 1"),
    ],
)
def test_tasks_that_are_no_plan_are_named_and_nothing_is_taken_over(
    root: Path, first: dict[str, object], second: dict[str, object], part: str
) -> None:
    lay(root, 1, **first)
    lay(root, 2, **second)
    with pytest.raises(UsageError, match=rf"nothing was taken over: .*{part}.*; mend"):
        taken_with_a_file(root, "my-list")
