"""`loop gates`: what waits for a person's approval, and why."""

from __future__ import annotations

import asyncio

import click

from loopwright.assembly import Project, views
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.picking import has_log, named, opened
from loopwright.cli.showing import Data, gates


@click.command("gates")
@loop_option
@click.option("--all", "everything", is_flag=True, help="Also those that are decided or withdrawn.")
@json_option
@click.pass_obj
def command(here: Here, *, loop_id: str, everything: bool, as_json: bool) -> int:
    """What waits for a person's approval, and why."""
    found: list[Data] = []
    if has_log(here):
        with opened(here) as project:
            found = asyncio.run(_gates(project, loop_id))
    if as_json:
        put_json({"gates": found})
        return 0
    shown = [gate for gate in found if everything or gate["status"] == "pending"]
    put("\n\n".join(map(_text, shown)) or "No gate is open.")
    return 0


async def _gates(project: Project, loop_id: str) -> list[Data]:
    found = await views(project)
    chosen = (named(found, loop_id),) if loop_id else found
    return [gate for view in chosen for gate in await gates(project, view)]


def _text(gate: Data) -> str:
    by = f" by {gate['by']}" if gate.get("by") else ""
    why = f": {gate['reason']}" if gate.get("reason") else ""
    lines = [f"{gate['name']} ({gate['status']}{by}{why}), loop {gate['loop']}, commit {gate['commit'][:12]}"]
    lines += [f"  {reason['file']}: {reason['rule']}" for reason in gate["because"]]
    if gate["status"] == "pending":
        lines.append(f"  loop approve {gate['name']} --loop {gate['loop']}")
        lines.append(f'  loop reject {gate["name"]} --loop {gate["loop"]} --reason "why"')
    return "\n".join(lines)
