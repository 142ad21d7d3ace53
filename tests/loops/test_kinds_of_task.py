"""What a task is about decides what its change may hold: texts alone, or tests that are removed by a person's word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks
from loopwright.kernel.events import AgentReported, ChecksReported
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import NO_KEY, AgentReport, Tree, Verdict
from loopwright.kernel.trust import Claim
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.tickets.state import SHOWN
from tests.loops import feedback as f
from tests.loops import tickets as t
from tests.loops import verified as v

CODE = replace(v.LANDS, changed_code=("src/a.py", "tests/t.py"))
GUARDED = replace(CODE, evidence=Evidence(level=Level.GUARDED))
ALTERED = replace(GUARDED, alters_code=True)
TESTS_ALONE = replace(GUARDED, changed_code=("tests/t.py",), same_product=True)
GONE = ("t::old", "t::older")
DROPPED = replace(v.WITHOUT, would_drop=GONE)
REMOVED = replace(v.RED, held=v.BENT, claim=Claim(changes=v.BENT, failing=("t::old",), dropped=GONE))


def passes(about: str = "") -> AgentReported:
    return AgentReported(key=NO_KEY, report=AgentReport(verdict=Verdict.PASS, about=about))


def played(report: ChecksReported, *, about: str = "", reviewed: str = "", made: str = "") -> FeedbackState:
    state = FEEDBACK.start(replace(f.params(), about=about, trust=v.PART))
    done = replace(f.DONE, report=replace(f.DONE.report, about=made))
    return f.play(state, done, replace(f.saved("c1"), tree=Tree("c1")), passes(reviewed), report)


def rules(state: FeedbackState) -> list[str]:
    return [each.rule for each in state.past[-1].failures] if state.past else []


@pytest.mark.parametrize(("about", "reviewed"), [("text", ""), ("text", "code"), ("", "text")])
def test_code_in_a_task_about_texts_is_a_failed_attempt_that_names_it(about: str, reviewed: str) -> None:
    state = played(CODE, about=about, reviewed=reviewed)
    assert (rules(state), where(state), state.test_failures) == (["not-text"], "IMPLEMENT", 1)
    assert "src/a.py, tests/t.py" in state.past[-1].failures[0].issue


@pytest.mark.parametrize(("about", "reviewed"), [("", ""), ("code", "text"), ("tests", ""), ("cleanup", "")])
def test_code_in_any_other_task_is_none(about: str, reviewed: str) -> None:
    assert where(played(CODE, about=about, reviewed=reviewed)) == Station.LAND


def test_texts_land_in_a_task_about_them() -> None:
    assert where(played(replace(v.LANDS, same_product=True), about="text")) == Station.LAND


def test_what_would_not_land_of_a_task_about_texts_is_held_back_as_always() -> None:
    report = replace(v.LANDS, held=v.MANIFEST, changed_code=("pyproject.toml",))
    assert f.wanted(played(report, about="text"), Integrate).holds_back


def test_red_checks_are_told_with_it() -> None:
    assert rules(played(replace(CODE, results=v.RED.results), about="text")) == ["t::old", "not-text"]


def test_what_the_maker_says_that_the_task_is_about_counts_for_nothing() -> None:
    assert rules(played(GUARDED, made="text")) == ["no-witness"]


@pytest.mark.parametrize(
    ("about", "reviewed", "report", "expected"),
    [
        ("tests", "", GUARDED, ["no-witness"]),
        ("", "tests", GUARDED, ["no-witness"]),
        ("tests", "", TESTS_ALONE, []),
        ("", "tests", TESTS_ALONE, []),
        ("cleanup", "", GUARDED, []),
        ("cleanup", "", ALTERED, ["no-witness"]),
        ("", "cleanup", ALTERED, ["no-witness"]),
    ],
)
def test_work_about_tests_or_a_clean_up_that_does_more_is_asked_for_a_witness(
    about: str, reviewed: str, report: ChecksReported, expected: list[str]
) -> None:
    assert rules(played(report, about=about, reviewed=reviewed)) == expected
    ticket = t.session(about=about, trust=v.PART, firm=True)
    ticket = t.play(ticket, t.MADE, t.saved("c1"), passes(reviewed), report, t.SAID)
    (seen,) = ticket.past
    assert [each.rule for each in seen.findings if each.category == "engine"] == expected
    assert [each.passed for each in seen.aspects if each.aspect == SHOWN] == [False for _ in expected]


@pytest.mark.parametrize(
    ("about", "reviewed", "expected"), [("code", "", ["no-witness"]), ("", "code", []), ("", "", [])]
)
def test_new_data_alone_is_asked_for_a_witness_where_code_was_asked_for(
    about: str, reviewed: str, expected: list[str]
) -> None:
    data = replace(CODE, evidence=Evidence(level=Level.NOT_SHOWN))
    assert rules(played(data, about=about, reviewed=reviewed)) == expected
    assert rules(played(replace(data, canary=replace(v.MISSED, rule="off")), about=about)) == []
    ticket = t.session(about=about, trust=v.PART, firm=True)
    ticket = t.play(ticket, t.MADE, t.saved("c1"), passes(reviewed), data, t.SAID)
    assert [each.rule for each in (*ticket.past, ticket.ticket)[0].findings if each.category == "engine"] == expected


@pytest.mark.parametrize("report", [DROPPED, REMOVED])
def test_the_tests_that_a_clean_up_removes_are_one_gate_at_once(report: ChecksReported) -> None:
    state = played(report, about="cleanup")
    gate = f.wanted(state, AwaitGate)
    assert (where(state), gate.gate, state.past) == (Station.GATE, "protected", ())
    assert state.course.open_gates[0].dropped == GONE
    approved = f.play(state, v.approves(gate.evidence), v.LANDS)
    assert where(approved) == Station.LAND


def test_other_work_does_without_them_or_hears_of_it_first() -> None:
    assert where(played(DROPPED)) == Station.LAND
    assert rules(played(REMOVED)) == ["t::old", "needs-approval"]


def test_a_clean_up_that_removes_no_test_waits_for_nobody() -> None:
    assert where(played(v.WITHOUT, about="cleanup")) == Station.LAND
    assert rules(played(v.CLAIMED, about="cleanup")) == ["t::old", "needs-approval"]


@pytest.mark.parametrize(("about", "reviewed", "tries"), [("tests", "", True), ("", "tests", True), ("", "", False)])
def test_new_tests_are_tried_where_the_work_is_about_them(about: str, reviewed: str, *, tries: bool) -> None:
    state = FEEDBACK.start(replace(f.params(), about=about, trust=v.PART))
    assert f.wanted(f.play(state, f.DONE, f.saved("c1"), passes(reviewed)), RunChecks).tries_new_tests is tries
    ticket = t.play(t.session(about=about, trust=v.PART), t.MADE, t.saved("c1"), passes(reviewed))
    assert t.wanted(ticket, RunChecks).tries_new_tests is tries


def test_a_ticket_about_texts_is_held_to_it() -> None:
    state = t.session(about="text", trust=v.PART, firm=True)
    state = t.play(state, t.MADE, t.saved("c1"), t.passes(), CODE, t.SAID)
    assert [each.rule for each in t.creator(state).brief.findings] == ["not-text"]
