"""A ticket session as a row of the live view of whatever it is a part of."""

from loopwright.loops.course import Station, stationed
from loopwright.loops.kind import Lane
from loopwright.loops.tickets.kind import KIND
from tests.loops import tickets as t

WORKS = True  # it says nothing more to this loop


def test_a_session_says_what_is_done_with_its_ticket_now() -> None:
    made = t.session(title="T-001: Filter", lands=False)
    assert KIND.lane(made, WORKS) == Lane(name="T-001: Filter", count="ticket 1", word="being made")
    looked_at = KIND.lane(t.play(made, *t.made()), WORKS)
    assert looked_at == Lane(name="T-001: Filter", count="ticket 1", word="in review")
    again = KIND.lane(t.play(made, *t.bad("c1", t.GRAVE)), WORKS)
    assert again == Lane(name="T-001: Filter", count="ticket 2", word="being made", detail="1 finding")


def test_one_that_waits_for_a_person_is_marked_unless_whoever_began_it_takes_that() -> None:
    stuck = stationed(t.session(), Station.ESCALATED)
    shown = KIND.lane(stuck, WORKS)
    assert shown is not None
    assert (shown.word, shown.needs_person) == ("needs you", True)
    assert KIND.lane(stationed(t.session(lands=False), Station.ESCALATED), WORKS) is None


def test_what_is_over_has_no_row() -> None:
    assert KIND.lane(t.told(*t.GOOD, t.LANDED), WORKS) is None
