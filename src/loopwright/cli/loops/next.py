"""`loop next`: do exactly one transition of a system."""

from __future__ import annotations

from dataclasses import dataclass

import click

from loopwright.cli.drive import WAITING
from loopwright.cli.here import Here
from loopwright.cli.loops.run_system import Turn, chosen, turned
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import Forbidden
from loopwright.loops.lifecycle.decision import decision
from loopwright.loops.lifecycle.machine import stage_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAnswer:
    """What `loop next --json` answers."""

    action: str
    from_: str
    to: str
    why: str
    gate: str | None = None
    skill: str | None = None


@click.command("next")
@loop_option
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@json_option(NextAnswer)
@click.pass_obj
def command(here: Here, *, loop_id: str, unattended: bool, as_json: bool) -> int:
    """Decide what is next for a system, do it, and stop in the next state.

    What is left of the present state is done first: its skills, its checks, its gates. A failed check is a transition
    to FAILED.
    """
    with opened(here) as project:
        started_by_people(project, here, "next")
        seen = complete(chosen(project, loop_id))
        if isinstance(seen, StoppedBySignal):
            return seen.exit_code
        if seen is None:
            raise Forbidden("no system is under way; `loop init --next` claims one")
        before = seen.now.state
        told = decision(before)
        turn = turned(project, here, seen, Turn(transitions=1, unattended=unattended, quiet=as_json))
        if turn.stopped is not None:
            return turn.stopped
        after = turn.state
        moved = after.transitions > before.transitions
        answer = NextAnswer(
            action=told.action if moved else decision(after).action,
            from_=stage_shown(before).value,
            to=stage_shown(after).value,
            why=turn.why if moved else decision(after).why,
            gate=decision(after).gate or None,
            skill=told.skill or None,
        )
        if as_json:
            put_json(answer)
        else:
            put(f"{answer.action}: {answer.from_} → {answer.to} ({answer.why})")
        return 0 if moved and turn.outcome != "blocked" else turn.exit_code or WAITING
