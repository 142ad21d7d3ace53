"""What a verification leads to in a batch: of all fixes together something is held back, waited for or told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry, owes
from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, Commit, Ending, LoopId
from loopwright.loops.batch import closing
from loopwright.loops.batch.kind import KIND
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchPhase, BatchState
from loopwright.loops.course import Station, where
from tests.loops import afterwards
from tests.loops import verified as v
from tests.loops.batch import (
    CONFLICT,
    LANDED,
    accepted,
    asks,
    at_work,
    batch,
    blocked,
    cancelled,
    combined,
    outcome,
    passed,
    play,
    says,
    waits,
    wanted,
)


def verifying(many: int = 1, **given: object) -> BatchState:
    """A batch of today whose fixes are brought together: their checks run."""
    numbers = range(1, many + 1)
    begun = play(
        batch(many, **{"checked": True, "trust": v.NOW, **given}), *(blocked(each) for each in numbers), v.LANDS
    )
    fixed = (*(waits(each, 2) for each in numbers), *(passed(each, f"c{each}", attempts=2) for each in numbers))
    return play(begun, *fixed, combined("all"))


def keys(state: BatchState) -> list[str]:
    return [str(action.key) for action in BATCH.decide(state)]


def gate(state: BatchState) -> AwaitGate:
    return wanted(state, AwaitGate)


def once_more(state: BatchState, commit: str, report: ChecksReported) -> BatchState:
    """The one that was sent back is made anew."""
    return play(state, waits(1, 3), passed(1, commit, attempts=3), combined(commit), report)


def test_the_checks_are_tried_before_the_first_fix() -> None:
    begun = play(batch(1, checked=True, trust=v.NOW), blocked(1))
    assert keys(begun) == ["preflight"]
    assert at_work(play(begun, v.RED)) == [(1, "fix")]
    for given in ({"checked": False}, {"trust": v.PART}):
        assert at_work(play(batch(1, **{"checked": True, "trust": v.NOW, **given}), blocked(1))) == [(1, "fix")]


def test_what_cannot_run_ends_it_and_leaves_no_part_waiting() -> None:
    state = play(batch(2, checked=True, trust=v.NOW), passed(1), blocked(2), v.UNABLE)
    assert at_work(state) == [(2, "cancel")]
    ended = outcome(play(state, cancelled(2)))
    assert (ended.ending, ended.note) == (Ending.FAILED, "check 'test' cannot run: no pytest")


def test_a_change_the_verdict_does_not_need_is_held_back_and_may_be_decided_afterwards() -> None:
    state = play(verifying(2), v.WITHOUT)
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("lands", True)
    state = play(state, replace(LANDED, held_on="loop/1-held"))
    assert (outcome(state).ending, outcome(state).held, outcome(state).held_on) == (
        Ending.VERIFIED,
        v.BENT,
        "loop/1-held",
    )
    assert gate(state).evidence == v.E1


@pytest.mark.parametrize(
    ("named", "waits"), [(("tests/",), False), (("tests/t.py",), True), (("a/", "tests/t.py"), True)]
)
def test_a_folder_asks_for_none_of_its_tests_and_a_test_that_is_named_is_needed(
    named: tuple[str, ...], *, waits: bool
) -> None:
    state = play(verifying(trust=replace(v.NOW, artifacts=named)), v.WITHOUT)
    assert (where(state) == Station.GATE) is waits


def test_where_nothing_else_would_land_it_is_waited_for() -> None:
    state = play(verifying(), v.NOTHING_ELSE)
    assert where(state) == Station.GATE
    again = play(state, v.approves())
    assert (keys(again), wanted(again, RunChecks).approved) == (["verify-2-1.0"], v.BENT)
    assert keys(play(again, v.LANDS)) == ["land-2-1.0"]
    refused = play(state, v.rejects())
    assert at_work(refused) == [(1, "fix")]
    asked = once_more(refused, "c2", replace(v.NOTHING_ELSE, held=v.OTHERWISE_BENT))
    assert gate(asked).evidence == v.E2
    assert at_work(once_more(refused, "c3", v.NOTHING_ELSE)) == [(1, "fix")]


def test_where_several_could_be_meant_by_a_no_a_person_is_asked() -> None:
    state = play(verifying(2), v.NOTHING_ELSE, v.rejects())
    green = (combined("one"), v.LANDS, combined("two"), v.LANDS, combined("all"))
    assert where(play(state, *green, v.NOTHING_ELSE)) == Station.ESCALATED


def test_a_claim_is_told_once_and_then_waited_for() -> None:
    state = play(verifying(), v.CLAIMED)
    assert at_work(state) == [(1, "fix")]
    earlier = state.items[0].earlier
    assert earlier is not None
    assert [each.rule for each in earlier.landing.findings] == ["t::old", "needs-approval"]
    state = once_more(state, "c2", v.CLAIMED)
    assert (where(state), gate(state).failing) == (Station.GATE, v.CLAIM.failing)


def test_a_manifest_waits_at_once_and_is_red_all_the_same() -> None:
    state = play(verifying(), v.AT_ONCE)
    assert where(state) == Station.GATE
    assert at_work(play(state, v.approves(v.E3), v.AT_ONCE)) == [(1, "fix")]


def test_an_untested_change_is_told_and_then_a_persons_business() -> None:
    state = once_more(play(verifying(), v.UNNOTICED), "c2", v.UNNOTICED)
    asked = gate(state)
    assert (where(state), asked.gate) == (Station.GATE, "untested")
    taken = outcome(play(state, v.approves(asked.evidence, "untested"), v.UNNOTICED, LANDED))
    assert (taken.ending, [each.rule for each in taken.findings]) == (Ending.ACCEPTED, ["untested-change"])
    assert at_work(play(state, v.rejects(asked.evidence, "untested"))) == [(1, "fix")]


def test_what_was_taken_untested_of_all_together_is_owed_by_the_batch() -> None:
    state = once_more(play(verifying(), v.UNNOTICED), "c2", v.UNNOTICED)
    taken = play(state, v.approves(gate(state).evidence, "untested"), v.UNNOTICED, LANDED)
    assert owes(KIND, outcome(taken))
    told = debt_entry(KIND, LoopId("b-1"), taken, 0.0, "").splitlines()
    assert [line for line in told if line.startswith("- **Taken untested**")] == ["- **Taken untested**:"]
    assert "with what no check looks at, recorded in .loop/debt.md." in closing.lines(taken, outcome(taken))[0]


def test_what_its_parts_were_accepted_with_is_owed_by_them() -> None:
    begun = play(batch(1, checked=True, trust=v.NOW), asks(1), says("accept"), accepted(1, "c1"), combined("c1"))
    state = play(begun, v.LANDS, LANDED)
    assert (outcome(state).ending, owes(KIND, outcome(state))) == (Ending.ACCEPTED, False)


def test_what_the_verdict_rests_on_is_told_at_the_first_landing() -> None:
    trust = replace(v.NOW, allow=("tests/**",))
    ended = outcome(play(verifying(trust=trust), replace(v.LANDS, written=("tests/test_new.py",)), LANDED))
    assert (ended.written, ended.allowed) == (("tests/test_new.py",), ("tests/**",))
    stopped = outcome(play(batch(1, checked=True, trust=trust), passed(1)))
    assert (stopped.written, stopped.allowed, stopped.unnoticed) == ((), (), "")


def test_without_checks_it_is_told_that_none_has_run_on_what_landed() -> None:
    state = play(batch(1, trust=v.NOW), blocked(1), waits(1, 2), passed(1, "c1", attempts=2), combined("all"), LANDED)
    assert closing.lines(state, outcome(state))[0].endswith("of 1 artifact; no check has run on it.")


def test_what_is_held_back_may_be_decided_while_another_gate_is_waited_for() -> None:
    state = play(verifying(), replace(v.UNREAD, held=v.BENT))
    assert where(play(state, v.rejects())) == Station.GATE
    assert wanted(play(state, v.approves()), RunChecks).approved == v.BENT


def test_an_approval_while_the_checks_run_has_them_run_anew() -> None:
    beside = play(verifying(), v.WITHOUT, CONFLICT)
    assert where(beside) == BatchPhase.COMBINE
    assert keys(play(beside, v.approves())) == keys(beside)[:1]
    state = play(beside, combined("more"))
    again = play(state, v.approves())
    assert (keys(again) != keys(state)[:1], wanted(again, RunChecks).approved) == (True, v.BENT)
    assert wanted(play(state, v.rejects()), RunChecks).approved == ()


def landed() -> afterwards.Stand:
    begun = play(batch(1, checked=True, trust=v.NOW), blocked(1), v.LANDS, waits(1, 2))
    number, child = passed(1, "c1", attempts=2)
    state = play(begun, (number, replace(child, mended=(afterwards.IN_TESTS,))), combined("all"), v.WITHOUT)
    return afterwards.Stand(loop=BATCH, state=play(state, afterwards.LANDED), candidate="all")


@pytest.mark.parametrize("story", afterwards.STORIES, ids=lambda story: story.__name__)
def test_a_change_that_was_held_back_after_the_end(story: Callable[[afterwards.Stand], None]) -> None:
    story(landed())


def test_an_approval_before_the_end_lands_it_when_the_end_is_there() -> None:
    two = play(batch(2, checked=True, trust=v.NOW), blocked(1), asks(2), v.LANDS, waits(1, 2))
    state = play(two, passed(1, "c1", attempts=2), combined("all"), v.WITHOUT, replace(LANDED, landed=Commit("own")))
    assert where(state) == Station.ESCALATED
    state = play(state, v.approves(), says("accept"), accepted(2, "base"))
    assert keys(state) == ["checks-held-1"]


@pytest.mark.parametrize("held", [(), v.BENT])
def test_what_a_person_accepts_lands_without_what_nobody_approved(held: tuple[Change, ...]) -> None:
    state = play(batch(1, trust=v.NOW), asks(1), says("accept"), accepted(1, "c1"), combined("c1"))
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("", True)
    state = play(state, replace(LANDED, held=held, held_on="x" if held else ""))
    assert (outcome(state).held, len(BATCH.decide(state))) == (held, 2 if held else 1)
