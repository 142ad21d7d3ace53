"""A workflow while it runs: rows on a terminal, and the lines that are news in a pipe."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from loopwright.app.kinds import KINDS
from loopwright.cli.live_lanes import LanesView
from loopwright.cli.plain import PlainLines
from loopwright.engine.world import Seen
from loopwright.kernel.events import (
    ChecksReported,
    Combined,
    Integrated,
    Logged,
    LoopEnded,
    Started,
)
from loopwright.kernel.model import CheckResult, Commit, Conflict, Ending, Finding, Key, LoopId, Outcome, Severity, Tree
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackPhase, FeedbackState
from loopwright.loops.workflow.state import WorkflowState
from tests.cli.test_looking import Golden
from tests.rooms.workflow.states import at_work, begun, done, planned

ROOT = LoopId("do-things-1")
STATE = begun(done(begun(at_work(planned(1), planned(2, 1), planned(3, 1), planned(4, 2, 3))), 0))
RED = Finding(severity=Severity.HIGH, file="a.py", issue="it is wrong", evidence="x")


def of_root(event: Logged, state: WorkflowState = STATE) -> Seen:
    return Seen(loop=ROOT, kind="workflow", state=state, event=event, seq=1, status="running")


def of_part(number: int, event: Logged, phase: FeedbackPhase) -> Seen:
    params = FeedbackParams(task=f"T-{number:03}: Do thing {number}", base=Commit("b"), lands=False)
    state: FeedbackState = replace(FEEDBACK.start(params), phase=phase)
    state = replace(state, course=replace(state.course, station=None))
    return Seen(loop=LoopId(f"part-{number}"), kind="feedback", state=state, event=event, seq=1, status="running")


def agent(step: str, role: str) -> Started:
    return Started(key=Key.parse(f"{step}-1.1"), action="RunAgent", what=role)


def below(view: LanesView, width: int) -> list[str]:
    shown = io.StringIO()
    Console(file=shown, width=width, height=24, color_system=None).print(view.render())
    return [line[2:].rstrip() for line in shown.getvalue().splitlines()]


def test_every_task_under_way_has_a_row_and_every_other_says_what_it_waits_for(golden: Golden) -> None:
    text = io.StringIO()
    view = LanesView(lambda: 0.0, KINDS, Console(file=text, width=80, height=24, color_system=None))
    view.recorded(of_root(Started(key=Key.parse("task-1-2.0"), action="RunLoop", what="T-002", why="Do thing 2")))
    view.recorded(of_part(2, agent("implement", "developer"), FeedbackPhase.IMPLEMENT))
    view.recorded(of_part(3, Started(key=Key.parse("checks-1"), action="RunChecks"), FeedbackPhase.TEST))
    view.recorded(of_root(agent("light", "reviewer")))
    golden("cli/live-workflow.txt", "\n".join(below(view, 80)) + "\n")
    assert text.getvalue() == ""  # that a task begins is told by its row, that a review does is no news


@pytest.mark.parametrize("width", [30, 40, 50, 60])
def test_a_narrow_terminal_cuts_the_subject_of_a_task_and_never_its_id(width: int) -> None:
    view = LanesView(lambda: 0.0, KINDS, Console(file=io.StringIO(), width=width, height=24, color_system=None))
    view.recorded(of_root(agent("light", "reviewer")))
    view.recorded(of_part(2, agent("implement", "developer"), FeedbackPhase.IMPLEMENT))
    view.recorded(of_part(3, agent("implement", "developer"), FeedbackPhase.CHECKPOINT_TESTS))
    rows = below(view, width)
    assert [row[:6] for row in rows[:3]] == ["T-002:", "T-003:", "T-004:"]
    assert [word in row for word, row in zip(("being made", "being kept", "waits"), rows, strict=False)] == [True] * 3


def test_what_the_whole_does_itself_is_in_the_last_line_until_it_is_done() -> None:
    view = LanesView(lambda: 0.0, KINDS, Console(file=io.StringIO(), width=120, height=24, color_system=None))
    combine = Key.parse("combine-1")
    view.recorded(of_root(Started(key=combine, action="Combine")))
    assert "bringing changes together" in below(view, 120)[-1]
    view.recorded(of_root(Combined(key=combine, commit=Commit("c"), files=1)))
    assert "bringing changes together" not in below(view, 120)[-1]


def told(*events: Logged) -> list[str]:
    lines: list[str] = []
    plain = PlainLines(lines.append, lambda: 0.0, KINDS, only_news=True)
    for event in events:
        plain.recorded(of_root(event))
    return [line[11:] for line in lines]


def test_in_a_pipe_a_task_is_told_when_it_begins_and_when_it_is_about_to_land() -> None:
    task, combine, checks, land = map(Key.parse, ("task-1-2.0", "combine-1", "checks-1", "land-task-1"))
    passed = ChecksReported(key=checks, tree=Tree("t"), results=(CheckResult(name="test", passed=True),))
    assert told(
        Started(key=task, action="RunLoop", what="T-002", why="Do thing 2"),
        LoopEnded(key=task, outcome=Outcome(ending=Ending.VERIFIED)),
        Started(key=combine, action="Combine", why="T-002 is brought together with what has landed"),
        Combined(key=combine, commit=Commit("c"), files=1),
        Started(key=checks, action="RunChecks", why="T-002 on the merged tree"),
        passed,
        Started(key=land, action="Integrate", why="T-002 passes together with what has landed"),
        Integrated(key=land, branch="loop/x", commit=Commit("c")),
    ) == [
        "task-1-2.0      loop of T-002 goes on: Do thing 2",
        "land-task-1     landing: T-002 passes together with what has landed",
    ]


def test_in_a_pipe_what_goes_wrong_is_told() -> None:
    task, combine, checks = map(Key.parse, ("task-1-2.0", "combine-1", "checks-1"))
    also = tuple(CheckResult(name=f"T-{number:03}", passed=number != 4) for number in range(1, 5))
    stuck = Outcome(ending=Ending.ESCALATED, note="1 of 1 iteration is used", findings=(RED, RED))
    conflict = Conflict(commit=Commit("d"), paths=("a.py",))
    assert told(
        LoopEnded(key=task, outcome=stuck),
        Combined(key=combine, commit=Commit("c"), files=1, left_out=(Commit("d"),), conflicts=(conflict,)),
        ChecksReported(key=checks, tree=Tree("t"), results=(CheckResult(name="test", passed=True),), also=also),
    ) == [
        "task-1-2.0      stuck: a.py - it is wrong and 1 other",
        "combine-1       combined as c, 1 file changed, 1 conflicting change left out",
        "checks-1        checks: FAIL (test passed; 3 commands passed; verify T-004 failed, 0 failures)",
    ]
