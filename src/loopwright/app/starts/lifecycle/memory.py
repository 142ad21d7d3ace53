"""What the memory of a domain holds, read for whoever begins a session. Nothing of it is an order."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from loopwright.adapters.files import read_regular
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.shapes import each_key_once
from loopwright.loops.lifecycle.cold_boot import HANDOFFS, Remembered, cold_boot
from loopwright.loops.lifecycle.files import memory
from loopwright.loops.lifecycle.handoff import Leaving
from loopwright.loops.lifecycle.past import LifecyclePast

_LARGEST = 64 * 1024  # bytes of one text
_DECISIONS = 50
_MODES = ("autonomous", "supervised", "hybrid")


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


# --- what other tools keep there ------------------------------------------------------------------------------------


def mode_of(folder: Path) -> Any:  # noqa: ANN401 - one of the words for it, or None
    """How much its domain asks."""
    file = folder / "config.json"
    said = _object(file).get("defaultMode")
    if said is not None and said not in _MODES:
        raise ConfigError(str(file), "defaultMode", f"expected one of {', '.join(_MODES)}")
    return said


def others_at_work(folder: Path) -> tuple[str, ...]:
    """Who else worked there, in words: a person decides what that means."""
    found = _object(folder / "coordination.json")
    agents = [f"{each.get('id')} at {each.get('system')}" for each in _rows(found.get("activeAgents"))]
    locks = [f"{each.get('resource')} held by {each.get('holder')}" for each in _rows(found.get("locks"))]
    told = (("others at work", agents), ("locks", locks))
    return tuple(f"coordination.json names {what}: {', '.join(names)}" for what, names in told if names)


def _rows(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(file: Path) -> dict[str, Any]:
    """Empty where there is no such file."""
    try:
        text = read_plain_file(file, str(file), _LARGEST)
    except FileNotFoundError:
        return {}
    try:
        found = json.loads(text, object_pairs_hook=each_key_once)
    except ValueError as error:
        raise ConfigError(str(file), "", f"is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(str(file), "", "expected a JSON object")
    return found
