"""What a loop is told of trust is what everything that it starts is told, to the last word."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from loopwright.kernel.actions import Action, Checkpoint, Integrate, RunChecks, RunLoop
from loopwright.kernel.codec import plain
from loopwright.kernel.machine import Loop
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.workflow.machine import WORKFLOW
from tests.loops import feedback as f
from tests.loops import tickets as t
from tests.loops import workflow as w

TOLD = Trust(base=Commit("root"), allow=("tests/api/**",), in_force=True, new_ground=True, tests_to_come=True)
State = Any  # of whichever machine


def after_each(loop: Loop[Any, State], state: State, play: Callable[..., State], *letters: object) -> Iterator[Action]:
    yield from loop.decide(state)
    for letter in letters:
        state = play(state, letter)
        yield from loop.decide(state)


def told(actions: Iterator[Action]) -> dict[str, list[object]]:
    """What each kind of action says of trust."""
    found: dict[str, list[object]] = {}
    for action in actions:
        if isinstance(action, RunChecks | Checkpoint | Integrate):
            found.setdefault(type(action).__name__, []).append(plain(action.trust))
        elif isinstance(action, RunLoop):
            found.setdefault("RunLoop", []).append(json.loads(action.params)["trust"])
    return found


def in_feedback() -> Iterator[Action]:
    return after_each(FEEDBACK, FEEDBACK.start(replace(f.params(), trust=TOLD)), f.play, *f.ALL_PASSES)


def in_tickets() -> Iterator[Action]:
    return after_each(TICKETS, t.session(trust=TOLD), t.play, *t.GOOD)


def in_workflow() -> Iterator[Action]:
    letters = (w.scores(w.TOOL), w.SAID, w.plans(w.task(1)), *w.does(1), *w.seen())
    return after_each(WORKFLOW, w.workflow(trust=TOLD), w.play, *letters)


@pytest.mark.parametrize(
    ("played", "kinds"),
    [
        (in_feedback, {"Checkpoint", "Integrate", "RunChecks"}),
        (in_tickets, {"Checkpoint", "Integrate", "RunChecks"}),
        (in_workflow, {"Integrate", "RunChecks", "RunLoop"}),
    ],
)
def test_every_run_of_checks_and_every_child_is_told_the_same(
    played: Callable[[], Iterator[Action]], kinds: set[str]
) -> None:
    found = told(played())
    assert kinds <= found.keys()
    assert all(each == plain(TOLD) for every in found.values() for each in every)
