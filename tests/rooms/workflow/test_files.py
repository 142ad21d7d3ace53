"""What a workflow writes, told from its log: where it stands, what was learned, and the tasks for others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import pytest

from loopwright.kernel.events import BudgetChanged, ConfigChanged, Created, Ended, Paused
from loopwright.kernel.model import CheckResult, Ending, Outcome
from loopwright.kernel.record import Record
from loopwright.loops.course import Station
from loopwright.loops.kind import Noted, TaskListing
from loopwright.loops.task_file import TaskFile, TaskMetadata
from loopwright.loops.workflow import closing, files, listing
from loopwright.loops.workflow.past import folded
from loopwright.loops.workflow.shape import ShapeCriterion, WorkShape
from loopwright.loops.workflow.shape_text import read_shape_page
from loopwright.loops.workflow.state import Recalled, TakenOver, TakenWave
from loopwright.loops.workflow.state_file import ThoroughReview, WaveReview
from tests.loops.workflow import (
    BLOCKER,
    CANCEL,
    GREEN,
    LANDED,
    RED,
    SAID,
    At,
    advises,
    checked,
    conflicts,
    does,
    makes,
    planned,
    plans,
    play,
    refuses,
    says,
    seen,
    stuck,
    task,
    thoroughly,
    workflow,
)
from tests.rooms.workflow.stories import LOOP, VERIFIED, Story, finished, page, story


def state_of(told: Story, status: str = "running") -> dict[str, object]:
    data: dict[str, object] = json.loads(files.render(told.scene(status))[".loop/workflow-state.json"] or "")
    return data


def lessons(told: Story) -> dict[str, list[dict[str, object]]]:
    found = files.notes(told.scene())
    return {name.removeprefix(".loop/learnings/"): [each.data for each in lines] for name, lines in found.items()}


# --- where it stands --------------------------------------------------------------------------------------------------


def test_each_file_lies_in_the_loops_own_folder_and_where_people_look_first() -> None:
    names = set(files.render(finished().scene("complete")))
    assert names == {
        f"{top}/{name}"
        for top, shape in ((".loop", "shape/SHAPE.md"), (".loop/workflow/auth-1", "SHAPE.md"))
        for name in (
            "workflow-state.json",
            "PROGRESS.md",
            shape,
            "evidence/criteria.json",
            "evidence/verification.md",
        )
    }


def test_one_that_is_a_part_keeps_to_its_own_folder() -> None:
    told = story(planned(is_root=False))
    assert {name.rpartition("/")[0] for name in files.render(told.scene())} == {".loop/workflow/auth-1"}


@pytest.mark.parametrize(
    ("told", "status", "stage"),
    [
        (story(workflow()), "running", "intent"),
        (story(planned()), "running", "executing"),
        (story(planned()), "paused", "paused"),
        (story(planned()).then(*does(1), *seen()), "running", "review"),
        (story(workflow()).then(CANCEL), "running", "cancelled"),
        (finished(), "complete", "complete"),
    ],
)
def test_the_stage_is_the_seeds_word(told: Story, status: str, stage: str) -> None:
    assert state_of(told, status)["stage"] == stage


def test_before_it_is_scored_nothing_is_known_of_it() -> None:
    told = state_of(story(workflow(recalled=(Recalled(title="edge cases", text="…"),))))
    assert (told["spec_score"], told["fit_score"], told["shape_chosen"]) == (None, None, None)
    assert told["recall_surfaced"] == ["edge cases"]


def test_reviews_and_criteria_are_told_with_their_moments() -> None:
    data = state_of(finished(), "complete")
    reviews = data["reviews"]
    assert isinstance(reviews, dict)
    assert set(reviews) == {"wave_1", "thorough"}
    assert reviews["thorough"]["passed"] is True
    assert data["started_at"] == "2026-02-05T10:00:00Z"
    status = data["criteriaStatus"]
    assert isinstance(status, dict)
    assert [(each["met"], each["verification"]) for each in status.values()] == [
        (False, "no command of its own: not shown")
    ]


def test_a_task_that_is_under_way_is_assigned_and_one_that_waits_says_for_whom() -> None:
    told = page(story(planned(task(1), task(2, 1))).begun(1), budget=25.0, spent=2.5)
    assert "- [ ] T-001: Do part 1 (assigned to subagent)" in told
    assert "- [ ] T-002: Do part 2 (blocked by T-001)" in told
    assert "Iteration 1 | Cost: $2.50/$25" in told
    guessed = page(story(planned(task(1), task(2, 1))).begun(1), budget=25.0, spent=2.5, estimated=True)
    assert "Iteration 1 | Cost: ~$2.50/$25" in guessed


def test_where_a_person_is_asked_nothing_runs_and_the_page_says_why() -> None:
    told = story(planned(max_iterations=1, max_same_failure=9)).begun(1).then(stuck(1))
    said = page(told, "paused")
    assert "Iteration 1 |" in said
    assert "**Note:** Stopped: 1 of 1 iterations are used" in said


def test_a_task_that_another_brings_in_or_that_is_stuck_says_so() -> None:
    merging = story(planned(task(1), task(2))).then(*does(1), makes(2), conflicts("c2", "src/a.py"))
    assert "T-003 brings it in" in page(merging)
    asked = story(planned(also_cast=("panel",))).then(stuck(1))
    assert "stuck, the panel is asked" in page(asked)


def test_what_was_accepted_is_told_as_that_and_never_as_shipped() -> None:
    told = story(planned(max_iterations=1)).then(
        *does(1), *seen(), *thoroughly(refuses(BLOCKER)), says("accept"), LANDED
    )
    said = page(told, "complete")
    assert "<loop-complete>" not in said
    assert "**Status:** Accepted with 1 open task | Wave 2 of 2 | " in said
    assert "**Note:** Accepted by a person with 3 known issues, see .loop/debt.md" in said
    outcome = told.state.course.outcome
    assert outcome is not None
    assert closing.block(told.state, outcome) == ()
    assert closing.result(LOOP, told.state, {}).accepted


def test_the_end_has_the_block_and_the_card() -> None:
    assert "<loop-complete>" in page(finished(), "complete")


def test_a_criterion_is_met_by_its_command_or_by_the_checks_and_otherwise_not_shown() -> None:
    told = with_criteria(finished(), "It adds", "All tests pass", "Coverage is above 80 %")
    state = told.state
    assert state.shape is not None
    first, *rest = state.shape.criteria
    by_command = replace(first, type="execution output", command=("make", "it"))
    state = replace(state, shape=replace(state.shape, criteria=(by_command, *rest)))
    unmet, checks, number = files.evidence(state)
    assert (unmet.met, unmet.verification) == (False, "")
    assert (checks.met, checks.verification) == (True, "no command of its own: all checks (test) passed")
    assert (number.met, number.type) == (False, "code review")
    assert number.verification == "no command of its own: not shown"
    green = files.evidence(replace(state, met=("criterion-1",)))[0]
    assert (green.met, green.verification) == (True, "execution output: it passed before the work started, too")
    met = files.evidence(replace(state, met=("criterion-1",), shown=("criterion-1",)))[0]
    assert (met.met, met.verification) == (True, "execution output")
    assert files.evidence(replace(state, shape=None)) == ()
    assert [each.met for each in files.evidence(replace(state, shipped=""))] == [False] * 3


def test_what_the_page_says_of_a_criterion_is_not_read_back_as_its_text() -> None:
    told = with_criteria(finished(), "It adds")
    shape = told.state.shape
    assert shape is not None
    criteria = (replace(shape.criteria[0], type="execution output", command=("make", "it")),)
    state = replace(told.state, shape=replace(shape, criteria=criteria), met=("criterion-1",))
    read = read_shape_page(files.render(replace(told, state=state).scene("complete"))[".loop/shape/SHAPE.md"] or "")
    assert isinstance(read, WorkShape)
    assert read.criteria == criteria


def with_criteria(told: Story, *texts: str) -> Story:
    shape = told.state.shape
    assert shape is not None
    criteria = tuple(ShapeCriterion(text).as_seen() for text in texts)
    return replace(told, state=replace(told.state, shape=replace(shape, criteria=criteria)))


def test_what_comes_after_the_work_is_ticked_only_where_it_was_seen() -> None:
    told = with_criteria(finished(), "The tests pass", "It is merged into main", "It is deployed")
    works, merged, deployed = files.evidence(told.state)
    assert (works.met, merged.met, deployed.met) == (True, False, False)
    unseen = "no command of its own: not shown"
    assert (merged.verification, deployed.verification) == (unseen, unseen)
    made = files.render(told.scene("complete"))
    page = made[".loop/shape/SHAPE.md"] or ""
    assert f"- [ ] criterion-2: It is merged into main ({unseen})\n" in page
    read = read_shape_page(page)
    assert isinstance(read, WorkShape)
    assert [each.text for each in read.criteria] == [
        "The tests pass",
        "It is merged into main",
        "It is deployed",
    ]
    assert "**Criteria:** 1 of 3 met" in (made[".loop/evidence/verification.md"] or "")
    status: Any = state_of(told, "complete")["criteriaStatus"]
    assert status == json.loads(made[".loop/evidence/criteria.json"] or "")["criteriaStatus"]
    assert [each["met"] for each in status.values()] == [True, False, False]
    outcome = replace(VERIFIED, merged_into="refs/heads/main")
    after = replace(told.state, course=replace(told.state.course, outcome=outcome))
    seen_after = files.evidence(after)
    assert [each.met for each in seen_after] == [True, True, False]
    assert seen_after[1].verification == "no command of its own: merged into main"


def test_what_a_person_accepted_and_merged_is_merged_and_nothing_more() -> None:
    told = story(planned(max_iterations=1)).then(*does(1), *seen(), *thoroughly(refuses(BLOCKER)), says("accept"))
    told = with_criteria(told, "It works", "Done when the branch is merged", "It works and is merged", "It is deployed")
    told = told.then(replace(LANDED, merged_into="refs/heads/main"))
    status: Any = state_of(told, "complete")["criteriaStatus"]
    assert [each["met"] for each in status.values()] == [False, True, False, False]
    assert [each["verification"] for each in status.values()] == ["", "no command of its own: merged into main", "", ""]


def test_who_cancels_instead_of_landing_is_not_told_that_it_was_merged() -> None:
    told = with_criteria(finished(), "The tests pass", "It is merged")
    said = closing.report(told.state, Outcome(ending=Ending.CANCELLED), "$0.00")
    assert said[-3:] == ("Criteria: 1 of 2 met", "  ✓ The tests pass", "  ✗ It is merged")


# --- what was learned -------------------------------------------------------------------------------------------------


def test_stuck_and_solved_is_learned_with_what_helped() -> None:
    told = story(planned(also_cast=("panel",))).then(stuck(1), advises("call strip"), *does(1))
    found = lessons(told)
    assert [each["failure"] for each in found["failures.jsonl"]] == [f"{RED.rule} - {RED.issue}"]
    assert "call strip" in str(found["discoveries.jsonl"][0]["discovery"])


def test_without_advice_only_the_failure_is_learned() -> None:
    assert list(lessons(story(planned()).then(stuck(1), *does(1)))) == ["failures.jsonl"]


def test_a_pause_is_learned_be_it_by_a_limit_or_by_the_budget() -> None:
    limit = story(planned(max_iterations=1, max_same_failure=9)).then(stuck(1))
    (lesson,) = lessons(limit)["failures.jsonl"]
    assert str(lesson["failure"]).startswith("paused: 1 of 1 iterations are used")
    budget = story(planned()).noted(Paused(reason="budget", detail="0.25 of 0.25"))
    assert [each["failure"] for each in lessons(budget)["failures.jsonl"]] == ["paused: 0.25 of 0.25"]


@pytest.mark.parametrize(
    ("reason", "way"),
    [
        ("budget", "`loop resume --budget USD`, with more than the $0.75 it has"),
        ("time", "`loop resume`, once a longer `wall` is in loop.toml"),
    ],
)
def test_a_pause_at_a_limit_of_all_the_work_says_what_goes_on_from_it_until_it_does(
    reason: Literal["budget", "time"], way: str
) -> None:
    at_work = story(planned()).begun(1)
    paused = at_work.noted(Paused(reason=reason, detail="it is used up"))
    shown = paused.scene("paused", budget=0.75)
    assert (files.state_file(shown).needs, files.picture(shown).iteration) == (f"{way}: it is used up", 0)
    again = paused.noted(BudgetChanged(usd=3.0, by="ann")).scene("running", budget=3.0)
    assert (files.state_file(again).needs, files.picture(again).iteration) == ("", 1)


def test_what_must_not_be_and_was_is_learned() -> None:
    forbidden = replace(BLOCKER, requirement="mustNot-1")
    told = story(planned()).then(stuck(1, forbidden))
    assert [each["constraint"] for each in lessons(told)["constraints.jsonl"]] == ["mustNot-1 became true: it leaks"]
    assert lessons(told.noted(Paused(reason="budget")))["constraints.jsonl"] == lessons(told)["constraints.jsonl"]


def test_how_it_ended_is_learned_unless_it_was_cancelled() -> None:
    done = lessons(finished())["delegation.jsonl"]
    assert [(each["outcome"], each["failure_pattern"]) for each in done] == [("verified", None)]
    taken = story(planned()).then(stuck(1)).over(Outcome(ending=Ending.ACCEPTED))
    assert [each["failure_pattern"] for each in lessons(taken)["delegation.jsonl"]] == ["verification-gap"]
    assert "delegation.jsonl" not in lessons(story(planned()).over(Outcome(ending=Ending.CANCELLED)))


def test_only_what_the_last_event_taught_is_new() -> None:
    told = story(planned()).then(stuck(1), *does(1))
    ending = Ended(outcome=VERIFIED)
    assert list(files.notes(told.scene(event=ending))) == [".loop/learnings/failures.jsonl"]
    assert files.notes(told.begun(1).scene(event=ending)) == {}
    (lines,) = files.notes(told.over(VERIFIED).scene(event=ending)).values()
    assert [isinstance(each, Noted) for each in lines] == [True]


def test_an_event_that_this_version_does_not_know_moves_only_the_clock() -> None:
    told = story(planned())
    strange = Record(loop=LOOP, seq=9, at=5.0, kind="Unheard", data="{}")
    after = folded(told.past, strange, told.state)
    assert told.past is not None
    assert after == replace(told.past, updated=5.0, seq=9)


def test_what_the_last_verification_ran_is_kept_with_its_receipts() -> None:
    report = replace(checked(), also=(CheckResult(name="T-001", passed=True, receipt="r-1"),))
    told = story(planned()).then(*does(1), *seen(), *thoroughly(), At("verify", report))
    assert told.past is not None
    assert [(run.name, run.command, run.receipt) for run in told.past.runs][-1] == ("T-001", ("make", "part-1"), "r-1")


def test_the_command_of_a_check_is_that_of_the_configuration_it_went_by() -> None:
    config = '{"checks": [{"name": "test", "run": ["pytest", "-q"]}]}'
    newer = ConfigChanged(digest="d", settings=config.replace("-q", "-x"))
    for event, command in ((Created(kind="workflow", params="{}", settings=config), "pytest -q"), (newer, "pytest -x")):
        told = story(planned()).noted(event).then(*does(1), *seen(), *thoroughly(), At("verify", GREEN))
        page = files.render(told.scene())[".loop/evidence/verification.md"] or ""
        assert f"test: 3 tests\n  - Command: `{command}`\n  - Receipt:" in page
    unknown = story(planned()).then(*does(1), *seen(), *thoroughly(), At("verify", GREEN))
    assert "Command:" not in (files.render(unknown.scene())[".loop/evidence/verification.md"] or "")


def test_what_a_person_is_needed_for_is_said_with_the_command() -> None:
    assert "needs" not in state_of(story(planned()))
    limit = play(planned(max_iterations=1), stuck(1))
    unclear = play(workflow(request="Make it better", cast=()), SAID)
    gate = replace(limit, course=replace(limit.course, station=Station.GATE))
    needs = [str(state_of(story(state))["needs"]) for state in (limit, unclear, gate)]
    assert needs[0].startswith("answer it, with `loop answer continue 10` for example: ")
    assert needs[1].startswith("answer what is unclear with `loop answer`: ")
    assert needs[2] == "decide what waits at a gate, `loop gates` shows it"


# --- the tasks for others ---------------------------------------------------------------------------------------------


def test_the_tasks_are_files_that_others_read() -> None:
    told = story(planned(task(1), task(2, 1), list_id="my-list", list_shift=3)).then(*does(1))
    found = listing.listed(told.scene())
    assert found is not None
    first = TaskFile(
        number=4,
        subject="Do part 1",
        description="All of part 1. Verify: make part-1",
        status="completed",
        active_form="Working on: Do part 1",
        blocks=(5,),
        metadata=TaskMetadata(wave=1, loop_id=LOOP, verification="execution output", stuck_count=0),
    )
    assert (found.tasks[0], found.tasks[1].blocked_by, found.tasks[1].status) == (first, (4,), "in_progress")
    assert replace(found, tasks=()) == TaskListing(
        own=".loop/workflow/auth-1/tasks", tasks=(), list_id="my-list", shift=3
    )


def test_a_task_without_a_command_is_described_by_its_own_words() -> None:
    unseen = task(1, verify=False)
    found = listing.listed(story(play(planned(unseen), plans(unseen))).scene())  # it is asked for one once
    assert found is not None
    assert found.tasks[0].description == "All of part 1."


def test_before_there_are_tasks_there_is_no_list() -> None:
    assert listing.listed(story(workflow()).scene()) is None


def test_what_another_tool_said_stands_until_it_is_looked_at_here() -> None:
    wave = WaveReview(score=8, issues=2, blockers=0, taken_over=True)
    over = TakenOver(
        stage="executing",
        spec=9,
        fit=45,
        started_at="2026-01-01T08:00:00Z",
        waves=(TakenWave(wave=1, review=wave), TakenWave(wave=2, review=wave)),
        thorough=ThoroughReview(passed=True, blockers_remaining=0, taken_over=True),
        tasks=(planned().tasks[0].plan,),
    )
    told = story(workflow(taken_over=over)).begun(1)
    theirs = {"score": 8, "issues": 2, "blockers": 0, "taken_over": True}
    now = state_of(told)
    assert now["started_at"] == "2026-01-01T08:00:00Z"
    assert now["reviews"] == {
        "wave_1": theirs,
        "wave_2": theirs,
        "thorough": {"passed": False, "blockers_remaining": 0, "taken_over": True},
    }
    reviews: Any = state_of(told.then(*does(1), *seen(), *thoroughly(refuses(BLOCKER))))["reviews"]
    assert (reviews["wave_2"], reviews["thorough"]["passed"]) == (theirs, False)
    assert not [name for name, each in reviews.items() if "taken_over" in each and name != "wave_2"]


@pytest.mark.parametrize(
    ("spec", "fit", "line"),
    [
        (7, 35, "**Spec:** 7/10 | **Fit:** 35 | **Shape:** tool"),
        (7, None, "**Spec:** 7/10 | **Fit:** not scored | **Shape:** tool"),
        (None, None, "**Spec:** not scored | **Fit:** not scored | **Shape:** tool"),
    ],
)
def test_the_page_of_the_shape_has_the_score_that_was_taken_over_and_no_reasons(
    spec: int | None, fit: int | None, line: str
) -> None:
    over = TakenOver(stage="executing", spec=spec, fit=fit, choice="tool", tasks=(planned().tasks[0].plan,))
    drawn = files.render(story(workflow(taken_over=over)).scene())[".loop/shape/SHAPE.md"] or ""
    assert drawn.split("\n\n")[1:3] == [line, "## Criteria"]


def test_tasks_that_were_taken_over_are_named_by_their_numbers() -> None:
    plan = planned().tasks[0].plan
    told = story(workflow(taken_over=TakenOver(stage="executing", tasks=(plan,))))
    found = listing.listed(told.scene())
    assert found is not None
    assert (found.taken, found.over) == (frozenset((1,)), False)
    ending = story(replace(told.state, course=replace(told.state.course, station=Station.DONE)))
    over = listing.listed(ending.scene())
    assert over is not None
    assert over.over
