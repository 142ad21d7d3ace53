"""The files of a feedback loop: `feedback-scratchpad.md` and `progress.json`."""

from __future__ import annotations

from loopwright.kernel.model import LoopId
from loopwright.kernel.visible import visible
from loopwright.loops.feedback import progress, scratchpad
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.kind import Files, Scene

_FOLDER = ".loop/feedback"


def scratchpad_path(loop: LoopId) -> str:
    return f"{_FOLDER}/{loop}/feedback-scratchpad.md"


def render(scene: Scene[FeedbackState]) -> Files:
    return {
        scratchpad_path(scene.loop): scratchpad.render(scene.loop, scene.state, scene.status),
        f"{_FOLDER}/{scene.loop}/progress.json": progress.render(scene.state, scene.status),
    }


def history(scene: Scene[FeedbackState]) -> str:
    """What a person is shown who asks for it: the scratchpad itself."""
    return visible(scratchpad.render(scene.loop, scene.state, scene.status))
