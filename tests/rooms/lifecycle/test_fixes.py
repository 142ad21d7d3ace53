"""A fix of a system: what checks it, which files it may touch, and the commit that it lands as."""

from dataclasses import replace

from loopwright.kernel.actions import Action, Checkpoint, ExamineChange, Integrate, RunAgent, RunChecks
from loopwright.kernel.events import Event
from loopwright.kernel.model import Change, Commit, Ending, Outcome, Tree
from loopwright.kernel.sightings import ChangeExamined
from loopwright.loops import course as c
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.closing import lines
from loopwright.loops.lifecycle.completing import message
from loopwright.loops.lifecycle.kind import KIND
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import TYPE_ERROR, Reply, Story, decided, red, report


class Watched(Story):
    """Remembers what was asked for."""

    def __init__(self, **replies: list[Reply]) -> None:
        self.asked: list[Action] = []
        super().__init__()
        self.replies = {step.replace("_", "-"): each for step, each in replies.items()}

    def step(self) -> Story:
        self.asked.append(LIFECYCLE.decide(self.state)[0])
        return super().step()

    @property
    def landed(self) -> list[tuple[str, Commit]]:
        return [(each.message.splitlines()[0], each.commit) for each in self.asked if isinstance(each, Integrate)]

    def wanted(self, step: str) -> list[Action]:
        return [each for each in self.asked if each.key.step == step]


SPECIFIED = "docs(sys-002): specification of Work Order Service"
SCAFFOLDED = "chore(sys-002): scaffold of Work Order Service"
MADE, FIXED = "feat(sys-002): creation", "fix(sys-002): The type is right."
RIGHT = report(summary="The type is right.")


def at_assignment(story: Watched) -> Watched:
    story.until(lambda state: state.current == "assignment")
    return story


def messages(story: Watched) -> list[str]:
    return [text for text, _ in story.landed]


def test_the_check_that_failed_is_asked_alone_and_the_whole_suite_whether_tests_notice() -> None:
    story = at_assignment(Watched(check=[red(""), red(""), red(""), red("lint", TYPE_ERROR)]))
    (recheck,), (suite,) = story.wanted("recheck"), story.wanted("suite")
    assert isinstance(recheck, RunChecks)
    assert isinstance(suite, RunChecks)
    assert (recheck.names, recheck.trust.tests_to_come) == (("lint",), True)
    assert (suite.names, suite.trust.tests_to_come) == ((), False)


def test_a_fix_lands_after_what_it_mends() -> None:
    story = at_assignment(Watched(check=[red(""), red(""), red(""), red("lint", TYPE_ERROR)], fix=[RIGHT]))
    assert messages(story) == [SPECIFIED, SCAFFOLDED, MADE, FIXED]
    (fix,) = story.wanted("record-fix")
    assert isinstance(fix, Checkpoint)
    mended, mending = story.landed[2][1], story.landed[3][1]
    assert (mended, mending != mended) == (fix.parent, True)
    assert (story.state.pieces, story.state.landed_tip) == ((), story.state.tip)


def test_what_is_made_after_a_fix_lands_after_it() -> None:
    story = at_assignment(Watched(check=[red(""), red(""), red("test", TYPE_ERROR)], fix=[RIGHT]))
    assert messages(story) == [SPECIFIED, SCAFFOLDED, MADE, FIXED, MADE]


def test_a_second_fix_lands_after_the_first() -> None:
    checks = [red(""), red(""), red(""), red("lint", TYPE_ERROR)]
    other = replace(TYPE_ERROR, issue="Another", rule="T2", fingerprint="another")
    story = at_assignment(Watched(check=checks, suite=[red("test", other)], fix=[RIGHT, report(summary="word " * 30)]))
    assert messages(story)[2:] == [MADE, FIXED, "fix(sys-002): " + "word " * 11 + "word…"]


def test_what_is_held_back_lands_with_its_fix_as_one() -> None:
    story = Watched(check=[red(""), red(""), red(""), red("lint", TYPE_ERROR)])
    story.until(lambda state: len(state.pieces) > 1)
    held = c.steered(story.state, held=(Change(path="tests/a.py", how="changed"),))
    assert (story.state.piece, held.piece) == (story.state.pieces[0], None)
    assert (message(story.state), message(held)) == (MADE, MADE)


def test_what_is_mended_before_a_merge_is_one_commit_with_it() -> None:
    story = Watched().to(Stage.SHIP)
    story.state = replace(story.state, checked=Commit(""))
    story.replies["check"] = [red("test", TYPE_ERROR)]
    story.until(lambda state: bool(state.fixed)).step()
    assert story.state.pieces == ()


def fresh(action: Action) -> Event:
    assert isinstance(action, ExamineChange)
    assert action.since
    paths = ("src/scaffold.py", "src/creation.py")
    return ChangeExamined(key=action.key, tree=Tree("t"), paths=paths, fresh=("src/creation.py",), code=paths)


def test_a_fix_may_touch_what_the_capability_made_and_is_told_so() -> None:
    look = [lambda action: ChangeExamined(key=action.key, tree=Tree("t"), code=("a",))] * 2
    story = Watched(check=[red(""), red(""), red("test", TYPE_ERROR)], look=[*look, fresh])
    at_assignment(story)
    (recorded,), (fixing,) = story.wanted("record-fix"), story.wanted("fix")
    assert isinstance(recorded, Checkpoint)
    assert isinstance(fixing, RunAgent)
    assert recorded.only == ("src/creation.py", "src/order.py")
    assert fixing.brief.own.related == recorded.only
    assert set(story.state.made) == {("creation", "src/creation.py"), ("creation", "src/order.py")}


def rejected(story: Watched) -> Watched:
    """By a person, when it is to be deployed."""
    story.until(lambda state: state.phase is Stage.REVIEW and state.course.station is Station.GATE)
    (gate,) = LIFECYCLE.decide(story.state)
    story.said(decided(approved=False, by="lead", reason="not yet")(gate))
    return story


def another(action: Action) -> Event:
    return ChangeExamined(key=action.key, tree=Tree("another"), paths=("src/order.py",), code=("src/order.py",))


def test_a_no_is_a_failure_that_is_resolved_by_what_is_verified_later() -> None:
    story = rejected(Watched(check=[red("build", TYPE_ERROR)]))
    story.replies["look"] = [another] * 10
    story.done()
    assert KIND.status(story.state).failures == (0, 2, 2)
    assert [each.number for each in story.state.history] == [1, 2]


def test_what_every_loop_says_at_its_end_is_not_said_here_too() -> None:
    story = Story().done()
    told = lines(story.state, Outcome(ending=Ending.VERIFIED, merged_into="refs/heads/main", written=("tests/a.py",)))
    assert not any("Tests written by agents" in line for line in told)
