"""The person's `loop.toml`: read for a new loop, and compared with what a loop in flight is pinned to."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

from loopwright.adapters.checks.environment import for_checks
from loopwright.adapters.checks.started import runnable_checks
from loopwright.adapters.pins import differing, pins_of
from loopwright.adapters.project_environment import of_the_project
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.config.loop_toml import Warn, load_settings
from loopwright.config.settings import Settings
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ConfigChanged

_SHOWN = 20
# All other tables decide who works, who judges and by what: they are taken in only where a person sees it.
FREE = ("version", "limits", "budget", "finish", "notify", "forge")


def settings_of(project: Project, warn: Warn | None = None) -> Settings:
    """The person's `loop.toml`, from their own tree and never from an agent's.

    With `warn` for a loop in flight: it hears of keys that would be refused at a new start.
    """
    return load_settings(project.root, warn)


def pins_text(project: Project, settings: Settings) -> str:
    """What a loop with these settings relies on besides, as the log has it."""
    started = runnable_checks(settings, root=project.root, environ=project.environ)
    commands = tuple(check.run for check in started)
    environ = for_checks(of_the_project(project.environ, project.root), project.root / ".loop" / "verify")
    return encode(pins_of(settings, commands, project.root, environ))


@dataclass(frozen=True, slots=True)
class Changed:
    """What a loop in flight would take in, and what of it only a person may let in."""

    event: ConfigChanged
    lines: tuple[str, ...]  # all of it, key by key and path by path
    guarded: tuple[str, ...]  # names of the tables that decide who judges, and paths
    budget: float | None = None  # the file's, where it was edited; None: it stays

    @property
    def is_of_settings(self) -> bool:
        return len(self.lines) > len([line for line in self.lines if line.startswith("/")])


def changed_settings(project: Project, seen: View, by: str, warn: Warn) -> Changed | None:
    """What of the person's `loop.toml`, and of what it relies on, is not what the loop is pinned to.

    `warn` hears of keys in it that nothing obeys; the loop goes on with them.
    """
    now = settings_of(project, warn)
    pins = pins_text(project, now)
    moved = tuple(differing(json.loads(seen.now.pins), json.loads(pins))) if seen.now.pins else ()
    if now.to_json() == seen.now.settings and not moved:
        return None
    before = Settings.from_json(seen.now.settings)
    names = (field.name for field in fields(Settings) if field.name not in FREE)
    tables = tuple(name for name in names if getattr(before, name) != getattr(now, name))
    lines = (*differences(seen.now.settings, now.to_json()), *moved)
    event = _event(seen, before, now, by, pins)
    return Changed(event, lines, (*tables, *moved), _new_budget(seen.row.budget, before, now))


def _new_budget(own: float | None, before: Settings, now: Settings) -> float | None:
    """What is written now, if it was edited. A loop that was let go without a limit by an option stays so."""
    old, new = before.budget.usd, now.budget.usd
    return new if new != old and (own is not None or old is None) else None


def _event(seen: View, old: Settings, now: Settings, by: str, pins: str) -> ConfigChanged:
    own = seen.now.state.plan.limits
    before, after = (getattr(s.limits, seen.kind.limits, own) for s in (old, now))
    limits = _moved(own, before, after)
    return ConfigChanged(digest=now.digest, settings=now.to_json(), limits=encode(limits), by=by, pins=pins)


def _moved(own: Any, before: Any, now: Any) -> Any:  # noqa: ANN401 - limits of whatever kind
    """The loop's own limits moved as the file's have: what an option said is not undone by another edit."""
    changed = [f for f in fields(now) if getattr(now, f.name) != getattr(before, f.name)]
    return replace(
        own,
        **{
            f.name: _new_limit(f.metadata.get("least", 1), *(getattr(s, f.name) for s in (own, before, now)))
            for f in changed
        },
    )


def _new_limit(least: int, own: float | None, before: float | None, now: float | None) -> float | None:
    """None is unlimited: where the file comes to it or from it there is no difference to move by."""
    if own is None or before is None or now is None:
        return now
    return max(least, own + now - before)


def differences(old: str, new: str) -> list[str]:
    """What differs between two settings, key by key."""
    before, after = (_flat("", json.loads(text or "{}")) for text in (old, new))
    lines = [
        f"{key}: {before.get(key, 'not set')} -> {after.get(key, 'not set')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more"]


def _flat(at: str, value: object) -> dict[str, str]:
    match value:
        case dict():
            pairs = [(str(key), item) for key, item in value.items()]
        case list() if value and all(isinstance(item, dict) and "name" in item for item in value):
            pairs = [(str(item["name"]), item) for item in value]
        case _:
            return {at: json.dumps(value)}
    return {key: text for name, item in pairs for key, text in _flat(f"{at}.{name}".lstrip("."), item).items()}
