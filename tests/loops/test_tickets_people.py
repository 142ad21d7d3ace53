"""What a coordinator may answer to a session that escalated, and what each answer does."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import CleanUp, Integrate, RunChecks
from loopwright.kernel.events import Answered
from loopwright.kernel.model import Cleanup, Ending, Severity
from loopwright.loops.course import Station, where
from loopwright.loops.tickets.state import Criterion, TicketsPhase, TicketsState
from tests.loops import tickets as t

FIRST, SECOND, THIRD = (t.critical(f"no-{number}", requirement=f"AC-{number}") for number in (1, 2, 3))


def stuck(**given: object) -> TicketsState:
    """One ticket is allowed, and was not approved."""
    return t.told(*t.bad("c1", FIRST, SECOND, THIRD), **{"max": 1, **given})


def refusal(state: TicketsState, answer: Answered) -> str:
    with pytest.raises(InvalidTransition) as caught:
        t.play(state, answer)
    return caught.value.why


def test_the_question_has_every_attempt_the_pattern_and_a_recommendation() -> None:
    state = t.told(*t.bad("c1"), *t.bad("c2"), max=2)
    ask = t.question(state)
    assert (str(ask.key), ask.findings, ask.why) == ("escalation-1", (t.GRAVE,), "ticket 2 of 2 was not approved")
    assert ask.question.splitlines() == [
        "ESCALATE: TICKET-pay-002: ticket 2 of 2 was not approved.",
        "TICKET-pay-001: ROUTE_BACK, accuracy 0.83, first; gaps: grave; tried: wrote it",
        "TICKET-pay-002: ESCALATE, accuracy 0.83, stalled; gaps: grave; tried: wrote it",
        "Pattern: stalled; persistent gaps: grave (in 2 tickets)",
        "Recommended: examples (grave failed in 2 tickets: show what is wanted). How should it go on?",
    ]


def test_all_answers_are_offered() -> None:
    offered = ["continue", "split", "examples", "reassign", "accept", "history", "revise", "cancel"]
    assert t.options(stuck()) == offered


def test_what_cannot_be_done_is_not_offered() -> None:
    bare = t.told(
        t.TIMED_OUT, t.IDLE, t.saved("c1", files=0), t.passes(), t.GREEN, t.SAID, max=1, criteria=t.CRITERIA[:1]
    )
    assert t.options(bare) == ["continue", "examples", "reassign", "history", "revise", "cancel"]
    assert refusal(bare, t.says("accept")) == "'accept' is not one of the options"
    assert refusal(bare, t.says("split", text="AC-1")) == "'split' is not one of the options"


def test_an_unknown_answer_is_refused() -> None:
    assert refusal(stuck(), t.says("shrug")) == "'shrug' is not one of the options"


# --- continue ------------------------------------------------------------------------------------------------------


def test_continue_grants_three_tickets_and_the_numbers_go_on() -> None:
    state = t.play(stuck(), t.says("continue"))
    assert (state.ticket.number, state.ticket.parent, state.allowance, state.course.reasons) == (2, 1, 4, ())
    state = t.play(state, *t.bads(3, first=2))
    assert t.decisions(state) == ["ESCALATE", "ROUTE_BACK", "ROUTE_BACK", "ESCALATE"]


def test_continue_grants_as_many_as_it_says_and_passes_words_on() -> None:
    state = t.play(stuck(), t.says("continue", count=1, text="look at the log"))
    assert (state.allowance, t.creator(state).brief.answers[0]) == (2, "look at the log")


def test_a_grant_of_less_than_nothing_is_refused() -> None:
    assert refusal(stuck(), t.says("continue", count=-1)) == "continue needs a positive number"
    assert refusal(stuck(), t.says("examples", text="so", count=-1)).startswith("the number of tickets")


def test_continue_goes_on_with_the_policys_next_move() -> None:
    state = t.told(*t.bads(3), t.says("continue"), max=3)
    assert (state.ticket.move, t.creator(state).start) == ("fresh context", "c3")


# --- split ---------------------------------------------------------------------------------------------------------


def test_split_makes_a_ticket_of_the_named_criteria_and_puts_the_others_off() -> None:
    state = t.play(stuck(max=2), *t.bad("c2", FIRST, SECOND, THIRD), t.says("split", text="ac-2"))
    assert (state.ticket.number, state.ticket.focus, state.ticket.move, state.groups, state.allowance) == (
        3,
        ("AC-2",),
        "split",
        (("AC-1", "AC-3"),),
        4,
    )
    brief = t.creator(state).brief
    assert (brief.criteria, brief.findings) == (("AC-2: Errors are told",), (SECOND,))
    assert brief.own.feedback == (
        "PRIORITY Errors are told / no-2: expected Errors are told; actual no-2 is wrong; score 0.00",
    )


def test_each_line_or_semicolon_is_a_group() -> None:
    state = t.play(stuck(), t.says("split", text="AC-3; AC-1\nAC-2,"))
    assert (state.ticket.focus, state.groups) == (("AC-3",), (("AC-1",), ("AC-2",)))


def test_everything_in_one_group_leaves_nothing_for_later() -> None:
    state = t.play(stuck(), t.says("split", text="AC-3, AC-1 AC-2"))
    assert (state.ticket.focus, state.groups) == (("AC-3", "AC-1", "AC-2"), ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "split needs the criteria as text, such as AC-1; AC-2, AC-3"),
        (" ; \n , ", "split needs the criteria as text, such as AC-1; AC-2, AC-3"),
        ("AC-1, AC-9", "no criterion is called 'AC-9'; there are AC-1, AC-2, AC-3"),
        ("AC-1; ac-1, AC-2", "named twice: AC-1"),
    ],
)
def test_a_split_that_cannot_be_read_is_refused(text: str, why: str) -> None:
    assert refusal(stuck(), t.says("split", text=text)) == why


def test_an_approved_group_opens_the_next_one_and_only_the_last_lands() -> None:
    state = t.play(stuck(), t.says("split", text="AC-1; AC-2"))
    state = t.play(state, *t.ticket("c2", t.fails(SECOND, THIRD)))
    assert (t.decisions(state)[-1], where(state)) == ("APPROVE", TicketsPhase.CREATE)
    assert (state.ticket.focus, state.groups) == (("AC-2",), (("AC-3",),))
    assert t.creator(state).brief.findings == (SECOND,)
    state = t.play(state, *t.ticket("c3", t.fails(THIRD)))
    assert (state.ticket.number, state.ticket.focus, state.groups) == (4, ("AC-3",), ())
    state = t.play(state, *t.ticket("c4", t.passes()))
    assert (t.decisions(state), where(state)) == (["ESCALATE", "APPROVE", "APPROVE", "APPROVE"], Station.LAND)
    assert t.wanted(state, Integrate).commit == "c4"


def test_a_group_that_fails_is_tried_again_with_the_same_focus() -> None:
    state = t.play(stuck(max=2), *t.bad("c2"), t.says("split", text="AC-1"), *t.ticket("c3", t.fails(FIRST)))
    assert (t.decisions(state)[-1], state.ticket.focus, state.groups) == (
        "ROUTE_BACK",
        ("AC-1",),
        (("AC-2", "AC-3"),),
    )


def test_each_group_has_as_many_tickets_as_a_session() -> None:
    state = t.told(*t.bads(2), t.says("split", text="AC-1; AC-2, AC-3"), max=2)
    assert state.allowance == 4
    state = t.play(state, *t.bad("c3", FIRST), *t.GOOD)
    assert (state.ticket.number, state.allowance) == (5, 6)
    assert t.decisions(t.play(state, *t.bad("c5"), *t.bad("c6")))[-2:] == ["ROUTE_BACK", "ESCALATE"]


def test_what_maps_to_no_criterion_is_held_against_every_group() -> None:
    state = t.play(stuck(), t.says("split", text="AC-1"), *t.ticket("c2", t.fails(t.GRAVE)))
    assert t.decisions(state)[-1] == "ESCALATE"


def test_a_later_group_answers_for_what_was_approved_before_it() -> None:
    """What an earlier group achieved may not be undone: nothing lands with an open critical finding."""
    state = t.play(stuck(), t.says("split", text="AC-1; AC-2, AC-3"), *t.ticket("c2", t.passes()))
    (critic,) = t.judges(t.play(state, *t.made("c3")))
    assert critic.brief.criteria == ("AC-1: Orders can be paid", "AC-2: Errors are told", "AC-3: Receipts are sent")
    state = t.play(state, *t.ticket("c3", t.fails(FIRST)))
    assert (t.decisions(state)[-1], t.last(state).accuracy) == ("ESCALATE", 0.8)


def test_a_groups_accuracy_is_about_what_it_answers_for() -> None:
    state = t.play(stuck(), t.says("split", text="AC-1"), *t.ticket("c2", t.fails(SECOND, THIRD)))
    assert [each.requirement for each in state.past[1].aspects] == ["Build", "Tests", "Orders can be paid"]
    assert state.past[1].accuracy == 1.0


def test_a_second_split_leaves_out_what_was_approved() -> None:
    state = t.play(stuck(), t.says("split", text="AC-1; AC-2"), *t.ticket("c2", t.fails(SECOND)))
    state = t.play(state, *t.bad("c3", SECOND))
    assert where(state) == Station.ESCALATED
    state = t.play(state, t.says("split", text="AC-3"))
    assert (state.ticket.focus, state.groups) == (("AC-3",), (("AC-2",),))


# --- examples, reassign ----------------------------------------------------------------------------------------------


def test_examples_attach_guidance_to_a_new_ticket() -> None:
    state = t.play(stuck(), t.says("examples", text="see tests/pay_test.py"))
    assert (state.ticket.number, state.ticket.guidance, state.ticket.move, state.allowance) == (
        2,
        ("see tests/pay_test.py",),
        "examples",
        4,
    )
    assert t.creator(state).brief.answers[0] == "see tests/pay_test.py"


def test_examples_are_told_to_every_later_creator_but_belong_to_their_ticket() -> None:
    state = t.play(stuck(), t.says("examples", text="see tests/pay_test.py"), *t.bad("c2"))
    assert state.ticket.guidance == ()
    assert t.creator(state).brief.answers[0] == "see tests/pay_test.py"


def test_examples_need_words() -> None:
    assert refusal(stuck(), t.says("examples", text=" ")) == "examples needs the guidance as text"


def test_reassign_gives_a_role_to_another_agent() -> None:
    state = t.play(stuck(), t.says("reassign", text="creator=codex"))
    assert (t.creator(state).agent, state.ticket.number, state.ticket.move) == ("codex", 2, "reassign")


def test_reassign_reaches_critics_and_judge() -> None:
    state = t.play(
        t.told(*t.made(), t.passes(), t.GREEN, t.fails(t.GRAVE), t.SAID, judge=True, max=1),
        *(t.says("reassign", text="judge = gemini", count=1), *t.made("c2"), t.passes(), t.GREEN),
    )
    assert t.judges(state)[0].agent == "gemini"
    state = t.play(state, t.fails(t.GRAVE), t.SAID, t.says("reassign", text="critic=codex"), *t.made("c3"))
    assert [(each.role, each.agent) for each in t.judges(state)] == [("critic", "codex")]


def test_a_later_word_replaces_an_earlier_one() -> None:
    state = t.play(stuck(), t.says("reassign", text="creator=codex", count=1), *t.bad("c2"))
    state = t.play(state, t.says("reassign", text="creator=claude"))
    assert t.creator(state).agent == "claude"


def test_a_pair_sets_a_second_critic_beside_the_first() -> None:
    state = t.play(stuck(), t.says("reassign", text="critic+codex"), *t.made("c2"))
    assert [(str(each.key), each.role, each.agent) for each in t.judges(state)] == [
        ("critique-2-1.1", "critic", ""),
        ("critique-2-2.1", "critic", "codex"),
    ]
    assert where(t.play(state, t.passes())) == TicketsPhase.CRITIQUE


def test_a_critic_of_any_name_can_be_reassigned() -> None:
    state = t.told(*t.made(), t.fails(t.GRAVE), t.passes(), t.GREEN, t.SAID, max=1, critics=("critic", "critic-2"))
    state = t.play(state, t.says("reassign", text="critic-2=codex"), *t.made("c2"))
    assert [each.agent for each in t.judges(state)] == ["", "codex"]


@pytest.mark.parametrize("text", ["", "codex", "creator", "tester=codex", "judge=codex", "creator=", "creator=a b"])
def test_a_reassignment_that_cannot_be_read_is_refused(text: str) -> None:
    assert refusal(stuck(), t.says("reassign", text=text)) == (
        "reassign needs ROLE=AGENT or ROLE+AGENT as text, such as creator=codex; roles are creator, critic"
    )


def test_only_critics_make_a_pair() -> None:
    assert refusal(stuck(), t.says("reassign", text="creator+codex")) == "a pair is two critics: critic+AGENT"


# --- accept, history, revise, cancel ---------------------------------------------------------------------------------


def test_accept_takes_the_best_ticket_and_not_the_last() -> None:
    better = t.bad("c1", t.flaw("small", category="correctness"))
    state = t.told(*t.bad("c0"), *better, *t.bad("c2", checks=t.RED), max=3)
    assert "Accept the best ticket with what is known" in [option.label for option in t.question(state).options]
    state = t.play(state, t.says("accept"), t.GREEN)
    land = t.wanted(state, Integrate)
    assert (land.commit, land.verified, land.target, land.why) == (
        "c1",
        True,
        "",
        "accepted by a person: TICKET-pay-002",
    )
    done = t.outcome(t.play(state, t.LANDED))
    assert (done.ending, done.attempts, done.note) == (Ending.ACCEPTED, 3, "ROUTE_BACK: TICKET-pay-002")
    assert [(each.rule, each.severity) for each in done.findings] == [("small", Severity.HIGH)]


def test_of_equal_tickets_the_later_is_the_best() -> None:
    assert t.wanted(t.told(*t.bads(2), t.says("accept"), max=2), RunChecks).commit == "c2"


def test_a_ticket_without_a_change_is_never_the_best() -> None:
    nothing = (*t.made("empty", files=0), t.passes(), t.GREEN, t.SAID)
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA, t.BETA, checks=t.RED), *nothing, t.says("accept"), max=2)
    assert t.wanted(state, RunChecks).commit == "c1"


def test_an_approved_group_is_better_than_anything_that_is_not() -> None:
    state = t.play(stuck(), t.says("split", text="AC-1"), *t.ticket("c2", t.passes()), *t.bad("c3", SECOND))
    assert t.wanted(t.play(state, t.says("accept")), RunChecks).commit == "c2"


def test_what_is_accepted_is_merged_only_by_a_persons_word() -> None:
    given = {"target": "refs/heads/main", "merge": True}
    assert t.wanted(t.play(stuck(**given), t.says("accept"), t.GREEN), Integrate).target == ""
    merged = t.play(stuck(**given), t.says("accept", merge=True), t.GREEN)
    assert t.wanted(merged, Integrate).target == "refs/heads/main"


def test_history_asks_again_and_changes_nothing_else() -> None:
    state = stuck()
    after = t.play(state, t.says("history"))
    assert (t.keys(after), t.question(after).question) == (["escalation-2"], t.question(state).question)
    assert (after.past, after.allowance) == (state.past, state.allowance)


def test_revise_starts_the_count_anew_with_new_guidance() -> None:
    state = t.told(*t.bads(2), t.says("revise", text="use the other library"), max=2)
    assert (state.ticket.number, state.ticket.move, state.allowance) == (3, "revise", 4)
    assert t.creator(state).brief.answers[0] == "use the other library"
    assert len(state.past) == 2


def test_revise_needs_words() -> None:
    assert refusal(stuck(), t.says("revise")) == "revise needs the new guidance as text"


def test_cancel_keeps_everything() -> None:
    state = t.play(stuck(), t.says("cancel"))
    assert t.wanted(state, CleanUp).choice is Cleanup.KEEP_EVERYTHING
    assert t.outcome(t.play(state, t.CLEANED)).ending is Ending.CANCELLED


def test_a_question_may_be_answered_by_cancelling() -> None:
    assert where(t.told(t.UNCLEAR, t.says("cancel"))) == Station.CLEAN_UP


def test_an_answer_may_be_a_choice_of_its_own_but_not_empty() -> None:
    state = t.told(t.UNCLEAR)
    assert t.play(state, t.says("euro")).course.answers == ("Which currency?\n→ euro",)
    assert refusal(state, t.says("answer", text=" ")) == "the answer is empty"


def test_criteria_of_one_name_in_other_letters_are_found() -> None:
    criteria = (Criterion(id="Pay", text="a"), Criterion(id="tell", text="b"))
    state = t.told(*t.bad(), t.says("split", text="pay"), criteria=criteria, max=1)
    assert (state.ticket.focus, state.groups) == (("Pay",), (("tell",),))
