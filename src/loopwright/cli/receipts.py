"""`loop receipts`: what was verified, on which tree."""

from __future__ import annotations

import asyncio

import click

from loopwright.adapters.checks.order import as_configured
from loopwright.adapters.checks.receipts import Receipt
from loopwright.adapters.git.repository import tree_of
from loopwright.app.project import Project
from loopwright.app.receipts import receipts_of
from loopwright.app.views.answers import ReceiptList
from loopwright.app.views.evidence import describe_shown
from loopwright.cli.here import Here
from loopwright.cli.log import newest
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.kernel.trust import Canary
from loopwright.kernel.wording import counted, moment


@click.command("receipts")
@loop_option
@json_option(ReceiptList)
@click.pass_obj
def command(here: Here, *, loop_id: str, as_json: bool) -> int:
    """What was verified, on which tree. Without --loop, of the newest loop."""
    with opened(here) as project:
        found = asyncio.run(_receipts(project, loop_id))
        bases = {} if as_json else _base_trees(project, found.receipts)
    if as_json:
        put_json(found)
        return 0
    lines = [*(_line(receipt, found, bases) for receipt in found.receipts), *_noticed(found.canaries)]
    lines += [f"tree {each.tree[:12]}: {'. '.join(describe_shown(each.evidence))}" for each in found.evidence]
    put("\n".join(lines) or f"Loop {found.loop} has no receipts: no check has finished yet.")
    return 0


async def _receipts(project: Project, loop_id: str) -> ReceiptList:
    return await receipts_of(project, (await newest(project, loop_id)).row.id)


def _noticed(canaries: tuple[Canary, ...]) -> list[str]:
    return [each.sentence for each in canaries if each.sentence]


def _base_trees(project: Project, receipts: tuple[Receipt, ...]) -> dict[str, str]:
    """The tree of every commit that a receipt is measured against."""
    return {base: tree_of(project.root, project.environ, base) for base in {receipt.base for receipt in receipts}}


def _line(receipt: Receipt, found: ReceiptList, bases: dict[str, str]) -> str:
    tests = "" if receipt.tests is None else f", {counted(receipt.tests, 'test')}"
    where = f"tree {receipt.tree[:12]}" + (" (base)" if receipt.tree and receipt.tree == bases[receipt.base] else "")
    command = " ".join(as_configured(receipt.command))
    took = f"{receipt.seconds:.1f} s"
    said = f"{receipt.result.upper():<4}  {receipt.check} on {where}{tests}, {took}"
    reused = f", reused: loop {receipt.loop} ran it" if receipt.key in found.reused else ""
    return f"{moment(receipt.at)}  {said}{reused}\n  {command}"
