"""`loop feedback`: implement, review and test one task until it is verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from loopwright.app.preconditions import check_cast, check_ground
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.given_text import GivenText
from loopwright.cli.here import Here
from loopwright.cli.opened import note_unseen, only_looked_at, opened
from loopwright.cli.output import MONEY, allow_option, count_to, note, put, put_json, task_options
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.config.settings import EXAMINER, Settings
from loopwright.kernel.codec import plain
from loopwright.kernel.model import Commit
from loopwright.loops.feedback.closing import FeedbackResult

_TEXT = GivenText("task", "feedback")
_ROLES = ("developer", "reviewer", "tester")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackForetold:
    """What `loop feedback --dry-run` says would be started; nothing was created."""

    base: Commit  # the commit it would start from
    branch: str
    merge: bool
    checks: Mapping[str, str]
    agents: Mapping[str, tuple[str, ...]]  # names by role, in the order of fall-back
    protected: tuple[str, ...]
    iterations: int
    budget: float | None
    criteria: tuple[str, ...]
    allow: tuple[str, ...] = ()  # where tests may be changed without asking
    dry_run: bool = True


@click.command("feedback")
@_TEXT.argument
@click.option("--task-file", type=click.Path(path_type=Path), help="Read the task from a file; - is stdin.")
@click.option("--criterion", "criteria", multiple=True, metavar="TEXT", help="What the reviewer checks; repeatable.")
@click.option("--max-iterations", type=count_to(1000), metavar="N", help="Instead of the one in loop.toml.")
@click.option("--budget", type=MONEY, metavar="USD", help="Instead of the one in loop.toml.")
@click.option("--merge/--no-merge", default=None, help="Integrate into the current branch once verified.")
@allow_option
@task_options
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@run_json_option(FeedbackResult, FeedbackForetold)
@click.pass_obj
def command(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, **given: object) -> int:
    """Implement TASK, review it against the task, run the checks; repeat with what failed until all is well.

    The result is a commit on a branch of its own, verified by commands that Loopwright ran itself.
    """
    task = _TEXT.read(here.cwd, str(given.pop("task")), given.pop("task_file"))
    request = FeedbackRequest(task=task, **given)  # type: ignore[arg-type]  # click has checked the types
    if dry_run:
        with only_looked_at(here) as project:
            return _foretell(project, settings_of(project), request, as_json=as_json)
    with opened(here, create=True) as project:
        started_by_people(project, here, "feedback")
        settings = settings_of(project)
        loop = complete(create_feedback(project, settings, request))
        if isinstance(loop, StoppedBySignal):
            return loop.exit_code
        note(f"loop {loop.row.id}: {request.task.splitlines()[0]}")
        return drive_and_tell(project, here, loop, Manner(unattended=unattended, as_json=as_json))


def _foretell(project: Project, settings: Settings, request: FeedbackRequest, *, as_json: bool) -> int:
    told = _plan(project, settings, request)
    check_ground(project, settings, merge=told.merge, allow=request.allow)
    check_cast(project, settings)
    note_unseen(project)
    if as_json:
        put_json(told)
        return 0
    put(f"Would start a feedback loop: {request.task.splitlines()[0]}")
    for name, value in plain(told).items():
        if name != "dry_run":
            put(f"  {name:<11} {_in_words(value)}")
    put("Nothing was created.")
    return 0


def _plan(project: Project, settings: Settings, request: FeedbackRequest) -> FeedbackForetold:
    limits = settings.limits.feedback
    roles = (*_ROLES, EXAMINER) if settings.trust.acceptance == "independent" else _ROLES
    return FeedbackForetold(
        base=project.head,
        branch=project.branch.removeprefix("refs/heads/") or "(detached)",
        merge=settings.finish.merge if request.merge is None else request.merge,
        checks={check.name: " ".join(check.run) for check in settings.checks},
        agents={role: tuple(agent.name for agent in settings.agents_for(role)) for role in roles},
        protected=settings.workspace.protected,
        iterations=request.max_iterations or limits.max_feedback_iterations,
        budget=settings.budget.usd if request.budget is None else request.budget,
        criteria=request.criteria,
        allow=request.allow,
    )


def _in_words(value: object) -> str:
    match value:
        case dict():
            return "; ".join(f"{key}: {_in_words(item)}" for key, item in value.items()) or "none"
        case list():
            return ", ".join(map(str, value)) or "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
