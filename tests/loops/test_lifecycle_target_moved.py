"""What is merged is what a person approved to be deployed, also where the target has moved on since."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.model import Commit, Tree
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage
from tests.loops.test_lifecycle_cancelling import begun


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
