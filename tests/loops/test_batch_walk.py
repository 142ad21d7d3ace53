"""All reachable states of small batches: barriers, keys, endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

import pytest

from loopwright.kernel.actions import Action, Ask, CleanUp, Combine, Integrate, RunChecks, RunLoop, Stop
from loopwright.kernel.events import (
    Answered,
    CancelRequested,
    ChecksReported,
    Combined,
    Event,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.model import NO_KEY, NO_POINT, Ending, Outcome
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import (
    ArtifactStanding,
    BatchPhase,
    BatchState,
    failing,
    is_landed,
    of_standing,
    stuck,
)
from loopwright.loops.course import Station, where
from tests.loops import batch as b
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

LAST = 2  # reviews of a child before it asks


def child_answers(run: RunLoop, state: BatchState) -> Iterator[Outcome]:
    """Everything a child's loop can come to, given where it stands and what it is told."""
    index = int(run.key.part) - 1
    item = state.items[index]
    number, review = index + 1, item.at.attempt
    letters = [] if state.again else [b.fell_over(number)]  # what follows a landing anew is walked without accidents
    if isinstance(run.said, CancelRequested):
        letters = [b.cancelled(number), b.passed(number, f"c{number}", attempts=review)]
    elif isinstance(run.said, Answered) and run.said.choice == "accept":
        letters = [b.accepted(number, f"c{number}"), b.asks(number, review, asked=review)]
    elif run.key.step == "review":
        letters += [b.passed(number, f"c{number}" if review > 1 else "base", attempts=review)]
        letters += [b.waits(number, review + 1), b.blocked(number, review)] if review < LAST else []
        letters += [b.asks(number, review, asked=review)] if review >= LAST else []
    else:
        letters += [b.waits(number, review + 1), b.asks(number, review, asked=review)]
    yield from (outcome for _, outcome in letters)


def answers_to(action: Action, state: BatchState) -> Iterator[Event]:
    match action:
        case RunLoop():
            yield from (LoopEnded(key=action.key, outcome=outcome) for outcome in child_answers(action, state))
        case Ask():
            said = (b.says("continue", count=1), b.says("accept"), b.says("revise", text="x"), b.says("cancel"))
            offered = {option.choice for option in action.options}
            yield from (with_key(each, action.key) for each in said if each.choice in offered)
        case Combine():
            yield with_key(b.combined(), action.key)
            yield with_key(b.conflicting(*action.commits[1:]), action.key)
            yield with_key(b.combined("base", files=0), action.key)
        case Integrate():
            yield with_key(b.LANDED, action.key)
            yield from (with_key(each, action.key) for each in (b.REFUSED, b.CONFLICT, b.RED_MERGE))
        case RunChecks():
            yield from (with_key(b.checked(passed=passed), action.key) for passed in (True, False))
        case CleanUp():
            yield with_key(b.CLEANED, action.key)
        case _:
            assert isinstance(action, Stop)


@cache
def reachable(many: int, *, checked: bool = False) -> Walk[BatchState]:
    def bounded(state: BatchState) -> Iterator[Event]:
        for action in BATCH.decide(state):
            yield from (event for event in answers_to(action, state) if not _too_much(state, event))
        if where(state) not in (BatchPhase.CANCEL, Station.CLEAN_UP, Station.DONE) and not state.course.asked:
            yield CancelRequested()

    return walk(BATCH, b.batch(many, checked=checked), bounded)


def _too_much(state: BatchState, event: Event) -> bool:
    match event:
        case Answered(choice="continue" | "revise"):
            return state.course.asked >= (1 if state.again else 2)
        case ChecksReported() if not event.results[0].passed:
            return state.course.asked >= (2 if state.course.accepted else 1) or state.again >= 1
        case IntegrationRefused() | Combined(conflicts=(_, *_)):
            return state.course.asked >= 1 or state.again >= 1
        case _:
            return False


lazily = partial(partial, reachable)  # each is walked by whoever asks for it


def walks() -> dict[str, partial[Walk[BatchState]]]:
    return {"one": lazily(1), "two": lazily(2), "checked": lazily(1, checked=True)}


@pytest.fixture(scope="module", params=walks())
def walked(request: pytest.FixtureRequest) -> Walk[BatchState]:
    return walks()[request.param]()


def test_something_is_always_wanted_and_only_stop_is_the_end(walked: Walk[BatchState]) -> None:
    before = {id(step.before) for step in walked.steps if step.after != step.before}
    for state in walked.states:
        actions = BATCH.decide(state)
        assert actions, state
        assert len({action.key for action in actions}) == len(actions), state
        assert isinstance(actions[0], Stop) == (id(state) not in before), state
        assert len(actions) == 1 or all(isinstance(action, RunLoop) for action in actions), state


def test_no_path_leads_from_a_part_that_is_stuck_to_a_pass(walked: Walk[BatchState]) -> None:
    def is_stuck(step: Step[BatchState]) -> bool:
        return isinstance(step.event, LoopEnded) and step.event.outcome.ending is Ending.ESCALATED

    check_last_no_stands(BATCH, walked, is_stuck)


def test_a_key_names_one_try_for_ever(walked: Walk[BatchState]) -> None:
    check_keys(BATCH, walked)


def test_what_answers_nothing_is_refused(walked: Walk[BatchState]) -> None:
    check_refusals(BATCH, walked.states)


def test_every_state_can_be_stored(walked: Walk[BatchState]) -> None:
    check_round_trip(BatchState, walked.states[::20])


def test_reviews_and_fixes_are_never_under_way_at_once(walked: Walk[BatchState]) -> None:
    for state in walked.states:
        kinds = Counter(run.key.step for run in b.runs(state))
        assert len(kinds) <= 1, state
        if where(state) == BatchPhase.REVIEW:
            assert set(state.todo) <= set(of_standing(state, ArtifactStanding.PENDING)), state
        if where(state) == BatchPhase.FIX:
            assert set(state.todo) >= set(of_standing(state, ArtifactStanding.BLOCKED)), state


def test_a_child_that_has_ended_is_never_driven_again(walked: Walk[BatchState]) -> None:
    for state in walked.states:
        assert not any(item.over for index, item in enumerate(state.items) if index in state.todo), state


def test_an_answer_carries_the_key_of_the_question_it_answers(walked: Walk[BatchState]) -> None:
    for state in walked.states:
        for run in b.runs(state):
            index = int(run.key.part) - 1
            assert not isinstance(run.said, Answered) or run.said.key == state.items[index].asking != NO_KEY, state


def test_verified_means_that_all_passed_and_all_fixes_are_landed(walked: Walk[BatchState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.DONE):
        done = b.outcome(state)
        assert [part.name for part in done.parts] == [item.path for item in state.items], state
        if done.ending.is_passed:
            assert not stuck(state), state
            assert is_landed(state), state
            assert {part.ending for part in done.parts} == {Ending.REVIEWED}, state
            assert (done.ending is Ending.VERIFIED) == state.verified, state
        assert (done.cleanup is not None) == (done.ending is Ending.CANCELLED), state


def test_what_ended_well_stays_so_and_rounds_only_go_up(walked: Walk[BatchState]) -> None:
    for step in walked.steps:
        assert (step.before.round, step.before.course.asked) <= (step.after.round, step.after.course.asked), step
        for old, new in zip(step.before.items, step.after.items, strict=True):
            assert old.attempts <= new.attempts, step
            if old.over and old.before == new.before:
                assert new.over, step
                assert new.standing in (old.standing, ArtifactStanding.CONFLICT), step
            if old.before != new.before:  # it passed in vain, and a new loop goes on from there
                assert (old.standing, new.standing) == (ArtifactStanding.PASSED, ArtifactStanding.BLOCKED), step
                assert (old.over, new.over, new.before[-1]) == (True, False, old.loop), step


def test_a_cancelled_batch_never_works_again(walked: Walk[BatchState]) -> None:
    for step in walked.steps:
        if step.before.course.cancel is not None:
            assert where(step.after) in (Station.LAND, BatchPhase.CANCEL, Station.CLEAN_UP, Station.DONE), step


def test_what_lands_has_run_the_checks_or_was_seen_to_fail(walked: Walk[BatchState]) -> None:
    for state in (state for state in walked.states if where(state) == Station.LAND):
        assert state.verified or failing(state) or not state.plan.checked, state


def test_the_table_of_transitions(golden: Callable[[str, str], None]) -> None:
    first, *others = (each() for each in walks().values())
    golden("loops/batch-table.txt", table(sum(others, first), where, said))


def said(event: Event) -> str:
    match event:
        case LoopEnded(outcome=outcome):
            where = f" at {outcome.at.state}" if outcome.at != NO_POINT else ""
            return f"LoopEnded {outcome.ending}{where}"
        case Answered():
            return f"Answered {event.choice}"
        case _:
            return type(event).__name__


def test_keys_name_the_round_the_question_and_the_artifact() -> None:
    assert [str(run.key) for run in b.runs(b.batch(2))] == ["review-1-1.0", "review-1-2.0"]
