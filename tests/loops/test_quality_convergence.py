"""Reviews that converge: what was found before, what is new, what came back, what was accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Integrate
from loopwright.kernel.events import AgentReported, Event
from loopwright.kernel.findings import identify
from loopwright.kernel.ledger import Standing
from loopwright.kernel.model import Commit, Ending, Finding, Severity, Verdict
from loopwright.kernel.touched import Touched
from loopwright.loops.course import Station
from loopwright.loops.quality.state import Depth, Gate, Known, QualityPhase, QualityState, Round
from tests.loops.quality import (
    ALPHA,
    ARTIFACT,
    BASE,
    BETA,
    DELTA,
    FIXED,
    GAMMA,
    GONE,
    LANDED,
    LOADED,
    NO_VERDICT,
    SAID,
    THREE,
    THREE_REVIEWS,
    blocked,
    critical,
    fails,
    fixed,
    flaw,
    lines,
    looked,
    medium,
    outcome,
    passes,
    play,
    reviewer,
    saved,
    says,
    told,
    wanted,
)

ONE_ROUND: tuple[Event, ...] = (*blocked(), *fixed("c1"))
TWO_ROUNDS: tuple[Event, ...] = (*ONE_ROUND, *blocked(), *fixed("c2"))


def last(state: QualityState) -> Round:
    return state.rounds[-1]


def standings(state: QualityState) -> dict[str, Standing]:
    return {entry.finding.rule: entry.standing for entry in state.ledger}


def moved(finding: Finding, line: str = "the line as it is now") -> Finding:
    """The same, where the code around it was edited: an identity of its own."""
    return identify(replace(finding, fingerprint=""), code=line)


# --- what was there before -----------------------------------------------------------------------------------


def test_a_re_review_is_given_what_was_wrong_and_what_has_changed_since_the_last_look() -> None:
    brief = reviewer(told(*TWO_ROUNDS, LOADED)).brief
    assert (brief.findings, brief.base, brief.candidate, brief.attempt) == (THREE, "c1", "c2", 3)


def test_what_changed_is_measured_from_the_last_look_that_came_to_a_verdict() -> None:
    state = told(*ONE_ROUND, *NO_VERDICT, LOADED)
    assert (reviewer(state).brief.base, reviewer(state).brief.candidate) == (BASE, "c1")
    state = told(*ONE_ROUND, GONE, SAID, *fixed("c2"), LOADED)
    assert (reviewer(state).brief.base, reviewer(state).brief.candidate) == (BASE, "c2")


def test_without_a_verdict_yet_the_whole_is_new() -> None:
    state = told(*NO_VERDICT, LOADED, against=Commit("main"))
    assert reviewer(state).brief.base == "main"


def test_a_finding_that_is_gone_is_resolved() -> None:
    state = told(*ONE_ROUND, *looked(fails(ALPHA)))
    assert standings(state) == {"alpha": Standing.OPEN, "beta": Standing.RESOLVED, "gamma": Standing.RESOLVED}
    assert reviewer(play(state, *fixed("c2"), LOADED)).brief.findings == (ALPHA,)


def test_a_finding_that_is_back_keeps_its_id_and_weighs_one_step_more() -> None:
    state = told(
        *blocked(ALPHA, medium("M")), *fixed(), *blocked(ALPHA), *fixed("c2"), LOADED, fails(ALPHA, medium("M"))
    )
    (back,) = [entry for entry in state.ledger if entry.finding.rule == "M"]
    assert (back.standing, back.finding) == (
        Standing.REOPENED,
        replace(medium("M"), severity=Severity.HIGH, came_back=True),
    )


def test_high_findings_that_are_back_block_as_critical_though_new_ones_would_not_count() -> None:
    state = told(*blocked(ALPHA, BETA), *fixed(), *blocked(BETA), *fixed("c2"), LOADED, passes(ALPHA))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, "1 critical; any critical finding blocks")


def test_a_finding_that_a_half_hearted_fix_has_moved_is_still_the_same() -> None:
    edited = tuple(moved(finding) for finding in THREE)
    state = told(*TWO_ROUNDS, LOADED, passes(*edited))
    assert (last(state).verdict, state.deferred) == (Verdict.FAIL, ())
    assert last(state).findings == tuple(
        replace(new, fingerprint=old.fingerprint) for new, old in zip(edited, THREE, strict=True)
    )


def test_a_finding_that_is_told_under_another_rule_is_still_the_same() -> None:
    renamed = replace(ALPHA, rule="B7", fingerprint="other")
    state = told(*blocked(ALPHA), *fixed(), *blocked(ALPHA), *fixed("c2"), LOADED, fails(renamed))
    assert last(state).findings == (replace(renamed, fingerprint=ALPHA.fingerprint),)


def test_one_finding_does_not_hide_three_of_the_same_rule() -> None:
    more = tuple(moved(ALPHA, line) for line in ("one", "two", "three"))
    state = told(*blocked(ALPHA), *fixed(), LOADED, passes(*more))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, "3 high; more than 2 high findings block")
    assert ALPHA.fingerprint in {finding.fingerprint for finding in last(state).findings}


def test_a_finding_that_is_named_itself_is_not_taken_for_another_one() -> None:
    beside = moved(ALPHA)
    state = told(*blocked(ALPHA), *fixed(), LOADED, fails(ALPHA, beside))
    assert {finding.fingerprint for finding in last(state).findings} == {ALPHA.fingerprint, beside.fingerprint}


def test_what_may_be_one_that_is_open_or_one_that_was_resolved_is_the_open_one() -> None:
    open_one = flaw("B7")
    both = replace(ALPHA, rule="B7", fingerprint="other")
    story = (*blocked(ALPHA, open_one), *fixed(), *blocked(open_one), *fixed("c2"))
    state = told(*story, LOADED, fails(both))
    assert (last(state).findings, state.deferred) == ((replace(both, fingerprint=open_one.fingerprint),), ())


# --- the rising floor ------------------------------------------------------------------------------------------


def test_in_the_second_review_a_new_medium_is_put_off_and_a_new_high_counts() -> None:
    state = told(*blocked(ALPHA), *fixed(), LOADED, passes(DELTA, medium("M")))
    assert (last(state).findings, last(state).verdict, last(state).why) == (
        (DELTA,),
        Verdict.PASS,
        "1 high; 1 deferred",
    )
    (put_off,) = state.deferred
    assert (put_off.finding, put_off.round) == (medium("M"), 2)
    assert "deferred in review 2: M is wrong (new in round 2, where new findings count from high up)" in lines(state)


def test_in_the_second_review_three_new_highs_block() -> None:
    state = told(*blocked(ALPHA), *fixed(), LOADED, passes(BETA, GAMMA, DELTA))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, "3 high; more than 2 high findings block")


def test_in_the_third_review_two_new_highs_about_what_no_fix_touched_are_put_off_and_do_not_block() -> None:
    new = (flaw("new-a"), flaw("new-b"))
    state = told(*TWO_ROUNDS, *looked(passes(*new)))
    assert (last(state).verdict, last(state).why) == (Verdict.PASS, "no findings; 2 deferred")
    assert tuple(each.finding for each in state.deferred) == new
    assert wanted(state, Integrate).commit == "c2"
    assert outcome(play(state, LANDED)).findings == new


NEW_HIGHS = tuple(flaw(f"new-{letter}") for letter in "abc")


@pytest.mark.parametrize(
    ("review", "why"),
    [
        (fails(NEW_HIGHS[0]), "1 high; the reviewer does not pass it"),
        (fails(medium("M")), "1 medium; the reviewer does not pass it"),
        (passes(*NEW_HIGHS), "3 high; more than 2 high findings block"),
        (fails(*NEW_HIGHS), "3 high; more than 2 high findings block"),
    ],
    ids=["one high", "one medium", "too many", "a no with too many"],
)
def test_no_pass_rests_on_what_was_put_off(review: AgentReported, why: str) -> None:
    state = told(*TWO_ROUNDS, *looked(review))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, why)
    assert (state.deferred, state.course.station) == ((), Station.ESCALATED)
    assert last(state).findings == review.report.findings


def test_high_findings_that_were_put_off_one_by_one_are_too_many_in_the_end() -> None:
    go_on = (says("continue", count=3), *fixed("c3"))
    state = told(*TWO_ROUNDS, *blocked(ALPHA, *NEW_HIGHS[:2]), *go_on, LOADED, passes(NEW_HIGHS[2]))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, "3 high; more than 2 high findings block")
    state = told(*TWO_ROUNDS, *blocked(ALPHA, *NEW_HIGHS[:2]), *go_on, LOADED, passes(ALPHA))
    assert (last(state).verdict, state.deferred) == (Verdict.FAIL, ())


@pytest.mark.parametrize(
    ("file", "line", "counts"),
    [
        (ARTIFACT, 12, True),
        (f"./{ARTIFACT}", 10, True),
        (ARTIFACT, 0, True),
        ("", 0, True),
        (ARTIFACT, 99, False),
        ("src/other.py", 12, False),
    ],
)
def test_what_a_fix_touched_is_never_put_off(file: str, line: int, counts: bool) -> None:  # noqa: FBT001 - a row
    edited = (FIXED, saved("c2", touched=(Touched(path=ARTIFACT, first=10, last=14),)))
    new = tuple(replace(each, file=file, line=line) for each in NEW_HIGHS[:2])
    state = told(*ONE_ROUND, *blocked(), *edited, LOADED, passes(*new))
    assert (last(state).findings, tuple(each.finding for each in state.deferred)) == (
        (new, ()) if counts else ((), new)
    )


def test_what_was_resolved_and_comes_back_where_a_fix_was_made_is_reopened() -> None:
    renamed = replace(ALPHA, rule="B7", fingerprint="other")
    edited = (FIXED, saved("c2", touched=(Touched(path=ARTIFACT),)))
    state = told(*blocked(ALPHA, BETA), *fixed(), *blocked(BETA), *edited, LOADED, passes(renamed))
    assert standings(state)["B7"] is Standing.REOPENED


def test_a_review_that_began_before_the_rule_is_told_by_the_rules_it_began_with() -> None:
    edited = (FIXED, saved("c2", touched=(Touched(path=ARTIFACT),)))
    state = told(*ONE_ROUND, *blocked(), *edited, LOADED, fails(*NEW_HIGHS), firm=False)
    assert (last(state).verdict, last(state).why) == (Verdict.PASS, "no findings; 3 deferred")


def test_in_the_third_review_a_new_critical_blocks() -> None:
    state = told(*TWO_ROUNDS, LOADED, passes(critical("C"), flaw("new-a")))
    assert (last(state).verdict, last(state).findings) == (Verdict.FAIL, (critical("C"),))


def test_the_floor_is_no_excuse_for_what_was_there_before() -> None:
    state = told(*TWO_ROUNDS, LOADED, passes(*THREE, flaw("new-a")))
    assert (last(state).verdict, last(state).why) == (Verdict.FAIL, "3 high; more than 2 high findings block")


def test_the_floor_rises_only_with_reviews_that_were_made() -> None:
    state = told(*NO_VERDICT, *NO_VERDICT, LOADED, passes(*THREE, medium("M")))
    assert (last(state).number, last(state).verdict) == (3, Verdict.FAIL)
    assert (last(state).why, state.deferred) == ("3 high, 1 medium; more than 2 high findings block", ())
    state = told(GONE, SAID, *fixed(), LOADED, passes(medium("M")))
    assert (last(state).findings, state.deferred) == ((medium("M"),), ())


def test_new_guidance_starts_the_floor_anew() -> None:
    state = told(*THREE_REVIEWS, says("revise", text="use Decimal"), *fixed("c3"), LOADED, passes(*THREE, medium("M")))
    assert (last(state).number, state.deferred) == (4, ())
    state = play(state, SAID, *fixed("c4"), LOADED, passes(medium("N")))
    assert [each.finding for each in state.deferred] == [medium("N")]


def test_more_reviews_do_not_start_the_floor_anew() -> None:
    state = told(*THREE_REVIEWS, says("continue", count=1), *fixed("c3"), *looked(passes(flaw("new-a"))))
    assert [each.finding.rule for each in state.deferred] == ["new-a"]


def test_what_was_put_off_once_is_listed_once() -> None:
    state = told(
        *TWO_ROUNDS, *blocked(ALPHA, flaw("new-a")), says("continue"), *fixed("c3"), LOADED, passes(flaw("new-a"))
    )
    assert [(each.finding.rule, each.round) for each in state.deferred] == [("new-a", 3)]


# --- under another name ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "renamed",
    [
        replace(ALPHA, rule="B7", evidence="elsewhere", fingerprint="other"),
        replace(ALPHA, rule="B7", issue="said otherwise", fingerprint="other"),
    ],
    ids=["same words", "same evidence"],
)
def test_what_was_resolved_does_not_come_back_under_another_name(renamed: Finding) -> None:
    state = told(*blocked(ALPHA, BETA), *fixed(), LOADED, fails(BETA), SAID, *fixed("c2"), LOADED, fails(BETA, renamed))
    assert last(state).findings == (BETA,)
    (put_off,) = state.deferred
    assert put_off.why == (f"it was resolved before (as {ALPHA.fingerprint}) and does not come back under another name")


def test_unless_it_is_critical_then_it_is_reopened_with_its_old_id() -> None:
    worse = replace(ALPHA, rule="B7", severity=Severity.CRITICAL, fingerprint="other")
    state = told(*blocked(ALPHA, BETA), *fixed(), LOADED, fails(BETA), SAID, *fixed("c2"), LOADED, passes(worse))
    assert (last(state).verdict, last(state).findings) == (
        Verdict.FAIL,
        (replace(worse, fingerprint=ALPHA.fingerprint),),
    )
    assert standings(state)["B7"] is Standing.REOPENED


def test_another_fault_of_the_same_rule_is_not_what_was_resolved() -> None:
    other = replace(ALPHA, issue="quite another thing", evidence="line 9", fingerprint="other")
    state = told(*blocked(ALPHA, BETA), *fixed(), LOADED, fails(BETA), SAID, *fixed("c2"), LOADED, fails(BETA, other))
    assert [each.why for each in state.deferred] == ["new in round 3, where new findings count from critical up"]


def test_the_same_words_about_another_file_are_another_matter() -> None:
    other = replace(ALPHA, file="src/other.py", fingerprint="other")
    state = told(*blocked(ALPHA, BETA), *fixed(), LOADED, fails(BETA, other))
    assert set(last(state).findings) == {BETA, other}


# --- what earlier reviews left ---------------------------------------------------------------------------------


def test_what_an_earlier_review_of_the_gate_left_open_is_given_to_the_first_review() -> None:
    known = (
        Known(finding=ALPHA, gate="code"),
        Known(finding=BETA, gate="test"),
        Known(finding=GAMMA, gate="code", resolved=True),
    )
    state = told(LOADED, known=known)
    assert reviewer(state).brief.findings == (ALPHA,)
    state = play(state, passes())
    assert (last(state).verdict, standings(state)) == (
        Verdict.PASS,
        {"alpha": Standing.RESOLVED, "gamma": Standing.RESOLVED},
    )


def test_a_review_resolves_findings_of_its_own_gate_only() -> None:
    known = (Known(finding=ALPHA, gate="code"), Known(finding=BETA, gate="test"))
    state = told(LOADED, passes(), gate=Gate.CODE, known=known)
    assert [(entry.finding.rule, entry.source) for entry in state.ledger] == [("alpha", "code")]
    assert state.plan.known == known


def test_what_an_earlier_review_resolved_and_is_back_weighs_more() -> None:
    state = told(LOADED, passes(ALPHA), known=(Known(finding=ALPHA, gate="code", resolved=True),))
    assert (last(state).verdict, last(state).findings) == (Verdict.FAIL, (replace(critical("alpha"), came_back=True),))


def test_a_finding_that_a_file_tells_many_times_counts_once_and_as_told_last() -> None:
    known = (
        Known(finding=ALPHA, gate="code"),
        Known(finding=ALPHA, gate="code", resolved=True),
        Known(finding=ALPHA, gate="test"),
    )
    assert told(known=known).plan.known == known[1:]
    assert len(told(LOADED, passes(ALPHA, BETA), p1_threshold=2, known=(known[0], known[0])).ledger) == 2


def test_a_finding_that_another_tool_wrote_gets_an_identity() -> None:
    strange = replace(ALPHA, fingerprint="")
    assert told(LOADED, known=(Known(finding=strange, gate="code"),)).ledger[0].finding == ALPHA


@pytest.mark.parametrize("gate", ["code", "plan"])
@pytest.mark.parametrize("found", [ALPHA, moved(ALPHA)], ids=["same", "moved"])
def test_a_comprehensive_review_calls_what_was_left_unresolved_critical(gate: str, found: Finding) -> None:
    known = (Known(finding=ALPHA, gate=gate),)
    state = told(LOADED, passes(found), depth=Depth.COMPREHENSIVE, known=known)
    assert (last(state).verdict, last(state).findings[0].severity) == (Verdict.FAIL, Severity.CRITICAL)
    quick = told(LOADED, passes(found), known=known)
    assert (last(quick).verdict, last(quick).findings[0].severity) == (Verdict.PASS, Severity.HIGH)


@pytest.mark.parametrize(
    "known",
    [
        Known(finding=ALPHA, gate="plan", resolved=True),
        Known(finding=ALPHA, gate="plan", accepted=True),
        Known(finding=ALPHA, gate="plan", elsewhere=True),
        Known(finding=medium("alpha"), gate="plan"),
        Known(finding=BETA, gate="plan"),
    ],
    ids=["resolved", "accepted", "resolved elsewhere", "not grave", "another"],
)
def test_a_comprehensive_review_takes_the_rest_as_it_is(known: Known) -> None:
    state = told(LOADED, passes(ALPHA), depth=Depth.COMPREHENSIVE, known=(known,))
    assert last(state).findings == (ALPHA,)


# --- what a person has accepted --------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [ALPHA, moved(ALPHA), replace(ALPHA, rule="B7", fingerprint="other")])
def test_what_a_person_has_accepted_does_not_count(found: Finding) -> None:
    state = told(*looked(fails(found)), known=(Known(finding=ALPHA, gate="code", accepted=True),))
    assert (outcome(state).ending, last(state).why) == (Ending.REVIEWED, "no findings; 1 deferred")
    assert [each.why for each in state.deferred] == ["a person has accepted it"]
    assert "deferred in review 1: alpha is wrong (a person has accepted it)" in lines(state)


def test_what_a_person_has_accepted_as_critical_does_not_count_either() -> None:
    state = told(LOADED, passes(critical("C")), known=(Known(finding=critical("C"), gate="code", accepted=True),))
    assert last(state).verdict is Verdict.PASS


def test_what_has_become_worse_than_what_was_accepted_counts() -> None:
    state = told(LOADED, passes(critical("alpha")), known=(Known(finding=ALPHA, gate="code", accepted=True),))
    assert (last(state).verdict, last(state).findings) == (Verdict.FAIL, (critical("alpha"),))


def test_what_was_accepted_at_another_gate_counts_at_this_one() -> None:
    state = told(LOADED, passes(ALPHA), known=(Known(finding=ALPHA, gate="plan", accepted=True),))
    assert last(state).findings == (ALPHA,)


def test_accepted_findings_are_not_given_as_open_ones() -> None:
    state = told(LOADED, known=(Known(finding=ALPHA, gate="code", accepted=True),))
    assert (reviewer(state).brief.findings, state.phase) == ((), QualityPhase.RUN_CHECKS)
