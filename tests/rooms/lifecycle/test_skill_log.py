"""Every run of a skill is told: how long it was worked at, what came of it, what ran within."""

from loopwright.kernel.actions import Action
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Event,
    Interrupted,
    SkillSkipped,
    Started,
)
from loopwright.kernel.model import AgentReport, AgentStatus, Ending, Question
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import TYPE_ERROR, Story, key_of_next, loop_ended, red


def runs(story: Story) -> list[tuple[str, str, float]]:
    return [(run.skill, run.status, run.seconds) for run in story.held.log.runs]


def failing(action: Action) -> Event:
    return AgentFailed(key=action.key, reason="timed_out", role="skill")


def test_waiting_is_no_work_and_a_run_that_goes_on_is_one() -> None:
    asks = AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which?"),))
    story = Story(
        skill=[
            lambda action: AgentUnavailable(key=action.key, until=1.0, role="skill"),
            lambda action: AgentReported(key=action.key, report=asks, role="skill"),
        ]
    )
    story.until(lambda state: bool(state.skills))
    assert runs(story)[0][:2] == ("entry-portal", "complete")
    assert 180 <= runs(story)[0][2] < story.at - story.held.moments.started


def test_an_interrupted_step_counts_what_it_took() -> None:
    story = Story()
    key = key_of_next(story)
    story.noted(Started(key=key, action="RunAgent")).noted(Interrupted(key=key, seconds=7.0))
    assert runs(story) == [("entry-portal", "in-progress", 7.0)]


def test_a_skill_that_fails_stays_in_the_log_and_its_diagnosis_is_within() -> None:
    story = Story(skill=[failing] * 9)
    story.until(lambda state: state.phase is Stage.INIT and state.transitions > 1)
    assert [each[:2] for each in runs(story)] == [("entry-portal", "failed"), ("debug-assist", "complete")]
    assert story.held.log.runs[1].parent == 0
    assert story.held.log.worked == sum(each[2] for each in runs(story))


def test_a_loop_that_escalates_is_a_failed_child_and_goes_on_in_another() -> None:
    story = Story(implement=[loop_ended(Ending.ESCALATED, TYPE_ERROR)], diagnose=[failing] * 2)
    story.until(lambda state: state.phase is Stage.TEST)
    found = [(run.skill, run.status, run.parent) for run in story.held.log.runs[10:]]
    assert found == [
        ("implement", "failed", -1),
        ("feedback", "failed", 10),
        ("debug-assist", "failed", 10),
        ("implement", "complete", -1),
        ("feedback", "complete", 13),
    ]
    assert story.held.log.nested[10] == [11, 12]


def test_a_loop_within_that_is_begun_again_is_the_same_run() -> None:
    story = Story().to(Stage.IMPLEMENT)
    key = key_of_next(story)
    for _ in range(2):
        story.noted(Started(key=key, action="RunLoop", why="capability creation"))
    assert [run.skill for run in story.held.log.runs[10:]] == ["implement", "feedback"]


def test_a_step_within_that_is_begun_again_is_the_same_run() -> None:
    story = Story(check=[red("build", TYPE_ERROR)] * 9).to(Stage.RETRY)
    key = key_of_next(story)
    for _ in range(2):
        story.noted(Started(key=key, action="RunAgent", why="it fails"))
    assert [run.skill for run in story.held.log.runs].count("debug-assist") == 1


def test_a_report_whose_extras_are_no_table_leaves_nothing() -> None:
    odd = AgentReport(extras="[]")
    story = Story(skill=[lambda action: AgentReported(key=action.key, report=odd, role="skill")]).step()
    assert story.held.log.runs[0].deliverables == ()


def test_a_report_that_comes_when_nothing_is_under_way_is_left_out() -> None:
    story = Story()
    story.noted(AgentReported(key=key_of_next(story), report=AgentReport()))
    assert story.held.log.runs == ()


def test_a_skill_may_be_skipped_while_it_is_under_way() -> None:
    story = Story().said(SkillSkipped(skill="requirements", reason="known", by="someone"))
    story.noted(Started(key=key_of_next(story), action="RunAgent"))
    story.said(SkillSkipped(skill="entry-portal", reason="one system", by="someone"))
    assert [(run.skill, run.status, run.reason) for run in story.held.log.runs] == [
        ("requirements", "skipped", "known"),
        ("entry-portal", "skipped", "one system"),
    ]
