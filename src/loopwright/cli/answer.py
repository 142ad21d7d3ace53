"""`loop answer`: records the answer to what a loop asks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

import click

from loopwright.adapters.terminal.replies import TypedAnswer, Unclear, answer
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import find_question, take_in
from loopwright.app.settings import settings_of
from loopwright.app.views.ending import history
from loopwright.app.worlds import ready_agents
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, note, put, put_json, release_option
from loopwright.cli.people_only import only_for_people
from loopwright.errors import UsageError
from loopwright.kernel.actions import Ask
from loopwright.kernel.model import LoopId

_ASKS_AGAIN = "history"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecorded:
    """What `loop answer --json` answers."""

    loop: LoopId  # the one that asked
    path: tuple[LoopId, ...]  # from the root to it
    answered: str
    state: Literal["recorded", "posted"]  # posted: its controller was told
    command: str  # that goes on
    asks: str = ""  # what it asks next, where no step comes in between
    history: str = ""
    allow: tuple[str, ...] = ()  # patterns under which tests that landed with an earlier task may be changed now


@click.command("answer")
@click.argument("words", metavar="CHOICE [N|TEXT]", nargs=-1, required=True)
@loop_option
@click.option("--text", "--reason", "text", default="", metavar="TEXT", help="Guidance, reason, or the answer itself.")
@click.option("--merge", is_flag=True, help="With accept: integrate it into the starting branch, by your word.")
@release_option
@json_option(AnswerRecorded)
@click.pass_obj
def command(here: Here, /, *, as_json: bool, loop_id: str, **given: object) -> int:
    """Answer the question a loop has stopped with; `loop resume` then goes on.

    \b
    continue [N [TEXT]]   N more attempts (3)
    accept [--merge]      keep the best attempt, record what is wrong with it as debt
    history               show what every attempt came to, and ask again
    revise TEXT           new guidance; the counters start anew. What it names stays as it landed: --allow PATTERN
                          lets a workflow change tests that an earlier task landed
    cancel                end the loop; every commit is kept
    TEXT                  the answer to a question of an agent, in one word or many

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
    question = await find_question(project, loop_id)
    said, waiting, asker = answer(question.ask, words), question.waiting, question.asker
    if isinstance(said, Unclear):
        raise UsageError(f"{said.sentence}{_example(said)}")
    if why := asker.kind.objection(said, ready_agents(project, settings_of(project, note))):
        raise UsageError(why)
    recorded = await take_in(project, asker, said, note)
    goes_on = f"loop resume --loop {waiting.path[0]}" if recorded and said.choice != _ASKS_AGAIN else ""
    return AnswerRecorded(
        loop=waiting.loop,
        path=waiting.path,
        answered=said.choice,
        allow=said.allow,
        state="recorded" if recorded else "posted",
        command=goes_on,
        asks=_next_question(recorded) if goes_on and recorded else "",
    )


def _next_question(now: View) -> str:
    """Return what it asks now: nobody has to go on with the loop to see it."""
    return next((each.question for each in now.wanted if isinstance(each, Ask)), "")


def _example(said: Unclear) -> str:
    return f'; write `loop answer {said.wants} --text "…"`' if said.wants else ""


def _said(told: AnswerRecorded) -> str:
    lets = f" Tests of earlier tasks that may be changed now: {', '.join(told.allow)}." if told.allow else ""
    if told.state == "posted":
        return f"Told the controller that runs loop {told.loop}: {told.answered}.{lets}"
    asks = f"\nIt asks next: {told.asks}\n" if told.asks else " "
    tail = f"{asks}Go on with: {told.command}" if told.command else ""
    return f"Loop {told.loop}: {told.answered} is recorded.{lets}{tail}"
