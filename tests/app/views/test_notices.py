"""What people are sent, for every sort of stop, in the words that all loops share."""

from dataclasses import replace

import pytest

from loopwright.app.views.notices import notice_of
from loopwright.engine.world import News
from loopwright.kernel.actions import Ask, AwaitGate, ForPeople, Option
from loopwright.kernel.events import Ended, Logged, Paused, Started
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Change, Commit, Ending, Key, LoopId, Outcome
from loopwright.loops.kind import AnyKind
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow, NewNotice
from tests.app.views.seen import STILL, Plan, Still

ROOT, PART = LoopId("root-1"), LoopId("part-1")
KIND: AnyKind = replace(STILL, closing=lambda _state, outcome: (f"It was {outcome.ending}.",))
STATE = Still(plan=Plan(task="Add invoices"), here=Standpoint(state="HERE", attempt=1, limit=1))
ROW = LoopRow(
    id=ROOT,
    kind="still",
    params="{}",
    parent=None,
    status="running",
    seq=3,
    fence=1,
    created=1.0,
    updated=1.0,
    budget=5.0,
    spent=4.5,
    reserved=0.25,
)
GATE = AwaitGate(
    key=Key.parse("gate-protected-e1"),
    gate="protected",
    commit=Commit("c"),
    evidence="e1",
    because=(Change(path="check.py", how="changed"),),
    why="a protected file differs",
)
CONTINUE = Option(choice="continue", label="Grant more attempts")


def ask(question: str = "Which colour?", **given: object) -> Ask:
    return Ask(key=Key.parse("clarify-1"), question=question, **given)  # type: ignore[arg-type]


def sent(
    event: Logged, asks: ForPeople | None = None, *, part: bool = False, status: str = "running", own: str = ""
) -> NewNotice | None:
    path = (ROOT, PART) if part else (ROOT,)
    news = News(
        id=f"{path[-1]}/4",
        path=path,
        row=replace(ROW, id=path[-1], status=status),  # type: ignore[arg-type]  # one of them
        state=STATE,
        event=event,
        asks=Waiting(path=path, what=asks) if asks else None,
    )
    kind = replace(KIND, notice=lambda _state, topic: own and f"{own} {topic}")
    return notice_of({"still": kind}, "shop", "Add invoices", news)


def asked(what: ForPeople, *, part: bool = False) -> NewNotice:
    found = sent(Started(key=what.key, action="x", what="", why=""), what, part=part)
    assert found is not None
    return found


def test_a_gate_says_what_called_for_it_and_how_it_is_decided() -> None:
    assert asked(GATE) == NewNotice(
        id="root-1/4",
        loop=ROOT,
        topic="gate",
        title="shop: the protected gate waits for you: Add invoices [loopwright notice root-1/4]",
        body="a protected file differs (check.py changed)\n\n"
        "Approve: loop approve protected@e1 --loop root-1\n"
        'Reject: loop reject protected@e1 --reason "why" --loop root-1\n\n'
        "Loop root-1: Add invoices",
    )


def test_what_a_part_asks_is_its_roots_notice() -> None:
    found = asked(ask(), part=True)
    assert (found.id, found.loop, found.topic) == ("part-1/4", ROOT, "question")
    assert found.title == "shop: a question waits for you: Add invoices [loopwright notice part-1/4]"
    assert found.body == (
        "Which colour?\nAsked by its part part-1.\n\n"
        'Answer: loop answer "your answer" --loop part-1\n\nLoop root-1: Add invoices'
    )


@pytest.mark.parametrize(
    ("what", "topic", "headline"),
    [
        (ask(kind="escalation", options=(CONTINUE,)), "blocked", "blocked"),
        (ask(kind="escalation", options=(CONTINUE,), paused=True), "budget", "paused at a limit"),
        (ask(kind="check-in", options=(CONTINUE,)), "question", "a question waits for you"),
    ],
)
def test_a_question_has_its_topic(what: Ask, topic: str, headline: str) -> None:
    found = asked(what)
    assert (found.topic, found.title.split(": ")[1]) == (topic, headline)
    assert found.body.split("\n")[2] == "Grant more attempts: loop answer continue 3 --loop root-1"


def test_a_pause_says_which_limit_and_how_it_goes_on_and_only_once() -> None:
    paused = Paused(reason="budget", detail="nothing is left")
    found = sent(paused)
    assert found is not None
    assert (found.topic, found.body) == (
        "budget",
        "a limit was reached: nothing is left\n\n"
        "Go on, with more than the $5.00 it has: loop resume --budget USD --loop root-1\n\nLoop root-1: Add invoices",
    )
    assert sent(paused, status="paused") is None


def test_the_end_of_a_root_is_told_as_it_closes_unless_a_person_ended_it() -> None:
    def ended(ending: Ending, **given: object) -> NewNotice | None:
        return sent(Ended(outcome=Outcome(ending=ending, **given)))  # type: ignore[arg-type]

    complete, failed = ended(Ending.ACCEPTED), ended(Ending.FAILED)
    held = ended(Ending.VERIFIED, still_held="it conflicts")
    assert complete is not None and failed is not None and held is not None  # noqa: PT018
    assert (complete.topic, complete.body) == ("complete", "It was accepted.\n\nLoop root-1: Add invoices")
    assert (failed.topic, failed.title.split(": ")[1]) == ("blocked", "ended as failed")
    assert held.topic == "blocked"
    assert ended(Ending.CANCELLED) is None


def test_a_part_that_ends_or_pauses_and_whatever_else_happens_is_no_news() -> None:
    done = Ended(outcome=Outcome(ending=Ending.VERIFIED))
    assert sent(done, part=True) is None
    assert sent(Paused(reason="budget"), part=True) is None
    assert sent(Started(key=GATE.key, action="x", what="", why="")) is None


def test_a_loops_own_words_are_sent_as_they_are_but_for_what_nobody_sees() -> None:
    found = sent(Paused(reason="time"), own="Ours\u202e:")
    assert found is not None
    assert found.body == "Ours\\u202e: budget"
