"""All reachable states of small workflows: keys, limits, what lands, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    CleanUp,
    Combine,
    Integrate,
    RunAgent,
    RunChecks,
    RunLoop,
    Stop,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Answered,
    CancelRequested,
    ChecksReported,
    Combined,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Ending, Outcome, Tree, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.schedule import is_free
from loopwright.loops.workflow.state import Stopped, TaskStanding, WorkflowPhase, WorkflowState
from tests.loops import verified as v
from tests.loops import workflow as w
from tests.loops.harness import (
    Step,
    Walk,
    check_keys,
    check_last_no_stands,
    check_refusals,
    check_round_trip,
    table,
    walk,
    with_key,
)

# Much of the same: the tests of single rules run every line, and a walk finds where they do not hold.
pytestmark = pytest.mark.unmeasured

_ELSEWHERE = (TaskStanding.DONE, TaskStanding.MERGING)
HELD = w.checked(held=v.BENT, lands=Tree("part"))
NEEDED = w.checked(held=v.BENT, nothing_else=True, lands=Tree("part"))
STARTS: dict[str, Callable[[], WorkflowState]] = {
    "one": lambda: w.planned(max_iterations=2),
    "tried": lambda: w.untried(w.task(1), w.task(2, 1), max_iterations=3, max_total_failures=1),
    "held": lambda: w.planned(w.task(1), w.task(2, 1), max_iterations=3),
    "panel": lambda: w.planned(max_iterations=2, also_cast=("panel", "gate"), counsel_within_limits=True),
    "attended": lambda: w.planned(max_iterations=2, attended=True),
    "two": lambda: w.planned(w.task(1), w.task(2), max_iterations=3, max_total_failures=1),
    "waves": lambda: w.planned(w.task(1), w.task(2, 1), max_iterations=3, max_total_failures=1, of=w.TOOL_REVIEW),
}


def answers_to(name: str, action: Action, state: WorkflowState) -> tuple[Event, ...]:  # noqa: C901 - a row for each action
    match action:
        case RunLoop():
            return tuple(LoopEnded(key=action.key, outcome=each[1]) for each in _children(action, state))
        case RunAgent(role="panel"):
            return (w.advises(), w.CRASHED)
        case RunAgent(role="gate"):
            return (w.ships(), w.refuses(ship={}), w.passes())
        case RunAgent():
            return _views(name, action, state)
        case Combine():
            made = w.combined(f"m{state.turn}")
            return (made, *(w.conflicts(each, "a") for each in action.commits))
        case RunChecks(demands_only=True):
            return _tried(name, action)
        case RunChecks(also=also):
            never = w.checked(unmet=("mustNot-1",)) if any(each.name == "mustNot-1" for each in also) else w.GREEN
            return (w.GREEN, never, w.checked(red=(w.RED,)), *((HELD, NEEDED) if name in ("held", "attended") else ()))
        case Integrate() if action.key.step == "land-task":
            return (w.landed(f"tip{state.turn}"), w.REFUSED)
        case Integrate():
            return (w.LANDED, w.REFUSED, w.CONFLICT, w.RED_MERGE)
        case Ask():
            said = (
                *(w.says(each) for each in ("accept", "cancel", "approve", "skip", "done")),
                w.says("continue", count=1),
            )
            offered = {option.choice for option in action.options}
            return tuple(each for each in said if each.choice in offered)
        case AwaitGate():
            return (v.approves(action.evidence, action.gate), v.rejects(action.evidence, action.gate))
        case Announce():
            return (w.SAID,)
        case CleanUp():
            return (w.CLEANED,)
        case _:
            assert isinstance(action, Stop), action
            return ()


def _tried(name: str, run: RunChecks) -> tuple[Event, ...]:
    number = int(run.key.part)
    green = (w.tried(number, passed=True), w.tried(number, passed=True, red_before=True)) if name == "tried" else ()
    return tuple(each.event for each in (w.tried(number), *green))


def _children(run: RunLoop, state: WorkflowState) -> tuple[tuple[int, Outcome], ...]:
    number = int(run.key.part)
    if isinstance(run.said, CancelRequested):
        return (w.cancelled(number),)
    attempt = state.tasks[number - 1].attempts + 1
    bad = (w.stuck(number, asked=attempt), w.stuck(number, w.NO_CHANGE, asked=attempt), w.fell_over(number))
    task = state.tasks[number - 1]
    made = task.start if task.done_before and attempt == 1 else f"c{number}-{attempt}"
    return (w.makes(number, made), *bad)


def _views(name: str, run: RunAgent, state: WorkflowState) -> tuple[Event, ...]:
    """One after the other: in which order they speak makes no difference."""
    look = state.look or next(each for each in state.looks if each.number == run.key.attempt)
    if run.brief.own.view != look.open[0]:
        return ()
    if run.brief.own.view != "delivery":
        return (w.passes(),)
    if run.key.step == "light":
        return (w.passes(), w.refuses(w.FORBIDDEN)) if name != "attended" else (w.passes(),)
    warned = (w.passes(w.WARNING), w.refuses(w.WARNING)) if name == "attended" else ()
    return (w.passes(), w.refuses(w.BLOCKER), w.refuses(), w.CRASHED, *warned)


def reachable(name: str) -> Walk[WorkflowState]:
    def bounded(state: WorkflowState) -> Iterator[Event]:
        for action in WORKFLOW.decide(state):
            for letter in answers_to(name, action, state):
                if not _too_much(name, state, letter):
                    yield with_key(letter, action.key)
        if where(state) not in ("CANCEL", "CLEAN_UP", "DONE") and not state.course.asked and state.rounds < 2:
            yield w.CANCEL

    return walk(WORKFLOW, STARTS[name](), bounded)


def _too_much(name: str, state: WorkflowState, event: Event) -> bool:
    """Accidents happen once or twice on every path, and a person goes on once or twice."""
    trouble = state.failures + state.course.asked + len(state.course.gates) + state.rounds // 2
    match event:
        case Answered(choice="continue"):
            return state.course.asked > 1
        case GateDecided():
            return state.course.held_tries > 0
        case _:
            return _is_accident(event) and trouble >= (2 if name in ("one", "waves") else 1)


def _is_accident(event: Event) -> bool:
    match event:
        case LoopEnded():
            return event.outcome.ending in (Ending.ESCALATED, Ending.FAILED)
        case Combined():
            return bool(event.left_out)
        case ChecksReported():
            return bool(event.results and (faults_of(event) or event.held))
        case AgentReported():
            return bool(event.report.findings) or event.report.verdict is Verdict.FAIL
        case _:
            return isinstance(event, AgentFailed | IntegrationRefused)


@cache
def walked_by(name: str) -> Walk[WorkflowState]:
    return reachable(name)


@pytest.fixture(scope="module", params=STARTS)
def walked(request: pytest.FixtureRequest) -> Walk[WorkflowState]:
    return walked_by(request.param)


def test_something_is_always_wanted_and_only_stop_is_the_end(walked: Walk[WorkflowState]) -> None:
    before = {id(step.before) for step in walked.steps if step.after != step.before}
    for state in walked.states:
        actions = WORKFLOW.decide(state)
        assert actions, state
        assert len({action.key for action in actions}) == len(actions), state
        stops = [action for action in actions if isinstance(action, Stop)]
        assert bool(stops) == (state.course.station is Station.DONE), state
        assert all(isinstance(action, AwaitGate) for action in actions[1:]) or not stops, state
        assert stops or id(state) in before, state
        alone = [action for action in actions if isinstance(action, Ask | Integrate | Combine | RunChecks)]
        assert sum(action.key.step != "start" for action in alone) <= 1, state


def test_a_key_names_one_try_for_ever(walked: Walk[WorkflowState]) -> None:
    check_keys(WORKFLOW, walked)


def test_what_answers_nothing_is_refused(walked: Walk[WorkflowState]) -> None:
    check_refusals(WORKFLOW, walked.states)


def test_every_state_can_be_stored(walked: Walk[WorkflowState]) -> None:
    check_round_trip(WorkflowState, walked.states[::50])


def test_no_more_is_begun_than_may_end(walked: Walk[WorkflowState]) -> None:
    for state in walked.states:
        if where(state) == WorkflowPhase.EXECUTE:
            assert state.iterations + len(state.running) <= (state.allowance.iterations or 0), state
        for number, task in enumerate(state.tasks):
            places = [number in each for each in (state.ready, state.running, state.counsel, state.train, state.idle)]
            if where(state) == WorkflowPhase.EXECUTE:
                waits = task.standing is TaskStanding.PENDING and not is_free(state.tasks, task)
                assert sum(places) == (task.standing not in _ELSEWHERE and not waits), state


def test_what_is_counted_is_what_is_there(walked: Walk[WorkflowState]) -> None:
    for state in walked.states:
        done = [task.standing is TaskStanding.DONE for task in state.tasks]
        assert state.done == sum(done), state
        for wave, left in enumerate(state.open_in_wave, start=1):
            assert left == sum(task.wave == wave and not over for task, over in zip(state.tasks, done, strict=True))


def test_nothing_has_landed_that_did_not_pass_as_it_landed(walked: Walk[WorkflowState]) -> None:
    for step in walked.steps:
        before, after = step.before, step.after
        if before.tip != after.tip and before.course.station is None:
            assert isinstance(step.event, Integrated), step
            assert before.passed, step
            assert after.whole == before.merged == before.course.candidate, step
        if before.passed != after.passed and after.passed:
            assert isinstance(step.event, ChecksReported), step
            assert not faults_of(step.event), step
        if len(after.promised) > len(before.promised):
            assert before.passed or before.tasks[before.train[0]].as_it_is, step


def test_nothing_ends_as_verified_with_anything_open(walked: Walk[WorkflowState]) -> None:
    ends = 0
    for state in walked.states:
        for action in WORKFLOW.decide(state):
            if isinstance(action, Stop) and action.outcome.ending is Ending.VERIFIED:
                ends += 1
                assert state.done == len(state.tasks), state
                assert state.thorough is not None, state
                assert (state.thorough.passed, state.thorough.commit) == (True, state.tip), state
                assert state.shipped in ("SHIP", "MONITOR"), state
                assert all(task.over for task in state.tasks), state
                assert not state.course.accepted, state
    assert ends


def test_no_path_leads_from_a_red_last_verification_to_an_end_without_another(walked: Walk[WorkflowState]) -> None:
    following: dict[int, list[Step[WorkflowState]]] = {}
    for step in walked.steps:
        following.setdefault(id(step.before), []).append(step)
    ahead = [
        step.after
        for step in walked.steps
        if c_verify(step.before) and isinstance(step.event, ChecksReported) and faults_of(step.event)
    ]
    assert ahead
    seen: set[int] = set()
    while ahead:
        state = ahead.pop()
        if id(state) in seen:
            continue
        seen.add(id(state))
        for action in WORKFLOW.decide(state):
            assert not (isinstance(action, Stop) and action.outcome.ending is Ending.VERIFIED), state
        ahead += [step.after for step in following.get(id(state), ()) if not c_verify(step.before)]


def c_verify(state: WorkflowState) -> bool:
    return where(state) == WorkflowPhase.VERIFY


@pytest.mark.parametrize("name", ["one", "panel"])
def test_no_path_leads_from_what_must_not_be_to_a_pass_unless_a_person_goes_on(name: str) -> None:
    check_last_no_stands(WORKFLOW, walked_by(name), lambda step: step.after.stopped is Stopped.MUST_NOT)


def test_who_is_cancelled_ends_so(walked: Walk[WorkflowState]) -> None:
    for state in walked.states:
        if state.course.station is Station.DONE and state.course.outcome and state.course.cancel is not None:
            assert state.course.outcome.ending is Ending.CANCELLED or state.course.landed, state


def test_the_table_is_the_one_on_record(golden: Callable[[str, str], None]) -> None:
    first, *others = (walked_by(name) for name in STARTS)
    golden("loops/workflow-table.txt", table(sum(others, first), _name, _said))


def _name(state: WorkflowState) -> str:
    return f"{where(state)} {state.stopped.value}" if state.stopped else where(state)


def _said(event: Event) -> str:
    match event:
        case LoopEnded():
            return f"a task's loop: {event.outcome.ending.value}"
        case AgentReported():
            return f"{event.key.step}: {event.report.verdict.value if event.report.verdict else 'done'}"
        case AgentFailed():
            return f"{event.key.step}: {event.reason}"
        case ChecksReported():
            held = " with changes held back" if event.held else ""
            return f"{event.key.step}: {'red' if faults_of(event) else 'green'}{held}"
        case Combined():
            return "combined, with a conflict" if event.left_out else "combined"
        case IntegrationRefused():
            return f"{event.key.step} refused: {event.reason}"
        case Answered():
            return f"a person: {event.choice}"
        case GateDecided():
            return f"gate {'approved' if event.approved else 'rejected'}"
        case Integrated():
            return event.key.step
        case _:
            return type(event).__name__
