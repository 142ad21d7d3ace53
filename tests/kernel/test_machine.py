from __future__ import annotations

from typing import get_args

from loopwright.kernel.actions import Action, Ask, AwaitGate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Answered,
    BudgetChanged,
    CancelRequested,
    ConfigChanged,
    GateDecided,
    Said,
    SessionMarked,
    SkillSkipped,
    StateEdited,
)
from loopwright.kernel.machine import ANSWERED_BY, Standpoint, answers_one_of
from loopwright.kernel.model import NO_COMMIT, NO_KEY, AgentReport, Ending, Key, Outcome, Severity

ASK = Ask(key=Key.parse("ask-1"), question="?")
GATE = AwaitGate(key=Key.parse("gate-1"), gate="deploy", commit=NO_COMMIT, evidence="e", because=())
STOP = Stop(outcome=Outcome(ending=Ending.FAILED))


def test_every_action_says_what_may_answer_it() -> None:
    assert set(ANSWERED_BY) == set(get_args(Action))


def test_every_event_with_a_key_answers_an_action() -> None:
    answers = {event for events in ANSWERED_BY.values() for event in events}
    unasked = {CancelRequested, BudgetChanged, ConfigChanged, StateEdited, SkillSkipped, SessionMarked}
    assert answers == {*get_args(Answer), *get_args(Said)} - unasked


def test_agents_answer_in_three_ways() -> None:
    assert ANSWERED_BY[RunAgent] == (AgentReported, AgentFailed, AgentUnavailable)
    assert ANSWERED_BY[Stop] == ()


def test_an_answer_needs_the_key_and_the_kind() -> None:
    assert answers_one_of((GATE, ASK), Answered(key=Key.parse("ask-1"), choice="x"))
    assert not answers_one_of((GATE, ASK), Answered(key=Key.parse("ask-2"), choice="x"))
    assert not answers_one_of((GATE, ASK), Answered(key=Key.parse("gate-1"), choice="x"))
    assert answers_one_of((GATE, ASK), GateDecided(key=Key.parse("gate-1"), gate="deploy", approved=True, evidence="e"))
    assert not answers_one_of((), Answered(key=Key.parse("ask-1"), choice="x"))


def test_nothing_answers_the_end() -> None:
    assert not answers_one_of((STOP,), AgentReported(key=STOP.key, report=AgentReport()))


def test_what_has_no_key_answers_nothing() -> None:
    checks = RunChecks(key=NO_KEY, commit=NO_COMMIT, base=NO_COMMIT)
    assert not answers_one_of((checks, ASK), CancelRequested())


def test_a_parent_may_have_its_child_wait_at_a_state_of_an_attempt() -> None:
    assert str(Standpoint(state="FIX", attempt=2, limit=3).point) == "FIX@2"


def test_severities_are_ordered_from_the_worst_and_raised_by_one() -> None:
    assert Severity.CRITICAL.rank < Severity.HIGH.rank < Severity.MEDIUM.rank < Severity.LOW.rank
    assert [severity.raised() for severity in Severity] == [
        Severity.CRITICAL,
        Severity.CRITICAL,
        Severity.HIGH,
        Severity.MEDIUM,
    ]
