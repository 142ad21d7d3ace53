"""`loop reject`: closes a gate, with a reason that goes to the developer."""

from __future__ import annotations

import click

from loopwright.cli.decision import DecisionAnswer, GateDecision, decide, only_option
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option
from loopwright.errors import UsageError


@click.command("reject")
@click.argument("gate")
@loop_option
@click.option("--reason", default="", metavar="TEXT", help="Why; whoever made the changes is told.")
@only_option
@json_option(DecisionAnswer)
@click.pass_obj
def command(here: Here, *, gate: str, loop_id: str, reason: str, only: tuple[str, ...], as_json: bool) -> int:
    """Close GATE: the change that called for it counts as a failed review."""
    if not reason.strip():
        raise UsageError(f'reject needs a reason: `loop reject {gate} --reason "why"`; it is told to the developer')
    decision = GateDecision(gate=gate, approved=False, reason=reason, loop_id=loop_id, only=only)
    return decide(here, decision, as_json=as_json)
