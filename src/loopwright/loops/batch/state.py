"""What a batch remembers: for each artifact one line, where its own loop stands, and nothing of its findings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from loopwright.kernel.model import NO_COMMIT, NO_KEY, Cleanup, Commit, Ending, Key, LoopId, Outcome, Part, Point
from loopwright.loops.reviewed import QualityLimits

CHILD = "quality"
AT_REVIEW, AT_FIX = "LOAD_ARTIFACTS", "FIX"  # the two points of a child at which a round is waited for


class Phase(StrEnum):
    REVIEW = "REVIEW"
    FIX = "FIX"
    COMBINE = "COMBINE"
    LAND = "LAND"
    ESCALATED = "ESCALATED"
    CANCEL = "CANCEL"
    CLEAN_UP = "CLEAN_UP"
    DONE = "DONE"


class Standing(StrEnum):
    PENDING = "pending"  # to be reviewed
    BLOCKED = "blocked"  # to be fixed
    PASSED = "passed"
    STUCK = "stuck"  # only a person can help
    CONFLICT = "conflict"  # passed, but its fix does not go together with the others
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One artifact and what its loop is given besides what all are given, as JSON."""

    path: str
    own: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchParams:
    artifacts: tuple[Artifact, ...]
    shared: str  # JSON: what every child is given
    base: Commit
    limits: QualityLimits = QualityLimits()
    width: int = 8  # children under way at once; how many agents work at once is the engine's to bound
    target: str = ""
    branch: str = ""
    merge: bool = False
    checked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    path: str
    standing: Standing = Standing.PENDING
    at: Point = Point(AT_REVIEW, 1)
    line: str = ""  # `TOKEN: artifact`, or why it is stuck
    attempts: int = 0
    commit: Commit = NO_COMMIT  # the result, once it passed or was accepted
    asking: Key = NO_KEY
    loop: LoopId = LoopId("")
    over: bool = False  # its loop has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a person said, to be told to the children."""

    say: Literal["", "continue", "accept", "revise", "cancel"] = ""
    grant: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    plan: BatchParams
    items: tuple[Item, ...]
    phase: Phase = Phase.REVIEW
    round: int = 1
    todo: tuple[int, ...] = ()  # what the present phase has not heard of yet, by index
    order: Order | None = None
    asked: int = 0
    combined: Commit = NO_COMMIT
    landed: tuple[int, ...] = ()  # whose fixes are on the branch
    branch: str = ""
    commit: Commit = NO_COMMIT
    merged_into: str = ""
    note: str = ""
    accepted: bool = False
    merge_accepted: bool = False
    cancel: Cleanup | None = None
    outcome: Outcome | None = field(default=None)


def start(params: BatchParams) -> Batch:
    """An artifact that is named twice is reviewed once, since its path names its loop."""
    artifacts = tuple({artifact.path: artifact for artifact in params.artifacts}.values())
    items = tuple(Item(path=artifact.path) for artifact in artifacts)
    phase = Phase.REVIEW if items else Phase.DONE
    return Batch(plan=replace(params, artifacts=artifacts), items=items, phase=phase, todo=tuple(range(len(items))))


def child_params(plan: BatchParams, index: int) -> str:
    artifact = plan.artifacts[index]
    limits = {"max_attempts": plan.limits.max_attempts, "p1_threshold": plan.limits.p1_threshold}
    given = {**json.loads(plan.shared), **json.loads(artifact.own)}
    return json.dumps({**given, "artifact": artifact.path, "limits": limits, "lands": False}, sort_keys=True)


def of_standing(state: Batch, *standings: Standing) -> tuple[int, ...]:
    return tuple(index for index, item in enumerate(state.items) if item.standing in standings)


def with_item(state: Batch, index: int, item: Item) -> Batch:
    return replace(state, items=(*state.items[:index], item, *state.items[index + 1 :]))


def landable(state: Batch) -> tuple[int, ...]:
    """Whose fixes belong on the branch: a review that passed at once has none."""
    good = of_standing(state, Standing.PASSED, Standing.ACCEPTED)
    return tuple(index for index in good if state.items[index].commit not in (NO_COMMIT, state.plan.base))


def stuck(state: Batch) -> tuple[int, ...]:
    return of_standing(state, Standing.STUCK, Standing.CONFLICT)


def can_go_on(state: Batch) -> tuple[int, ...]:
    """The stuck ones whose loop has not ended."""
    return tuple(index for index in of_standing(state, Standing.STUCK) if not state.items[index].over)


def is_landed(state: Batch) -> bool:
    return landable(state) == state.landed


def escalated(state: Batch) -> Batch:
    return replace(state, phase=Phase.ESCALATED, asked=state.asked + 1, order=None)


def ended(state: Batch, ending: Ending) -> Outcome:
    return Outcome(
        ending=ending,
        attempts=state.round,
        commit=state.commit,
        branch=state.branch,
        merged_into=state.merged_into,
        note=state.note,
        parts=tuple(_part(item) for item in state.items),
        cleanup=state.cancel,
    )


_ENDINGS = {
    Standing.PASSED: Ending.VERIFIED,
    Standing.ACCEPTED: Ending.ACCEPTED,
    Standing.STUCK: Ending.ESCALATED,
    Standing.CONFLICT: Ending.ESCALATED,
    Standing.PENDING: Ending.CANCELLED,
    Standing.BLOCKED: Ending.CANCELLED,
}


def _part(item: Item) -> Part:
    ending = _ENDINGS[item.standing]
    return Part(name=item.path, ending=ending, note=item.line, attempts=item.attempts, loop=item.loop)
