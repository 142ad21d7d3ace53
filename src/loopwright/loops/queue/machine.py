"""The queue of systems as one value: a record that several controllers write and nobody drives.

It asks for nothing. It hears of edits only, each of one subject: the id of a system; `next`, whichever that is; or the
queue itself, for what is added or taken in. Whoever was killed says the same thing twice, and is heard twice.
"""

from __future__ import annotations

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import Event, StateEdited
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.loops.queue.edges import (
    EDGES,
    STARTABLE,
    UNCLAIMED,
    found,
    new_id,
    newly_unblocked,
    next_ready,
    number_of,
    progress,
    unmet,
    why_unsound,
)
from loopwright.loops.queue.state import (
    FIELDS,
    NOBODY,
    NewSystem,
    QueueEdit,
    QueueParams,
    QueueState,
    System,
    SystemStatus,
)

ITSELF, NEXT = "queue", "next"  # subjects besides the ids of systems
NO_REASON = "no reason was given"
_OPEN = "OPEN"


def start(params: QueueParams) -> QueueState:
    return QueueState(plan=params, updated_at=params.created_at)


def decide(_state: QueueState) -> tuple[Action, ...]:
    return ()


def apply(state: QueueState, event: Event) -> QueueState:
    if not isinstance(event, StateEdited):
        raise InvalidTransition(_OPEN, type(event).__name__, "a queue takes edits of its systems and nothing else")
    try:
        edit = decode(QueueEdit, event.value)
        edit = edit if edit.at else replace(edit, at=event.at)
    except DecodeError as error:
        raise _refused(f"what is to change cannot be read: {error}") from error
    systems = _edited(state, event.subject, edit)
    if systems == state.systems:
        return state
    if why := why_unsound(systems):
        raise _refused(why)
    highest = max(state.highest, *(number_of(each.id) for each in systems), 0)
    return replace(state, systems=systems, updated_at=edit.at or state.updated_at, highest=highest)


def _edited(state: QueueState, subject: str, edit: QueueEdit) -> tuple[System, ...]:
    if subject in ("", ITSELF):
        if edit.add is not None:
            return (*state.systems, _added(state, edit.add, edit.at))
        if not edit.take_in:
            raise _refused("nothing is said that the queue could add")
        return _taken_in(state.systems, edit)
    system = _next(state, edit) if subject == NEXT else found(state.systems, subject)
    if system is None:
        raise _refused("no system is ready" if subject == NEXT else f"there is no system {subject!r} in the queue")
    if edit.remove:
        return _without(state.systems, system)
    if edit.status is None and all(getattr(edit, name) is None for name in FIELDS):
        raise _refused(f"nothing is said that would change {system.id}")
    changed = _changed(state.systems, system, edit)
    return tuple(changed if each is system else each for each in state.systems)


def _added(state: QueueState, new: NewSystem, at: str) -> System:
    return System(
        id=new_id(state),
        name=new.name,
        description=new.description,
        github_issue=new.github_issue,
        status=new.status,
        dependencies=tuple(dict.fromkeys(new.dependencies)),
        priority=len(state.systems) + 1 if new.priority is None else new.priority,
        created_at=at,
        notes=new.notes,
        autonomy=new.autonomy,
        capabilities=new.capabilities,
    )


def _next(state: QueueState, edit: QueueEdit) -> System | None:
    """That which the loop has claimed already, whoever says it twice; else the next that is ready."""
    if edit.status != "in-progress" or not edit.loop:
        raise _refused("the next system can only be claimed, by a loop")
    own = (each for each in state.systems if each.loop == edit.loop and each.status != "complete")
    return next(own, None) or next_ready(state)


def _without(systems: tuple[System, ...], gone: System) -> tuple[System, ...]:
    needing = [each.id for each in systems if gone.id in each.dependencies]
    if needing:
        verb = "depends" if len(needing) == 1 else "depend"
        raise _refused(f"{gone.id} cannot be removed: {', '.join(needing)} {verb} on it")
    if gone.loop and gone.status != "complete":
        raise _refused(f"{gone.id} cannot be removed: loop {gone.loop} has claimed it")
    return tuple(each for each in systems if each is not gone)


def _taken_in(systems: tuple[System, ...], edit: QueueEdit) -> tuple[System, ...]:
    """New ones as they are, in nobody's hands; of those that are known, what differs, by the rules for all edits."""
    told = {each.id: each for each in edit.take_in}
    if len(told) < len(edit.take_in):
        raise _refused("a system is there twice in what is to be taken in")
    known = {each.id for each in systems}
    kept = (
        _changed(systems, each, _difference(each, told[each.id], edit)) if each.id in told else each for each in systems
    )
    return (*kept, *(replace(each, loop=NOBODY) for each in edit.take_in if each.id not in known))


def _difference(system: System, told: System, edit: QueueEdit) -> QueueEdit:
    fields = {name: getattr(told, name) for name in FIELDS if getattr(told, name) != getattr(system, name)}
    moved = told.status != system.status
    if moved and system.loop and system.status != "complete":
        raise _refused(f"{system.id} is {system.status} in the hands of loop {system.loop}, and not {told.status}")
    status = told.status if moved else None
    return replace(QueueEdit(at=edit.at, status=status, reason=told.blocked_reason or ""), **fields)


# --- one system ---------------------------------------------------------------------------------------


def _changed(systems: tuple[System, ...], system: System, edit: QueueEdit) -> System:
    said = {name: value for name in FIELDS if (value := getattr(edit, name)) is not None}
    if edit.dependencies is not None:
        said["dependencies"] = tuple(dict.fromkeys(edit.dependencies))
    changed = replace(system, **said) if said else system
    return changed if edit.status is None else _moved(systems, changed, edit, edit.status)


def _moved(systems: tuple[System, ...], system: System, edit: QueueEdit, to: SystemStatus) -> System:
    if edit.loop and system.loop not in (NOBODY, edit.loop):
        raise _refused(f"loop {system.loop} has claimed {system.id}, not loop {edit.loop}")
    if to == system.status and edit.loop in (NOBODY, system.loop):
        return replace(system, blocked_reason=edit.reason) if to == "blocked" and edit.reason else system
    if to not in EDGES[system.status]:
        ways = ", ".join(EDGES[system.status])
        where = f"it can become {ways}" if ways else "that is for good"
        raise _refused(f"{system.id} is {system.status} and cannot become {to}; {where}")
    if edit.loop and not system.loop:
        _refuse_to_claim(systems, system, edit, to)
    return replace(
        system,
        status=to,
        loop=NOBODY if to in UNCLAIMED else edit.loop or system.loop,
        started_at=system.started_at or edit.at if to == "in-progress" else system.started_at,
        completed_at=edit.at if to == "complete" else None,
        blocked_reason=(edit.reason or NO_REASON) if to == "blocked" else None,
    )


def _refuse_to_claim(systems: tuple[System, ...], system: System, edit: QueueEdit, to: SystemStatus) -> None:
    if to != "in-progress":
        raise _refused(f"loop {edit.loop} has not claimed {system.id}")
    if system.status not in STARTABLE:
        raise _refused(f"{system.id} is {system.status}; only what is {' or '.join(STARTABLE)} can be claimed")
    if missing := unmet(system, systems):
        raise _refused(f"{system.id} cannot be started: {', '.join(missing)} must be complete before it")


def _refused(why: str) -> InvalidTransition:
    return InvalidTransition(_OPEN, StateEdited.__name__, why)


# --- what others see ----------------------------------------------------------------------------------


def reply(_before: QueueState, after: QueueState, said: Event) -> tuple[str, ...]:
    """To whoever completed a system: which others wait for nothing any more, and which is next; to whoever claimed the
    next one: which that is. It is made of how the queue is, so that who asks twice is told the same.
    """
    if not isinstance(said, StateEdited):
        return ()
    edit = decode(QueueEdit, said.value)
    if said.subject == NEXT:
        return tuple(f"claimed {each.id}" for each in after.systems if _is_held(each, edit))
    if edit.status != "complete":
        return ()
    unblocked = tuple(f"unblocked {each.id}" for each in newly_unblocked(after, said.subject))
    following = next_ready(after)
    return (*unblocked, *((f"next {following.id}",) if following else ()))


def _is_held(system: System, edit: QueueEdit) -> bool:
    return system.loop == edit.loop and system.status == "in-progress"


def stand(state: QueueState) -> Standpoint:
    following = next_ready(state)
    complete = sum(each.status == "complete" for each in state.systems)
    return Standpoint(
        state=_OPEN,
        attempt=complete,
        limit=len(state.systems),
        headline=f"{progress(state)} % complete",
        lines=(f"next ready: {following.id}" if following else "no system is ready",),
    )


QUEUE: Loop[QueueParams, QueueState] = Loop(
    name="queue",
    params=QueueParams,
    state=QueueState,
    start=start,
    decide=decide,
    apply=apply,
    stand=stand,
    reply=reply,
)
