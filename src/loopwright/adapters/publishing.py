"""Writing the files that people and agents read, after every event, from what the projections make of it.

Nothing here is truth: a file that cannot be written now is written by the next event or by `loop render`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loopwright.adapters import quality_files
from loopwright.adapters.files import ignore_all, write_whole
from loopwright.adapters.tickets import files as ticket_files
from loopwright.engine.journal import folded, read_event
from loopwright.engine.nesting import PARENT
from loopwright.engine.world import AnyLoop, Seen
from loopwright.errors import ConfigError
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import Answered, Ended, Started
from loopwright.kernel.model import Cleanup, Ending, LoopId, Outcome
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.quality.state import Quality
from loopwright.loops.tickets.state import Tickets
from loopwright.ports.agent import Update
from loopwright.ports.store import LoopRow, Record, Store
from loopwright.projections import debt, progress, scratchpad

STATE_FOLDER = ".loop"
WORKSPACES = ".worktrees"
SCRATCHPAD = "feedback-scratchpad.md"
PROGRESS = "progress.json"
DEBT = "debt.md"

_DEBT_HEAD = "# Accepted with known issues\n"
_NO_LOGS: Mapping[LoopId, tuple[Record, ...]] = {}


def loop_folder(root: Path, loop: LoopId) -> Path:
    return root / STATE_FOLDER / "feedback" / loop


def _is_removed(state: Any) -> bool:  # noqa: ANN401 - the state of any loop
    """A person had the loop cancelled with everything it has written."""
    course = getattr(state, "course", state)
    return course.cancel is Cleanup.FULL and course.outcome is not None


def scratchpad_file(root: Path, loop: LoopId) -> Path:
    return loop_folder(root, loop) / SCRATCHPAD


class Publisher:
    """An observer that keeps the files of every loop as new as the log.

    `failed` hears of a file that could not be written; the loop goes on. `logs` are the logs of ticket sessions as far
    as they are written: their files tell when everything happened.
    """

    def __init__(
        self,
        root: Path,
        failed: Callable[[str], None],
        now: Callable[[], float],
        logs: Mapping[LoopId, tuple[Record, ...]] = _NO_LOGS,
    ) -> None:
        self._root, self._failed, self._now = root, failed, now
        self._written: dict[Path, str] = {}
        self._accepted_by = ""
        self._logs = dict(logs)

    def recorded(self, seen: Seen) -> None:
        try:
            self.publish(seen)
        except OSError as error:
            self._failed(f"{error.filename or self._root}: could not be written ({error.strerror}); `loop render` will")
        except ConfigError as error:
            self._failed(f"{error}; it was left as it is, mend it and run `loop render`")

    def progressed(self, update: Update) -> None:
        """Signs of life are for the screen."""

    def publish(self, seen: Seen) -> None:
        """Write what the event changed. Raises `OSError`."""
        for name in (STATE_FOLDER, WORKSPACES):
            ignore_all(self._root / name)
        self._remember(seen)
        if _is_removed(seen.state):
            self._withdraw(seen.state)
            return  # what a person had removed stays so, unless they ask with `loop render`
        if isinstance(seen.event, Started) and isinstance(seen.state, Quality):
            return  # a review's files say nothing of what is under way, and hundreds of findings take time to write
        self.files(seen.loop, seen.state, seen.status)
        if isinstance(seen.event, Answered) and seen.event.by != PARENT:
            self._accepted_by = seen.event.by
        # A batch owes nothing itself, its artifacts do.
        owes = isinstance(seen.state, FeedbackState | Quality | Tickets)
        if owes and isinstance(seen.event, Ended) and seen.event.outcome.ending is Ending.ACCEPTED:
            self._add_debt(debt.entry(seen.loop, seen.state, self._now(), self._accepted_by))

    def files(self, loop: LoopId, state: object, status: str) -> tuple[Path, ...]:
        """Write the files of a loop in this state, and name them. Raises `OSError` and `ConfigError`."""
        match state:
            case FeedbackState():
                return self.feedback(loop, state, status)
            case Quality():
                return quality_files.publish(self._root, state)
            case Tickets():
                return self.tickets(loop, state)
            case _:
                return ()

    def tickets(self, loop: LoopId, state: Tickets) -> tuple[Path, ...]:
        """The files of a session; without its whole log nothing is known of their times, and `loop render` has it."""
        log = self._logs.get(loop, ())
        return ticket_files.publish(self._root, loop, state, log) if log and log[0].seq == 1 else ()

    def feedback(self, loop: LoopId, state: FeedbackState, status: str) -> tuple[Path, ...]:
        """The two files of a feedback loop."""
        folder = loop_folder(self._root, loop)
        self._write(folder / SCRATCHPAD, scratchpad.render(loop, state, status))
        self._write(folder / PROGRESS, progress.render(state, status))
        return (folder / SCRATCHPAD, folder / PROGRESS)

    def _remember(self, seen: Seen) -> None:
        if not isinstance(seen.state, Tickets):
            return
        event, known = seen.event, self._logs.get(seen.loop, ())
        record = Record(loop=seen.loop, seq=seen.seq, at=seen.at, kind=type(event).__name__, data=encode(event))
        if seen.seq == len(known) + 1:
            self._logs[seen.loop] = (*known, record)

    def _withdraw(self, state: object) -> None:
        """Of other loops the workspace removes the files, by the id of the loop; a session has a name of its own."""
        if isinstance(state, Tickets):
            ticket_files.withdraw(self._root, state)

    def _write(self, path: Path, text: str) -> None:
        """Most events leave a file as it is; then no disk is touched."""
        if self._written.get(path) == text and path.exists():
            return
        write_whole(path, text)
        self._written[path] = text

    def _add_debt(self, entry: str) -> None:
        path = self._root / STATE_FOLDER / DEBT
        held = path.read_text(encoding="utf-8") if path.exists() else _DEBT_HEAD
        write_whole(path, f"{held}\n{entry}")


async def rebuild_debt(root: Path, store: Store, loops: Mapping[str, AnyLoop]) -> Path | None:
    """`debt.md` from the log alone, oldest acceptance first; None when nothing was ever accepted."""
    entries = [await _debt_of(store, loops[row.kind], row) for row in await store.rows()]
    found = sorted(entry for entry in entries if entry is not None)
    if not found:
        return None
    path = root / STATE_FOLDER / DEBT
    write_whole(path, "\n".join([_DEBT_HEAD, *(text for _, text in found)]))
    return path


async def _debt_of(store: Store, loop: AnyLoop, row: LoopRow) -> tuple[float, str] | None:
    """When the loop was accepted and what is owed since."""
    accepted = row.outcome and decode(Outcome, row.outcome).ending is Ending.ACCEPTED
    state = folded(loop, await store.load(row.id)).state if accepted else None
    if not isinstance(state, FeedbackState | Quality | Tickets):
        return None
    at = (await store.read(row.id))[-1].at
    return at, debt.entry(row.id, state, at, await _who_accepted(store, row))


async def _who_accepted(store: Store, row: LoopRow) -> str:
    """The person who answered the root: a child hears it from its parent."""
    while row.parent is not None:
        row = (await store.load(row.parent)).row
    said = [read_event(record) for record in await store.read(row.id) if record.kind == "Answered"]
    return next((event.by for event in reversed(said) if isinstance(event, Answered)), "")
