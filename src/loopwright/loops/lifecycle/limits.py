"""The limits of the lifecycle, and what of them is in force after every grant."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.kernel.limits import granted, granted_iterations


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleLimits:
    max_retries: int = 3
    max_same_error: int = 2
    max_total_failures: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleAllowance:
    """What is in force now: the limits plus every grant so far."""

    retries: int
    same: int
    failures: int

    @staticmethod
    def of(limits: LifecycleLimits) -> LifecycleAllowance:
        return LifecycleAllowance(
            retries=limits.max_retries, same=limits.max_same_error, failures=limits.max_total_failures
        )


def grant(allowance: LifecycleAllowance, retries: int, seen: int, failures: int, more: int) -> LifecycleAllowance:
    """`more` on every counter at or over its limit, and never fewer retries than that. `seen` is how often the open
    failure has come up."""
    return replace(
        allowance,
        retries=granted_iterations(retries, allowance.retries, more),
        same=granted(seen - 1, allowance.same, more),
        failures=granted(failures, allowance.failures, more),
    )


def ended_with(has: LifecycleAllowance, limits: LifecycleLimits) -> LifecycleAllowance:
    """What was granted for the failures of one state ends with it; how many there may be in all stays granted."""
    return replace(has, retries=limits.max_retries, same=limits.max_same_error)


def moved(has: LifecycleAllowance, before: LifecycleLimits, now: LifecycleLimits) -> LifecycleAllowance:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    return LifecycleAllowance(
        retries=has.retries + now.max_retries - before.max_retries,
        same=has.same + now.max_same_error - before.max_same_error,
        failures=has.failures + now.max_total_failures - before.max_total_failures,
    )
