"""What `loop start --dry-run` says would happen: scores, shape, plan, waves, cost, and what would be asked.

No agent is asked for it: where a role is named, its part is said to be open, and what the engine's own rule would say
stands there.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import WorkflowRequest, limited, params_of
from loopwright.app.starts.workflow.inner import roles_of_attempt
from loopwright.config.settings import Settings
from loopwright.kernel.model import Commit, Question
from loopwright.loops.workflow.plan import PlannedTask, estimate, single_task, waves_of
from loopwright.loops.workflow.scoring import DIMENSIONS, MIN_SPEC, ShapeChoice, fit, score, shape_for
from loopwright.loops.workflow.shape import shape_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    name: str
    score: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowForetold:
    """What `loop start --dry-run` says would be started; nothing was created."""

    base: Commit
    branch: str
    merge: bool
    scores: tuple[Dimension, ...]
    spec_score: int
    fit_score: int
    shape: str
    criteria: tuple[str, ...]
    must_not: tuple[str, ...]
    tasks: tuple[PlannedTask, ...]
    waves: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...]  # that would be asked before anything is done
    asks: tuple[str, ...]  # what a person would be asked on the way
    roles: tuple[str, ...]  # who would be asked in place of the engine's own rules
    recalled: tuple[str, ...]
    iterations: int | None
    budget: float | None
    estimated_usd: float
    dry_run: bool = True


def foretold(project: Project, settings: Settings, asked: WorkflowRequest) -> WorkflowForetold:
    params = params_of(project, limited(settings, asked), asked)
    scored = score(params.request)
    confirmed = sum(each.confirmed for each in params.recalled)
    fitting = fit(scored.scores, confirmed)
    choice = ShapeChoice(params.shape) if params.shape else shape_for(fitting)
    shape = shape_of(params.request, ())
    tasks = (single_task(params.request, tuple(each.text for each in shape.criteria)),)
    unclear = scored.scores.spec < MIN_SPEC
    return WorkflowForetold(
        base=params.base,
        branch=params.target.removeprefix("refs/heads/") or "(detached)",
        merge=params.merge,
        scores=tuple(
            Dimension(name=name, score=getattr(scored.scores, name), why=why)
            for name, why in zip(DIMENSIONS, scored.reasons, strict=True)
        ),
        spec_score=scored.scores.spec,
        fit_score=fitting,
        shape=choice.value,
        criteria=tuple(each.text for each in shape.criteria),
        must_not=tuple(each.text for each in shape.must_not),
        tasks=tasks,
        waves=_waves(tasks),
        questions=scored.questions if unclear else (),
        asks=_asks(choice, fitting),
        roles=params.cast,
        recalled=tuple(each.title for each in params.recalled),
        iterations=params.limits.max_iterations,
        budget=settings.budget.usd if asked.budget == "settings" else asked.budget,
        estimated_usd=estimate(tasks, _usd_per_run(settings), len(roles_of_attempt(settings))),
    )


def _waves(tasks: tuple[PlannedTask, ...]) -> tuple[tuple[str, ...], ...]:
    found: dict[int, tuple[str, ...]] = {}
    for task, wave in zip(tasks, waves_of(tasks), strict=True):
        found[wave] = (*found.get(wave, ()), task.id)
    return tuple(found[wave] for wave in sorted(found))


def _asks(choice: ShapeChoice, fitting: int) -> tuple[str, ...]:
    shown = ("the shape, to be confirmed",) if fitting < 40 else ()  # noqa: PLR2004 - the bound of the fit score
    return (
        shown
        + {
            ShapeChoice.TOOL: (),
            ShapeChoice.TOOL_REVIEW: ("to go on, after each wave",),
            ShapeChoice.COLLEAGUE: ("to go on, after each task",),
            ShapeChoice.BLOCKED: (),
        }[choice]
    )


def _usd_per_run(settings: Settings) -> float:
    costs = [
        settings.agents_for(role)[0].reservation for role in roles_of_attempt(settings) if settings.agents_for(role)
    ]
    return sum(costs) / len(costs) if costs else 0.0
