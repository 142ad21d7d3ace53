"""Every session that a small feedback loop can come to, under everything that can be heard: what must hold in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from loopwright.engine.fold import Fold, Opened
from loopwright.engine.session import Recording, Session, cancelled, interrupted
from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    ForPeople,
    Integrate,
    RunAgent,
    RunChecks,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    BudgetChanged,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    Refused,
    ReportedLate,
    Started,
    TimeReached,
)
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Commit,
    Key,
    LoopId,
    Tree,
    Usage,
    Verdict,
)
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.dispatcher import Errand
from loopwright.ports.store import LoopRow, NewEvent
from tests.engine.worlds import flaw
from tests.loops.harness import strangers, with_key

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

LOOP = LoopId("l-1")
PRICE = 1.0
KEYLESS = Key.parse("")
LIMITS = FeedbackLimits(max_feedback_iterations=2, max_consecutive_review_failures=1, max_consecutive_test_failures=2)


def reports(**report: Any) -> AgentReported:  # noqa: ANN401 - the fields of a report
    return AgentReported(key=KEYLESS, report=AgentReport(**report), usage=Usage(usd=0.25))


def letters(action: Action) -> Iterable[Event]:
    """What may answer an action: everything at its first try, less later, so that there is an end."""
    is_first = str(action.key).endswith("-1.1") or str(action.key) == "checkpoint-1"
    match action:
        case RunAgent():
            return from_agent(action, is_first=is_first)
        case Checkpoint():
            plain = Checkpointed(key=KEYLESS, commit=Commit("c"), tree=Tree("t"), files=1)
            touched = (Change(path="tests/t.py", how="changed", blob="1"),)
            return (plain, replace(plain, protected=touched, evidence="e1")) if is_first else (plain,)
        case RunChecks():
            result = CheckResult(name="test", passed=True)
            green = ChecksReported(key=KEYLESS, tree=Tree("t"), results=(result,))
            return (green, replace(green, results=(replace(result, passed=False),)))
        case Integrate():
            landed = Integrated(key=KEYLESS, branch="b", commit=Commit("c"))
            refused = IntegrationRefused(key=KEYLESS, reason="conflict", detail="both changed it")
            return (landed, refused) if action.verified else (landed,)
        case CleanUp():
            return (CleanedUp(key=KEYLESS),)
        case Ask() | AwaitGate():
            return from_people(action)
        case _:
            return (TimeReached(key=KEYLESS),)


def from_agent(action: RunAgent, *, is_first: bool) -> Iterable[Event]:
    if action.role == "reviewer":
        return (reports(verdict=Verdict.PASS), reports(verdict=Verdict.FAIL, findings=(flaw("a"),)))
    if not is_first:
        return (reports(),)
    asks = reports(status=AgentStatus.NEEDS_CLARIFICATION, summary="Which?")
    away = AgentUnavailable(key=KEYLESS, until=1.0, usage=Usage(usd=0.0))
    return (reports(), asks, AgentFailed(key=KEYLESS, reason="crashed"), away)


def from_people(asked: ForPeople) -> Iterable[Event]:
    """What fits, and what is refused."""
    if isinstance(asked, AwaitGate):
        decided = GateDecided(key=KEYLESS, gate=asked.gate, approved=True, evidence=asked.evidence)
        return (decided, replace(decided, approved=False), replace(decided, evidence="other"))
    if asked.free_text:
        return (Answered(key=KEYLESS, choice="answer", text="this"), Answered(key=KEYLESS, choice="answer"))
    return (Answered(key=KEYLESS, choice="accept"), Answered(key=KEYLESS, choice="dance"))


@dataclass(frozen=True, slots=True)
class Spot:
    """A session and the money that its log has set aside."""

    session: Session
    reserved: float = 0.0

    @property
    def meaning(self) -> object:
        """The same again, however long the log is."""
        flights = frozenset(flight.key for flight in self.session.now.flights)
        return self.session.now.state, flights, frozenset(self.session.under_way)

    def record(self, *lines: Recording) -> Spot:
        draft = self.session.draft(*lines)
        reserved = self.reserved + sum(map(moved, draft.append.entries))
        assert reserved >= 0
        started = [line.event.key for line in lines if isinstance(line.event, Started)]
        assert not {flight.key for flight in self.session.now.flights} & set(started), "started twice"
        return Spot(self.session.written(draft), reserved)


def moved(entry: NewEvent) -> float:
    return entry.reserve - entry.release


def first() -> Spot:
    params = FeedbackParams(task="add a", base=Commit("base"), limits=LIMITS)
    row = LoopRow(
        id=LOOP,
        kind="feedback",
        params="",
        parent=None,
        status="running",
        seq=1,
        fence=0,
        created=0.0,
        updated=0.0,
        budget=None,
        spent=0.0,
        reserved=0.0,
    )
    opened = Opened(row=row, loop=FEEDBACK, now=Fold(state=FEEDBACK.start(params)))
    return Spot(Session.of(opened, Errand(path=(LOOP,)), terms))


def terms(action: RunAgent | RunChecks, _now: Fold) -> float:
    return PRICE if isinstance(action, RunAgent) else 0.0


def steps(spot: Spot) -> Iterator[Spot]:
    """What the driver does with a session, and all that can be heard and befall meanwhile."""
    session, todo = spot.session, spot.session.todo()
    if session.under_way:
        yield from killed(spot)
    if todo.stop is not None:
        return
    yield spot.record(*session.heard(CancelRequested(by="ann")))
    for action in session.wanted:
        if isinstance(action, Ask | AwaitGate):
            yield from (spot.record(*session.heard(with_key(said, action.key))) for said in letters(action))
    for flight in todo.cancel:
        yield spot.record(cancelled(flight))
    if todo.intents:
        yield spot.record(todo.intents[0])
    for effect in todo.start:
        yield Spot(session.begun(effect.action.key), spot.reserved)
    for under_way in session.under_way:
        yield from answered(spot, under_way.key)


def answered(spot: Spot, key: Key) -> Iterator[Spot]:
    """The answer with what follows from it; or alone, where the store has no money for that."""
    action = next((action for action in spot.session.wanted if action.key == key), None)
    for letter in letters(action) if action else ():
        lines = spot.session.heard(with_key(letter, key))
        yield spot.record(*lines)
        yield spot.record(lines[0])


def killed(spot: Spot) -> Iterator[Spot]:
    """A new controller finds the log and nothing else."""
    fresh = Spot(replace(spot.session, under_way=()), spot.reserved)
    yield fresh
    for action, flight in fresh.session.left_behind():
        yield fresh.record(interrupted(flight))
        yield fresh.record(*fresh.session.heard(with_key(next(iter(letters(action))), action.key)))


@cache
def walked() -> tuple[Spot, ...]:
    begin = first()
    known, queue = {begin.meaning}, [begin]
    for spot in queue:
        for after in steps(spot):
            if after.meaning not in known:
                known.add(after.meaning)
                queue.append(after)
        assert len(queue) < 20_000
    return tuple(queue)


def test_every_flight_is_wanted_or_to_be_cancelled_and_holds_what_is_reserved() -> None:
    for spot in walked():
        wanted = {action.key for action in spot.session.wanted}
        unwanted = tuple(flight for flight in spot.session.now.flights if flight.key not in wanted)
        assert spot.session.todo().cancel == unwanted
        assert spot.reserved == sum(flight.reserved for flight in spot.session.now.flights)
        keys = [flight.key for flight in spot.session.now.flights]
        assert len(keys) == len(set(keys))


def test_nothing_is_begun_twice_or_before_its_intent_is_durable() -> None:
    for spot in walked():
        todo, flights = spot.session.todo(), {flight.key: flight.step for flight in spot.session.now.flights}
        known = {each.key for each in spot.session.under_way}
        assert known <= flights.keys()
        assert not known & {effect.action.key for effect in todo.start}
        assert all(flights[effect.action.key] == effect.step for effect in todo.start)
        assert not flights.keys() & {getattr(line.event, "key", None) for line in todo.intents}


def test_there_is_always_something_to_do_or_somebody_to_ask_until_it_ends() -> None:
    for spot in walked():
        todo = spot.session.todo()
        if not (todo.cancel or todo.stop or todo.intents or todo.start):
            assert todo.idle == (not spot.session.under_way)
            assert spot.session.under_way or todo.waiting
        assert todo.stop is None or not spot.session.now.flights


@pytest.mark.slow
def test_what_is_not_asked_for_is_kept_and_changes_nothing() -> None:
    for spot in walked():
        session = spot.session
        for event in strangers(session.wanted):
            if session.refusal(event) is None:
                continue
            (line,) = session.heard(event)
            assert isinstance(line.event, Refused if isinstance(event, Answered | GateDecided) else ReportedLate)
            after = session.written(session.draft(line))
            assert after.now.state is session.now.state
            late = getattr(line.event, "key", None)
            assert after.now.flights == tuple(flight for flight in session.now.flights if flight.key != late)


def test_a_stranger_is_refused_in_every_state_but_a_decision_on_a_gate_is_the_machines_to_judge() -> None:
    nobody = Answered(key=Key.parse("nobody-1"), choice="cancel")
    for spot in walked():
        assert spot.session.refusal(nobody) is not None
        assert spot.session.refusal(replace(reports(), key=Key.parse("nobody-1"))) is not None


def test_money_and_settings_are_heard_by_whoever_has_not_ended() -> None:
    for spot in walked()[:200]:
        (line,) = spot.session.heard(BudgetChanged(usd=2.0, by="ann"))
        assert spot.session.draft(line, taken=(7,)).append.budget == 2.0
        assert spot.session.draft(line, taken=(7,)).append.taken == (7,)


def test_the_walk_is_worth_it() -> None:
    spots = walked()
    assert len(spots) > 500
    kinds = {type(action).__name__ for spot in spots for action in spot.session.wanted}
    assert kinds >= {"RunAgent", "RunChecks", "Ask", "AwaitGate", "Integrate", "CleanUp", "WaitUntil", "Stop"}
    assert any(len(spot.session.now.flights) > 1 for spot in spots)
