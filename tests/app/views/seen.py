"""A loop as those who only look see it: from a state that a story made, without a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.app.kinds import KINDS
from loopwright.app.loops import Listed, View
from loopwright.app.views import status
from loopwright.app.views.status import LoopStatus
from loopwright.engine.fold import Fold, Opened
from loopwright.kernel.actions import Action, Ask, AwaitGate
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.loops.kind import Kind, Needs, Words
from loopwright.ports.people import Waiting
from loopwright.ports.store import LoopRow

_NO_GATES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    task: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """The state of a loop that stands where it was put and wants what it was told to want."""

    here: Standpoint
    wants: tuple[Action, ...] = ()
    plan: Plan = Plan()


STILL: Kind[Plan, Still] = Kind(
    loop=Loop(
        name="still",
        params=Plan,
        state=Still,
        start=lambda plan: Still(plan=plan, here=Standpoint(state="HERE", attempt=1, limit=1)),
        decide=lambda state: state.wants,
        apply=lambda state, _event: state,
        stand=lambda state: state.here,
    ),
    limits="",
    words=Words(counter="attempt"),
    needs=Needs(roles=()),
    title=lambda plan: plan.task,
    brief=lambda run: run.role,
    closing=lambda _state, _outcome: (),
    so_far=lambda _state: (),
    owed=lambda _state, _by: (),
    result=lambda _loop, _state, _parts: {},
)


def seen(state: Any, row: LoopRow) -> View:  # noqa: ANN401 - each loop has a state of its own
    kind = STILL if isinstance(state, Still) else KINDS[row.kind]
    opened = Opened(row=row, loop=kind.loop, now=Fold(state=state))
    return View(opened=opened, listed=Listed(row=row, kind=kind, alive=None))


def shown(view: View, gates: Mapping[str, str] = _NO_GATES, *, alive: bool = True) -> LoopStatus:
    """Its status object, with all that it waits for itself."""
    return status.build(view, waited(view), gates, alive=alive)


def waited(view: View) -> tuple[Waiting, ...]:
    asked = (action for action in view.wanted if isinstance(action, Ask | AwaitGate))
    return () if view.is_over else tuple(Waiting(path=(view.row.id,), what=action) for action in asked)
