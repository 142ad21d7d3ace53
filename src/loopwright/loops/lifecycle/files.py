"""The files of a system in the memory of its domain: where it stands, what happened, what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.kernel.events import Ended
from loopwright.kernel.model import LoopId
from loopwright.loops.course import Station
from loopwright.loops.kind import Door, Files, Noted, Scene
from loopwright.loops.lifecycle.blocked_message import blocked_page
from loopwright.loops.lifecycle.calibration import calibration_door, record_of
from loopwright.loops.lifecycle.failure_log import failure_door
from loopwright.loops.lifecycle.interfaces import interface_door
from loopwright.loops.lifecycle.loop_state_view import render_loop_state
from loopwright.loops.lifecycle.past import LifecyclePast
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

_STATE = "loop-state.json"


def memory(domain: str) -> str:
    return f"domain-memory/{domain}"


def edited(loop: LoopId, state: LifecycleState) -> Mapping[str, str]:
    """What a person may edit, with the copies by which it is told what they changed."""
    own, last_active = state_paths(state)
    return {own: f".loop/lifecycle/{loop}/{_STATE}", last_active: f".loop/lifecycle/{loop}/last-active.json"}


def state_paths(state: LifecycleState) -> tuple[str, str]:
    """Its own, and that of the system that was last active, which a person may edit as well."""
    root = memory(state.plan.domain)
    return f"{root}/systems/{state.plan.system.id}/{_STATE}", f"{root}/{_STATE}"


def render(scene: Scene[LifecycleState]) -> Files:
    state: LifecycleState = scene.state
    past: LifecyclePast = scene.past
    root, system = memory(state.plan.domain), state.plan.system.id
    own, last_active = state_paths(state)
    text = render_loop_state(state, past.moments, past.log)
    files: dict[str, str | None] = {}
    if state.course.station is Station.DONE:
        files |= {own: None, f"{root}/archive/{system}/{_STATE}": text}
        if isinstance(scene.event, Ended):  # later it may be another's
            files[last_active] = None
    else:
        files |= {own: text, last_active: text}
    files[f"{root}/blocked/{system}.md"] = blocked_page(state) or None
    fresh = (each for each in past.handoffs if scene.event is None or each.seq == past.seq)
    return files | {f"{root}/sessions/{each.name}": each.text for each in fresh}


def notes(scene: Scene[LifecycleState]) -> Mapping[str, tuple[Noted, ...]]:
    """What the event adds to the journey of the domain."""
    past: LifecyclePast = scene.past
    lines = past.journey
    if scene.event is not None:
        begin = len(lines)
        while begin and lines[begin - 1].seq == past.seq:
            begin -= 1
        lines = lines[begin:]
    return {f"{memory(scene.state.plan.domain)}/journey-log.jsonl": lines} if lines else {}


def doors(scene: Scene[LifecycleState]) -> tuple[Door, ...]:
    """Of what others write too, only what the event changed; made anew, all of it."""
    state: LifecycleState = scene.state
    past: LifecyclePast = scene.past
    root, anew = memory(state.plan.domain), scene.event is None
    found: list[Door] = []
    if past.failed and (anew or past.failed == past.seq):
        found.append(failure_door(scene.loop, f"{root}/failure-log.json", state, past.moments))
    if past.final and (anew or past.final == past.seq):
        found.append(interface_door(f"{root}/interfaces/api/{state.plan.system.id}.yaml", state))
        day = past.moments.stages[Stage.COMPLETE].started[:10]
        if (record := record_of(scene.loop, state, past.log.worked, day)) is not None:
            found.append(calibration_door(f"{root}/learning/calibration.json", state.plan.domain, record))
    return tuple(found)
