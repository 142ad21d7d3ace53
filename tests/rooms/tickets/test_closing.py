from collections.abc import Callable
from dataclasses import replace

from loopwright.app.debt import debt_entry
from loopwright.app.loops import View
from loopwright.app.views import explanation, status
from loopwright.kernel.actions import Ask
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Cleanup, Ending, Outcome
from loopwright.loops.closing import look_closer
from loopwright.loops.tickets import closing
from loopwright.loops.tickets.kind import KIND
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Decision, Ticket, TicketsState
from tests.app.views import seen
from tests.loops import tickets as t
from tests.rooms.feedback.stories import AT, LOOP
from tests.rooms.quality.reviews import row

Golden = Callable[[str, str], None]
FILE = ".loop/tickets/completed/pay/TICKET-pay-002.md"
APPROVED = t.told(*t.bad("c1"), *t.GOOD, t.LANDED)
STUCK = t.told(*t.bads(2), max=2)
ACCEPTED = t.play(STUCK, t.says("accept"), t.GREEN, t.LANDED)
CANCELLED = t.play(STUCK, t.CANCEL, t.CLEANED)
NOTHING = t.told(replace(t.CANCEL, cleanup=Cleanup.KEEP_EVERYTHING), t.CLEANED)


def closed(state: TicketsState) -> str:
    ended = t.outcome(state)
    return "\n".join((*closing.lines(state, ended), look_closer(LOOP, ended, (FILE,))))


def viewed(state: TicketsState) -> View:
    return seen.seen(state, row("tickets", encode(state.plan), "waiting"))


def test_the_closing_lines_of_a_session(golden: Golden) -> None:
    golden("texts/closing-tickets.txt", "\n\n".join(map(closed, (APPROVED, ACCEPTED, CANCELLED, NOTHING))) + "\n")


def test_what_an_approved_ticket_left_open_is_told_at_the_end() -> None:
    state = t.told(*t.ticket("c1", t.passes(t.ALPHA)), t.LANDED)
    assert t.outcome(state).findings == (t.ALPHA,)
    assert closing.lines(state, t.outcome(state))[1:3] == (
        "Approved after 1 ticket with 1 deferred issue, recorded in .loop/debt.md.",
        "  [high] alpha is wrong",
    )


def test_what_led_to_an_escalation(golden: Golden) -> None:
    golden("texts/so-far-tickets.txt", "\n".join(closing.so_far(STUCK)) + "\n")


def test_before_the_first_decision_there_is_nothing_to_tell() -> None:
    assert closing.so_far(t.told(*t.made())) == ("TICKET-pay-001: under way; no ticket has been decided yet.",)
    assert KIND.unresolved(t.session(), None) == ()


def test_a_later_part_of_a_split_is_told_while_it_waits_at_its_gate() -> None:
    split = t.play(STUCK, t.says("split", text="AC-1; AC-2"), *t.made("c3"), t.passes(), t.GREEN, t.SAID)
    at_gate = t.play(split, *t.made("c4", evidence="e1"), t.passes(), t.GREEN)
    *before, last = closing.so_far(at_gate)
    assert [line.partition(":")[0] for line in before] == [f"TICKET-pay-00{number}" for number in (1, 2, 3)]
    assert last == ("TICKET-pay-004: nothing speaks against it, but it changes protected files and waits at its gate.")


def test_nobody_is_told_to_take_what_a_person_rejected() -> None:
    rejected = t.told(*t.made("c1", evidence="e1"), t.passes(), t.GREEN, t.rejects(), t.SAID)
    told = closed(t.play(rejected, t.CANCEL, t.CLEANED))
    assert "Result: none; every ticket holds a change that a person rejected." in told
    assert "git merge" not in told
    after = t.play(rejected, *t.bad("c2"), t.CANCEL, t.CLEANED)
    assert "Look at it: `git diff base c2`" in closed(after)


def test_adopted_tickets_are_counted_and_named_as_such() -> None:
    taken = Ticket(number=1, decision=Decision.ROUTE_BACK, accuracy=0.3)
    state = t.told(*t.GOOD, t.LANDED, adopted=(taken,))
    assert "Approved after 2 tickets, 1 of them adopted." in closed(state)


def test_a_landing_note_is_told_beside_the_result() -> None:
    state = t.told(*t.GOOD, replace(t.LANDED, note="main has moved on"))
    assert "Note: main has moved on" in closed(state)


def test_the_debt_of_an_accepted_ticket(golden: Golden) -> None:
    golden("texts/debt-tickets.md", debt_entry(KIND, LOOP, ACCEPTED, AT, "ann"))


def test_the_ending_of_an_accepted_ticket_counts_what_other_tickets_left_open() -> None:
    state = t.told(*t.bad("c1", t.GRAVE, t.ALPHA), *t.bad("c2", t.GRAVE), max=2)
    ended = Outcome(ending=Ending.ACCEPTED, findings=(t.BETA,))
    first = replace(state, past=state.past[:1])
    assert "with 1 known issue, recorded" in "\n".join(closing.lines(first, ended))
    left = replace(state, past=(replace(state.past[0], findings=()),))
    assert "with 2 known issues, 1 of them seen in other tickets" in "\n".join(closing.lines(left, ended))


def test_an_escalation_says_every_command_that_answers_it() -> None:
    (need,) = seen.shown(viewed(STUCK)).needs
    assert [choice.command for choice in need.choices] == [
        "loop answer continue 3",
        'loop answer split --text "AC-1; AC-2"',
        'loop answer examples --text "what it should look like"',
        'loop answer reassign --text "creator=AGENT"',
        "loop answer accept",
        "loop answer history",
        'loop answer revise --text "new guidance"',
        "loop answer cancel",
    ]
    assert isinstance(TICKETS.decide(STUCK)[0], Ask)


def test_an_explanation_has_the_thresholds_and_the_policy(golden: Golden) -> None:
    golden("texts/explain-tickets.txt", explanation.render(viewed(STUCK), viewed(STUCK).row.status))


def test_the_status_is_counted_in_tickets() -> None:
    shown = seen.shown(viewed(STUCK))
    assert (shown.task, shown.attempt, shown.limit) == ("Pay orders", 2, 2)
    assert "State: ESCALATED (ticket 2/2, waiting)" in status.human(shown)
