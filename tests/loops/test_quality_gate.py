"""The way through a review, the gate rule, and what counts as a finding: each rule as a short story."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Announce, Checkpoint, Integrate, LoadArtifacts, RunAgent, Stop
from loopwright.kernel.events import BudgetChanged, ChecksReported, Event
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import AgentStatus, Brief, Commit, Ending, Finding, Key, Outcome, Severity, Tree, Verdict
from loopwright.loops.course import Station, stationed
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Depth, Gate, QualityState, ReviewFacts, Round
from tests.loops.harness import taken
from tests.loops.quality import (
    AIMLESS,
    ALPHA,
    ARTIFACT,
    BASE,
    BETA,
    DELTA,
    FILE,
    FIXED,
    GAMMA,
    GONE,
    GREEN,
    LANDED,
    LOADED,
    SAID,
    THREE,
    UNSHOWN,
    blocked,
    configured,
    creator,
    critical,
    fails,
    fixed,
    flaw,
    keyed,
    keys,
    lines,
    looked,
    loop,
    low,
    medium,
    outcome,
    passes,
    play,
    review,
    reviewer,
    saved,
    told,
    wanted,
)

# --- the way through ---------------------------------------------------------------------------------------


def test_a_review_loads_the_artifact_then_runs_the_reviewer_then_says_its_verdict() -> None:
    state = loop(task="pay twice", criteria=("no float",), against=Commit("main"))
    assert QUALITY.decide(state) == (
        LoadArtifacts(key=Key.parse("load-1"), commit=BASE, paths=(ARTIFACT,), why="the review is new"),
    )
    state = play(state, LOADED)
    assert QUALITY.decide(state) == (
        RunAgent(
            key=Key.parse("review-1.2"),
            role="reviewer",
            brief=Brief(
                task="pay twice",
                attempt=1,
                limit=3,
                criteria=("no float",),
                artifacts=(ARTIFACT,),
                own=ReviewFacts(gate="code", depth="quick", story="pay"),
                base=Commit("main"),
                candidate=BASE,
            ),
            start=BASE,
            writes=False,
            needs_verdict=True,
            why="code gate, quick depth, review 1 of 3",
        ),
    )
    state = play(state, passes())
    assert QUALITY.decide(state) == (
        Announce(key=Key.parse("verdict-1.3"), text=f"CHECK_PASSED: {ARTIFACT}", why="no findings"),
    )
    assert QUALITY.decide(play(state, SAID)) == (
        Stop(
            outcome=Outcome(ending=Ending.REVIEWED, attempts=1, commit=BASE, note=f"CHECK_PASSED: {ARTIFACT}"),
            why=f"CHECK_PASSED: {ARTIFACT}",
        ),
    )


def test_a_blocked_review_is_followed_by_a_fix_of_which_only_what_was_named_is_taken() -> None:
    elsewhere, nowhere = flaw("beta", file="src/money.py"), flaw("gamma", file="")
    state = told(*blocked(ALPHA, elsewhere, nowhere))
    assert QUALITY.decide(state) == (
        RunAgent(
            key=Key.parse("fix-1.4"),
            role="creator",
            brief=Brief(
                task="",
                attempt=1,
                limit=3,
                findings=(ALPHA, elsewhere, nowhere),
                artifacts=(ARTIFACT,),
                own=ReviewFacts(gate="code", depth="quick", story="pay"),
                base=BASE,
                candidate=BASE,
                history=(f"Review 1: CHECK_BLOCKED: {ARTIFACT} (3 high; more than 2 high findings block)",),
            ),
            start=BASE,
            writes=True,
            why=f"CHECK_BLOCKED: {ARTIFACT}; 3 high; more than 2 high findings block",
        ),
    )
    state = play(state, FIXED)
    assert QUALITY.decide(state) == (
        Checkpoint(
            key=Key.parse("checkpoint-1"),
            label="1",
            parent=BASE,
            base=BASE,
            only=(ARTIFACT,),
            also=("src/money.py",),
            why="of a fix only the artifact, the files its findings name and new tests are taken",
        ),
    )
    state = play(state, saved("c1", dropped=("src/other.py",)))
    assert (keys(state), state.commit, state.rounds[0].fix) == (["load-2"], "c1", "mended it")
    assert "not taken from the last fix: src/other.py, which no finding names" in lines(state)


def test_what_the_creator_says_is_never_told_to_the_reviewer() -> None:
    state = told(*blocked(), *fixed(), LOADED)
    assert "mended it" not in repr(reviewer(state).brief)


def test_a_fix_that_passes_is_landed() -> None:
    story = (*blocked(), *fixed("c1"), *looked(passes()), GREEN)
    state = told(*story, target="refs/heads/main", merge=True, checked=True)
    assert QUALITY.decide(state) == (
        Integrate(
            key=Key.parse("land-2-0"),
            commit=Commit("c1"),
            base=BASE,
            message=f"Fix what the code review of {ARTIFACT} found",
            target="refs/heads/main",
            verified=True,
            why=f"CHECK_PASSED: {ARTIFACT}",
        ),
    )
    assert outcome(play(state, LANDED)) == Outcome(
        ending=Ending.VERIFIED,
        attempts=2,
        commit=Commit("landed"),
        branch="loop/1",
        note=f"CHECK_PASSED: {ARTIFACT}",
    )


def test_a_result_is_merged_only_where_that_was_asked_for() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes()), target="refs/heads/main")
    assert (wanted(state, Integrate).target, wanted(state, Integrate).verified) == ("", False)


def test_a_result_lands_on_the_branch_that_the_plan_names() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes()), branch="loop/x")
    assert wanted(state, Integrate).branch == "loop/x"


def test_where_it_was_merged_is_told() -> None:
    merged = replace(LANDED, merged_into="main", note="as asked")
    done = outcome(told(*blocked(), *fixed("c1"), *looked(passes()), merged))
    assert (done.merged_into, done.note) == ("main", "as asked")


def test_where_the_fixes_come_to_nothing_there_is_nothing_to_land() -> None:
    state = told(*blocked(), FIXED, saved("c1", files=0), *looked(passes()))
    assert (outcome(state).ending, outcome(state).commit, outcome(state).branch) == (Ending.REVIEWED, "c1", "")


def test_a_child_leaves_its_result_to_its_parent() -> None:
    state = told(*blocked(), *fixed("c1"), *looked(passes()), lands=False)
    assert (outcome(state).ending, outcome(state).commit, outcome(state).branch) == (Ending.REVIEWED, "c1", "")


def test_an_artifact_that_is_gone_is_blocked_without_a_review() -> None:
    state = told(GONE)
    (lost,) = state.rounds[0].findings
    assert (lost.severity, lost.file, lost.issue) == (Severity.CRITICAL, ARTIFACT, f"{ARTIFACT} is not there")
    assert lost.evidence
    assert lost.guidance
    assert wanted(state, Announce).text == f"CHECK_BLOCKED: {ARTIFACT}"
    assert creator(play(state, SAID)).brief.findings == (lost,)


def test_an_artifact_that_a_fix_has_removed_is_blocked_with_all_that_was_wrong_before() -> None:
    state = told(*blocked(), *fixed("c1"), GONE, SAID)
    assert [finding.rule for finding in creator(state).brief.findings] == ["artifact-gone", "alpha", "beta", "gamma"]
    state = play(state, *fixed("c2"), *looked(passes()))
    assert (wanted(state, Integrate).commit, state.ledger[-1].standing) == ("c2", "resolved")


# --- the gate rule -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("findings", "passed", "why"),
    [
        ((), True, "no findings"),
        ((ALPHA, BETA), True, "2 high"),
        ((ALPHA, BETA, GAMMA), False, "3 high; more than 2 high findings block"),
        ((critical("C"),), False, "1 critical; any critical finding blocks"),
        (tuple(medium(f"M{n}") for n in range(50)), True, "50 medium"),
        (tuple(low(f"L{n}") for n in range(50)), True, "50 low"),
        ((ALPHA, BETA, medium("M"), low("L")), True, "2 high, 1 medium, 1 low"),
    ],
)
def test_any_critical_blocks_and_more_high_than_the_threshold_and_nothing_else(
    findings: tuple[Finding, ...], *, passed: bool, why: str
) -> None:
    (this,) = told(LOADED, passes(*findings)).rounds
    assert (this.verdict is Verdict.PASS, this.why, set(this.findings)) == (passed, why, set(findings))


def test_a_pass_with_a_critical_finding_is_a_fail() -> None:
    state = told(LOADED, passes(critical("C")))
    assert wanted(state, Announce).text == f"CHECK_BLOCKED: {ARTIFACT}"


def test_the_reviewers_own_no_is_stricter_than_the_counts() -> None:
    (this,) = told(LOADED, fails(medium("M"))).rounds
    assert (this.verdict, this.why) == (Verdict.FAIL, "1 medium; the reviewer does not pass it")


def test_the_threshold_comes_from_the_limits() -> None:
    assert told(LOADED, passes(ALPHA), p1_threshold=0).rounds[0].why == "1 high; more than 0 high findings block"
    assert told(LOADED, passes(ALPHA, BETA, GAMMA), p1_threshold=3).rounds[0].verdict is Verdict.PASS
    changed = told(LOADED, configured(p1_threshold=0, max_attempts=3), passes(ALPHA))
    assert changed.rounds[0].verdict is Verdict.FAIL


def test_a_finding_said_twice_counts_once() -> None:
    assert told(LOADED, passes(ALPHA, ALPHA, ALPHA)).rounds[0].why == "1 high"


# --- findings that are none --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finding", "lack"),
    [
        (UNSHOWN, "it feels wrong: no evidence"),
        (AIMLESS, "it is slow: no guidance"),
        (replace(UNSHOWN, guidance=" "), "it feels wrong: no evidence and no guidance"),
    ],
)
def test_a_finding_without_evidence_or_guidance_is_dropped_and_said_so(finding: Finding, lack: str) -> None:
    state = told(LOADED, passes(ALPHA, finding))
    assert state.rounds == (
        Round(
            number=1,
            commit=BASE,
            verdict=Verdict.PASS,
            line=f"CHECK_PASSED: {ARTIFACT}",
            why="1 high; 1 dropped for want of evidence or guidance",
            findings=(ALPHA,),
        ),
    )
    assert f"dropped from review 1: {lack}" in lines(state)
    state = told(*blocked(ALPHA, finding))
    assert f"dropped from review 1: {lack}" in lines(state)
    assert not [line for line in lines(play(state, *fixed())) if "dropped" in line]


def test_a_no_whose_findings_all_lack_evidence_is_asked_for_once_more_and_then_stays_a_no() -> None:
    state = told(LOADED, fails(UNSHOWN, AIMLESS))
    assert (keys(state), state.rounds) == (["review-1.3"], ())
    assert reviewer(state).brief.repair == "it is not passed, but what says why lacks evidence or guidance"
    assert "dropped from review 1: it feels wrong: no evidence" in lines(state)
    state = play(state, fails(UNSHOWN))
    (this,) = state.rounds
    assert (this.verdict, this.judged, [finding.rule for finding in this.findings]) == (
        Verdict.FAIL,
        False,
        ["no-evidence"],
    )
    assert this.why == (
        "The reviewer gave no usable verdict: it is not passed, but what says why lacks evidence or guidance"
        "; 1 dropped for want of evidence or guidance"
    )
    assert keys(play(state, SAID)) == ["escalation-1"]  # nobody looks at the same tree until it passes


def test_a_no_that_is_asked_why_and_passes_then_stays_a_no() -> None:
    for no in (fails(), fails(UNSHOWN)):
        state = told(LOADED, no, passes())
        assert (state.rounds[0].verdict, state.rounds[0].judged) == (Verdict.FAIL, False)
        assert keys(play(state, SAID)) == ["escalation-1"]


def test_a_no_that_is_repaired_counts_as_it_is_then() -> None:
    state = told(LOADED, fails(UNSHOWN), fails(ALPHA))
    assert (state.rounds[0].findings, state.rounds[0].why) == ((ALPHA,), "1 high; the reviewer does not pass it")


def test_a_no_without_a_finding_is_asked_for_once_more_and_then_stays_a_no() -> None:
    state = told(LOADED, fails())
    assert reviewer(state).brief.repair == "it is not passed, but no finding says why"
    state = play(state, fails())
    assert [finding.rule for finding in state.rounds[0].findings] == ["no-finding"]
    assert (state.rounds[0].verdict, keys(play(state, SAID))) == (Verdict.FAIL, ["escalation-1"])


def test_a_no_that_rests_on_what_cannot_be_shown_does_not_pass_because_the_rest_is_put_off() -> None:
    state = told(*blocked(ALPHA), *fixed(), LOADED, fails(UNSHOWN, low("new")))
    assert (keys(state), reviewer(state).brief.attempt) == (["review-2.3"], 2)
    state = play(state, fails(UNSHOWN, low("new")), SAID)
    assert (state.rounds[1].verdict, state.rounds[1].judged, state.deferred) == (Verdict.FAIL, False, ())


@pytest.mark.parametrize(
    "report",
    [
        review(None),
        review(None, ALPHA),
        review(None, medium("M"), status=AgentStatus.BLOCKED),
        review(None, status=AgentStatus.NEEDS_CLARIFICATION),
        review(Verdict.PASS, status=AgentStatus.BLOCKED),
        review(Verdict.PASS, medium("M"), status=AgentStatus.NEEDS_CLARIFICATION),
    ],
    ids=lambda event: f"{event.report.verdict}-{event.report.status}-{len(event.report.findings)}",
)
def test_a_review_that_is_not_done_or_has_no_verdict_passes_nothing_and_resolves_nothing(report: Event) -> None:
    state = told(*blocked(critical("C")), *fixed(), LOADED, report)
    assert reviewer(state).brief.repair == "the review is not done or has no verdict"
    state = play(state, report, SAID)
    assert (state.rounds[1].verdict, state.rounds[1].judged) == (Verdict.FAIL, False)
    assert [finding.rule for finding in state.rounds[1].findings] == ["C", "no-verdict"]


def test_a_reviewer_that_calls_itself_blocked_for_what_it_found_is_understood() -> None:
    state = told(LOADED, review(Verdict.FAIL, ALPHA, status=AgentStatus.BLOCKED))
    assert (state.rounds[0].judged, state.rounds[0].findings) == (True, (ALPHA,))


def test_a_real_verdict_settles_what_stood_there_for_want_of_one() -> None:
    state = told(LOADED, review(None), review(None), SAID, *looked(passes()))
    assert (outcome(state).ending, outcome(state).attempts) == (Ending.REVIEWED, 2)


# --- tokens, depth, hand-over --------------------------------------------------------------------------------


@pytest.mark.parametrize("gate", list(Gate))
@pytest.mark.parametrize("depth", list(Depth))
def test_quick_looks_check_and_all_else_judges_quality(gate: Gate, depth: Depth) -> None:
    whole = depth is Depth.COMPREHENSIVE or gate in (Gate.DESIGN, Gate.STORY)
    state = loop(gate=gate, depth=depth)
    passed, failed = ("QUALITY_PASS", "QUALITY_BLOCKED") if whole else ("CHECK_PASSED", "CHECK_BLOCKED")
    assert wanted(play(state, LOADED, passes()), Announce).text == f"{passed}: {ARTIFACT}"
    assert wanted(play(state, LOADED, fails(ALPHA)), Announce).text == f"{failed}: {ARTIFACT}"


def test_in_quick_depth_medium_and_low_are_observations() -> None:
    findings = (critical("C"), ALPHA, medium("M"), low("L"))
    assert creator(told(*blocked(*findings))).brief.findings == (critical("C"), ALPHA)
    assert creator(told(*blocked(*findings), depth=Depth.COMPREHENSIVE)).brief.findings == findings
    assert "quick depth: medium and low findings are observations" in lines(loop())


def test_in_quick_depth_observations_are_told_where_they_are_all_the_reviewer_said() -> None:
    assert creator(told(*blocked(medium("M")))).brief.findings == (medium("M"),)


def test_findings_are_handed_over_inline_or_in_the_file_that_the_plan_names() -> None:
    inline, by_file = creator(told(*blocked())), creator(told(*blocked(), gate=Gate.STORY, file=FILE))
    assert (inline.brief.findings, inline.brief.own.findings_file) == (THREE, "")
    assert (by_file.brief.findings, by_file.brief.own.findings_file, by_file.brief.own.story) == (THREE, FILE, "pay")
    assert f"findings are handed to the creator in {FILE}" in lines(loop(file=FILE))
    assert "findings are handed to the creator inline" in lines(loop())


def test_the_roles_are_those_of_the_gate() -> None:
    state = told(LOADED, reviewer="tpm-quality", creator="architect")
    assert wanted(state, RunAgent).role == "tpm-quality"
    assert wanted(play(state, fails(ALPHA), SAID), RunAgent).role == "architect"


# --- where it stands ---------------------------------------------------------------------------------------


def test_it_says_where_it_stands_and_by_which_rules() -> None:
    state = told(*blocked(), *fixed(), LOADED, depth=Depth.COMPREHENSIVE)
    assert QUALITY.stand(state) == Standpoint(
        state="RUN_CHECKS",
        attempt=2,
        limit=3,
        failures=1,
        findings=THREE,
        headline=f"QUALITY_BLOCKED: {ARTIFACT}",
        lines=(
            "reviews used: 1 of 3; fixes: 1",
            "open now: 3 high",
            "gate code: any critical finding blocks, and more than 2 high ones",
            "findings are handed to the creator inline",
            f"of a fix only {ARTIFACT}, the files its findings name and tests that it adds are taken",
            "new findings count from high up in review 2; a critical one always counts",
        ),
    )


def test_a_new_loop_has_no_headline() -> None:
    assert (QUALITY.stand(loop()).headline, str(QUALITY.stand(loop()).point)) == ("", "LOAD_ARTIFACTS@1")


def test_money_is_not_the_loops_business() -> None:
    state = told(LOADED)
    assert play(state, BudgetChanged(usd=1.0)) == state


def test_a_state_that_was_never_reached_still_ends() -> None:
    broken: QualityState = stationed(loop(), Station.DONE)
    assert wanted(broken, Stop).outcome == Outcome(ending=Ending.FAILED)


def test_an_answer_to_another_question_is_refused() -> None:
    state = told(LOADED)
    late = keyed(loop(), LOADED)
    with pytest.raises(InvalidTransition, match="load-1 is not asked for"):
        taken(QUALITY, state, late)


def test_what_a_review_never_asks_for_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="a review never asks for it"):
        QUALITY.apply(loop(), ChecksReported(key=Key.parse("load-1"), tree=Tree("t"), results=()))


def test_severe_findings_come_first() -> None:
    state = told(LOADED, fails(low("L"), DELTA, critical("C"), medium("M")))
    assert [finding.severity for finding in state.rounds[0].findings] == list(Severity)


def test_in_quick_depth_observations_are_told_apart_for_a_creator_that_mends_all_it_can() -> None:
    fix = creator(told(*blocked(ALPHA, medium("M"), low("L"))))
    assert (fix.brief.findings, fix.brief.own.observations) == ((ALPHA,), (medium("M"), low("L")))
    whole = creator(told(*blocked(ALPHA, medium("M")), depth=Depth.COMPREHENSIVE))
    assert (whole.brief.findings, whole.brief.own.observations) == ((ALPHA, medium("M")), ())
    assert creator(told(*blocked(ALPHA, medium("M")), file=FILE)).brief.own.observations == ()
