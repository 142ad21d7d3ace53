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
from loopwright.app.views.standing import status_document
from loopwright.cli.decision import GateDecision, decided, sentence
from loopwright.cli.drive import Driven, told_of_ended
from loopwright.cli.here import Here
from loopwright.cli.loops.run_system import Turn, Turned, turned
from loopwright.cli.output import note, put
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.cli.status import text
from loopwright.errors import EngineError
from loopwright.kernel.wording import counted
from loopwright.loops.queue.state import NewSystem

FILES = "demo_system"
SYSTEMS = """\
sys-001  Link box: short codes for long links. Capabilities: shorten, sign, resolve
sys-002  Visits: how often a code was followed. Depends on sys-001"""
INTRODUCTION = """\
A sample project is in {folder}: a small Python package with a linter and one test, in git.
The systems that are to be built:

{task}

Agents that play a script do the work, and a script plays the person who is asked, so this needs no account and costs
nothing. Everything else is real: the commits, the clean checkouts, the build, the linter, the tests, the merge.
Watch for what fails, and for the person who says no.
"""
EXPLANATION = """\
What you saw
  SCAFFOLD    The build failed: a colon was missing. FAILED → RETRY: debug-assist found the cause, the fix became a
              commit of its own, and was checked by the build first, then by everything else that SCAFFOLD asks for.
  Capability  Each of the three was made in a loop of its own, got its tests, and was verified. The linter did not
              take a test of the first one: FAILED → RETRY again. What passed landed on the system's branch.
  security    The second makes tokens. The change itself called for the gate, with file, line and rule.
  deploy      A person said no, with a reason. The last capability was opened again and mended with that reason in its
              brief; then everything was verified again. The approval of security still held: what it was given for
              had not changed. Deploy was asked again, for the new tree, and approved.
  SHIP        A pull request with the evidence, merged as exactly the tree that was verified, and deployed once.
  COMPLETE    Ten conditions, five actions; then the next system of the queue was claimed. It stopped after its INIT:
              the demo lets it go no farther than {cap}.

What is on {branch} now
{log}

$ loop status
{status}

Look around{program}
  cd {folder}
  loop queue list     the systems and their order      loop log            every event, one line each
  loop gates --all    who decided what, on what        loop receipts       what was verified, on which tree
  loop run            goes on with sys-002, for which the script has no more: you see a system that is stuck
{files}

In a repository of your own: loop setup, loop doctor, loop queue add "NAME", then loop run.
Remove the sample with: rm -rf {folder}"""
_CAP = 1  # transitions of the second system
_FIRST = NewSystem(
    name="Link box", description="Short codes for long links.", capabilities=("shorten", "sign", "resolve")
)
_SECOND = NewSystem(name="Visits", description="How often a code was followed.", dependencies=("sys-001",))
_PERSON = (
    GateDecision(gate="security", approved=True, reason="HMAC, compared in constant time, no key in the code."),
    GateDecision(gate="deploy", approved=False, reason="A wrong code ends in a KeyError. Answer it with None."),
    GateDecision(gate="deploy", approved=True, reason="A wrong code is an answer now."),
)
_FILES = (
    (".loop/pulls/1.md", "the pull request"),
    ("domain-memory/links/system-queue.json", "the queue"),
    ("domain-memory/links/failure-log.json", "what failed, and what became of it"),
    ("domain-memory/links/archive/sys-001/loop-state.json", "how the first system stood at its end"),
    ("domain-memory/links/loop-state.json", "how the second stands"),
    ("domain-memory/links/sessions/", "what each session handed over"),
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
    ended = complete(_ended(project, first))
    following = complete(init_system(project, settings_of(project), asked, note))
    for each in (ended, following):
        if isinstance(each, StoppedBySignal):
            return Played(each.exit_code)
    if not isinstance(following, View) or not isinstance(ended, Driven):
        raise EngineError("the second system of the demo is not ready")
    put_unless(quiet, "", f"The next system of the queue: {following.title}")
    last = turned(project, here, following, Turn(transitions=_CAP, unattended=True, quiet=quiet))
    put_unless(quiet, f"Stopped after {counted(last.made, 'transition')}, in {last.state.phase}: the demo has that cap.")
    return Played(last.stopped or 0, ended)


def put_unless(quiet: bool, *lines: str) -> None:  # noqa: FBT001 - what is said goes after it
    for line in () if quiet else lines:
        put(line)


async def _begun(project: Project, here: Here, asked: SystemRequest) -> View:
    speaker = Speaker(project=project, domain=asked.domain, by=here.who, failed=note)
    for system in (_FIRST, _SECOND):
        await add(speaker, system)
    seen = await init_system(project, settings_of(project), asked, note)
    if seen is None:
        raise EngineError("the first system of the demo is not ready")
    return seen


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


async def _ended(project: Project, system: View) -> Driven:
    return await told_of_ended(project, await view(project, system.row.id))


def explanation(project: Project, branch: str, log: str, program: str) -> str:
    shown = complete(status_document(project))
    status = "" if isinstance(shown, StoppedBySignal) else text(shown, everything=False)
    there = [(path, what) for path, what in _FILES if (project.root / path).exists()]
    width = max((len(path) for path, _ in there), default=0)
    return EXPLANATION.format(
        folder=project.root,
        branch=branch,
        log=log,
        program=program,
        cap=counted(_CAP, "transition"),
        status="\n".join(f"  {line}".rstrip() for line in status.splitlines()),
        files="\n".join(f"  {path:{width}}  {what}" for path, what in there),
    )
