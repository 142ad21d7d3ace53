"""Saying something to the queue of a domain, also while others do, and claiming systems from it."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.adapters.doors import take_over
from loopwright.app.loops import Newest, View, view
from loopwright.app.project import Project
from loopwright.app.publisher import Publisher
from loopwright.app.starts.lifecycle.domains import now
from loopwright.app.starts.lifecycle.queue import place_of, queue_of
from loopwright.engine.hearing import hear
from loopwright.errors import AlreadyRunning, ConfigError, Forbidden
from loopwright.kernel.codec import encode, plain
from loopwright.kernel.events import StateEdited
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Scene
from loopwright.loops.queue import edges, machine
from loopwright.loops.queue.state import QueueEdit, QueueState, System

_PATIENCE = 400  # others hold it for the moment of one append
Failed = Callable[[str], None]


def edit_of(project: Project, subject: str, edit: QueueEdit, by: str) -> StateEdited:
    """What is said, and when; what is not said is left out."""
    nothing = plain(QueueEdit())
    said = {name: value for name, value in plain(edit).items() if value != nothing[name]}
    return StateEdited(subject=subject, value=encode({**said, "at": now(project)}), by=by)


async def tell(
    project: Project, seen: View, said: StateEdited, failed: Failed, taken_in: bytes | None = None
) -> QueueState:
    """The queue with it on record; its file follows at once, and `failed` hears where it cannot.

    `taken_in` is what somebody wrote into that file, where this is what is said now. Raises `Forbidden` where the queue
    does not take it.
    """
    heard = await hear(project.store, project.loops, seen.opened, said, Newest(), patience=_PATIENCE)
    if heard is None:
        raise AlreadyRunning(seen.row.id, "others")
    state: QueueState = heard.now.state
    scene = Scene(loop=heard.id, state=state, status=heard.row.status, seq=heard.row.seq)
    try:
        if taken_in is not None:
            take_over(place_of(project, state.plan.domain), taken_in)
        Publisher(project.root, project.kinds, failed).files(scene, seen.kind)
    except OSError as error:
        failed(f"{error.filename or project.root}: could not be written ({error.strerror}); `loop render` will")
    except ConfigError as error:
        failed(f"{error}; it was left as it is, mend it and run `loop render`")
    return state


async def claim_next(project: Project, domain: str, loop: LoopId, failed: Failed) -> System | None:
    """The next system that is ready, which from now on is this loop's alone; None where none is ready.

    Who asks again has the same one, until it is complete. The queue itself chooses, so that of ten who ask at once
    each gets another.
    """
    seen = await queue_of(project, domain)
    while seen is not None and _offers(seen.now.state, loop):
        try:
            return _own(await tell(project, seen, _claiming(project, machine.NEXT, loop), failed), loop)
        except Forbidden:
            latest = await view(project, seen.row.id)
            if latest.now.state == seen.now.state:
                raise
            seen = latest  # others were quicker
    return None


async def claim(project: Project, domain: str, system: str, loop: LoopId, failed: Failed) -> System:
    """This very system. Raises `Forbidden` where another loop has it, or it cannot be started."""
    seen = await queue_of(project, domain)
    if seen is None:
        raise Forbidden(f"domain {domain!r} has no queue; `loop queue add NAME` begins one")
    state = await tell(project, seen, _claiming(project, system, loop), failed)
    return next(each for each in state.systems if each.id == system)


async def left_behind(project: Project, domain: str, system: str = "") -> System | None:
    """Claimed by a loop that was killed before it was made; `system` names one, else it is any."""
    seen = await queue_of(project, domain)
    there = {row.id for row in await project.store.rows()}
    known: tuple[System, ...] = seen.now.state.systems if seen else ()
    lost = (each for each in known if each.loop and each.loop not in there and each.status == "in-progress")
    return next((each for each in lost if system in ("", each.id)), None)


def _claiming(project: Project, subject: str, loop: LoopId) -> StateEdited:
    return edit_of(project, subject, QueueEdit(status="in-progress", loop=loop), f"loop {loop}")


def _offers(state: QueueState, loop: LoopId) -> bool:
    return _own(state, loop) is not None or edges.next_ready(state) is not None


def _own(state: QueueState, loop: LoopId) -> System | None:
    return next((each for each in state.systems if each.loop == loop and each.status != "complete"), None)
