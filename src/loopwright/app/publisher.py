"""Writing the files that people and agents read, after every event, as the loop's kind makes them.

Nothing here is truth: a file that cannot be written now is written by the next event or by `loop render`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopwright.adapters.doors import RecordPlace, is_ours, put_record, update_door
from loopwright.adapters.files import holds, ignore_all, read_regular, refuse_links, write_whole
from loopwright.adapters.shared_lines import add_lines
from loopwright.app.debt import DEBT_HEAD, debt_entry, deferred_entry, owes
from loopwright.app.layout import DEBT, RECORDS, STATE_FOLDER, WORKSPACES
from loopwright.app.task_lists import TaskLists
from loopwright.engine.nesting import PARENT
from loopwright.engine.world import Seen
from loopwright.errors import ConfigError
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, Ended
from loopwright.kernel.model import Cleanup, Ending, LoopId
from loopwright.kernel.record import Record
from loopwright.loops.kind import AnyKind, Files, Scene
from loopwright.ports.agent import Update

_LONGEST_DEBT = 16 << 20  # bytes
_NO_PASTS: Mapping[LoopId, Any] = {}


class Publisher:
    """An observer that keeps the files of every loop as new as the log.

    `failed` hears of a file that could not be written; the loop goes on. `pasts` are what the kinds have made of the
    logs so far; a loop whose kind needs its past, and whose log was not read from its beginning, is left to
    `loop render`.
    """

    def __init__(
        self,
        root: Path,
        kinds: Mapping[str, AnyKind],
        failed: Callable[[str], None],
        pasts: Mapping[LoopId, Any] = _NO_PASTS,
        lists: TaskLists | None = None,
    ) -> None:
        self._root, self._kinds, self._failed = root, kinds, failed
        self.lists = lists
        self._pasts = dict(pasts)
        self._behind = set(pasts)  # loops of which more may be missing than what the next event changes
        self._written: dict[Path, bytes] = {}  # by digest: the findings of a crowd of artifacts are many megabytes
        self._left: set[Path] = set()  # files of others, of which it was said that they stay
        self._accepted_by = ""

    def recorded(self, seen: Seen) -> None:
        try:
            self.publish(seen)
        except OSError as error:
            self._failed(f"{error.filename or self._root}: could not be written ({error.strerror}); `loop render` will")
        except ConfigError as error:
            self._failed(f"{error}; it was left as it is, mend it and run `loop render`")

    def progressed(self, update: Update) -> None:
        """Signs of life are for the screen."""

    def past_of(self, loop: LoopId) -> object:
        """What its kind has made of the loop's log by now."""
        return self._pasts.get(loop)

    def publish(self, seen: Seen) -> None:
        """Write what the event changed. Raises `OSError` and `ConfigError`."""
        for name in (STATE_FOLDER, WORKSPACES):
            ignore_all(self._root / name)
        self._remember(seen)
        kind = self._kinds[seen.kind]
        scene = Scene(
            loop=seen.loop,
            state=seen.state,
            status=seen.status,
            past=self._pasts.get(seen.loop),
            event=None if kind.past is not None and seen.loop in self._behind else seen.event,
            spent=seen.spent,
            estimated=seen.estimated,
            budget=seen.budget,
            seq=seen.seq,
        )
        if isinstance(seen.event, Ended) and seen.event.outcome.cleanup is Cleanup.FULL:
            self._withdraw(kind, scene)
            return  # what a person had removed stays so, unless they ask with `loop render`
        self.files(scene, kind)
        if isinstance(seen.event, Answered) and seen.event.by != PARENT:
            self._accepted_by = seen.event.by
        if isinstance(seen.event, Ended) and owes(kind, seen.event.outcome):
            self._add_debt(
                debt_entry(kind, seen.loop, seen.state, seen.at, self._accepted_by)
                if seen.event.outcome.ending is Ending.ACCEPTED
                else deferred_entry(seen.loop, seen.event.outcome, seen.at)
            )

    def files(self, scene: Scene[Any], kind: AnyKind, stay: Collection[Path] = ()) -> tuple[Path, ...]:
        """Write what the scene calls for, and name what is there now. Raises `OSError` and `ConfigError`.

        What lies at one of `stay` is left as it is.
        """
        if kind.past is not None and scene.past is None:
            return ()
        self._behind.add(scene.loop)
        files = {name: text for name, text in kind.files(scene).items() if self._root / name not in stay}
        if not kind.driven:
            return tuple(
                path for name, text in files.items() if (path := self._tell(name, text or "", scene.seq, kind))
            )
        there = self._put_all(files, scene, kind)
        of_parts = (
            door for part in kind.landed_parts(scene.state) for door in self._kinds[part.kind].doors_of_part(part)
        )
        there += [update_door(self._root, door) for door in (*kind.doors(scene), *of_parts)]
        if self.lists is not None and (listing := kind.listing(scene)) is not None:
            self.lists.put(scene.loop, listing)
        notes = kind.notes(scene)
        written = [add_lines(self._root, name, lines) for name, lines in notes.items()]
        if all(written):
            self._behind.discard(scene.loop)
        return (*there, *(path for path in (self._root / name for name in notes) if path.is_file()))

    def _put_all(self, files: Files, scene: Scene[Any], kind: AnyKind) -> list[Path]:
        copies = kind.edited(scene.loop, scene.state)
        put = (
            self._put_editable(name, text, copies[name], kind) if name in copies else self._put(name, text, kind.mark)
            for name, text in files.items()
        )
        return [path for path in put if path is not None]

    def _put_editable(self, name: str, text: str | None, copy: str, kind: AnyKind) -> Path | None:
        """Replaced or removed only if we wrote what is there; by the copy it is told what a person changed since."""
        path = self._root / name
        if text is None:
            if not is_ours(self._place(name)):
                self._leave_edited(name, kind)
                return None
            self._put(copy, None)
            return self._put(name, None)
        digest = sha256(text.encode()).digest()
        if self._written.get(path) == digest and path.exists():
            return path
        if self._tell(name, text, 0, kind) is None:  # of whatever loop it tells: their numbers cannot be compared
            return None
        self._put(copy, text)
        self._written[path] = digest
        return path

    def _tell(self, name: str, text: str, seq: int, kind: AnyKind) -> Path | None:
        """What a record says, which many write; a person's edit of the file stays until it is taken in."""
        place = self._place(name)
        if put_record(place, text, seq):
            return place.path
        self._leave_edited(name, kind)
        return None

    def _place(self, name: str) -> RecordPlace:
        return RecordPlace(self._root, name, f"{STATE_FOLDER}/{RECORDS}")

    def _leave_edited(self, name: str, kind: AnyKind) -> None:
        path = self._root / name
        if path not in self._left:
            self._left.add(path)
            self._failed(
                f"{path}: it was not written by this log, and is left as it is; take it in with"
                f" `{kind.takes_in.replace('FILE', shlex.quote(name))}`, or move it away and run `loop render`"
            )

    def _remember(self, seen: Seen) -> None:
        fold = self._kinds[seen.kind].past
        if fold is None or (seen.seq > 1 and seen.loop not in self._pasts):
            return
        record = Record(
            loop=seen.loop, seq=seen.seq, at=seen.at, kind=type(seen.event).__name__, data=encode(seen.event)
        )
        self._pasts[seen.loop] = fold(self._pasts.get(seen.loop), record, seen.state)

    def _put(self, name: str, text: str | None, mark: str = "") -> Path | None:
        """Most events leave a file as it is; then no disk is touched. A link in place of a file of ours is replaced."""
        path = self._root / name
        digest = b"" if text is None else sha256(text.encode()).digest()
        if digest and self._written.get(path) == digest and path.exists():
            return path
        refuse_links(self._root, path.parent if _is_ours(name) else path)
        if mark and _is_somebody_elses(path, mark):
            self._leave(path)
            return None
        if text is None:
            self._written.pop(path, None)
            _remove(path, with_folder=_is_ours(name))
            return None
        if path.is_symlink() or not holds(path, text):
            write_whole(path, text)
        self._written[path] = digest
        return path

    def _leave(self, path: Path) -> None:
        if path not in self._left:
            self._left.add(path)
            self._failed(f"{path}: it is not Loopwright's; it is left as it is, and the findings are in `loop explain`")

    def _withdraw(self, kind: AnyKind, scene: Scene[Any]) -> None:
        if kind.past is None or scene.past is not None:
            bare = Scene(loop=scene.loop, state=scene.state, status=scene.status, past=scene.past)
            self._put_all(dict.fromkeys(kind.files(bare)), scene, kind)

    def _add_debt(self, entry: str) -> None:
        path = self._root / STATE_FOLDER / DEBT
        held = read_regular(path, _LONGEST_DEBT)  # what is no plain file of text is replaced: the log has all of it
        write_whole(path, f"{DEBT_HEAD if held is None else held.decode(errors='replace')}\n{entry}")


def _is_somebody_elses(path: Path, mark: str) -> bool:
    """Whether something is there that does not begin as ours do. A link is never ours, wherever it leads."""
    if not os.path.lexists(path):
        return False
    held = read_regular(path, len(mark.encode()))
    return held is None or not held.startswith(mark.encode())


def _is_ours(name: str) -> bool:
    return name.startswith(f"{STATE_FOLDER}/")


def _remove(path: Path, *, with_folder: bool) -> None:
    """The file, and the folder that it leaves empty."""
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
    if with_folder:
        with suppress(OSError):  # not there, or somebody else's files are in it
            path.parent.rmdir()
