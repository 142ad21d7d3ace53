"""`loop receipts`: what was verified, on which tree."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import click

from loopwright.adapters.checks.order import as_configured
from loopwright.adapters.git.repository import tree_of
from loopwright.app.project import Project
from loopwright.cli.here import Here
from loopwright.cli.log import newest
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.picking import opened
from loopwright.kernel.wording import counted, moment


@click.command("receipts")
@loop_option
@json_option
@click.pass_obj
def command(here: Here, *, loop_id: str, as_json: bool) -> int:
    """What was verified, on which tree. Without --loop, of the newest loop."""
    with opened(here) as project:
        data = asyncio.run(_receipts(project, loop_id))
        bases = {} if as_json else _base_trees(project, data["receipts"])
    if as_json:
        put_json(data)
        return 0
    lines = [_line(receipt, bases) for receipt in data["receipts"]]
    put("\n".join(lines) or f"Loop {data['loop']} has no receipts: no check has finished yet.")
    return 0


async def _receipts(project: Project, loop_id: str) -> dict[str, Any]:
    chosen = await newest(project, loop_id)
    texts = await project.store.receipts(chosen.row.id)
    return {"loop": chosen.row.id, "receipts": [json.loads(text) for text in texts]}


def _base_trees(project: Project, receipts: list[dict[str, Any]]) -> dict[str, str]:
    """The tree of every commit that a receipt is measured against."""
    bases = {str(receipt.get("base", "")) for receipt in receipts}
    return {base: tree_of(project.root, project.environ, base) for base in bases}


def _line(receipt: dict[str, Any], bases: dict[str, str]) -> str:
    tests = "" if receipt.get("tests") is None else f", {counted(receipt['tests'], 'test')}"
    took = f"{receipt.get('seconds', 0.0):.1f} s"
    word = str(receipt.get("result", "?")).upper()
    tree, base = str(receipt.get("tree", "")), str(receipt.get("base", ""))
    where = f"tree {tree[:12]}" + (" (base)" if tree and tree == bases[base] else "")
    command = " ".join(as_configured(tuple(receipt.get("command", ()))))
    return f"{moment(receipt['at'])}  {word:<4}  {receipt['check']} on {where}{tests}, {took}\n  {command}"
