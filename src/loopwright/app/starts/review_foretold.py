"""What a review would be, before it is started: who else looks at the same, and what would be made of a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.artifacts import Target
from loopwright.app.starts.review import ReviewPlan, ReviewRequest, shown_file
from loopwright.config.settings import Settings
from loopwright.kernel.model import Commit
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.quality.machine import QUALITY
from loopwright.ports.store import LoopRow

_NAMED = 3  # artifacts in a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class ForetoldArtifact:
    artifact: str
    gate: str
    mode: str
    story: str
    known: int  # findings of earlier reviews
    file: str | None  # where findings would be handed over; null: in the brief
    agents: Mapping[str, tuple[str, ...]]  # names by role, in the order of fall-back


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewForetold:
    """What `loop review --dry-run` says would be started; nothing was created."""

    kind: Literal["batch", "quality"]
    base: Commit
    branch: str
    merge: bool
    artifacts: tuple[ForetoldArtifact, ...]
    max_attempts: int
    p1_threshold: int
    parallel: int
    budget: float | None
    criteria: tuple[str, ...]
    dry_run: bool = True


def foretold(project: Project, settings: Settings, request: ReviewRequest, plan: ReviewPlan) -> ReviewForetold:
    return ReviewForetold(
        kind="batch" if plan.batch else "quality",
        base=project.head,
        branch=project.branch.removeprefix("refs/heads/") or "(detached)",
        merge=plan.merge,
        artifacts=tuple(_artifact(settings, request, target) for target in plan.targets),
        max_attempts=plan.limits.max_attempts,
        p1_threshold=plan.limits.p1_threshold,
        parallel=settings.limits.parallel,
        budget=settings.budget.usd if request.budget is None else request.budget,
        criteria=request.criteria,
    )


def _artifact(settings: Settings, request: ReviewRequest, target: Target) -> ForetoldArtifact:
    part = settings.gate(target.gate)
    return ForetoldArtifact(
        artifact=target.path,
        gate=target.gate.value,
        mode=request.depth or part.depth,
        story=target.story,
        known=len(target.known),
        file=shown_file(settings, target) or None,
        agents={
            role: tuple(agent.name for agent in settings.agents_for(role)) for role in (part.reviewer, part.creator)
        },
    )


async def reviewed_by_others(project: Project, loop: View) -> tuple[str, ...]:
    """A sentence for each review that is still open and looks at the same: both write the findings of one story."""
    own, said = _artifacts(loop.row), []
    for row in await project.store.rows():
        if row.id == loop.row.id or row.outcome or row.parent is not None:
            continue
        if both := own & _artifacts(row):
            named = ", ".join(sorted(both)[:_NAMED]) + (f" and {len(both) - _NAMED} more" if len(both) > _NAMED else "")
            said.append(
                f"warning: {named} is under review in loop {row.id} too, and each writes its findings over the other's;"
                f" end that one first (`loop cancel --loop {row.id}`)"
            )
    return tuple(said)


def _artifacts(row: LoopRow) -> set[str]:
    given = json.loads(row.params) if row.kind in (QUALITY.name, BATCH.name) else {}
    many = {each["path"] for each in given.get("artifacts", ())}
    return many | ({given["artifact"]} if "artifact" in given else set())
