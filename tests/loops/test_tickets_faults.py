"""What crashes, garbage and silence do to the creator, each critic and the judge; what a judge's word is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, RunChecks
from loopwright.kernel.events import AgentFailed, AgentReported, ChecksReported, Event
from loopwright.kernel.model import AgentReport, AgentStatus, Severity, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import TicketsPhase, TicketsState
from tests.loops import tickets as t

TWO = ("critic", "security-critic")
SILENT_TWICE = (t.CRASHED, t.CRASHED)
ENDED = (t.CRASHED, t.TIMED_OUT, t.IDLE)


def with_critics(*letters: Event, critics: tuple[str, ...] = TWO) -> TicketsState:
    """Where the critics have been asked."""
    return t.told(*t.made(), *letters, critics=critics)


def at_the_judge(*letters: Event) -> TicketsState:
    return t.told(*t.made(), t.passes(), t.GREEN, *letters, judge=True)


# --- the creator ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ENDED)
def test_a_creator_that_ends_badly_gets_one_free_respawn(fault: AgentFailed) -> None:
    state = t.told(fault)
    assert (t.keys(state), state.ticket.number, t.creator(state).brief.repair) == (["create-1.2"], 1, "")


@pytest.mark.parametrize("fault", ENDED)
def test_a_creator_that_ends_badly_twice_still_has_critics_and_judge(fault: AgentFailed) -> None:
    state = t.told(t.CRASHED, fault)
    assert where(state) == TicketsPhase.CHECKPOINT
    state = t.play(state, t.saved("c1", files=0), t.passes(), t.GREEN, t.SAID)
    closed = t.last(state)
    assert closed.notes.startswith(f"(the creator gave no result: {fault.reason}")
    assert (len(closed.critiques), t.open_rules(state), t.decisions(state)) == (1, ["no-change"], ["ROUTE_BACK"])


def test_what_a_crashed_creator_leaves_behind_is_judged_on_its_own() -> None:
    state = t.told(*SILENT_TWICE, t.saved("c1"), t.passes(), t.GREEN, t.SAID)
    assert t.decisions(state) == ["APPROVE"]


def test_a_garbled_creator_is_asked_to_repair_once() -> None:
    state = t.told(t.GARBLED)
    assert (t.keys(state), t.creator(state).brief.repair) == (["create-1.2"], "no JSON")
    assert where(t.play(state, t.GARBLED)) == TicketsPhase.CHECKPOINT


def test_a_request_to_repair_without_a_detail_still_says_why() -> None:
    assert t.creator(t.told(replace(t.GARBLED, detail=""))).brief.repair == "the result could not be read"


def test_a_crash_and_garbage_each_have_their_own_second_chance() -> None:
    state = t.told(t.GARBLED, t.CRASHED)
    assert (where(state), t.creator(state).brief.repair) == (TicketsPhase.CREATE, "no JSON")
    assert where(t.play(state, t.GARBLED)) == TicketsPhase.CHECKPOINT


def test_a_creator_that_cannot_now_is_waited_for_at_no_cost() -> None:
    state = t.told(t.UNAVAILABLE)
    assert t.keys(state) == ["wait-create-1.1"]
    state = t.play(state, t.LATER, t.CRASHED)
    assert (where(state), t.keys(state)) == (TicketsPhase.CREATE, ["create-1.3"])


def test_each_ticket_has_its_own_second_chances() -> None:
    state = t.told(t.CRASHED, *t.bad("c1"), t.CRASHED)
    assert (where(state), t.keys(state)) == (TicketsPhase.CREATE, ["create-2.2"])


# --- critics side by side ------------------------------------------------------------------------------------------


def test_all_critics_are_asked_at_once() -> None:
    state = with_critics()
    assert [(str(action.key), action.role) for action in t.judges(state)] == [
        ("critique-1-1.1", "critic"),
        ("critique-1-2.1", "security-critic"),
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_the_judge_waits_until_every_critic_has_spoken(first: int) -> None:
    state = t.play_at(with_critics(), first, t.passes())
    assert (where(state), len(t.keys(state))) == (TicketsPhase.CRITIQUE, 1)
    state = t.play(state, t.fails(t.GRAVE))
    assert str(t.wanted(state, RunChecks).key) == "checks-1.4"
    assert sorted(str(each.verdict) for each in state.ticket.critiques) == ["fail", "pass"]


def test_what_several_critics_find_is_held_against_the_ticket_once() -> None:
    state = with_critics(t.fails(t.GRAVE, t.ALPHA), t.fails(t.GRAVE), t.GREEN, t.SAID)
    assert t.open_rules(state) == ["grave", "alpha"]
    assert [each.role for each in t.last(state).critiques] == ["critic", "security-critic"]


def test_of_two_severities_for_one_finding_the_worse_counts() -> None:
    state = with_critics(t.passes(t.medium("x")), t.passes(t.critical("x")), t.GREEN, t.SAID)
    assert [(each.rule, each.severity) for each in t.last(state).findings] == [("x", Severity.CRITICAL)]


def test_each_critic_has_its_own_second_chance() -> None:
    state = t.play_at(with_critics(), 0, t.CRASHED)
    assert t.keys(state) == ["critique-1-1.2", "critique-1-2.1"]
    state = t.play_at(state, 1, t.CRASHED)
    assert t.keys(state) == ["critique-1-1.2", "critique-1-2.2"]


def test_a_critic_that_cannot_now_keeps_nobody_else_waiting() -> None:
    state = t.play_at(with_critics(), 0, t.UNAVAILABLE)
    assert t.keys(state) == ["wait-critique-1-1.1", "critique-1-2.1"]
    state = t.play(state, t.passes(), t.LATER)
    assert t.keys(state) == ["critique-1-1.2"]
    assert where(t.play(state, t.passes())) == TicketsPhase.CHECK


@pytest.mark.parametrize("fault", [*ENDED, t.NEEDS_PERSON])
def test_a_critic_that_stays_silent_counts_against_the_ticket(fault: AgentFailed) -> None:
    state = t.told(*t.made(), t.CRASHED, fault, t.GREEN, t.SAID)
    assert (t.open_rules(state), t.decisions(state)) == (["no-verdict critic"], ["ROUTE_BACK"])
    assert t.rule(state, "critical issue unresolved").why.startswith(f"The critic gave no verdict ({fault.reason}")


def test_a_garbled_critic_is_asked_to_repair_once_and_then_is_silent() -> None:
    state = t.told(*t.made(), t.GARBLED)
    assert t.judges(state)[0].brief.repair == "no JSON"
    state = t.play(state, t.GARBLED, t.GREEN, t.SAID)
    assert t.open_rules(state) == ["no-verdict critic"]


@pytest.mark.parametrize(
    "mute",
    [
        t.verdict(None),
        t.verdict(None, t.medium("m")),
        t.verdict(Verdict.PASS, status=AgentStatus.BLOCKED),
    ],
)
def test_a_critic_that_says_nothing_of_use_is_asked_once_more_and_then_counts_against(mute: AgentReported) -> None:
    state = t.told(*t.made(), mute)
    (again,) = t.judges(state)
    assert (str(again.key), again.brief.repair) == (
        "critique-1-1.2",
        "there is no verdict, or it is not a pass and no finding says why",
    )
    assert t.decisions(t.play(state, t.passes(), t.GREEN, t.SAID)) == ["APPROVE"]
    assert t.decisions(t.play(state, mute, t.GREEN, t.SAID)) == ["ROUTE_BACK"]


def test_a_no_without_a_reason_is_told_as_such() -> None:
    state = t.told(*t.made(), t.fails(), t.fails(summary="it feels wrong"), t.GREEN, t.SAID)
    assert [each.issue for each in t.last(state).findings] == [
        "The critic did not pass it and did not say why (it feels wrong)"
    ]


def test_a_no_for_reasons_that_would_not_block_stays_a_no() -> None:
    assert t.decisions(t.told(*t.ticket("c1", t.fails(t.medium("m"))))) == ["ROUTE_BACK"]


def test_a_silent_critic_resolves_nothing_that_was_found_before() -> None:
    """Neither when it is the only one, nor when another one speaks."""
    alone = t.told(*t.bad("c1"), *t.made("c2"), *SILENT_TWICE, t.GREEN, t.SAID)
    assert sorted(t.open_rules(alone)) == ["grave", "no-verdict critic"]
    first = (*t.made("c1"), t.passes(), t.fails(t.GRAVE), t.GREEN, t.SAID)
    beside = t.told(*first, *t.made("c2"), t.passes(), *SILENT_TWICE, t.GREEN, t.SAID, critics=TWO)
    assert sorted(t.open_rules(beside)) == ["grave", "no-verdict security-critic"]
    assert t.last(beside).ongoing == (t.GRAVE.fingerprint,)


def test_a_critic_that_speaks_again_settles_its_silence() -> None:
    state = t.told(*t.made("c1"), *SILENT_TWICE, t.GREEN, t.SAID, *t.GOOD)
    assert t.decisions(state) == ["ROUTE_BACK", "APPROVE"]
    assert [each.rule for each in t.last(state).resolved] == ["no-verdict critic"]


def test_a_session_without_critics_has_one_all_the_same() -> None:
    state = t.told(*t.made(), critics=())
    assert [action.role for action in t.judges(state)] == ["critic"]


# --- the judge agent -------------------------------------------------------------------------------------------------


def test_a_judge_runs_only_when_one_is_named() -> None:
    assert where(at_the_judge()) == TicketsPhase.JUDGE
    assert where(t.told(*t.made(), t.passes(), t.GREEN)) == TicketsPhase.VERDICT


def test_a_judges_no_keeps_a_good_ticket_from_being_approved() -> None:
    no = t.fails(t.medium("m"), summary="not what was asked for")
    state = at_the_judge(no, t.SAID)
    shown = t.rule(state, "the judge does not approve")
    assert (shown.level, shown.holds, shown.why) == ("judge agent", True, "not what was asked for")
    assert (t.against(state), t.decisions(state)) == (["the judge does not approve"], ["ROUTE_BACK"])
    assert t.last(state).advice == "not what was asked for"
    assert t.creator(state).brief.own.feedback == ("The judge says: not what was asked for",)


def test_a_judges_no_at_the_last_ticket_escalates() -> None:
    state = t.told(*t.made(), t.passes(), t.GREEN, t.fails(t.medium("m")), t.SAID, judge=True, max=1)
    assert t.decisions(state) == ["ESCALATE"]


@pytest.mark.parametrize("checks", [t.RED, t.checked(t.RED_BUILD, t.TESTS), t.NOTHING_RAN])
def test_a_judges_yes_overturns_no_check(checks: ChecksReported) -> None:
    state = t.told(*t.made(), t.passes(), checks, t.passes(), t.SAID, judge=True)
    assert (t.decisions(state), t.rule(state, "the judge does not approve").holds) == (["ROUTE_BACK"], False)


def test_a_judges_yes_overturns_no_critical_finding() -> None:
    state = t.told(*t.made(), t.passes(t.GRAVE), t.GREEN, t.passes(), t.SAID, judge=True)
    assert t.decisions(state) == ["ROUTE_BACK"]


def test_what_a_judge_finds_counts_like_a_critics_finding() -> None:
    state = at_the_judge(t.passes(t.GRAVE), t.SAID)
    assert (t.open_rules(state), t.decisions(state)) == (["grave"], ["ROUTE_BACK"])
    state = t.play(state, *t.made("c2"), t.passes(), t.GREEN, t.passes(), t.SAID)
    assert (t.decisions(state), t.last(state).resolved) == (["ROUTE_BACK", "APPROVE"], (t.GRAVE,))


@pytest.mark.parametrize("mute", [t.verdict(None), t.verdict(Verdict.PASS, status=AgentStatus.BLOCKED)])
def test_a_judge_that_says_nothing_of_use_is_asked_once_more_and_then_counts_against(mute: AgentReported) -> None:
    state = at_the_judge(mute)
    (again,) = t.judges(state)
    assert (str(again.key), again.brief.repair) == (
        "judge-1.6",
        "there is no verdict, or it is not a pass and neither a finding nor an aspect says why",
    )
    assert t.decisions(t.play(state, t.passes(), t.SAID)) == ["APPROVE"]
    closed = t.play(state, mute, t.SAID)
    assert (t.open_rules(closed), t.decisions(closed)) == (["no-verdict judge"], ["ROUTE_BACK"])


def test_a_judge_may_give_its_reason_as_an_aspect() -> None:
    state = at_the_judge(t.fails(aspects=[{"requirement": "Docs", "aspect": "page", "pass": False}]), t.SAID)
    assert (t.open_rules(state), t.against(state)) == (
        [],
        ["the judge does not approve", "every acceptance criterion met"],
    )
    assert t.creator(state).brief.own.feedback[0].startswith("PRIORITY Docs / page")


def test_aspects_that_all_pass_are_no_reason_for_a_no() -> None:
    assert where(at_the_judge(t.fails(aspects=[{"requirement": "Docs", "pass": True}]))) == TicketsPhase.JUDGE


@pytest.mark.parametrize("faults", [SILENT_TWICE, (t.GARBLED, t.GARBLED)])
def test_a_judge_that_stays_silent_counts_against_the_ticket(faults: tuple[Event, ...]) -> None:
    state = at_the_judge(*faults, t.SAID)
    assert (t.open_rules(state), t.decisions(state)) == (["no-verdict judge"], ["ROUTE_BACK"])
    assert t.against(state)[1] == "the judge does not approve"


def test_a_judge_without_a_word_gave_no_reason() -> None:
    state = at_the_judge(t.fails(t.medium("m"), summary=""), t.SAID)
    assert t.rule(state, "the judge does not approve").why == "it gave no reason"


def test_a_judges_silence_leaves_the_other_silences_on_record() -> None:
    """All that the engine itself holds against a ticket stands together, and is resolved together."""
    first = (t.TIMED_OUT, t.IDLE, t.saved("c1", files=0), t.passes(), t.GREEN, *SILENT_TWICE, t.SAID)
    second = (*t.made("c2", files=0), t.passes(), t.GREEN, *SILENT_TWICE, t.SAID)
    state = t.told(*first, *second, judge=True)
    assert sorted(t.open_rules(state)) == ["no-change", "no-verdict judge"]
    assert (t.last(state).trend, len(t.last(state).ongoing)) == ("stalled", 2)


def test_a_judge_that_cannot_now_is_waited_for() -> None:
    state = at_the_judge(t.UNAVAILABLE)
    assert t.keys(state) == ["wait-judge-1.5"]
    assert t.keys(t.play(state, t.LATER)) == ["judge-1.6"]


# --- clarification ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("letter", "asked"),
    [
        (t.UNCLEAR, "Which currency?"),
        (replace(t.UNCLEAR, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, summary="Who?")), "Who?"),
        (
            replace(t.UNCLEAR, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION)),
            "The creator asks for clarification without a question.",
        ),
        (t.BLOCKED, "The creator is blocked: no network"),
        (
            replace(t.UNCLEAR, report=AgentReport(status=AgentStatus.BLOCKED)),
            "The creator is blocked: no reason given",
        ),
        (t.NEEDS_PERSON, "log in first"),
        (replace(t.NEEDS_PERSON, detail=""), "The creator needs a person."),
    ],
)
def test_a_creator_that_needs_a_person_holds_the_same_ticket(letter: Event, asked: str) -> None:
    state = t.told(letter)
    ask = t.wanted(state, Ask)
    assert (where(state), str(ask.key), ask.question, ask.free_text) == (Station.CLARIFY, "clarify-1", asked, True)
    assert ask.why == "CLARIFICATION NEEDED: the work is on hold until a person answers"
    state = t.play(state, t.says("answer", text="this"))
    assert (t.keys(state), state.ticket.number, t.creator(state).brief.answers) == (
        ["create-1.2"],
        1,
        (f"{asked}\n→ this",),
    )


def test_a_judge_that_asks_goes_on_with_the_answer_and_nothing_is_made_anew() -> None:
    state = at_the_judge(t.UNCLEAR)
    assert (where(state), t.wanted(state, Ask).question) == (Station.CLARIFY, "Which currency?")
    state = t.play(state, t.says("answer", text="euro"))
    (judge,) = t.judges(state)
    assert (str(judge.key), judge.brief.answers, state.ticket.number) == ("judge-1.6", ("Which currency?\n→ euro",), 1)
    assert t.decisions(t.play(state, t.passes(), t.SAID)) == ["APPROVE"]


def test_a_judge_that_needs_a_person_holds_the_ticket_too() -> None:
    state = at_the_judge(t.NEEDS_PERSON, t.says("answer", text="done"))
    assert t.keys(state) == ["judge-1.6"]


def test_a_critic_that_asks_is_heard_once_the_others_have_spoken_and_uses_nothing_up() -> None:
    state = t.play_at(with_critics(), 0, t.of("critic", t.UNCLEAR))
    assert t.keys(state) == ["critique-1-2.1"]
    state = t.play(state, t.fails(t.GRAVE))
    ask = t.wanted(state, Ask)
    assert (where(state), ask.question, state.ticket.number) == (Station.CLARIFY, "Which currency?", 1)
    state = t.play(state, t.says("answer", text="euro"))
    (again,) = t.judges(state)
    assert (str(again.key), again.brief.answers, again.brief.repair) == (
        "critique-1-1.2",
        ("Which currency?\n→ euro",),
        "",
    )
    assert where(t.play(state, t.passes())) == TicketsPhase.CHECK


def test_what_two_critics_ask_is_asked_at_once() -> None:
    asked = t.of("security-critic", t.NEEDS_PERSON)
    state = with_critics(t.of("critic", t.UNCLEAR), asked)
    assert t.wanted(state, Ask).question == "Which currency?\nlog in first"
    state = t.play(state, t.says("answer", text="done"))
    assert t.keys(state) == ["critique-1-1.2", "critique-1-2.2"]


def test_critics_hear_what_a_person_answered() -> None:
    state = t.told(t.UNCLEAR, t.says("answer", text="euro"), *t.made())
    assert t.judges(state)[0].brief.answers == ("Which currency?\n→ euro",)


def test_an_answer_ends_an_old_request_to_repair() -> None:
    assert t.creator(t.told(t.GARBLED, t.UNCLEAR, t.says("answer", text="x"))).brief.repair == ""


def test_nothing_is_wanted_of_agents_while_a_ticket_is_held() -> None:
    assert [type(action) for action in TICKETS.decide(t.told(t.UNCLEAR))] == [Ask]
