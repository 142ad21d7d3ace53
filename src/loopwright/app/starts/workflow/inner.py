"""The loops in which tasks can be made: what each calls its parameters, and what it is given besides the task."""

from __future__ import annotations

import json
from collections.abc import Mapping

from loopwright.app.preconditions import examiner_of
from loopwright.app.starts.tickets.sessions import CREATOR, JUDGE
from loopwright.config.settings import Settings
from loopwright.kernel.codec import encode
from loopwright.kernel.model import LoopId
from loopwright.loops.parts import Inner

_TESTER = "tester"
_LONGEST, _TOKEN = 16, 7  # characters of a session that are left of the workflow's id: its beginning, and its end
INNER: Mapping[str, Inner] = {
    "feedback": Inner(),
    "tickets": Inner(kind="tickets", task="title", details="what", name="session", attempts="max"),
}


def roles_of_attempt(settings: Settings) -> tuple[str, ...]:
    """Who has to be there for one attempt at a task."""
    return (CREATOR, *settings.tickets.critics) if settings.workflow.inner == "tickets" else ("developer", "reviewer")


def roles_needed(settings: Settings) -> tuple[str, ...]:
    """Who has to be there for the whole of it."""
    return tuple(dict.fromkeys((*roles_of_attempt(settings), "reviewer")))


def child_of(settings: Settings, loop: LoopId, roles: tuple[str, ...] | None, *, is_code: bool = True) -> str:
    """What the loop of every task of this workflow is given, besides its task. `roles` are played by agents from
    outside the settings; `is_code` as in `examiner_of`."""
    if settings.workflow.inner == "tickets":
        return _tickets(settings, loop, roles)
    tester, examiner = _is_played(settings, _TESTER, roles), examiner_of(settings, roles, is_code=is_code)
    limits = encode(settings.limits.feedback)
    return f'{{"tester":{"true" if tester else "false"},"examiner":"{examiner}","limits":{limits}}}'


def _tickets(settings: Settings, loop: LoopId, roles: tuple[str, ...] | None) -> str:
    """A session is named after the workflow and the task, so that its files say whose they are."""
    creators = (CREATOR,) if roles is not None else tuple(agent.name for agent in settings.agents_for(CREATOR))
    given = {
        "session": f"{loop[:-_TOKEN][:_LONGEST].rstrip('-')}{loop[-_TOKEN:]}",
        "creators": creators,
        "critics": settings.tickets.critics,
        "judge": _is_played(settings, JUDGE, roles),
        "firm": True,
    }
    return json.dumps(given)


def _is_played(settings: Settings, role: str, roles: tuple[str, ...] | None) -> bool:
    return role in roles if roles is not None else bool(settings.agents_for(role))
