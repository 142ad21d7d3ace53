"""What a Python program says to have a feedback loop driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The tight feedback loop: implement, review, test, until verified or a limit is reached.

    It needs checks, a `developer` and a `reviewer`; a `tester` may look, too.
    """

    task: str
    max_iterations: int = 5
    max_consecutive_review_failures: int = 3
    max_consecutive_test_failures: int = 3
    criteria: Sequence[str] = ()
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)
