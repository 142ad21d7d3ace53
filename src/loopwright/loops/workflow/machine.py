"""The workflow loop as one value: one request, scored, shaped, taken apart, run in waves, reviewed, completed.

| phase     | asks for                                    | then                                                    |
|-----------|---------------------------------------------|---------------------------------------------------------|
| SCORE     | scorer, or the engine's own rule            | SHAPE; CLARIFY below 5, and then once more              |
| SHAPE     | shaper, or the engine's own rule            | PLAN; ESCALATED to have it confirmed                    |
| PLAN      | planner; without one there is one task      | EXECUTE; ESCALATED if the plan is wrong twice           |
| EXECUTE   | a loop for each task that may begin, the    | REVIEW when all are done; ESCALATED at a check-in, a    |
|           | panel for those that are stuck, the merge   | limit, a mustNot that became true                       |
|           | train, light reviews of complete waves      |                                                         |
| REVIEW    | every view of the thorough review           | VERIFY; EXECUTE with tasks made of blockers; ESCALATED  |
|           |                                             | to have findings resolved one by one                    |
| DISCUSS   | the panel, on a finding                     | ESCALATED                                               |
| VERIFY    | all checks and every command                | SHIP; EXECUTE with tasks made of failures; GATE         |
| SHIP      | the gate, or the engine's own rule          | LAND; EXECUTE with tasks made of what it says           |
| LAND      | integrate                                   | DONE; EXECUTE with a task for what does not go together |
| CANCEL    | every open loop of a task to end            | CLEAN_UP, or LAND of what a person accepted             |

CLARIFY, GATE, LAND, ESCALATED, CLEAN_UP and DONE are the floor's.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops import floor
from loopwright.loops.hooks import Machine
from loopwright.loops.workflow import ending, people
from loopwright.loops.workflow.answers import took
from loopwright.loops.workflow.beginning import start
from loopwright.loops.workflow.decide import land, work
from loopwright.loops.workflow.limits import WorkflowLimits
from loopwright.loops.workflow.state import (
    WorkflowParams,
    WorkflowState,
    counts,
)
from loopwright.loops.workflow.stops import escalation

MACHINE: Machine[WorkflowState, WorkflowLimits] = Machine(
    limits=WorkflowLimits,
    base=lambda state: state.ground,
    trust=lambda state: state.plan.trust,
    work=work,
    took=took,
    landing=land,
    outcome=ending.outcome,
    escalation=escalation,
    continued=people.continued,
    revised=people.revised,
    relimited=people.relimited,
    decided=people.decided,
    accepted=ending.cancelled,
    refused=people.refused,
    cancelled=ending.cancelled,
    answered=people.answered,
    noun="workflow",
    on_hold="the {who} cannot go on without a person",
    beside=("light", "panel"),
)


def stand(state: WorkflowState) -> Standpoint:
    now, most = counts(state), state.allowance
    running = bool(state.running)
    of = "unlimited" if most.iterations is None else most.iterations
    return Standpoint(
        state=c.where(state),
        attempt=now.iterations + running,
        limit=most.iterations or 0,
        ended=now.iterations,
        failures=now.failures,
        findings=state.thorough.blockers if state.thorough else (),
        headline=f"{state.done} of {counted(len(state.tasks), 'task')} done" if state.tasks else "",
        lines=(
            f"iterations used: {now.iterations} of {of}",
            f"the same failure of one task in a row: {now.same} of {most.same}",
            f"attempts that failed: {now.failures} of {most.failures}",
            *state.remarks,
        ),
    )


WORKFLOW: Loop[WorkflowParams, WorkflowState] = Loop(
    name="workflow",
    params=WorkflowParams,
    state=WorkflowState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
