"""The tables of `loop.toml` that say how systems are built, approved, proposed and deployed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loopwright.config import keys as k
from loopwright.config.keys import key
from loopwright.kernel.shapes import choice


@dataclass(frozen=True, slots=True, kw_only=True)
class AutonomySettings:
    mode: Literal["autonomous", "supervised", "hybrid"] = key(
        choice("autonomous", "supervised", "hybrid"),
        "`supervised` asks at every gate, `autonomous` only where the change calls for it, and at deploy",
        "hybrid",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    name: str
    paths: tuple[str, ...] = key(k.PATTERNS, "a change to one of these calls for the gate", ())
    approvers: tuple[str, ...] = key(k.WORDS, "who may decide it", (), unset="anyone at the terminal")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploySettings:
    run: tuple[str, ...] = key(k.ARGV, "the command that deploys", (), unset="you are asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    kind: Literal["local", "github"] = key(choice("local", "github"), "`local` hands over a branch", "local")
    poll: float = key(k.DURATION, "how often a pull request is looked at", 60.0)
    merge: Literal["engine", "person"] = key(choice("engine", "person"), "who merges what was approved", "engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    urls: tuple[str, ...] = key(
        k.URLS, "where messages go, in the form of apprise; `env://NAME` is an address that a variable holds", ()
    )

    @property
    def without_secrets(self) -> NotifySettings:
        """Only which services: the rest of an address is often a password."""
        return NotifySettings(urls=tuple(sorted({f"{url.partition('://')[0]}://…" for url in self.urls})))


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    domain: str = key(k.FOLDER, "the folder below `domain-memory/`", "", unset="the repository's folder name")
    inner: Literal["feedback", "tickets", "workflow"] = key(
        choice("feedback", "tickets", "workflow"), "the loop that implements a capability", "feedback"
    )
    run_cap: int = key(k.COUNT, "transitions of one `loop run`", 200)
    gate_timeout: float = key(k.DURATION, "an unattended gate blocks after that long", 3600.0)
    four_eyes: bool = key(k.FLAG, "whoever started a loop may not approve its gates", default=False)
    preset: Literal["", "personal", "team", "enterprise"] = key(
        choice("personal", "team", "enterprise"), "a set of habits for autonomy and retries", "", unset="none"
    )
    scaffold: Literal["ask", "trust"] = key(
        choice("ask", "trust"),
        "`trust` is your word that what judges in a new scaffold becomes part of the base",
        "ask",
    )


_PRESETS: Mapping[str, tuple[str, int]] = {
    "personal": ("autonomous", 5),
    "team": ("hybrid", 3),
    "enterprise": ("supervised", 1),
}


def with_preset(data: dict[str, Any]) -> dict[str, Any]:
    """The file with what its preset says of autonomy and retries, where it says nothing of them itself."""
    tables = [data.get(name, {}) for name in ("lifecycle", "autonomy", "limits")]
    if not all(isinstance(each, dict) for each in tables):
        return data  # whoever reads it says what is wrong
    lifecycle, autonomy, limits = tables
    known, own = _PRESETS.get(str(lifecycle.get("preset", ""))), limits.get("lifecycle", {})
    if known is None or not isinstance(own, dict):
        return data
    mode, retries = known
    return {
        **data,
        "autonomy": {"mode": mode, **autonomy},
        "limits": {**limits, "lifecycle": {"max_retries": retries, **own}},
    }
