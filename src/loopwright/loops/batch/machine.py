"""Many artifacts at once, each in a quality loop of its own, in rounds.

| phase     | asks for                          | then                                            |
|-----------|-----------------------------------|-------------------------------------------------|
| REVIEW    | a review of every pending artifact| FIX if any is blocked, else COMBINE             |
| FIX       | a fix of every blocked artifact   | REVIEW, the next round                          |
| COMBINE   | the fixes of all that passed      | LAND                                            |
| LAND      | integrate                         | ESCALATED if any is stuck or it was refused,    |
|           |                                   | else DONE                                       |
| ESCALATED | a person                          | FIX or REVIEW (the stuck ones go on), COMBINE   |
|           |                                   | (landed again), DONE, CANCEL                    |
| CANCEL    | every open child to end           | CLEAN_UP                                        |
| CLEAN_UP  | clean up                          | DONE                                            |

The findings are the children's and in the files beside the artifacts; here are only their verdict lines.
"""

from __future__ import annotations

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.loops.batch.apply import apply
from loopwright.loops.batch.decide import decide, summary
from loopwright.loops.batch.state import Batch, BatchParams, start, stuck

_SHOWN = 20


def stand(state: Batch) -> Standpoint:
    left = stuck(state)
    return Standpoint(
        state=state.phase.value,
        attempt=state.round,
        limit=max(state.plan.limits.max_attempts, state.round),
        failures=len(left),
        headline=summary(state),
        lines=(
            f"round {state.round}: {summary(state)}",
            f"at most {state.plan.limits.max_attempts} reviews of each; those that passed leave the round",
            *(state.items[index].line for index in left[:_SHOWN]),
            *((f"and {len(left) - _SHOWN} more",) if len(left) > _SHOWN else ()),
        ),
    )


BATCH: Loop[BatchParams, Batch] = Loop(
    name="batch",
    params=BatchParams,
    state=Batch,
    start=start,
    decide=decide,
    apply=apply,
    stand=stand,
)
