"""What a verification leads to: held back, waited for, told to the maker once; and what is asked before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry
from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import ChecksReported, Event, GateDecided
from loopwright.kernel.evidence import WeakenedTest
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    NO_KEY,
    Change,
    CheckResult,
    Commit,
    Ending,
    Finding,
    LoopId,
    Outcome,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.trust import Canary, Claim, Trust, evidence_with
from loopwright.loops import brief_parts, closing
from loopwright.loops.course import WHY_HELD, Station, where
from loopwright.loops.feedback.kind import KIND
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from tests.loops import afterwards
from tests.loops.feedback import (
    CRASHED,
    DONE,
    FAILURE,
    GARBLED,
    GREEN,
    ISSUE,
    LANDED,
    UNCLEAR,
    approves,
    developer,
    fails,
    keys,
    params,
    passes,
    play,
    red,
    rejects,
    saved,
    says,
    wanted,
)

BENT = (Change(path="tests/t.py", how="changed", blob="1"),)
MANIFEST = (Change(path="pyproject.toml", how="changed", blob="2"),)
E1 = evidence(BENT)
LANDS = replace(GREEN, lands=Tree("lands"))
WITHOUT = replace(LANDS, held=BENT)
UNABLE = ChecksReported(key=NO_KEY, tree=Tree("t"), results=(), unable=("check 'test' cannot run: no pytest",))


def begun(task: str = "add retry", *, base: str = "", **limits: int) -> FeedbackState:
    """A loop of today, past its preflight."""
    bounds = params(**{"max_consecutive_test_failures": 5, **limits})
    plan = replace(bounds, task=task, trust=Trust(in_force=True, base=Commit(base)))
    state = FEEDBACK.start(plan)
    return state if base else play(state, GREEN)


def kept(commit: str, *, changes: tuple[Change, ...] = (), put_back: tuple[str, ...] = ()) -> Event:
    """Each attempt leaves a tree of its own."""
    left = replace(saved(commit), tree=Tree(f"tree-{commit}"), put_back=put_back)
    return replace(left, protected=changes, evidence=evidence(changes))


def checked(state: FeedbackState, report: ChecksReported, commit: str = "c1") -> FeedbackState:
    changes = report.held or (report.claim.changes if report.claim else ())
    return play(state, DONE, kept(commit, changes=changes), passes(), report)


def outcome(state: FeedbackState) -> Outcome:
    stop = FEEDBACK.decide(state)[0]
    assert isinstance(stop, Stop)
    return stop.outcome


# --- before anybody is paid


def test_the_checks_are_tried_on_the_base_before_the_first_agent() -> None:
    state = FEEDBACK.start(replace(params(), trust=Trust(in_force=True)))
    action = wanted(state, RunChecks)
    assert (str(action.key), action.commit, action.preflight) == ("preflight", "base", True)
    assert keys(play(state, GREEN)) == ["implement-1.1"]


def test_a_check_that_cannot_run_ends_the_loop_before_it_costs_anything() -> None:
    state = play(FEEDBACK.start(replace(params(), trust=Trust(in_force=True))), UNABLE)
    assert (outcome(state).ending, outcome(state).note) == (Ending.FAILED, "check 'test' cannot run: no pytest")


def test_what_is_red_on_the_base_is_told_as_having_been_so_before() -> None:
    state = play(FEEDBACK.start(replace(params(), trust=Trust(in_force=True))), red(FAILURE))
    assert [finding.rule for finding in developer(state).brief.before] == [FAILURE.rule]
    own = replace(FAILURE, rule="t::mine", issue="mine", fingerprint="mine")
    again = developer(play(state, DONE, kept("c1"), passes(), red(FAILURE, own))).brief.failures
    assert [each.issue for each in again] == [f"(was so before you) {FAILURE.issue}", "mine"]


def test_a_part_of_a_larger_loop_needs_no_preflight_and_is_judged_by_the_base_of_its_root() -> None:
    state = begun(base="root")
    assert keys(state) == ["implement-1.1"]
    assert wanted(play(state, DONE, kept("c1"), passes()), RunChecks).trust.base == "root"


# --- held back, not waited for


def test_a_change_the_verdict_does_not_need_is_held_back_and_may_be_decided_afterwards() -> None:
    state = checked(begun(), WITHOUT)
    landing = wanted(state, Integrate)
    assert (landing.tree, landing.holds_back) == ("lands", True)
    state = play(state, replace(LANDED, held_on="loop/1-held", landed=Commit("own")))
    assert (outcome(state).ending, outcome(state).held, outcome(state).held_on) == (
        Ending.VERIFIED,
        BENT,
        "loop/1-held",
    )
    assert wanted(state, AwaitGate).evidence == E1


def test_the_reviewer_is_told_what_will_not_land() -> None:
    state = play(begun(), DONE, kept("c1", changes=BENT))
    run = wanted(state, RunAgent)
    assert (run.role, run.brief.unapproved) == ("reviewer", ("tests/t.py",))
    told = brief_parts.change("## Change", replace(run.brief, unapproved=("tests/t.py",) * 21), "", "No diff.")
    assert "the versions of the base stand: `tests/t.py`, " in told
    assert "` and 1 more." in told
    state = play(begun(), DONE, kept("c1", put_back=("uv.lock",)))
    locks = brief_parts.change("## Change", wanted(state, RunAgent).brief, "", "No diff.")
    assert "without their manifest are put back to the base's: `uv.lock`." in locks


def test_the_reviewer_hears_which_files_of_existing_tests_change() -> None:
    altered = replace(saved("c1"), altered_tests=("tests/t.py",))
    state = play(begun(), DONE, altered)
    assert wanted(state, RunAgent).brief.altered_tests == ("tests/t.py",)
    told = brief_parts.change("## Change", wanted(state, RunAgent).brief, "", "No diff.")
    assert [line for line in told.splitlines() if "`tests/t.py`" in line] == [
        "It changes existing tests: look at what they no longer assert: `tests/t.py`."
    ]


def test_a_change_the_task_names_is_waited_for() -> None:
    state = checked(begun("loosen tests/t.py"), WITHOUT)
    assert where(state) == Station.GATE
    state = play(state, approves(E1))
    assert wanted(state, RunChecks).approved == BENT
    assert where(play(state, LANDS)) == Station.LAND


def test_half_of_a_version_is_waited_for() -> None:
    state = checked(begun(), replace(WITHOUT, shared_versions=("setup.py",)))
    assert where(state) == Station.GATE
    assert "setup.py" in state.course.gates[-1].why


def test_where_nothing_else_would_land_it_is_waited_for() -> None:
    told = "besides it no code would land that could be verified, only tests (tests/u.py)"
    for written, why in (((), "nothing else would land"), (("tests/u.py",), told)):
        state = checked(begun(), replace(WITHOUT, nothing_else=True, written=written))
        assert where(state) == Station.GATE
        assert state.course.gates[-1].why.endswith(f"; {why}")


def test_a_rejected_change_that_is_not_needed_is_left_out_and_uses_no_attempt() -> None:
    state = play(begun(), DONE, kept("c1", changes=BENT), rejects(E1), passes(), WITHOUT)
    assert where(state) == Station.LAND
    state = play(state, LANDED)
    assert [type(action) for action in FEEDBACK.decide(state)] == [Stop]


def test_a_rejected_change_that_is_needed_is_a_failed_attempt() -> None:
    state = play(begun("loosen tests/t.py"), DONE, kept("c1", changes=BENT), rejects(E1, "no"), passes(), WITHOUT)
    assert keys(state) == ["implement-2.1"]


# --- what only a person can allow


CLAIM = Claim(changes=BENT, failing=("tests/t.py::test_old",), dropped=("tests/t.py::test_gone",))
CLAIMED = replace(red(FAILURE), lands=Tree("lands"), held=BENT, claim=CLAIM)


def test_the_maker_hears_once_what_stands_in_the_way() -> None:
    state = checked(begun(), CLAIMED)
    told = developer(state).brief.failures[-1]
    assert told.rule == "needs-approval"
    assert "tests/t.py::test_old" in told.issue


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (Claim(changes=BENT, failing=("a",)), "these tests of the base fail: a"),
        (Claim(changes=BENT, new=("b",)), "these new tests fail: b"),
        (
            Claim(changes=BENT, failing=("a",), new=("b",)),
            "these tests of the base fail: a and these new tests fail: b",
        ),
        (Claim(changes=BENT), "the checks fail"),
    ],
)
def test_what_fails_without_a_change_is_told_as_what_it_is(claim: Claim, told: str) -> None:
    report = replace(red(FAILURE), lands=Tree("lands"), held=BENT, claim=claim)
    state = checked(begun(), report)
    issue = f"Without the changes to tests/t.py {told}. Make it pass without them, or leave the changes as they are: "
    assert developer(state).brief.failures[-1].issue == f"{issue}a person is asked then."
    gate = wanted(checked(state, report, "c2"), AwaitGate)
    why = f"with the changed files all checks pass; without these changes {told}"
    assert (gate.why, gate.failing) == (why, (*claim.failing, *claim.new))


def test_a_changed_test_that_was_red_is_told_with_its_message_and_with_what_changed_since() -> None:
    claim = Claim(changes=BENT, new=("b",), messages=("b - assert 1 == 2",), red_at=Commit("c1"))
    report = replace(LANDS, findings=(engine_finding("red-test-changed", "it fails as it was"),), claim=claim)
    state = checked(checked(begun(), report), report, "c2")
    gate = wanted(state, AwaitGate)
    assert gate.why == (
        "with the changed files all checks pass; without these changes these tests fail, as they did when the fix was"
        " requested: b - assert 1 == 2; see git diff c1 c2 -- tests/t.py"
    )
    assert "in commit c1" in developer(play(state, rejects(gate.evidence))).brief.findings[0].issue


def test_a_rejected_new_file_is_to_be_left_out() -> None:
    new = (replace(BENT[0], how="added"),)
    report = replace(CLAIMED, held=new, claim=Claim(changes=new, failing=("a",)))
    state = checked(checked(begun(), report), report, "c2")
    told = developer(play(state, rejects(wanted(state, AwaitGate).evidence))).brief.findings[0].issue
    assert "as the base has it" not in told


def test_what_a_change_that_is_held_gives_away_is_told_where_it_is_decided_on() -> None:
    found = [
        Finding(severity=Severity.MEDIUM, category="tampering", rule=f"r{n}", file="tests/t.py", issue=f"Sign {n}")
        for n in range(6)
    ]
    elsewhere = replace(found[0], file="src/a.py", issue="Elsewhere")
    for signs, told in (((found[0], elsewhere), "; Sign 0"), (tuple(found), "; Sign 4; and 1 more")):
        state = play(checked(begun(), replace(WITHOUT, findings=signs)), replace(LANDED, landed=Commit("own")))
        why = wanted(state, AwaitGate).why
        assert why.startswith(WHY_HELD)
        assert why.endswith(told)


def test_another_attempt_with_it_waits_for_a_person_and_uses_up_nothing() -> None:
    state = checked(checked(begun(), CLAIMED), CLAIMED, "c2")
    gate = wanted(state, AwaitGate)
    assert (where(state), gate.failing, gate.dropped) == (Station.GATE, CLAIM.failing, CLAIM.dropped)
    assert len(state.past) == 1
    state = play(state, replace(approves(gate.evidence), evidence=gate.evidence))
    action = wanted(state, RunChecks)
    assert (action.approved, action.may_drop) == (BENT, CLAIM.dropped)


def test_a_rejected_change_that_its_tests_need_is_told_with_the_note_and_with_what_fails_without_it() -> None:
    state = checked(checked(begun(), CLAIMED), CLAIMED, "c2")
    evidence_of = wanted(state, AwaitGate).evidence
    brief = developer(play(state, rejects(evidence_of, "keep the old promise"))).brief
    assert brief.findings[0].issue == (
        "A person rejected the change to tests/t.py: keep the old promise. Leave that as the base has it and do the"
        f" work without it; these tests have to pass without it: {CLAIM.failing[0]}"
    )
    assert brief.failures == (FAILURE,)
    assert brief.history[-1] == "Iteration 2: a person rejected a change in it, without which its tests fail"
    approved = play(state, approves(evidence_of), LANDS)
    assert (approved.past[-1].tests, approved.past[-1].failures) == (Verdict.PASS, ())


def test_a_rejected_loss_of_tests_names_them() -> None:
    gone = replace(red(FAILURE), lands=Tree("lands"), claim=Claim(dropped=("a::one",)))
    state = checked(checked(begun(), gone), gone, "c2")
    told = developer(play(state, rejects(wanted(state, AwaitGate).evidence))).brief.findings[0].issue
    assert told.startswith("A person rejected that a::one would not run any more: no reason given. ")


def test_the_last_attempt_that_needs_an_approval_waits_for_it() -> None:
    state = checked(begun(max_feedback_iterations=1), CLAIMED)
    gate = wanted(state, AwaitGate)
    assert (where(state), gate.failing, state.past) == (Station.GATE, CLAIM.failing, ())
    approved = play(state, replace(approves(gate.evidence), evidence=gate.evidence), LANDS)
    assert where(approved) == Station.LAND
    rejected = play(state, replace(rejects(gate.evidence), evidence=gate.evidence))
    assert where(rejected) == Station.ESCALATED


def test_a_last_attempt_that_is_plainly_red_escalates() -> None:
    assert where(checked(begun(max_feedback_iterations=1), red(FAILURE))) == Station.ESCALATED


def test_what_is_held_back_shows_the_tests_an_approval_would_let_go() -> None:
    gone = ("tests/t.py::test_gone",)
    state = play(checked(begun(), replace(WITHOUT, would_drop=gone)), replace(LANDED, landed=Commit("own")))
    gate = wanted(state, AwaitGate)
    assert (gate.dropped, gate.evidence) == (gone, evidence_with(BENT, gone))
    on = play(state, replace(approves(gate.evidence), evidence=gate.evidence))
    assert (wanted(on, RunChecks).approved, wanted(on, RunChecks).may_drop) == (BENT, gone)


def test_what_waits_for_a_person_has_not_passed() -> None:
    state = checked(checked(begun(), CLAIMED), CLAIMED, "c2")
    assert (state.current.tests, state.test_failures) == (None, 1)


@pytest.mark.parametrize("report", ["claim", "canary"])
def test_a_developer_that_leaves_it_so_is_taken_at_its_word(report: str) -> None:
    told = CLAIMED if report == "claim" else UNNOTICED
    state = play(checked(begun(), told), DONE, kept("c1", changes=told.held))
    assert keys(state)[0] == "checks-2.1"
    assert where(play(state, told)) == Station.GATE


WEAKENED = (WeakenedTest(file="tests/t.py", id="tests/t.py::test_pickle", how="gone"),)


def test_weakened_tests_that_may_look_at_an_unnoticed_change_are_named_and_asked_about_alone() -> None:
    report = replace(WITHOUT, canary=MISSED, weakened=WEAKENED)
    state = checked(begun(), report)
    told = developer(state).brief.failures[-1]
    assert told.rule == "untested-change"
    assert "test_pickle is gone" in told.issue
    assert MISSED.sentence not in told.issue
    state = checked(state, report, "c2")
    assert [each.gate for each in state.course.open_gates] == ["protected"]
    gate = wanted(state, AwaitGate)
    assert (where(state), "test_pickle is gone" in gate.why) == (Station.GATE, True)
    state = play(state, approves(gate.evidence))
    assert wanted(state, RunChecks).approved == BENT
    assert [each.gate for each in play(state, report).course.open_gates] == ["untested"]


def test_weakened_tests_are_named_where_they_are_held_back_with_other_files_or_needed() -> None:
    needed = replace(red(FAILURE), held=BENT, claim=Claim(changes=BENT, at_once=True))
    for report in (replace(LANDS, held=(*BENT, *MANIFEST), nothing_else=True), needed):
        gate = wanted(checked(begun(), replace(report, weakened=WEAKENED)), AwaitGate)
        assert "test_pickle is gone" in gate.why


def test_what_is_held_back_may_be_decided_while_another_gate_is_waited_for() -> None:
    state = checked(begun(), replace(WITHOUT, canary=replace(MISSED, said="unread")))
    assert len(FEEDBACK.decide(state)) == 2
    assert where(play(state, rejects(E1))) == Station.GATE
    assert wanted(play(state, approves(E1)), RunChecks).approved == BENT


def test_what_a_person_accepts_lands_without_what_nobody_approved() -> None:
    plan = replace(params(max_feedback_iterations=1), trust=Trust(in_force=True))
    state = play(checked(play(FEEDBACK.start(plan), GREEN), replace(red(FAILURE), held=BENT)), says("accept"))
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("", True)
    state = play(state, replace(LANDED, held=BENT, held_on="loop/1-held"))
    assert (outcome(state).ending, outcome(state).held) == (Ending.ACCEPTED, BENT)
    assert wanted(play(state, approves(E1)), RunChecks).commit == "c1"


def test_an_attempt_without_it_starts_the_telling_anew() -> None:
    state = checked(checked(begun(), CLAIMED), red(FAILURE), "c2")
    assert keys(checked(state, CLAIMED, "c3")) == ["implement-4.1", f"gate-protected-{E1}"]


@pytest.mark.parametrize(("by_number", "which"), [(False, "1 test"), (True, "tests")])
def test_tests_that_are_gone_by_the_product_alone_are_a_claim_too(which: str, *, by_number: bool) -> None:
    gone = replace(red(FAILURE), lands=Tree("lands"), claim=Claim(dropped=("a::one",), by_number=by_number))
    state = checked(begun(), gone)
    assert "a::one" in developer(state).brief.failures[-1].issue
    state = checked(state, gone, "c2")
    assert wanted(state, AwaitGate).why == f"{which} of the base would not run any more: a::one"


@pytest.mark.parametrize("because", ["", "t::old is gone"])
def test_an_ending_says_what_is_held_back_and_why(because: str) -> None:
    lines = closing.held(Outcome(ending=Ending.VERIFIED, held=BENT), "protected@1", "l-1", because)
    assert (len(lines), because in "\n".join(lines)) == (3 if because else 2, True)


def test_a_manifest_waits_at_once() -> None:
    claim = Claim(changes=MANIFEST, at_once=True)
    state = checked(begun(), replace(red(FAILURE), lands=Tree("lands"), claim=claim))
    assert (where(state), state.past) == (Station.GATE, ())
    # Approved, and red all the same: an ordinary failed attempt.
    again = play(state, approves(evidence(MANIFEST)), replace(red(FAILURE), lands=Tree("lands"), claim=claim))
    assert keys(again) == ["implement-2.1"]
    assert keys(play(state, rejects(evidence(MANIFEST), "no")))[0] == "implement-2.1"


def test_the_tests_that_fail_without_a_manifest_are_named() -> None:
    claim = Claim(changes=MANIFEST, at_once=True, failing=("a::one",))
    state = checked(begun(), replace(red(FAILURE), lands=Tree("lands"), claim=claim))
    assert wanted(state, AwaitGate).why.startswith("without the changed files these tests of the base fail: a::one;")


def test_a_manifest_is_not_said_to_be_the_cure_of_what_was_red_before() -> None:
    claim = Claim(changes=MANIFEST, at_once=True, before=("a::one",))
    state = checked(begun(), replace(red(FAILURE), lands=Tree("lands"), claim=claim))
    assert "what is red was so on the base before: a::one; whether it is mended" in wanted(state, AwaitGate).why


def test_own_tests_that_fail_beside_a_manifest_are_a_failed_attempt_once() -> None:
    claim = Claim(changes=MANIFEST, new=("a::new",), untried=True)
    report = replace(LANDS, landing=red(FAILURE).results, held=MANIFEST, claim=claim)
    state = checked(begun(), report)
    (told,) = [each.issue for each in developer(state).brief.failures if each.rule == "needs-approval"]
    assert told.index("a::new") < told.index(MANIFEST[0].path)
    why = wanted(checked(state, report, "c2"), AwaitGate).why
    assert "a::new" in why
    assert MANIFEST[0].path not in why
    assert "all checks pass" not in why


def test_what_cannot_be_told_from_the_product_waits_though_all_is_green() -> None:
    claim = Claim(changes=BENT, at_once=True)
    state = checked(begun(), replace(LANDS, claim=claim))
    assert where(state) == Station.GATE
    assert where(play(state, approves(E1), replace(LANDS, claim=claim))) == Station.LAND


# --- nobody looks at it


MISSED = Canary(said="untested-change", missed=("src/a.py: add",), sentence="no test notices src/a.py: add")
UNNOTICED = replace(LANDS, canary=MISSED)


def untested(said: str, *, approved: bool) -> GateDecided:
    return GateDecided(key=NO_KEY, gate="untested", approved=approved, evidence=said, by="ann", reason="no")


def test_an_untested_change_is_told_to_the_maker_and_then_to_a_person() -> None:
    state = checked(begun(), UNNOTICED)
    assert UNNOTICED.canary is not None
    assert developer(state).brief.failures[-1].rule == UNNOTICED.canary.said
    state = checked(state, UNNOTICED, "c2")
    gate = wanted(state, AwaitGate)
    assert (gate.gate, gate.because) == ("untested", (Change(path="src/a.py", how="changed"),))
    taken = play(state, untested(gate.evidence, approved=True), UNNOTICED, LANDED)
    assert outcome(taken).ending is Ending.ACCEPTED
    assert outcome(taken).findings[-1].issue == "Taken untested: no test notices src/a.py: add"
    owed = debt_entry(KIND, LoopId("l"), taken, 0.0, "")
    assert "- **Accepted by**: ann\n" in owed
    assert owed.endswith("- **Taken untested**:\n  - [high] Taken untested: no test notices src/a.py: add\n")
    refused = play(state, untested(gate.evidence, approved=False))
    assert "no test notices" in developer(refused).brief.findings[0].issue


def test_the_gate_of_an_untested_change_shows_why_the_maker_says_that_no_test_can() -> None:
    said = replace(DONE, report=replace(DONE.report, no_test="it only logs"))
    state = play(checked(begun(), UNNOTICED), said, kept("c2"), passes(), UNNOTICED)
    gate = wanted(state, AwaitGate)
    assert (gate.gate, "it only logs" in gate.why) == ("untested", True)


def test_a_warning_lets_it_pass_the_second_time() -> None:
    warned = replace(LANDS, canary=replace(MISSED, rule="warn"))
    state = checked(checked(begun(), warned), warned, "c2")
    assert MISSED.sentence in wanted(state, Integrate).message
    end = outcome(play(state, LANDED))
    assert (end.ending, closing.said_beforehand(end)) == (Ending.VERIFIED, (f"Untested: {MISSED.sentence}",))


def test_what_was_allowed_beforehand_is_told_at_the_end() -> None:
    plan = replace(params(), trust=Trust(in_force=True, base=Commit("b"), allow=("tests/api/**", "spec/**")))
    end = outcome(play(checked(FEEDBACK.start(plan), LANDS), LANDED))
    told = "Tests might be changed without asking: tests/api/**, spec/** (--allow)."
    assert closing.said_beforehand(end) == (told,)
    assert closing.said_beforehand(Outcome(ending=Ending.VERIFIED)) == ()


def test_checks_that_read_nothing_of_the_tree_are_a_persons_business_at_once() -> None:
    state = checked(begun(), replace(LANDS, canary=replace(MISSED, said="unread", rule="off")))
    assert where(state) == Station.GATE


def test_the_tests_that_no_person_has_seen_are_named_at_the_end() -> None:
    many = tuple(f"tests/test_{number}.py" for number in range(12))
    (line,) = closing.written(Outcome(ending=Ending.VERIFIED, written=many))
    assert line.startswith("Tests written by agents, seen by no person: tests/test_0.py, tests/test_1.py")
    assert line.endswith(" others.")
    assert closing.written(Outcome(ending=Ending.VERIFIED)) == ()


def test_a_change_that_was_noticed_passes() -> None:
    assert where(checked(begun(), replace(LANDS, canary=Canary(said="noticed")))) == Station.LAND


# --- after the end


def landed() -> afterwards.Stand:
    state = play(begun(), DONE, kept("c0"), fails(afterwards.IN_TESTS))
    return afterwards.Stand(loop=FEEDBACK, state=play(checked(state, WITHOUT), afterwards.LANDED), candidate="c1")


@pytest.mark.parametrize("story", afterwards.STORIES, ids=lambda story: story.__name__)
def test_a_change_that_was_held_back_after_the_end(story: Callable[[afterwards.Stand], None]) -> None:
    story(landed())


def test_what_was_merged_is_merged_again() -> None:
    plan = replace(params(), trust=Trust(in_force=True), merge=True, target="refs/heads/main")
    state = checked(play(FEEDBACK.start(plan), GREEN), WITHOUT)
    state = play(state, replace(LANDED, merged_into="main"), approves(E1), LANDS)
    assert wanted(state, Integrate).target == "refs/heads/main"


# --- the same again


def test_an_attempt_that_changed_nothing_is_not_judged_again_and_its_faults_stand() -> None:
    state = play(begun(), DONE, kept("c1"), passes(), replace(red(FAILURE), lands=Tree("l")), DONE, kept("c1"))
    brief = developer(state).brief
    assert (brief.findings[0].rule, brief.failures) == ("nothing-changed", (FAILURE,))


@pytest.mark.parametrize("idle", [kept("c2"), saved("c0", files=0)], ids=["since the last attempt", "at all"])
def test_a_persons_reason_stays_in_the_brief_until_something_was_changed(idle: Event) -> None:
    state = checked(
        checked(begun(max_feedback_iterations=9, max_consecutive_review_failures=9), CLAIMED), CLAIMED, "c2"
    )
    state = play(state, rejects(state.course.open_gates[0].evidence, "tests stay"))
    state = play(state, DONE, idle)
    assert "tests stay" in str(developer(state).brief.findings)
    changed = play(state, DONE, kept("c3"), fails(ISSUE))
    assert "tests stay" not in str(developer(changed).brief.findings)


def test_what_stood_in_the_place_of_a_review_is_told_as_what_it_was() -> None:
    same = (DONE, kept("c1"))
    failed = play(begun(), *same, passes(), replace(red(FAILURE), lands=Tree("l")))
    state = play(failed, *same, *same, *same)
    assert state.course.reasons[0] == "3 attempts in a row changed nothing"
    assert [told.rpartition("; ")[2] for told in KIND.so_far(state)[1:]] == ["it changed nothing"] * 3
    assert developer(play(failed, *same)).why == "iteration 2 failed: it changed nothing"
    other = play(failed, DONE, kept("c2"), fails(ISSUE), DONE, kept("c2"), DONE, kept("c3"), GARBLED, GARBLED)
    why = "3 attempts in a row failed: 1 failed in review, 1 changed nothing, 1 got no verdict from the reviewer"
    assert other.course.reasons == (why,)


def test_what_no_test_notices_is_not_told_as_a_failure_of_tests() -> None:
    state = checked(begun(), UNNOTICED)
    why = "review passed, tests passed, but none notices when the change is broken on purpose"
    assert developer(state).why == f"iteration 1 failed: {why}"
    assert KIND.so_far(state)[0].endswith(why)
    assert "tests failed with 1 failure" in developer(checked(begun(), CLAIMED)).why


def test_an_answer_in_between_makes_the_same_tree_worth_a_look() -> None:
    failed = play(begun(), DONE, kept("c1"), fails(ISSUE))
    assert keys(play(failed, DONE, kept("c1"))) == ["implement-3.1"]
    assert keys(play(failed, UNCLEAR, says("answer", text="sqlite"), DONE, kept("c1"))) == ["review-2.1"]


def test_nothing_done_at_the_first_attempt_is_a_question() -> None:
    state = play(begun(), DONE, saved("base", files=0))
    assert "it may be done already" in wanted(state, Ask).question
    assert wanted(play(state, says("accept")), Integrate).commit == "base"
    later = play(begun(), DONE, kept("c1"), fails(), fails(), DONE, saved("base", files=0))
    assert keys(later) == ["implement-3.1"]


def test_the_same_crash_twice_asks_with_its_text_and_uses_up_nothing() -> None:
    state = play(begun(), CRASHED, replace(CRASHED, role="developer"))
    assert "crashed twice in the same way (exit 1)" in wanted(state, Ask).question
    assert state.past == ()
    assert keys(play(state, says("continue"))) == ["implement-1.3"]


def test_a_different_crash_counts() -> None:
    state = play(begun(), CRASHED, replace(CRASHED, role="developer", detail="no such file"))
    assert keys(state) == ["implement-2.1"]
    assert isinstance(FEEDBACK.decide(state)[0], RunAgent)


def test_a_failing_landing_run_is_a_fault_like_any_other() -> None:
    report = replace(LANDS, landing=(CheckResult(name="test", passed=False, failures=(FAILURE,)),))
    assert developer(checked(begun(), report)).brief.failures == (FAILURE,)


def test_a_no_that_is_asked_why_and_passes_then_stays_a_no() -> None:
    state = play(begun(), DONE, kept("c1"), fails(), passes())
    assert (len(state.past), state.past[0].review, state.past[0].tests) == (1, Verdict.FAIL, None)
