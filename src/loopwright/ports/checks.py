"""Whoever runs the commands that decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.ports.agent import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksRun:
    loop: LoopId
    key: Key
    step: str
    commit: Commit
    base: Commit
    names: tuple[str, ...] = ()  # empty: all configured
    approved: tuple[str, ...] = ()  # evidence digests of approved protected changes


class Checks(Protocol):
    """Runs in a clean checkout no agent ever enters, with protected paths taken from the base.

    A command that cannot be started raises `CheckNotRunnable`; one that fails, hangs or lies is a
    result. Running the same thing again is always safe. When `run` returns or is cancelled, no
    process of it is alive.
    """

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported: ...
