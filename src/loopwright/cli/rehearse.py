"""`loop rehearse`: a task in a temporary clone, with every part played by a script."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import click

from loopwright.adapters.agents.scenario import read_scenario
from loopwright.adapters.git.repository import find_repository
from loopwright.app.starts.door import Task, create_for_task
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import count_to, note
from loopwright.cli.sample import git, make_project
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.config.loop_toml import load_settings
from loopwright.config.settings import AgentSettings, RoleSettings, Settings
from loopwright.errors import UsageError

_NAME = "rehearsal"


@click.command("rehearse")
@click.argument("scenario", type=click.Path(path_type=Path))
@click.argument("task", required=False, default="")
@click.option("--max-iterations", type=count_to(1000), metavar="N", help="Instead of the one in loop.toml.")
@click.option("--keep", is_flag=True, help="Keep the temporary clone, to look around in it.")
@run_json_option(object)
@click.pass_obj
def command(here: Here, *, scenario: Path, task: str, max_iterations: int | None, keep: bool, as_json: bool) -> int:
    """Play SCENARIO in a temporary clone of this repository: real checks, scripted agents, zero tokens.

    Outside of a repository the sample project of `loop demo` is used. Nothing of yours is touched.
    """
    script = _script(here, scenario)
    asked = Task(text=task or f"Rehearse {scenario.name}", attempts=max_iterations)
    with _stage(keep=keep) as name:
        stage = Path(name) / "project"
        settings = _played(_set_up(here, stage), script)
        with opened(replace(here, cwd=stage), create=True) as project:
            loop = complete(create_for_task(project, settings, asked))
            if isinstance(loop, StoppedBySignal):
                return loop.exit_code
            code = drive_and_tell(project, here, loop, Manner(unattended=True, as_json=as_json, passing=not keep))
    note(
        f"Rehearsed in {stage}, which is kept."
        if keep
        else "Rehearsed in a clone that is gone again, result and files with it; --keep keeps it."
    )
    return code


def _script(here: Here, scenario: Path) -> Path:
    """The scenario's own path, once it is known that it can be played."""
    file = (here.cwd / scenario).resolve()
    try:
        read_scenario(file.read_text(encoding="utf-8"), str(scenario))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"{scenario}: {why}; name a scenario file (docs/guide has an example)") from error
    return file


def _stage(*, keep: bool) -> AbstractContextManager[str]:
    prefix = "loop-rehearsal-"
    if keep:
        return nullcontext(tempfile.mkdtemp(prefix=prefix))
    return tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)


def _set_up(here: Here, stage: Path) -> Settings:
    """A clone of the person's repository with the settings of their tree; or the sample project."""
    try:
        root = find_repository(here.cwd, here.environ).top
    except UsageError:
        stage.mkdir()
        make_project(stage, here.environ, "demo_project")
        return load_settings(stage)
    settings = load_settings(root)
    git(stage.parent, here.environ, "clone", "--quiet", "--no-hardlinks", str(root), str(stage))
    return settings


def _played(settings: Settings, script: Path) -> Settings:
    """Every role that is cast is played by the script, and only those."""
    agent = AgentSettings(name=_NAME, kind="rehearsal", scenario=str(script))
    cast = {"default", *(role.name for role in settings.roles)}
    roles = tuple(RoleSettings(role, (_NAME,)) for role in sorted(cast))
    return replace(settings, agents=(agent,), roles=roles, notify=replace(settings.notify, urls=()))
