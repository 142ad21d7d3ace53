"""What `loop demo --system` plays: a small service through all states, with a person's part played too."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.lifecycle.creation import SystemRequest, init_system
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.app.starts.lifecycle.queue_edits import Speaker, add
from loopwright.app.views.gates import gates
from loopwright.cli.decision import GateDecision, decided, sentence
from loopwright.cli.drive import Driven, told_of_ended
from loopwright.cli.here import Here
from loopwright.cli.loops.run_demo_words import CAP
from loopwright.cli.loops.run_system import Turn, Turned, turned
from loopwright.cli.output import note, put
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.loops.queue.state import NewSystem

_FIRST = NewSystem(
    name="Link box", description="Short codes for long links.", capabilities=("shorten", "sign", "resolve")
)
_SECOND = NewSystem(name="Visits", description="How often a code was followed.", dependencies=("sys-001",))
_PERSON = (
    GateDecision(gate="security", approved=True, reason="HMAC, compared in constant time, no key in the code."),
    GateDecision(gate="deploy", approved=False, reason="A wrong code ends in a KeyError. Answer it with None."),
    GateDecision(gate="deploy", approved=True, reason="A wrong code is an answer now."),
)


@dataclass(frozen=True, slots=True)
class Played:
    """How it ended: the first system with its answer, and the code."""

    code: int
    first: Driven | None = None


def play(project: Project, here: Here, *, quiet: bool) -> Played:
    """Both systems are queued; the first is driven to its end and decided on, the second as far as the cap."""
    asked = SystemRequest(domain=domain_of(project))
    first = complete(_begun(project, here, asked))
    if isinstance(first, StoppedBySignal):
        return Played(first.exit_code)
    found = _to_its_end(project, here, first, quiet=quiet)
    if found.outcome != "complete" or found.stopped is not None:
        return Played(found.exit_code)
    both = complete(_following(project, first, asked))
    if isinstance(both, StoppedBySignal):
        return Played(both.exit_code)
    ended, following = both
    put_unless(quiet, "", f"The next system of the queue: {following.title}")
    last = turned(project, here, following, Turn(transitions=CAP, unattended=True, quiet=quiet))
    put_unless(quiet, f"Stopped in {last.state.phase} by the demo's cap. Go on with: loop run")
    return Played(last.stopped or 0, ended)


def put_unless(quiet: bool, *lines: str) -> None:  # noqa: FBT001 - what is said goes after it
    for line in () if quiet else lines:
        put(line)


async def _begun(project: Project, here: Here, asked: SystemRequest) -> View:
    speaker = Speaker(project=project, domain=asked.domain, by=here.who, failed=note)
    for system in (_FIRST, _SECOND):
        await add(speaker, system)
    return await _claimed(project, asked)


def _to_its_end(project: Project, here: Here, system: View, *, quiet: bool) -> Turned:
    """Driven from gate to gate, each decided as the script of the person has it."""
    turn = Turn(transitions=settings_of(project).lifecycle.run_cap, unattended=True, quiet=quiet)
    found = turned(project, here, system, turn)
    for said in _PERSON:
        if found.outcome != "gate" or found.gate != said.gate:
            break
        seen = complete(_decided(project, here, system, said, quiet=quiet))
        if isinstance(seen, StoppedBySignal):
            return replace(found, stopped=seen.exit_code)
        found = turned(project, here, seen, turn)
    return found


async def _decided(project: Project, here: Here, system: View, said: GateDecision, *, quiet: bool) -> View:
    seen = await view(project, system.row.id)
    pending = next(gate for gate in gates(seen) if gate.name == said.gate and gate.status == "pending")
    said = replace(said, gate=f"{said.gate}@{pending.id}", loop_id=system.row.id)
    word = "approve" if said.approved else "reject"
    put_unless(quiet, "", f'$ loop {word} {said.gate} --reason "{said.reason}"')
    answer = await decided(project, here, said)
    put_unless(quiet, sentence(answer), "")
    return await view(project, system.row.id)


async def _following(project: Project, system: View, asked: SystemRequest) -> tuple[Driven, View]:
    """What is to be told of the system that is complete, and the next one of the queue."""
    ended = await told_of_ended(project, await view(project, system.row.id))
    return ended, await _claimed(project, asked)


async def _claimed(project: Project, asked: SystemRequest) -> View:
    seen = await init_system(project, settings_of(project), asked, note)
    if seen is None:
        raise AssertionError("no system of the demo is ready")
    return seen
