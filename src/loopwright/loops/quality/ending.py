"""How a review of one artifact ends: with what it leaves wrong, and with what it has mended that did not land."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.findings import cut
from loopwright.kernel.model import NO_COMMIT, Ending, Finding, Outcome
from loopwright.loops import course as c
from loopwright.loops.quality.state import (
    QualityState,
    left_in_taken,
    mended_among,
    mended_unlanded,
    open_findings,
    reviews_made,
    taken,
    verdict_line,
)
from loopwright.loops.quality.verdict import put_off

_SHORT = 200  # characters of an issue that a parent keeps


def landed_or_done(state: QualityState) -> QualityState:
    """With its fixes on a branch, or, where there are none or a parent waits for them, at once."""
    if state.plan.lands and taken(state).changed:
        return c.landing(state, tries=state.course.trial.tries + 1)
    return c.done(state, ended(state, Ending.ACCEPTED if state.course.accepted else Ending.VERIFIED))


def ended(state: QualityState, ending: Ending) -> Outcome:
    """How this loop ends, with everything still wrong. `verified` is said of nothing that no check has seen."""
    if ending is Ending.VERIFIED and state.plan.firm and not state.verified:
        ending = Ending.REVIEWED
    left = left_in_taken(state) if ending is Ending.ACCEPTED else open_findings(state)
    return Outcome(
        ending=ending,
        attempts=reviews_made(state),
        commit=NO_COMMIT if ending is Ending.CANCELLED else taken(state).commit,
        note=verdict_line(state),
        findings=put_off(state) if ending.is_passed else left,
        waiting=mended_unlanded(state),
        mended=() if state.plan.lands else _beside(state),
    )


def _beside(state: QualityState) -> tuple[Finding, ...]:
    """What a parent has to know of whatever was mended in other files than the artifact, in short."""
    files = frozenset(entry.finding.file for entry in state.ledger) - {"", state.plan.artifact}
    found = mended_among(state, files)
    return tuple(replace(each, issue=cut(each.issue, _SHORT), evidence="", guidance="") for each in found)
