"""Many artifacts at once, each in a quality loop of its own, in rounds.

| phase     | asks for                          | then                                            |
|-----------|-----------------------------------|-------------------------------------------------|
| REVIEW    | a review of every pending artifact| FIX if any is blocked, else COMBINE             |
| FIX       | a fix of every blocked artifact   | REVIEW, the next round                          |
| COMBINE   | the fixes of all that passed      | VERIFY; LAND where there are no checks; FIX of  |
|           |                                   | those that conflict; CHECK where they are added |
|           |                                   | one by one                                      |
| VERIFY    | whether all together pass checks  | LAND; red: COMBINE, one by one, FIX if there is |
|           |                                   | but one, ESCALATED if nothing tells or a person |
|           |                                   | has accepted it                                 |
| CHECK     | whether the last one added passes | COMBINE with the next one; FIX of those that    |
|           |                                   | turned it red                                   |
| LAND      | integrate                         | ESCALATED if any is stuck, else DONE; refused:  |
|           |                                   | COMBINE with the new tip, or one by one, FIX if |
|           |                                   | there is but one, ESCALATED if nothing tells    |
| ESCALATED | a person                          | FIX or REVIEW (the stuck ones go on), COMBINE   |
|           |                                   | (landed again), DONE, CANCEL                    |
| CANCEL    | every open child to end           | CLEAN_UP                                        |
| CLEAN_UP  | clean up                          | DONE                                            |

LAND, ESCALATED, CLEAN_UP and DONE are the floor's. The findings are the children's and in the files beside the
artifacts; here are only their verdict lines, and why what passed could not be landed.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.wording import counted
from loopwright.loops import floor
from loopwright.loops.batch.apply import accepted, cancelled, decided, landed, ordered, refused, relimited, took, unable
from loopwright.loops.batch.decide import escalation, land, summary, work
from loopwright.loops.batch.state import BatchParams, BatchState, ended, start, stuck
from loopwright.loops.course import where
from loopwright.loops.hooks import Machine
from loopwright.loops.reviewed import QualityLimits

_SHOWN = 20

MACHINE: Machine[BatchState, QualityLimits] = Machine(
    limits=QualityLimits,
    base=lambda state: state.plan.base,
    trust=lambda state: state.plan.trust,
    decided=decided,
    work=work,
    took=took,
    landing=land,
    outcome=ended,
    escalation=escalation,
    continued=ordered,
    revised=ordered,
    relimited=relimited,
    accepted=accepted,
    landed=landed,
    refused=refused,
    cancelled=cancelled,
    unable=unable,
    noun="batch",
)


def stand(state: BatchState) -> Standpoint:
    left = stuck(state)
    return Standpoint(
        state=where(state),
        attempt=state.round,
        limit=max(state.plan.limits.max_attempts, state.round),
        failures=len(left),
        findings=state.failures,
        headline=summary(state),
        lines=(
            f"round {state.round}: {summary(state)}",
            f"at most {counted(state.plan.limits.max_attempts, 'review')} of each; those that passed leave the round",
            *(state.items[index].line for index in left[:_SHOWN]),
            *((f"and {len(left) - _SHOWN} more",) if len(left) > _SHOWN else ()),
        ),
    )


BATCH: Loop[BatchParams, BatchState] = Loop(
    name="batch",
    params=BatchParams,
    state=BatchState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
