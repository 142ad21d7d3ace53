"""The lease of a task list: which session the stop hook holds for the tasks of a loop of ours, and until when.

It only narrows: without one, whoever has the list is held. The hooks bind it to a session and count their holds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import loopwright.hook as hook  # noqa: PLR0402 - `from loopwright import …` would load the public door
from loopwright.adapters.files import read_regular, write_whole
from loopwright.app.layout import STATE_FOLDER

RENEWED_EVERY = hook.LEASE_SECONDS / 6
_LONGEST = 1 << 16  # bytes


def give(root: Path, loop: str, list_id: str, session: str, now: float) -> None:
    """The loop is driven, and its tasks lie in this list. Whom a hook has bound it to stays bound."""
    held = _held(root)
    known = held if held.get("loop") == loop and held.get("list") == list_id else {}
    bound, holds = known.get("session"), known.get("holds")
    text = hook.lease_text(
        loop=loop,
        list_id=list_id,
        session=bound if isinstance(bound, str) and bound else session,
        expires=hook.expiry(now),
        holds=holds if type(holds) is int else 0,
    )
    write_whole(_file(root), text)


def take_back(root: Path, loop: str) -> None:
    """The loop is over: its list holds nobody any more."""
    if _held(root).get("loop") == loop:
        with suppress(FileNotFoundError):
            _file(root).unlink()


def _file(root: Path) -> Path:
    return root / STATE_FOLDER / hook.LEASE_FILE


def _held(root: Path) -> dict[str, object]:
    """Nothing, where it is none that can be read: then a new one takes its place."""
    data = read_regular(_file(root), _LONGEST)
    with suppress(ValueError):
        found = json.loads(data or b"{}")
        return found if isinstance(found, dict) else {}
    return {}
