"""The rules of a queue: which status follows which, what may be started, what comes next, what makes no sense.

| from        | to                                         |
|-------------|--------------------------------------------|
| discovered  | specified, blocked                         |
| specified   | ready, in-progress, blocked                |
| ready       | in-progress, blocked                       |
| in-progress | review, blocked                            |
| review      | complete, in-progress, blocked             |
| blocked     | discovered, specified, ready, in-progress  |
| complete    | -                                          |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from loopwright.loops.queue.state import QueueState, System, SystemStatus

EDGES: Mapping[SystemStatus, tuple[SystemStatus, ...]] = {
    "discovered": ("specified", "blocked"),
    "specified": ("ready", "in-progress", "blocked"),
    "ready": ("in-progress", "blocked"),
    "in-progress": ("review", "blocked"),
    "review": ("complete", "in-progress", "blocked"),
    "blocked": ("discovered", "specified", "ready", "in-progress"),
    "complete": (),
}
STARTABLE: tuple[SystemStatus, ...] = ("specified", "ready")
UNCLAIMED: tuple[SystemStatus, ...] = ("discovered", "specified", "ready")  # whoever had claimed it let go of it
_ID = re.compile(r"sys-([0-9]{1,9})")


def found(systems: Iterable[System], name: str) -> System | None:
    return next((system for system in systems if system.id == name), None)


def unmet(system: System, systems: Iterable[System]) -> tuple[str, ...]:
    """What it depends on that is not complete."""
    complete = {each.id for each in systems if each.status == "complete"}
    return tuple(name for name in system.dependencies if name not in complete)


def next_ready(state: QueueState) -> System | None:
    """What is to be built next: of all that may be started, the lowest number of priority; of equals the first."""
    ready = (each for each in state.systems if each.status in STARTABLE and not unmet(each, state.systems))
    return min(ready, key=lambda each: each.priority, default=None)


def newly_unblocked(state: QueueState, completed: str) -> tuple[System, ...]:
    """What depends on it and waits for nothing any more."""
    return tuple(
        each
        for each in state.systems
        if completed in each.dependencies and each.status in STARTABLE and not unmet(each, state.systems)
    )


def progress(state: QueueState) -> int:
    """Per cent of the systems that are complete."""
    complete = sum(each.status == "complete" for each in state.systems)
    return round(100 * complete / len(state.systems)) if state.systems else 0


def number_of(name: str) -> int:
    """That of an id as we make them; 0 for one of another tool."""
    told = _ID.fullmatch(name)
    return int(told[1]) if told else 0


def new_id(state: QueueState) -> str:
    return f"sys-{max(len(state.systems), state.highest) + 1:03d}"


def why_unsound(systems: tuple[System, ...]) -> str:
    """What is wrong with the whole, in a sentence; empty where nothing is."""
    known = [each.id for each in systems]
    if twice := next((name for name in known if known.count(name) > 1), ""):
        return f"{twice} is there twice"
    for each in systems:
        if not each.name.strip():
            return f"{each.id} has no name"
        if each.priority < 1:
            return f"the priority of {each.id} is {each.priority}, and 1 is the highest there is"
        if missing := next((name for name in each.dependencies if name not in known), ""):
            return f"{each.id} depends on {missing}, which is not in the queue"
    return _cycle(systems)


def _cycle(systems: tuple[System, ...]) -> str:
    try:
        TopologicalSorter({each.id: each.dependencies for each in systems}).prepare()
    except CycleError as error:
        # It comes in the order of building; told is who needs whom.
        return f"the dependencies go round in a circle: {' needs '.join(reversed(error.args[1]))}"
    return ""
