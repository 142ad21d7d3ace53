"""A new loop in the log, not yet driven."""

from __future__ import annotations

import secrets

from loopwright.adapters.git.log_identity import sign
from loopwright.adapters.git.repository import rules_of
from loopwright.adapters.speaker import speaker
from loopwright.app.loops import Listed, Past, View
from loopwright.app.project import Project
from loopwright.app.settings import pins_text
from loopwright.config.settings import Settings
from loopwright.engine.fold import just_made
from loopwright.errors import Forbidden
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import slug
from loopwright.ports.store import NewEvent, NewLoop


def new_id(title: str) -> LoopId:
    """A readable id that no other loop has."""
    return LoopId(f"{slug(title, 24) or 'loop'}-{secrets.token_hex(3)}")


async def create_loop(
    project: Project,
    settings: Settings,
    loop: LoopId,
    params: object,
    *,
    budget: float | None = None,
    unlimited: bool = False,
) -> View:
    """The loop that is started with such parameters, with its first event and pinned to these settings.

    What is known of it is handed on, so that nobody reads it back. Without a `budget` it has that of the settings,
    and none where the person said `unlimited`.
    """
    kind = next(each for each in project.kinds.values() if each.loop.params is type(params))
    given = encode(params)
    rules = encode(rules_of(project.root, project.environ))
    created = Created(
        kind=kind.loop.name,
        params=given,
        settings=settings.to_json(),
        by=speaker(project.environ),
        rules=rules,
        pins=pins_text(project, settings),
    )
    limit = None if unlimited else settings.budget.usd if budget is None else budget
    new = NewLoop(id=loop, kind=kind.loop.name, params=given, budget=limit)
    written = await project.store.create(new, NewEvent(kind="Created", data=encode(created)))
    if written is None:
        raise Forbidden(f"there is a loop {loop} already; `loop status` shows it")
    sign(project.root, project.environ, loop, project.head)
    past = Past(kind)
    opened = just_made(kind.loop, written, past.hear)
    return View(opened=opened, listed=Listed(row=written.row, kind=kind, alive=None), past=past.known)
