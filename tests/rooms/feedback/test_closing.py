from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.kernel.model import Change, Cleanup, Commit, Ending, Finding, Outcome, Severity, Verdict
from loopwright.loops.closing import headline, look_closer, still_waiting, take_command, waiting
from loopwright.loops.course import GateRecord, Ruling
from loopwright.loops.feedback import closing
from loopwright.loops.feedback.state import FeedbackState, Iteration
from tests.loops import verified as v
from tests.rooms.feedback.stories import (
    FAILED_REVIEW,
    LOOP,
    NO_DOC,
    STORIES,
    VERIFIED,
    cancelled,
    cleaned_up,
    compliant,
    implemented,
    kept,
    merged,
    passing,
    played,
)

SCRATCHPAD = ".loop/feedback/fb-1/feedback-scratchpad.md"


def closed(state: FeedbackState, outcome: Outcome | None = None) -> tuple[str, ...]:
    ended = outcome or state.course.outcome
    assert ended is not None
    return (*closing.lines(state, ended), look_closer(LOOP, ended, (SCRATCHPAD,)))


def test_the_closing_lines_of_every_ending(golden: Callable[[str, str], None]) -> None:
    stories = ("verified", "accepted", "cancelled")
    text = "\n\n".join("\n".join(closed(STORIES[name])) for name in stories)
    golden("texts/closing.txt", text + "\n")


@pytest.mark.parametrize(
    ("held", "why"), [(v.BENT, "waits with what is held back"), ((), "stays, since what mends it was rejected")]
)
def test_what_was_mended_only_in_what_did_not_land_is_said(held: tuple[Change, ...], why: str) -> None:
    ended = Outcome(ending=Ending.VERIFIED, held=held, waiting=(NO_DOC,))
    assert waiting(ended)[0] == f"Not resolved, it {why}:"
    assert waiting(replace(ended, waiting=())) == ()
    assert still_waiting(ended) == "; 1 finding not resolved by what landed"


def test_what_was_approved_and_did_not_land_comes_first() -> None:
    ended = Outcome(ending=Ending.VERIFIED, held=v.BENT, still_held="these fail with it: test")
    said = headline(ended, promise="IMPLEMENTATION_VERIFIED", after="after 1 iteration", left="")
    assert said.startswith("Still held back: what was approved did not land.")


def test_a_merged_result_needs_no_command() -> None:
    state = played(implemented("All of it"), kept, compliant, passing, merged)
    assert closed(state) == (
        "Iteration 1: All of it; review passed (SPEC_COMPLIANT), tests passed (ALL_TESTS_PASSING)",
        "IMPLEMENTATION_VERIFIED after 1 iteration.",
        "Result: merged into main (cccccccccccc).",
        f"Look closer: `loop log --loop fb-1`, {SCRATCHPAD}",
    )


def test_a_result_left_on_its_branch_says_why_and_how_to_take_it() -> None:
    outcome = Outcome(ending=Ending.VERIFIED, attempts=3, branch="loop/fb-1", note="main has changes of yours")
    assert closed(played(*FAILED_REVIEW, *VERIFIED), outcome)[-4:-1] == (
        "Result: branch loop/fb-1 ().",
        "Note: main has changes of yours",
        "Take it: `git merge loop/fb-1`",
    )


def test_a_merge_that_did_not_happen_has_one_command_only() -> None:
    note = "not merged into main: it has changes of yours; take it with `git merge loop/fb-1`"
    outcome = Outcome(ending=Ending.VERIFIED, attempts=3, branch="loop/fb-1", note=note, not_merged="dirty")
    lines = closed(played(*FAILED_REVIEW, *VERIFIED), outcome)
    assert lines[-3:-1] == ("Result: branch loop/fb-1 ().", f"Note: {note}")


def test_nobody_is_told_to_take_what_a_person_rejected() -> None:
    bent = (Change(path="tests/t.py", how="changed", blob="1"),)
    gate = GateRecord(gate="protected", evidence="e1", because=bent, ruling=Ruling.REJECTED)
    no = Iteration(number=1, commit=Commit("c1"), review=Verdict.FAIL, rejected=True, gated=bent)
    state = played(cancelled(), cleaned_up)
    state = replace(state, past=(no,), course=replace(state.course, gates=(gate,)))
    assert closed(state)[0] == "Iteration 1: no summary; review and tests passed, but a person rejected a change in it"
    red = replace(state.past[0], failures=(NO_DOC,))
    assert closing.sentence(red) == "Iteration 1: no summary; review passed, but a person rejected a change in it"
    assert closed(state)[2] == "Result: none; every attempt holds a change that a person rejected."
    other = replace(state, past=(no, Iteration(number=2, commit=Commit("c2"), review=Verdict.FAIL)))
    assert closed(other)[-2] == "Look at it: `git diff bbbbbbbbbbbb c2`"


def test_an_attempt_that_waits_when_all_is_cancelled_is_kept_and_said_to_be() -> None:
    state = played(cancelled(), cleaned_up)
    lines = closed(replace(state, current=Iteration(number=1, commit=Commit("c1"), review=Verdict.PASS)))
    assert lines[-2] == "Look at it: `git diff bbbbbbbbbbbb c1`"


def test_what_takes_a_result_that_is_not_merged_is_one_command() -> None:
    on_branch = Outcome(ending=Ending.VERIFIED, branch="loop/a")
    assert take_command(on_branch) == "git merge loop/a"
    assert take_command(replace(on_branch, take="git -C /w merge c1", not_merged="dirty")) == "git -C /w merge c1"
    assert take_command(replace(on_branch, merged_into="main")) == ""
    assert take_command(Outcome(ending=Ending.CANCELLED)) == ""


def test_what_could_not_be_landed_is_no_failed_test() -> None:
    last = Iteration(number=2, implementation="x", review=Verdict.PASS, tests=Verdict.FAIL, refused="conflict")
    assert closing.sentence(last) == "Iteration 2: x; review and tests passed, but it could not be landed"


@pytest.mark.parametrize(
    ("cleanup", "sentence"),
    [
        (Cleanup.KEEP_EVERYTHING, "Cancelled after 0 iterations; workspace and files are kept."),
        (Cleanup.KEEP_ARTIFACTS, "Cancelled after 0 iterations; the workspace is removed, its files are kept."),
        (Cleanup.ROLLBACK, "Cancelled after 0 iterations; workspace and branch are removed."),
        (Cleanup.FULL, "Cancelled after 0 iterations; workspace, branch and the loop's files are removed."),
    ],
)
def test_a_cancelled_loop_says_what_is_left(cleanup: Cleanup, sentence: str) -> None:
    lines = closed(played(cancelled(cleanup), cleaned_up))
    assert lines[:2] == (sentence, "Result: none; no attempt left a commit.")
    assert (SCRATCHPAD in lines[-1]) is (cleanup is not Cleanup.FULL)


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (Ending.ESCALATED, "Escalated after 1 iteration with 7 known issues."),
        (Ending.FAILED, "Failed after 1 iteration with 7 known issues."),
    ],
)
def test_what_is_left_wrong_is_shown_and_counted(ending: Ending, sentence: str) -> None:
    findings = tuple(Finding(severity=Severity.LOW, issue=f"issue {n}") for n in range(7))
    lines = closed(played(), Outcome(ending=ending, attempts=1, findings=findings))
    assert lines[0] == sentence
    assert lines[1:-2] == (*(f"  [low] issue {n}" for n in range(5)), "  and 2 others")


def test_an_iteration_that_stopped_half_way_says_how_far_it_came() -> None:
    assert closing.sentence(STORIES["no-result"].past[0]).endswith("no result: crashed: exit code 1); no review")
    halfway = Iteration(number=1, review=STORIES["verified"].past[-1].review)
    assert closing.sentence(halfway) == "Iteration 1: no summary; review passed (SPEC_COMPLIANT), no tests"


def test_the_story_of_a_feedback_loop_is_its_iterations() -> None:
    assert closing.so_far(played(*FAILED_REVIEW)) == (
        "Iteration 1: Added filter(); review failed with 2 issues (NOT_COMPLIANT)",
    )
