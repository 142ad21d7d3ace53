"""`loop skip`: go without a skill of a system, with a reason that is recorded."""

from __future__ import annotations

from dataclasses import dataclass

import click

from loopwright.app.said import take_in
from loopwright.cli.here import Here
from loopwright.cli.loops.run_system import chosen
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.events import SkillSkipped
from loopwright.kernel.model import LoopId


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipAnswer:
    """What `loop skip --json` answers."""

    loop: LoopId
    skill: str
    phase: str
    reason: str


@click.command("skip")
@click.argument("skill")
@click.option("--reason", required=True, metavar="TEXT", help="Why it is not needed.")
@loop_option
@json_option(SkipAnswer)
@click.pass_obj
def command(here: Here, *, skill: str, reason: str, loop_id: str, as_json: bool) -> int:
    """Go without SKILL in the present state of a system, or in the next that needs it. Gates cannot be skipped."""
    if not reason.strip():
        raise UsageError("a skip needs a reason: --reason TEXT")
    with opened(here) as project:
        started_by_people(project, here, "skip")
        seen = complete(chosen(project, loop_id))
        if isinstance(seen, StoppedBySignal):
            return seen.exit_code
        if seen is None:
            raise Forbidden("no system is under way; `loop init --next` claims one")
        said = SkillSkipped(skill=skill, reason=reason.strip(), by=here.who)
        now = complete(take_in(project, seen, said, note))
        if isinstance(now, StoppedBySignal):
            return now.exit_code
        skips = (now or seen).now.state.skips
        phase = next((each.stage.value for each in reversed(skips) if each.skill == skill), "")
        answer = SkipAnswer(loop=seen.row.id, skill=skill, phase=phase, reason=reason.strip())
        put_json(answer) if as_json else put(f"{skill} is skipped{f' in {phase}' if phase else ''}: {answer.reason}")
        return 0
