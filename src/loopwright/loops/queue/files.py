"""`system-queue.json`: the queue as other tools know it, in their keys; what is ours alone stands last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from loopwright.errors import ConfigError
from loopwright.kernel.codec import plain
from loopwright.kernel.shapes import (
    Path,
    choice,
    each_key_once,
    few_digits,
    fitted,
    keyed,
    matching,
    several,
    shown,
    text,
    whole,
)
from loopwright.loops.kind import Files, Scene
from loopwright.loops.queue.machine import ITSELF, NEXT
from loopwright.loops.queue.state import AutonomyMode, QueueState, System, SystemAutonomy, SystemStatus

MEMORY = "domain-memory"
NAME = "system-queue.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry:
    """A system as the file has it."""

    id: str
    name: str
    description: str
    githubIssue: int | None  # noqa: N815 - as the file has it, and so below
    status: SystemStatus
    dependencies: tuple[str, ...]
    priority: int
    createdAt: str  # noqa: N815
    startedAt: str | None  # noqa: N815
    completedAt: str | None  # noqa: N815
    blockedReason: str | None  # noqa: N815
    notes: str
    autonomy: SystemAutonomy | None
    capabilities: tuple[str, ...]
    loop: str | None  # that has claimed it


def entry(system: System) -> SystemEntry:
    return SystemEntry(
        id=system.id,
        name=system.name,
        description=system.description,
        githubIssue=system.github_issue,
        status=system.status,
        dependencies=system.dependencies,
        priority=system.priority,
        createdAt=system.created_at,
        startedAt=system.started_at,
        completedAt=system.completed_at,
        blockedReason=system.blocked_reason,
        notes=system.notes,
        autonomy=system.autonomy,
        capabilities=system.capabilities,
        loop=system.loop or None,
    )


# --- writing ------------------------------------------------------------------------------------------


def place(domain: str) -> str:
    """From the root of the repository."""
    return f"{MEMORY}/{domain}/{NAME}"


def render(scene: Scene[QueueState]) -> Files:
    return {place(scene.state.plan.domain): queue_text(scene.state)}


def queue_text(state: QueueState) -> str:
    plan = state.plan
    whole_queue = {
        "domain": plan.domain,
        "repository": plan.repository,
        "dreamState": plan.dream_state,
        "createdAt": plan.created_at,
        "updatedAt": state.updated_at,
        "systems": [plain(entry(each)) for each in state.systems],
    }
    return json.dumps(whole_queue, indent=2, ensure_ascii=False) + "\n"


# --- reading ------------------------------------------------------------------------------------------

_TEXTS = several(text(1), "a list of texts", unique=True)
_SYSTEM_ID = matching(
    "an id of letters, digits, dots and dashes", rf"(?!(?:{ITSELF}|{NEXT})$)[A-Za-z0-9][A-Za-z0-9._-]{{0,63}}"
)
_AUTONOMY = keyed(
    "an object with mode",
    "mode",
    mode=(choice(*get_args(AutonomyMode)), "Instead of the one in the settings."),
    gates=(_TEXTS, "Gates that a person opens in any case."),
    reason=(text(), "Why it is not as the settings have it."),
)
_SYSTEM = keyed(
    "an object with id, name and status",
    *("id", "name", "status"),
    id=(_SYSTEM_ID, "Such as sys-001."),
    name=(text(1), "What it is called."),
    description=(text(), "What it is to do."),
    githubIssue=(whole(1), "The issue that tells more."),
    status=(choice(*get_args(SystemStatus)), "How far it is."),
    dependencies=(several(_SYSTEM_ID, "a list of ids", unique=True), "Ids of systems that are built before it."),
    priority=(whole(1), "1 is the highest."),
    createdAt=(text(), "In UTC."),
    startedAt=(text(), "When it was first in progress."),
    completedAt=(text(), "When it was complete."),
    blockedReason=(text(), "Why it does not go on."),
    notes=(text(), "Whatever else is to be known."),
    autonomy=(_AUTONOMY, "How far it is built without people."),
    capabilities=(_TEXTS, "What it is to be able to do, in the order of building."),
    loop=(text(), "The loop that has claimed it; in an import it is not looked at."),
)
SYSTEM_QUEUE = keyed(
    "an object with systems",
    "systems",
    domain=(text(), "The folder below `domain-memory/`."),
    repository=(text(), "Where the code is."),
    dreamState=(text(), "Where the vision of the whole is told."),
    createdAt=(text(), "In UTC."),
    updatedAt=(text(), "In UTC."),
    systems=(several(_SYSTEM, "a list of systems"), "In the order in which they were added."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFile:
    repository: str
    dream_state: str
    created_at: str
    systems: tuple[System, ...]


def read_queue(content: str, name: str) -> QueueFile:
    """Raises `ConfigError` with the key that is wrong. Keys that are not ours are passed over."""

    def error(at: Path, says: str) -> ConfigError:
        return ConfigError(name, shown(at), says)

    try:
        data = json.loads(content, parse_int=few_digits, object_pairs_hook=each_key_once)
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()  # what no log can hold: half a character
    except (ValueError, RecursionError) as failure:
        raise ConfigError(name, "", f"expected JSON: {failure}") from failure
    held = fitted(SYSTEM_QUEUE, data, error)
    return QueueFile(
        repository=held.get("repository", ""),
        dream_state=held.get("dreamState", ""),
        created_at=held.get("createdAt", ""),
        systems=tuple(_system(each, number) for number, each in enumerate(held["systems"], start=1)),
    )


def _system(held: Mapping[str, Any], number: int) -> System:
    autonomy = held.get("autonomy")
    return System(
        id=held["id"],
        name=held["name"],
        description=held.get("description", ""),
        github_issue=held.get("githubIssue"),
        status=held["status"],
        dependencies=tuple(held.get("dependencies", ())),
        priority=held.get("priority", number),
        created_at=held.get("createdAt", ""),
        started_at=held.get("startedAt"),
        completed_at=held.get("completedAt"),
        blocked_reason=held.get("blockedReason"),
        notes=held.get("notes", ""),
        autonomy=None if autonomy is None else _autonomy(autonomy),
        capabilities=tuple(held.get("capabilities", ())),
    )


def _autonomy(held: Mapping[str, Any]) -> SystemAutonomy:
    return SystemAutonomy(mode=held["mode"], gates=tuple(held.get("gates", ())), reason=held.get("reason", ""))
