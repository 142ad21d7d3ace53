"""What a session leaves for the next one."""

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.events import AgentReported, Paused, SessionMarked, SkillSkipped
from loopwright.kernel.model import AgentReport, AgentStatus, Change, Question
from loopwright.loops.lifecycle import files
from loopwright.loops.lifecycle.handoff import render
from loopwright.loops.lifecycle.skill_log import SkillRun
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import BEGAN, Story, ended, leaving, planned, stuck

ROOT = "domain-memory/workshop"


def test_a_session_that_is_blocked_leaves_a_handoff(golden: Callable[[str, str], None]) -> None:
    story = stuck().said(BEGAN)
    story.said(SkillSkipped(skill="perf-analysis", reason="no target", by="someone"))
    story.to(Stage.BLOCKED).said(ended("blocked", "0123456789abcdef"))
    made = files.render(story.scene(story.last))
    golden("texts/lifecycle-handoff.md", made[f"{ROOT}/sessions/2026-02-05-sys-002-initial.md"] or "")


def test_a_complete_system_leaves_its_last_handoff(golden: Callable[[str, str], None]) -> None:
    story = Story().said(BEGAN).done().said(ended("complete"))
    names = [each.name for each in story.held.handoffs]
    assert names == ["2026-02-05-sys-002-complete.md"]
    golden("texts/lifecycle-handoff-complete.md", story.held.handoffs[0].text)
    assert f"{ROOT}/sessions/{names[0]}" in files.render(story.scene())
    assert f"{ROOT}/sessions/{names[0]}" not in files.render(story.scene(story.last))


def test_sessions_are_numbered_and_one_that_waits_for_people_is_a_review() -> None:
    story = Story().said(ended("nobody began"))
    story.said(BEGAN).step().said(ended("interrupt"))
    story.said(BEGAN).said(ended("interrupt"))
    story.to(Stage.REVIEW).at_gate()
    for _ in range(2):
        story.said(BEGAN).said(ended("gate"))
    assert [each.name.removeprefix("2026-02-05-sys-002-") for each in story.held.handoffs] == [
        "initial.md",
        "initial.md",
        "part2.md",
        "review.md",
        "part4.md",
    ]
    minimal = story.held.handoffs[2].text
    assert "## Next steps" in minimal
    assert "## Summary" not in minimal
    assert "1. decide on the gate deploy" in story.held.handoffs[3].text
    assert "loop gates" in story.held.handoffs[3].text


def test_a_session_that_a_limit_ended_names_it_and_the_way_on_that_does_not_end_there_again() -> None:
    story = Story().noted(Paused(reason="budget"))  # nobody had begun a session
    assert "Paused" not in render(leaving(story))
    story.said(BEGAN).step().noted(Paused(reason="budget", detail="the budget of $1.00 is used up")).said(
        ended("budget")
    )
    story.said(BEGAN).noted(Paused(reason="tokens", detail="9 of 9 tokens are used")).said(ended("budget"))
    story.said(BEGAN).said(ended("cap"))
    money, tokens, later = (each.text for each in story.held.handoffs)
    assert "## Blockers\n\n- Paused: the budget of $1.00 is used up\n" in money
    assert "1. go on with `loop resume --budget USD`\n2. skills of INIT" in money
    assert f"loop resume --budget USD --loop {story.loop}\n```" in money
    assert "1. go on with `loop resume`, once more `tokens` are in loop.toml\n" in tokens
    assert f"loop resume --loop {story.loop}\n```" in tokens
    assert [f"loop run --loop {story.loop}" in each for each in (money, tokens, later)] == [False, False, True]
    assert "go on with" not in later


def test_what_waits_and_what_was_put_off_is_handed_over() -> None:
    asks = AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which *orders*?"),))
    story = Story(skill=[lambda action: AgentReported(key=action.key, report=asks, role="skill")]).said(BEGAN).step()
    story.said(SessionMarked(mark="ended", text="ask the owner\nfirst"))
    assert "> ask the owner\n> first" in story.held.handoffs[0].text
    assert "- Which \\*orders\\*?" in render(leaving(story))


def test_long_lists_are_cut_and_what_no_check_said_is_told() -> None:
    story = Story(planned(checks=("build", "integration"), capabilities=("a",))).said(BEGAN).to(Stage.SHIP)
    runs_of = tuple(
        SkillRun(skill=f"s{n}", stage=Stage.INIT, reason="", started=0, ended=1, status="complete") for n in range(40)
    )
    state = replace(
        story.state,
        course=replace(
            story.state.course, held=(Change(path="setup.cfg", how="changed"),), refusals=("a person said no",)
        ),
        held_on="held/orders",
        untested=True,
        remarks=("the queue: no",),
        unblocked=("sys-003",),
        proposal=replace(story.state.proposal, number=7),
        current="",
        remaining=(),
    )
    here = replace(leaving(story), state=state, log=replace(story.held.log, runs=runs_of))
    page = render(here)
    assert "- and 11 more" in page
    for line in (
        "- held back: setup.cfg",
        "- it is kept on `held/orders`",
        "- a person took a change that no test notices",
        "- the queue: no",
        "- a person said no",
        "- Pull request: #7 (none)",
        "| Lint | not configured |",
        "1. skills of SHIP: deploy, git-workflow",
        "2. leave SHIP",
    ):
        assert line in page, line
    assert "1. can begin now: sys-003" in render(replace(here, complete=True))
    assert "| Build | not run yet |" in render(leaving(Story().said(BEGAN).step()))
