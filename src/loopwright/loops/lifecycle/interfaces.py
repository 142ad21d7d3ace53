"""What a system offers others once it is complete: its contract in `interfaces/api/`, which people may have begun."""

from __future__ import annotations

from loopwright.kernel.shapes import Problem, flag, keyed, several, text
from loopwright.kernel.visible import visible
from loopwright.loops.kind import Data, Door
from loopwright.loops.lifecycle.state import LifecycleState

_FILES = 200  # that are named
INTERFACE = keyed(
    "an object",
    system=text(),
    name=text(),
    version=text(),
    provides=keyed("an object", capabilities=several(text()), files=several(text())),
    commit=text(),
    final=flag(),
)


def interface_door(path: str, state: LifecycleState) -> Door:
    return Door(path=path, change=lambda held: _final(held or {}, state), problems=_problems)


def _problems(data: object) -> list[Problem]:
    held = INTERFACE.read(data)
    return [held] if isinstance(held, Problem) else []


def _final(held: Data, state: LifecycleState) -> Data:
    """Keys of others stay as they are, and so does a version that somebody gave it."""
    provides = held.get("provides")
    own: Data = {
        "capabilities": list(state.built),
        "files": [visible(path) for path in state.paths[:_FILES]],
    }
    return {
        "system": state.plan.system.id,
        "name": state.plan.system.name,
        "version": "1.0.0",
        **held,
        "provides": {**provides, **own} if isinstance(provides, dict) else own,
        "commit": state.merged or state.landed,
        "final": True,
    }
