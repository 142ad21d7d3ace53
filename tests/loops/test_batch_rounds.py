"""Many artifacts at once: rounds as barriers, who leaves them, and how what passed is landed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, Combine, Integrate, RunChecks, RunLoop, Stop
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import ArtifactsLoaded, BudgetChanged, ConfigChanged, Integrated
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Commit, Ending, Key, LoopId, Outcome, Part, Point
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import ArtifactStanding, BatchArtifact, BatchPhase, BatchState
from loopwright.loops.course import Station, where
from loopwright.loops.quality.state import QualityParams
from loopwright.loops.reviewed import QualityLimits
from tests.loops.batch import (
    BASE,
    CONFLICT,
    LANDED,
    RED_MERGE,
    REFUSED,
    WRONG,
    accepted,
    asks,
    at_work,
    batch,
    blocked,
    checked,
    combined,
    conflicting,
    ended,
    fell_over,
    outcome,
    params,
    passed,
    path,
    play,
    runs,
    says,
    waits,
    wanted,
)
from tests.loops.harness import taken


def standings(state: BatchState) -> list[ArtifactStanding]:
    return [item.standing for item in state.items]


# --- rounds ----------------------------------------------------------------------------------------------------


def test_the_first_round_reviews_every_artifact_in_a_loop_of_its_own() -> None:
    state = batch(2, shared='{"base": "base", "gate": "story"}', max_attempts=2, p1_threshold=1)
    first, second = runs(state)
    assert first == RunLoop(
        key=Key.parse("review-1.0-1"),
        kind="quality",
        params=(
            '{"artifact": "stories/ST-1.yml", "base": "base", "gate": "story", "lands": false,'
            ' "limits": {"max_attempts": 2, "p1_threshold": 1}, "story": "ST-1"}'
        ),
        name=path(1),
        takes=("escalation",),
        upto=(Point("FIX", 1), Point("LOAD_ARTIFACTS", 2)),
        abreast=8,
        why="round 1: not yet reviewed",
    )
    given = decode(QualityParams, second.params)
    assert (given.artifact, given.story, given.lands, given.limits) == (
        path(2),
        "ST-2",
        False,
        QualityLimits(max_attempts=2, p1_threshold=1),
    )


def test_no_fix_is_wanted_before_all_reviews_of_the_round_are_heard() -> None:
    state = play(batch(), blocked(1))
    assert at_work(state) == [(2, "review"), (3, "review")]
    state = play(state, passed(3))
    assert at_work(state) == [(2, "review")]
    state = play(state, blocked(2))
    assert at_work(state) == [(1, "fix"), (2, "fix")]
    assert [run.upto for run in runs(state)] == [(Point("LOAD_ARTIFACTS", 2), Point("FIX", 2))] * 2


def test_no_review_of_the_next_round_is_wanted_before_all_fixes_are_heard() -> None:
    state = play(batch(), blocked(1), blocked(2), passed(3), waits(2, 2))
    assert (at_work(state), state.round) == ([(1, "fix")], 1)
    state = play(state, waits(1, 2))
    assert (at_work(state), state.round) == ([(1, "review"), (2, "review")], 2)
    assert [run.upto for run in runs(state)] == [(Point("FIX", 2), Point("LOAD_ARTIFACTS", 3))] * 2
    assert [item.attempts for item in state.items] == [1, 1, 1]


def test_what_passed_leaves_the_round() -> None:
    state = play(batch(), passed(1), blocked(2), blocked(3), waits(2, 2), waits(3, 2), passed(2, "c2"))
    assert at_work(state) == [(3, "review")]
    assert [str(run.key) for run in runs(state)] == ["review-2-3.0"]


def test_all_are_wanted_and_how_many_abreast_is_the_width() -> None:
    state = batch(5, width=2)
    assert [run.abreast for run in runs(state)] == [2] * 5
    assert at_work(play(state, blocked(2))) == [(number, "review") for number in (1, 3, 4, 5)]
    assert [run.abreast for run in runs(batch(1, width=0))] == [1]


def test_one_whose_review_came_to_no_verdict_is_reviewed_again_in_the_next_round() -> None:
    state = play(batch(2), waits(1, 2), blocked(2))
    assert (at_work(state), standings(state)) == ([(2, "fix")], [ArtifactStanding.PENDING, ArtifactStanding.BLOCKED])
    state = play(state, waits(2, 2))
    assert (at_work(state), state.round) == ([(1, "review"), (2, "review")], 2)
    state = play(batch(2), waits(1, 2), passed(2))
    assert (at_work(state), state.round, state.items[0].attempts) == ([(1, "review")], 2, 1)


def test_stuck_ones_do_not_stop_the_others() -> None:
    state = play(batch(), fell_over(1), asks(2, 1), blocked(3), waits(3, 2))
    assert at_work(state) == [(3, "review")]
    state = play(state, passed(3, "c3"))
    assert (where(state), standings(state)) == (
        BatchPhase.COMBINE,
        [ArtifactStanding.STUCK, ArtifactStanding.STUCK, ArtifactStanding.PASSED],
    )


def test_a_child_that_fell_over_is_blocked_with_the_reason() -> None:
    state = play(batch(1), fell_over(1))
    line = f"FAILED: {path(1)}: `git add` failed: disk full"
    assert (where(state), state.items[0].line, BATCH.stand(state).lines[-1]) == (Station.ESCALATED, line, line)


def test_a_child_that_somebody_cancelled_is_blocked_for_good() -> None:
    state = play(batch(1), ended(1, Ending.CANCELLED, note="QUALITY_BLOCKED: x"))
    assert (where(state), state.items[0].standing, state.items[0].over) == (
        Station.ESCALATED,
        ArtifactStanding.STUCK,
        True,
    )


# --- landing ---------------------------------------------------------------------------------------------------


def all_fixed(**given: object) -> BatchState:
    return play(
        batch(3, **given), blocked(1), blocked(2), passed(3), waits(1, 2), waits(2, 2), passed(2, "c2"), passed(1, "c1")
    )


def test_the_fixes_of_all_that_passed_are_brought_together_and_landed_as_one() -> None:
    state = all_fixed(target="refs/heads/main", merge=True, checked=True, branch="loop/x")
    assert wanted(state, Combine) == Combine(
        key=Key.parse("combine-2.0"),
        base=BASE,
        commits=(Commit("c1"), Commit("c2")),
        made_on=(BASE, BASE),
        label="combined-2-0",
        why="2 artifacts were fixed",
    )
    state = play(state, combined(), checked(passed=True))
    assert wanted(state, Integrate) == Integrate(
        key=Key.parse("land-2.0"),
        commit=Commit("all"),
        base=BASE,
        message="Fix what reviews found in 2 artifacts",
        branch="loop/x",
        target="refs/heads/main",
        verified=True,
        why="3 passed, 0 blocked of 3 artifacts",
    )
    assert outcome(play(state, replace(LANDED, merged_into="main", note="as asked"))) == Outcome(
        ending=Ending.VERIFIED,
        attempts=2,
        commit=Commit("landed"),
        branch="loop/1",
        merged_into="main",
        note="as asked",
        parts=tuple(
            Part(
                name=path(number),
                ending=Ending.REVIEWED,
                note=f"QUALITY_PASS: {path(number)}",
                attempts=1,
                loop=LoopId(f"child-{number}"),
            )
            for number in (1, 2, 3)
        ),
    )


def test_fixes_are_merged_only_where_that_was_asked_for() -> None:
    land = wanted(play(all_fixed(target="refs/heads/main"), combined()), Integrate)
    assert (land.target, land.verified) == ("", False)


def test_where_all_passed_at_once_there_is_nothing_to_land() -> None:
    state = play(batch(2), passed(1), passed(2))
    assert (outcome(state).ending, outcome(state).branch, outcome(state).attempts) == (Ending.REVIEWED, "", 1)


def test_where_the_fixes_come_to_nothing_there_is_nothing_to_land() -> None:
    state = play(all_fixed(), combined(str(BASE), files=0))
    assert (outcome(state).ending, outcome(state).branch) == (Ending.REVIEWED, "")


def test_in_a_log_of_before_a_fix_that_conflicts_with_another_is_asked_about() -> None:
    state = play(all_fixed(target="refs/heads/main", merge=True), combined(left_out=("c2",)))
    assert (wanted(state, Integrate).target, wanted(state, Integrate).message) == (
        "",
        "Fix what reviews found in 1 artifact",
    )
    state = play(state, LANDED)
    line = f"CONFLICT: {path(2)}: its fix, kept as c2, conflicts with that of another artifact"
    assert (state.items[1].standing, state.items[1].line) == (ArtifactStanding.CONFLICT, line)
    assert line in BATCH.stand(state).lines
    assert wanted(state, Ask).question == (
        f"2 passed, 1 blocked of 3 artifacts. Blocked: {path(2)} (in conflict). How should it go on?"
    )
    assert [option.choice for option in wanted(state, Ask).options] == ["accept", "history", "cancel"]


def test_what_passed_is_landed_before_a_person_is_asked_about_the_rest_and_is_not_merged() -> None:
    state = play(batch(2, target="refs/heads/main", merge=True), blocked(1), asks(2, 1), waits(1, 2), passed(1, "c1"))
    assert wanted(play(state, combined()), Integrate).target == ""
    state = play(state, combined(), LANDED)
    assert (where(state), state.result.branch) == (Station.ESCALATED, "loop/1")


def test_a_landing_that_is_refused_is_never_called_verified() -> None:
    state = play(all_fixed(), combined(), REFUSED)
    ask = wanted(state, Ask)
    assert ask.question == (
        "3 passed, 0 blocked of 3 artifacts. the result could not be landed: the branch is locked. How should it go on?"
    )
    assert [option.choice for option in ask.options] == ["continue", "accept", "history", "cancel"]


def test_a_conflict_with_the_target_is_found_by_bringing_all_together_with_it_once() -> None:
    state = play(
        all_fixed(target="refs/heads/main", merge=True, checked=True), combined(), checked(passed=True), CONFLICT
    )
    assert wanted(state, Combine) == Combine(
        key=Key("combine", 2, part="tip", tries=0),
        base=BASE,
        commits=(Commit("tip"), Commit("c1"), Commit("c2")),
        made_on=(BASE, BASE, BASE),
        label="combined-2-0-tip",
        why="2 artifacts were fixed",
    )
    landing = play(state, combined(), checked(passed=True))
    land = wanted(landing, Integrate)
    assert (land.key, land.base, land.target, land.verified, land.unseen) == (
        Key("land", 2, part="tip", tries=0),
        "tip",
        "refs/heads/main",
        True,
        False,
    )
    assert (outcome(play(landing, LANDED)).ending, outcome(play(landing, LANDED)).findings) == (Ending.VERIFIED, ())
    later = wanted(play(landing, replace(CONFLICT, onto=Commit("later"))), Combine)
    assert (str(later.key), later.commits[0]) == ("combine-2-tip1.0", "later")
    again = play(landing, replace(CONFLICT, findings=(WRONG,)))  # with the very tip that it was brought together with
    assert (wanted(again, Ask).findings, BATCH.stand(again).findings) == ((WRONG,), (WRONG,))
    assert wanted(play(again, says("continue")), Combine).commits[0] == "tip"


def test_in_a_log_of_before_a_fix_that_conflicts_with_the_target_is_asked_about() -> None:
    state = play(all_fixed(), combined(), CONFLICT, combined(left_out=("c2",)), LANDED)
    line = f"CONFLICT: {path(2)}: its fix, kept as c2, conflicts with what another artifact or the target has by now"
    assert (where(state), state.items[1].line) == (Station.ESCALATED, line)
    none = play(all_fixed(), combined(), CONFLICT, combined(left_out=("c1", "c2")))
    assert (where(none), none.result.branch) == (Station.ESCALATED, "")


def test_where_a_fix_changed_nothing_the_next_fix_is_asked_for_and_no_review() -> None:
    state = play(batch(2), blocked(1), blocked(2), blocked(1, review=2), waits(2, 2))
    assert (at_work(state), state.round, state.items[0].attempts) == ([(2, "review")], 2, 2)
    state = play(state, passed(2))
    assert at_work(state) == [(1, "fix")]
    state = play(batch(1), blocked(1), blocked(1, review=2))
    assert (at_work(state), state.round, str(runs(state)[0].key)) == ([(1, "fix")], 2, "fix-2-1.0")


def test_a_fix_that_conflicts_is_a_failed_attempt_and_goes_on_from_what_the_others_come_to() -> None:
    state = play(all_fixed(target="refs/heads/main", merge=True), conflicting("c2"))
    assert (at_work(state), state.items[1].standing) == ([(2, "fix")], ArtifactStanding.BLOCKED)
    (run,) = runs(state)
    given = decode(QualityParams, run.params)
    assert (run.name, run.upto, run.said) == (f"{path(2)}//2", (Point("LOAD_ARTIFACTS", 2), Point("FIX", 2)), None)
    assert given.earlier is not None
    assert (given.earlier.attempts, given.earlier.commit, given.earlier.landing.onto) == (1, "c2", "all")
    assert [(each.rule, each.file) for each in given.earlier.landing.findings] == [("merge-conflict", "a")]
    state = play(state, waits(2, 2), passed(2, "c2b", attempts=2))
    assert (str(wanted(state, Combine).key), wanted(state, Combine).commits) == ("combine-3-1.0", ("c1", "c2b"))
    assert wanted(state, Combine).made_on == (BASE, "all")
    done = outcome(play(state, combined(), LANDED))
    assert (done.ending, done.parts[1].attempts, state.items[1].before) == (Ending.REVIEWED, 2, ("child-2",))


def test_one_whose_reviews_are_used_up_when_its_fix_conflicts_is_stuck_and_the_others_are_landed() -> None:
    state = play(all_fixed(), conflicting("c2"), asks(2))
    assert (str(wanted(state, Combine).key), wanted(state, Combine).commits) == ("combine-2-1.0", ("c1",))
    ask = wanted(play(state, combined(), LANDED), Ask)
    assert "Blocked: stories/ST-2.yml." in ask.question
    assert ask.options[0].choice == "continue"


def test_where_a_person_accepts_the_very_fix_that_could_not_be_landed_it_is_a_change_to_what_it_was_made_on() -> None:
    state = play(all_fixed(target="refs/heads/main", merge=True), combined(), CONFLICT, conflicting("c2"), asks(2))
    state = play(state, combined(), LANDED, says("accept", merge=True), accepted(2, "c2"))
    assert (wanted(state, Combine).commits, wanted(state, Combine).made_on) == (("tip", "c1", "c2"), (BASE, BASE, BASE))
    left = play(state, conflicting("c2"))
    assert (wanted(left, Integrate).target, left.items[1].standing) == ("refs/heads/main", ArtifactStanding.CONFLICT)


def test_what_was_landed_on_the_branch_alone_is_merged_once_nothing_is_stuck() -> None:
    state = play(batch(2, target="refs/heads/main", merge=True), blocked(1), asks(2, 1), waits(1, 2), passed(1, "c1"))
    state = play(state, combined(), LANDED, says("continue", count=1), waits(2, 2), passed(2))
    assert wanted(state, Combine).commits == ("c1",)
    state = play(state, combined())
    assert wanted(state, Integrate).target == "refs/heads/main"
    assert outcome(play(state, replace(LANDED, merged_into="main"))).merged_into == "main"
    assert outcome(play(state, replace(LANDED, not_merged="it is dirty"))).not_merged == "it is dirty"


def test_accepted_with_merge_what_is_on_the_branch_is_merged_though_the_rest_has_no_fix() -> None:
    state = play(batch(2, target="refs/heads/main"), blocked(1), asks(2, 1), waits(1, 2), passed(1, "c1"))
    state = play(state, combined(), LANDED, says("accept", merge=True), accepted(2, str(BASE)), combined())
    assert wanted(state, Integrate).target == "refs/heads/main"
    assert outcome(play(state, replace(LANDED, merged_into="main"))).ending is Ending.ACCEPTED


def test_what_turns_the_merged_tree_red_is_found_by_adding_the_fixes_one_by_one() -> None:
    state = play(
        all_fixed(target="refs/heads/main", merge=True, checked=True), combined(), checked(passed=True), RED_MERGE
    )
    assert (str(wanted(state, Combine).key), wanted(state, Combine).commits) == ("combine-2-tip1.0", ("tip", "c1"))
    state = play(state, combined("one"))
    assert wanted(state, RunChecks) == RunChecks(
        key=Key.parse("check-2-tip1.0"),
        commit=Commit("one"),
        base=Commit("tip"),
        why=f"all fixes together fail the checks; whether {path(1)} does",
    )
    state = play(state, checked(passed=True))
    assert wanted(state, Combine).commits == ("tip", "c1", "c2")
    state = play(state, combined("two"), checked(passed=False))
    assert (at_work(state), state.items[1].line) == (
        [(2, "fix")],
        f"FAILED CHECKS: {path(2)}: with its fix these fail: test",
    )
    landing = decode(QualityParams, runs(state)[0].params).earlier
    assert landing is not None
    assert (landing.landing.onto, landing.landing.merged, landing.landing.findings) == ("one", "two", (WRONG,))
    state = play(state, waits(2, 2), passed(2, "c2b", attempts=2), combined(), checked(passed=True))
    assert (wanted(state, Integrate).base, wanted(state, Integrate).unseen) == ("tip", False)
    assert outcome(play(state, LANDED)).ending is Ending.VERIFIED


def test_a_single_fix_that_turns_the_merged_tree_red_is_the_one() -> None:
    state = play(
        batch(1, checked=True), blocked(1), waits(1, 2), passed(1, "c1"), combined(), checked(passed=True), RED_MERGE
    )
    assert (at_work(state), state.items[0].line) == ([(1, "fix")], f"FAILED CHECKS: {path(1)}: test fails")


def test_where_one_by_one_none_is_to_blame_all_are_landed_once_more_and_then_a_person_is_asked() -> None:
    state = play(all_fixed(checked=True), combined(), checked(passed=True), RED_MERGE)
    state = play(state, combined("one"), checked(passed=True), combined("two"), checked(passed=True))
    assert (str(wanted(state, Combine).key), wanted(state, Combine).commits) == (
        "combine-2-tip3.0",
        ("tip", "c1", "c2"),
    )
    state = play(state, combined(), checked(passed=True))
    assert outcome(play(state, LANDED)).ending is Ending.VERIFIED
    ask = wanted(play(state, RED_MERGE), Ask)
    assert (ask.findings, ask.question) == (
        (WRONG,),
        "3 passed, 0 blocked of 3 artifacts. the result could not be landed: test fails. How should it go on?",
    )


def test_one_that_conflicts_while_it_is_added_is_made_anew_and_the_others_go_on() -> None:
    state = play(
        all_fixed(checked=True), combined(), checked(passed=True), RED_MERGE, conflicting("c1", commit="tip and more")
    )
    assert wanted(state, Combine).commits == ("tip", "c2")
    state = play(state, combined("two"), checked(passed=True))
    assert at_work(state) == [(1, "fix")]


def test_a_target_that_could_not_be_moved_is_told_with_the_result() -> None:
    done = outcome(play(all_fixed(), combined(), replace(LANDED, not_merged="it is gone")))
    assert (done.ending, done.branch, done.not_merged) == (Ending.REVIEWED, "loop/1", "it is gone")


# --- size ------------------------------------------------------------------------------------------------------


def test_a_batch_keeps_a_line_of_each_artifact_and_nothing_of_its_findings() -> None:
    prose = "a very long story about what is wrong\n" * 200
    state = batch(200, width=200)
    for number in range(1, 201):
        state = play(
            state,
            ended(number, Ending.ESCALATED, at=Point("ESCALATED", 3), note=prose, asking=Key("escalation", 1)),
        )
    assert all("\n" not in item.line and len(item.line) < 350 for item in state.items)
    given = len(encode(state.plan))
    assert len(encode(state)) - given < 200 * 700
    assert where(state) == Station.ESCALATED
    assert "a very long story" not in wanted(state, Ask).question


def test_a_question_about_many_names_ten_and_counts_the_rest() -> None:
    state = play(batch(12, width=12), *(asks(number) for number in range(1, 13)))
    assert f"{path(9)}, {path(10)} and 2 more. How should it go on?" in wanted(state, Ask).question


# --- where it stands -------------------------------------------------------------------------------------------


def test_it_says_where_it_stands() -> None:
    state = play(batch(), passed(1), asks(2, 1))
    assert BATCH.stand(state) == Standpoint(
        state="REVIEW",
        attempt=1,
        limit=3,
        failures=1,
        headline="1 passed, 1 blocked, 1 under way of 3 artifacts",
        lines=(
            "round 1: 1 passed, 1 blocked, 1 under way of 3 artifacts",
            "at most 3 reviews of each; those that passed leave the round",
            f"QUALITY_BLOCKED: {path(2)} (MAX_LOOPS_REACHED: 3 reviews and 2 fixes)",
        ),
    )


def test_many_that_are_stuck_are_counted() -> None:
    state = play(batch(25, width=25), *(asks(number) for number in range(1, 26)))
    assert (len(BATCH.stand(state).lines), BATCH.stand(state).lines[-1]) == (23, "and 5 more")


# --- the edges -------------------------------------------------------------------------------------------------


def test_an_artifact_that_is_named_twice_is_reviewed_once() -> None:
    once = BatchArtifact(path="a.yml", own='{"story": "a"}')
    state = batch(artifacts=(once, once, BatchArtifact(path="b.yml")))
    assert [run.name for run in runs(state)] == ["a.yml", "b.yml"]
    assert [json.loads(run.params)["artifact"] for run in runs(state)] == ["a.yml", "b.yml"]
    assert json.loads(runs(state)[0].params)["story"] == "a"


def test_a_batch_of_nothing_has_failed() -> None:
    assert wanted(batch(0), Stop).outcome == Outcome(ending=Ending.FAILED, note="there is nothing to review")


def test_new_limits_are_for_the_loops_that_have_not_begun() -> None:
    changed = ConfigChanged(digest="d", settings="{}", limits='{"max_attempts": 7}')
    state = play(batch(2, width=1), blocked(1), changed)
    assert json.loads(runs(state)[0].params)["limits"] == {"max_attempts": 7, "p1_threshold": 2}
    with pytest.raises(InvalidTransition, match=r"limits: \$\.most: unknown field"):
        play(state, ConfigChanged(digest="d", settings="{}", limits='{"most": 7}'))
    with pytest.raises(InvalidTransition, match="the batch has ended"):
        play(batch(1), passed(1), changed)


def test_money_is_not_the_batchs_business() -> None:
    assert play(batch(), BudgetChanged(usd=1.0)) == batch()


def test_what_it_never_asks_for_is_refused_and_so_is_what_it_did_not_ask_for_now() -> None:
    state = batch(1)
    with pytest.raises(InvalidTransition, match="a batch never asks for it"):
        BATCH.apply(state, ArtifactsLoaded(key=Key.parse("review-1.0-1"), contents=()))
    with pytest.raises(InvalidTransition, match="land-1-0 is not asked for"):
        taken(BATCH, state, Integrated(key=Key.parse("land-1-0"), branch="b", commit=Commit("c")))


def test_the_parameters_can_be_stored() -> None:
    assert decode(type(params()), encode(params())) == params()
