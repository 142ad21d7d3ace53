"""All reachable states of every machine by the rules of today: what a verification, a gate and a late word lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Combine,
    Integrate,
    LoadArtifacts,
    RunAgent,
    RunChecks,
    RunLoop,
    Stop,
)
from loopwright.kernel.events import Answered, CancelRequested, ChecksReported, Event, GateDecided, LoopEnded
from loopwright.kernel.faults import faults_of
from loopwright.kernel.gates import evidence
from loopwright.kernel.machine import Loop
from loopwright.kernel.model import Commit, Ending, Tree
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.course import OnCourse, Station
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.tickets.machine import TICKETS
from tests.loops import batch as b
from tests.loops import feedback as f
from tests.loops import quality as q
from tests.loops import tickets as t
from tests.loops import verified as v
from tests.loops.harness import (
    Step,
    Walk,
    check_decisions,
    check_keys,
    check_last_no_stands,
    check_refusals,
    check_round_trip,
    walk,
    with_key,
)

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

State = Any  # of whichever machine
BAD, UNNOTICED = Tree("bad"), Tree("unnoticed")
REPORTS: dict[str, tuple[ChecksReported, ...]] = {
    "held": (v.LANDS, replace(v.WITHOUT, lands=Tree("part")), replace(v.NOTHING_ELSE, lands=Tree("part"))),
    "claims": (v.LANDS, replace(v.CLAIMED, lands=BAD), replace(v.AT_ONCE, lands=BAD)),
    "untested": (replace(v.UNNOTICED, lands=UNNOTICED), replace(v.RED, lands=BAD)),
    "unread": (v.LANDS, replace(v.UNREAD, lands=UNNOTICED, held=v.BENT)),
}
PREFLIGHT = (v.LANDS, v.RED, v.UNABLE)
AFTERWARDS = (replace(v.LANDS, lands=Tree("whole")), replace(v.RED, lands=BAD))


@dataclass(frozen=True, kw_only=True)
class Walked:
    """A machine, where it starts, and whose turn it is at the last attempt."""

    loop: Loop[Any, Any]
    start: Callable[[], State]
    is_last: Callable[[State], bool]
    letters: Callable[[Action, State], tuple[Event, ...]]


def of_feedback(action: Action, _: State) -> tuple[Event, ...]:
    match action:
        case RunAgent(role="developer"):
            return (f.DONE,)
        case RunAgent():
            return (f.passes(),)
        case Checkpoint():
            fresh = replace(f.saved(f"c{action.key.attempt}"), tree=Tree(f"tree-{action.key.attempt}"))
            bent = replace(fresh, protected=v.BENT, evidence=evidence(v.BENT))
            return (fresh, bent, replace(bent, commit=Commit("c1"), tree=Tree("tree-1")))
        case _:
            assert isinstance(action, Integrate)
            return (f.LANDED, f.RED_MERGE)


def of_tickets(action: Action, _: State) -> tuple[Event, ...]:
    match action:
        case RunAgent(role="creator"):
            return (t.MADE,)
        case RunAgent():
            return (t.passes(),)
        case Announce():
            return (t.SAID,)
        case Checkpoint():
            fresh = t.saved(f"c{action.key.attempt}")
            return fresh, *(
                replace(t.saved(commit), protected=v.BENT, evidence=evidence(v.BENT)) for commit in ("c1", fresh.commit)
            )
        case _:
            assert isinstance(action, Integrate)
            return (t.LANDED, t.RED_MERGE)


def of_quality(action: Action, state: State) -> tuple[Event, ...]:
    match action:
        case RunAgent(role="creator"):
            return (q.FIXED,)
        case RunAgent():
            return (q.fails(*q.THREE),) if state.number == 1 else (q.passes(), q.fails(*q.THREE))
        case LoadArtifacts():
            return (q.LOADED,)
        case Announce():
            return (q.SAID,)
        case Checkpoint():
            return (q.saved(f"c{action.key.attempt}"), q.saved("c1", same=True))
        case _:
            assert isinstance(action, Integrate)
            return (q.LANDED, q.RED_MERGE)


def of_batch(action: Action, state: State) -> tuple[Event, ...]:
    match action:
        case RunLoop():
            return tuple(LoopEnded(key=action.key, outcome=outcome) for _, outcome in _children(action, state))
        case Combine():
            return (b.combined(f"all-{state.again}"),)
        case _:
            assert isinstance(action, Integrate)
            return (b.LANDED, b.RED_MERGE)


def _children(run: RunLoop, state: State) -> tuple[tuple[int, Any], ...]:
    number = int(run.key.part)
    review = state.items[number - 1].at.attempt
    if isinstance(run.said, CancelRequested):
        return (b.cancelled(number),)
    if isinstance(run.said, Answered):
        return (b.accepted(number, f"c{review}"),)
    if run.key.step == "review":
        good = b.passed(number, f"c{review}" if review > 1 else b.BASE, attempts=review)
        return (good, b.blocked(number, review) if review < 3 else b.asks(number, review, asked=review))
    return (b.waits(number, review + 1),) if review < 3 else (b.asks(number, review, asked=review),)


MACHINES = {
    "feedback": Walked(
        loop=FEEDBACK,
        start=lambda: FEEDBACK.start(replace(f.params(max_feedback_iterations=2), trust=v.NOW)),
        is_last=lambda state: state.current.number >= state.allowance.iterations,
        letters=of_feedback,
    ),
    "a part": Walked(
        loop=FEEDBACK,
        start=lambda: FEEDBACK.start(replace(f.params(max_feedback_iterations=2), trust=v.PART, lands=False)),
        is_last=lambda state: state.current.number >= state.allowance.iterations,
        letters=of_feedback,
    ),
    "tickets": Walked(
        loop=TICKETS,
        start=lambda: t.session(max=2, trust=v.NOW),
        is_last=lambda state: state.ticket.number >= state.allowance,
        letters=of_tickets,
    ),
    "quality": Walked(
        loop=QUALITY,
        start=lambda: q.loop(max_attempts=3, trust=v.NOW, checked=True),
        is_last=lambda state: state.number >= state.allowance,
        letters=of_quality,
    ),
    "batch": Walked(
        loop=BATCH,
        start=lambda: b.batch(1, trust=v.NOW, checked=True),
        is_last=lambda state: state.items[0].attempts >= 3,
        letters=of_batch,
    ),
}


def letters(  # noqa: C901 - one row for each action
    machine: Walked, reports: tuple[ChecksReported, ...], action: Action, state: State
) -> tuple[Event, ...]:
    match action:
        case RunChecks():
            if action.preflight:
                return PREFLIGHT
            if action.key.step == "checks-held":
                return AFTERWARDS
            return tuple(_known(action, report) for report in reports)
        case AwaitGate():
            return (v.approves(action.evidence, action.gate), v.rejects(action.evidence, action.gate))
        case Ask():
            return (f.says("accept"), f.says("cancel"))
        case Integrate() if not action.tree:
            return (f.LANDED, replace(f.LANDED, held=v.BENT, held_on="loop/1-held"))
        case Integrate() if action.key.step == "land-held":
            return (f.LANDED, f.REFUSED)
        case CleanUp():
            return (f.CLEANED,)
        case Stop():
            return ()
        case Checkpoint() if reports is REPORTS["claims"] and machine.loop in (FEEDBACK, TICKETS):
            return machine.letters(action, state)[1:]  # with a change that is claimed
        case Checkpoint() if reports is REPORTS["untested"]:
            return machine.letters(action, state)[::2]  # another tree, or the same again
        case RunAgent() | Integrate() if reports is not REPORTS["held"]:
            return machine.letters(action, state)[:1]  # reviews and merges that say no: once is enough
        case _:
            return machine.letters(action, state)


def _known(action: RunChecks, report: ChecksReported) -> ChecksReported:
    """What is approved is neither held back nor claimed."""
    if not report.held or not {*report.held} <= {*action.approved}:
        return report
    return replace(
        report, held=(), claim=None, nothing_else=False, lands=report.lands if report.canary else Tree("all")
    )


def reachable(machine: Walked, reports: tuple[ChecksReported, ...]) -> Walk[State]:
    def bounded(state: State) -> Iterator[Event]:
        for action in machine.loop.decide(state):
            for letter in letters(machine, reports, action, state):
                event = with_key(letter, action.key)
                if not _too_much(state, event):
                    yield event
        if state.course.station in (Station.PREFLIGHT, Station.GATE, Station.HELD_CHECK, Station.HELD_LAND):
            yield CancelRequested()

    return walk(machine.loop, machine.start(), bounded)


def _too_much(state: State, event: Event) -> bool:
    """What was held back is tried once; of merges that do not pass, one is enough."""
    if isinstance(event, GateDecided):
        return event.approved and state.course.held_tries >= 1
    refused = type(event).__name__ == "IntegrationRefused" and state.course.station is Station.LAND
    return refused and bool(getattr(state, "onto", "") or state.course.asked or _moved(state))


def _moved(state: State) -> bool:
    return any(getattr(state, name).onto for name in ("current", "ticket") if hasattr(state, name))


CASES = [(name, report) for name in MACHINES for report in REPORTS]


@cache
def walked_by(name: str, report: str) -> Walk[State]:
    return reachable(MACHINES[name], REPORTS[report])


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}, {case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Walked, Walk[State]]:
    name, report = request.param
    return MACHINES[name], walked_by(name, report)


Case = tuple[Walked, Walk[State]]


def test_decide_is_total_and_only_stop_is_the_end(case: Case) -> None:
    check_decisions(case[0].loop, case[1])


def test_a_key_names_one_try_for_ever(case: Case) -> None:
    check_keys(case[0].loop, case[1])


def test_what_answers_nothing_is_refused(case: Case) -> None:
    check_refusals(case[0].loop, case[1].states)


def test_every_state_can_be_stored(case: Case) -> None:
    machine, walked = case
    check_round_trip(machine.loop.state, walked.states[::50])


def test_nothing_lands_that_was_not_in_a_report(case: Case) -> None:
    machine, walked = case
    for step in walked.steps:
        before, after = step.before.course, step.after.course
        if (before.lands, before.candidate) != (after.lands, after.candidate) and not _accepts(step):
            assert isinstance(step.event, ChecksReported), step
            assert step.event.lands == after.lands, step
    for state in walked.states:
        for action in machine.loop.decide(state):
            if isinstance(action, Integrate) and action.verified:
                assert action.tree == state.course.lands != BAD, state
                assert action.commit == state.course.candidate, state
                assert action.holds_back == bool(state.course.held) or action.key.step == "land-held", state
                # What a person accepts lands with that said.
                assert action.tree != UNNOTICED or state.course.untested or state.course.unnoticed, state


def _accepts(step: Step[State]) -> bool:
    return bool(step.before.course.accepted) or type(step.event).__name__ == "Integrated"


@pytest.mark.parametrize("report", ["claims", "untested"])
@pytest.mark.parametrize("name", MACHINES)
def test_no_path_leads_from_a_red_run_at_the_last_attempt_to_a_pass(name: str, report: str) -> None:
    machine = MACHINES[name]

    def failed_last(step: Step[State]) -> bool:
        red = isinstance(step.event, ChecksReported) and bool(faults_of(step.event))
        return step.before.course.station is None and red and machine.is_last(step.before)

    check_last_no_stands(machine.loop, walked_by(name, report), failed_last)


def test_what_no_check_looks_at_never_ends_verified(case: Case) -> None:
    machine, walked = case
    for state in walked.states:
        for action in machine.loop.decide(state):
            if isinstance(action, Stop) and action.outcome.ending is Ending.VERIFIED:
                assert not state.course.untested, state
                assert state.course.lands not in (BAD, UNNOTICED) or state.course.held_tries, state


def test_what_is_held_at_the_end_is_asked_for_until_a_person_has_decided(case: Case) -> None:
    machine, walked = case
    for state in walked.states:
        stop, *gates = machine.loop.decide(state)
        if isinstance(stop, Stop) and stop.outcome.ending in (Ending.VERIFIED, Ending.ACCEPTED):
            assert bool(stop.outcome.held) == bool(gates), state
            assert bool(stop.outcome.still_held) <= bool(gates) or _rejected_since(state), state


def _rejected_since(state: OnCourse) -> bool:
    return any(gate.lasting and gate.ruling == "rejected" for gate in state.course.gates)
