"""P22: publishing every event of the 64th ticket of a session against the 4th, in function calls and in time.

Each ticket has the same work in it: a change, a critic that finds something old and something new, checks that fail.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType

from benchmarks.measuring import Figure
from loopwright.app.kinds import KINDS
from loopwright.app.publisher import Publisher
from loopwright.engine.world import Seen
from loopwright.kernel.actions import Action, Announce, Checkpoint, RunAgent, RunChecks
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, Announced, Checkpointed, ChecksReported, Created, Event, Started
from loopwright.kernel.findings import identify
from loopwright.kernel.model import AgentReport, CheckResult, Commit, Finding, LoopId, Severity, Tree, Verdict
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Criterion, TicketParams

EARLY, MIDDLE, LATE = 4, 16, 64
_PARAMS = TicketParams(
    session="bench",
    title="Time-outs of the client",
    base=Commit("b" * 40),
    what="Every call gives up after a while.",
    criteria=(Criterion(id="AC-1", text="A slow call raises"), Criterion(id="AC-2", text="The time can be set")),
    creators=("alpha",),
    limits=TicketLimits(max=LATE + 3),
)
_OLD = Finding(severity=Severity.CRITICAL, rule="R0", issue="the caller never hears of it", file="src/a.py", line=3)
_TEST = identify(Finding(severity=Severity.HIGH, rule="t::one", issue="assert 1 == 2", category="tests"))
_CHECKS = (CheckResult(name="build", passed=True), CheckResult(name="test", passed=False, tests=12, failures=(_TEST,)))


def _answer(action: Action, number: int) -> Event:
    match action:
        case RunAgent(needs_verdict=True):
            new = replace(_OLD, rule=f"R{number}", issue=f"case {number} is not handled", requirement="AC-1")
            report = AgentReport(verdict=Verdict.FAIL, findings=(_OLD, new), summary="Not yet.", agent="gamma")
            return AgentReported(key=action.key, report=report, role=action.role)
        case RunAgent():
            report = AgentReport(summary=f"Tried {number} in another way", agent="alpha")
            return AgentReported(key=action.key, report=report, role=action.role)
        case Checkpoint():
            commit = Commit(f"{number:040d}")
            return Checkpointed(key=action.key, commit=commit, tree=Tree("t"), files=1, paths=("src/a.py",))
        case RunChecks():
            return ChecksReported(key=action.key, tree=Tree("t"), results=_CHECKS)
        case Announce():
            return Announced(key=action.key)
        case _:
            raise TypeError(action)


def _events(tickets: int) -> Iterator[tuple[int, Seen]]:
    """Yield the events of a session of so many tickets, each with the number of its ticket."""
    state, seq = TICKETS.start(_PARAMS), 1
    seen = Seen(loop=LoopId("bench"), kind="tickets", state=state, event=_created(), seq=1, status="running", at=1.0)
    yield 1, seen
    while state.ticket.number <= tickets:
        number = state.ticket.number
        for action in TICKETS.decide(state):
            begun = Started(key=action.key, action=type(action).__name__, what="", why=action.why)
            yield number, replace(seen, event=begun, state=state, seq=seq + 1, at=float(seq + 1))
            event = _answer(action, number)
            state = TICKETS.apply(state, event)
            seq += 2
            yield number, replace(seen, event=event, state=state, seq=seq, at=float(seq))


def _created() -> Created:
    return Created(kind="tickets", params=encode(_PARAMS), by="bench")


def publish_counted(root: Path, tickets: int) -> tuple[Counter[int], Counter[int]]:
    """Return the calls and the nanoseconds of this process by the number of the ticket."""
    calls, spent = Counter[int](), Counter[int]()
    publisher = Publisher(root, KINDS, sys.exit)
    for number, seen in _events(tickets):
        heard = 0

        def count(_frame: FrameType, what: str, _arg: object) -> None:
            nonlocal heard
            heard += what in ("call", "c_call")

        sys.setprofile(count)
        publisher.recorded(seen)
        sys.setprofile(None)
        calls[number] += heard
    publisher = Publisher(root, KINDS, sys.exit)
    for number, seen in _events(tickets):
        begin = time.process_time_ns()
        publisher.recorded(seen)
        spent[number] += time.process_time_ns() - begin
    return calls, spent


def measure(*, smoke: bool = False) -> Figure:
    early, middle, late = (1, 2, 3) if smoke else (EARLY, MIDDLE, LATE)
    with tempfile.TemporaryDirectory() as folder:
        calls, spent = publish_counted(Path(folder), late + 2)
    value = calls[late] / calls[early]
    return Figure(
        name="P22",
        what="function calls to publish all events of the 64th ticket of a session",
        against="those of the 4th",
        value=value,
        low=value,
        high=value,
        goal="<= 1.2",
        met=value <= 1.2,
        details={
            "calls_at_4": calls[early],
            "calls_at_16": calls[middle],
            "calls_at_64": calls[late],
            "cpu_ms_at_4": spent[early] / 1e6,
            "cpu_ms_at_64": spent[late] / 1e6,
        },
    )
