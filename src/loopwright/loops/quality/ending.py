"""How a review ends: with its fixes on a branch, or, where there are none or a parent waits for them, at once."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import Ending
from loopwright.loops.quality.state import Phase, Quality, ended, enter, taken


def landed_or_done(state: Quality) -> Quality:
    result = taken(state)
    if state.plan.lands and result.changed:
        return enter(state, Phase.LAND)
    return done(state, commit=result.commit)


def done(state: Quality, **facts: str) -> Quality:
    ending = Ending.ACCEPTED if state.accepted else Ending.VERIFIED
    return replace(enter(state, Phase.DONE), outcome=ended(replace(state, cancel=None), ending, **facts))
