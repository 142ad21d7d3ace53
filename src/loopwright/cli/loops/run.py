"""`loop run`: drive a system until it is complete, blocked, at a gate, or at a limit; then the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.lifecycle.creation import SystemRequest, init_system
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.cli.here import Here
from loopwright.cli.loops.init import nothing_ready
from loopwright.cli.loops.run_system import RunOutcome, Turn, Turned, chosen, interrupted, turned
from loopwright.cli.opened import opened
from loopwright.cli.output import count_to, json_option, loop_option, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.config.settings import Settings
from loopwright.errors import AlreadyRunning, Forbidden, UsageError

_WAITING: tuple[RunOutcome, ...] = ("gate", "blocked", "waiting")
_FINAL: tuple[RunOutcome, ...] = ("limit", "paused", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsAnswer:
    """What `loop run --json` answers."""

    outcome: RunOutcome
    state: str
    gate: str | None
    transitions: int
    systems: tuple[str, ...]


@dataclass(slots=True)
class _Round:
    """What has been run so far."""

    left: int
    systems: tuple[str, ...] = ()
    made: int = 0
    parked: Turned | None = None  # the first that waits for a person while others go on
    last: Turned | None = None

    def add(self, found: Turned) -> None:
        system = found.state.plan.system.id
        self.systems = tuple(dict.fromkeys((*self.systems, system)))
        self.made, self.left, self.last = self.made + found.made, self.left - found.made, found
        if self.parked is not None and self.parked.state.plan.system.id == system:
            self.parked = None  # it was taken up again
        if found.outcome in _WAITING and self.parked is None:
            self.parked = found


@click.command("run")
@loop_option
@click.option("--any", "whichever", is_flag=True, help="Whatever can go on: several of these share a queue.")
@click.option("--max-transitions", type=count_to(100_000), default=None, metavar="N", help="Instead of `run_cap`.")
@click.option("--domain", default="", metavar="NAME", help="Another domain than that of loop.toml.")
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@json_option(SystemsAnswer)
@click.pass_obj
def command(
    here: Here, /, *, loop_id: str, whichever: bool, max_transitions: int | None, as_json: bool, **given: object
) -> int:
    """Drive the system that is under way, or claim the next that is ready.

    It stops when the system is COMPLETE or BLOCKED, at a gate, or after so many transitions. With `auto_continue` the
    next ready system is begun then; one that waits at a gate lets the queue go on with others.

    With --any it takes up the first system that was interrupted and that nobody drives, else claims the next one, and
    goes on so: several of these at once share the work.
    """
    if whichever and loop_id:
        raise UsageError("say --any, or name a loop")
    with opened(here, create=True) as project:
        started_by_people(project, here, "run")
        settings = settings_of(project)
        asked = SystemRequest(domain=domain_of(project, str(given["domain"])))
        own = _Controller(project, here, settings, asked, whichever)
        seen = complete(own.first(loop_id))
        if isinstance(seen, StoppedBySignal):
            return seen.exit_code
        if seen is None:
            raise Forbidden(nothing_ready(project, asked.domain))
        turn = Turn(transitions=1, unattended=bool(given["unattended"]), quiet=as_json)
        ran = _Round(left=max_transitions or settings.lifecycle.run_cap)
        code = _all(own, seen, turn, ran)
        return code if code is not None else _answered(ran, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Controller:
    project: Project
    here: Here
    settings: Settings
    asked: SystemRequest
    whichever: bool  # one of several, which takes what nobody else has

    async def first(self, loop_id: str) -> View | None:
        if self.whichever:
            return await self.following()
        return await chosen(self.project, loop_id) or await self.following()

    async def following(self) -> View | None:
        left = await interrupted(self.project) if self.whichever else None
        return left or await init_system(self.project, self.settings, self.asked, note)

    def driven(self, seen: View, turn: Turn) -> Turned | None:
        """None: another controller was quicker."""
        try:
            return turned(self.project, self.here, seen, turn)
        except AlreadyRunning:
            if self.whichever:
                return None
            raise


def _all(own: _Controller, seen: View, turn: Turn, ran: _Round) -> int | None:
    """One system after the other; the exit code where a signal stopped it."""
    following: View | None = seen
    while following is not None:
        note(f"loop {following.row.id}: {following.title}")
        found = own.driven(following, replace(turn, transitions=ran.left))
        if found is not None:
            if found.stopped is not None:
                return found.stopped
            ran.add(found)
            if ran.left <= 0 or found.outcome in _FINAL or not own.settings.finish.auto_continue:
                break
        more = complete(own.following())
        if isinstance(more, StoppedBySignal):
            return more.exit_code
        following = more
    return None


def _answered(ran: _Round, *, as_json: bool) -> int:
    told = ran.parked or ran.last
    if told is None:
        raise Forbidden("nothing was run")
    answer = SystemsAnswer(
        outcome=told.outcome,
        state=told.state.phase.value,
        gate=told.gate or None,
        transitions=ran.made,
        systems=ran.systems,
    )
    if as_json:
        put_json(answer)
    elif told.outcome == "limit":
        put(f"Stopped after {ran.made} transitions, in {answer.state}. Go on with: loop run")
    return told.exit_code
