"""The queue of a domain: found, and made by whoever first adds to it."""

from __future__ import annotations

from loopwright.adapters.doors import RecordPlace, is_ours
from loopwright.adapters.git.log_identity import sign
from loopwright.app.layout import RECORDS, STATE_FOLDER
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.domains import now, queue_id
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created
from loopwright.loops.queue.edges import found
from loopwright.loops.queue.files import place
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams, QueueState, System
from loopwright.ports.store import NewEvent, NewLoop


async def queue_of(project: Project, domain: str) -> View | None:
    """The queue as it stands; None where nobody has added anything yet. Raises `Forbidden` for another's."""
    loop = queue_id(domain)
    if not any(row.id == loop for row in await project.store.rows()):
        return None
    seen = await view(project, loop)
    own = seen.now.state.plan.domain if isinstance(seen.now.state, QueueState) else ""
    if own != domain:
        raise Forbidden(f"loop {loop} is not the queue of {domain!r} but of {own!r}; choose a domain of another name")
    return seen


async def state_of(project: Project, domain: str) -> QueueState:
    """As it stands; empty where there is none yet."""
    seen = await queue_of(project, domain)
    state: QueueState = seen.now.state if seen else QUEUE.start(QueueParams(domain=domain))
    return state


async def made_queue(project: Project, params: QueueParams, by: str) -> View:
    """The queue of the domain, made if there is none; of two who make it at once both get the same."""
    while (known := await queue_of(project, params.domain)) is None:
        loop = queue_id(params.domain)
        given = encode(replace(params, created_at=params.created_at or now(project)))
        first = NewEvent(kind=Created.__name__, data=encode(Created(kind=QUEUE.name, params=given, by=by)))
        if await project.store.create(NewLoop(id=loop, kind=QUEUE.name, params=given), first):
            sign(project.root, project.environ, loop, project.head)
    return known


def place_of(project: Project, domain: str) -> RecordPlace:
    return RecordPlace(project.root, place(domain), f"{STATE_FOLDER}/{RECORDS}")


def is_edited(project: Project, domain: str) -> bool:
    """Whether somebody else has written what stands in the file of the queue."""
    return not is_ours(place_of(project, domain))


def known_system(state: QueueState, name: str) -> System:
    """Raises `UsageError` for one that is not in the queue."""
    system = found(state.systems, name)
    if system is None:
        domain = state.plan.domain
        raise UsageError(f"there is no system {name!r} in the queue of {domain}; `loop queue list` names them")
    return system
