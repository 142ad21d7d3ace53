"""Which tests a loop hands to the checks of a fix: those that failed, in the version in which they first failed."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import AwaitGate, RunChecks
from loopwright.kernel.events import Checkpointed, ChecksReported
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import NO_KEY, Change, CheckResult, Commit, Tree
from loopwright.kernel.trust import Claim, RedTests, Trust
from loopwright.loops.feedback.machine import FEEDBACK
from tests.loops import feedback as f
from tests.loops import lifecycle as lc
from tests.loops import quality as q
from tests.loops import tickets as t
from tests.loops import verified as v

BENT = Change(path="tests/t.py", how="changed", blob="1")


def brought(report: ChecksReported) -> ChecksReported:
    """The same, of tests that came with the candidate: the judging run passed without them."""
    judging = tuple(replace(each, passed=True, failures=()) for each in report.results)
    return replace(report, results=judging, landing=report.results)


RED = brought(lc.red("test", rule="t::one", category="tests", file="tests/t.py"))
NEEDED = replace(
    lc.results(CheckResult(name="test", passed=True, tests=3)),
    findings=(engine_finding("red-test-changed", "it still fails as it was"),),
    claim=Claim(changes=(BENT,), new=("t::one",)),
)
SAME = Checkpointed(key=NO_KEY, commit=Commit("same"), tree=Tree("same"), files=1, unchanged=True)


def test_a_feedback_loop_keeps_each_red_test_in_its_first_red_version() -> None:
    state = FEEDBACK.start(replace(f.params(max_consecutive_test_failures=5), trust=Trust(in_force=True)))
    state = f.play(state, f.red(replace(f.FAILURE, rule="t::base")))
    for commit, failure in (("c1", f.FAILURE), ("c2", f.FAILURE), ("c3", f.ANOTHER)):
        state = f.play(state, f.DONE, replace(f.saved(commit), tree=Tree(commit)), f.passes(), brought(f.red(failure)))
    checks = f.wanted(f.play(state, f.DONE, f.saved("c4"), f.passes()), RunChecks)
    assert checks.red == (
        RedTests(tests=("t::base",)),
        RedTests(commit=Commit("c1"), tests=("t::one",), own=(Commit("base"), Commit("c1"))),
        RedTests(commit=Commit("c3"), tests=("t::two",), own=(Commit("c2"), Commit("c3"))),
    )


def test_what_a_baseline_forgives_judges_as_well() -> None:
    state = FEEDBACK.start(replace(f.params(), trust=Trust(in_force=True)))
    state = f.play(state, lc.results(CheckResult(name="test", passed=True, tests=3, known=("t::base",))))
    checks = f.wanted(f.play(state, f.DONE, f.saved("c1"), f.passes()), RunChecks)
    assert checks.red == (RedTests(tests=("t::base",), forgiven=True),)


def test_what_the_developer_wrote_before_the_tester_and_never_saw_green_is_its_own() -> None:
    state = FEEDBACK.start(replace(f.params(), tester=True, trust=Trust(in_force=True)))
    state = f.play(state, f.GREEN, f.DONE, replace(f.saved("c1"), tree=Tree("c1")), f.fails(f.ISSUE))
    state = f.play(state, f.DONE, replace(f.saved("c2"), tree=Tree("c2")), f.passes(), f.DONE, f.saved("c2-tests"))
    state = f.play(state, brought(f.red(f.FAILURE)))
    state = f.play(state, f.DONE, replace(f.saved("c3"), tree=Tree("c3")), f.passes(), f.DONE, f.saved("c3-tests"))
    checks = f.wanted(state, RunChecks)
    own = (Commit("base"), Commit("c2"))
    assert checks.red == (RedTests(commit=Commit("c2-tests"), tests=("t::one",), own=own),)


def test_a_review_hands_the_new_test_of_its_fix_on_as_its_own() -> None:
    state = q.play(q.told(*q.blocked(), checked=True, trust=v.NOW), v.LANDS)
    state = q.play(state, *q.fixed("c1"), *q.looked(q.passes(), "o2"), brought(v.RED))
    checks = q.wanted(q.play(state, *q.fixed("c2"), *q.looked(q.passes(), "o3")), RunChecks)
    assert checks.red == (RedTests(commit=Commit("c1"), tests=(v.WRONG.rule,), own=(q.BASE, Commit("c1"))),)


def test_a_ticket_session_hands_the_red_test_of_the_last_ticket_on() -> None:
    state = t.play(t.session(trust=v.NOW), v.LANDS)
    state = t.play(state, t.MADE, t.saved("c1"), t.passes(), brought(v.RED), t.SAID)
    checks = t.wanted(t.play(state, t.MADE, t.saved("c2"), t.passes()), RunChecks)
    assert checks.red == (RedTests(commit=Commit("c1"), tests=(v.WRONG.rule,), own=(Commit("base"), Commit("c1"))),)


def test_a_targeted_fix_is_judged_by_the_test_that_was_red() -> None:
    played = lc.at("TEST", lc.check("test", RED), capabilities=("take",))
    recheck = played.until(RunChecks, step="recheck")
    judged = played.asked(RunChecks, step="check")[-1].commit
    assert recheck.red == (RedTests(commit=judged, tests=("t::one",)),)
    assert recheck.commit != judged
    verify = played.until(RunChecks, has="lint")
    assert verify.red == ()


def test_a_new_test_of_a_targeted_fix_is_the_fix_s_own() -> None:
    other = brought(lc.red("test", rule="t::new", category="tests", file="tests/new.py"))
    played = lc.at("TEST", lc.check("test", RED), lc.on(RunChecks, other, step="recheck"), capabilities=("take",))
    first = played.until(RunChecks, step="recheck").commit
    action, event = played.next()
    played.take(event, action)
    judged = played.asked(RunChecks, step="check")[-1].commit
    assert played.until(RunChecks, step="recheck").red == (
        RedTests(commit=judged, tests=("t::one",)),
        RedTests(commit=first, tests=("t::new",), own=(judged, first)),
    )


def test_a_fix_that_changes_the_red_test_is_told_once_and_then_waits_for_a_person() -> None:
    played = lc.at("TEST", capabilities=("take",))
    played.play(
        lc.check("test", RED),
        lc.on(RunChecks, NEEDED, step="recheck", times=None),
        lc.check("test", NEEDED, times=None),
        lc.on(AwaitGate, None, times=None),
    )
    assert played.waits_for() == ["protected"]
    assert (played.state.phase, played.state.total) == ("TEST", 2)


def test_a_fix_that_leaves_its_change_to_the_red_test_waits_for_a_person() -> None:
    played = lc.at("TEST", capabilities=("take",))
    played.play(
        lc.check("test", RED),
        lc.on(RunChecks, NEEDED, step="recheck"),
        lc.check("test", NEEDED, times=None),
        lc.on(AwaitGate, None, times=None),
        lc.Rule(lambda action: action.key.step == "record-fix" and bool(played.state.course.told), SAME, None),
    )
    assert played.waits_for() == ["protected"]


def test_a_test_of_the_base_that_fails_is_not_kept_in_the_version_of_the_candidate() -> None:
    state = FEEDBACK.start(replace(f.params(), trust=Trust(in_force=True)))
    state = f.play(state, f.GREEN, f.DONE, replace(f.saved("c1"), tree=Tree("c1")), f.passes(), f.red(f.FAILURE))
    assert f.wanted(f.play(state, f.DONE, f.saved("c2"), f.passes()), RunChecks).red == ()
