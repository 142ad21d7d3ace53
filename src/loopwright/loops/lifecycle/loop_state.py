"""`loop-state.json` as it is read: what another tool wrote, and what a person changed in ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from loopwright.errors import ConfigError
from loopwright.kernel.shapes import (
    Path,
    Problem,
    Shape,
    choice,
    each_key_once,
    few_digits,
    fitted,
    flag,
    keyed,
    matching,
    named,
    ruled,
    several,
    shown,
    text,
    whole,
)
from loopwright.loops.lifecycle.moments import MarkKind, StageStatus
from loopwright.loops.lifecycle.states import NORMAL, Stage

GateStatus = Literal["pending", "requested", "approved", "rejected", "not-applicable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRead:
    stage: str
    error: str
    timestamp: str
    capability: str = ""
    resolution: str = ""
    resolved_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRead:
    required: bool
    status: GateStatus
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStateRead:
    """`others` are keys that are not needed here, as they were read."""

    system: str
    name: str
    branch: str
    worktree: str
    state: Stage
    entered: str
    updated: str
    issue: int | None = None
    completed: int = 0  # capabilities
    total: int = 1
    current: str = ""
    remaining: tuple[str, ...] = ()
    count: int = 0  # retries of the present failure
    most: int = 3
    failures: int = 0  # in all
    history: tuple[FailureRead, ...] = ()
    gates: Mapping[str, GateRead] = field(default_factory=dict)
    blocked: str = ""
    others: Mapping[str, object] = field(default_factory=dict)


# --- what it holds --------------------------------------------------------------------------------------------------


def _with_status(gate: dict[str, Any]) -> Problem | None:
    if gate["required"] and "status" not in gate:
        return Problem(f"status is missing; give it {_GATE_STATUS.says}")
    return None


_COUNT = whole(0)
_TEXT = text()
_GATE_STATUS = choice(*get_args(GateStatus))
_STAGE = keyed(
    "an object",
    *("status",),
    status=choice(*get_args(StageStatus)),
    startedAt=_TEXT,
    completedAt=_TEXT,
    error=(_TEXT, "Why it could not be left."),
)
_FAILURE = keyed(
    "an object",
    *("stage", "error", "timestamp"),
    stage=text(1),
    capability=_TEXT,
    error=text(1),
    timestamp=text(1),
    resolution=_TEXT,
    resolvedAt=_TEXT,
)
_FAILURES = keyed(
    "an object",
    *("count", "maxRetries", "history"),
    count=(_COUNT, "Retries of the present failure."),
    maxRetries=_COUNT,
    totalFailures=(_COUNT, "Of the system, in all its life."),
    maxTotalFailures=_COUNT,
    history=several(_FAILURE),
)
_GATE = ruled(
    keyed(
        "an object",
        *("required",),
        required=flag(),
        status=(_GATE_STATUS, "Without one, a gate that is not required is not applicable."),
        requestedAt=_TEXT,
        approvedBy=_TEXT,
        approvedAt=_TEXT,
        notes=_TEXT,
    ),
    _with_status,
    {"if": {"properties": {"required": {"const": True}}}, "then": {"required": ["status"]}},
)
_CHECKPOINT = keyed(
    "an object", *("type", "at"), type=choice(*get_args(MarkKind)), at=text(1), hash=_TEXT, message=_TEXT
)
_CAPABILITIES = keyed(
    "an object",
    total=whole(1),
    completed=_COUNT,
    current=(_TEXT, "Null between two of them."),
    remaining=(several(text(1)), "Without the current one."),
)
_RUN = keyed(
    "an object",
    *("skill",),
    skill=text(1),
    reason=_TEXT,
    startedAt=_TEXT,
    completedAt=_TEXT,
    durationMs=(_COUNT, "Without the time that people were waited for."),
    status=choice("in-progress", "complete", "failed", "skipped"),
    deliverables=several(_TEXT),
    referencesRead=several(_TEXT),
    children=(several(keyed("an object", "skill", skill=text(1))), "The same of what ran within it."),
)
_SKILL_DONE = keyed("an object", *("skill", "timestamp"), skill=text(1), timestamp=text(1), durationMs=_COUNT)
_EXECUTION = keyed("an object", **dict.fromkeys(("required", "completed", "skipped"), several(_TEXT)))
_STAGES: Shape = keyed("an object", **dict.fromkeys(NORMAL, _STAGE))
LOOP_STATE = keyed(
    "a JSON object",
    *("systemId", "systemName", "branch", "worktree", "state", "stateEnteredAt"),
    *("stages", "failures", "gates", "updatedAt"),
    systemId=matching("an id such as sys-001", r"sys-[0-9]{3,}"),
    systemName=text(1),
    githubIssue=(whole(1), "Null where there is none."),
    branch=matching("a branch such as feature/orders", r"feature/.+"),
    worktree=matching("a folder such as .worktrees/orders", r"\.worktrees/.+"),
    state=(choice(*Stage), "A person may set it back to one that was reached; nothing else may be edited."),
    stateEnteredAt=text(1),
    capabilities=_CAPABILITIES,
    stages=_STAGES,
    failures=_FAILURES,
    gates=named(_GATE, "an object"),
    checkpoints=several(_CHECKPOINT),
    lastVerification=(_TEXT, "When checks last ran, whatever they said."),
    skillsUsage=(named(_COUNT, "an object"), "How often each skill was completed."),
    skillsLog=several(_RUN),
    metrics=keyed("an object", skillsInvoked=_COUNT, skillHistory=several(_SKILL_DONE)),
    skillExecution=named(_EXECUTION, "an object"),
    prerequisites=named(keyed("an object", status=_TEXT, target=_TEXT, prompted=flag()), "an object"),
    blockedReason=(_TEXT, "Why a person is needed."),
    pullRequest=keyed("an object", number=whole(1), url=_TEXT, state=_TEXT),
    updatedAt=text(1),
)
_TAKEN = frozenset(
    {
        *("systemId", "systemName", "githubIssue", "branch", "worktree", "state", "stateEnteredAt", "capabilities"),
        *("failures", "gates", "blockedReason", "updatedAt"),
    }
)


# --- reading --------------------------------------------------------------------------------------------------------


def read_loop_state(content: str, name: str = "loop-state.json") -> LoopStateRead:
    """Raises `ConfigError` with the key that is wrong. Keys that nobody knows are kept aside."""

    def error(at: Path, says: str) -> ConfigError:
        return ConfigError(name, shown(at), says)

    data = _parsed(content)
    if isinstance(data, Problem):
        raise error(data.at, data.says)
    held = fitted(LOOP_STATE, data, error)
    capabilities, failures = held.get("capabilities", {}), held["failures"]
    return LoopStateRead(
        system=held["systemId"],
        name=held["systemName"],
        issue=held.get("githubIssue"),
        branch=held["branch"],
        worktree=held["worktree"],
        state=Stage(held["state"]),
        entered=held["stateEnteredAt"],
        updated=held["updatedAt"],
        completed=capabilities.get("completed", 0),
        total=capabilities.get("total", 1),
        current=capabilities.get("current", ""),
        remaining=tuple(capabilities.get("remaining", ())),
        count=failures["count"],
        most=failures["maxRetries"],
        failures=failures.get("totalFailures", 0),
        history=tuple(map(_failure, failures["history"])),
        gates={gate: _gate(row) for gate, row in held["gates"].items()},
        blocked=held.get("blockedReason", ""),
        others={key: value for key, value in held.items() if key not in _TAKEN},
    )


def _parsed(content: str) -> object:
    try:
        data = json.loads(content, parse_int=few_digits, object_pairs_hook=each_key_once)
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()  # what no log can hold: half a character
    except (ValueError, RecursionError) as failure:
        return Problem(f"expected JSON: {failure}")
    return data


def _failure(row: Mapping[str, str]) -> FailureRead:
    return FailureRead(
        stage=row["stage"],
        error=row["error"],
        timestamp=row["timestamp"],
        capability=row.get("capability", ""),
        resolution=row.get("resolution", ""),
        resolved_at=row.get("resolvedAt", ""),
    )


def _gate(row: Mapping[str, Any]) -> GateRead:
    return GateRead(required=row["required"], status=row.get("status", "not-applicable"), by=row.get("approvedBy", ""))


# --- what a person changed ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateEdit:
    """The one thing that may be: the state. Whether it is legal the machine decides."""

    state: str


def edit_of(ours: str, theirs: str) -> StateEdit | Problem | None:
    """What was changed since the file was written; None: nothing that means anything."""
    now = _parsed(theirs)
    if isinstance(now, Problem):
        return now
    if not isinstance(now, dict):
        return Problem("expected a JSON object")
    was = json.loads(ours)
    changed = [key for key in (*was, *(key for key in now if key not in was)) if was.get(key) != now.get(key)]
    others = [key for key in changed if key != "state"]
    if others:
        return Problem("only `state` may be edited; put this back as it was", (others[0],))
    if not changed:
        return None
    state = now.get("state")
    if state not in tuple(Stage):
        return Problem(f"expected one of {', '.join(Stage)}", ("state",))
    return StateEdit(str(state))
