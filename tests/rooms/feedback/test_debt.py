from collections.abc import Callable

from loopwright.app.debt import debt_entry
from loopwright.loops.feedback import closing
from loopwright.loops.feedback.kind import KIND
from tests.rooms.feedback.stories import (
    AT,
    ESCALATED,
    FAILED_REVIEW,
    FAILED_TEST,
    LOOP,
    STORIES,
    TWICE,
    answered,
    landed,
    played,
)


def test_what_was_accepted_is_written_down(golden: Callable[[str, str], None]) -> None:
    golden("texts/debt.md", debt_entry(KIND, LOOP, STORIES["accepted"], AT, "ann"))


def test_faults_that_other_attempts_left_open_are_named_apart() -> None:
    state = played(*FAILED_TEST, *FAILED_REVIEW, answered("accept"), landed, params=TWICE)
    text = debt_entry(KIND, LOOP, state, AT, "")
    assert "- **Accepted by**: (not said)\n- **Accepted**: iteration 1 of 2 iterations\n" in text
    assert text.partition("- **Open findings**")[2] == (
        ": none\n"
        "- **Failing tests**:\n"
        "  - [high] tests/test_filter.py::test_empty - assert [] == [1] (tests/test_filter.py:7)\n"
        "- **Seen in other iterations and not resolved**:\n"
        "  - [high] src/filter.py:12 - The order is lost\n"
        "  - [low] The page about lists says nothing of the filter\n"
    )


def test_the_ending_counts_and_lists_all_that_the_debt_has() -> None:
    state = played(*FAILED_TEST, *FAILED_REVIEW, answered("accept"), landed, params=TWICE)
    assert state.course.outcome is not None
    told = "\n".join(closing.lines(state, state.course.outcome))
    assert "with 3 known issues, 2 of them seen in other iterations" in told
    assert "The order is lost" in told


def test_before_it_has_landed_the_attempts_own_commit_is_named() -> None:
    assert f"- **Commit**: {2:040d}\n- **Branch**: (none)\n" in debt_entry(KIND, LOOP, ESCALATED, AT, "ann")


def test_without_any_attempt_there_is_no_commit_to_name() -> None:
    text = debt_entry(KIND, LOOP, played(), AT, "*ann*")
    assert "- **Accepted by**: \\*ann\\*\n" in text
    assert "- **Commit**: (none)\n" in text
