"""`loop plan`: the tasks of a workflow in their waves, what each waits for, and how it is verified."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.choice import listed_as
from loopwright.app.loops import Listed, listing, view
from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import NAME
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.errors import UsageError
from loopwright.loops.workflow.plan_view import ShownPlan, plan_lines, shown_plan

_NONE = 'no workflow was ever started here; `loop start "REQUEST"` begins one'


@click.command("plan")
@loop_option
@click.option("--mermaid", is_flag=True, help="Only the graph, in Mermaid's words.")
@json_option(ShownPlan)
@click.pass_obj
def command(here: Here, *, loop_id: str, mermaid: bool, as_json: bool) -> int:
    """The plan of a workflow: waves, tasks with their state, what each waits for, and how it is verified.

    Without --loop it is the one that is not finished, else the newest. Nothing is changed.
    """
    if not has_log(here):
        raise UsageError(_NONE)
    with opened(here) as project:
        plan = asyncio.run(_look(project, loop_id))
    if as_json:
        put_json(plan)
    elif mermaid:
        put(plan.mermaid.rstrip("\n") or "graph TD")
    else:
        put("\n".join(plan_lines(plan)))
    return 0


async def _look(project: Project, loop_id: str) -> ShownPlan:
    seen = await view(project, await _meant(project, loop_id))
    return shown_plan(seen.row.id, seen.now.state, seen.row.status)


async def _meant(project: Project, loop_id: str) -> Listed:
    if loop_id:
        found = await listed_as(project, loop_id)
        if found.row.kind != NAME:
            raise UsageError(f"loop {found.row.id} is a {found.row.kind} loop and has no plan; `loop log` shows it")
        return found
    every = [each for each in await listing(project) if each.row.kind == NAME]
    if not every:
        raise UsageError(_NONE)
    return next((each for each in every if not each.is_over), every[0])
