"""`loop approve`: opens a gate for exactly the changes it shows."""

from __future__ import annotations

import click

from loopwright.cli.decision import DecisionAnswer, GateDecision, decide, only_option
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option


@click.command("approve")
@click.argument("gate")
@loop_option
@click.option("--reason", default="", metavar="TEXT", help="Kept in the log.")
@only_option
@json_option(DecisionAnswer)
@click.pass_obj
def command(here: Here, *, gate: str, loop_id: str, reason: str, only: tuple[str, ...], as_json: bool) -> int:
    """Open GATE for exactly the changes that called for it; `loop gates` shows them."""
    decision = GateDecision(gate=gate, approved=True, reason=reason, loop_id=loop_id, only=only)
    return decide(here, decision, as_json=as_json)
