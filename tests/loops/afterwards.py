"""What may become of a held change when its loop has ended: told once, for every loop that lands something.

A loop brings where it stands when it has landed all but the change of `tests/t.py`. Its reviewer had found `IN_TESTS`
there, and that change had mended it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks, Stop
from loopwright.kernel.events import CancelRequested, Event, Integrated, IntegrationRefused
from loopwright.kernel.findings import identify
from loopwright.kernel.machine import ANSWERED_BY, Loop
from loopwright.kernel.model import NO_KEY, Commit, Ending, Finding, Outcome, Severity, Tree
from loopwright.kernel.trust import Claim, evidence_with
from loopwright.loops import closing
from tests.loops import verified as v
from tests.loops.harness import taken, with_key

LANDED = Integrated(key=NO_KEY, branch="loop/1", commit=Commit("m1"), held_on="loop/1-held", landed=Commit("own"))
IN_TESTS = identify(
    Finding(severity=Severity.CRITICAL, rule="weak", file="tests/t.py", issue="it is weak", evidence="e", guidance="g")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    loop: Loop[Any, Any]
    state: Any
    candidate: str  # the commit with all of it

    def after(self, *letters: Event) -> Stand:
        state = self.state
        for letter in letters:
            answers = (a for a in self.loop.decide(state) if isinstance(letter, ANSWERED_BY[type(a)]))
            keyed = with_key(letter, next(answers).key) if hasattr(letter, "key") else letter
            state = taken(self.loop, state, keyed)
        return replace(self, state=state)

    @property
    def actions(self) -> tuple[Any, ...]:
        return self.loop.decide(self.state)

    @property
    def outcome(self) -> Outcome:
        stop = self.actions[0]
        assert isinstance(stop, Stop)
        return stop.outcome


def approved_it_is_verified_and_landed_on_top(ended: Stand) -> None:
    assert (ended.outcome.ending, ended.outcome.held, ended.outcome.held_on) == (Ending.VERIFIED, v.BENT, "loop/1-held")
    (check,) = ended.after(v.approves()).actions
    assert isinstance(check, RunChecks)
    assert (str(check.key), check.commit, check.approved) == ("checks-held-1", ended.candidate, v.BENT)
    checked = ended.after(v.approves(), replace(v.LANDS, lands=Tree("whole")))
    (landing,) = checked.actions
    assert isinstance(landing, Integrate)
    assert (str(landing.key), landing.base, landing.tree, landing.target) == ("land-held-1", "own", "whole", "")
    both = checked.after(replace(LANDED, commit=Commit("both"), held_on=""))
    assert (both.outcome.ending, both.outcome.commit, both.outcome.held) == (Ending.VERIFIED, "both", ())
    assert both.outcome.held_on == "loop/1-held"  # the branch is still there


def what_does_not_pass_stays_held_back_and_is_asked_for_again(ended: Stand) -> None:
    for letters in (
        (v.RED,),
        (v.WITHOUT,),
        (replace(v.LANDS, claim=v.CLAIM),),
        (v.LANDS, IntegrationRefused(key=NO_KEY, reason="moved")),
        (CancelRequested(),),
    ):
        still = ended.after(v.approves(), *letters)
        assert (still.outcome.held, bool(still.outcome.still_held)) == (v.BENT, True)
        (gate,) = (each for each in still.actions if isinstance(each, AwaitGate))
        assert gate.evidence == v.E1
        assert [str(each.key) for each in still.after(v.approves()).actions] == ["checks-held-2"]


def what_conflicts_is_for_a_person_to_take_by_hand(ended: Stand) -> None:
    refused = IntegrationRefused(key=NO_KEY, reason="conflict", detail="both changed a")
    still = ended.after(v.approves(), v.LANDS, refused)
    by_hand = "take it by hand, `git cherry-pick loop/1-held`, and reject the gate"
    assert still.outcome.still_held == f"both changed a; {by_hand}"
    told = "\n".join(closing.held(still.outcome, "protected@1", "l-1"))
    assert (by_hand in told, "Land it" in told) == (True, False)


def tests_that_would_go_with_it_are_another_question(ended: Stand) -> None:
    still = ended.after(v.approves(), replace(v.RED, claim=Claim(dropped=("t::old",))))
    (gate,) = (each for each in still.actions if isinstance(each, AwaitGate))
    assert (gate.evidence, gate.dropped) == (evidence_with(v.BENT, ("t::old",)), ("t::old",))
    assert still.outcome.still_held == "1 test of the base would not run any more, which was not approved"
    (again,) = still.after(v.approves(gate.evidence)).actions
    assert (str(again.key), again.approved, again.may_drop) == ("checks-held-2", v.BENT, ("t::old",))


def rejected_it_is_no_longer_asked_for(ended: Stand) -> None:
    rejected = ended.after(v.rejects())
    assert (rejected.outcome.held, len(rejected.actions)) == ((), 1)


def what_it_mends_is_resolved_only_once_it_has_landed(ended: Stand) -> None:
    assert [each.rule for each in ended.outcome.waiting] == ["weak"]
    approved = ended.after(v.approves())
    assert [each.rule for each in approved.after(v.RED).outcome.waiting] == ["weak"]
    assert approved.after(v.LANDS, LANDED).outcome.waiting == ()
    assert [each.rule for each in ended.after(v.rejects()).outcome.waiting] == ["weak"]


STORIES: tuple[Callable[[Stand], None], ...] = (
    approved_it_is_verified_and_landed_on_top,
    what_does_not_pass_stays_held_back_and_is_asked_for_again,
    what_conflicts_is_for_a_person_to_take_by_hand,
    tests_that_would_go_with_it_are_another_question,
    rejected_it_is_no_longer_asked_for,
    what_it_mends_is_resolved_only_once_it_has_landed,
)
