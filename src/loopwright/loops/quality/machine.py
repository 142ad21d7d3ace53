"""The quality loop as one value: review, fix, re-review of one artifact.

| phase          | asks for           | on success            | otherwise                                    |
|----------------|--------------------|-----------------------|----------------------------------------------|
| LOAD_ARTIFACTS | what the tree holds| RUN_CHECKS            | EMIT_VERDICT (blocked) when it is gone       |
| RUN_CHECKS     | reviewer           | EMIT_VERDICT          | once more, then EMIT_VERDICT (blocked)       |
| EMIT_VERDICT   | the line on record | VERIFY, LAND or DONE  | FIX, or ESCALATED after the last review;     |
|                |                    |                       | LOAD_ARTIFACTS when nobody gave a verdict    |
| VERIFY         | checks             | LAND                  | FIX, or ESCALATED after the last review and  |
|                |                    |                       | of what a person accepted                    |
| FIX            | creator            | CHECKPOINT            | next review, CLARIFY, ESCALATED              |
| CHECKPOINT     | checkpoint         | LOAD_ARTIFACTS        | EMIT_VERDICT (blocked) when nothing changed  |
| LAND           | integrate          | DONE                  | FIX from the new tip, ESCALATED              |
| CLARIFY        | a person           | whoever asked, VERIFY,| CLEAN_UP                                     |
|                |                    | LAND, DONE            |                                              |
| ESCALATED      | a person           | FIX, VERIFY, LAND,    | CLEAN_UP                                     |
|                |                    | DONE, LOAD_ARTIFACTS  |                                              |
| CLEAN_UP       | clean up           | DONE                  | -                                            |
| DONE           | stop               | -                     | -                                            |

The phases from LAND on are the floor's. An attempt is one review. No fix is asked for that no review would see.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import Severity, Verdict
from loopwright.loops import floor
from loopwright.loops.course import where
from loopwright.loops.hooks import Machine
from loopwright.loops.quality.accepting import accepted
from loopwright.loops.quality.apply import (
    begin,
    continued,
    decided,
    refused_landing,
    relimited,
    revised,
    took,
)
from loopwright.loops.quality.decide import escalation, land, work
from loopwright.loops.quality.ending import ended
from loopwright.loops.quality.state import (
    Depth,
    QualityParams,
    QualityState,
    open_findings,
    reviews_made,
    verdict_line,
    waiting,
)
from loopwright.loops.quality.verdict import counts_from, tally
from loopwright.loops.reviewed import QualityLimits

MACHINE: Machine[QualityState, QualityLimits] = Machine(
    limits=QualityLimits,
    base=lambda state: state.plan.base,
    trust=lambda state: state.plan.trust,
    work=work,
    took=took,
    landing=land,
    outcome=ended,
    escalation=escalation,
    continued=continued,
    revised=revised,
    relimited=relimited,
    decided=decided,
    accepted=accepted,
    refused=refused_landing,
    on_hold="the {who} cannot go on without a person: {question}",
    beside_answer=("accept", "history", "cancel"),
    asked_before=("fix",),
)


def stand(state: QualityState) -> Standpoint:
    return Standpoint(
        state=where(state),
        attempt=state.number,
        limit=state.allowance,
        failures=sum(each.verdict is Verdict.FAIL for each in state.rounds),
        findings=open_findings(state) + waiting(state),
        headline=verdict_line(state),
        lines=(*_counts(state), *_rules(state), *_exceptions(state)),
    )


def _counts(state: QualityState) -> tuple[str, ...]:
    return (
        f"reviews used: {reviews_made(state)} of {state.allowance}; fixes: {state.fixes}",
        f"open now: {tally(open_findings(state))}",
    )


def _rules(state: QualityState) -> tuple[str, ...]:
    plan, least = state.plan, counts_from(state)
    hand_over = f"in {plan.file}" if plan.file else "inline"
    rules = [
        f"gate {plan.gate}: any critical finding blocks, and more than {plan.limits.p1_threshold} high ones",
        f"findings are handed to the {plan.creator} {hand_over}",
        f"of a fix only {plan.artifact}, the files its findings name and tests that it adds are taken",
    ]
    if least is not Severity.LOW:
        rules.append(f"new findings count from {least.value} up in review {state.number}; a critical one always counts")
    if plan.depth is Depth.QUICK:
        rules.append("quick depth: medium and low findings are observations")
    return tuple(rules)


def _exceptions(state: QualityState) -> tuple[str, ...]:
    """Every finding that does not count, with the rule that says so."""
    put_off = (f"deferred in review {d.round}: {d.finding.issue} ({d.why})" for d in state.deferred)
    dropped = (f"dropped from review {state.number}: {what}" for what in state.dropped)
    named = {finding.file for each in state.rounds for finding in each.findings}
    left = (f"not taken from the last fix: {path}, {_why_not_taken(path in named)}" for path in state.ignored)
    return (*put_off, *dropped, *left)


def _why_not_taken(is_named: bool) -> str:  # noqa: FBT001
    return "which is protected or named by an observation only" if is_named else "which no finding names"


QUALITY: Loop[QualityParams, QualityState] = Loop(
    name="quality",
    params=QualityParams,
    state=QualityState,
    start=begin,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
