"""A new loop in the log, not yet driven."""

from __future__ import annotations

import secrets

from loopwright.app.project import Project
from loopwright.config.settings import Settings
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import slug
from loopwright.ports.store import NewEvent, NewLoop


def new_id(title: str) -> LoopId:
    """A readable id that no other loop has."""
    return LoopId(f"{slug(title, 24) or 'loop'}-{secrets.token_hex(3)}")


async def create_loop(
    project: Project, settings: Settings, loop: LoopId, *, kind: str, params: str, budget: float | None = None
) -> LoopId:
    """The loop with its first event, pinned to these settings."""
    created = Created(kind=kind, params=params, settings=settings.to_json())
    limit = settings.budget.usd if budget is None else budget
    new = NewLoop(id=loop, kind=kind, params=params, budget=limit)
    await project.store.create(new, NewEvent(kind="Created", data=encode(created)))
    return loop
