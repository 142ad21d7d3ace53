"""What a person accepts runs the checks like everything that lands; red, it is asked for once more, knowing that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import names_of_faults
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops import course as c
from loopwright.loops.course import Course, OnCourse
from loopwright.loops.engine_steps import held_after_all
from loopwright.loops.weighing import weighed_as_accepted

S = TypeVar("S", bound=OnCourse)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRed:
    """What a person heard that fails of what they would accept: taken then, it is taken with that."""

    of: str  # what would land
    approvals: tuple[str, ...] = ()  # given when it failed
    faults: tuple[Finding, ...] = ()
    onto: Commit = NO_COMMIT  # together with the target as it was there; none: by itself

    def is_of(self, taken: str, course: Course) -> bool:
        """Whether what would land now is what failed."""
        return (self.of, self.approvals) == (taken, course.approvals)


def tried_as_accepted(state: S, event: ChecksReported, commit: Commit) -> tuple[S, tuple[Finding, ...] | None]:
    """What fails of it. None: it is to be tried without what was approved meanwhile."""
    weighed_so, faults = weighed_as_accepted(state, event, commit)
    if not faults:
        return weighed_so, ()
    if (without := held_after_all(state, event)) is not None:
        return without, None
    return weighed_so, faults


def asked_once_more(state: S, event: ChecksReported, faults: tuple[Finding, ...]) -> S:
    """Nothing is taken yet: the same question, with what fails."""
    why = f"what was accepted is not landed: these fail: {names_of_faults(event, faults)}"
    return c.escalated(c.steered(state, accepted=False), tuple(dict.fromkeys((*state.course.reasons, why))), faults)


def with_shown(found: tuple[Finding, ...], red: ShownRed | None) -> tuple[Finding, ...]:
    """What is known of it, and what a person saw fail besides."""
    known = {finding.fingerprint for finding in found}
    return (*found, *(each for each in (red.faults if red else ()) if each.fingerprint not in known))


def known_on(red: ShownRed | None, taken: str) -> Commit:
    """The tip of the target together with which a person saw it fail; with any other it is looked at first."""
    return red.onto if red and red.of == taken else NO_COMMIT
