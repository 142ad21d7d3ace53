"""The skills of the lifecycle: which a phase needs, which file each leaves behind, and which the engine itself is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.deliverables import FileDemand, Format
from loopwright.loops.lifecycle.states import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """`leaves` is the file in the system's folder of deliverables; empty: what it leaves is the change itself."""

    name: str
    leaves: str = ""
    section: str = ""  # of that file, where several share it
    format: Format = "markdown"
    free: bool = False  # it may change more than its paper
    puts_back: Literal["", "product", "code"] = ""  # what it may not change, as `Checkpoint` has it
    by_engine: bool = False  # it is what the engine does, and is logged as that
    needs: Literal["", "git", "deploy"] = ""  # what has to be there first


def _of(*skills: Skill) -> Mapping[str, Skill]:
    return {skill.name: skill for skill in skills}


SKILLS = _of(
    Skill(name="entry-portal", leaves="DREAM-STATE.md"),
    Skill(name="requirements", leaves="REQUIREMENTS.md"),
    Skill(name="spec", leaves="FEATURESPEC.md"),
    Skill(name="estimation", leaves="ESTIMATE.md"),
    Skill(name="triage", leaves="TRIAGE.md"),
    Skill(name="memory-manager", by_engine=True),
    Skill(name="architect", leaves="ARCHITECTURE.md"),
    Skill(name="architecture-review", leaves="ARCHITECTURE-REVIEW.md"),
    Skill(name="scaffold", free=True),
    Skill(name="git-workflow", leaves="GIT.md", needs="git"),
    Skill(name="implement", free=True),
    Skill(name="test-generation", free=True, puts_back="product"),
    Skill(name="code-verification", leaves="VERIFICATION.md"),
    Skill(name="debug-assist"),
    Skill(name="code-validation", leaves="VALIDATION.md"),
    Skill(name="integration-test", leaves="VALIDATION.md", section="Integration", free=True),
    Skill(name="security-audit", leaves="VALIDATION.md", section="Security"),
    Skill(name="perf-analysis", leaves="VALIDATION.md", section="Performance"),
    Skill(name="document", leaves="README.md", free=True, puts_back="code"),
    Skill(name="code-review", leaves="CODE-REVIEW.md"),
    Skill(name="refactor", leaves="REFACTORING.md", free=True),
    Skill(name="deploy", leaves="DEPLOY.md", needs="deploy"),
    Skill(name="retrospective", leaves="RETROSPECTIVE.md"),
    Skill(name="calibration-tracker", leaves="CALIBRATION.md"),
    Skill(name="loop-controller", by_engine=True),
    Skill(name="skill-verifier", by_engine=True),
)

REQUIRED: Mapping[Stage, tuple[str, ...]] = {
    Stage.INIT: ("entry-portal", "requirements", "spec", "estimation", "triage", "memory-manager"),
    Stage.SCAFFOLD: ("architect", "architecture-review", "scaffold", "git-workflow"),
    Stage.IMPLEMENT: ("implement",),
    Stage.TEST: ("test-generation",),
    Stage.VERIFY: ("code-verification",),
    Stage.VALIDATE: ("code-validation", "integration-test", "security-audit", "perf-analysis"),
    Stage.DOCUMENT: ("document",),
    Stage.REVIEW: ("code-review", "refactor"),
    Stage.SHIP: ("deploy", "git-workflow"),
    Stage.COMPLETE: ("memory-manager", "retrospective", "calibration-tracker", "loop-controller"),
}
PRIMARY: Mapping[Stage, str] = {
    Stage.INIT: "memory-manager",
    Stage.SCAFFOLD: "scaffold",
    Stage.IMPLEMENT: "implement",
    Stage.TEST: "test-generation",
    Stage.VERIFY: "code-verification",
    Stage.VALIDATE: "code-validation",
    Stage.DOCUMENT: "document",
    Stage.REVIEW: "code-review",
    Stage.SHIP: "git-workflow",
    Stage.COMPLETE: "memory-manager",
}


# What these say decides whether a state is left: without a verdict it is not.
JUDGES = (
    *("architecture-review", "code-validation", "integration-test", "security-audit", "perf-analysis"),
    "code-review",
)


def in_order(stage: Stage) -> tuple[str, ...]:
    """The skills of a phase as they are invoked: in the order of the table, the primary one last."""
    primary = PRIMARY[stage]
    return (*(name for name in REQUIRED[stage] if name != primary), primary)


def folder_of(system: str) -> str:
    """Where the deliverables of a system lie, in its workspace and with its work."""
    return f"docs/systems/{system}"


def left_by(skill: Skill, system: str) -> tuple[FileDemand, ...]:
    """What has to be there once the skill is done."""
    if not skill.leaves:
        return ()
    return (FileDemand(path=f"{folder_of(system)}/{skill.leaves}", format=skill.format, section=skill.section),)
