"""What a person says to a batch, and how it reaches the artifacts that are stuck."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, CleanUp, Combine, Integrate, Option
from loopwright.kernel.events import Answered, CancelRequested
from loopwright.kernel.model import Cleanup, Commit, Ending, Key, Point
from loopwright.loops.batch.state import ArtifactStanding, BatchState
from loopwright.loops.course import Station, where
from tests.loops.batch import (
    BASE,
    CANCEL,
    CLEANED,
    CONFLICT,
    LANDED,
    REFUSED,
    accepted,
    asks,
    at_work,
    batch,
    blocked,
    cancelled,
    checked,
    combined,
    conflicting,
    ended,
    fell_over,
    outcome,
    passed,
    path,
    play,
    runs,
    says,
    waits,
    wanted,
)


def two_stuck(**given: object) -> BatchState:
    """One passed at once, two used up their reviews."""
    return play(batch(3, **given), passed(1), asks(2, 3), asks(3, 2, asked=4))


def told(state: BatchState) -> list[Answered | None]:
    return [run.said if isinstance(run.said, Answered) else None for run in runs(state)]


def answer(key: str, choice: str, count: int = 0, text: str = "") -> Answered:
    return Answered(key=Key.parse(key), choice=choice, count=count, text=text)


def test_the_question_names_what_is_blocked_and_offers_what_can_be_done() -> None:
    assert wanted(two_stuck(), Ask) == Ask(
        key=Key.parse("escalation-1"),
        kind="escalation",
        question=f"1 passed, 2 blocked of 3 artifacts. Blocked: {path(2)}, {path(3)}. How should it go on?",
        options=(
            Option(choice="continue", label="Continue with the blocked ones"),
            Option(choice="accept", label="Accept them with what is known"),
            Option(choice="history", label="Show the reviews so far"),
            Option(choice="revise", label="Revise: give new guidance"),
            Option(choice="cancel", label="Cancel"),
        ),
        why="1 passed, 2 blocked of 3 artifacts",
    )


# --- continue and revise ---------------------------------------------------------------------------------------


def test_continue_reaches_every_stuck_child_as_the_answer_to_its_own_question() -> None:
    state = play(two_stuck(), says("continue", count=2, text="mind the names"))
    assert told(state) == [
        answer("escalation-1", "continue", 2, "mind the names"),
        answer("escalation-4", "continue", 2, "mind the names"),
    ]
    assert [(str(run.key), run.upto) for run in runs(state)] == [
        ("fix-1-2.1", (Point("LOAD_ARTIFACTS", 4), Point("FIX", 4))),
        ("fix-1-3.1", (Point("LOAD_ARTIFACTS", 3), Point("FIX", 3))),
    ]
    state = play(state, waits(2, 4), waits(3, 3))
    assert (at_work(state), told(state)) == ([(2, "review"), (3, "review")], [None] * 2)


def test_continue_without_a_number_grants_three() -> None:
    assert [each.count for each in told(play(two_stuck(), says("continue"))) if each] == [3, 3]


def test_revise_reaches_every_stuck_child() -> None:
    state = play(two_stuck(), says("revise", text="shorter"))
    assert told(state) == [answer(f"escalation-{asked}", "revise", text="shorter") for asked in (1, 4)]


def test_a_child_that_fell_over_before_its_review_is_simply_reviewed_again() -> None:
    state = play(batch(2), fell_over(1), passed(2), says("continue"))
    assert (at_work(state), runs(state)[0].upto, state.round) == (
        [(1, "review")],
        (Point("FIX", 1), Point("LOAD_ARTIFACTS", 2)),
        2,
    )
    state = play(batch(2), fell_over(1), asks(2), says("continue"))
    assert at_work(state) == [(2, "fix")]
    assert at_work(play(state, waits(2, 4))) == [(1, "review"), (2, "review")]


def test_a_child_that_fell_over_in_its_fix_goes_on_with_it() -> None:
    state = play(batch(1), blocked(1), fell_over(1), says("continue"))
    assert (at_work(state), told(state), runs(state)[0].upto) == (
        [(1, "fix")],
        [None],
        (Point("LOAD_ARTIFACTS", 2), Point("FIX", 2)),
    )


def test_those_that_are_stuck_again_are_asked_about_again() -> None:
    state = play(two_stuck(), says("continue", count=1), asks(2, 4, asked=2), waits(3, 3), passed(3, "c3"))
    state = play(state, combined(), LANDED)
    assert (str(wanted(state, Ask).key), [item.standing for item in state.items]) == (
        "escalation-2",
        [ArtifactStanding.PASSED, ArtifactStanding.STUCK, ArtifactStanding.PASSED],
    )
    assert told(play(state, says("continue"))) == [answer("escalation-2", "continue", 3)]


def test_what_was_landed_before_is_landed_again_with_the_rest() -> None:
    state = play(batch(2), blocked(1), asks(2, 1), waits(1, 2), passed(1, "c1"), combined("one"), LANDED)
    state = play(state, says("continue"), waits(2, 2), passed(2, "c2"))
    assert (str(wanted(state, Combine).key), wanted(state, Combine).commits) == ("combine-3.1", ("c1", "c2"))
    assert outcome(play(state, combined("both"), LANDED)).ending is Ending.REVIEWED


def test_nothing_is_continued_whose_loop_has_ended() -> None:
    state = play(batch(1), ended(1, Ending.CANCELLED))
    assert [option.choice for option in wanted(state, Ask).options] == ["accept", "history", "cancel"]
    for said in (says("continue"), says("revise", text="x")):
        with pytest.raises(InvalidTransition, match="is not one of the options"):
            play(state, said)


def test_a_refused_landing_is_tried_again_by_continue() -> None:
    state = play(batch(1), blocked(1), waits(1, 2), passed(1, "c1"), combined(), REFUSED)
    state = play(state, says("continue"))
    assert str(wanted(state, Combine).key) == "combine-2.1"
    assert str(wanted(play(state, combined()), Integrate).key) == "land-2.1"
    done = outcome(play(state, combined(), LANDED))
    assert (done.ending, done.branch, done.note) == (Ending.REVIEWED, "loop/1", "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (says("continue", count=-1), "continue needs a positive number"),
        (says("revise"), "revise needs the new guidance as text"),
        (says("split"), "'split' is not one of the options"),
    ],
)
def test_an_answer_that_says_nothing_is_refused(said: Answered, why: str) -> None:
    with pytest.raises(InvalidTransition, match=why):
        play(two_stuck(), said)


def test_history_shows_and_asks_again() -> None:
    state = play(two_stuck(), says("history"))
    assert (str(wanted(state, Ask).key), wanted(state, Ask).question) == (
        "escalation-2",
        wanted(two_stuck(), Ask).question,
    )


# --- accept ----------------------------------------------------------------------------------------------------


def test_accept_reaches_every_stuck_child_and_lands_their_best() -> None:
    state = play(two_stuck(target="refs/heads/main", merge=True, checked=True), says("accept"))
    assert told(state) == [answer("escalation-1", "accept"), answer("escalation-4", "accept")]
    state = play(state, accepted(2, "c2"), accepted(3, "base"), combined("two"), checked(passed=True))
    land = wanted(state, Integrate)
    assert (land.commit, land.target, land.verified) == ("two", "", True)
    done = outcome(play(state, LANDED))
    assert (done.ending, [part.ending for part in done.parts]) == (
        Ending.ACCEPTED,
        [Ending.REVIEWED, Ending.ACCEPTED, Ending.ACCEPTED],
    )


def test_accept_merges_only_by_a_persons_word() -> None:
    state = play(two_stuck(target="refs/heads/main"), says("accept", merge=True), accepted(2, "c2"), accepted(3, "c3"))
    assert wanted(play(state, combined()), Integrate).target == "refs/heads/main"


def test_what_has_nothing_to_accept_stays_blocked_and_the_batch_ends() -> None:
    state = play(batch(2), fell_over(1), asks(2), says("accept"))
    assert at_work(state) == [(2, "fix")]
    state = play(state, asks(2))
    assert at_work(state) == [(1, "cancel"), (2, "cancel")]  # nothing waits on under a batch that has ended
    done = outcome(play(state, cancelled(1), cancelled(2)))
    assert (done.ending, [part.ending for part in done.parts]) == (
        Ending.ACCEPTED,
        [Ending.ESCALATED, Ending.ESCALATED],
    )
    assert outcome(play(batch(1), fell_over(1), says("accept"), cancelled(1))).ending is Ending.ACCEPTED


def test_a_conflict_is_accepted_by_leaving_it_out() -> None:
    state = play(batch(2), blocked(1), blocked(2), waits(1, 2), waits(2, 2), passed(1, "c1"), passed(2, "c2"))
    state = play(state, combined(left_out=("c2",)), LANDED, says("accept"))
    done = outcome(state)
    assert (done.ending, done.commit, [part.ending for part in done.parts]) == (
        Ending.ACCEPTED,
        Commit("landed"),
        [Ending.REVIEWED, Ending.ESCALATED],
    )


def test_what_conflicts_with_what_a_person_accepted_is_not_made_anew_behind_their_back() -> None:
    state = play(two_stuck(), says("accept"), accepted(2, "c2"), accepted(3, "c3"), conflicting("c3"), LANDED)
    assert [part.ending for part in outcome(state).parts] == [Ending.REVIEWED, Ending.ACCEPTED, Ending.ESCALATED]


def test_a_landing_that_is_refused_again_never_ends_an_accepted_batch_as_if_it_had_landed() -> None:
    state = play(two_stuck(target="refs/heads/main", merge=True), says("accept", merge=True))
    state = play(state, accepted(2, "c2"), accepted(3, "base"), combined(), CONFLICT, combined(), CONFLICT)
    assert (where(state), state.course.reasons) == (
        Station.ESCALATED,
        ("the result could not be landed: both changed a",),
    )
    state = play(state, says("continue"), combined())
    land = wanted(state, Integrate)
    assert (land.target, land.verified) == ("refs/heads/main", False)  # what was accepted stays so
    assert outcome(play(state, LANDED)).ending is Ending.ACCEPTED


def test_an_accepted_batch_of_a_log_that_does_not_say_where_the_target_stood_ends_with_the_reason() -> None:
    state = play(batch(1), blocked(1), waits(1, 2), passed(1, "c1"), combined(), REFUSED, says("accept"))
    done = outcome(play(state, combined(), REFUSED))
    assert (done.ending, done.branch, done.note) == (
        Ending.ACCEPTED,
        "",
        "the fixes could not be landed: the branch is locked",
    )


# --- cancel ----------------------------------------------------------------------------------------------------


def test_cancel_reaches_every_child_that_has_not_ended() -> None:
    state = play(two_stuck(), says("cancel"))
    assert (at_work(state), runs(state)[0].said) == ([(2, "cancel"), (3, "cancel")], CancelRequested())
    state = play(state, cancelled(2))
    assert at_work(state) == [(3, "cancel")]
    assert runs(state)[0].upto == ()
    state = play(state, cancelled(3))
    assert wanted(state, CleanUp).choice is Cleanup.KEEP_EVERYTHING
    done = outcome(play(state, CLEANED))
    assert (done.ending, done.cleanup, [part.ending for part in done.parts]) == (
        Ending.CANCELLED,
        Cleanup.KEEP_EVERYTHING,
        [Ending.REVIEWED, Ending.ESCALATED, Ending.ESCALATED],
    )


def test_what_was_under_way_when_it_was_cancelled_is_cancelled() -> None:
    state = play(batch(), passed(1), blocked(2), CANCEL)
    assert [run.said for run in runs(state)] == [CancelRequested(cleanup=Cleanup.ROLLBACK)] * 2
    done = outcome(play(state, cancelled(3), cancelled(2), CLEANED))
    assert (done.cleanup, [part.ending for part in done.parts]) == (
        Cleanup.ROLLBACK,
        [Ending.REVIEWED, Ending.CANCELLED, Ending.CANCELLED],
    )


def test_a_child_that_was_accepted_has_ended_and_is_not_cancelled() -> None:
    state = play(two_stuck(), says("accept"), accepted(2, "c2"), CANCEL)
    assert at_work(state) == [(3, "cancel")]


def test_a_child_that_had_just_passed_when_it_was_cancelled_has_passed() -> None:
    done = outcome(play(batch(1), CANCEL, passed(1, "c1"), CLEANED))
    assert (done.ending, done.parts[0].ending) == (Ending.CANCELLED, Ending.REVIEWED)


def test_cancel_with_nothing_left_open_cleans_up_at_once() -> None:
    state = play(batch(1), ended(1, Ending.CANCELLED), CANCEL)
    assert wanted(state, CleanUp) == CleanUp(
        key=Key.parse("clean-up"), choice=Cleanup.ROLLBACK, base=BASE, why="the batch was cancelled"
    )
    for ending in (state, play(state, CLEANED), play(batch(1), CANCEL)):
        with pytest.raises(InvalidTransition, match="the batch has ended"):
            play(ending, CANCEL)


def landing(*, rest: bool) -> BatchState:
    second = asks(2, 1) if rest else passed(2)
    return play(batch(2), blocked(1), second, waits(1, 2), passed(1, "c1"), combined(), CANCEL)


def test_a_cancel_while_landing_comes_too_late_where_nothing_is_left() -> None:
    state = landing(rest=False)
    assert where(state) == Station.LAND
    done = outcome(play(state, LANDED))
    assert (done.ending, done.cleanup, done.branch) == (Ending.REVIEWED, None, "loop/1")


def test_a_cancel_while_landing_is_for_what_is_left() -> None:
    state = play(landing(rest=True), LANDED)
    assert (at_work(state), state.result.branch) == ([(2, "cancel")], "loop/1")
    assert outcome(play(state, cancelled(2), CLEANED)).ending is Ending.CANCELLED


def test_a_cancel_while_landing_is_heard_when_the_landing_is_refused() -> None:
    for rest in (False, True):
        state = play(landing(rest=rest), REFUSED, *((cancelled(2),) if rest else ()), CLEANED)
        assert outcome(state).ending is Ending.CANCELLED
