"""How a batch is told when it is over or has stopped: what passed, what did not and where its findings are."""

from __future__ import annotations

import json

from loopwright.kernel.model import Ending, Outcome
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import counted
from loopwright.loops import closing
from loopwright.loops.batch.decide import summary
from loopwright.loops.batch.state import ArtifactStanding, BatchState, child_params, failing, is_accepted


def lines(state: BatchState, outcome: Outcome) -> tuple[str, ...]:
    unchecked = closing.unchecked(outcome)
    after = f"after {counted(state.round, 'round')}: {summary(state)}{closing.still_waiting(outcome)}{unchecked}"
    alone = state.course.untested and not is_accepted(state)
    left = "what no check looks at" if alone else "their known issues"
    return (
        closing.headline(outcome, promise="Passed", after=after, left=left),
        *_open(state),
        *_deferred(state),
        *(together(state, "Accepted with failing checks:") if outcome.ending is Ending.ACCEPTED else ()),
        *_result(outcome),
    )


def so_far(state: BatchState) -> tuple[str, ...]:
    return (f"Round {state.round}: {summary(state)}", *_open(state))


def _open(state: BatchState) -> tuple[str, ...]:
    """A line for every artifact that did not pass, with the file that has its findings."""
    left = (index for index, item in enumerate(state.items) if item.standing is not ArtifactStanding.PASSED)
    return tuple(f"  {_told(state, index)}" for index in left)


def _deferred(state: BatchState) -> tuple[str, ...]:
    return tuple(
        f"  [passed] {one_line(item.path)}: {item.deferred} deferred, recorded in .loop/debt.md"
        for item in state.items
        if item.standing is ArtifactStanding.PASSED and item.deferred
    )


def together(state: BatchState, head: str) -> tuple[str, ...]:
    """What a person saw fail, or sees now, of all that they would accept."""
    red = failing(state)
    return (head, *closing.findings(red, len(red))) if red else ()


def _told(state: BatchState, index: int) -> str:
    item, file = state.items[index], findings_file(state, index)
    said = one_line(item.line or f"{item.path}: not yet reviewed", 500)
    named = f"; findings in {one_line(file)}" if file and file not in said else ""
    return f"[{item.standing.value}] {said}{named}"


def findings_file(state: BatchState, index: int) -> str:
    """Where the findings of a blocked artifact are; empty: it is not blocked, or they are in its own loop."""
    if state.items[index].standing not in (ArtifactStanding.BLOCKED, ArtifactStanding.STUCK):
        return ""
    given = json.loads(child_params(state, index))
    return str(given.get("shown") or given.get("file", ""))


def _result(outcome: Outcome) -> tuple[str, ...]:
    said = closing.note(outcome)
    return closing.landed(outcome, said) or ("Result: nothing to take; no fix was landed.", *said)


def owed(state: BatchState, by: str) -> tuple[str, ...]:
    return (
        f"- **Accepted by**: {by}",
        f"- **Accepted**: after {counted(state.round, 'round')} with {counted(len(state.items), 'artifact')}",
        *closing.owed_where(state.course.outcome, state.plan.branch, ""),
        *closing.owed_checks(state.course.outcome, failing(state), verified=state.verified),
        *(f"- **{inline(item.path)}**: {_owed(state, index)}" for index, item in enumerate(state.items)),
    )


def _owed(state: BatchState, index: int) -> str:
    item, file = state.items[index], findings_file(state, index)
    if item.standing is ArtifactStanding.PASSED:
        return "passed"
    there = (
        f"; its findings are in the block of {inline(item.loop)}" if item.standing is ArtifactStanding.ACCEPTED else ""
    )
    handed = f"; {inline(file)}" if file else ""
    return f"{item.standing.value}, {inline(item.line) or 'not reviewed'}{there}{handed}"
