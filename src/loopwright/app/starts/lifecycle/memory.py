"""What the memory of a domain holds, read for whoever begins a session. Nothing of it is an order."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from loopwright.adapters.files import read_regular
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.loops.lifecycle.cold_boot import HANDOFFS, Remembered, cold_boot
from loopwright.loops.lifecycle.files import memory
from loopwright.loops.lifecycle.handoff import Leaving
from loopwright.loops.lifecycle.past import LifecyclePast

_LARGEST = 64 * 1024  # bytes of one text
_DECISIONS = 50


def remembered(project: Project, seen: View) -> str:
    """The brief of a cold boot: domain, system, last handoffs, decisions, verified code."""
    state, past = seen.now.state, seen.past
    folder = project.root / memory(state.plan.domain)
    known = Remembered(
        dream=_text(folder / "dream-state.md"),
        glossary=_text(folder / "glossary.md"),
        handoffs=_texts(folder / "sessions", HANDOFFS),
        decisions=_texts(folder / "decisions", _DECISIONS),
    )
    if not isinstance(past, LifecyclePast):
        return ""
    here = Leaving(loop=seen.row.id, state=state, moments=past.moments, log=past.log, at=project.clock.now())
    return cold_boot(known, here)


def _text(file: Path) -> str:
    """Empty where there is no plain file of that name."""
    return (read_regular(file, _LARGEST) or b"").decode("utf-8", "replace")


def _texts(folder: Path, most: int) -> tuple[tuple[str, str], ...]:
    """By name, the last of them: names begin with a date or a number."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(each.name for each in folder.iterdir() if each.suffix == ".md")
    return tuple((name, _text(folder / name)) for name in names[-most:])
