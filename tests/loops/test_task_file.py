import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.shapes import Problem
from loopwright.loops.task_file import (
    TASK_FILE,
    TaskFile,
    TaskMetadata,
    TaskStatus,
    is_same_task,
    merged,
    name_of,
    number_of,
    read_task_file,
    task_file_text,
)

RECORDED = sorted((Path(__file__).parents[1] / "adapters" / "claude_tasks").glob("*/*.json"))
STATUSES: tuple[TaskStatus, ...] = ("pending", "in_progress", "completed")
TASK = TaskFile(
    number=4,
    subject="Implement validateToken",
    description="Verify: pytest tests/test_auth.py",
    active_form="Implementing validateToken",
    blocked_by=(1, 3),
    metadata=TaskMetadata(wave=2, loop_id="auth-validation", verification="execution output", stuck_count=0),
)
TEXT = """\
{
  "id": "4",
  "subject": "Implement validateToken",
  "description": "Verify: pytest tests/test_auth.py",
  "activeForm": "Implementing validateToken",
  "status": "pending",
  "blocks": [],
  "blockedBy": [
    "1",
    "3"
  ],
  "metadata": {
    "wave": 2,
    "loopId": "auth-validation",
    "verification": "execution output",
    "stuckCount": 0
  }
}"""
LEAST = {"id": "1", "subject": "a", "description": "b", "status": "pending", "blocks": [], "blockedBy": []}


def read(content: str) -> TaskFile:
    task = read_task_file(content)
    assert isinstance(task, TaskFile), task
    return task


def test_a_task_is_written_as_claude_code_writes_it() -> None:
    assert task_file_text(TASK) == TEXT
    assert read(TEXT) == TASK


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_claude_code_wrote_is_read_whole_and_given_back(file: Path) -> None:
    content = file.read_text()
    assert json.loads(task_file_text(read(content))) == json.loads(content)


@pytest.mark.parametrize("name", ["2.json", "3.json", "5.json"])
def test_what_claude_code_wrote_in_one_go_is_given_back_to_the_byte(name: str) -> None:
    (content,) = (file.read_text() for file in RECORDED if file.name == name)
    assert task_file_text(read(content)) == content


def test_what_others_put_there_is_kept_as_they_put_it() -> None:
    data = {**LEAST, "owner": "agent-a", "metadata": {"mood": {"a": [1, None, 2.5]}, "wave": 1}, "colour": None}
    task = read(json.dumps(data))
    assert task == TaskFile(
        number=1,
        subject="a",
        description="b",
        owner="agent-a",
        metadata=TaskMetadata(wave=1, rest='{"mood": {"a": [1, null, 2.5]}}'),
        rest='{"colour": null}',
    )
    assert json.loads(task_file_text(task)) == data


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is not JSON that can be read: Expecting value: line 1 column 1 (char 0)"),
        ('{"id": 1e999}', "is not JSON that can be read: 1e999 is no number of JSON"),
        ('{"id": NaN}', "is not JSON that can be read: NaN is no number of JSON"),
        ("9" * 400, f"is not JSON that can be read: {'9' * 20}… has more than 300 digits"),
        ("[" * 100_000, "is nested too deeply"),
        ("[]", "expected a task as a table of keys, found a list"),
        ('{"id": "1"}', "subject is missing; give it text"),
        ({"id": 1}, "id: expected the number of a task as text, found the number 1"),
        ({"id": "../1"}, 'id: expected the number of a task as text, found the text "../1"'),
        ({"status": "deleted"}, 'status: expected one of pending, in_progress, completed, found the text "deleted"'),
        ({"blocks": ["x"]}, 'blocks[0]: expected the number of a task as text, found the text "x"'),
        ({"metadata": []}, "metadata: expected a table of keys, found a list"),
        ({"metadata": {"wave": "1"}}, 'metadata.wave: expected a whole number, at least 0, found the text "1"'),
    ],
)
def test_what_cannot_be_taken_is_told_in_a_sentence(content: str | dict[str, object], says: str) -> None:
    whole = content if isinstance(content, str) else json.dumps(LEAST | content)
    assert read_task_file(whole) == says


NUMBERS = st.integers(1, 999_999_999)
TASKS = st.builds(
    TaskFile,
    number=NUMBERS,
    subject=st.text(),
    description=st.text(),
    status=st.sampled_from(STATUSES),
    active_form=st.text(),
    owner=st.text(),
    blocks=st.lists(NUMBERS).map(tuple),
    blocked_by=st.lists(NUMBERS).map(tuple),
    metadata=st.builds(
        TaskMetadata,
        wave=st.none() | st.integers(0, 99),
        loop_id=st.text(),
        verification=st.text(),
        stuck_count=st.none() | st.integers(0, 99),
        loop_status=st.none() | st.sampled_from(STATUSES),
        rest=st.just("{}") | st.just('{"mood": "sunny"}'),
    ),
    rest=st.just("{}") | st.just('{"colour": "rød"}'),
)


@given(TASKS)
def test_a_task_is_read_as_it_was_written_and_has_its_shape(task: TaskFile) -> None:
    content = task_file_text(task)
    assert read(content) == task
    assert not isinstance(TASK_FILE.read(json.loads(content)), Problem)


@given(NUMBERS)
def test_a_name_and_a_number_are_the_same_task(number: int) -> None:
    assert number_of(name_of(number)) == number


def test_names_have_three_digits_or_more() -> None:
    assert [name_of(number) for number in (1, 25, 1000)] == ["T-001", "T-025", "T-1000"]
    assert [number_of(name) for name in ("T-001", "T-025", "T-1000")] == [1, 25, 1000]
    for wrong in ("T-1", "T-000", "T-0001", "t-001", "T-001 ", "1", "T-1234567890"):
        with pytest.raises(ValueError, match="is no task's name"):
            number_of(wrong)


# What others write


def test_a_task_of_another_that_has_the_number_is_known_for_one() -> None:
    assert is_same_task(replace(TASK, subject="b"), TASK)
    assert not is_same_task(replace(TASK, metadata=TaskMetadata(loop_id="other")), TASK)
    nameless = replace(TASK, metadata=TaskMetadata())
    assert not is_same_task(nameless, nameless)
    assert is_same_task(merged(None, nameless), nameless)


# What is written


def test_all_of_anothers_that_is_not_ours_to_say_stays() -> None:
    found = replace(
        merged(None, TASK),
        subject="edited",
        owner="agent-a",
        metadata=TaskMetadata(wave=7, loop_id="auth-validation", rest='{"mood": "sunny"}'),
        rest='{"colour": "red"}',
    )
    ours = replace(TASK, status="in_progress")
    assert merged(found, ours, TASK) == replace(
        ours,
        owner="agent-a",
        metadata=replace(TASK.metadata, loop_status="in_progress", rest='{"mood": "sunny"}'),
        rest='{"colour": "red"}',
    )


def test_a_status_that_another_set_changes_nothing() -> None:
    result = merged(replace(TASK, status="completed"), TASK, TASK)
    assert (result.status, result.metadata.loop_status) == ("pending", "pending")


def test_tasks_that_another_made_wait_stay_and_those_we_let_go_do_not() -> None:
    before = replace(TASK, blocks=(5, 6), blocked_by=(1,))
    found = replace(TASK, blocks=(6, 9, 5), blocked_by=(1, 8))
    ours = replace(TASK, blocks=(5, 7), blocked_by=())
    result = merged(found, ours, before)
    assert (result.blocks, result.blocked_by) == ((9, 5, 7), (8,))
    result = merged(found, ours)
    assert (result.blocks, result.blocked_by) == ((6, 9, 5, 7), (1, 8))
