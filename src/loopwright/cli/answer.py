"""`loop answer`: records the answer to what a loop asks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

import click

from loopwright.adapters.terminal.replies import TypedAnswer, Unclear, answer
from loopwright.app.loops import View, view
from loopwright.app.project import Project, settings_of
from loopwright.app.publication import publisher_of
from loopwright.app.views.ending import history
from loopwright.app.views.standing import waiting_for
from loopwright.app.worlds import ready_agents
from loopwright.cli.guarding import only_for_people
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option, note, put, put_json
from loopwright.cli.picking import named, opened, roots
from loopwright.engine.hearing import hear
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Answered
from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line
from loopwright.ports.people import Waiting

_ASKS_AGAIN = "history"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecorded:
    """What `loop answer --json` answers."""

    loop: LoopId  # the one that asked
    path: tuple[LoopId, ...]  # from the root to it
    answered: str
    state: Literal["recorded", "posted"]  # posted: its controller was told
    command: str  # that goes on
    history: str = ""


@click.command("answer")
@click.argument("choice")
@click.argument("count", required=False, default="")
@loop_option
@click.option("--text", "--reason", "text", default="", metavar="TEXT", help="Guidance, reason, or the answer itself.")
@click.option("--merge", is_flag=True, help="With accept: integrate it into the starting branch, by your word.")
@json_option
@click.pass_obj
def command(here: Here, /, *, as_json: bool, loop_id: str, **given: object) -> int:
    """Answer the question a loop has stopped with; `loop resume` then goes on.

    \b
    continue [N]          N more attempts (3)
    accept [--merge]      keep the best attempt, record what is wrong with it as debt
    history               show what every attempt came to, and ask again
    revise --text TEXT    new guidance; the counters start anew
    cancel                end the loop; every commit is kept
    TEXT                  the answer to a question of an agent

    Some loops offer more answers: `loop status` shows each with the command that gives it.
    """
    words = TypedAnswer(by=here.who, **given)  # type: ignore[arg-type]  # click has checked the types
    with opened(here) as project:
        told = asyncio.run(_record(project, here, loop_id, words))
        if told.answered == _ASKS_AGAIN:
            told = replace(told, history=asyncio.run(history(project, told.loop)))
            note(told.history) if as_json else put(told.history)
        put_json(told) if as_json else put(_said(told))
    return 0


async def _record(project: Project, here: Here, loop_id: str, words: TypedAnswer) -> AnswerRecorded:
    await only_for_people(project, here, "answer")
    waiting = await _asked(project, loop_id)
    assert isinstance(waiting.what, Ask)  # noqa: S101 - nothing else was looked for
    said = answer(waiting.what, words)
    if isinstance(said, Unclear):
        raise UsageError(f"{said.sentence}{_example(said)}")
    asker = await view(project, waiting.loop)
    if why := asker.kind.objection(said, ready_agents(project, settings_of(project, note))):
        raise UsageError(why)
    return await _hear(project, asker, waiting, said)


async def _asked(project: Project, loop_id: str) -> Waiting:
    """The one question that is meant: of the loop that is named, a root or a part of one; else the only one."""
    named_one = await named(project, loop_id) if loop_id else None
    among = [named_one] if named_one and named_one.row.parent is None else await roots(project)
    found = [each for root in among for each in await waiting_for(project, root) if isinstance(each.what, Ask)]
    if named_one is not None and named_one.row.parent is not None:
        found = [each for each in found if each.loop == named_one.row.id]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"several questions are open, name one with --loop ID: {_listed(found)}")
    if named_one is None:
        raise Forbidden("no loop asks anything now; `loop status` shows what they do")
    why = f"has ended ({named_one.row.status})" if named_one.is_over else "asks nothing now"
    raise Forbidden(f"loop {named_one.row.id} {why}; the answer was not recorded")


def _listed(found: list[Waiting]) -> str:
    return "; ".join(f"{each.loop} ({one_line(getattr(each.what, 'question', ''), 80)})" for each in found)


def _example(said: Unclear) -> str:
    return f'; write `loop answer {said.wants} --text "…"`' if said.wants else ""


async def _hear(project: Project, asker: View, waiting: Waiting, said: Answered) -> AnswerRecorded:
    publisher = await publisher_of(project, note, asker)
    recorded = await hear(project.store, project.loops, asker.opened, said, publisher)
    goes_on = f"loop resume --loop {waiting.path[0]}" if recorded and said.choice != _ASKS_AGAIN else ""
    return AnswerRecorded(
        loop=waiting.loop,
        path=waiting.path,
        answered=said.choice,
        state="recorded" if recorded else "posted",
        command=goes_on,
    )


def _said(told: AnswerRecorded) -> str:
    if told.state == "posted":
        return f"Told the controller that runs loop {told.loop}: {told.answered}."
    tail = f" Go on with: {told.command}" if told.command else ""
    return f"Loop {told.loop}: {told.answered} is recorded.{tail}"
