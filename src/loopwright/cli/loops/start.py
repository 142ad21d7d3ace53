"""`loop start`: drive one request to done, in waves of tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from loopwright.app.preconditions import check_cast, check_ground
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.workflow.creation import SHAPES, WorkflowRequest, create_alone
from loopwright.app.starts.workflow.inner import roles_needed
from loopwright.cli.drive import Manner, drive_and_tell
from loopwright.cli.given_text import GivenText
from loopwright.cli.here import Here
from loopwright.cli.loops.start_dry import foretell, start_json_option
from loopwright.cli.loops.start_questions import (
    SaidAlready,
    asked_at_the_start,
    recalled_for,
    with_tasks_where_they_lie,
)
from loopwright.cli.loops.start_unfinished import (
    ended,
    found_unfinished,
    gone_on,
    how_to_begin,
    refuse_what_is_for_a_new_one,
)
from loopwright.cli.opened import opened
from loopwright.cli.output import MONEY_OR_NONE, UNSET, OrNone, allow_option, count_to, note, task_options
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete

_TEXT = GivenText("request", "start")


@click.command("start")
@_TEXT.argument
@click.option("--request-file", type=click.Path(path_type=Path), help="Read the request from a file; - is stdin.")
@click.option(
    "--max-iterations",
    type=OrNone(count_to(100_000), "unlimited"),
    default=UNSET,
    metavar="N|unlimited",
    help="Task attempts in all, instead of those in loop.toml.",
)
@click.option(
    "--budget", type=MONEY_OR_NONE, default=UNSET, metavar="USD|none", help="Instead of the one in loop.toml."
)
@click.option("--shape", type=click.Choice(SHAPES), help="How it is worked, whatever the fit score says.")
@click.option("--task-list", type=click.Choice(("new", "resume", "session-only")), help="Where its tasks lie.")
@click.option("--resume", "goes_on", is_flag=True, help="Go on with the workflow that is not finished.")
@click.option("--fresh", is_flag=True, help="Cancel the workflow that is not finished and begin this one.")
@click.option("--merge/--no-merge", default=None, help="Integrate into the current branch once complete.")
@allow_option
@task_options
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@start_json_option
@click.pass_obj
def command(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, **given: Any) -> int:  # noqa: ANN401 - click has checked the types
    """Score REQUEST, shape it, take it apart into tasks, run them in waves, review and complete it.

    Every task is made in a loop of its own, verified by commands that Loopwright runs itself, and lands together with
    all that has landed before. Without REQUEST it goes on with the workflow that is not finished.
    """
    manner = Manner(unattended=unattended, as_json=as_json)
    goes_on, fresh, mode = given.pop("goes_on"), given.pop("fresh"), given.pop("task_list")
    text, file = str(given.pop("request")), given.pop("request_file")
    given["shape"] = given["shape"] or ""
    if dry_run:
        return foretell(here, WorkflowRequest(request=_TEXT.read(here.cwd, text, file), **given), as_json=as_json)
    asks = here.asks and not unattended
    stays = found_unfinished(here)
    how = how_to_begin(stays, goes_on=goes_on, fresh=fresh, anew=bool(text or file), asks=asks)
    if stays is not None and how != "fresh":
        refuse_what_is_for_a_new_one({**given, "task_list": mode})
        return gone_on(stays, how, unattended=unattended, as_json=as_json)
    request = WorkflowRequest(request=_TEXT.read(here.cwd, text, file), attended=asks, **given)
    with opened(here, create=True) as project:
        started_by_people(project, here, "start")
        settings = settings_of(project)
        check_ground(project, settings, merge=bool(request.merge), allow=request.allow)
        check_cast(project, settings, roles_needed(settings))
        if stays is not None and (stopped := ended(project, here, stays)) is not None:
            return stopped
        return _begin(project, here, request, SaidAlready(task_list=mode), manner)


def _begin(project: Project, here: Here, request: WorkflowRequest, given: SaidAlready, manner: Manner) -> int:
    settings = settings_of(project)
    if request.attended:
        given = replace(given, iterations=request.max_iterations != UNSET, budget=request.budget != UNSET)
        request, mode = asked_at_the_start(project, settings, request, given)
        given = replace(given, task_list=mode)
    request = with_tasks_where_they_lie(project, request, given.task_list or "new")
    request = recalled_for(project, request, asks=request.attended)
    loop = complete(create_alone(project, settings, request))
    if isinstance(loop, StoppedBySignal):
        return loop.exit_code
    note(f"loop {loop.row.id}: {loop.title}")
    return drive_and_tell(project, here, loop, manner)
