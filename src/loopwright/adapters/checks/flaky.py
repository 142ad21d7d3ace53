"""Telling a flaky test from a broken one: it must flip when run alone on the candidate *and* on the base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Alone = Callable[[str, int], Awaitable[str | None]]  # the outcome of a test in its n-th run alone; None: not there

_RUNS_ON_BASE = 2


async def flips(test: str, *, candidate: Alone, base: Alone, on_base: str | None) -> bool:
    """Whether a test that failed on the candidate is flaky.

    `on_base` is how it came out in the full run on the base, where that is known. A test that
    flips with the candidate only is a failure: the change made it so.
    """
    if await candidate(test, 0) != "passed":
        return False
    seen = {on_base} if on_base else set()
    for turn in range(_RUNS_ON_BASE):
        outcome = await base(test, turn)
        if outcome not in ("passed", "failed"):
            return False
        seen.add(outcome)
        if len(seen) > 1:
            return True
    return False
