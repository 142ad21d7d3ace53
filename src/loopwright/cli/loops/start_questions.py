"""What a person at the terminal is asked before a request is begun: how far it may go, and which learnings hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import click

from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import WorkflowRequest
from loopwright.app.starts.workflow.recall import as_recalled, surfaced
from loopwright.app.starts.workflow.task_list import LIST_ID, TaskListMode, open_tasks, with_task_list
from loopwright.cli.output import note
from loopwright.config.settings import Settings
from loopwright.kernel.quoting import one_line
from loopwright.loops.workflow.learnings import LearningKind

_ITERATIONS = ("10", "25", "50", "unlimited")
_MODES = ("new", "resume", "session-only")
_NAMED = 3
_BUDGETS = ("10", "25", "50", "none")
_KINDS: Mapping[LearningKind, str] = {
    "failures": "what went wrong",
    "discoveries": "what was found out",
    "constraints": "what has to be kept to",
    "delegation": "how a request went",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidAlready:
    """What the command line has said already: it is not asked again."""

    task_list: TaskListMode | None = None
    iterations: bool = False
    budget: bool = False


def asked_at_the_start(
    project: Project, settings: Settings, request: WorkflowRequest, given: SaidAlready
) -> tuple[WorkflowRequest, TaskListMode]:
    """How far it may go and where its tasks lie, asked where the command does not say. Gives the mode as well.

    A list is to be resumed only where one is named.
    """
    modes = _MODES if project.environ.get(LIST_ID) else tuple(each for each in _MODES if each != "resume")
    mode: TaskListMode = given.task_list or _chosen("Task list", modes, "new")  # type: ignore[assignment]  # one of them
    if not given.iterations:
        usual = settings.limits.workflow.max_iterations
        said = _chosen("Iterations at most", _ITERATIONS, "unlimited" if usual is None else str(usual))
        request = replace(request, max_iterations=None if said == "unlimited" else int(said))
    if not given.budget:
        usual_usd = settings.budget.usd
        said = _chosen("Budget in USD", _BUDGETS, "none" if usual_usd is None else f"{usual_usd:g}")
        request = replace(request, budget=None if said == "none" else float(said))
    return request, mode


def with_tasks_where_they_lie(project: Project, request: WorkflowRequest, mode: TaskListMode) -> WorkflowRequest:
    """Step 0 looks at the task list too: what is open there and nobody's is named, and taken where that is said."""
    if mode == "new" and (found := open_tasks(project)):
        named = ", ".join(one_line(task.subject, 60) for task in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        note(f"The task list has open tasks that no loop made: {named}{more}; `--task-list resume` takes them up.")
    return with_task_list(project, request, mode)


def _chosen(what: str, choices: tuple[str, ...], usual: str) -> str:
    """One of the seed's; what loop.toml says is among them."""
    known = choices if usual in choices else (*choices, usual)
    said: str = click.prompt(f"{what}?", type=click.Choice(known), default=usual, err=True)
    return said


def recalled_for(project: Project, request: WorkflowRequest, *, asks: bool) -> WorkflowRequest:
    """What was learned here before is shown; only what a person confirms counts."""
    found = surfaced(project, request.request)
    kept = []
    for learned in found:
        note(f"From an earlier run here, {learned.ts[:10]}, {_KINDS[learned.kind]}: {one_line(learned.text, 300)}")
        holds = asks and click.confirm("Shall the agents be told that this holds here too?", default=False, err=True)
        kept.append(as_recalled(learned, confirmed=holds))
    if found and not asks:
        note("Nobody is there to confirm that this holds here too, so the agents are not told of it.")
    return replace(request, recalled=tuple(kept))
