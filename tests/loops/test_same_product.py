"""Changes that leave the code as it was: comments, formatting, texts. For a task about code they are no change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunAgent, Stop
from loopwright.kernel.events import AgentReported, ChecksReported
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import NO_KEY, AgentReport, Commit, Ending, Severity, Tree, Verdict
from loopwright.kernel.trust import Claim
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.closing import sentence
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.parts import NO_CHANGE, TaskFacts, larger
from loopwright.loops.tickets.state import TicketsState
from tests.loops import feedback as f
from tests.loops import tickets as t
from tests.loops import verified as v

SAME = replace(v.LANDS, same_product=True)
RED_TOO = replace(SAME, results=f.red(f.FAILURE).results)
GUARDED = replace(v.LANDS, evidence=Evidence(level=Level.GUARDED))  # by what earlier parts of the work changed
DONE_BEFORE = TaskFacts(task_id="T-002", request="Sell more", done_before=True)
ABOUT = pytest.mark.parametrize(
    ("planned", "reviewed", "asks"),
    [
        ("", "", True),
        ("code", "", True),
        ("code", "text", True),  # the plan's word stands
        ("", "code", True),
        ("", "text", False),
        ("text", "", False),
        ("tests", "", False),
        ("cleanup", "code", False),
    ],
)


def passes(about: str) -> AgentReported:
    return AgentReported(key=NO_KEY, report=AgentReport(verdict=Verdict.PASS, about=about))


def feedback(*, about: str = "", task: str = "add retry", **given: object) -> FeedbackState:
    plan = replace(f.params(), task=task, about=about, trust=v.PART, **given)  # type: ignore[arg-type]
    return FEEDBACK.start(plan)


# --- feedback


@ABOUT
def test_a_person_is_asked_about_a_change_of_comments_for_a_task_about_code(
    planned: str,
    reviewed: str,
    asks: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    state = f.play(feedback(about=planned), f.DONE, f.saved("c1"), passes(reviewed), SAME)
    assert where(state) == (Station.ESCALATED if asks else Station.LAND)
    assert ("it may be done already" in f.wanted(state, Ask).question) if asks else f.wanted(state, Integrate)


@pytest.mark.parametrize(("path", "kind"), [("README.md", "text"), ("tests/test_more.py", "tests")])
def test_a_person_hears_what_changed_and_how_to_say_that_it_is_the_work(path: str, kind: str) -> None:
    saved, report = replace(f.saved("c1"), paths=(path,)), replace(SAME, written=("tests/test_more.py",))
    state = f.play(feedback(), f.DONE, saved, passes(""), report)
    asked = f.wanted(state, Ask)
    assert f"only {path} changed" in asked.question
    assert f"`--about {kind}`" in asked.question
    assert path in next(each.label for each in asked.options if each.choice == "accept")
    assert [each.severity for each in state.past[-1].issues] == [Severity.LOW]
    assert sentence(state.past[-1]).endswith(f"; it changed no code ({path})")
    taken = f.play(state, f.says("accept"), report, f.LANDED).course.outcome
    assert (taken and taken.findings) == ()
    ticket = t.play(tickets(), t.MADE, replace(t.saved("c1"), paths=(path,)), passes(""), report)
    assert f"`--about {kind}`" in t.wanted(ticket, Ask).question


def test_a_loop_that_was_to_merge_offers_to_accept_with_and_without_it() -> None:
    state = feedback(merge=True, target="refs/heads/main")
    state = f.play(state, f.DONE, replace(f.saved("c1"), paths=("README.md",)), passes(""), SAME)
    offers = [(each.label, each.how) for each in f.wanted(state, Ask).options if each.choice == "accept"]
    what = "Accept what changed: README.md"
    assert offers == [(f"{what} and leave it on a branch", ""), (f"{what} and merge it into main", "accept --merge")]


WAITED_FOR = [
    replace(SAME, held=v.BENT, nothing_else=True),
    replace(SAME, held=v.BENT, shared_versions=("setup.py",)),
    replace(SAME, claim=Claim(changes=v.BENT, at_once=True)),
]


@pytest.mark.parametrize("report", WAITED_FOR)
def test_a_change_that_only_a_person_can_allow_is_asked_about_as_such(report: ChecksReported) -> None:
    state = f.play(feedback(about="code"), f.DONE, f.saved("c1"), passes(""), report)
    assert f.wanted(state, AwaitGate).gate == "protected"


def test_a_held_back_file_that_the_task_names_is_asked_about_as_such() -> None:
    report = replace(SAME, held=v.BENT)
    state = feedback(about="code", task=f"change {v.BENT[0].path}")
    state = f.play(state, f.DONE, f.saved("c1"), passes(""), report)
    assert f.wanted(state, AwaitGate).gate == "protected"


def test_work_that_keeps_behaviour_may_leave_the_code_as_it_was() -> None:
    keeping = replace(v.PART, keeps_behaviour=True)
    state = FEEDBACK.start(replace(feedback(about="code").plan, trust=keeping))
    assert where(f.play(state, f.DONE, f.saved("c1"), passes(""), SAME)) == Station.LAND
    ticket = tickets(about="code", trust=keeping)
    assert where(t.play(ticket, t.MADE, t.saved("c1"), passes(""), SAME)) == "VERDICT"


def test_a_person_may_accept_a_change_of_comments() -> None:
    state = f.play(feedback(), f.DONE, f.saved("c1"), passes(""), SAME, f.says("accept"), SAME)
    assert f.wanted(state, Integrate).commit == "c1"


def test_after_the_first_attempt_a_change_of_comments_is_a_failed_one() -> None:
    second = replace(f.saved("c2"), tree=Tree("other"))
    state = f.play(feedback(), f.DONE, f.saved("c1"), f.fails(f.ISSUE), f.DONE, second, passes(""), SAME)
    assert (f.keys(state), [each.rule for each in state.past[-1].issues]) == (["implement-3.1"], [NO_CHANGE])
    assert state.review_failures == 2


def test_red_checks_are_told_before_anything_else() -> None:
    state = f.play(feedback(), f.DONE, f.saved("c1"), passes(""), RED_TOO)
    assert (f.keys(state), state.past[-1].failures) == (["implement-2.1"], (f.FAILURE,))


def test_a_file_that_the_task_names_is_what_it_asks_for() -> None:
    named = replace(f.saved("c1"), paths=("docs/usage.md",))
    state = f.play(feedback(task="write docs/usage.md"), f.DONE, named, passes(""), SAME)
    assert where(state) == Station.LAND
    state = f.play(feedback(task="write docs/usage.md", about="code"), f.DONE, named, passes(""), SAME)
    assert where(state) == Station.ESCALATED


def test_what_an_earlier_part_has_done_is_reviewed_and_checked_and_made_by_nobody() -> None:
    state = feedback(part=DONE_BEFORE, lands=False)
    run = f.wanted(state, RunAgent)
    assert (run.role, run.start, run.brief.own) == ("reviewer", "base", DONE_BEFORE)
    (stop,) = FEEDBACK.decide(f.play(state, f.passes(), GUARDED))
    assert isinstance(stop, Stop)
    assert (stop.outcome.ending, stop.outcome.commit) == (Ending.VERIFIED, "base")
    state = f.play(state, f.fails(f.ISSUE))
    assert (f.developer(state).brief.findings, f.developer(state).start) == ((f.ISSUE,), "base")


def test_comments_alone_may_land_where_the_work_keeps_the_behaviour() -> None:
    plan = replace(f.params(), trust=replace(v.PART, keeps_behaviour=True))
    state = f.play(FEEDBACK.start(plan), f.DONE, f.saved("c1"), passes("code"), SAME)
    assert f.wanted(state, Integrate).commit == "c1"
    ticket = t.play(tickets(trust=plan.trust), t.MADE, t.saved("c1"), passes("code"), SAME)
    assert where(ticket) == "VERDICT"


# --- tickets


def tickets(*, about: str = "", **given: object) -> TicketsState:
    return t.session(**{"about": about, "trust": v.PART, "firm": True, **given})


@ABOUT
def test_a_ticket_about_code_that_changed_comments_asks_whether_it_was_done(
    planned: str,
    reviewed: str,
    asks: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    state = t.play(tickets(about=planned), t.MADE, t.saved("c1"), passes(reviewed), SAME)
    assert where(state) == (Station.CLARIFY if asks else "VERDICT")
    if asks:
        assert "Was it done already?" in t.wanted(state, Ask).question
        judged = t.play(state, t.says("done"), t.passes(), SAME, t.SAID)
        assert (t.decisions(judged), where(judged)) == (["APPROVE"], "LAND")


def test_a_ticket_of_a_part_that_changed_comments_tells_its_parent_that_nothing_changed() -> None:
    state = t.play(tickets(lands=False, max=1), t.MADE, t.saved("c1"), passes(""), SAME, t.SAID)
    assert [each.rule for each in t.wanted(state, Ask).findings] == ["no-change"]


def test_what_an_earlier_part_has_done_is_criticised_and_checked_and_created_by_nobody() -> None:
    state = tickets(part=DONE_BEFORE, lands=False, max=1)
    assert t.wanted(state, RunAgent).role == "critic"
    outcome = t.wanted(t.play(state, t.passes(), GUARDED, t.SAID), Stop).outcome
    assert (outcome.ending, outcome.commit) == (Ending.VERIFIED, Commit("base"))
    state = t.play(state, t.fails(t.ALPHA), v.LANDS, t.SAID, t.says("continue", count=1))
    assert t.creator(state).start == "base"


def test_who_judges_what_an_earlier_part_has_done_is_told_so() -> None:
    assert any("## Done by an earlier part" in each for each in larger(DONE_BEFORE))
    assert not any("earlier part" in each for each in larger(replace(DONE_BEFORE, done_before=False)))
