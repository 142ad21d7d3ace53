"""What a batch lands has run the checks, all fixes together; of one alone nothing but a review is known."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import Integrate, RunChecks
from loopwright.kernel.codec import decode
from loopwright.kernel.model import Ending, Finding, Severity
from loopwright.loops.batch import closing
from loopwright.loops.batch.state import ArtifactStanding, BatchPhase, BatchState
from loopwright.loops.course import Station, where
from loopwright.loops.quality.state import QualityParams
from tests.loops.batch import (
    BASE,
    LANDED,
    at_work,
    batch,
    blocked,
    checked,
    combined,
    outcome,
    passed,
    path,
    play,
    runs,
    waits,
    wanted,
)


def all_fixed() -> BatchState:
    """Three that were blocked once and passed with their fixes."""
    fixes = (letter for number in (1, 2, 3) for letter in (waits(number, 2),))
    reviews = (passed(number, f"c{number}", attempts=2) for number in (1, 2, 3))
    return play(batch(checked=True), *(blocked(number) for number in (1, 2, 3)), *fixes, *reviews)


def test_what_all_fixes_come_to_runs_the_checks_before_it_lands() -> None:
    state = play(all_fixed(), combined("all"))
    checks = wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.base) == ("verify-2.0", "all", BASE)
    landing = play(state, checked(passed=True))
    assert (wanted(landing, Integrate).verified, wanted(landing, Integrate).unseen) == (True, False)
    done = outcome(play(landing, LANDED))
    assert (done.ending, {part.ending for part in done.parts}) == (Ending.VERIFIED, {Ending.REVIEWED})


def test_red_the_fixes_are_added_one_by_one_and_the_one_that_turns_it_red_is_made_anew() -> None:
    state = play(all_fixed(), combined("all"), checked(passed=False))
    assert (where(state), len(state.adding)) == (BatchPhase.COMBINE, 3)
    state = play(state, combined("one"), checked(passed=True), combined("two"), checked(passed=False))
    state = play(state, combined("three"), checked(passed=True))
    assert at_work(state) == [(2, "fix")]
    given = decode(QualityParams, runs(state)[0].params)
    assert given.earlier is not None
    assert (given.earlier.landing.reason, given.earlier.landing.onto) == ("checks", "one")


def test_a_single_fix_that_fails_the_checks_is_a_failed_attempt() -> None:
    state = play(batch(1, checked=True), passed(1, "c1"), combined("c1"), checked(passed=False))
    assert (at_work(state), state.items[0].standing) == ([(1, "fix")], ArtifactStanding.BLOCKED)


def test_what_passed_with_something_deferred_is_told_at_the_end() -> None:
    late = (Finding(severity=Severity.MEDIUM, issue="late"),)
    index, good = passed(1, BASE)
    state = play(batch(1), (index, replace(good, findings=late)))
    told = closing.lines(state, outcome(state))
    assert f"  [passed] {path(1)}: 1 deferred, recorded in .loop/debt.md" in told


def test_where_one_by_one_none_is_to_blame_and_all_together_are_red_a_person_is_asked() -> None:
    green = (combined("one"), checked(passed=True), combined("two"), checked(passed=True))
    state = play(all_fixed(), combined("all"), checked(passed=False), *green, combined("three"), checked(passed=True))
    state = play(state, combined("all"), checked(passed=False))
    assert (where(state), state.landed) == (Station.ESCALATED, ())


def test_a_batch_that_began_before_the_rule_lands_as_it_did() -> None:
    state = play(batch(1, checked=True, firm=False), blocked(1), waits(1, 2), passed(1, "c1"), combined("c1"))
    assert wanted(state, Integrate).unseen is True
    done = outcome(play(state, LANDED))
    assert (done.ending, done.parts[0].ending) == (Ending.VERIFIED, Ending.VERIFIED)
