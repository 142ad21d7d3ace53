"""The completion gate and the landing at the end: what ships, what is to be watched, and what is mended first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loopwright.kernel.actions import Announce, Ask, Integrate, RunAgent
from loopwright.kernel.events import AgentReported, ChecksReported, Event
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.gates import UNSHOWN
from loopwright.kernel.model import NO_KEY, AgentReport, CheckResult, Demand, Ending, Tree, Verdict
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.shape import ShapeCriterion
from loopwright.loops.workflow.state import Stopped, WorkflowPhase, WorkflowState
from tests.loops.workflow import (
    BLOCKER,
    CONFLICT,
    CRASHED,
    FORBIDDEN,
    GREEN,
    LANDED,
    RED,
    RED_MERGE,
    REFUSED,
    SAID,
    TOOL,
    WARNING,
    At,
    at_work,
    checked,
    combined,
    does,
    keys,
    landed,
    makes,
    outcome,
    passes,
    planned,
    plans,
    play,
    refuses,
    says,
    scores,
    seen,
    shapes,
    ships,
    task,
    thoroughly,
    wanted,
    workflow,
)


def agents(state: WorkflowState) -> list[RunAgent]:
    return [each for each in WORKFLOW.decide(state) if isinstance(each, RunAgent)]


def reviewed(*answers: Event, **given: Any) -> WorkflowState:  # noqa: ANN401 - as `planned`
    """One task is done, each view has said this, and the checks measure all that has to hold."""
    state = planned(**given)
    assert state.shape is not None
    state = replace(state, shape=replace(state.shape, criteria=(ShapeCriterion("All checks pass"),)))
    return play(state, *does(1), *seen(), *thoroughly(*answers))


# --- the completion gate --------------------------------------------------------------------------------------------


def at_the_gate(**given: object) -> WorkflowState:
    return play(reviewed(also_cast=("gate",), **given), GREEN)


def test_without_a_gate_what_is_verified_ships() -> None:
    state = play(reviewed(), GREEN)
    assert wanted(state, Announce).text == "the thorough review and every command have passed: SHIP"
    state = play(state, SAID)
    assert (state.shipped, where(state)) == ("SHIP", Station.LAND)
    assert outcome(play(state, LANDED)).ending is Ending.VERIFIED


@pytest.mark.parametrize(
    ("said", "word", "place"),
    [
        (ships(), "SHIP", Station.LAND),
        (ships(reversibility="1"), "MONITOR", Station.LAND),
        (ships(confidence=70), "SHIP", Station.LAND),
        (ships(confidence=69), "RESEARCH", WorkflowPhase.SHIP),
        (refuses(BLOCKER, ship={"confidence": 90}), "RESEARCH", WorkflowPhase.EXECUTE),
        (refuses(BLOCKER), "RESEARCH", WorkflowPhase.EXECUTE),
    ],
)
def test_the_gate_ships_monitors_or_fails(said: AgentReported, word: str, place: str) -> None:
    state = play(at_the_gate(), said)
    assert (state.shipped, where(state)) == (word, place)


def test_a_gate_that_fails_makes_tasks_and_all_is_reviewed_again() -> None:
    state = play(at_the_gate(), refuses(BLOCKER, WARNING, ship={}))
    assert [each.origin for each in state.tasks] == ["plan", "gate", "gate"]
    state = play(state, *does(2), *does(3), *seen(), *thoroughly(), GREEN, ships(), LANDED)
    assert outcome(state).ending is Ending.VERIFIED


@pytest.mark.parametrize("second", [ships(), ships(10), refuses(ship={})])
def test_a_gate_that_does_not_say_why_is_asked_once_and_stays_a_no(second: AgentReported) -> None:
    state = play(at_the_gate(), refuses(ship={}))
    assert keys(state) == ["ship-3.2"]
    state = play(state, second)
    assert (at_work(state), state.shipped) == (["T-002"], "RESEARCH")


def test_what_the_gate_says_without_a_finding_is_in_the_task() -> None:
    state = play(at_the_gate(), ships(40), ships(40))
    assert state.tasks[1].plan.description.startswith("Found: The completion gate says RESEARCH (confidence 40)")
    state = play(at_the_gate(), refuses(ship={}), refuses(ship={}))
    assert state.tasks[1].plan.description.startswith("Found: The completion gate says RESEARCH (no reason given)")


def test_a_pass_of_the_gate_without_its_card_is_asked_for_once_and_then_a_person() -> None:
    state = play(at_the_gate(), passes())
    assert keys(state) == ["ship-3.2"]
    state = play(state, passes())
    assert (state.stopped, keys(play(state, says("continue")))) == (Stopped.STUCK, ["ship-4.3"])
    assert play(at_the_gate(), CRASHED, CRASHED).stopped is Stopped.STUCK


def test_what_must_not_be_and_the_gate_sees_stops_everything() -> None:
    state = play(at_the_gate(), refuses(FORBIDDEN, ship={}))
    assert (state.stopped, at_work(play(state, says("continue")))) == (Stopped.MUST_NOT, ["T-002"])


def last_word(*criteria: str, verified: ChecksReported = GREEN, **row: object) -> str:
    """On the card, where nobody plays the gate."""
    state = workflow(cast=("scorer", "shaper", "planner"))
    rows = [{"criterion": "1", **row}] if row else []
    state = play(state, scores(TOOL), shapes(*criteria, verification=rows), plans(task(1)))
    state = play(state, *does(1), *seen())
    state = play(state, *seen(step="thorough", views=state.look.views if state.look else ()), verified)
    assert wanted(state, Announce).text.endswith(play(state, SAID).shipped)
    return play(state, SAID).shipped


def test_work_that_only_reviewers_have_seen_is_to_be_watched() -> None:
    assert last_word("Coverage is above 80 %") == "MONITOR"
    assert last_word("It holds", type="code review") == "MONITOR"
    assert last_word("It holds", type="execution output") == "MONITOR"
    assert last_word("All tests pass", "It is merged") == "SHIP"
    assert last_word("All tests pass", "Coverage is above 80 %") == "MONITOR"


@pytest.mark.parametrize(("red_before", "word"), [(True, "SHIP"), (False, "MONITOR"), (None, "MONITOR")])
def test_a_criterion_is_shown_by_a_command_that_failed_before_the_work(red_before: bool | None, word: str) -> None:  # noqa: FBT001 - a parameter of a test
    met = checked(also=(CheckResult(name="criterion-1", passed=True, red_before=red_before),))
    assert last_word("It holds", verified=met, type="execution output", command=["make", "holds"]) == word


# --- landing --------------------------------------------------------------------------------------------------------


def shipped(**given: object) -> WorkflowState:
    return play(reviewed(**given), GREEN, SAID)


def test_it_lands_on_the_target_only_if_that_was_asked_for() -> None:
    assert wanted(shipped(target="refs/heads/main"), Integrate).target == ""
    action = wanted(shipped(target="refs/heads/main", merge=True, branch="loop/x"), Integrate)
    assert (action.target, action.branch, action.commit, action.base, action.also) == (
        "refs/heads/main",
        "loop/x",
        "m-tip-1",
        "tip-1",
        (Demand("T-001", ("make", "part-1")),),
    )


IN_FORCE = Trust(in_force=True)
GUARDED = replace(GREEN, lands=Tree("t"), evidence=Evidence(level=Level.GUARDED))
SHOWN = replace(GREEN, lands=Tree("t"), evidence=Evidence(level=Level.SHOWN))


def unshown(*, merge: bool = True, trust: Trust = IN_FORCE) -> WorkflowState:
    """Two tasks that no test shows; the maker of the second says why."""
    state = planned(task(1), task(2, 1), target="refs/heads/main", merge=merge)
    state = replace(state, plan=replace(state.plan, trust=trust))
    for made in (makes(1), makes(2, no_test="it is faster")):
        state = play(state, made, combined(), GUARDED, landed(), *seen())
    return play(state, *thoroughly(), GUARDED)


def with_evidence(*levels: Level | None) -> WorkflowState:
    """Tasks one after the other, each landed with so much to show for it; without a level, with nothing."""
    state = planned(*(task(number, *((number - 1,) if number > 1 else ())) for number in range(1, len(levels) + 1)))
    for number, level in enumerate(levels, start=1):
        report = replace(GREEN, lands=Tree("t"), evidence=Evidence(level=level) if level else None)
        state = play(state, makes(number), combined(), report, landed(), *seen())
    return state


@pytest.mark.parametrize(("report", "reasons"), [(GUARDED, ("it is faster",)), (SHOWN, ())])
def test_the_evidence_has_the_reason_why_no_test_shows_a_task(report: ChecksReported, reasons: tuple[str, ...]) -> None:
    state = planned(task(1), target="refs/heads/main")
    state = play(state, makes(1, no_test="it is faster."), combined(), report, landed(), *seen())
    assert state.course.evidence is not None
    assert state.course.evidence.no_test == reasons


@pytest.mark.parametrize(
    ("levels", "level", "parts"),
    [
        ((Level.SHOWN, Level.GUARDED, Level.SHOWN), Level.GUARDED, ("T-002",)),
        ((Level.GUARDED, Level.SHOWN, Level.GUARDED), Level.GUARDED, ("T-001", "T-003")),
        ((Level.UNTESTED, Level.GUARDED), Level.UNTESTED, ("T-001",)),
        ((Level.SHOWN, None), Level.NOT_SHOWN, ("T-002",)),
        ((None, Level.SHOWN), Level.NOT_SHOWN, ("T-001",)),
        ((Level.SHOWN, Level.SHOWN), Level.SHOWN, ()),
    ],
)
def test_a_workflow_in_flight_is_shown_as_far_as_the_least_of_its_tasks(
    levels: tuple[Level | None, ...], level: Level, parts: tuple[str, ...]
) -> None:
    evidence = with_evidence(*levels).course.evidence
    assert evidence is not None
    assert (evidence.level, evidence.parts) == (level, parts)


def test_tasks_without_evidence_leave_the_whole_without() -> None:
    assert with_evidence(None, None).course.evidence is None


def test_a_task_that_does_not_land_says_nothing_of_the_whole() -> None:
    state = planned(task(1), task(2, 1))
    state = play(state, makes(1), combined(), SHOWN, landed(), *seen(), makes(2), combined())
    assert play(state, replace(GUARDED, results=checked(red=(RED,)).results)).course.evidence == SHOWN.evidence
    assert play(state, GUARDED).course.evidence == Evidence(level=Level.GUARDED, parts=("T-002",))


def test_what_a_person_accepts_is_shown_as_far_as_the_least_of_its_tasks() -> None:
    state = planned(task(1), task(2, 1), task(3, 2), max_iterations=2)
    for number, report in ((1, GUARDED), (2, SHOWN)):
        state = play(state, makes(number), combined(), report, landed(), *seen())
    evidence = outcome(play(state, says("accept"), LANDED)).evidence
    assert evidence is not None
    assert (evidence.level, evidence.parts) == (Level.GUARDED, ("T-001",))


def test_a_merge_waits_once_for_all_tasks_that_no_test_shows() -> None:
    state = unshown()
    (gate,) = state.course.open_gates
    assert (where(state), gate.gate, gate.why) == (
        Station.GATE,
        UNSHOWN,
        'no test tells these changes from the base: T-001, T-002 ("it is faster")',
    )


@pytest.mark.parametrize(
    ("about", "report", "expected"),
    [
        ("tests", GUARDED, [UNSHOWN]),
        ("tests", replace(GUARDED, same_product=True), []),
        ("cleanup", GUARDED, []),
        ("cleanup", replace(GUARDED, alters_code=True), [UNSHOWN]),
    ],
)
def test_a_merge_waits_for_a_task_about_tests_or_a_clean_up_that_does_more(
    about: str, report: ChecksReported, expected: list[str]
) -> None:
    state = planned({**task(1), "about": about}, target="refs/heads/main", merge=True)
    state = replace(state, plan=replace(state.plan, trust=IN_FORCE))
    state = play(state, makes(1), combined(), report, landed(), *seen())
    assert [each.gate for each in play(state, *thoroughly(), GUARDED).course.open_gates] == expected


def test_unshown_tasks_hold_up_nothing_else() -> None:
    assert where(unshown(merge=False)) == WorkflowPhase.SHIP
    assert where(unshown(trust=Trust(in_force=True, keeps_behaviour=True))) == WorkflowPhase.SHIP


def test_a_conflict_with_the_target_becomes_a_task_on_what_it_has() -> None:
    state = play(shipped(merge=True), CONFLICT)
    assert (at_work(state), state.tip, state.ground, state.tasks[1].plan.files) == (
        ["T-002"],
        "theirs",
        "theirs",
        ("a",),
    )
    assert "make the work of commit tip-1 again on top of it" in state.tasks[1].plan.description


def test_a_red_merge_with_the_target_becomes_a_task_that_begins_with_both() -> None:
    state = play(shipped(merge=True), RED_MERGE)
    assert (at_work(state), state.tip, state.ground) == (["T-002"], "both", "theirs")
    bare = play(shipped(merge=True), replace(CONFLICT, findings=(), detail=""))
    assert bare.tasks[1].plan.files == ()
    state = play(state, *does(2))
    state = play(state, *[At("light", passes())] * len(agents(state)), *thoroughly(), GREEN, SAID, LANDED)
    assert outcome(state).ending is Ending.VERIFIED


def test_a_landing_that_cannot_be_is_a_persons_matter() -> None:
    state = play(shipped(), REFUSED)
    ask = wanted(state, Ask)
    assert (state.stopped, [each.choice for each in ask.options]) == (
        Stopped.LANDING,
        ["continue", "accept", "history", "cancel"],
    )
    again = play(state, says("continue"))
    assert (where(again), outcome(play(again, LANDED)).ending) == (Station.LAND, Ending.VERIFIED)
    assert outcome(play(state, says("accept"), LANDED)).ending is Ending.ACCEPTED


def test_a_gate_that_passes_it_with_a_critical_finding_has_not_passed_it() -> None:
    state = play(planned(also_cast=("gate",)), *does(1), *seen(), *thoroughly(), At("verify", GREEN))
    card = '{"ship": {"confidence": 95, "reversibility": "2B"}}'
    passed = AgentReport(verdict=Verdict.PASS, findings=(BLOCKER,), extras=card)
    state = play(state, At("ship", AgentReported(key=NO_KEY, report=passed, role="gate")))
    assert (state.shipped, [task.plan.subject for task in state.tasks][1:]) == ("RESEARCH", ["Mend: it leaks"])
