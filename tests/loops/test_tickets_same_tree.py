"""On the same tree a critic's or a judge's no stays a no, whatever comes after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.events import AgentReported, Event
from loopwright.kernel.model import AgentStatus, LoopId, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.files import pages
from loopwright.loops.tickets.judgement import judged_before
from loopwright.loops.tickets.past import SessionPast
from loopwright.loops.tickets.state import Decision, TicketsState
from tests.loops import tickets as t
from tests.loops import verified as v

NO = t.fails()
NOES = [
    NO,
    t.verdict(Verdict.FAIL, status=AgentStatus.NEEDS_CLARIFICATION),
    t.verdict(Verdict.FAIL, t.BETA, status=AgentStatus.BLOCKED),
]
INSTEAD = [
    (t.passes(),),
    (t.verdict(None),),
    (t.CRASHED, t.passes()),
    (t.TIMED_OUT, t.IDLE),
    (t.GARBLED,),
    (t.UNAVAILABLE, t.LATER, t.passes()),
    # A person mends what crashes, and says nothing about the work.
    (t.of("critic", t.CRASHED), t.of("critic", t.NEEDS_PERSON), t.says("continue"), t.passes()),
]
TOLD = "asked why, it passed it instead: on the same tree a no stays a no; its word: looked at it"


def judging(*letters: Event, **given: object) -> TicketsState:
    return t.told(*t.made(), t.passes(), t.GREEN, *letters, judge=True, **given)


@pytest.mark.parametrize("no", NOES)
@pytest.mark.parametrize("instead", INSTEAD)
def test_a_critic_that_is_asked_why_cannot_pass_it_instead(no: AgentReported, instead: tuple[Event, ...]) -> None:
    state = t.told(*t.made(), no, *instead, t.GREEN, t.SAID)
    assert (t.decisions(state), "a critic does not approve" in t.against(state)) == (["ROUTE_BACK"], True)
    assert [each.verdict for each in t.last(state).critiques] == [Verdict.FAIL]


@pytest.mark.parametrize("no", [NOES[0], NOES[2]])  # a judge that asks is always heard
@pytest.mark.parametrize("instead", INSTEAD)
def test_nor_can_a_judge(no: AgentReported, instead: tuple[Event, ...]) -> None:
    state = judging(no, *instead, t.SAID)
    assert (t.decisions(state), "the judge does not approve" in t.against(state)) == (["ROUTE_BACK"], True)


def test_the_ticket_and_the_next_creator_are_told_of_the_no() -> None:
    state = t.told(*t.made(), NO, t.passes(), t.GREEN, t.SAID)
    (found,) = t.last(state).findings
    assert (found.rule, found.issue) == (
        "no-verdict critic",
        f"The critic did not pass it and did not say why ({TOLD})",
    )
    assert t.creator(state).brief.findings == (found,)
    assert found.issue in " ".join(t.creator(state).brief.own.feedback)
    page = pages(LoopId("t-1"), state, SessionPast())[0].body
    assert f"NEEDS_CHANGES\n\n## Rationale\n\n- critic, fail:\n\n> {TOLD}" in page
    judged = judging(NO, t.passes(), t.SAID)
    assert t.creator(judged).brief.own.feedback[-1] == f"The judge says: {TOLD}"


def test_a_no_without_a_word_after_it_is_told_without() -> None:
    silent = t.verdict(None, summary="")
    assert t.last(t.told(*t.made(), NO, silent, t.GREEN, t.SAID)).critiques[0].summary == (
        "asked why, it gave no verdict instead: on the same tree a no stays a no"
    )


def test_a_reason_that_comes_when_asked_for_is_the_reason() -> None:
    state = t.told(*t.made(), NO, t.fails(t.ALPHA), t.GREEN, t.SAID)
    assert (t.open_rules(state), t.last(state).critiques[0].summary) == (["alpha"], "looked at it")


def test_what_a_person_answers_to_its_question_is_something_new_to_judge_by() -> None:
    state = t.told(*t.made(), NO, t.of("critic", t.UNCLEAR), t.says("answer", text="euro"), t.passes(), t.GREEN, t.SAID)
    assert t.decisions(state) == ["APPROVE"]


def test_one_critics_yes_makes_up_for_no_others_no() -> None:
    state = t.told(*t.made(), t.passes(), NO, t.passes(), t.GREEN, t.SAID, critics=("critic", "security-critic"))
    assert t.decisions(state) == ["ROUTE_BACK"]


def test_a_session_that_began_before_the_rule_takes_the_pass() -> None:
    assert t.decisions(t.told(*t.made(), NO, t.passes(), t.GREEN, t.SAID, firm=False)) == ["APPROVE"]


# --- the next ticket --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [(NO, NO), (NO, t.passes()), (NO, t.CRASHED, t.TIMED_OUT)])
def test_a_no_that_nobody_explained_is_not_asked_about_again(after: tuple[Event, ...]) -> None:
    state = t.told(*t.made("c1"), *after, t.GREEN, t.SAID, *t.made("c1"))
    assert (where(state), t.open_rules(state)) == ("VERDICT", ["no-verdict critic", "nothing-changed"])


SILENT = (t.CRASHED, t.TIMED_OUT)
TWO = ("critic", "security-critic")


@pytest.mark.parametrize(
    "letters",
    [
        (t.fails(t.ALPHA), *SILENT, t.GREEN, t.passes()),
        (t.passes(t.GRAVE), *SILENT, t.GREEN, t.passes()),
        (t.passes(), *SILENT, t.RED, t.passes()),
        (t.passes(), *SILENT, t.GREEN, t.fails(t.ALPHA)),
    ],
)
def test_a_no_beside_a_critic_that_was_silent_stands(letters: tuple[Event, ...]) -> None:
    given = {"critics": TWO, "judge": True}
    assert where(t.told(*t.made("c1"), *letters, t.SAID, *t.made("c1"), **given)) == "VERDICT"


def test_a_creator_that_crashes_has_nobody_asked_again() -> None:
    assert where(t.told(*t.bad("c1"), t.CRASHED, t.TIMED_OUT, t.saved("c1"))) == "VERDICT"


@pytest.mark.parametrize(
    "answer",
    [
        t.says("continue", count=2),
        t.says("reassign", text="critic=codex"),
        t.says("reassign", text="critic+codex"),
        t.says("reassign", text="creator=codex"),
    ],
)
def test_more_tickets_or_other_agents_are_nothing_new_to_judge_by(answer: Event) -> None:
    state = t.play(t.told(*t.bad("c1"), max=1), answer, *t.made("c1"))
    assert (where(state), t.decisions(state)[-1]) == ("VERDICT", "ROUTE_BACK")


def test_a_judges_no_stands_where_a_creator_leaves_what_it_was_told_of() -> None:
    told = (t.MADE, v_saved(), t.passes(), v.CLAIMED)
    begun = t.play(t.session(trust=v.NOW, judge=True), v.LANDS)
    no = t.play(begun, *told, t.fails(t.ALPHA), t.SAID, t.MADE, v_saved())
    assert (where(no), t.last(no).repeats) == ("VERDICT", 1)
    yes = t.play(begun, *told, t.passes(), t.SAID, t.MADE, v_saved())
    assert where(t.play(yes, v.CLAIMED)) == Station.GATE


def v_saved() -> Event:
    return t.saved("c1", evidence=v.E1)


def test_what_was_approved_or_never_tested_is_no_verdict_that_stands() -> None:
    state = t.told(*t.made(), t.fails(t.BETA), t.GREEN, t.SAID)
    (before,) = state.past
    again = replace(state, ticket=replace(before, number=2))
    assert judged_before(again) == before
    for other in (replace(before, decision=Decision.APPROVE), replace(before, checks=())):
        assert judged_before(replace(again, past=(other,))) is None
