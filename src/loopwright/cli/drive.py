"""Driving a loop from the command line: who is asked, what is shown meanwhile, what is said at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopwright.app.altered_tests import describe_altered_tests
from loopwright.app.loops import Newest, View, left, view
from loopwright.app.project import Project
from loopwright.app.readiness import about_to_drive
from loopwright.app.rebuilding import rebuild_debt
from loopwright.app.task_lists import drive_with_lists
from loopwright.app.views.ending import RunAnswer, answer_of, closing_lines
from loopwright.app.views.standing import current
from loopwright.cli.afterwards import decided_on, left_open, stays
from loopwright.cli.here import Here
from loopwright.cli.listening import peopled
from loopwright.cli.output import F, confirmation, json_option, note, put, put_json
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.cli.watch import forewarn, watched
from loopwright.engine.world import Halt
from loopwright.kernel.model import Ending, LoopId, Point

WAITING, PAUSED, CANCELLED_ELSEWHERE, NOT_MERGED, UNABLE = 4, 5, 3, 3, 2
_CODES = {
    Ending.VERIFIED: 0,
    Ending.REVIEWED: 0,
    Ending.ACCEPTED: 0,
    Ending.CANCELLED: 0,
    Ending.ESCALATED: WAITING,
    Ending.FAILED: UNABLE,
}


def run_json_option(own: type, *others: type) -> Callable[[F], F]:
    """`--json` of a command that drives a loop whose kind adds `own` to the answer; `object`: of whatever kind."""
    return json_option(RunAnswer[own], *others)  # type: ignore[valid-type]  # known when it runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the command was told to behave."""

    unattended: bool = False
    as_json: bool = False
    cancels: bool = False  # this command is the one that cancels
    passing: bool = False  # the project is gone when the command is done: nobody can go on with the loop
    upto: tuple[Point, ...] = ()  # no farther than one of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """How a drive ended, and how the loop looks now."""

    halt: Halt
    view: View
    answer: RunAnswer[object]  # for programs
    lines: Sequence[str]  # for people
    cancelled_here: bool = False

    @property
    def exit_code(self) -> int:
        if self.halt.outcome is not None:
            ending = self.halt.outcome.ending
            if self.halt.outcome.not_merged:
                return NOT_MERGED
            if self.halt.outcome.still_held:
                return WAITING
            elsewhere = ending is Ending.CANCELLED and not self.cancelled_here
            return CANCELLED_ELSEWHERE if elsewhere else _CODES[ending]
        return PAUSED if self.halt.is_paused else WAITING


def drive_and_tell(project: Project, here: Here, loop: View, manner: Manner) -> int:
    """Drive the loop as far as it goes, say how it ended, and give the exit code.

    Whoever is there is asked once about what it did without; what they approve lands at once.
    """
    if not manner.cancels:
        forewarn(project, loop)
        if altered := asyncio.run(describe_altered_tests(project, loop)):
            note(altered)
    asked: set[str] = set()
    while True:
        result = complete(driven(project, here, loop, manner), last=True)
        if isinstance(result, StoppedBySignal):
            return interrupted(project, loop.row.id, result, manner)
        _tell_people(result, manner)
        gate = left_open(result.view) if here.asks and not manner.unattended else None
        if gate is None or gate.id in asked:
            return _answered(result, manner)
        asked.add(gate.id)
        decided = complete(decided_on(project, here, result.view, gate))
        if isinstance(decided, StoppedBySignal):
            note(stays(gate))
            _answered(replace(result, answer=replace(result.answer, interrupted=True)), manner)
            return decided.exit_code
        if decided.is_over:
            return _answered(asyncio.run(told_of_ended(project, decided)), manner)
        loop = decided


def _tell_people(result: Driven, manner: Manner) -> None:
    for line in () if manner.as_json else result.lines:
        put(line)


def _answered(result: Driven, manner: Manner) -> int:
    if manner.as_json:
        tell_block(result)
        put_json(result.answer)
    return result.exit_code


def tell_block(result: Driven) -> None:
    """Beside an answer for programs: what others wait to read in what a command prints."""
    for line in result.view.kind.block(result.view.now.state, result.halt.outcome) if result.halt.outcome else ():
        note(line)


def interrupted(project: Project, loop: LoopId, how: StoppedBySignal, manner: Manner) -> int:
    command = "" if manner.passing else f"loop resume --loop {loop}"
    note(f"Interrupted; nothing is lost. Go on with: {command}" if command else "Interrupted.")
    if manner.as_json:
        answer = asyncio.run(_interrupted_answer(project, loop))
        put_json(replace(answer, interrupted=True, command=command))
    return how.exit_code


async def _interrupted_answer(project: Project, loop: LoopId) -> RunAnswer[object]:
    now = await view(project, loop)
    halt = Halt(why="paused")
    return await answer_of(project, now, halt, await current(project, now, halt))


async def driven(project: Project, here: Here, loop: View, manner: Manner) -> Driven:
    """Drive the loop, showing what happens, and asking whoever is there."""
    confirm = confirmation(asks=here.asks and not manner.unattended)
    asked = here.who if confirm else ""
    async with about_to_drive(project, loop, here.who, note, confirm) as ready:
        start, newest = ready.seen, Newest()
        async with watched(project, here, start, newest, ready.publisher) as watching:
            world, heard = peopled(project, ready, watching, asked)
            halt = await drive_with_lists(world, start.opened, ready.publisher.lists, ready.rows, manner.upto)
    if halt.outcome is not None and halt.outcome.ending is Ending.ACCEPTED:
        await rebuild_debt(project)
    now = await left(project, start, halt.now, newest)
    cancelled = manner.cancels or heard.cancelled
    return await told(project, now, halt, cancelled_here=cancelled, can_go_on=not manner.passing)


async def told_of_ended(project: Project, ended: View) -> Driven:
    """Of a loop that ended while somebody else drove it."""
    return await told(project, ended, Halt(why="ended", outcome=ended.outcome), cancelled_here=True)


async def told(project: Project, now: View, halt: Halt, *, cancelled_here: bool, can_go_on: bool = True) -> Driven:
    """What is said of a loop that stopped, to programs and to people."""
    shown = await current(project, now, halt)
    answer = await answer_of(project, now, halt, shown)
    return Driven(
        halt=halt,
        view=now,
        answer=replace(answer, command=answer.command if can_go_on else ""),
        lines=await closing_lines(project, now, halt, shown, can_go_on=can_go_on),
        cancelled_here=cancelled_here,
    )
