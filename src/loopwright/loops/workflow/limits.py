"""The limits of the workflow loop, and what of them is in force after every grant."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.kernel.limits import granted, granted_iterations, reached


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowLimits:
    max_iterations: int | None = 25  # None: unlimited; the others stay in force
    max_same_failure: int = 3
    max_total_failures: int = 25
    wall: float = 12 * 3600.0  # seconds of work


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowAllowance:
    """What is in force now: the limits plus every grant so far."""

    iterations: int | None
    same: int
    failures: int

    @staticmethod
    def of(limits: WorkflowLimits) -> WorkflowAllowance:
        return WorkflowAllowance(
            iterations=limits.max_iterations, same=limits.max_same_failure, failures=limits.max_total_failures
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowCounts:
    iterations: int  # task attempts that ended
    same: int  # the longest row of one failure of one task
    failures: int


def reasons(counts: WorkflowCounts, allowance: WorkflowAllowance, worst: str) -> tuple[str, ...]:
    """Every limit that is reached, as a sentence. `worst` is the task that failed in the same way most often."""
    fired = (
        (
            allowance.iterations is not None and reached(counts.iterations, allowance.iterations),
            f"{counts.iterations} of {allowance.iterations} iterations are used",
        ),
        (reached(counts.same, allowance.same), f"{worst} failed {counts.same} times in a row in the same way"),
        (reached(counts.failures, allowance.failures), f"{counts.failures} attempts failed in all"),
    )
    return tuple(sentence for happened, sentence in fired if happened)


def grant(allowance: WorkflowAllowance, counts: WorkflowCounts, more: int) -> WorkflowAllowance:
    """`more` on every counter at or over its limit, and on the iterations if those are nearer."""
    iterations = allowance.iterations
    return replace(
        allowance,
        iterations=None if iterations is None else granted_iterations(counts.iterations, iterations, more),
        same=granted(counts.same, allowance.same, more),
        failures=granted(counts.failures, allowance.failures, more),
    )


def anew(limits: WorkflowLimits, counts: WorkflowCounts) -> WorkflowAllowance:
    """All of them once more, from here on."""
    most = limits.max_iterations
    return WorkflowAllowance(
        iterations=None if most is None else counts.iterations + most,
        same=limits.max_same_failure,
        failures=counts.failures + limits.max_total_failures,
    )


def at_least(one: WorkflowAllowance, other: WorkflowAllowance) -> WorkflowAllowance:
    """The larger of each."""
    either = (one.iterations, other.iterations)
    return WorkflowAllowance(
        iterations=None if None in either else max(each for each in either if each is not None),
        same=max(one.same, other.same),
        failures=max(one.failures, other.failures),
    )


def moved(has: WorkflowAllowance, before: WorkflowLimits, now: WorkflowLimits) -> WorkflowAllowance:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    iterations = now.max_iterations
    if iterations is not None and before.max_iterations is not None and has.iterations is not None:
        iterations = has.iterations + iterations - before.max_iterations
    return WorkflowAllowance(
        iterations=iterations,
        same=has.same + now.max_same_failure - before.max_same_failure,
        failures=has.failures + now.max_total_failures - before.max_total_failures,
    )
