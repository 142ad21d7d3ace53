"""What is merged is what a person approved to be deployed, also where the target has moved on since."""

from __future__ import annotations

from loopwright.kernel.actions import Checkpoint, Combine, ExamineChange, ExamineFiles, RunAgent, RunLoop
from loopwright.kernel.changing import replace
from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.events import Combined
from loopwright.kernel.model import Commit, Conflict, Tree
from loopwright.kernel.sightings import ChangeExamined, FilesExamined
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.backwards import unshipped
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage
from tests.loops import lifecycle as lc
from tests.loops.test_lifecycle_cancelling import begun
from tests.loops.test_lifecycle_shipping import MOVED, merges


def looked_at(stage: Stage, tree: str) -> LifecycleState:
    return gating.opened(replace(begun(), phase=stage, tip=Commit(f"of {tree}"), tree=Tree(tree)))


def test_a_tree_that_came_about_after_the_approval_is_asked_about_anew() -> None:
    (asked,) = looked_at(Stage.REVIEW, "one").course.gates
    (again,) = looked_at(Stage.SHIP, "two").course.gates
    assert (asked.gate, again.gate) == ("deploy", "deploy")
    assert asked.evidence != again.evidence


def test_the_very_tree_that_was_approved_is_not_asked_about_again() -> None:
    (asked,) = looked_at(Stage.REVIEW, "one").course.gates
    (again,) = looked_at(Stage.SHIP, "one").course.gates
    assert asked.evidence == again.evidence


def test_the_same_tree_on_another_target_or_after_it_was_deployed_is_another_question() -> None:
    before = looked_at(Stage.SHIP, "one")
    others = (replace(before, onto=Commit("main-2")), unshipped(replace(before, deployed=True)))
    found = {gating.due(each)[-1].evidence for each in (before, *others, unshipped(before))}
    assert len(found) == 3
    why = gating.due(others[0])[-1].why
    assert why.endswith("; it was brought together with the target, which has come on to main-2")


def test_what_the_change_removes_is_not_reviewed_and_what_is_new_is() -> None:
    def looked(action: ExamineChange) -> ChangeExamined:
        both = ("src/a.py", "src/b.py")
        return ChangeExamined(key=action.key, tree=Tree("t"), paths=both, gone=("src/a.py",), code=both)

    played = lc.at("REVIEW", lc.on(ExamineChange, looked, times=None))
    run = played.until(RunLoop, step="reviews")
    assert ("src/b.py" in run.params, "src/a.py" in run.params) == (True, False)


def conflicts(action: Combine) -> Combined:
    found = (Conflict(commit=action.commits[0], paths=("src/a.py",)),)
    return Combined(key=action.key, commit=Commit("marked"), left_out=action.commits, conflicts=found)


def test_what_the_target_has_by_now_may_be_in_conflict_and_is_decided_where_both_sides_are() -> None:
    played = lc.at("SHIP")
    played.state = replace(played.state, grounded=((Commit("approved"), "pyproject.toml"),))
    played.play(merges(MOVED), lc.on(Combine, conflicts, step="update"))
    assert [(each.sort, each.error) for each in played.state.history] == [
        ("merge", "src/a.py - src/a.py conflicts with what the target has by now")
    ]
    assert (played.stage, played.state.onto) == ("COMPLETE", "main-2")
    steps = [each.key.step for each in played.actions]
    begin = steps.index("diagnose")
    ways = ["diagnose", "fix", "record-fix", "conflicts", "tell", "move", "ground", "look", "reviews", "check", "look"]
    assert steps[begin : begin + len(ways)] == ways
    (diagnosis,), (fix,) = played.asked(RunAgent, step="diagnose"), played.asked(RunAgent, step="fix")
    assert (diagnosis.start, fix.start, "git's marks" in fix.brief.task) == ("marked", "marked", True)
    (made,) = played.asked(Checkpoint, step="record-fix")
    (looked,) = played.asked(ExamineFiles, step="conflicts")
    assert (made.parent, [(each.path, each.format) for each in looked.wanted]) == ("marked", [("src/a.py", "merged")])
    (ground,) = played.asked(Combine, step="ground")
    assert (ground.base, [path for _, path in ground.keep]) == ("main-2", ["pyproject.toml"])


def test_a_conflict_that_is_not_decided_fails_once_more_and_goes_on_from_what_was() -> None:
    undecided = FileFault(path="src/a.py", why="line 3 still has git's mark of a conflict")
    left = lc.on(ExamineFiles, lambda action: FilesExamined(key=action.key, faults=(undecided,)), step="conflicts")
    played = lc.world(merges(MOVED), lc.on(Combine, conflicts, step="update"), left)
    assert [each.outcome for each in played.state.history] == ["still failing", ""]
    first, second = played.asked(RunAgent, step="fix")
    assert (first.start, second.start) == ("marked", played.asked(ExamineFiles, step="conflicts")[0].commit)
    assert "still has git's mark" in str(second.brief.findings)
    assert played.stage == "COMPLETE"


def test_a_conflict_without_a_path_is_one_of_the_branch() -> None:
    bare = lc.on(Combine, lambda action: replace(conflicts(action), conflicts=()), step="update")
    assert lc.world(merges(MOVED), bare).state.history[0].file == "feature/system-orders"
