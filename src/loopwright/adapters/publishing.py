"""Writing the files that people and agents read, after every event, from what the projections make of it.

Nothing here is truth: a file that cannot be written now is written by the next event or by `loop render`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from loopwright.adapters.files import ignore_all, write_whole
from loopwright.engine.world import Seen
from loopwright.kernel.events import Ended
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.loops.feedback.state import Feedback
from loopwright.ports.agent import Update
from loopwright.projections import progress, scratchpad

STATE_FOLDER = ".loop"
WORKSPACES = ".worktrees"
SCRATCHPAD = "feedback-scratchpad.md"
PROGRESS = "progress.json"
DEBT = "debt.md"


def loop_folder(root: Path, loop: LoopId) -> Path:
    return root / STATE_FOLDER / "feedback" / loop


def scratchpad_file(root: Path, loop: LoopId) -> Path:
    return loop_folder(root, loop) / SCRATCHPAD


class Publisher:
    """An observer that keeps the files of every loop as new as the log.

    `failed` hears of a file that could not be written; the loop goes on.
    """

    def __init__(self, root: Path, failed: Callable[[str], None]) -> None:
        self._root, self._failed = root, failed
        self._written: dict[Path, str] = {}

    def recorded(self, seen: Seen) -> None:
        try:
            self.publish(seen)
        except OSError as error:
            self._failed(f"{error.filename or self._root}: could not be written ({error.strerror}); `loop render` will")

    def progressed(self, update: Update) -> None:
        """Signs of life are for the screen."""

    def publish(self, seen: Seen) -> None:
        """Write what the event changed. Raises `OSError`."""
        for name in (STATE_FOLDER, WORKSPACES):
            ignore_all(self._root / name)
        if isinstance(seen.state, Feedback):
            self.feedback(seen.loop, seen.state, seen.status)
        if isinstance(seen.event, Ended) and seen.event.outcome.ending is Ending.ACCEPTED:
            self.debt(seen.loop, seen.state, seen.event.outcome)

    def feedback(self, loop: LoopId, state: Feedback, status: str) -> None:
        folder = loop_folder(self._root, loop)
        self._write(folder / SCRATCHPAD, scratchpad.render(loop, state, status))
        self._write(folder / PROGRESS, progress.render(state, status))

    def _write(self, path: Path, text: str) -> None:
        """Most events leave a file as it is; then no disk is touched."""
        if self._written.get(path) == text and path.exists():
            return
        write_whole(path, text)
        self._written[path] = text
