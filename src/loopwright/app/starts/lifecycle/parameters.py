"""What the lifecycle of a system is given, from the settings and from what the queue knows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from loopwright.adapters.skill_library import SkillLibrary
from loopwright.app.preconditions import check_cast, check_ground, refuse_independent
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.domains import queue_id
from loopwright.app.starts.workflow.inner import INNER, child_of, roles_of_attempt
from loopwright.config.settings import Settings
from loopwright.kernel.codec import plain
from loopwright.kernel.trust import Trust
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.lifecycle.gate_rules import TESTS, rules
from loopwright.loops.lifecycle.skills import SKILLS
from loopwright.loops.lifecycle.state import LifecycleParams, SystemFacts
from loopwright.loops.parts import Inner
from loopwright.loops.queue.state import System
from loopwright.loops.workflow.machine import WORKFLOW

# A whole request within: it takes itself apart, and lands on a branch of its own.
MAKERS: Mapping[str, Inner] = {**INNER, WORKFLOW.name: Inner(kind=WORKFLOW.name, task="request", attempts="")}
BRANCHES = "feature/"
_GATE = "code"  # at which changed files are reviewed


def roles_needed(settings: Settings) -> tuple[str, ...]:
    part = settings.gate(_GATE)
    own = ("skill", "developer", part.creator, part.reviewer)
    return tuple(dict.fromkeys((*own, *roles_of_attempt(_within(settings)))))


def refuse_here(project: Project, settings: Settings, allow: tuple[str, ...] = ()) -> None:
    """Raises the sentence that says why no system could be built here."""
    refuse_independent(settings, "a lifecycle")
    check_ground(project, settings, merge=False, allow=allow)
    check_cast(project, settings, roles_needed(settings))


def _within(settings: Settings) -> Settings:
    """The settings as the loop of a capability has them."""
    inner = settings.lifecycle.inner
    if inner == "workflow":
        return settings
    return replace(settings, workflow=replace(settings.workflow, inner=inner))


class AskedOfSystem(Protocol):
    """What a person says of the one system."""

    @property
    def domain(self) -> str: ...
    @property
    def allow(self) -> tuple[str, ...]: ...


def system_params(
    project: Project, settings: Settings, system: System, asked: AskedOfSystem, branch: str
) -> LifecycleParams:
    lifecycle = settings.lifecycle
    mode = system.autonomy.mode if system.autonomy else settings.autonomy.mode
    return LifecycleParams(
        system=SystemFacts(id=system.id, name=system.name, description=system.description, issue=system.github_issue),
        domain=asked.domain,
        loop=system.loop,
        queue=queue_id(asked.domain),
        base=project.head,
        target=project.branch,
        branch=branch,
        workspace=branch.removeprefix(BRANCHES),
        capabilities=system.capabilities,
        checks=tuple(check.name for check in settings.checks),
        limits=settings.limits.lifecycle,
        mode=mode,
        always=system.autonomy.gates if system.autonomy else (),
        inner=MAKERS[lifecycle.inner],
        child=_child(settings, system),
        reviewing=BATCH.name,
        review=json.dumps(_review(settings)),
        rules=rules(((gate.name, gate.paths) for gate in settings.gates), settings.workspace.tests or TESTS),
        tests=settings.workspace.tests or TESTS,
        reviewers=tuple((gate.name, who) for gate in settings.gates for who in gate.approvers),
        deploy=settings.deploy.run,
        forge=settings.forge.kind,
        merges=settings.forge.merge == "engine",
        poll=settings.forge.poll,
        trusts_scaffold=lifecycle.scaffold == "trust",
        delete_branch=settings.finish.delete_branch,
        leaves=_leaves(project),
        trust=Trust(allow=asked.allow, in_force=True, new_ground=True),
    )


def _child(settings: Settings, system: System) -> str:
    """What the loop of a capability is given besides; a workflow has what its tasks are given within it."""
    if settings.lifecycle.inner != WORKFLOW.name:
        return child_of(_within(settings), system.loop, None)
    given = {
        "limits": plain(settings.limits.workflow),
        "parallel": settings.limits.parallel,
        "checks": [check.name for check in settings.checks],
        "inner": plain(INNER[settings.workflow.inner]),
        "child": child_of(settings, system.loop, None),
        "is_root": False,
        "shape": "tool",
    }
    return json.dumps(given)


def _review(settings: Settings) -> dict[str, object]:
    """What the loop over the changed files is given, and what each of them is."""
    part, limits = settings.gate(_GATE), plain(settings.limits.quality)
    common = {"limits": limits, "checked": bool(settings.checks), "firm": True, "accepts_checked": True}
    each = {"gate": _GATE, "depth": part.depth, "reviewer": part.reviewer, "creator": part.creator}
    return {"each": {**common, **each}, "all": {**common, "width": max(2, 2 * settings.limits.parallel)}}


def _leaves(project: Project) -> tuple[tuple[str, str], ...]:
    """Where a person's own version of a skill leaves another file."""
    library = SkillLibrary(root=project.root)
    found = ((name, library.find(name)) for name in SKILLS)
    own = ((name, text) for name, text in found if text is not None and text.origin == "project")
    return tuple((name, text.deliverable) for name, text in own if text.deliverable != SKILLS[name].leaves)
