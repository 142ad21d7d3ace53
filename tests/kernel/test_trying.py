from __future__ import annotations

from dataclasses import dataclass

import pytest

from loopwright.kernel.events import AgentFailed
from loopwright.kernel.model import AgentReport, Key, Question
from loopwright.kernel.trying import again, asked_to_repair, failure, question, rested, tried_again, waiting_until


@dataclass(frozen=True, slots=True)
class Step:
    tries: int = 1
    respawned: bool = False
    repaired: bool = False
    repair: str = ""
    until: float | None = None


CRASH = AgentFailed(key=Key.parse("k"), reason="crashed", detail="exit 3")
GARBLE = AgentFailed(key=Key.parse("k"), reason="garbled")


def test_a_crash_is_tried_again_once() -> None:
    once = tried_again(Step(repair="say why"), CRASH)
    assert once == Step(tries=2, respawned=True, repair="say why")
    assert tried_again(once, CRASH) is None


def test_what_cannot_be_read_is_asked_for_once_more() -> None:
    once = tried_again(Step(), GARBLE)
    assert once == Step(tries=2, repaired=True, repair="the result could not be read")
    assert tried_again(once, GARBLE) is None


def test_one_kind_of_trouble_does_not_use_up_the_other() -> None:
    once = tried_again(Step(), CRASH)
    assert once is not None
    assert tried_again(once, GARBLE) == Step(
        tries=3, respawned=True, repaired=True, repair="the result could not be read"
    )


def test_a_wait_ends_under_a_new_key_and_uses_nothing_up() -> None:
    waits = waiting_until(Step(repair="say why"), 5.0)
    assert (waits, again(waits)) == (Step(repair="say why", until=5.0), Step(tries=2, repair="say why"))


def test_another_step_begins_rested() -> None:
    assert rested(Step(4, respawned=True, repaired=True, repair="x", until=1.0), tries=5) == Step(tries=5)
    assert asked_to_repair(Step(repaired=True), "again") is None


@pytest.mark.parametrize(
    ("report", "asks"),
    [
        (AgentReport(questions=(Question(question="a?"), Question(question="b?")), summary="no"), "a?\nb?"),
        (AgentReport(summary="which one?"), "which one?"),
        (AgentReport(), "The critic asks for clarification without a question."),
    ],
)
def test_an_agent_that_asks_is_quoted(report: AgentReport, asks: str) -> None:
    assert question(report, "critic") == asks


def test_a_failure_is_told_with_its_detail() -> None:
    assert (failure(CRASH), failure(GARBLE)) == ("crashed: exit 3", "garbled")
