import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.importers.imported import Imported, imported
from loopwright.adapters.importers.task_files import SIZE_LIMIT, read_tasks
from loopwright.errors import ConfigError

RALPH = {
    "project": "MyApp",
    "branchName": "ralph/priority",
    "description": "Priorities for tasks",
    "userStories": [
        {
            "id": "US-002",
            "title": "Show it",
            "description": "As a user, I see it.",
            "acceptanceCriteria": ["A badge is shown", "Typecheck passes"],
            "priority": 2,
            "passes": False,
            "notes": "see the mock-up",
        },
        {"id": "US-003", "title": "No priority", "acceptanceCriteria": [], "passes": False},
        {"id": "US-001", "title": "Keep it", "acceptanceCriteria": ["It is kept"], "priority": 1, "passes": False},
        {"id": "US-000", "title": "Begun", "acceptanceCriteria": ["x"], "priority": 0, "passes": True},
    ],
}
TASKS = [
    {"id": 1, "title": "Set up", "description": "All of it", "status": "done", "dependencies": []},
    {"id": 3, "title": "Last", "status": "pending", "dependencies": [2], "priority": "low"},
    {
        "id": 2,
        "title": "Core",
        "description": "The middle",
        "details": "In depth",
        "testStrategy": "Unit tests",
        "status": "in-progress",
        "dependencies": [1],
        "subtasks": [
            {"id": 1, "title": "Sign in", "description": "with a name", "status": "pending"},
            {"id": 2, "title": "Sign out", "status": "done"},
        ],
    },
    {"id": 4, "title": "Later", "status": "deferred", "dependencies": []},
]
SPEC = """\
# Tasks: Orders

## Format: `[ID] [P?] [Story] Description`

- **[P]**: can run in parallel
<!--
- [ ] T900 a sample that was left in a comment
-->

## Phase 1: Setup (Shared Infrastructure)

**Purpose**: A place to work in

- [x] T001 Create the folders
- [ ] T002 [P] Configure linting

## Phase 3: User Story 1 - Pay (Priority: P1)

**Goal**: Orders are paid

**Independent Test**: Pay one

### Implementation for User Story 1

- [ ] T012 [P] [US1] Create Order in src/models/order.py
```bash
- [ ] T901 not a task
```
"""
ISSUES = [
    {
        "number": 12,
        "title": "Add CSV",
        "body": "Why\r\n\r\n- [ ] has a header\n- [x] one row each",
        "labels": [{"name": "ui"}],
    },
    {"number": 3, "title": "Older", "body": None, "labels": []},
    {"number": 4, "title": "Closed", "body": "", "labels": [], "state": "CLOSED"},
]


def wrote(tmp_path: Path, content: object, name: str = "list") -> Path:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_ralph_gives_the_stories_that_do_not_pass_by_priority(tmp_path: Path) -> None:
    goal = "MyApp\n\nPriorities for tasks"
    assert read_tasks(wrote(tmp_path, RALPH)) == (
        "ralph",
        (
            Imported(id="US-001", title="Keep it", criteria=("It is kept",), context=goal),
            Imported(
                id="US-002",
                title="Show it",
                what="As a user, I see it.",
                criteria=("A badge is shown", "Typecheck passes"),
                context=f"{goal}\n\nNotes: see the mock-up",
            ),
            Imported(id="US-003", title="No priority", criteria=("No priority",), context=goal),
        ),
    )


@pytest.mark.parametrize("data", [{"tasks": TASKS}, {"master": {"tasks": TASKS}}, {"only": {"tasks": TASKS}}])
def test_task_master_gives_what_is_open_after_what_it_depends_on(tmp_path: Path, data: object) -> None:
    assert read_tasks(wrote(tmp_path, data)) == (
        "task-master",
        (
            Imported(
                id="2",
                title="Core",
                what="The middle\n\nIn depth",
                criteria=("Sign in: with a name", "Unit tests"),
                context="Depends on: 1",
            ),
            Imported(id="3", title="Last", criteria=("Last",), context="Depends on: 2\n\nPriority: low"),
        ),
    )


def test_of_several_tags_master_is_meant_and_without_it_none(tmp_path: Path) -> None:
    other = [{"id": 9, "title": "Elsewhere", "status": "pending"}]
    _, tasks = read_tasks(wrote(tmp_path, {"feature": {"tasks": other}, "master": {"tasks": TASKS}}))
    assert [task.id for task in tasks] == ["2", "3"]
    with pytest.raises(ConfigError, match="has the tags a, b and no 'master'"):
        read_tasks(wrote(tmp_path, {"a": {"tasks": other}, "b": {"tasks": other}}))


def test_tasks_that_wait_for_each_other_are_taken_as_they_stand(tmp_path: Path) -> None:
    circle = [{"id": 1, "title": "a", "dependencies": [2]}, {"id": 2, "title": "b", "dependencies": [1]}]
    _, tasks = read_tasks(wrote(tmp_path, {"tasks": circle}))
    assert [task.id for task in tasks] == ["1", "2"]


def test_spec_kit_gives_the_open_boxes_with_their_phase(tmp_path: Path) -> None:
    first, second = "Configure linting", "Create Order in src/models/order.py"
    pay = "Feature: Orders\nPhase: User Story 1 - Pay (Priority: P1)\nGoal: Orders are paid\nIndependent Test: Pay one"
    assert read_tasks(wrote(tmp_path, SPEC)) == (
        "spec-kit",
        (
            Imported(
                id="T002",
                title=first,
                what=first,
                criteria=(first,),
                context="Feature: Orders\nPhase: Phase 1: Setup (Shared Infrastructure)\nPurpose: A place to work in",
            ),
            Imported(
                id="T012",
                title=second,
                what=second,
                criteria=(second,),
                context=pay.replace("Phase: ", "Phase: Phase 3: ") + "\nStory: US1",
            ),
        ),
    )


def test_github_gives_the_open_issues_oldest_first_with_their_boxes(tmp_path: Path) -> None:
    assert read_tasks(wrote(tmp_path, ISSUES)) == (
        "github",
        (
            Imported(id="issue-3", title="Older", criteria=("Older",), context="GitHub issue #3"),
            Imported(
                id="issue-12",
                title="Add CSV",
                what="Why\n\n- [ ] has a header\n- [x] one row each",
                criteria=("has a header", "one row each"),
                context="GitHub issue #12\n\nLabels: ui",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("content", "form", "says"),
    [
        ("plain words", "", "is no list of tasks that is known here; there are ralph: prd.json of Ralph;"),
        ("{}", "", "is no list of tasks that is known here"),
        ("[]", "", "is no list of tasks that is known here"),
        ("{", "ralph", "is not the prd.json of Ralph: not valid JSON: "),
        ("[1]", "ralph", "is not the prd.json of Ralph$"),
        ("[" * 100_000, "github", "is not the gh issue list --json number,title,body,labels: it is nested too deep"),
        ('{"userStories": {}}', "", "userStories: expected a list, found a table of keys"),
        ('{"userStories": [1]}', "", r"userStories\[0\]: expected an object, found the number 1"),
        (
            '{"userStories": [{"id": "a", "title": ["b"]}]}',
            "",
            r"userStories\[0\].title: expected text that is not empty, found a list",
        ),
        (
            '{"userStories": [{"id": "a", "title": "b", "acceptanceCriteria": [{}]}]}',
            "",
            "expected text, found a table",
        ),
        ('{"userStories": []}', "", r"has no open task \(prd.json of Ralph\)"),
        ('[{"number": "1", "title": "x"}]', "", r"issues\[0\].number: expected a whole number, at least 0"),
        ('{"tasks": [{"id": 1}]}', "", r"tasks\[0\]: title is missing; give it text that is not empty"),
        ("- [x] T001 done\n", "", r"has no open task \(tasks.md of spec-kit\)"),
    ],
)
def test_what_is_no_list_gets_a_sentence_with_the_place(tmp_path: Path, content: str, form: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_tasks(wrote(tmp_path, content), form)


def test_what_is_too_large_or_no_plain_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b" " * (SIZE_LIMIT + 1))
    (tmp_path / "odd").write_bytes(b"\xff\xfe")
    for name, says in (("big", "is larger than 16 MiB"), ("odd", "is not UTF-8 text"), (".", "is not a regular file")):
        with pytest.raises(ConfigError, match=says):
            read_tasks(tmp_path / name)
    many = {"userStories": [{"id": str(number), "title": "x"} for number in range(1001)]}
    with pytest.raises(ConfigError, match="userStories: expected at most 1000 entries, found 1001"):
        read_tasks(wrote(tmp_path, many))


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=50), max_size=5).map(tuple))
def test_whatever_a_task_says_it_becomes_bounded_and_visible(title: str, what: str, criteria: tuple[str, ...]) -> None:
    task = imported(name=title, title=title, what=what * 500, criteria=criteria, context=what)
    assert len(task.title) <= 240
    assert len(task.what) <= 60_100
    texts = (task.id, task.title, *task.criteria, task.what, task.context)
    assert not any(char in text for text in texts for char in "\x00\x1b\r\u202e\ud800")
    assert all("\n" not in text for text in (task.id, task.title, *task.criteria))


def test_more_criteria_than_a_ticket_holds_are_named_as_left_out() -> None:
    task = imported(name="1", title="x", criteria=tuple(f"c{number}" for number in range(250)))
    assert (len(task.criteria), task.criteria[-1]) == (
        100,
        "151 more criteria are in the list this was imported from",
    )


@pytest.mark.parametrize("priority", ["9" * 400, "9" * 5000, "-" + "9" * 5000])
def test_a_number_out_of_all_proportion_is_refused_in_our_words(tmp_path: Path, priority: str) -> None:
    file = tmp_path / "prd.json"
    file.write_text('{"userStories": [{"id": "US-1", "title": "x", "priority": N}]}'.replace("N", priority))
    with pytest.raises(ConfigError, match=r"has more than 300 digits|is no list of tasks"):
        read_tasks(file)
    with pytest.raises(ConfigError, match="has more than 300 digits"):
        read_tasks(file, "ralph")
