"""`loop answer`: records the answer to what a loop asks."""

from __future__ import annotations

import asyncio

import click

from loopwright.adapters.terminal.replies import Unclear, Words, answer
from loopwright.app.project import Project, View, settings_of
from loopwright.app.publication import publisher_of
from loopwright.app.views.ending import history
from loopwright.app.worlds import ready_agents
from loopwright.cli.guarding import only_for_people
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, loop_option, note, put, put_json
from loopwright.cli.picking import opened, pick, question_of
from loopwright.engine.hearing import hear
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Answered
from loopwright.kernel.model import LoopId

_ASKS_AGAIN = "history"


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
    words = Words(by=here.who, **given)  # type: ignore[arg-type]  # click has checked the types
    with opened(here) as project:
        data = asyncio.run(_record(project, here, loop_id, words))
        if data["answered"] == "history":
            shown = asyncio.run(history(project, LoopId(data["loop"])))
            data["history"] = shown
            note(shown) if as_json else put(shown)
        put_json(data) if as_json else put(_said(data))
    return 0


async def _record(project: Project, here: Here, loop_id: str, words: Words) -> dict[str, str]:
    await only_for_people(project, here, "answer")
    view, ask = _asked(await pick(project, loop_id, lambda each: question_of(each) is not None))
    said = answer(ask, words)
    if isinstance(said, Unclear):
        raise UsageError(f"{said.sentence}{_example(said)}")
    if why := view.kind.objection(said, ready_agents(project, settings_of(project, note))):
        raise UsageError(why)
    return await _hear(project, view, said)


def _asked(view: View | None) -> tuple[View, Ask]:
    if view is None:
        raise Forbidden("no loop asks anything now; `loop status` shows what they do")
    ask = question_of(view)
    if ask is None:
        why = f"has ended ({view.row.status})" if view.is_over else "asks nothing now"
        raise Forbidden(f"loop {view.row.id} {why}; the answer was not recorded")
    return view, ask


def _example(said: Unclear) -> str:
    return f'; write `loop answer {said.wants} --text "…"`' if said.wants else ""


async def _hear(project: Project, view: View, said: Answered) -> dict[str, str]:
    publisher = await publisher_of(project, note, view.row.id)
    recorded = await hear(project.store, project.loops, view.row.id, said, publisher)
    goes_on = f"loop resume --loop {view.row.id}" if recorded and said.choice != _ASKS_AGAIN else ""
    return {
        "loop": view.row.id,
        "answered": said.choice,
        "state": "recorded" if recorded else "posted",
        "command": goes_on,
    }


def _said(data: dict[str, str]) -> str:
    if data["state"] == "posted":
        return f"Told the controller that runs loop {data['loop']}: {data['answered']}."
    tail = f" Go on with: {data['command']}" if data["command"] else ""
    return f"Loop {data['loop']}: {data['answered']} is recorded.{tail}"
