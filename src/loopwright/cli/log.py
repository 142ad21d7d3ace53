"""`loop log`: the journey, one line per event; and what an agent or a check printed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import click

from loopwright.app.choice import listed_as
from loopwright.app.loops import Listed, listing
from loopwright.app.project import Project
from loopwright.app.views import journey
from loopwright.app.views.answers import StepOutput
from loopwright.app.views.journey import ShownEvent
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, note, put, put_json, put_next
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import UsageError
from loopwright.kernel.events import AgentFailed, AgentReported, ChecksReported
from loopwright.kernel.model import Blob, LoopId
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.visible import visible_bytes
from loopwright.kernel.wording import counted, moment

_POLL = 0.25


@click.command("log")
@loop_option
@click.option("--follow", is_flag=True, help="Stay, and print what happens until the loop ends.")
@click.option("--agent", "key", metavar="KEY", default="", help="What the step KEY (implement-2.1) printed.")
@json_option(ShownEvent, StepOutput, what="Answer with JSON on stdout: a line with one object for each event.")
@click.pass_obj
def command(here: Here, *, loop_id: str, follow: bool, key: str, as_json: bool) -> int:
    """The journey, one line per event. With --json, one object per line.

    Without --loop it is the newest loop.
    """
    with opened(here) as project:
        if key:
            asyncio.run(_output(project, loop_id, key, as_json=as_json))
            return 0
        result = complete(_print(project, loop_id, follow=follow, as_json=as_json))
        return result.exit_code if isinstance(result, StoppedBySignal) else 0


async def newest(project: Project, loop_id: str) -> Listed:
    """The loop that is named, else the newest root. Its log is not read into a state: that may be what is wrong."""
    if loop_id:
        return await listed_as(project, loop_id)
    found = await listing(project)
    if not found:
        raise UsageError("no loop was ever started here; `loop feedback` and `loop review` start one")
    if len(found) > 1:
        note(f"loop {found[0].row.id}, the newest of {len(found)}; --loop ID shows another")
    return found[0]


async def _print(project: Project, loop_id: str, *, follow: bool, as_json: bool) -> None:
    chosen = await newest(project, loop_id)
    day = ""
    async for record in _records(project, chosen.row.id, follow=follow):
        if as_json:
            await put_next(journey.show(record, chosen.kind.words))
            continue
        if (today := moment(record.at)[:10]) != day:
            await put_next(f"--- {today}")
            day = today
        if line := journey.line(record, chosen.kind.words):
            await put_next(line)


async def _records(project: Project, loop: LoopId, *, follow: bool) -> AsyncIterator[Record]:
    seen = 0
    while True:
        over = (await listed_as(project, loop)).is_over
        for record in await project.store.read(loop, after=seen):
            seen = record.seq
            yield record
        if not follow or over:
            return
        await asyncio.sleep(_POLL)


# --- what a step printed ------------------------------------------------------------------------------


async def _output(project: Project, loop_id: str, key: str, *, as_json: bool) -> None:
    chosen = await newest(project, loop_id)
    records = await project.store.read(chosen.row.id)
    printed = {name: blob for record in records for name, blob in _blobs(record, key)}
    if not printed:
        keys = dict.fromkeys(name for record in records for name, _ in _blobs(record, ""))
        raise UsageError(f"loop {chosen.row.id} has no output of a step {key!r}; there is: {', '.join(keys) or 'none'}")
    texts = {name: await project.store.fetch(blob) if blob else b"" for name, blob in printed.items()}
    if as_json:
        output = {name: visible_bytes(text) for name, text in texts.items()}
        put_json(StepOutput(loop=chosen.row.id, output=output))
        return
    for name, text in texts.items():
        note(f"--- {name}: {counted(len(text), 'byte')}")
        put(visible_bytes(text).rstrip("\n"))  # what is piped ends on a terminal too


def _blobs(record: Record, key: str) -> list[tuple[str, Blob]]:
    """The outputs that a record holds for a step; for the empty key, for any step."""
    if record.kind not in ("AgentReported", "AgentFailed", "ChecksReported"):
        return []
    event = event_of(record)
    match event:
        case AgentReported() if key in ("", str(event.key)):
            return [(str(event.key), event.report.transcript)]
        case AgentFailed() if key in ("", str(event.key)):
            return [(str(event.key), event.transcript)]
        case ChecksReported() if key in ("", str(event.key)):
            if not key:
                return [(str(event.key), Blob(""))]
            judging = [(f"{event.key}/{result.name}", result.output) for result in (*event.results, *event.also)]
            return [*judging, *((f"{event.key}/{each.name}/landing", each.output) for each in event.landing)]
        case _:
            return []
