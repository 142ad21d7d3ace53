"""A question that a check causes names the cause: the test or the file, and its message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, AwaitGate, RunAgent, RunChecks
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.trust import Claim
from loopwright.kernel.wording import name_causes
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.lifecycle.people import escalation
from tests.loops import feedback as f
from tests.loops import lifecycle as lc
from tests.loops import quality as q
from tests.loops import tickets as t
from tests.loops import verified as v

RAISED = "Traceback\nE   ModuleNotFoundError: No module named 'attrs'\n"
NOT_COLLECTED = identify(
    Finding(
        severity=Severity.HIGH,
        category="tests",
        rule="tests/test_a.py",
        issue="tests/test_a.py - collection failure",
        evidence=RAISED,
    )
)
IDLE = replace(v.LANDS, findings=(engine_finding("idle-tests", "These new tests pass whatever: t::idle"),))
SAME = replace(v.LANDS, same_product=True)


def feedback(most: int = 1) -> FeedbackState:
    plan = replace(f.params(max_feedback_iterations=most), trust=v.PART)
    return FEEDBACK.start(plan)


@pytest.mark.parametrize(
    ("report", "named"),
    [
        (f.red(f.FAILURE), (f.FAILURE.rule, f.FAILURE.issue)),
        (f.red(NOT_COLLECTED), ("tests/test_a.py", "No module named 'attrs'")),
        (IDLE, ("t::idle",)),
        (SAME, ("src/pay.py",)),
    ],
    ids=["test", "collection", "idle tests", "comments"],
)
def test_a_feedback_loop_names_what_fails(report: ChecksReported, named: tuple[str, ...]) -> None:
    made = replace(f.saved("c1"), paths=("src/pay.py",))
    asked = f.wanted(f.play(feedback(), f.DONE, made, f.passes(), report), Ask).question
    assert [each for each in named if each not in asked] == []


def test_a_gate_for_a_manifest_names_what_cannot_be_collected_without_it() -> None:
    claim = Claim(changes=v.MANIFEST, at_once=True)
    state = f.play(feedback(), f.DONE, f.saved("c1"), f.passes(), replace(f.red(NOT_COLLECTED), claim=claim))
    assert "No module named 'attrs'" in f.wanted(state, AwaitGate).why


def test_a_later_change_of_comments_is_named() -> None:
    first, later = f.saved("c1"), replace(f.saved("c2"), paths=("src/pay.py",), tree=SAME.lands)
    state = f.play(feedback(2), f.DONE, first, f.fails(f.ISSUE), f.DONE, later, f.passes(), SAME)
    assert "src/pay.py" in f.wanted(state, Ask).question


def test_a_blocked_developer_is_asked_about_with_what_failed() -> None:
    state = f.play(feedback(2), f.DONE, f.saved("c1"), f.passes(), f.red(f.FAILURE), f.BLOCKED)
    assert f.FAILURE.rule in f.wanted(state, Ask).question


def test_a_ticket_names_what_was_changed_or_failed() -> None:
    made = replace(t.saved("c1"), paths=("src/pay.py",))
    state = t.play(t.session(trust=v.PART, firm=True), t.MADE, made, t.passes(), SAME)
    assert "src/pay.py" in t.wanted(state, Ask).question
    assert t.BROKEN_TEST.rule in t.question(t.told(*t.GOOD, t.RED_MERGE, max=1)).question


def test_a_blocked_creator_of_a_review_is_asked_about_with_what_failed() -> None:
    state = q.told(*q.blocked(replace(q.BROKEN_TEST, evidence="seen", guidance="mend it")), q.BLOCKED)
    assert q.BROKEN_TEST.rule in q.question(state).question


def test_a_blocked_system_names_what_failed() -> None:
    played = lc.at("REVIEW", lc.on(RunAgent, None, step="diagnose")).play(
        lc.on(RunChecks, lc.red("security", "eval()"))
    )
    assert (played.state.phase, "eval()" in escalation(played.state).question) == ("BLOCKED", True)


def test_at_most_three_causes_are_named() -> None:
    tests = [replace(f.FAILURE, rule=f"t::{number}", issue="no") for number in range(5)]
    assert name_causes(tests) == "t::0 - no, t::1 - no, t::2 - no and 2 more"
    assert name_causes([replace(f.ISSUE, category="style")]) == ""
