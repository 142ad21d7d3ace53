"""`loop run`: drive a system until it is complete, blocked, at a gate, or at a limit; then the next one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import click

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.lifecycle.creation import SystemRequest, init_system
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.app.starts.lifecycle.waiting import Parked, awaited, interrupted, taken_up
from loopwright.app.views.evidence import ShownEvidence, show_evidence
from loopwright.cli.here import Here
from loopwright.cli.loops.init import all_complete, nothing_ready
from loopwright.cli.loops.run_system import RunOutcome, Turn, Turned, chosen, turned
from loopwright.cli.opened import note_unseen, opened
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
    evidence: ShownEvidence | None = None  # of the system that it stopped with


@dataclass(slots=True)
class _Round:
    """What has been run so far."""

    left: int
    systems: tuple[str, ...] = ()
    made: int = 0
    parked: dict[str, Turned] = field(default_factory=dict)  # those that wait for a person while others go on
    last: Turned | None = None

    def took(self, loop: str, found: Turned) -> None:
        system = found.state.plan.system.id
        self.systems = self.systems if system in self.systems else (*self.systems, system)
        self.made, self.left, self.last = self.made + found.made, self.left - found.made, found
        self.parked.pop(loop, None)
        if found.outcome in _WAITING:
            self.parked[loop] = found


@dataclass(frozen=True, slots=True, kw_only=True)
class _How:
    loop_id: str
    unattended: bool
    wait: bool
    whichever: bool  # one of several controllers, which takes what nobody else has


@click.command("run")
@loop_option
@click.option("--any", "whichever", is_flag=True, help="Whatever can go on: several of these share a queue.")
@click.option("--max-transitions", type=count_to(100_000), default=None, metavar="N", help="Instead of `run_cap`.")
@click.option("--domain", default="", metavar="NAME", help="Another domain than that of loop.toml.")
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--wait", is_flag=True, help="At a gate, wait until it is decided elsewhere or `gate_timeout` is over.")
@json_option(SystemsAnswer)
@click.pass_obj
def command(here: Here, /, *, max_transitions: int | None, domain: str, as_json: bool, **given: object) -> int:
    """Drive the system that is under way, or claim the next that is ready.

    It stops when the system is COMPLETE or BLOCKED, at a gate, or after so many transitions. With `auto_continue` the
    next ready system is begun then; one that waits at a gate lets the queue go on with others, and goes on itself once
    the gate is open. With --wait nobody is asked here: decisions come from the pull request or another terminal.

    With --any it takes up the first system that was interrupted and that nobody drives, else claims the next one, and
    goes on so: several of these at once share the work.
    """
    how = _How(**given)  # type: ignore[arg-type]  # click has checked the types
    if how.whichever and how.loop_id:
        raise UsageError("say --any, or name a loop")
    with opened(here, create=True) as project:
        started_by_people(project, here, "run")
        settings = settings_of(project)
        asked = SystemRequest(domain=domain_of(project, domain))
        own = _Controller(project, here, settings, asked, how)
        seen = complete(own.first())
        if isinstance(seen, StoppedBySignal):
            return seen.exit_code
        if seen is None:
            return _nothing(project, asked.domain, as_json=as_json)
        turn = Turn(transitions=1, unattended=how.unattended or how.wait, quiet=as_json)
        ran = _Round(left=max_transitions or settings.lifecycle.run_cap)
        code = _all(own, seen, turn, ran)
        return code if code is not None else _answered(ran, nothing_ready(project, asked.domain), as_json=as_json)


def _nothing(project: Project, domain: str, *, as_json: bool) -> int:
    """That everything is complete is no error."""
    if not all_complete(project, domain):
        raise Forbidden(nothing_ready(project, domain))
    if as_json:
        put_json(SystemsAnswer(outcome="complete", state="COMPLETE", gate=None, transitions=0, systems=()))
    else:
        put(nothing_ready(project, domain))
    return 0


@dataclass(frozen=True, slots=True)
class _Controller:
    project: Project
    here: Here
    settings: Settings
    asked: SystemRequest
    how: _How

    async def first(self) -> View | None:
        if self.how.whichever:
            return await self.another()
        return await chosen(self.project, self.how.loop_id) or await self.another()

    async def another(self) -> View | None:
        if self.how.whichever and (left := await interrupted(self.project)) is not None:
            return left
        begun = await init_system(self.project, self.settings, self.asked, note)
        if begun is not None:
            note_unseen(self.project)
        return begun

    def driven(self, seen: View, turn: Turn) -> Turned | None:
        """None: another controller was quicker."""
        try:
            return turned(self.project, self.here, seen, turn)
        except AlreadyRunning:
            if self.how.whichever:
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
            ran.took(following.row.id, found)
            if ran.left <= 0 or found.outcome in _FINAL:
                break
        more = complete(_following(own, ran, following.row.id))
        if isinstance(more, StoppedBySignal):
            return more.exit_code
        following = more
    return None


async def _following(own: _Controller, ran: _Round, last: str) -> View | None:
    """The next that is ready, else one whose gate was decided meanwhile."""
    if own.settings.finish.auto_continue:
        more = await own.another()
        if more is not None:
            return more
    if not own.how.wait:
        others = tuple(loop for loop in ran.parked if loop != last)
        return await taken_up(Parked(project=own.project, loops=others, by=own.here.who, failed=note))
    for each in ran.parked.values():
        if each.gate:
            note(f"{each.state.plan.system.id} waits for {each.gate}; `loop gates` shows it")
    waiting = Parked(project=own.project, loops=tuple(ran.parked), by=own.here.who, failed=note)
    return await awaited(waiting, own.settings.forge.poll)


def _answered(ran: _Round, progress: str, *, as_json: bool) -> int:
    told = next(iter(ran.parked.values()), ran.last)
    if told is None:
        raise Forbidden("nothing was run")
    answer = SystemsAnswer(
        outcome=told.outcome,
        state=told.stage,
        gate=told.gate or None,
        transitions=ran.made,
        systems=ran.systems,
        evidence=show_evidence(told.state.course.shown),
    )
    if as_json:
        put_json(answer)
        return told.exit_code
    if told.outcome in ("complete", "accepted") and not told.state.next:
        put(progress)
    if told.outcome == "limit":
        put(f"Stopped after {ran.made} transitions, in {answer.state}. Go on with: loop run")
    return told.exit_code
