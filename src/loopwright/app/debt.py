"""`debt.md`: what was taken although it is known to be wrong, and what was put off. One block for each loop."""

from __future__ import annotations

from loopwright.kernel.gates import UNTESTED
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.kernel.quoting import inline
from loopwright.kernel.wording import moment
from loopwright.loops import closing
from loopwright.loops.course import OnCourse
from loopwright.loops.hooks import untested
from loopwright.loops.kind import AnyKind

DEBT_HEAD = "# Accepted with known issues\n"


def owes(kind: AnyKind, outcome: Outcome) -> bool:
    """What passed owes what was put off or has not landed. What has parts owes only what was taken of them together."""
    accepted, found = outcome.ending is Ending.ACCEPTED, bool(outcome.findings)
    is_taken = accepted and found if kind.has_lanes else accepted or (outcome.ending.is_passed and found)
    return bool(outcome.waiting) or is_taken


def deferred_entry(loop: LoopId, outcome: Outcome, at: float) -> str:
    """One block of `debt.md`: what did not keep a loop from passing and was put off."""
    what = "what was deferred or did not land" if outcome.waiting else "what was deferred"
    lines = (
        f"## {inline(loop)}: passed {moment(at)}, with {what}",
        "",
        f"- **Verdict**: {inline(outcome.note) or outcome.ending.value}",
        *closing.owed_where(outcome, outcome.branch, outcome.commit),
        *(closing.owed_findings("Deferred", outcome.findings) if outcome.findings else ()),
        *_waiting(outcome),
    )
    return "\n".join(lines) + "\n"


def _waiting(outcome: Outcome | None) -> tuple[str, ...]:
    waits = outcome.waiting if outcome else ()
    return closing.owed_findings("Mended only in what did not land", waits) if waits else ()


def debt_entry(kind: AnyKind, loop: LoopId, state: OnCourse, at: float, by: str) -> str:
    """One block of `debt.md`: what a person accepted although it was known to be wrong."""
    head = (f"## {inline(loop)}: accepted {moment(at)}", "")
    gate = state.course.due(UNTESTED) if state.course.untested else None
    who = by or (gate.by if gate else "")
    taken = closing.owed_findings("Taken untested", untested(state)) if gate else ()
    waits = _waiting(state.course.outcome)
    return "\n".join((*head, *kind.owed(state, inline(who) or "(not said)"), *taken, *waits)) + "\n"
