"""`loop receipts`: what was verified, on which tree."""

from __future__ import annotations

import asyncio
import json

import click

from loopwright.assembly import Project
from loopwright.cli.here import Here
from loopwright.cli.log import newest
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.picking import opened
from loopwright.cli.showing import Data
from loopwright.projections.wording import counted, moment


@click.command("receipts")
@loop_option
@json_option
@click.pass_obj
def command(here: Here, *, loop_id: str, as_json: bool) -> int:
    """What was verified, on which tree. Without --loop, of the newest loop."""
    with opened(here) as project:
        data = asyncio.run(_receipts(project, loop_id))
    if as_json:
        put_json(data)
        return 0
    lines = [_line(receipt) for receipt in data["receipts"]]
    put("\n".join(lines) or f"Loop {data['loop']} has no receipts: no check has finished yet.")
    return 0


async def _receipts(project: Project, loop_id: str) -> Data:
    chosen = await newest(project, loop_id)
    texts = await project.store.receipts(chosen.row.id)
    return {"loop": chosen.row.id, "receipts": [json.loads(text) for text in texts]}


def _line(receipt: Data) -> str:
    tests = "" if receipt.get("tests") is None else f", {counted(receipt['tests'], 'test')}"
    took = f"{receipt.get('seconds', 0.0):.1f} s"
    word = str(receipt.get("result", "?")).upper()
    where = f"tree {str(receipt.get('tree', ''))[:12]}"
    command = " ".join(receipt.get("command", ()))
    return f"{moment(receipt['at'])}  {word:<4}  {receipt['check']} on {where}{tests}, {took}\n  {command}"
