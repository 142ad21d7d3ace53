import asyncio
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from loopwright.app.kinds import KINDS
from loopwright.app.loops import view
from loopwright.app.project import open_project
from loopwright.app.readiness import under_way
from loopwright.cli.live_lanes import LanesView
from loopwright.engine.journal import open_loop
from loopwright.engine.session import intent
from loopwright.engine.world import Seen
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, Created, Ended, Logged, LoopEnded, Started
from loopwright.kernel.ledger import record
from loopwright.kernel.model import (
    AgentReport,
    Commit,
    Ending,
    Finding,
    Key,
    LoopId,
    Outcome,
    Severity,
    Verdict,
)
from loopwright.loops.batch.state import ArtifactStanding, BatchArtifact, BatchItem, BatchParams, BatchState
from loopwright.loops.batch.state import start as start_batch
from loopwright.loops.course import Station, entered, stationed
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.quality.state import QualityParams, QualityPhase, QualityState, Round
from loopwright.loops.quality.state import start as start_quality
from loopwright.ports.store import Append, NewEvent, NewLoop
from tests.repository import Repository

Golden = Callable[[str, str], None]
ROOT = LoopId("review-1")
REVIEWED = AgentReported(key=Key.parse("review-1.1"), report=AgentReport())
LOADS = Started(key=Key.parse("load-2"), action="LoadArtifacts")
BAD = Finding(severity=Severity.CRITICAL, issue="it is bad \x1b[8m", fingerprint="f1")


def quality(path: str, phase: QualityPhase | Station, *, blocked: int = 0) -> QualityState:
    state = start_quality(QualityParams(artifact=path, base=Commit("b"), story="s"))
    line = f"CHECK_BLOCKED: {path}"
    rounds = tuple(
        Round(number=n, commit=Commit("b"), verdict=Verdict.FAIL, line=line, why="") for n in range(1, blocked + 1)
    )
    ledger = record((), "code", (BAD,), 1) if blocked else ()
    state = replace(state, rounds=rounds, ledger=ledger, number=max(1, blocked))
    return stationed(state, phase) if isinstance(phase, Station) else entered(state, phase)


def batch(*standings: ArtifactStanding) -> BatchState:
    artifacts = tuple(BatchArtifact(path=f"{n}.md") for n in range(len(standings)))
    state = start_batch(BatchParams(artifacts=artifacts, shared="{}", base=Commit("b")))
    return replace(
        state, items=tuple(BatchItem(path=f"{n}.md", standing=standing) for n, standing in enumerate(standings))
    )


class Screen:
    """A terminal of a given height, and what a batch view shows on it."""

    def __init__(self, height: int = 12) -> None:
        self.text, self.height = io.StringIO(), height
        self.view = LanesView(lambda: 0.0, KINDS, Console(file=self.text, width=90, height=height, color_system=None))

    def child(self, state: QualityState, event: Logged) -> None:
        self.view.recorded(
            Seen(loop=LoopId(state.plan.artifact), kind="quality", state=state, event=event, seq=1, status="running")
        )

    def root(self, state: BatchState, event: Logged) -> None:
        self.view.recorded(Seen(loop=ROOT, kind="batch", state=state, event=event, seq=1, status="running"))

    @property
    def below(self) -> list[str]:
        shown = io.StringIO()
        Console(file=shown, width=90, height=self.height, color_system=None).print(self.view.render())
        return [line.rstrip() for line in shown.getvalue().splitlines()]


def works(role: str) -> Started:
    verb = "review" if role == "reviewer" else "fix"
    return Started(key=Key.parse(f"{verb}-1.1"), action="RunAgent", what=role)


def held(path: str) -> LoopEnded:
    return LoopEnded(key=Key.parse("review-1.0-1"), outcome=Outcome(ending=Ending.HELD, note=f"CHECK_BLOCKED: {path}"))


def test_what_is_under_way_and_what_is_blocked_is_in_the_table(golden: Golden) -> None:
    screen = Screen()
    screen.root(
        batch(ArtifactStanding.PASSED, ArtifactStanding.BLOCKED, ArtifactStanding.STUCK, ArtifactStanding.PENDING),
        held("1.md"),
    )
    screen.child(quality("0.md", QualityPhase.RUN_CHECKS), works("reviewer"))
    screen.child(quality("1.md", QualityPhase.FIX, blocked=1), works("creator"))
    screen.child(quality("2.md", Station.ESCALATED, blocked=3), Started(key=Key.parse("escalation-1"), action="Ask"))
    screen.child(quality("3.md", QualityPhase.FIX, blocked=1), REVIEWED)
    screen.child(
        quality("4\x1b[2J.md", QualityPhase.LOAD_ARTIFACTS, blocked=1),
        LOADS,
    )
    assert "\x1b" not in "\n".join(screen.below)
    golden("cli/live-batch.txt", "\n".join(line[2:] for line in screen.below) + "\n")


def test_what_passed_scrolls_away_as_its_verdict() -> None:
    screen = Screen()
    screen.root(batch(ArtifactStanding.PENDING), Started(key=Key.parse("review-1.0-1"), action="RunLoop", what="0.md"))
    screen.child(quality("0.md", QualityPhase.RUN_CHECKS), works("reviewer"))
    assert any(line.strip().startswith("0.md") for line in screen.below)
    passed = quality("0.md", QualityPhase.EMIT_VERDICT)
    passed = replace(passed, rounds=(Round(number=1, commit=Commit("b"), verdict=Verdict.PASS, line="", why=""),))
    said = Started(key=Key.parse("verdict-1.3"), action="Announce", what="CHECK_PASSED: 0.md", why="no findings")
    screen.child(passed, AgentReported(key=Key.parse("review-1.1"), report=AgentReport(verdict=Verdict.PASS)))
    screen.child(passed, said)
    screen.child(passed, Ended(outcome=Outcome(ending=Ending.VERIFIED)))
    screen.root(
        batch(ArtifactStanding.PASSED),
        LoopEnded(key=Key.parse("review-1.0-1"), outcome=Outcome(ending=Ending.VERIFIED, note="CHECK_PASSED: 0.md")),
    )
    assert screen.text.getvalue() == "00:00:00Z  verdict-1.3     CHECK_PASSED: 0.md (no findings)\n"
    assert [line[2:] for line in screen.below] == ["1 passed, 0 blocked, 0 to go · round 1 · 0:00 · no sandbox"]


def test_the_table_is_never_higher_than_the_terminal() -> None:
    for height in (2, 5, 9, 40):
        screen = Screen(height)
        screen.root(batch(*[ArtifactStanding.BLOCKED] * 50), held("1.md"))
        for number in range(50):
            event = works("creator") if number < 10 else REVIEWED
            screen.child(quality(f"{number}.md", QualityPhase.FIX, blocked=1), event)
        assert len(screen.below) <= max(3, height - 2)
        assert "… and" in screen.below[-2]
        assert "0 passed, 50 blocked, 0 to go" in screen.below[-1]


def test_what_the_batch_does_itself_is_in_the_last_line() -> None:
    screen = Screen()
    screen.root(batch(ArtifactStanding.PASSED), Started(key=Key.parse("land-1.0"), action="Integrate"))
    assert screen.below[-1][2:] == "1 passed, 0 blocked, 0 to go · round 1 · landing the result · 0:00 · no sandbox"


def test_what_was_under_way_when_a_loop_died_is_shown_before_anything_is_recorded_again(tmp_path: Path) -> None:
    Repository.create(tmp_path / "repo")
    project = open_project(tmp_path / "repo", {"PATH": "/usr/bin:/bin"})
    shared = '{"story":"s"}'
    artifacts = tuple(BatchArtifact(path=f"{n}.md") for n in range(2))
    parts = {"part-0": "0.md", "torn-1": "1.md"}

    async def begun(loop: str, kind: str, params: object, parent: LoopId | None = None) -> None:
        first = NewEvent(kind="Created", data=encode(Created(kind=kind, params=encode(params))))
        await project.store.create(NewLoop(id=LoopId(loop), kind=kind, params=encode(params), parent=parent), first)
        opened = await open_loop(project.store, project.loops, LoopId(loop))
        entries = tuple(NewEvent(kind="Started", data=encode(intent(action))) for action in opened.wanted)
        fence = await project.store.claim(LoopId(loop), "somebody who dies")
        torn = (NewEvent(kind="Danced", data="{}"),) if loop.startswith("torn") else ()
        batch = Append(entries=(*entries, *torn), status="running")
        await project.store.append(LoopId(loop), fence=fence, expected=1, batch=batch)
        await project.store.release(LoopId(loop), fence)

    async def resumed() -> list[Seen]:
        await begun(ROOT, "batch", BatchParams(artifacts=artifacts, shared=shared, base=Commit("b")))
        for name, path in parts.items():
            await begun(name, "feedback", FeedbackParams(task=path, base=Commit("b")), ROOT)
        found = await under_way(project, await view(project, ROOT))
        await project.store.close()
        return found

    screen = Screen()
    for seen in asyncio.run(resumed()):
        screen.view.found(seen)
    assert screen.text.getvalue() == ""
    assert [line.split()[0] for line in screen.below[:-1]] == ["0.md"]
    assert screen.below[-1][2:].startswith("0 passed, 0 blocked, 2 to go")
