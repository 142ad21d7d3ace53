import io
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from loopwright.app.kinds import KINDS
from loopwright.cli.live import LiveView, details, style_of
from loopwright.cli.plain import event_line, is_news
from loopwright.cli.screen import in_words
from loopwright.engine.world import Seen
from loopwright.kernel.events import (
    AgentReported,
    Answered,
    Checkpointed,
    ChecksReported,
    Ended,
    Logged,
    Paused,
    Started,
    StateEdited,
)
from loopwright.kernel.model import (
    NOTHING_YET,
    AgentReport,
    CheckResult,
    Commit,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.wording import told
from loopwright.loops.feedback.state import FeedbackParams, start
from loopwright.loops.queue.state import QueueParams
from loopwright.ports.agent import Update
from loopwright.ports.store import LoopRow
from tests.rooms.lifecycle.stories import PLAN as SYSTEM

Golden = Callable[[str, str], None]
LOOP = LoopId("make-it-good-1")
STATE = start(FeedbackParams(task="Make it good", base=Commit("b1")))
WRONG = tuple(Finding(severity=Severity.HIGH, issue=f"wrong {n} \x1b[8m", file="a.py", line=n) for n in range(1, 6))
ROW = LoopRow(
    id=LOOP,
    kind="feedback",
    params="{}",
    parent=None,
    status="running",
    seq=1,
    fence=1,
    created=0.0,
    updated=0.0,
    budget=25.0,
    spent=1.5,
    reserved=0.5,
)


def drawn(*events: Logged | Update) -> tuple[str, str]:
    """What scrolled by, and what the last lines show."""
    screen = io.StringIO()
    console = Console(file=screen, width=100, color_system=None, force_terminal=False)
    view = LiveView(lambda: 0.0, KINDS, console)
    view.screen.money(ROW)
    for number, event in enumerate(events):
        if isinstance(event, Update):
            view.progressed(event)
        else:
            view.recorded(Seen(loop=LOOP, kind="feedback", state=STATE, event=event, seq=number, status="running"))
    below = io.StringIO()
    Console(file=below, width=100, color_system=None).print(view.render())
    return screen.getvalue(), below.getvalue()


def test_the_last_lines_show_the_step_its_iteration_cost_and_output() -> None:
    started = Started(key=Key.parse("implement-1.1"), action="RunAgent", what="developer")
    said = Update(loop=LOOP, key=started.key, text="compiling\x1b]52;c;evil\x07")
    scrolled, below = drawn(started, said)
    assert scrolled == ""
    lines = [line.rstrip() for line in below.splitlines()]
    told = "iteration 1/5 · developer is working · 0:00 · $1.50 (+$0.50 reserved) of $25.00 · no sandbox"
    assert lines[0][2:] == told
    assert lines[1] == "  │ compiling\\x1b]52;c;evil\\x07"


def test_a_count_without_a_limit_names_none() -> None:
    view = LiveView(lambda: 0.0, KINDS, Console(file=io.StringIO(), width=100, force_terminal=False))
    view.screen.money(ROW)
    started = Started(key=Key.parse("skill-1.1"), action="RunAgent", what="skill")
    state = KINDS["lifecycle"].loop.start(SYSTEM)
    view.recorded(Seen(loop=LOOP, kind="lifecycle", state=state, event=started, seq=1, status="running"))
    below = io.StringIO()
    Console(file=below, width=100, color_system=None).print(view.render())
    assert below.getvalue()[2:].startswith("transition 0 · skill is working")


def test_a_line_tells_what_a_silent_run_was_charged() -> None:
    silent = AgentReported(key=Key.parse("implement-1.1"), report=AgentReport(summary="done"))
    one = Seen(loop=LOOP, kind="feedback", state=STATE, event=silent, seq=3, status="running", spend=1.0)
    assert event_line(one, 0.0, KINDS).endswith("developer: done, ~$1.00")


def test_what_is_written_into_a_record_is_no_news_of_its_own() -> None:
    screen = io.StringIO()
    view = LiveView(lambda: 0.0, KINDS, Console(file=screen, width=100, force_terminal=False))
    state = KINDS["queue"].loop.start(QueueParams(domain="shop"))
    said = StateEdited(subject="sys-001", value="{}")
    view.recorded(Seen(loop=LoopId("queue-shop"), kind="queue", state=state, event=said, seq=2, status="waiting"))
    assert screen.getvalue() == ""


def test_a_cost_that_is_a_guess_is_marked() -> None:
    view = LiveView(lambda: 0.0, KINDS, Console(file=io.StringIO()))
    view.screen.money(replace(ROW, estimated=True))
    assert view.screen.cost == "~$1.50 (+$0.50 reserved) of $25.00"


def test_a_step_that_ended_is_told_and_no_longer_shown(golden: Golden) -> None:
    review = AgentReported(key=Key.parse("review-1.1"), report=AgentReport(verdict=Verdict.FAIL, findings=WRONG))
    check = CheckResult(name="test", passed=False, failures=WRONG[:1], tests=3)
    scrolled, below = drawn(
        Started(key=Key.parse("implement-1.1"), action="RunAgent", what="developer"),
        AgentReported(key=Key.parse("implement-1.1"), report=AgentReport(summary="done \x1b[2J")),
        Started(key=Key.parse("checkpoint-1"), action="Checkpoint"),
        Checkpointed(key=Key.parse("checkpoint-1"), commit=Commit("c1"), tree=Tree("t1"), files=1),
        Started(key=Key.parse("gate-protected-1"), action="AwaitGate", what="protected", why="a test was changed"),
        review,
        ChecksReported(key=Key.parse("checks-1.1"), tree=Tree("t1"), results=(check,)),
        Answered(key=Key.parse("escalation-1"), choice="continue", by="ann"),
        Paused(reason="budget", detail="spent"),
        Ended(outcome=Outcome(ending=Ending.VERIFIED, attempts=1)),
    )
    assert below.strip() == ""
    assert "\x1b" not in scrolled
    golden("cli/live.txt", "\n".join(line.rstrip() for line in scrolled.splitlines()) + "\n")


def test_a_command_of_a_task_that_failed_is_told_in_red() -> None:
    unmet = CheckResult(name="T-001", passed=False, failures=WRONG[:1])
    passed = CheckResult(name="test", passed=True, tests=3)
    event = ChecksReported(key=Key.parse("checks-1.1"), tree=Tree("t1"), results=(passed,), also=(unmet,))
    assert [line.strip() for line in details(event)] == [f"- {told(WRONG[0], 200)}"]
    seen = Seen(loop=LOOP, kind="feedback", state=STATE, event=event, seq=1, status="running")
    assert style_of(seen, KINDS) == "red"
    met = replace(event, also=(replace(unmet, passed=True, failures=()),))
    assert style_of(replace(seen, event=met), KINDS) == "green"
    on_base = replace(event, key=Key("preflight"))
    assert style_of(replace(seen, event=on_base), KINDS) == "bold red"  # before anybody was paid


def style(event: Logged, kind: str = "feedback") -> str:
    return style_of(Seen(loop=LOOP, kind=kind, state=STATE, event=event, seq=1, status="running"), KINDS)


def test_checks_have_the_colour_of_the_word_that_is_told_of_them() -> None:
    passed = CheckResult(name="test", passed=True, tests=3)
    event = ChecksReported(key=Key.parse("checks-1.1"), tree=Tree("t1"), results=(passed,))
    landing = replace(event, landing=(replace(passed, passed=False),))
    remark = replace(event, findings=(replace(WRONG[0], severity=Severity.LOW),))
    nothing = replace(event, results=(replace(passed, tests=0, note=NOTHING_YET),))
    assert [style(each) for each in (event, landing, remark, nothing)] == ["green", "red", "green", ""]
    assert style(replace(event, findings=WRONG)) == "red"
    told_of = [
        is_news(Seen(loop=LOOP, kind="workflow", state=STATE, event=each, seq=1, status="running"), KINDS)
        for each in (event, landing)
    ]
    assert told_of == [False, True]


@pytest.mark.parametrize(
    ("kind", "line", "colour"),
    [
        ("lifecycle", "INIT → SCAFFOLD", ""),
        ("lifecycle", "skill memory-manager: done by the engine", ""),
        ("lifecycle", "TEST → FAILED", "red"),
        ("lifecycle", "FAILED → RETRY", ""),
        ("lifecycle", "RETRY → BLOCKED", "red"),
        ("lifecycle", "SHIP → COMPLETE", "green"),
        ("quality", "CHECK_PASSED: CHECK_BLOCKED", "green"),
        ("quality", "QUALITY_BLOCKED: a.py", "red"),
        ("tickets", "APPROVE: T-1", "green"),
        ("tickets", "ROUTE_BACK: T-1", "red"),
        ("tickets", "ESCALATE: T-1", "red"),
        ("workflow", "scored by rule: spec 7 of 10", ""),
    ],
)
def test_of_what_is_announced_a_no_is_red_a_yes_green_and_the_rest_plain(kind: str, line: str, colour: str) -> None:
    assert style(Started(key=Key.parse("move-1"), action="Announce", what=line), kind) == colour


def test_what_a_judge_remarks_beside_its_yes_is_not_red() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=100, force_terminal=True, color_system="standard", _environ={})
    view = LiveView(lambda: 0.0, KINDS, console)
    for verdict in (Verdict.PASS, Verdict.FAIL):
        report = AgentReport(verdict=verdict, findings=(replace(WRONG[0], severity=Severity.LOW),))
        review = AgentReported(key=Key.parse("review-1.1"), report=report)
        view.recorded(Seen(loop=LOOP, kind="feedback", state=STATE, event=review, seq=1, status="running"))
    assert ["\x1b[31m" in line for line in screen.getvalue().splitlines()] == [False, False, True, True]


def test_the_view_steps_aside_and_comes_back() -> None:
    screen = io.StringIO()
    view = LiveView(lambda: 0.0, KINDS, Console(file=screen, force_terminal=True))
    with view.screen:
        with view.screen.aside():
            shown = len(screen.getvalue())
            view.screen.console.file.write("> ")
        assert len(screen.getvalue()) > shown


def test_nothing_draws_behind_the_back_of_what_scrolls_by() -> None:
    view = LiveView(lambda: 0.0, KINDS, Console(file=io.StringIO(), force_terminal=True))
    before = threading.active_count()
    with view.screen:
        view.screen.refresh()
        assert threading.active_count() == before


def test_time_as_people_read_it() -> None:
    assert [in_words(seconds) for seconds in (0, 61.9, 3600 + 62)] == ["0:00", "1:01", "1:01:02"]
