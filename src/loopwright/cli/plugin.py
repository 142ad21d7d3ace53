"""`loop plugin`: puts the commands and hooks into Claude Code, or takes them out."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from loopwright import __version__
from loopwright.adapters.git.repository import find_repository
from loopwright.adapters.plugin_folder import PluginChange, PluginPlace, install, uninstall
from loopwright.adapters.plugin_texts import COMMANDS, NAME, plugin_texts
from loopwright.app.views.answers import PluginAnswer
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.people_only import only_outside_of_steps
from loopwright.errors import EngineError, UsageError
from loopwright.hook import CONFIG_FOLDER
from loopwright.kernel.wording import counted

F = TypeVar("F", bound=Callable[..., Any])
Scope = Literal["project", "user", "path"]
_SKILLS = Path("skills") / NAME  # Claude Code loads a plugin that lies here as loop@skills-dir
_CLAUDE = ".claude"


@click.group("plugin")
def command() -> None:
    """Put the commands and hooks into Claude Code, or take them out.

    The plugin gives a session /loop:start, /loop:status, /loop:resume and /loop:cancel, tells it of an unfinished loop
    when it starts, and holds a turn once while tasks of its list are unfinished.
    """


def _place_options(command: F) -> F:
    """Where the plugin lies, and what is done there."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing."),
        click.option("--path", type=click.Path(path_type=Path), help="In this folder, for `claude --plugin-dir`."),
        click.option("--user", is_flag=True, help="For all your projects: in ~/.claude, or in $CLAUDE_CONFIG_DIR."),
        click.option("--project", is_flag=True, help="For this repository, unseen by git.  [this, if nothing is said]"),
    ):
        command = option(command)
    return command


@command.command("install")
@_place_options
@json_option(PluginAnswer)
@click.pass_obj
def install_command(here: Here, *, project: bool, user: bool, path: Path | None, dry_run: bool, as_json: bool) -> int:
    """Write the plugin. Twice is harmless; what is not from here is never overwritten, and what you changed is left."""
    scope = _scope(project=project, user=user, path=path)
    place = _place(scope, here, path)
    texts = plugin_texts(_program(here), __version__, private=scope == "project")
    change = install(place, texts, only_look=dry_run)
    names = ", ".join(f"/{NAME}:{name}" for name in COMMANDS)
    claude = f"claude --plugin-dir {shlex.quote(str(place.folder))}"
    how = f"start it with `{claude}`" if scope == "path" else "the next session has it"
    trust = ", once you trust this folder there" if scope == "project" else ""
    _tell(_answer(scope, place, change, f"In Claude Code {how}{trust}: {names}.", dry_run=dry_run), as_json=as_json)
    return 0


@command.command("uninstall")
@_place_options
@json_option(PluginAnswer)
@click.pass_obj
def uninstall_command(here: Here, *, project: bool, user: bool, path: Path | None, dry_run: bool, as_json: bool) -> int:
    """Remove exactly what install wrote; what you changed since is left and named."""
    scope = _scope(project=project, user=user, path=path)
    place = _place(scope, here, path)
    change = uninstall(place, only_look=dry_run)
    note = "" if change.removed or change.kept else f"No plugin of ours is in {place.folder}."
    _tell(_answer(scope, place, change, note, dry_run=dry_run), as_json=as_json)
    return 0


def _scope(*, project: bool, user: bool, path: Path | None) -> Scope:
    if project + user + (path is not None) > 1:
        raise UsageError("--project, --user and --path exclude each other; give one of them")
    return "path" if path is not None else "user" if user else "project"


def _place(scope: Scope, here: Here, path: Path | None) -> PluginPlace:
    if scope == "project":
        top = find_repository(here.cwd, here.environ).top
        only_outside_of_steps(top, here, "plugin")
        return PluginPlace(top=top, folder=top / _CLAUDE / _SKILLS)
    root = None
    with suppress(EngineError):  # not in a repository, so not in a step of one
        root = find_repository(here.cwd, here.environ).top
    if root is not None:
        only_outside_of_steps(root, here, "plugin")
    folder = _of_person(here) / _SKILLS if path is None else here.cwd / path
    folder = folder.parent.resolve() / folder.name if path is None else folder.resolve()  # the person's own links
    return PluginPlace(top=folder.parent, folder=folder)


def _of_person(here: Here) -> Path:
    if config := here.environ.get(CONFIG_FOLDER):
        return Path(config)
    if not (home := here.environ.get("HOME")):
        raise UsageError("HOME is not set, so nobody knows where Claude Code keeps its settings; give --path")
    return Path(home) / _CLAUDE


def _program(here: Here) -> str:
    """Ours, by its whole path if it can be: a session may have another PATH."""
    beside = Path(sys.executable).with_name(NAME)
    if os.access(beside, os.X_OK) and beside.is_file():
        return str(beside)
    return shutil.which(NAME, path=here.environ.get("PATH")) or NAME


def _answer(scope: Scope, place: PluginPlace, change: PluginChange, note: str, *, dry_run: bool) -> PluginAnswer:
    return PluginAnswer(
        folder=str(place.folder),
        scope=scope,
        written=change.written,
        removed=change.removed,
        kept=change.kept,
        dry_run=dry_run,
        note=note,
    )


def _tell(answer: PluginAnswer, *, as_json: bool) -> None:
    if as_json:
        put_json(answer)
        return
    lines = []
    for names, done, planned in (
        (answer.written, "Wrote", "Would write"),
        (answer.removed, "Removed", "Would remove"),
    ):
        if names:
            lines.append(f"{planned if answer.dry_run else done} {counted(len(names), 'file')} in {answer.folder}:")
            lines += [f"  {name}" for name in names]
    lines += [f"Left as it is, because it was changed: {answer.folder}/{name}" for name in answer.kept]
    put("\n".join([*(lines or ["Nothing to do."]), *filter(None, [answer.note])]))
