import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from loopwright.kernel.wording import counted
from loopwright.loops.workflow.progress import (
    ProgressPicture,
    TaskLine,
    TaskStatus,
    cost_shown,
    render_progress,
    wave_shown,
)
from tests.hostile import all_harmless, texts


def task(number: int, wave: int, status: TaskStatus = "pending", *blockers: str) -> TaskLine:
    return TaskLine(
        id=f"T-{number:03}", subject=f"Do {counted(number, 'thing')}", wave=wave, status=status, blocked_by=blockers
    )


AUTH = ProgressPicture(
    title="Add validation to auth",
    wave=2,
    waves=4,
    iteration=3,
    spent=2.5,
    estimated=False,
    budget=25.0,
    tasks=(
        TaskLine(id="T-001", subject="Add ValidationError import to auth.ts", wave=1, status="completed"),
        TaskLine(id="T-002", subject="Add ValidationError import to api.ts", wave=1, status="completed"),
        TaskLine(id="T-003", subject="Create validation schema", wave=2, status="in_progress", assigned=True),
        TaskLine(id="T-004", subject="Implement validateToken", wave=2, status="in_progress"),
        TaskLine(id="T-005", subject="Implement validateUser", wave=3, status="pending", blocked_by=("T-003",)),
        TaskLine(id="T-006", subject="Add tests", wave=4, status="pending", blocked_by=("T-004", "T-005")),
    ),
    stuck=0,
    counsel=False,
    stage="executing",
)


def headings(*tasks: TaskLine) -> list[str]:
    page = render_progress(replace(AUTH, tasks=tasks))
    return [line for line in page.split("\n") if re.match("##+ ", line)][:-1]


def lines(picture: ProgressPicture, mark: str) -> list[str]:
    return [line for line in render_progress(picture).split("\n") if line.startswith(mark)]


def test_the_second_wave_of_four_looks_as_the_seed_shows_it(golden: Callable[[str, str], None]) -> None:
    golden("texts/workflow-progress.md", render_progress(AUTH))


def test_a_page_with_everything_on_it(golden: Callable[[str, str], None]) -> None:
    picture = replace(
        AUTH,
        stage="complete",
        wave=4,
        iteration=7,
        spent=12.256,
        estimated=True,
        budget=12.5,
        tasks=tuple(replace(each, status="completed", note="" if each.assigned else "at once") for each in AUTH.tasks),
        stuck=2,
        counsel=True,
        graph="graph LR\n  T-001 --> T-003",
        complete="<loop-complete>\nAll tasks verified:\n</loop-complete>",
        remarks=("The shape was shown and taken.", "# no heading"),
    )
    golden("texts/workflow-progress-complete.md", render_progress(picture))


def test_a_wave_that_has_begun_is_in_progress_until_its_last_task_is_done() -> None:
    assert headings(task(1, 1, "completed"), task(2, 1)) == ["## 🔄 In Progress (Wave 1)"]
    assert headings(task(1, 1, "in_progress"), task(2, 1)) == ["## 🔄 In Progress (Wave 1)"]
    assert headings(task(1, 1, "completed"), task(2, 1, "completed")) == ["## ✅ Completed (Wave 1)"]


def test_waves_that_have_not_begun_stand_below_the_first_of_them() -> None:
    assert headings(task(1, 1)) == ["## ⏳ Pending (Wave 1)"]
    assert headings(task(3, 3), task(1, 1), task(2, 2)) == ["## ⏳ Pending (Wave 1+)", "### Wave 2", "### Wave 3"]


def test_a_wave_that_ran_ahead_is_shown_with_those_of_its_kind() -> None:
    early = (task(1, 1, "completed"), task(2, 2), task(3, 3, "completed"), task(4, 4, "in_progress"), task(5, 5))
    assert headings(*early) == [
        "## ✅ Completed (Wave 1)",
        "## ✅ Completed (Wave 3)",
        "## 🔄 In Progress (Wave 4)",
        "## ⏳ Pending (Wave 2+)",
        "### Wave 5",
    ]


def test_what_is_done_is_no_longer_assigned_or_blocked() -> None:
    done = TaskLine(id="T-1", subject="x", wave=1, status="completed", assigned=True, blocked_by=("T-2",))
    stuck = replace(done, status="pending", note="stuck once")
    picture = replace(AUTH, tasks=(done, stuck))
    assert lines(picture, "- [") == [
        "- [x] T-1: x",
        "- [ ] T-1: x (assigned to subagent) (blocked by T-2) (stuck once)",
    ]


@pytest.mark.parametrize(
    ("stage", "waves", "says"),
    [
        ("executing", 4, "Wave 2 of 4 | Iteration 3"),
        ("review", 4, "Review | Wave 2 of 4 | Iteration 3"),
        ("executing", 0, "Executing | Iteration 3"),
        ("intent", 0, "Intent | Iteration 3"),
    ],
)
def test_the_stage_is_named_where_the_wave_does_not_say_it(stage: str, waves: int, says: str) -> None:
    picture = replace(AUTH, stage=stage, waves=waves)
    assert lines(picture, "**Status:**") == [f"**Status:** {says} | Cost: $2.50/$25"]


def test_before_there_are_tasks_the_page_has_its_metrics() -> None:
    picture = replace(AUTH, stage="intent", waves=0, tasks=())
    assert headings() == []
    assert lines(picture, "- ") == ["- Tasks: 0/0 complete", "- Stuck count: 0", "- Counsel consulted: No"]


def test_a_cost_says_what_is_guessed_and_what_bounds_it() -> None:
    assert cost_shown(2.5, estimated=False, budget=25.0) == "$2.50/$25"
    assert cost_shown(0.0, estimated=True, budget=None) == "~$0.00/no limit"
    assert cost_shown(1.999, estimated=False, budget=7.5) == "$2.00/$7.50"


def test_the_wave_that_is_shown_is_the_lowest_unfinished() -> None:
    assert wave_shown(AUTH.tasks) == 2
    assert wave_shown((task(1, 1, "completed"), task(2, 3, "in_progress"), task(3, 2))) == 2
    assert wave_shown((task(1, 1, "completed"), task(2, 2, "completed"))) == 2
    assert wave_shown(()) == 0


@given(said=texts)
def test_words_of_others_make_no_heading_no_box_and_no_fence(said: str) -> None:
    tasks = (
        TaskLine(id=said, subject=said, wave=1, status="completed", note=said),
        TaskLine(id="T-2", subject=said, wave=2, status="pending", blocked_by=(said,), assigned=True),
    )
    picture = replace(AUTH, title=said, tasks=tasks, remarks=(said,), graph="graph LR" + said, complete="x" + said)
    page = render_progress(picture)
    assert all_harmless(page)
    fences = re.findall(r"^(`{3,})(mermaid|text)\n.*?\n\1$", page, re.MULTILINE | re.DOTALL)
    assert [language for _, language in fences] == ["mermaid", "text"]
    outside = re.sub(r"^(`{3,})(?:mermaid|text)\n.*?\n\1$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in outside.split("\n") if re.match(r"\s*(#|[-*+] \[|[`~]{3})", line)] == [
        *(line for line in outside.split("\n") if line.startswith("# Loop Progress: ")),
        "## ✅ Completed (Wave 1)",
        *(line for line in outside.split("\n") if line.startswith("- [x] ")),
        "## ⏳ Pending (Wave 2)",
        *(line for line in outside.split("\n") if line.startswith("- [ ] T-2: ")),
        "## 📊 Metrics",
        "## 🧭 Plan",
        "## 🏁 Complete",
    ]
    assert len(re.findall(r"^- \[[x ]\] ", outside, re.MULTILINE)) == 2
