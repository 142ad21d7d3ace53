"""The floor by itself, under a small machine: two helpers work side by side on a thing that two gates guard."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, Ask, AwaitGate, Integrate, Option, RunAgent, Stop, WaitUntil
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Answered,
    CancelRequested,
    CleanedUp,
    ConfigChanged,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import (
    NO_COMMIT,
    NO_KEY,
    AgentReport,
    AgentStatus,
    Brief,
    Change,
    Commit,
    Ending,
    Key,
    Outcome,
    Question,
)
from loopwright.kernel.risks import Risk
from loopwright.loops import floor
from loopwright.loops.course import (
    Course,
    GateRecord,
    Ruling,
    Station,
    Trial,
    called_for,
    entered,
    escalated,
    landing,
    steered,
    where,
)
from loopwright.loops.hooks import Escalation, Machine
from tests.loops.harness import taken, with_key


class ToyPhase(StrEnum):
    WORK = "WORK"
    REST = "REST"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyLimits:
    most: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy:
    phase: ToyPhase = ToyPhase.WORK
    course: Course = Course(trials=(Trial(), Trial(part="1"), Trial(part="2")))
    done: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    left: int = 2


def work(state: Toy) -> tuple[Action, ...]:
    if state.phase is ToyPhase.REST:
        return (WaitUntil(key=Key.parse("rest"), when=1.0),)
    return tuple(step(state, part) for part in ("1", "2") if part not in state.done + state.lost)


def step(state: Toy, part: str) -> RunAgent:
    key = Key("help", 1, part=part, tries=state.course.trial_of(part).tries)
    brief = Brief(task="t", attempt=1, limit=1, answers=state.course.answers)
    return RunAgent(key=key, role=f"helper-{part}", brief=brief, start=NO_COMMIT, writes=True)


def took(state: Toy, event: Answer) -> Toy:
    match event:
        case AgentReported():
            state = replace(state, done=(*state.done, event.key.part))
        case AgentFailed():
            state = replace(state, lost=(*state.lost, event.key.part))
        case TimeReached():
            return landing(state)
        case _:
            raise AssertionError(event)
    return state if len(state.done + state.lost) < 2 else entered(state, ToyPhase.REST)


def asks(_: Toy) -> Escalation:
    words = ("continue", "accept", "history", "revise", "cancel", "own")
    return Escalation(question="What now?", options=tuple(Option(choice=each, label=each) for each in words), why="w")


MACHINE: Machine[Toy, ToyLimits] = Machine(
    limits=ToyLimits,
    base=lambda _: Commit("base"),
    work=work,
    took=took,
    landing=lambda _: Integrate(key=Key.parse("land"), commit=Commit("c"), base=Commit("base"), message="m"),
    outcome=lambda _, ending: Outcome(ending=ending, note="toy"),
    escalation=asks,
    continued=lambda state, event: entered(replace(state, left=event.count), ToyPhase.REST),
    revised=lambda state, event: entered(replace(state, left=len(event.text)), ToyPhase.REST),
    relimited=lambda state, limits: replace(state, left=limits.most),
    noun="toy",
    beside_answer=("accept", "history", "cancel"),
)


def toy(machine: Machine[Toy, ToyLimits] = MACHINE) -> Loop[Toy, Toy]:
    return Loop(
        name="toy",
        params=Toy,
        state=Toy,
        start=lambda state: state,
        decide=partial(floor.decide, machine),
        apply=partial(floor.apply, machine),
        stand=lambda state: Standpoint(state=where(state), attempt=1, limit=1),
    )


LOOP = toy()
CRASH = AgentFailed(key=NO_KEY, reason="crashed")
DONE = AgentReported(key=NO_KEY, report=AgentReport())
LATER = TimeReached(key=NO_KEY)


def question(text: str, role: str = "helper") -> AgentReported:
    asked = (Question(question=text, options=("a", "b"), impact="much"),)
    return AgentReported(
        key=NO_KEY, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=asked), role=role
    )


def play(state: Toy, *moves: tuple[str, Event]) -> Toy:
    for key, letter in moves:
        state = taken(LOOP, state, with_key(letter, Key.parse(key)) if key else letter)
    return state


def keys(state: Toy) -> list[str]:
    return [str(action.key) for action in LOOP.decide(state)]


def says(choice: str, *, count: int = 0, text: str = "") -> Answered:
    return Answered(key=NO_KEY, choice=choice, count=count, text=text)


def rules_on(evidence: str, *, approved: bool, gate: str = "a") -> GateDecided:
    return GateDecided(key=NO_KEY, gate=gate, approved=approved, evidence=evidence, reason="because", by="ann")


# --- steps side by side -------------------------------------------------------------------------------------


def test_each_step_has_tries_of_its_own() -> None:
    state = play(Toy(), ("help-1-1.1", CRASH), ("help-1-2.1", AgentUnavailable(key=NO_KEY, until=5.0)))
    assert keys(state) == ["help-1-1.2", "wait-help-1-2.1"]
    state = play(state, ("wait-help-1-2.1", LATER), ("help-1-1.2", CRASH))
    assert (keys(state), state.lost) == (["help-1-2.2"], ("1",))


def away(at: float, until: float = 0.0, role: str = "helper-1", detail: str = "busy") -> AgentUnavailable:
    return AgentUnavailable(key=NO_KEY, until=until, role=role, at=at, detail=detail)


def waited(state: Toy) -> float:
    (wait,) = (action for action in LOOP.decide(state) if isinstance(action, WaitUntil))
    return wait.when


def kept_waiting(state: Toy, times: int, letter: AgentUnavailable) -> tuple[Toy, list[float]]:
    waits: list[float] = []
    for _ in range(times):
        key = next(key for key in keys(state) if "1-1" in key)
        state = play(state, (key, letter))
        waits.append(waited(state) - letter.at)
        state = play(state, (f"wait-{key}", LATER))
    return state, waits


def test_an_agent_that_says_to_come_back_at_once_is_left_alone_for_longer_each_time() -> None:
    _, waits = kept_waiting(Toy(), 9, away(at=100.0, until=100.0))
    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 600.0, 600.0]
    _, waits = kept_waiting(Toy(), 2, away(at=100.0, until=1000.0))
    assert waits == [900.0, 900.0]


@pytest.mark.parametrize(("detail", "said"), [("busy", ": busy"), ("", ".")])
def test_after_ten_waits_in_a_row_a_person_is_asked_with_what_the_agent_said(detail: str, said: str) -> None:
    state, waits = kept_waiting(Toy(lost=("2",)), 10, away(at=100.0, detail=detail))
    assert len(waits) == 10
    state = play(state, ("help-1-1.11", away(at=100.0, detail=detail)))
    (ask,) = LOOP.decide(state)
    assert isinstance(ask, Ask)
    assert ask.question.startswith(f"The helper-1 was not available 11 times in a row{said}\n")
    state = play(state, ("clarify-1", says("answer", text="go on")))
    assert keys(state) == ["help-1-1.12"]
    assert keys(play(state, ("help-1-1.12", away(at=100.0)))) == ["wait-help-1-1.12"]


def test_waits_are_counted_anew_after_another_failure() -> None:
    state, _ = kept_waiting(Toy(lost=("2",)), 3, away(at=0.0))
    state = play(state, ("help-1-1.4", CRASH), ("help-1-1.5", away(at=0.0)))
    assert waited(state) == 5.0


def test_a_log_of_before_waits_as_it_did() -> None:
    _, waits = kept_waiting(Toy(lost=("2",)), 12, AgentUnavailable(key=NO_KEY, until=1.0))
    assert waits == [1.0] * 12


def test_a_question_waits_for_those_at_work_and_goes_back_to_who_asked() -> None:
    state = play(Toy(), ("help-1-1.1", question("Which?", "helper-1")))
    assert (keys(state), where(state)) == (["help-1-2.1"], "WORK")
    state = play(state, ("help-1-2.1", question("Where?", "helper-2")))
    (ask,) = LOOP.decide(state)
    assert isinstance(ask, Ask)
    assert (where(state), str(ask.key), ask.question) == ("CLARIFY", "clarify-1", "Which?\nWhere?")
    assert [each.options for each in ask.questions] == [("a", "b")] * 2
    assert ask.why == "the helper-1 and the helper-2 cannot go on without a person"
    state = play(state, ("clarify-1", says("answer", text="here")))
    assert keys(state) == ["help-1-1.2", "help-1-2.2"]
    assert state.course.answers == ("Which?\nWhere?\n→ here",)


def test_a_question_is_asked_when_the_last_one_beside_it_is_done() -> None:
    state = play(Toy(), ("help-1-1.1", question("Which?")), ("help-1-2.1", DONE))
    assert keys(state) == ["clarify-1"]
    assert keys(play(state, ("clarify-1", says("history")))) == ["clarify-2"]
    assert keys(play(state, ("clarify-1", says("accept")))) == ["land"]
    assert keys(play(state, ("clarify-1", says("b")))) == ["help-1-1.2"]


def test_an_agent_that_is_silent_about_its_need_is_asked_about_all_the_same() -> None:
    needs = AgentFailed(key=NO_KEY, reason="needs_person", role="helper-1")
    state = play(Toy(), ("help-1-2.1", DONE), ("help-1-1.1", needs))
    (ask,) = LOOP.decide(state)
    assert isinstance(ask, Ask)
    assert ask.question == "The helper-1 needs a person."


def test_a_machines_own_wait_is_its_own() -> None:
    state = play(Toy(), ("help-1-1.1", DONE), ("help-1-2.1", DONE), ("rest", LATER))
    assert keys(state) == ["land"]


# --- people -------------------------------------------------------------------------------------------------


def stuck() -> Toy:
    return escalated(Toy(), ("it is",))


def test_an_escalation_says_that_it_is_one() -> None:
    (ask,) = LOOP.decide(stuck())
    assert isinstance(ask, Ask)
    assert (str(ask.key), ask.kind, ask.question) == ("escalation-1", "escalation", "What now?")


@pytest.mark.parametrize(
    ("answer", "left", "answers"),
    [
        (says("continue"), 3, ()),
        (says("continue", count=1, text="mind it"), 1, ("mind it",)),
        (says("revise", text="anew"), 4, ("anew",)),
    ],
)
def test_a_loop_goes_on_as_it_is_told(answer: Answered, left: int, answers: tuple[str, ...]) -> None:
    state = play(stuck(), ("escalation-1", answer))
    assert (state.left, state.course.answers, state.course.reasons, keys(state)) == (left, answers, (), ["rest"])


@pytest.mark.parametrize("choice", ["own", "no such"])
def test_an_answer_that_no_machine_knows_is_refused(choice: str) -> None:
    with pytest.raises(InvalidTransition, match=f"{choice!r} is not one of the options"):
        play(stuck(), ("escalation-1", says(choice)))


def test_a_machine_has_answers_of_its_own() -> None:
    own = toy(replace(MACHINE, answered=lambda state, event: replace(state, left=len(event.text))))
    said = replace(says("own", text="five!"), key=Key("escalation", 1))
    assert taken(own, stuck(), said).left == 5


def test_new_limits_are_the_machines_to_take_in() -> None:
    assert play(Toy(), ("", ConfigChanged(digest="d", settings="{}", limits='{"most":7}'))).left == 7
    with pytest.raises(InvalidTransition, match="limits: not JSON"):
        play(Toy(), ("", ConfigChanged(digest="d", settings="{}", limits="nonsense")))


# --- gates --------------------------------------------------------------------------------------------------


def guarded(*gates: GateRecord) -> Toy:
    state = Toy()
    for gate in gates:
        state = called_for(state, gate)
    return state


E1, E2, B = (GateRecord(gate=gate, evidence=each) for gate, each in (("a", "e1"), ("a", "e2"), ("b", "e1")))


def test_gates_stand_beside_the_work_each_by_itself() -> None:
    state = guarded(E1, B)
    assert keys(state)[2:] == ["gate-a-e1", "gate-b-e1"]
    state = play(state, ("gate-b-e1", rules_on("e1", approved=True, gate="b")))
    assert (keys(state)[2:], state.course.approvals) == (["gate-a-e1"], ("e1",))


def test_a_gate_says_where_rules_found_what_called_for_it() -> None:
    found = tuple(Risk(gate="a", rule=rule, file="a.py", line=3) for rule in ("one", "two"))
    gate = replace(E1, reasons=found, because=(Change(path="b.py", how="added"),))
    waits = LOOP.decide(guarded(gate))[-1]
    assert isinstance(waits, AwaitGate)
    assert (waits.reasons, gate.paths) == (found, "b.py, a.py")


def test_a_decision_holds_for_its_evidence_and_comes_back_with_it() -> None:
    state = play(guarded(E1), ("gate-a-e1", rules_on("e1", approved=False)))
    state = called_for(state, E2)
    assert keys(state)[2:] == ["gate-a-e2"]
    state = called_for(called_for(state, replace(E2, evidence="")), replace(E1, commit=Commit("c9")))
    gate = state.course.due("a")
    assert gate == replace(E1, commit=Commit("c9"), ruling=Ruling.REJECTED, reason="because", by="ann")
    assert keys(state)[2:] == []


def test_a_gate_is_decided_only_on_what_is_there() -> None:
    with pytest.raises(InvalidTransition, match="other changes than the present ones"):
        play(guarded(E1), ("gate-a-e1", rules_on("e2", approved=True)))


def test_a_gate_may_be_decided_after_the_end_and_then_only_that() -> None:
    state = steered(guarded(E1, replace(B, lasting=True)), station=Station.DONE)
    stop, gate = LOOP.decide(state)
    assert (type(stop), type(gate), str(gate.key)) == (Stop, AwaitGate, "gate-b-e1")
    state = play(state, ("gate-b-e1", rules_on("e1", approved=True, gate="b")))
    assert (keys(state), state.course.approvals) == (["stop"], ("e1",))


# --- the end ------------------------------------------------------------------------------------------------

LANDED = Integrated(key=NO_KEY, branch="b", commit=Commit("c2"), not_merged="main is dirty")
REFUSED = IntegrationRefused(key=NO_KEY, reason="moved")


def test_what_landed_is_in_the_outcome() -> None:
    state = play(landing(Toy()), ("land", LANDED))
    assert state.course.outcome == Outcome(
        ending=Ending.VERIFIED, commit=Commit("c2"), branch="b", not_merged="main is dirty", note="toy"
    )


def test_a_machine_may_go_on_after_a_landing() -> None:
    goes_on = toy(replace(MACHINE, landed=lambda state, _: entered(state, ToyPhase.REST)))
    state = taken(goes_on, landing(Toy()), with_key(LANDED, Key.parse("land")))
    assert keys(state) == ["rest"]


def test_exactly_one_of_landing_and_cancelling_happens() -> None:
    state = play(landing(Toy()), ("", CancelRequested()))
    assert keys(state) == ["land"]
    assert keys(play(state, ("land", REFUSED))) == ["clean-up"]
    ended = play(state, ("land", LANDED)).course.outcome
    assert ended is not None
    assert (ended.ending, ended.cleanup) == (Ending.VERIFIED, None)


def test_a_refused_landing_asks_a_person_by_default() -> None:
    state = play(landing(Toy()), ("land", REFUSED))
    assert (keys(state), state.course.reasons) == (["escalation-1"], ("the result could not be landed: moved",))


@pytest.mark.parametrize(
    "event", [CancelRequested(), ConfigChanged(digest="d", settings="{}")], ids=["cancel", "config"]
)
def test_a_loop_that_has_ended_takes_nothing_in(event: Event) -> None:
    state = play(Toy(), ("", CancelRequested()), ("clean-up", CleanedUp(key=NO_KEY)))
    with pytest.raises(InvalidTransition, match="the toy has ended"):
        play(state, ("", event))
