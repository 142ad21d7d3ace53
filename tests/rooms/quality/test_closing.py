from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry
from loopwright.kernel.model import Cleanup, Ending, Outcome, Verdict
from loopwright.loops.closing import look_closer, without_advice
from loopwright.loops.course import steered
from loopwright.loops.quality import closing
from loopwright.loops.quality.kind import KIND
from loopwright.loops.quality.state import QualityState
from loopwright.loops.reviewed import ReviewResult
from tests.rooms.feedback.stories import AT, LOOP
from tests.rooms.quality.reviews import (
    AGAIN,
    BLOCKED,
    FIXED,
    NAMELESS,
    STORIES,
    UNBOUND,
    UNPROVEN,
    announced,
    cancelled,
    cleaned_up,
    found,
    loaded,
    played,
    silent,
)

Golden = Callable[[str, str], None]
HANDOFF = ".loop/stories/st-1/handoff.yml"


def rendered(state: QualityState, outcome: Outcome, *files: str) -> tuple[str, ...]:
    return (*closing.lines(state, outcome), look_closer(LOOP, outcome, files))


def closed(state: QualityState, *files: str) -> tuple[str, ...]:
    assert state.course.outcome is not None
    return rendered(state, state.course.outcome, *files)


def test_the_closing_lines_of_a_review(golden: Golden) -> None:
    names = ("passed", "passed-at-once", "accepted", "cancelled")
    text = "\n\n".join("\n".join(closed(STORIES[name], HANDOFF)) for name in names)
    golden("texts/closing-quality.txt", text + "\n")


def test_where_all_is_gone_no_command_is_advised() -> None:
    lines = closed(STORIES["cancelled"], HANDOFF)
    assert [line for line in lines if line not in without_advice(lines)] == [
        line for line in lines if line.startswith(("Take it: ", "Land it: ", "Look at it: ", "Look closer: "))
    ]
    assert len(without_advice(lines)) < len(lines)


def test_only_what_a_review_came_to_has_unresolved_findings() -> None:
    state = STORIES["passed"]
    assert KIND.unresolved(state, ReviewResult()) == KIND.unresolved(state, None) == ()


def test_a_stopped_review_shows_every_unresolved_finding() -> None:
    assert closing.so_far(played(*BLOCKED, *FIXED, *AGAIN, *FIXED, *BLOCKED)) == (
        "Review 1: CHECK_BLOCKED: src/a.py (1 critical, 1 low; any critical finding blocks)",
        "Fix after review 1: Read at most 1 MiB",
        "Review 2: CHECK_BLOCKED: src/a.py (1 critical; any critical finding blocks)",
        "Fix after review 2: Read at most 1 MiB",
        "Review 3: CHECK_BLOCKED: src/a.py (1 critical, 1 medium; any critical finding blocks)",
        "Unresolved, 2 findings:",
        "  [critical] src/a.py:3 - The input is read without a bound",
        "  [medium] src/a.py - x says nothing (it came back: one step graver)",
    )


def test_many_unresolved_findings_are_all_shown() -> None:
    many = tuple(replace(UNBOUND, issue=f"fault {n}", fingerprint=str(n)) for n in range(40))
    lines = closing.so_far(played(loaded, found(*many), announced))
    assert [line for line in lines if "fault" in line] == [f"  [critical] src/a.py:3 - fault {n}" for n in range(40)]


def test_what_does_not_count_is_said_with_the_reason() -> None:
    late = replace(NAMELESS, issue="y says nothing", evidence="the name y", fingerprint="y")
    state = played(*BLOCKED, *FIXED, loaded, found(late, UNPROVEN, verdict=Verdict.PASS), announced)
    told = closing.so_far(state)
    assert told[-2:] == (
        "  deferred: [low] src/a.py - y says nothing (new in round 2, where new findings count from high up)",
        "  dropped: It feels slow: no evidence",
    )


def test_a_review_without_a_verdict_has_nothing_to_take() -> None:
    state = played(loaded, silent, silent, announced)
    outcome = Outcome(ending=Ending.FAILED, attempts=1)
    assert rendered(state, outcome) == (
        "Review 1: CHECK_BLOCKED: src/a.py (The reviewer gave no verdict (crashed: exit code 1))",
        "Failed after 1 review and 0 fixes with 0 known issues.",
        "Result: nothing to take; no fix changed anything.",
        "Look closer: `loop log --loop fb-1`",
    )


def test_a_fix_that_was_cancelled_before_its_review_can_be_had() -> None:
    assert closed(STORIES["cancelled"])[-3:-1] == (
        "Result: not landed; the last fix, which no review has judged, is kept as 000000000000. It is not verified.",
        "Look at it: `git diff bbbbbbbbbbbb 000000000000`",
    )
    later = played(*BLOCKED, *FIXED, *AGAIN, *FIXED, cancelled, cleaned_up)
    assert closed(later)[-3] == "Result: not landed; what review 2 saw is kept as 000000000000. It is not verified."


def test_before_any_review_there_is_nothing_unresolved() -> None:
    assert closing.so_far(played()) == ()


def test_one_finding_that_does_not_block_and_several() -> None:
    assert STORIES["passed"].course.outcome
    one = closed(STORIES["passed"])
    assert "Passed after 2 reviews and 1 fix with 1 finding that does not block." in one
    other = replace(NAMELESS, issue="z says nothing", evidence="line 7", fingerprint="z")
    more = closed(played(loaded, found(NAMELESS, other, verdict=Verdict.PASS), announced))
    assert "Passed after 1 review and 0 fixes with 2 findings that do not block." in more


def test_a_note_of_the_landing_is_told_and_the_last_verdict_is_not_told_twice() -> None:
    state = STORIES["passed"]
    assert state.course.outcome is not None
    noted = replace(state.course.outcome, note="main is dirty")
    assert "Note: main is dirty" in rendered(state, noted)
    assert not [line for line in closed(state) if line.startswith("Note:")]


def test_a_merged_result_needs_no_command() -> None:
    state = STORIES["passed"]
    assert state.course.outcome is not None
    merged = replace(state.course.outcome, merged_into="refs/heads/main")
    assert rendered(state, merged)[-2] == "Result: merged into main (cccccccccccc)."


def test_files_are_named_unless_they_were_removed() -> None:
    state = STORIES["cancelled"]
    assert state.course.outcome is not None
    gone = replace(state.course.outcome, cleanup=Cleanup.FULL)
    assert rendered(state, state.course.outcome, HANDOFF, "src/a.quality.yml")[-1] == (
        f"Look closer: `loop log --loop fb-1`, {HANDOFF}, src/a.quality.yml"
    )
    assert rendered(state, gone, HANDOFF)[-1] == "Look closer: `loop log --loop fb-1`"


@pytest.mark.parametrize("ending", [Ending.ESCALATED, Ending.HELD, Ending.FAILED])
def test_any_other_ending_is_named(ending: Ending) -> None:
    lines = rendered(STORIES["escalated"], Outcome(ending=ending, findings=(UNBOUND,)))
    assert f"{ending.value.capitalize()} after 3 reviews and 2 fixes with 1 known issue." in lines


# --- what is owed ---------------------------------------------------------------------------------


def test_what_was_accepted_of_a_review_is_written_down(golden: Golden) -> None:
    golden("texts/debt-quality.md", debt_entry(KIND, LOOP, STORIES["accepted"], AT, "ann"))


def test_what_was_put_off_and_what_other_reviews_left_are_owed_too() -> None:
    late = replace(NAMELESS, issue="y says nothing", evidence="the name y", fingerprint="y")
    worse = replace(UNBOUND, issue="It writes anywhere", evidence="line 5", fingerprint="w", rule="R2")
    state = played(*BLOCKED, *FIXED, loaded, found(UNBOUND, worse, late), announced, *FIXED, *AGAIN)
    text = debt_entry(KIND, LOOP, steered(state, accepted=True), AT, "")
    assert text.partition("- **Open findings**")[2] == (
        ":\n"
        "  - [critical] src/a.py:3 - The input is read without a bound\n"
        "- **Deferred**:\n"
        "  - [low] src/a.py - y says nothing\n"
    )
    ended = Outcome(ending=Ending.ACCEPTED, findings=(UNBOUND,))
    assert any("with 1 known issue and 1 deferred, recorded" in line for line in closing.lines(state, ended))
    left = played(*AGAIN, *FIXED, loaded, found(UNBOUND, worse), announced)
    told = "\n".join(closing.lines(left, ended))
    assert "with 2 known issues, 1 of them seen in other reviews" in told
    assert "It writes anywhere" in told
    first = debt_entry(KIND, LOOP, left, AT, "")
    assert "- **Accepted**: review 1 of 2 reviews, 1 fix\n" in first
    assert first.partition("- **Seen in other reviews and not resolved**")[2] == (
        ":\n  - [critical] src/a.py:3 - It writes anywhere\n"
    )


def test_a_review_that_never_had_a_verdict_owes_nothing_that_is_known() -> None:
    text = debt_entry(KIND, LOOP, played(loaded, silent, silent, announced), AT, "ann")
    assert "- **Accepted**: 1 review, 0 fixes\n- **Commit**: (none)\n- **Branch**: (none)\n" in text
