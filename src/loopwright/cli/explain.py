"""`loop explain`: why the engine will do what it does next."""

from __future__ import annotations

import asyncio

import click

from loopwright.assembly.project import Project, View
from loopwright.cli.here import Here
from loopwright.cli.log import newest
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.picking import is_over, only, opened, roots
from loopwright.cli.showing import Data, status_of_loop
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.quality.state import Quality
from loopwright.loops.tickets.state import Tickets
from loopwright.projections import explanation
from loopwright.projections.wording import told


@click.command("explain")
@loop_option
@json_option
@click.pass_obj
def command(here: Here, *, loop_id: str, as_json: bool) -> int:
    """Why the engine will do what it does next: counters, rules, open findings, budget."""
    with opened(here) as project:
        view, data = asyncio.run(_look(project, loop_id))
        put_json(data) if as_json else put(_text(view).rstrip("\n"))
    return 0


async def _look(project: Project, loop_id: str) -> tuple[View, Data]:
    """The only open loop is meant; when all are over, the newest."""
    open_one = None if loop_id else only(await roots(project), lambda each: not is_over(each))
    chosen = open_one or await newest(project, loop_id)
    facts = {
        "lines": list(chosen.standpoint.lines),
        "findings": [
            {"severity": finding.severity.value, "text": told(finding), "fingerprint": finding.fingerprint}
            for finding in chosen.standpoint.findings
        ],
        "explanation": _text(chosen),
    }
    return chosen, {**await status_of_loop(project, chosen), **facts}


def _text(view: View) -> str:
    state = view.now.state
    ledger = state.ledger if isinstance(state, FeedbackState | Quality | Tickets) else ()
    return explanation.render(view.standpoint, () if is_over(view) else view.wanted, view.row, ledger)
