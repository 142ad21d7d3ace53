"""`loop start`: drive one request to done, in waves of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from loopwright.app.loops import Listed, whole_view
from loopwright.app.preconditions import check_cast, check_ground
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.workflow.creation import SHAPES, WorkflowRequest, create_workflow, unfinished
from loopwright.app.starts.workflow.foretold import WorkflowForetold, foretold
from loopwright.cli import resume, status
from loopwright.cli.drive import Manner, drive_and_tell, driven, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.loops.feedback import task_text
from loopwright.cli.loops.start_questions import Given, ask_how_to_begin, asked_at_the_start, recalled_for
from loopwright.cli.opened import has_log, note_unseen, only_looked_at, opened
from loopwright.cli.output import MONEY, allow_option, count_to, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.config.settings import Settings
from loopwright.errors import AlreadyRunning, NeedsPerson, UsageError
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested
from loopwright.kernel.model import Cleanup
from loopwright.kernel.quoting import one_line
from loopwright.loops.workflow.closing import WorkflowResult

_UNSET = "settings"


class _Or(click.ParamType[Any]):
    """A number, or the word for none."""

    def __init__(self, inner: click.ParamType[float], word: str) -> None:
        self.name, self._inner, self._word = inner.name, inner, word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click has it
        return None if value == self._word else value if value == _UNSET else self._inner.convert(value, param, ctx)


@click.command("start")
@click.argument("request", required=False, default="")
@click.option("--request-file", type=click.Path(path_type=Path), help="Read the request from a file; - is stdin.")
@click.option(
    "--max-iterations",
    type=_Or(count_to(100_000), "unlimited"),
    default=_UNSET,
    metavar="N|unlimited",
    help="Task attempts in all, instead of those in loop.toml.",
)
@click.option(
    "--budget", type=_Or(MONEY, "none"), default=_UNSET, metavar="USD|none", help="Instead of the one in loop.toml."
)
@click.option("--shape", type=click.Choice(SHAPES), default="", help="How it is worked, whatever the fit score says.")
@click.option("--task-list", type=click.Choice(("new", "resume", "session-only")), help="Where its tasks lie.")
@click.option("--resume", "goes_on", is_flag=True, help="Go on with the workflow that is not finished.")
@click.option("--fresh", is_flag=True, help="Cancel the workflow that is not finished and begin this one.")
@click.option("--merge/--no-merge", default=None, help="Integrate into the current branch once complete.")
@allow_option
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@run_json_option(WorkflowResult, WorkflowForetold)
@click.pass_obj
def command(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, **given: Any) -> int:  # noqa: ANN401 - click has checked the types
    """Score REQUEST, shape it, take it apart into tasks, run them in waves, review and complete it.

    Every task is made in a loop of its own, verified by commands that Loopwright runs itself, and lands together with
    all that has landed before. Without REQUEST it goes on with the workflow that is not finished.
    """
    manner = Manner(unattended=unattended, as_json=as_json)
    goes_on, fresh, mode = given.pop("goes_on"), given.pop("fresh"), given.pop("task_list")
    text, file = str(given.pop("request")), given.pop("request_file")
    if goes_on and fresh:
        raise UsageError("--resume goes on with what is there and --fresh begins anew; give one of them")
    if dry_run:
        request = WorkflowRequest(request=task_text(here.cwd, text, file), **given)
        with only_looked_at(here) as project:
            return _foretell(project, settings_of(project), request, as_json=as_json)
    asks = here.asks and not unattended
    stays = _unfinished(here)
    if stays is None and goes_on:
        raise UsageError('there is no workflow to go on with; begin one with `loop start "REQUEST"`')
    if stays is not None:
        how = "fresh" if fresh else "resume" if goes_on or not (text or file) else _how(stays, asks=asks)
        again = click.get_current_context().invoke
        if how == "resume":
            return int(again(resume.command, loop_id=stays.row.id, budget=None, unattended=unattended, as_json=as_json))
        if how == "status":
            return int(again(status.command, watch=False, everything=False, as_json=as_json))
    request = WorkflowRequest(request=task_text(here.cwd, text, file), attended=asks, **given)
    with opened(here, create=True) as project:
        started_by_people(project, here, "start")
        if stays is not None and (stopped := _ended(project, here, stays)) is not None:
            return stopped
        return _begin(project, here, request, Given(task_list=mode), manner)


def _unfinished(here: Here) -> Listed | None:
    if not has_log(here):
        return None
    with opened(here) as project:
        found = asyncio.run(unfinished(project))
    return found[0] if found else None


def _how(stays: Listed, *, asks: bool) -> str:
    if asks:
        return ask_how_to_begin(stays)
    raise NeedsPerson(
        f"loop {stays.row.id} is not finished ({stays.status}: {one_line(stays.title, 100)}); go on with it with"
        " `loop start --resume`, or give --fresh to cancel it, which keeps its files and commits, and begin this one"
    )


def _ended(project: Project, here: Here, stays: Listed) -> int | None:
    """The one that was not finished is cancelled; what it made stays. A number: a signal came meanwhile."""
    if stays.alive is not None:
        raise AlreadyRunning(stays.row.id, stays.alive)
    said = CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING, by=here.who)
    asyncio.run(project.store.post(stays.row.id, type(said).__name__, encode(said)))
    seen = asyncio.run(whole_view(project, stays))
    done = complete(driven(project, here, seen, Manner(unattended=True, cancels=True)))
    if isinstance(done, StoppedBySignal):
        return done.exit_code
    note(f"loop {stays.row.id} is cancelled; its files are in .loop/workflow/{stays.row.id}, every commit is kept")
    return None


def _begin(project: Project, here: Here, request: WorkflowRequest, given: Given, manner: Manner) -> int:
    settings = settings_of(project)
    if request.attended:
        given = replace(given, iterations=request.max_iterations != _UNSET, budget=request.budget != _UNSET)
        request, mode = asked_at_the_start(settings, request, given)
        given = replace(given, task_list=mode)
    request = recalled_for(project, request, asks=request.attended)
    request = replace(request, list_id=here.environ.get("CLAUDE_CODE_TASK_LIST_ID", ""))
    loop = complete(create_workflow(project, settings, request))
    if isinstance(loop, StoppedBySignal):
        return loop.exit_code
    note(f"loop {loop.row.id}: {one_line(request.request, 200)}")
    return drive_and_tell(project, here, loop, manner)


# --- before anything is done ------------------------------------------------------------------------------------------


def _foretell(project: Project, settings: Settings, request: WorkflowRequest, *, as_json: bool) -> int:
    told = foretold(project, settings, request)
    check_ground(project, settings, merge=told.merge, allow=request.allow)
    check_cast(project, settings)
    note_unseen(project)
    if as_json:
        put_json(told)
        return 0
    put(f"Would start a workflow: {one_line(request.request, 200)}")
    for line in _lines(told):
        put(f"  {line}")
    put("Nothing was created.")
    return 0


def _lines(told: WorkflowForetold) -> Iterator[str]:
    for each in told.scores:
        yield f"{each.name:<12} {each.score}/2  {each.why}"
    yield f"spec         {told.spec_score}/10, fit {told.fit_score}: {told.shape}"
    for question in told.questions:
        yield f"asks first   {question.question}"
    yield from (f"done when    {text}" for text in told.criteria)
    yield from (f"must not     {text}" for text in told.must_not)
    for number, wave in enumerate(told.waves, start=1):
        yield f"wave {number:<8}{', '.join(wave)}"
    yield from (f"{task.id:<13}{task.subject}" for task in told.tasks)
    yield from (f"asks         {text}" for text in told.asks)
    named = ", ".join(told.roles)
    yield f"roles        {named or 'none'}: {'asked instead of these rules' if named else 'the rules above stand in'}"
    iterations = "unlimited" if told.iterations is None else told.iterations
    budget = "none" if told.budget is None else f"{told.budget:.2f} USD"
    yield f"limits       {iterations} iterations, budget {budget}"
    yield f"cost         about {told.estimated_usd:.2f} USD, if every task passes at once"
