"""Starting quality loops: of one artifact, of a batch, and from a handoff that another tool wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.git.start_commit import start_from
from loopwright.app.creation import create_loop, new_id
from loopwright.app.loops import View
from loopwright.app.preconditions import check_cast, check_place
from loopwright.app.project import Project
from loopwright.app.starts.artifacts import Target, find_targets
from loopwright.config.settings import Settings
from loopwright.kernel.codec import encode
from loopwright.kernel.model import NO_COMMIT, Commit
from loopwright.kernel.trust import Trust
from loopwright.loops.batch.state import BatchArtifact, BatchParams
from loopwright.loops.quality.quality_file import ENDING, for_person
from loopwright.loops.quality.state import Depth, QualityParams, usual_task
from loopwright.loops.reviewed import QualityLimits

_PER_AGENT = 2  # children under way for each agent that may work: while one is recorded, another works


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    paths: tuple[str, ...]
    gate: str = ""  # empty: what each path is by its name
    depth: str = ""  # empty: what is usual at the gate
    batch: bool = False
    max_attempts: int | None = None
    merge: bool | None = None
    budget: float | None = None
    task: str = ""
    criteria: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPlan:
    """What a request comes to, before anything is made."""

    targets: tuple[Target, ...]
    limits: QualityLimits
    merge: bool
    batch: bool


def plan_review(
    project: Project, settings: Settings, request: ReviewRequest, cwd: Path, *, played: tuple[str, ...] | None = None
) -> ReviewPlan:
    """Raises the sentence that says why this review cannot be made. `played` are roles from outside the settings."""
    merge = settings.finish.merge if request.merge is None else request.merge
    check_place(project, settings, merge=merge, allow=request.allow)
    targets = find_targets(project, cwd, request.paths, request.gate, by_file=request.batch)
    if played is None:
        gates = {target.gate for target in targets}
        parts = {role for gate in gates for role in (settings.gate(gate).creator, settings.gate(gate).reviewer)}
        check_cast(project, settings, tuple(sorted(parts)))
    limits = settings.limits.quality
    if request.max_attempts is not None:
        limits = replace(limits, max_attempts=request.max_attempts)
    return ReviewPlan(targets=targets, limits=limits, merge=merge, batch=request.batch or len(targets) > 1)


async def create_review(
    project: Project,
    settings: Settings,
    request: ReviewRequest,
    cwd: Path,
    *,
    played: tuple[str, ...] | None = None,
    say: Callable[[str], None] = lambda _sentence: None,
) -> View:
    """A new quality loop, or a batch of them, not yet driven. `say` hears of files of others that stay."""
    plan = plan_review(project, settings, request, cwd, played=played)
    for target in plan.targets:
        for file in target.spared:
            say(f"{file} is not Loopwright's and stays as it is; findings of {target.path} go to {target.file}")
    return await create_planned(project, settings, request, plan)


async def create_planned(
    project: Project, settings: Settings, request: ReviewRequest, plan: ReviewPlan, *, adopted: str = ""
) -> View:
    """What was planned, in the log. `adopted` is the handoff, as JSON, that its only story was taken over with."""
    first = plan.targets[0].path
    more = f" and {len(plan.targets) - 1} more" if len(plan.targets) > 1 else ""
    loop = new_id(f"review {first}{more}")
    paths = tuple(target.source for target in plan.targets)
    base = start_from(project.root, project.environ, loop, project.head, paths, ours=ENDING)
    children = [
        replace(_params(project, settings, request, plan, target, base), adopted=adopted) for target in plan.targets
    ]
    params = _batch(project, settings, plan, children) if plan.batch else children[0]
    return await create_loop(project, settings, loop, params, budget=request.budget)


def _params(
    project: Project, settings: Settings, request: ReviewRequest, plan: ReviewPlan, target: Target, base: Commit
) -> QualityParams:
    part = settings.gate(target.gate)
    return QualityParams(
        artifact=target.path,
        base=base,
        story=target.story,
        against=project.head,
        gate=target.gate,
        depth=Depth(request.depth or part.depth),
        file=target.file,
        task=request.task.strip() or usual_task(target.path, target.gate),
        criteria=request.criteria,
        reviewer=part.reviewer,
        creator=part.creator,
        tier=target.tier,
        limits=plan.limits,
        known=target.known,
        target=project.branch,
        merge=plan.merge,
        checked=bool(settings.checks),
        shown=shown_file(settings, target),
        trust=Trust(
            base=base if plan.batch else NO_COMMIT, artifacts=(target.named,), allow=request.allow, in_force=True
        ),
        firm=True,
        accepts_checked=True,
    )


def shown_file(settings: Settings, target: Target) -> str:
    """Where a person finds the findings of an artifact; empty: they are not in a file."""
    return target.file if settings.quality.beside or not target.file else for_person(target.file)


def _batch(project: Project, settings: Settings, plan: ReviewPlan, children: list[QualityParams]) -> BatchParams:
    """What all children share is kept once; each artifact has only what differs."""
    each = [json.loads(encode(child)) for child in children]
    shared = {key: value for key, value in each[0].items() if all(other[key] == value for other in each)}
    own = [{key: value for key, value in one.items() if key not in shared} for one in each]
    named = tuple(dict.fromkeys(target.named for target in plan.targets))
    return BatchParams(
        artifacts=tuple(
            BatchArtifact(path=child.artifact, own=json.dumps(rest)) for child, rest in zip(children, own, strict=True)
        ),
        shared=json.dumps(shared),
        base=children[0].base,
        limits=plan.limits,
        width=max(2, _PER_AGENT * settings.limits.parallel),
        target=project.branch,
        merge=plan.merge,
        checked=bool(settings.checks),
        trust=replace(children[0].trust, base=NO_COMMIT, artifacts=named),
        firm=True,
        accepts_checked=True,
    )
