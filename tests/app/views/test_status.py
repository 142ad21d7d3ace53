from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.app.views import status
from loopwright.app.views.needs import Choice, Need
from loopwright.app.views.standing import is_at_rest
from loopwright.app.views.status import Failures, Landed, LoopStatus
from loopwright.engine.fold import Flight
from loopwright.kernel.actions import Ask, AwaitGate, Exhibit, Option, WaitUntil
from loopwright.kernel.codec import encode, plain
from loopwright.kernel.events import Paused, SessionMarked, Started
from loopwright.kernel.evidence import Evidence, Level, Witness
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import NO_COMMIT, NO_KEY, AgentStatus, Commit, Key, LoopId, Question
from loopwright.kernel.record import Record
from loopwright.kernel.risks import Risk
from loopwright.loops.feedback.state import FeedbackState
from loopwright.ports.people import Waiting
from loopwright.ports.store import Status
from tests.app.views import seen
from tests.app.views.seen import Still
from tests.rooms.feedback.stories import (
    ESCALATED,
    FAILED_REVIEW,
    LOOP,
    STORIES,
    compliant,
    implemented,
    kept_with_protected,
    passing,
    played,
    row,
)

SHIP = Standpoint(state="SHIP", attempt=1, limit=1)
WAIT = WaitUntil(key=Key.parse("wait-1"), when=1.0)
FLIGHT = Flight(key=WAIT.key, step="s", reserved=0.0)
AT_GATE = played(implemented("x"), kept_with_protected, compliant, passing)


def shown(state: FeedbackState, word: Status = "running", *, alive: bool = True) -> LoopStatus:
    outcome = encode(state.course.outcome) if state.course.outcome else ""
    short = replace(state, plan=replace(state.plan, task="Add a filter"))
    gates = {"protected": "approved"} if state.course.approved else {}
    return seen.shown(seen.seen(short, row(word, outcome=outcome)), gates, alive=alive)


def test_the_evidence_and_whose_word_it_rests_on_are_lines_of_the_status() -> None:
    state = played(*FAILED_REVIEW)
    assert "Evidence" not in status.human(shown(state))
    witnesses = tuple(Witness(id=f"t::{n}", check="test", fails_on_base="assertion") for n in range(1, 5))
    seen_so = Evidence(level=Level.SHOWN, witnesses=witnesses, decisions=("unshown change approved by kim",))
    lines = status.human(shown(replace(state, course=replace(state.course, evidence=seen_so)))).splitlines()
    assert lines[6:8] == [
        "Evidence: shown by t::1 (fails on base), t::2 (fails on base), t::3 (fails on base) and 1 more",
        "Rests on a person's word: unshown change approved by kim",
    ]


def test_the_evidence_of_a_loop_that_has_ended_is_that_of_its_result() -> None:
    state = STORIES["verified"]
    assert state.course.outcome is not None
    ended = replace(state.course.outcome, evidence=Evidence(level=Level.GUARDED, decisions=("approved by kim",)))
    data = shown(replace(state, course=replace(state.course, outcome=ended)), "complete")
    assert data.evidence is not None
    assert (data.evidence.level, data.evidence.decisions) == (Level.GUARDED, ("approved by kim",))


def test_a_running_loop_as_the_format_has_it() -> None:
    assert plain(shown(played(*FAILED_REVIEW))) == {
        "id": "fb-1",
        "kind": "feedback",
        "parent": None,
        "status": "running",
        "evidence": None,
        "outcome": None,
        "task": "Add a filter",
        "system": None,
        "state": "IMPLEMENT",
        "capability": None,
        "attempt": 2,
        "limit": 5,
        "failures": {"count": 1, "total": 1, "resolved": 0},
        "gates": {},
        "cost": {"usd": 2.5, "estimated": False, "reserved": 0.5, "budget": 25.0},
        "tasks": None,
        "needs": [],
        "next": {
            "action": "run_agent",
            "role": "developer",
            "key": "implement-2.1",
            "why": "iteration 1 failed: review failed with 2 issues",
        },
        "last_activity": "2026-01-17T10:30:00Z",
        "result": None,
        "counter": "iteration",
        "superseded": [],
    }


def test_a_verified_loop_has_its_result_and_wants_nothing() -> None:
    data = shown(STORIES["verified"], "complete")
    assert (data.outcome, data.needs, data.next) == ("verified", (), None)
    assert data.failures == Failures(count=0, total=2, resolved=2)
    assert data.result == Landed(commit="c" * 40, branch="loop/fb-1", merged_into="", note="", attempts=3)


def test_an_escalation_is_a_question_with_a_command_for_every_option() -> None:
    why = "; ".join(ESCALATED.course.reasons)
    assert shown(ESCALATED, "waiting").needs == (
        Need(
            kind="escalation",
            loop=LOOP,
            path=(LOOP,),
            what=f"The feedback loop stopped: {why}. How should it go on?",
            why=why,
            command="loop answer continue 3",
            choices=(
                Choice(label="Continue", command="loop answer continue 3"),
                Choice(label="Accept current state", command="loop answer accept"),
                Choice(label="Review iteration history", command="loop answer history"),
                Choice(label="Cancel feature", command="loop answer cancel"),
                Choice(label="Revise the approach", command='loop answer revise --text "new guidance"'),
            ),
        ),
    )


def test_an_open_gate_is_pending_and_its_command_names_the_evidence() -> None:
    data = shown(AT_GATE, "waiting")
    name = AT_GATE.course.open_gates[0].evidence
    assert data.gates == {"protected": "pending"}
    assert data.needs == (
        Need(
            kind="gate",
            loop=LOOP,
            path=(LOOP,),
            id=name,
            what="protected",
            why="protected files were changed; until a person approves, the base versions run"
            " (tests/test_filter.py changed)",
            command=f"loop approve protected@{name}",
            choices=(
                Choice(label="Approve", command=f"loop approve protected@{name}"),
                Choice(label="Reject", command=f'loop reject protected@{name} --reason "why"'),
            ),
        ),
    )


def test_a_question_of_the_developer_is_answered_with_text() -> None:
    state = played(implemented("Which order?", status=AgentStatus.NEEDS_CLARIFICATION))
    assert shown(state, "waiting").needs[0].command == 'loop answer "your answer"'


def test_a_question_about_files_says_where_they_are_shown() -> None:
    exhibit = Exhibit(task="t", commit=Commit("h"), paths=("tests/test_a.py",), base=Commit("b"), candidate=Commit("c"))
    what = Ask(key=Key.parse("question-1"), question="Right?", exhibit=exhibit, why="they fail")
    (need,) = seen.shown(seen.seen(Still(here=SHIP, wants=(what,)), row("waiting"))).needs
    assert need.why.startswith("they fail; see the task, tests/test_a.py and the change with `loop explain --loop ")


def test_each_of_several_questions_keeps_its_own_options_and_impact() -> None:
    order = Question(question="Which order?", options=("up", "down"), impact="the list")
    colour = Question(question="Which colour?", options=("red",), impact="the looks")
    plain = Question(question="Anything else?")

    def asked(*questions: Question, options: tuple[Option, ...] = ()) -> LoopStatus:
        said = "\n".join(q.question for q in questions)
        what = Ask(key=Key.parse("clarify-1"), question=said, questions=questions, options=options)
        return seen.shown(seen.seen(Still(here=SHIP, wants=(what,)), row("waiting")))

    (need,) = asked(order, colour, plain).needs
    assert (need.questions, need.options, need.impact) == ((order, colour, plain), (), "")
    assert (
        "  Question 1: Which order?\n  Options: up, down\n  Impact: the list\n"
        "  Question 2: Which colour?\n  Options: red\n  Impact: the looks\n"
        "  Question 3: Anything else?\n"
    ) in status.human(asked(order, colour, plain))
    (alone,) = asked(order).needs
    assert (alone.options, alone.impact) == (("up", "down"), "the list")
    assert "  Question" not in status.human(asked(order))
    assert (need.command, alone.command) == ('loop answer "1: …; 2: …"', 'loop answer "your answer"')
    offered = (Option(choice="answer", label="Answer the question"), Option(choice="cancel", label="Cancel"))
    assert (
        '  loop answer "1: …; 2: …"  Answer all of them in one\n  loop answer cancel        Cancel\n'
    ) in status.human(asked(order, colour, options=offered))
    assert '  loop answer "your answer"  Answer the question\n' in status.human(asked(order, options=offered))


def test_a_gate_that_rules_called_for_says_where() -> None:
    found = Risk(gate="security", rule="secrets", file="src/a.py", line=3, text="password = 1")
    gate = AwaitGate(
        key=Key.parse("gate"), gate="security", commit=NO_COMMIT, evidence="e", because=(), why="due", reasons=(found,)
    )
    (need,) = seen.shown(seen.seen(Still(here=SHIP, wants=(gate,)), row("waiting"))).needs
    assert need.why == "due (src/a.py:3 secrets)"


def test_a_gate_and_a_question_without_details_still_have_a_command() -> None:
    wants = (
        Ask(key=Key.parse("ask-1"), question="What now?"),
        AwaitGate(key=Key.parse("gate-1"), gate="deploy", commit=NO_COMMIT, evidence="e", because=(), why="always due"),
    )
    data = seen.shown(seen.seen(Still(here=SHIP, wants=wants), row("waiting")))
    assert [(need.command, need.why) for need in data.needs] == [
        ('loop answer "your answer"', ""),
        ("loop approve deploy@e", "always due"),
    ]


def test_work_that_nobody_does_beside_an_open_gate_has_the_command_that_goes_on() -> None:
    wants = (
        WaitUntil(key=Key.parse("wait-1"), when=1.0),
        AwaitGate(key=Key.parse("gate-1"), gate="deploy", commit=NO_COMMIT, evidence="e", because=(), why="always due"),
    )
    view = seen.seen(Still(here=SHIP, wants=wants), row("waiting"))
    idle = seen.shown(view, alive=False).needs
    assert [(need.kind, need.command) for need in idle] == [("gate", "loop approve deploy@e"), ("fix", "loop resume")]
    assert [need.kind for need in seen.shown(view, alive=True).needs] == ["gate"]


def test_what_a_part_waits_for_is_told_with_the_way_to_it() -> None:
    path = (LoopId("a"), LoopId("a.1"), LoopId("a.1.2"))
    waiting = (Waiting(path=path, what=Ask(key=Key.parse("ask-1"), question="What now?")),)
    data = status.build(seen.seen(Still(here=SHIP), row("waiting")), waiting, {}, alive=True)
    assert [(need.loop, need.path) for need in data.needs] == [(path[-1], path)]
    assert "Needs you (question in a.1 > a.1.2): What now?\n" in status.human(data)


def test_of_several_questions_below_one_root_each_command_names_its_loop_and_the_root_waits() -> None:
    gate = AwaitGate(key=Key.parse("gate"), gate="taste", commit=NO_COMMIT, evidence="e" * 64, because=())
    asked = [Waiting(path=(LOOP, LoopId(part)), what=Ask(key=Key.parse("ask-1"), question="Which?")) for part in "ab"]
    waiting = (*asked, Waiting(path=(LOOP, LoopId("a")), what=gate))
    data = status.build(seen.seen(Still(here=SHIP), row()), waiting, {}, alive=False)
    commands = [need.command for need in data.needs]
    assert commands[:2] == ['loop answer "your answer" --loop a', 'loop answer "your answer" --loop b']
    assert (data.status, commands[2]) == ("waiting", "loop approve taste@" + "e" * 64)
    assert [need.command for need in status.named_commands(data).needs][:2] == commands[:2]
    paused = status.build(seen.seen(Still(here=SHIP), row("paused")), waiting, {}, alive=False)
    assert [need.kind for need in paused.needs] == ["question", "question", "gate", "fix"]
    part = replace(row("paused"), parent=LoopId("root"))
    assert status.build(seen.seen(Still(here=SHIP), part), (), {}, alive=False).needs == ()


@pytest.mark.parametrize(
    ("word", "alive", "expected", "commands"),
    [
        ("running", True, "running", []),
        ("running", False, "interrupted", ["loop resume"]),
        ("paused", False, "paused", ["loop resume --budget USD"]),
        ("blocked", False, "blocked", ["loop explain"]),
        ("waiting", False, "waiting", []),
    ],
)
def test_what_stopped_it_decides_what_it_needs(
    *, word: Status, alive: bool, expected: str, commands: list[str]
) -> None:
    data = shown(played(), word, alive=alive)
    assert data.status == expected
    assert [need.command for need in data.needs] == commands


def marks(*said: SessionMarked | Started) -> list[Record]:
    return [
        Record(loop=LoopId("a"), seq=number, at=0.0, kind=type(each).__name__, data=encode(each))
        for number, each in enumerate(said, start=1)
    ]


@pytest.mark.parametrize(
    ("said", "rests"),
    [
        ((), True),
        ((Started(key=NO_KEY, action="RunAgent"),), False),
        ((SessionMarked(mark="began"),), False),
        ((SessionMarked(mark="began"), SessionMarked(mark="ended", why="cap")), True),
        ((SessionMarked(mark="began"), SessionMarked(mark="ended", why="interrupted")), False),
        ((SessionMarked(mark="ended", why="cap"), SessionMarked(mark="began")), False),
    ],
)
def test_a_session_that_came_to_its_end_was_not_interrupted(
    said: tuple[SessionMarked | Started, ...], *, rests: bool
) -> None:
    assert is_at_rest(marks(*said)) is rests


def test_a_loop_at_rest_is_paused_and_says_how_it_goes_on() -> None:
    found = status.rested(replace(one("a"), status="interrupted"))
    (need,) = found.needs
    assert (found.status, need.kind, need.what) == ("paused", "fix", "go on with `loop run` or `loop next`")
    assert (need.why, [each.command for each in need.choices]) == (
        f"it stands in {found.state}; nobody drives it",
        ["loop run", "loop next"],
    )
    answered = replace(need, what="answered", command="loop resume")
    assert status.rested(replace(found, needs=(answered,))).needs == (answered,)


def test_a_pause_tells_the_numbers() -> None:
    with_budget, without = (
        seen.shown(seen.seen(played(), one), alive=False).needs[0].why
        for one in (row("paused"), replace(row("paused"), budget=None))
    )
    assert with_budget == "a limit was reached: $2.50 spent and $0.50 reserved of $25.00"
    assert without == "a limit was reached: $2.50 spent and $0.50 reserved"


@pytest.mark.parametrize(
    ("paused", "why", "command", "label"),
    [
        (
            Paused(reason="budget", detail="budget of loop a: the next step reserves $1.00"),
            "a limit was reached: budget of loop a: the next step reserves $1.00",
            "loop resume --budget USD",
            "Go on, with more than the $25.00 it has",
        ),
        (
            Paused(reason="time", detail="60 of 60 seconds"),
            "a limit was reached: 60 of 60 seconds",
            "loop resume",
            "Go on, once a longer `wall` is in loop.toml",
        ),
        (
            Paused(reason="tokens"),
            "a limit was reached: $2.50 spent and $0.50 reserved of $25.00",
            "loop resume",
            "Go on, once more `tokens` are in loop.toml",
        ),
    ],
)
def test_a_pause_names_only_what_goes_on_from_it(paused: Paused, why: str, command: str, label: str) -> None:
    data = status.build(seen.seen(played(), row("paused")), (), {}, alive=False, paused=paused)
    (need,) = data.needs
    assert (need.why, need.command) == (why, command)
    assert [(choice.command, choice.label) for choice in need.choices] == [(command, label)]


@pytest.mark.parametrize(("word", "attempt"), [("running", 4), ("paused", 3), ("complete", 3)])
def test_of_a_loop_that_counts_what_ended_no_attempt_is_under_way_while_it_stands_still(
    word: Status, attempt: int
) -> None:
    assert status.shown_attempt(Standpoint(state="X", attempt=4, limit=9, ended=3), row(word)) == attempt


def test_what_was_spent_is_marked_where_some_of_it_is_a_guess() -> None:
    data = seen.shown(seen.seen(played(), replace(row("paused"), estimated=True)), alive=False)
    assert data.cost == status.Cost(usd=2.5, estimated=True, reserved=0.5, budget=25.0)
    assert data.needs[0].why == "a limit was reached: ~$2.50 spent and $0.50 reserved of $25.00"


def test_gates_of_two_parts_with_the_same_evidence_are_told_apart_by_their_loops() -> None:
    gate = AwaitGate(key=Key.parse("gate"), gate="taste", commit=NO_COMMIT, evidence="e1", because=())
    waiting = tuple(Waiting(path=(LOOP, LoopId(part)), what=gate) for part in "ab")
    data = status.build(seen.seen(Still(here=SHIP), row()), waiting, {}, alive=False)
    assert [need.command for need in data.needs][:2] == [
        "loop approve taste@e1 --loop a",
        "loop approve taste@e1 --loop b",
    ]


def test_a_loop_about_no_task_and_with_nothing_to_do() -> None:
    data = seen.shown(seen.seen(Still(here=SHIP), row(params="{}")))
    assert (data.task, data.next) == ("", None)


def test_what_it_cost_says_whether_some_of_it_is_estimated() -> None:
    cost = status.Cost(usd=1.2, estimated=True, reserved=0.0, budget=None)
    assert "\nCost: ~$1.20\n" in status.human(replace(shown(played()), cost=cost))


def test_the_five_lines_and_then_what_is_needed(golden: Callable[[str, str], None]) -> None:
    approved = shown(STORIES["verified"], "complete")
    blocks = [
        shown(played(*FAILED_REVIEW)),
        shown(ESCALATED, "waiting"),
        shown(AT_GATE, "waiting"),
        replace(approved, gates={"protected": "approved", "security": "rejected"}),
        shown(played(), alive=False),
    ]
    golden("texts/status.txt", "\n".join(status.human(block) for block in blocks))


def test_a_merge_that_did_not_happen_is_told() -> None:
    data = shown(STORIES["verified"], "complete")
    assert data.result is not None
    left = replace(data, result=replace(data.result, not_merged="dirty", note="not merged into main: dirty"))
    assert status.human(left).endswith("\nNot merged: not merged into main: dirty\n")
    merged = replace(data, result=replace(data.result, merged_into="refs/heads/main"))
    assert status.human(merged).endswith(f"\nResult: merged into main ({data.result.commit[:12]})\n")
    gone = replace(data, status="cancelled", outcome="cancelled", result=replace(data.result, branch=""))
    assert status.human(gone).splitlines()[1].endswith(", cancelled)")
    assert "Result" not in status.human(gone)
    assert "complete, verified" in status.human(data)


def one(name: str, parent: str | None = None, *, needs: bool = False) -> LoopStatus:
    state = ESCALATED if needs else played()
    data = shown(state, "waiting" if needs else "running")
    asked = tuple(replace(need, loop=LoopId(name)) for need in data.needs)
    return replace(data, id=LoopId(name), parent=LoopId(parent) if parent else None, needs=asked)


def test_those_that_need_a_person_come_first_and_children_after_their_parent() -> None:
    loops = [one("d"), one("c-1", "c"), one("c-1-1", "c-1"), one("c", needs=True), one("b"), one("orphan", "gone")]
    ordered = status.document(loops).loops
    assert [loop.id for loop in ordered] == ["c", "c-1", "c-1-1", "d", "b", "orphan"]
    assert ordered[0].needs[0].command == "loop answer continue 3"


def test_where_several_need_a_person_the_commands_name_their_loop() -> None:
    loops = status.document([one("b", needs=True), one("a", needs=True)]).loops
    assert [loop.needs[0].command for loop in loops] == [
        "loop answer continue 3 --loop b",
        "loop answer continue 3 --loop a",
    ]
    assert loops[0].needs[0].choices[1].command == "loop answer accept --loop b"


def test_a_part_in_the_midst_of_nothing_waits_with_the_loop_above_it() -> None:
    root, part = one("a", needs=True), replace(one("a-1", "a"), status="interrupted")
    held = seen.seen(Still(here=SHIP, wants=(WAIT,)), row())
    under_way = replace(held, opened=replace(held.opened, now=replace(held.now, flights=(FLIGHT,))))
    assert status.beside(part, root, held).status == "waiting"
    assert status.beside(part, root, under_way).status == "interrupted"
    assert status.beside(part, replace(root, status="interrupted"), held).status == "interrupted"


def test_parts_are_counted_once_and_only_those_that_ask_are_blocked() -> None:
    asks, held = one("a-1", "a", needs=True), replace(one("a-2", "a"), status="waiting", next=None)
    passed = [replace(one(name, "a"), status="complete", outcome="verified") for name in ("a-3", "a-4")]
    root = replace(one("a", needs=True), superseded=(LoopId("a-3"),))
    assert status.parts_line(root, [asks, held, *passed]) == "1 blocked, 1 waiting, 1 passed"
    assert status.parts_line(root, [replace(held, next=asks.next), one("a-5", "a")]) == "1 blocked, 1 under way"


def test_one_loop_is_shown_with_all_below_it_and_nothing_beside() -> None:
    loops = status.document([one("b"), one("a.1.1", "a.1"), one("a.1", "a"), one("a")])
    assert [loop.id for loop in status.only(loops, LoopId("a")).loops] == ["a", "a.1", "a.1.1"]
    assert [loop.id for loop in status.only(loops, LoopId("a.1")).loops] == ["a.1", "a.1.1"]
