"""`loop review`: review artifacts, have them fixed, and review them again until they pass."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.review import ReviewRequest, create_review, plan_review
from loopwright.app.starts.review_foretold import ForetoldArtifact, ReviewForetold, foretold, reviewed_by_others
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import note_unseen, only_looked_at, opened
from loopwright.cli.output import MONEY, allow_option, count_to, limit_shown, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.quality.state import Depth, Gate
from loopwright.loops.reviewed import ReviewResult

_SHOWN = 40  # artifacts that a dry run names


@click.command("review")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--gate",
    type=click.Choice([gate.value for gate in Gate]),
    default=None,
    help="What the review is for; else what each PATH is by its name.",
)
@click.option(
    "--mode",
    "depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=None,
    help="How deep it looks; else as is usual at the gate.",
)
@click.option("--batch", is_flag=True, help="Hand findings over in files; a folder is its files.")
@click.option("--task", default="", metavar="TEXT", help="What the artifacts are for; the reviewer is told.")
@click.option("--criterion", "criteria", multiple=True, metavar="TEXT", help="What the reviewer checks; repeatable.")
@click.option("--max-attempts", type=count_to(1000), metavar="N", help="Reviews of each artifact, at most.")
@click.option("--budget", type=MONEY, metavar="USD", help="Instead of the one in loop.toml.")
@click.option("--merge/--no-merge", default=None, help="Integrate the fixes into the current branch.")
@allow_option
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@run_json_option(ReviewResult, ReviewForetold)
@click.pass_obj
def command(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, **given: object) -> int:
    """Review each PATH, have what is found fixed, and review it again until it passes.

    What you have not committed of a PATH is reviewed as it is. Fixes are a commit on a branch of its own. An artifact
    that is still blocked after its last review waits for you, with everything that is unresolved.
    """
    said = {name: "" if value is None and name in ("gate", "depth") else value for name, value in given.items()}
    request = ReviewRequest(**said)  # type: ignore[arg-type]  # click has checked the types
    if dry_run:
        with only_looked_at(here) as project:
            return _foretell(project, here, request, as_json=as_json)
    with opened(here, create=True) as project:
        started_by_people(project, here, "review")
        loop = complete(create_review(project, settings_of(project), request, here.cwd, say=note))
        if isinstance(loop, StoppedBySignal):
            return loop.exit_code
        more = " …" if len(request.paths) > 3 else ""  # noqa: PLR2004
        note(f"loop {loop.row.id}: review of {one_line(', '.join(request.paths[:3]))}{more}")
        for warning in asyncio.run(reviewed_by_others(project, loop)):
            note(warning)
        return drive_and_tell(project, here, loop, Manner(unattended=unattended, as_json=as_json))


def _foretell(project: Project, here: Here, request: ReviewRequest, *, as_json: bool) -> int:
    settings = settings_of(project)
    plan = plan_review(project, settings, request, here.cwd)
    told = foretold(project, settings, request, plan)
    note_unseen(project, tuple(target.path for target in plan.targets))
    put_json(told) if as_json else put("\n".join(_lines(told)))
    return 0


def _lines(told: ReviewForetold) -> list[str]:
    artifacts = told.artifacts
    shown = [line for each in artifacts[:_SHOWN] for line in _about(each)]
    more = [f"  and {len(artifacts) - _SHOWN} more"] if len(artifacts) > _SHOWN else []
    limits = (
        f"{counted(told.max_attempts, 'review')} of each; any critical finding blocks, and more than"
        f" {told.p1_threshold} high ones; {counted(told.parallel, 'agent')} at once; budget {limit_shown(told.budget)}"
    )
    return [
        f"Would review {counted(len(artifacts), 'artifact')}{' in rounds' if told.kind == 'batch' else ''}:",
        *shown,
        *more,
        f"Limits: {limits}",
        f"Result: a branch of its own{', merged into ' + told.branch if told.merge else ''}",
        "Nothing was created.",
    ]


def _about(artifact: ForetoldArtifact) -> list[str]:
    agents = "; ".join(f"{role}: {', '.join(names) or 'nobody'}" for role, names in artifact.agents.items())
    handed = f"findings in {artifact.file}" if artifact.file else "findings in the brief"
    known = f"; {counted(artifact.known, 'finding')} of earlier reviews" if artifact.known else ""
    return [
        f"  {artifact.artifact}: {artifact.gate} gate, {artifact.mode}",
        f"    {agents}; {handed}{known}",
    ]
