"""The systems of a domain that are to be built, as plain values, and what may be said about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.model import LoopId

SystemStatus = Literal["discovered", "specified", "ready", "in-progress", "review", "blocked", "complete"]
AutonomyMode = Literal["autonomous", "supervised", "hybrid"]
NOBODY = LoopId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemAutonomy:
    """How far one system is built without people, where that is not as the settings have it."""

    mode: AutonomyMode
    gates: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    id: str
    name: str
    description: str = ""
    github_issue: int | None = None
    status: SystemStatus = "ready"
    dependencies: tuple[str, ...] = ()
    priority: int = 1  # 1 comes first
    created_at: str = ""
    started_at: str | None = None
    completed_at: str | None = None
    blocked_reason: str | None = None
    notes: str = ""
    autonomy: SystemAutonomy | None = None
    capabilities: tuple[str, ...] = ()
    loop: LoopId = NOBODY  # that has claimed it, or has completed it


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueParams:
    domain: str
    repository: str = ""
    dream_state: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    plan: QueueParams
    systems: tuple[System, ...] = ()
    updated_at: str = ""
    highest: int = 0  # number that an id ever had: no id is given twice


# --- what may be said ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSystem:
    name: str
    description: str = ""
    github_issue: int | None = None
    status: Literal["discovered", "specified", "ready"] = "ready"
    dependencies: tuple[str, ...] = ()
    priority: int | None = None  # None: behind all others
    notes: str = ""
    autonomy: SystemAutonomy | None = None
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEdit:
    """What is to change, as the value of an edit has it. What is None stays as it is."""

    at: str = ""  # the moment, in ISO-8601: a machine has no clock
    add: NewSystem | None = None
    take_in: tuple[System, ...] = ()  # of a file that another tool or a person wrote
    remove: bool = False
    status: SystemStatus | None = None
    loop: LoopId = NOBODY  # that says so of what it has claimed, or claims now; nobody: a person says it
    reason: str = ""  # why it is blocked
    name: str | None = None
    description: str | None = None
    github_issue: int | None = None
    dependencies: tuple[str, ...] | None = None
    priority: int | None = None
    notes: str | None = None
    autonomy: SystemAutonomy | None = None
    capabilities: tuple[str, ...] | None = None


FIELDS = ("name", "description", "github_issue", "dependencies", "priority", "notes", "autonomy", "capabilities")
