"""How a gate says what it asks: in its own words, and not in those for whoever makes the change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.model import Tree
from loopwright.kernel.trust import Claim
from tests.loops.feedback import DONE, FAILURE, developer, passes, play, red, saved, wanted
from tests.loops.test_feedback_trust import BENT, LANDS, MISSED, begun, checked


@pytest.mark.parametrize(
    "advice", [": write a test that fails without it.", ". Write a test that looks at it.", ": write one that passes."]
)
def test_the_maker_may_say_why_no_test_can_and_the_gate_asks_nobody_for_a_test(advice: str) -> None:
    report = replace(LANDS, canary=replace(MISSED, sentence=f"{MISSED.sentence}{advice}"))
    state = checked(begun(), report)
    told = developer(state).brief.failures[-1].issue
    assert "say in `no_test` of your result why none can" in told
    assert told.lower().count("write") == 1
    says_why = replace(DONE, report=replace(DONE.report, no_test="it only prints"))
    gate = wanted(play(state, says_why, saved("c2"), passes(), report), AwaitGate)
    assert gate.why == f'{MISSED.sentence}; the maker says: "it only prints"'


def test_a_reason_that_the_maker_gave_once_stands() -> None:
    says_why = replace(DONE, report=replace(DONE.report, no_test="it only prints"))
    unnoticed = replace(LANDS, canary=MISSED)
    first = play(begun(), says_why, saved("c1"), passes(), unnoticed)
    gate = wanted(play(first, DONE, saved("c2"), unnoticed), AwaitGate)
    assert gate.why.endswith('the maker says: "it only prints"')


def test_changed_tests_of_the_base_are_called_tests_where_they_alone_fail() -> None:
    claim = Claim(changes=BENT, failing=("tests/t.py::a",))
    report = replace(red(FAILURE), lands=Tree("lands"), held=BENT, claim=claim)
    gate = wanted(checked(checked(begun(), report), report, "c2"), AwaitGate)
    told = "with the changed tests all checks pass; with the tests of the base these fail: tests/t.py::a"
    assert gate.why == told
