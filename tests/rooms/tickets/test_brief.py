from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.kernel.actions import RunAgent
from loopwright.kernel.model import Demand, LoopId
from loopwright.loops.parts import TaskFacts
from loopwright.loops.tickets import brief as briefs
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import TicketsState
from loopwright.ports.agent import AgentRun
from tests import hostile
from tests.loops import tickets as t

Golden = Callable[[str, str], None]
DIFF = "diff --git a/src/pay.py b/src/pay.py\n+pay = None\n+```\n"
WORST = t.critical("alpha", requirement="AC-2", guidance="tell them", evidence="line 3")
BETTER = t.critical("beta", requirement="AC-1", expected="6 paths", actual="4 of 6")
REWORK = t.told(*t.bad("c1", BETTER, WORST, checks=t.RED))


def run_of(state: TicketsState, diff: str = "") -> AgentRun:
    action = next(each for each in TICKETS.decide(state) if isinstance(each, RunAgent))
    return AgentRun(
        loop=LoopId("pay-1"),
        kind="tickets",
        key=action.key,
        step="s",
        role=action.role,
        brief=action.brief,
        folder=Path("/repo"),
        needs_verdict=action.needs_verdict,
        diff=diff,
    )


def told(state: TicketsState, diff: str = "") -> str:
    return briefs.render(run_of(state, diff))


def test_the_first_creators_brief(golden: Golden) -> None:
    golden("texts/brief-ticket-creator-1.md", told(t.session(what="with a card", context="see docs")))


def test_a_task_of_something_larger_says_to_every_role_of_what_and_which_command_must_pass() -> None:
    part = TaskFacts(task_id="T-002", request="Add validation", must_not=("tokens are logged",), advised=("strip",))
    made = t.session(part=part, also=(Demand("T-002", ("make", "it")),), lands=False, judge=True)
    looked_at = t.play(made, *t.made())
    for text in map(told, (made, looked_at, t.play(looked_at, t.passes(), t.GREEN))):
        assert "T-002: make it" in text
        assert "## Part of" in text
        assert "- `mustNot-1`: tokens are logged" in text
        assert "## Advice of a panel of agents\n\n> strip" in text


def test_a_rework_brief_has_rules_history_and_feedback_before_the_task(golden: Golden) -> None:
    text = told(t.play(REWORK, t.UNCLEAR, t.says("answer", text="euro")))
    golden("texts/brief-ticket-creator-2.md", text)
    order = (
        "rework ticket",
        "## Attempt history",
        "## Structured feedback",
        "## Open findings",
        "## Task",
        "## From a",
    )
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_a_long_history_tells_the_newest_and_how_many_are_left_out() -> None:
    run = run_of(REWORK)
    lines = tuple(f"TICKET-s-{number:03}: {'x' * 700}" for number in range(1, 41))
    text = briefs.render(replace(run, brief=replace(run.brief, history=lines)))
    assert "earlier tickets left out; LOOP_CONTEXT has them all)" in text
    assert ("TICKET-s-040: x" in text, "TICKET-s-001: x" in text) == (True, False)


def test_without_feedback_there_is_no_heading_for_it() -> None:
    run = run_of(REWORK)
    assert "## Structured feedback" in briefs.render(run)
    assert "## Structured feedback" not in briefs.render(
        replace(run, brief=replace(run.brief, own=replace(run.brief.own, feedback=())))
    )


def test_a_critics_brief(golden: Golden) -> None:
    golden("texts/brief-ticket-critic.md", told(t.play(REWORK, *t.made("c2")), DIFF))


def test_a_critic_never_reads_what_the_creator_claims() -> None:
    state = t.told(replace(t.MADE, report=replace(t.MADE.report, summary="all is perfect")), t.saved())
    assert "all is perfect" not in told(state, DIFF)


def test_a_judges_brief_may_add_aspects_and_overturns_nothing(golden: Golden) -> None:
    golden("texts/brief-ticket-judge.md", told(t.told(*t.made(), t.fails(WORST), t.RED, judge=True), DIFF))


def test_the_duty_goes_with_the_part_whatever_the_role_is_called() -> None:
    state = t.told(*t.made(), critics=("judge",))
    assert "You report, you do not decide what happens" in told(state)


@settings(max_examples=30)
@given(hostile.texts, st.integers(1, 30))
def test_a_brief_stays_bounded_and_nothing_leaves_its_quotes(words: str, tickets: int) -> None:
    found = t.critical("alpha", requirement="AC-1", guidance=words, evidence=words, actual=words)
    events = [event for number in range(tickets) for event in t.bad(f"c{number}", found)]
    text = told(t.told(*events, max=tickets + 1, title=words or "x", what=words, context=words))
    assert len(text.encode()) < 40_000
    assert "\x1b" not in text
    assert text.startswith("# Brief for the creator: TICKET-pay-")
