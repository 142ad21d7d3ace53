"""Logs that the version before wrote are folded to the same points, wanting the same steps: their keys are on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopwright.kernel.actions import Action, RunLoop
from loopwright.kernel.codec import build
from loopwright.kernel.model import Key
from loopwright.kernel.record import KINDS
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.quality.machine import QUALITY
from tests.loops.harness import taken

OLDER = Path(__file__).parents[1] / "golden" / "older"
LOOPS = {"feedback": FEEDBACK, "quality": QUALITY, "batch": BATCH}


@pytest.mark.parametrize("name", LOOPS)
def test_a_log_of_the_version_before_leads_to_the_same_steps(name: str) -> None:
    loop: Any = LOOPS[name]
    for line in (OLDER / f"{name}.jsonl").read_text().splitlines():
        story = json.loads(line)
        state = loop.start(build(loop.params, story["params"]))
        for entry in story["log"]:
            event: Any = build(KINDS[entry["kind"]], entry["data"])
            state = taken(loop, state, event)
            assert str(loop.stand(state).point) == entry["at"], entry
            assert [action.key for action in begun(loop.decide(state))] == list(map(Key.parse, entry["wants"])), entry


def begun(wanted: tuple[Action, ...]) -> tuple[Action, ...]:
    """What was wanted then: a batch named only as many children as may be at work at once."""
    abreast = min(
        (action.abreast or len(wanted) for action in wanted if isinstance(action, RunLoop)), default=len(wanted)
    )
    return wanted[:abreast]
