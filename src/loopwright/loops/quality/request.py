"""What a Python program says to have artifacts reviewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Review, fix and re-review of artifacts (paths from the top) until they pass or a limit is reached.

    Several artifacts, or `batch`, are reviewed round by round, each in a loop of its own; the outcome's
    `parts` then say what came of each. Without `gate` and `mode` each artifact has what is usual for its name.
    It needs a `reviewer` and a `creator`, and judges without checks.
    """

    artifacts: str | Sequence[str]
    gate: Literal["", "plan", "test", "code", "quality", "design", "story"] = ""
    mode: Literal["", "quick", "comprehensive"] = ""
    batch: bool = False
    max_attempts: int = 3
    p1_threshold: int = 2
    parallel: int = 4
    task: str = ""
    criteria: Sequence[str] = ()
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)
