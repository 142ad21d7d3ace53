import re
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.model import AgentReport
from loopwright.loops.workflow.graph import cycles, depths, waves
from loopwright.loops.workflow.plan import (
    MOST_TASKS,
    PlannedTask,
    active_form_of,
    estimate,
    mermaid,
    plan_problems,
    plan_remarks,
    read_tasks,
    single_task,
    split_of,
    waves_of,
)
from tests.hostile import all_harmless, texts
from tests.rooms.workflow.reports import saying


def task(number: int, *waits_for: int, subject: str = "Do it", **more: tuple[str, ...]) -> PlannedTask:
    blockers = tuple(f"T-{each:03d}" for each in waits_for)
    return PlannedTask(id=f"T-{number:03d}", subject=subject, blocked_by=blockers, **more)  # type: ignore[arg-type]


# Six tasks in four waves
SIX = (
    task(1, subject="Add ValidationError import to auth.ts"),
    task(2, subject="Add ValidationError import to api.ts"),
    task(3, 1, 2, subject="Create validation schema"),
    task(4, 1, subject="Implement validateToken"),
    task(5, 3, subject="Implement validateUser"),
    task(6, 4, 5, subject="Add tests"),
)


# A planner


def test_what_a_planner_gave_is_taken_and_its_ids_are_made_alike() -> None:
    rows = [
        {"id": "1", "subject": " Add\na schema ", "description": "As\nsaid. ", "verify": ["pytest", "-q"]},
        {"id": "T-2", "subject": "Use it", "blockedBy": ["T-001", "1", "#1", ""], "files": ["src/a  b.py", " "]},
        {"id": "t-0003", "subject": "Show it", "blockedBy": ["2"], "activeForm": "Painting", "verify": [" "]},
    ]
    assert read_tasks(saying(tasks=rows)) == (
        PlannedTask(
            id="T-001",
            subject="Add a schema",
            description="As\nsaid.",
            verify=("pytest", "-q"),
            active_form="Adding a schema",
        ),
        PlannedTask(
            id="T-002",
            subject="Use it",
            blocked_by=("T-001",),
            files=("src/a  b.py",),
            active_form="Using it",
        ),
        PlannedTask(id="T-003", subject="Show it", blocked_by=("T-002",), active_form="Painting"),
    )


def test_a_name_that_is_no_number_gets_the_next_free_one_and_stays_readable() -> None:
    rows = [
        {"id": "schema", "subject": "a"},
        {"id": "T-000", "subject": "b", "blockedBy": ["Schema", "T-001"]},
        {"id": "1", "subject": "c", "blockedBy": ["nothing", "t-000"]},
        {"subject": "d"},
        {"id": " SCHEMA ", "subject": "e"},
        {"id": "9999999", "subject": "f", "blockedBy": ["77"]},
    ]
    read = read_tasks(saying(tasks=rows))
    assert not isinstance(read, str)
    assert [(each.id, each.called, each.blocked_by) for each in read] == [
        ("T-002", "schema", ()),
        ("T-003", "T-000", ("T-002", "T-001")),
        ("T-001", "", ("nothing", "T-003")),
        ("T-004", "", ()),
        ("T-002", "SCHEMA", ()),
        ("T-005", "9999999", ("T-077",)),
    ]
    assert plan_problems(read)[:2] == (
        "an id stands for one task only: T-002 (2 times)",
        "blockedBy names tasks that are not in the plan: T-001 waits for nothing, T-005 (9999999) waits for T-077",
    )


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (saying(), "tasks is missing; give it a list"),
        (AgentReport(extras="x"), "the result's other keys are not JSON that can be read"),
        (saying(tasks={}), "tasks: expected a list, found a table of keys"),
        (saying(tasks=["a"]), 'tasks[0]: expected an object, found the text "a"'),
        (saying(tasks=[{}]), "tasks[0]: subject is missing; give it text"),
        (saying(tasks=[{"subject": "a", "id": 1}]), "tasks[0].id: expected text, found the number 1"),
        (
            saying(tasks=[{"subject": "a", "verify": "pytest -q"}]),
            'tasks[0].verify: expected a command as a list of its words, found the text "pytest -q"',
        ),
        (
            saying(tasks=[{"subject": "a", "blockedBy": [1]}]),
            "tasks[0].blockedBy[0]: expected text, found the number 1",
        ),
        (saying(tasks=[{"subject": "a", "activeForm": []}]), "tasks[0].activeForm: expected text, found a list"),
    ],
)
def test_tasks_that_cannot_be_taken_are_told_in_a_sentence(report: AgentReport, why: str) -> None:
    assert read_tasks(report) == why


@given(st.lists(st.tuples(st.one_of(texts, st.integers(0, 5).map(str)), texts), max_size=8))
def test_whatever_ids_a_planner_thinks_of_a_plan_has_ids_of_ours(said: list[tuple[str, str]]) -> None:
    rows = [{"id": name, "subject": "a", "blockedBy": [blocker]} for name, blocker in said]
    read = read_tasks(saying(tasks=rows))
    assert not isinstance(read, str)
    assert [each.id for each in read if not re.fullmatch(r"T-\d{3,6}", each.id, re.ASCII)] == []
    assert all(all_harmless(problem) for problem in plan_problems(read))
    assert len(waves_of(read)) == len(rows)


# Hard rules


def test_a_plan_that_keeps_the_rules_has_no_problem() -> None:
    assert plan_problems(SIX) == ()
    assert plan_problems(tuple(task(number) for number in range(1, MOST_TASKS + 1))) == ()


def test_a_plan_without_a_task_is_wrong() -> None:
    assert plan_problems(()) == ("the plan has no task; give at least one",)


def test_a_cycle_is_named_in_full_from_its_first_task_back_to_it() -> None:
    around = (task(1), task(2, 4, 1), task(3, 2), task(4, 3))
    assert plan_problems(around) == ("a cycle, in which each task waits for the next: T-002 → T-004 → T-003 → T-002",)
    assert plan_problems((task(2, 2),)) == ("a cycle, in which each task waits for the next: T-002 → T-002",)


def test_cycles_that_have_nothing_in_common_are_each_named() -> None:
    both = (task(1, 2, 3), task(2, 1), task(3, 4), task(4, 3))
    assert plan_problems(both) == (
        "a cycle, in which each task waits for the next: T-001 → T-002 → T-001",
        "a cycle, in which each task waits for the next: T-003 → T-004 → T-003",
    )
    pairs = {str(place): (str(place ^ 1),) for place in range(100)}
    assert len(cycles(pairs)) == 5


def test_a_cycle_longer_than_any_plan_is_cut() -> None:
    ring = tuple(task(number, number % 40 + 1) for number in range(1, 41))
    told = plan_problems(ring)[-1]
    assert told.startswith("a cycle, in which each task waits for the next: T-001 → T-002 → T-003")
    assert told.endswith("→ T-025 → … → T-001, 40 tasks in all")


def test_too_many_tasks_come_with_a_proposal_along_what_waits_for_what() -> None:
    chain = tuple(task(number, *([number - 1] if number > 1 else [])) for number in range(1, 27))
    assert plan_problems(chain) == (
        (
            "the plan has 26 tasks and a loop takes at most 25; split it into 2 loops that follow each other:"
            " loop 1: T-001 to T-025; loop 2: T-026"
        ),
    )
    assert split_of(SIX) == (tuple(each.id for each in SIX),)


def test_a_proposal_keeps_depths_together_and_splits_those_that_are_too_large() -> None:
    wide = (*(task(number, 60) for number in range(1, 31)), task(60))
    parts = split_of(wide)
    assert [len(part) for part in parts] == [16, 15]
    assert parts[0][0] == "T-060"
    assert " loop 1: T-001 to T-015, T-060; loop 2: T-016 to T-030" in plan_problems(wide)[0]


def test_what_a_command_or_a_path_may_not_reach_is_named() -> None:
    bad = task(
        1,
        verify=("curl", "-f", "HTTP://example.com/health", "x=https://localhost@evil.example/"),
        files=("../other/a.py", "src/a.py", "/etc/passwd", "a/../../b", "~/x", "C:\\x", ".git/config", "a\0b"),
    )
    assert plan_problems((bad, task(2, subject=" "))) == (
        "a task needs a subject, in one sentence: T-002",
        (
            "a verify command may reach HTTP on loopback only (localhost, 127.0.0.1, [::1]):"
            " T-001: HTTP://example.com, T-001: https://localhost@evil.example"
        ),
        (
            "files are paths inside the repository, from its root: T-001: ../other/a.py, T-001: /etc/passwd,"
            " T-001: a/../../b, T-001: ~/x, T-001: C:\\x, T-001: .git/config, T-001: a\\x00b"
        ),
    )


@pytest.mark.parametrize(
    ("url", "is_near"),
    [
        ("http://localhost:8000/x", True),
        ("https://127.0.0.1", True),
        ("http://127.1.2.3:80/", True),
        ("http://[::1]:3000/a?b", True),
        ("ws://app.localhost/", True),
        ("http://127.0.0.1.evil.example/", False),
        ("http://localhost.evil.example/", False),
        ("http://evil.example\\@localhost/", False),
        ("http://10.0.0.1/", False),
        ("http://[::2]/", False),
        ("http://", False),
        ("ftp://example.com", False),
        ("pytest", True),
    ],
)
def test_only_loopback_is_near(url: str, is_near: bool) -> None:  # noqa: FBT001 - a column of the table
    assert (plan_problems((task(1, verify=("curl", url)),)) == ()) is is_near


@pytest.mark.parametrize("path", ["a", "a/b.py", "./a", "a/../b", "a b", "**/*.py", ".github/x", "a/.gitignore"])
def test_a_path_inside_the_repository_is_fine(path: str) -> None:
    assert plan_problems((task(1, files=(path,)),)) == ()


def test_of_much_that_is_wrong_in_one_way_some_is_named() -> None:
    lost = tuple(task(number, 99) for number in range(1, 14))
    assert plan_problems(lost)[0].endswith("T-010 waits for T-099, and 3 more")


# Soft rules


def test_a_subject_that_joins_two_things_and_a_missing_command_are_remarked() -> None:
    tasks = (task(1, subject="Add a schema and use it"), task(2, subject="Understand android", verify=("true",)))
    assert plan_remarks(tasks) == (
        'a task does one thing, so its subject has no "and": T-001 (Add a schema and use it)',
        "a task without a verify command is seen by the checks only: T-001",
    )
    assert plan_remarks((task(1, verify=("true",)),)) == ()


# Waves


def test_six_tasks_are_four_waves() -> None:
    assert waves_of(SIX) == (1, 1, 2, 2, 3, 4)
    assert waves_of(()) == ()


def test_a_wave_of_seven_is_split_and_later_ones_shift() -> None:
    six = tuple(task(number) for number in range(1, 7))
    assert waves_of((*six, task(8, 1))) == (1, 1, 1, 1, 1, 1, 2)
    assert waves_of((*six, task(7), task(8, 7))) == (1, 1, 1, 1, 2, 2, 2, 3)


def test_who_is_in_a_cycle_or_waits_for_one_comes_last_and_who_waits_for_nobody_known_first() -> None:
    assert waves_of((task(1, 99), task(2, 3), task(3, 2), task(4, 2), task(5, 1))) == (1, 3, 3, 3, 2)


@given(st.lists(st.lists(st.integers(1, 30), max_size=4), max_size=30))
def test_a_task_comes_after_all_it_waits_for_and_no_wave_is_large(blockers: list[list[int]]) -> None:
    tasks = tuple(task(n, *(each for each in row if each < n)) for n, row in enumerate(blockers, start=1))
    wave = dict(zip((each.id for each in tasks), waves_of(tasks), strict=True))
    assert all(wave[blocker] < wave[each.id] for each in tasks for blocker in each.blocked_by)
    assert all(list(wave.values()).count(number) <= 6 for number in wave.values())
    assert set(wave.values()) == set(range(1, len(set(wave.values())) + 1))


def test_thousands_of_tasks_in_a_row_are_no_trouble() -> None:
    chain = tuple(task(number, *([number - 1] if number > 1 else [])) for number in range(1, 10_001))
    ring = (*chain[1:], task(1, 10_000))
    start = perf_counter()
    assert waves_of(chain)[-1] == 10_000
    assert len(plan_problems(chain)) == 1
    assert len(plan_problems(ring)) == 2
    assert len(split_of(chain)) == 400
    assert perf_counter() - start < 10
    assert depths({"a": (), "b": ("a", "a")}) == {"a": 1, "b": 2}
    assert waves({}) == {}


# What follows


def test_without_a_planner_the_request_is_the_one_task() -> None:
    assert single_task("# Add CSV export\n\nFor accounting.", ("There is a header", "One row\neach")) == PlannedTask(
        id="T-001",
        subject="Add CSV export",
        description="# Add CSV export\n\nFor accounting.\n\n2 criteria:\n- There is a header\n- One row each",
        active_form="Adding CSV export",
    )
    assert single_task("").subject == "Do what is asked for"


def test_the_estimate_counts_one_attempt_per_task_and_every_reviewer() -> None:
    assert estimate(SIX, 0.25, 2) == (6 * 2 + 4 * 3 + 4) * 0.25
    assert estimate((), 0.25, 2) == 0


@pytest.mark.parametrize(
    ("subject", "active"),
    [
        ("Add X", "Adding X"),
        ("create a page", "Creating a page"),
        ("Run it", "Running it"),
        ("Set up CI", "Setting up CI"),
        ("Fix", "Fixing"),
        ("Show it", "Showing it"),
        ("Read it", "Reading it"),
        ("Tie both", "Tying both"),
        ("Debug it", "Debugging it"),
        ("Refactor it", "Refactoring it"),
        ("Validation of tokens", "Working on: Validation of tokens"),
        ("Übersetze es", "Working on: Übersetze es"),
    ],
)
def test_a_subject_is_also_said_of_who_is_at_it(subject: str, active: str) -> None:
    assert active_form_of(subject) == active


def test_a_plan_is_drawn(golden: Callable[[str, str], None]) -> None:
    status = {"T-001": "completed", "T-002": "completed", "T-003": "in_progress", "T-004": "failed", "T-005": "pending"}
    golden("texts/plan.mmd", mermaid((*SIX, task(7, 99, subject='Say "`x`" #1; <b>')), status))


@given(texts)
def test_no_subject_draws_more_than_itself(said: str) -> None:
    drawn = mermaid((task(1, subject=said), task(2, 1, subject=said)), {"T-001": said})
    assert len(drawn.splitlines()) == 4
    for line in drawn.splitlines()[1:3]:
        assert re.fullmatch(r' {4}t[12]\["T-00[12]:[^"`<>\[\]{}|]*"\]', line)
