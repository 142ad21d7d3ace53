"""When the reviews are used up: what a person is told, and what each answer does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, Checkpoint, CleanUp, Integrate, Option
from loopwright.kernel.events import AgentReported, Event
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import NO_KEY, AgentReport, Cleanup, Commit, Ending, Key, Outcome, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Gate, QualityState
from tests.loops.quality import (
    ALPHA,
    ARTIFACT,
    BASE,
    BETA,
    BLOCKED,
    CANCEL,
    CLEANED,
    CONFLICT,
    CRASHED,
    DELTA,
    FILE,
    FIXED,
    GAMMA,
    GREEN,
    LANDED,
    LOADED,
    NO_VERDICT,
    RED_MERGE,
    REFUSED,
    SAID,
    THREE,
    THREE_REVIEWS,
    UNCLEAR,
    blocked,
    configured,
    creator,
    critical,
    fails,
    fixed,
    flaw,
    keys,
    loaded,
    looked,
    loop,
    medium,
    of,
    options,
    outcome,
    passes,
    play,
    question,
    reviewer,
    saved,
    says,
    told,
    wanted,
)


def used_up() -> QualityState:
    return told(*THREE_REVIEWS)


# --- the question --------------------------------------------------------------------------------------------


def test_the_third_blocked_review_ends_in_a_question_with_every_unresolved_finding() -> None:
    assert wanted(used_up(), Ask) == Ask(
        key=Key.parse("escalation-1"),
        kind="escalation",
        question=(
            f"The review of {ARTIFACT} stopped: MAX_LOOPS_REACHED: 3 reviews and 2 fixes. Unresolved: 3 high."
            " Recommended: manual review; 3 findings outlasted every fix. How should it go on?"
        ),
        options=(
            Option(choice="continue", label="Continue"),
            Option(choice="accept", label="Accept with what is known"),
            Option(choice="history", label="Show the reviews so far"),
            Option(choice="revise", label="Revise: give new guidance"),
            Option(choice="cancel", label="Cancel"),
        ),
        findings=THREE,
        why="MAX_LOOPS_REACHED: 3 reviews and 2 fixes",
    )


def test_findings_that_are_handed_over_in_a_file_are_named_by_it() -> None:
    ask = question(told(*THREE_REVIEWS, gate=Gate.STORY, file=FILE))
    assert (ask.findings, ask.why) == ((), f"MAX_LOOPS_REACHED: 3 reviews and 2 fixes; findings in {FILE}")
    assert f"Unresolved: 3 high. They are in {FILE}. Recommended" in ask.question


@pytest.mark.parametrize(
    ("attempts", "story", "counted"),
    [
        (1, blocked(), "1 review and 0 fixes"),
        (2, (*blocked(), *fixed(), *blocked()), "2 reviews and 1 fix"),
    ],
)
def test_no_fix_is_asked_for_that_no_review_would_see(attempts: int, story: tuple[Event, ...], counted: str) -> None:
    state = told(*story, max_attempts=attempts)
    assert (where(state), state.course.reasons) == (Station.ESCALATED, (f"MAX_LOOPS_REACHED: {counted}",))


def recommended(*story: Event) -> str:
    return question(told(*story)).question.partition("Recommended: ")[2].partition(" How")[0]


def test_a_fix_that_changed_nothing_is_the_first_thing_to_say() -> None:
    still = (*blocked(content="o1"), *fixed(), *blocked(content="o1"), *fixed("c2"), *blocked(content="o1"))
    assert recommended(*still) == "manual review or another creator; the last fix did not change the artifact."


def test_a_review_that_came_to_nothing_does_not_speak_against_the_fix_before_it() -> None:
    story = (*blocked(content="o1"), *fixed(), loaded("o2"), CRASHED, CRASHED, SAID, *blocked(content="o2"))
    assert "did not change" not in recommended(*story)
    silent = AgentReported(key=NO_KEY, report=AgentReport())
    still = (
        *blocked(content="o1"),
        silent,
        saved(),
        *blocked(content="o1"),
        silent,
        saved("c2"),
        *blocked(content="o1"),
    )
    assert "the last fix did not change the artifact" in recommended(*still)


def test_findings_that_came_back_are_the_next_thing_to_say() -> None:
    back = (*blocked(), *fixed(), *blocked(BETA, content="o2"), *fixed("c2"), *blocked(ALPHA, BETA, content="o3"))
    assert recommended(*back) == "manual review; 1 finding came back after being fixed."


def test_without_anything_special_what_is_left_is_to_be_looked_at() -> None:
    others = (
        *blocked(),
        *fixed(),
        *blocked(DELTA, flaw("new-a"), flaw("new-b"), content="o2"),
        *fixed("c2"),
        *blocked(critical("C"), content="o3"),
    )
    assert recommended(*others) == "manual review of what is left."
    once = question(told(*blocked(), max_attempts=1)).question
    assert "Recommended: manual review of what is left." in once


# --- continue and revise -------------------------------------------------------------------------------------


def test_continue_grants_more_reviews_and_the_counts_go_on() -> None:
    state = play(used_up(), says("continue", count=2, text="mind the cents"))
    assert (state.allowance, len(state.rounds), state.fixes, state.course.reasons) == (5, 3, 2, ())
    assert (str(creator(state).key), creator(state).brief.answers) == ("fix-3.4", ("mind the cents",))
    state = play(state, *fixed("c3"), *blocked(), *fixed("c4"), *blocked())
    assert (state.course.reasons, keys(state)) == (("MAX_LOOPS_REACHED: 5 reviews and 4 fixes",), ["escalation-2"])


def test_continue_without_a_number_grants_three() -> None:
    assert play(used_up(), says("continue")).allowance == 6


def test_continue_never_takes_away_what_was_allowed() -> None:
    assert play(told(*blocked(), BLOCKED), says("continue", count=1)).allowance == 3


def test_continue_needs_a_positive_number() -> None:
    with pytest.raises(InvalidTransition, match="continue needs a positive number"):
        play(used_up(), says("continue", count=-1))


def test_revise_starts_the_count_anew_for_a_reason() -> None:
    state = play(used_up(), says("revise", text="use Decimal"))
    assert (state.allowance, len(state.rounds), state.course.reasons) == (6, 3, ())
    assert creator(state).brief.answers == ("use Decimal",)
    with pytest.raises(InvalidTransition, match="revise needs the new guidance as text"):
        play(used_up(), says("revise", text=" "))


def test_history_shows_and_asks_again() -> None:
    state = play(used_up(), says("history"))
    assert (keys(state), wanted(state, Ask).question) == (["escalation-2"], wanted(used_up(), Ask).question)


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="'split' is not one of the options"):
        play(used_up(), says("split"))


# --- accept --------------------------------------------------------------------------------------------------


def best_in_the_middle(**given: object) -> QualityState:
    story = (*blocked(), *fixed("c1"), *blocked(ALPHA), *fixed("c2"), *blocked(ALPHA, BETA, GAMMA))
    return told(*story, **given)


def test_accept_takes_the_best_review_and_not_the_last_with_what_is_wrong_there() -> None:
    state = play(best_in_the_middle(target="refs/heads/main", merge=True, checked=True), says("accept"), GREEN)
    land = wanted(state, Integrate)
    assert (land.commit, land.target, land.verified, land.why) == ("c1", "", True, "accepted by a person")
    assert outcome(play(state, LANDED)) == Outcome(
        ending=Ending.ACCEPTED,
        attempts=3,
        commit=Commit("landed"),
        branch="loop/1",
        note=f"CHECK_BLOCKED: {ARTIFACT}",
        findings=(ALPHA,),
        evidence=Evidence(level=Level.NOT_SHOWN, decisions=("accepted as it is by a person",)),
    )


def test_accept_merges_only_by_a_persons_word() -> None:
    state = play(best_in_the_middle(target="refs/heads/main"), says("accept", merge=True))
    assert wanted(state, Integrate).target == "refs/heads/main"


def test_of_reviews_that_found_the_same_the_later_is_the_best() -> None:
    assert wanted(play(used_up(), says("accept")), Integrate).commit == "c2"


def test_where_the_first_review_was_the_best_there_is_nothing_to_land() -> None:
    story = (*blocked(ALPHA), *fixed("c1"), *blocked(), *fixed("c2"), *blocked())
    state = told(*story, says("accept"))
    assert (outcome(state).ending, outcome(state).commit, outcome(state).branch) == (Ending.ACCEPTED, BASE, "")
    assert outcome(state).findings == (ALPHA,)


def test_the_best_is_landed_though_a_later_fix_took_everything_back() -> None:
    story = (*blocked(), *fixed("c1"), *blocked(ALPHA), FIXED, saved("c2", files=0), *blocked())
    assert wanted(told(*story, says("accept")), Integrate).commit == "c1"


def test_a_critical_finding_weighs_more_than_many_high_ones() -> None:
    story = (*blocked(), *fixed("c1"), *blocked(critical("C")), *fixed("c2"), *blocked(critical("C"), ALPHA))
    assert outcome(told(*story, says("accept"))).commit == BASE


def test_what_no_review_gave_a_verdict_on_cannot_be_accepted() -> None:
    state = told(*NO_VERDICT, max_attempts=1)
    assert options(state) == ["continue", "history", "revise", "cancel"]
    with pytest.raises(InvalidTransition, match="'accept' is not one of the options"):
        play(state, says("accept"))


def test_an_accepted_child_leaves_its_best_to_its_parent() -> None:
    state = play(best_in_the_middle(lands=False), says("accept"))
    assert (outcome(state).ending, outcome(state).commit, outcome(state).branch) == (Ending.ACCEPTED, "c1", "")


# --- landing that is refused -----------------------------------------------------------------------------------


def test_a_result_that_cannot_be_landed_asks_a_person() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes(medium("M"))), REFUSED)
    assert (state.course.reasons, state.rounds[-1].verdict) == (
        ("the result could not be landed: main moved on",),
        Verdict.PASS,
    )
    assert keys(play(state, says("accept"))) == ["land-2-1"]
    assert wanted(play(state, says("accept")), Integrate).commit == "c1"


def test_after_a_refused_landing_it_is_reviewed_once_more() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes()), REFUSED, says("continue", count=1))
    assert (keys(state), state.allowance) == (["load-3"], 3)
    assert keys(play(state, *looked(passes()))) == ["land-3-1"]


def passed_after_a_fix(**given: object) -> QualityState:
    return told(*blocked(), *fixed("c1"), *looked(passes(), "o2"), target="refs/heads/main", merge=True, **given)


def test_a_red_merge_is_a_blocked_review_whose_fix_starts_from_the_merged_tree() -> None:
    state = play(passed_after_a_fix(checked=True), GREEN, RED_MERGE)
    fix = creator(state)
    assert (str(fix.key), fix.start, fix.brief.base, fix.brief.findings) == (
        "fix-2.6",
        "merged",
        "tip",
        (flaw("test"),),
    )
    assert (state.rounds[-1].verdict, state.rounds[-1].line, state.rounds[-1].why) == (
        Verdict.FAIL,
        f"CHECK_PASSED: {ARTIFACT}",
        "no findings; the result could not be landed: main moved on",
    )
    state = play(state, FIXED)
    assert wanted(state, Checkpoint).base == "tip"
    state = play(state, saved("c2"), loaded("o3"))
    assert (reviewer(state).start, reviewer(state).brief.base, reviewer(state).brief.findings) == ("c2", "tip", ())
    land = wanted(play(state, passes(), SAID, GREEN), Integrate)
    assert (land.commit, land.base, land.verified, land.unseen) == ("c2", "tip", True, False)
    done = outcome(play(state, passes(), SAID, GREEN, LANDED))
    assert (done.ending, done.attempts, done.findings) == (Ending.VERIFIED, 3, ())


def test_after_a_conflict_the_fixes_are_made_again_on_top_of_the_new_tip() -> None:
    fix = creator(play(passed_after_a_fix(), CONFLICT))
    assert (fix.start, [finding.rule for finding in fix.brief.findings]) == ("tip", ["merge-conflict", "not-merged"])
    assert fix.brief.findings[1].issue == (
        "the result could not be landed: main moved on; the fixes so far are commit c1 and have to be made again on"
        " top of tip"
    )


def test_a_red_merge_without_a_finding_is_a_finding_itself() -> None:
    silent = replace(RED_MERGE, detail="", findings=())
    (finding,) = creator(play(passed_after_a_fix(), silent)).brief.findings
    assert (finding.rule, finding.issue) == ("not-merged", "the result could not be landed: checks")


def test_a_review_after_a_refused_landing_that_came_to_nothing_is_made_again_from_the_new_base() -> None:
    state = play(passed_after_a_fix(max_attempts=5), CONFLICT, *fixed("c2"), *NO_VERDICT, LOADED)
    assert (str(reviewer(state).key), reviewer(state).brief.base) == ("review-4.2", "tip")
    state = play(state, fails(ALPHA, BETA, GAMMA), SAID, *fixed("c3"), LOADED)
    assert reviewer(state).brief.base == "c2"


def test_a_landing_that_is_refused_after_the_last_review_asks_a_person() -> None:
    state = play(passed_after_a_fix(max_attempts=2), CONFLICT)
    assert state.course.reasons == (
        "MAX_LOOPS_REACHED: 2 reviews and 1 fix",
        "the result could not be landed: main moved on",
    )
    assert {finding.rule for finding in question(state).findings} == {"merge-conflict", "not-merged"}
    assert creator(play(state, says("continue", count=1))).start == "tip"
    land = wanted(play(state, says("accept")), Integrate)
    assert (land.commit, land.base, land.target, land.verified) == ("c1", "base", "", False)


def test_a_target_that_could_not_be_moved_is_told_with_the_result() -> None:
    left = replace(LANDED, not_merged="main has changes that are not committed", note="take it by hand")
    done = outcome(play(passed_after_a_fix(), left))
    assert (done.ending, done.branch, done.not_merged, done.note) == (
        Ending.REVIEWED,
        "loop/1",
        "main has changes that are not committed",
        "take it by hand",
    )


def test_what_was_accepted_and_could_not_be_landed_is_not_accepted_any_more() -> None:
    state = play(best_in_the_middle(), says("accept"), REFUSED)
    assert (state.course.accepted, where(state), keys(state)) == (False, Station.ESCALATED, ["escalation-2"])


# --- cancel ----------------------------------------------------------------------------------------------------


def test_cancel_as_an_answer_keeps_everything() -> None:
    state = play(used_up(), says("cancel"))
    assert wanted(state, CleanUp) == CleanUp(
        key=Key.parse("clean-up"), choice=Cleanup.KEEP_EVERYTHING, base=BASE, why="the loop was cancelled"
    )
    assert outcome(play(state, CLEANED)) == Outcome(
        ending=Ending.CANCELLED,
        attempts=3,
        note=f"CHECK_BLOCKED: {ARTIFACT}",
        findings=THREE,
        cleanup=Cleanup.KEEP_EVERYTHING,
    )


def test_cancel_before_the_first_review_has_nothing_to_say() -> None:
    assert wanted(play(loop(), CANCEL), CleanUp).choice is Cleanup.ROLLBACK
    state = play(loop(), CANCEL, CLEANED)
    assert outcome(state) == Outcome(ending=Ending.CANCELLED, cleanup=Cleanup.ROLLBACK)
    with pytest.raises(InvalidTransition, match="the loop has ended"):
        play(state, CANCEL)


def test_a_cancel_while_landing_is_heard_only_if_the_landing_is_refused() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes()), CANCEL)
    landed = outcome(play(state, LANDED))
    assert (landed.ending, landed.cleanup) == (Ending.REVIEWED, None)
    assert outcome(play(state, REFUSED, CLEANED)).ending is Ending.CANCELLED


# --- settings --------------------------------------------------------------------------------------------------


def test_new_limits_move_the_allowance_and_what_was_granted_stays_granted() -> None:
    state = play(used_up(), says("continue", count=2), configured(max_attempts=5, p1_threshold=1))
    assert (state.allowance, state.plan.limits.max_attempts, state.plan.limits.p1_threshold) == (7, 5, 1)


def test_a_lower_limit_lets_what_is_under_way_be_reviewed_and_then_stops() -> None:
    state = told(*blocked(), configured(max_attempts=1, p1_threshold=2), *fixed(), *blocked())
    assert state.course.reasons == ("MAX_LOOPS_REACHED: 2 reviews and 1 fix",)


def test_limits_that_cannot_be_read_are_refused_and_so_is_anything_after_the_end() -> None:
    with pytest.raises(InvalidTransition, match=r"limits: \$\.most: unknown field"):
        play(loop(), configured(most=1))
    ended = told(LOADED, passes(), SAID)
    with pytest.raises(InvalidTransition, match="the loop has ended"):
        QUALITY.apply(ended, configured(max_attempts=1))


def test_a_review_that_was_not_made_when_a_person_accepted_is_made_where_that_could_not_be_landed() -> None:
    twice = (*blocked(), *fixed("c1"), *blocked(), *fixed("c2"))
    state = told(*twice, LOADED, of("reviewer", UNCLEAR), says("accept"), REFUSED, says("continue"))
    assert keys(state) == ["load-3.4"]
    assert (len(state.rounds), state.fixes) == (2, 2)
    assert outcome(play(state, LOADED, passes(), SAID, LANDED)).attempts == 3
