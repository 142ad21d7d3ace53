"""What a real run writes and what the commands answer fits the published schemas."""

import asyncio
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.project import open_project
from loopwright.app.publisher import Publisher
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive
from loopwright.engine.world import Seen
from loopwright.ports.agent import Update
from tests.e2e.kills import killable
from tests.e2e.scene import ASKS, CHANGES_THE_TEST, NAMES_THE_TEST, WRITES_ADD, Scene, ready
from tests.test_schemas import mistakes


@dataclass(slots=True)
class ReadsAlong:
    """Reads progress.json whenever an event was recorded."""

    root: Path
    publisher: Publisher
    texts: list[str] = field(default_factory=list)

    def recorded(self, seen: Seen) -> None:
        self.publisher.recorded(seen)
        self.texts.append((self.root / ".loop" / "feedback" / seen.loop / "progress.json").read_text())

    def progressed(self, update: Update) -> None:
        """Signs of life are for the screen."""


async def driven(scene: Scene, environ: dict[str, str]) -> list[str]:
    project = open_project(scene.root, environ)
    try:
        loop = await create_feedback(project, settings_of(project), FeedbackRequest(task="Add add()"))
        ready = await make_ready(project, loop, pytest.fail)
        watch = ReadsAlong(scene.root, ready.publisher)
        await drive(build_world(project, ready, people=Nobody(), observer=watch), ready.seen.opened)
        return watch.texts
    finally:
        await project.store.close()


def test_the_files_of_a_run_fit_their_schemas_at_every_step(tmp_path: Path) -> None:
    scene = killable(tmp_path)
    texts = asyncio.run(driven(scene, {**os.environ, "NOTES": str(scene.notes)}))
    assert len(texts) == 21
    assert [found for text in texts for found in mistakes("progress", json.loads(text))] == []
    runs = [folder for folder in scene.root.glob(".loop/runs/*/*") if (folder / "brief.md").exists()]
    assert len(runs) == 4
    for folder in runs:
        assert mistakes("agent-context", json.loads((folder / "context.json").read_text())) == []
        assert mistakes("agent-result", json.loads((folder / "result.json").read_text())) == []


@pytest.mark.slow
def test_what_the_commands_answer_fits_their_schemas(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer=CHANGES_THE_TEST + WRITES_ADD, more=ASKS)

    def fits(schema: str, *words: str, code: int = 0) -> None:
        said = scene.loop(*words, "--json", code=code)
        lines = said.out.splitlines() if schema == "event" else [said.out]
        assert lines
        for line in lines:
            assert mistakes(schema, json.loads(line)) == [], f"loop {' '.join(words)}: {line}"

    fits("resume", "resume")
    fits("cancel", "cancel")
    fits("status", "status")
    fits("feedback", "feedback", NAMES_THE_TEST, "--unattended", code=4)
    fits("error", "answer", "continue", code=3)
    fits("error", "approve", "nothing", code=2)
    for schema in ("status", "gates", "explain", "receipts", "render"):
        fits(schema, schema)
    fits("event", "log")
    fits("output", "log", "--agent", "implement-1.1")
    fits("output", "log", "--agent", "checks-1.1")
    fits("error", "approve", "protected", code=3)
    fits("decision", "reject", scene.open_gate(), "--reason", "no")
    fits("resume", "resume", "--unattended", code=4)
    gate = scene.open_gate()
    fits("decision", "approve", gate)
    fits("decision", "approve", gate)
    fits("resume", "resume", "--unattended")
    fits("feedback", "feedback", "Again", "--max-iterations", "1", "--budget", "0", code=5)
    fits("cancel", "cancel", "--cleanup", "rollback")
    progress = next(scene.root.glob(".loop/feedback/*/progress.json"))
    adopted = tmp_path / "progress.json"
    adopted.write_text(progress.read_text().replace('"IMPLEMENTATION_VERIFIED"', '"in_progress"'))
    fits("adopt", "adopt", str(adopted), "--task", "Go on")
    fits("status", "status", "--all")
