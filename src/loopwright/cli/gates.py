"""`loop gates`: what waits for a person's approval, and why."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass

import click

from loopwright.app.project import Project
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.picking import gates_of, has_log, named, opened, roots
from loopwright.cli.showing import Data, gates
from loopwright.kernel.gates import runs_code
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible

_NAMED = 20  # files in a command; with more of them it shows the whole change
_LONGEST = 200
_MEANS_MORE = frozenset(":*?[\\!^")


@click.command("gates")
@loop_option
@click.option("--all", "everything", is_flag=True, help="Also those that are decided or withdrawn.")
@json_option
@click.pass_obj
def command(here: Here, *, loop_id: str, everything: bool, as_json: bool) -> int:
    """What waits for a person's approval, and why."""
    found = _Found(gates=[])
    if has_log(here):
        with opened(here) as project:
            found = asyncio.run(_find(project, here, loop_id))
    if as_json:
        put_json({"gates": found.gates})
        return 0
    shown = [gate for gate in found.gates if everything or gate["status"] == "pending"]
    put("\n\n".join(_text(gate, found) for gate in shown) or "No gate is open.")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    gates: list[Data]
    several: bool = False  # loops wait at a gate, so that a command has to say which is meant
    at_top: bool = False  # the current folder is the one that paths are from


async def _find(project: Project, here: Here, loop_id: str) -> _Found:
    found = await roots(project)
    chosen = (await named(project, loop_id),) if loop_id else found
    listed = [gate for view in chosen for gate in await gates(project, view)]
    several = len([view for view in found if gates_of(view)]) > 1
    return _Found(gates=listed, several=several, at_top=here.cwd.resolve() == project.root.resolve())


def _text(gate: Data, found: _Found) -> str:
    by = f" by {gate['by']}" if gate.get("by") else ""
    why = f": {gate['reason']}" if gate.get("reason") else ""
    lines = [f"{gate['name']} ({gate['status']}{by}{why}), loop {gate['loop']}, commit {gate['commit'][:12]}"]
    lines += map(_file, gate["because"])
    lines.append(f"  look at it    {_diff(gate, at_top=found.at_top)}")
    if gate["status"] == "pending":
        which = f"{gate['name']} --loop {gate['loop']}" if found.several else gate["name"]
        lines.append(f"  let it in     loop approve {which}")
        lines.append(f'  send it back  loop reject {which} --reason "…"')
    return "\n".join(lines)


def _file(reason: Data) -> str:
    mark = "  <- decides what is executed" if runs_code(reason["file"]) else ""
    return f"  {one_line(reason['file'], _LONGEST)}: {reason['rule']}{mark}"


def _diff(gate: Data, *, at_top: bool) -> str:
    """The command that shows what called for the gate, to be copied as it is."""
    whole = f"git diff {gate['base'][:12]} {gate['commit'][:12]}"
    paths = [str(reason["file"]) for reason in gate["because"]]
    if len(paths) > _NAMED or not all(path.isprintable() and visible(path) == path for path in paths):
        return whole
    return " ".join([whole, "--", *(shlex.quote(_pathspec(path, at_top=at_top)) for path in paths)])


def _pathspec(path: str, *, at_top: bool) -> str:
    """Paths are from the top, where git takes them from the current folder; some characters mean something to it."""
    return path if at_top and not _MEANS_MORE & set(path) else f":(top,literal){path}"
