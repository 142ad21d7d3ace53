"""The tight feedback loop as one value.

| phase            | asks for                    | on success        | otherwise                                     |
|------------------|-----------------------------|-------------------|-----------------------------------------------|
| EXAMINE          | examiner, if one has to be  | KEEP_TESTS        | EXAMINE once more, ESCALATED                  |
| KEEP_TESTS       | checkpoint                  | TRY_TESTS         | EXAMINE once more, ESCALATED                  |
| TRY_TESTS        | checks, red on the base     | IMPLEMENT         | EXAMINE once more, ESCALATED                  |
| TAKE_TESTS_AWAY  | combine                     | IMPLEMENT         | -                                             |
| IMPLEMENT        | developer                   | CHECKPOINT        | CLARIFY, ESCALATED, next iteration            |
| CHECKPOINT       | checkpoint                  | REVIEW            | next iteration when nothing was changed       |
| REVIEW           | reviewer                    | ADD_TESTS or TEST | next iteration (NOT_COMPLIANT), tests skipped |
| ADD_TESTS        | tester, if one is named     | CHECKPOINT_TESTS  | TEST                                          |
| CHECKPOINT_TESTS | checkpoint                  | TEST              | -                                             |
| LAY_TESTS        | combine                     | TEST              | -                                             |
| TEST             | checks                      | LAND, GATE, DONE  | next iteration (FAIL)                         |
| GATE             | a person, on protected files| TEST              | next iteration                                |
| LAND             | integrate                   | DONE              | next iteration from the new tip, ESCALATED    |
| CLARIFY          | a person                    | whoever asked     | CLEAN_UP                                      |
| ESCALATED        | a person                    | IMPLEMENT or LAND | TEST of what is accepted, CLEAN_UP            |
| CLEAN_UP         | clean up                    | DONE              | -                                             |
| DONE             | stop                        | -                 | -                                             |

Where an examiner wrote acceptance tests, they are laid over the candidate before TEST (LAY_TESTS), and taken out again
where a merged commit has them and another attempt starts from it (TAKE_TESTS_AWAY).
The phases from GATE on are the floor's. A part of a larger loop (`lands` false) is DONE where others
LAND: its parent has the result. The next iteration is IMPLEMENT, or ESCALATED when a limit is
reached. CancelRequested leads to CLEAN_UP from everywhere but LAND, where exactly one of landing and
cancelling happens.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import NO_COMMIT, Verdict
from loopwright.loops import floor
from loopwright.loops.course import where
from loopwright.loops.examination import describe_examination
from loopwright.loops.feedback.accepting import accepted
from loopwright.loops.feedback.apply import continued, decided, refused, relimited, revised, took
from loopwright.loops.feedback.closing import sentence
from loopwright.loops.feedback.decide import escalation, land, work
from loopwright.loops.feedback.ending import ended
from loopwright.loops.feedback.examining import answered
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState, counts, open_findings, start
from loopwright.loops.hooks import Machine

MACHINE: Machine[FeedbackState, FeedbackLimits] = Machine(
    limits=FeedbackLimits,
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
    refused=refused,
    answered=answered,
    beside_answer=("cancel", "keep", "drop"),
    asked_before=("implement",),
)


def stand(state: FeedbackState) -> Standpoint:
    now, most = counts(state), state.allowance
    return Standpoint(
        state=where(state),
        attempt=state.current.number,
        limit=most.iterations,
        failures=sum(Verdict.FAIL in (past.review, past.tests) or past.review is None for past in state.past),
        findings=open_findings(state),
        headline=sentence(state.past[-1]) if state.past else "",
        commit=state.commit if state.commit != state.plan.base else NO_COMMIT,
        lines=(
            f"iterations used: {now.iterations} of {most.iterations}",
            f"reviews failed in a row: {now.review_failures} of {most.review_failures}",
            f"test runs failed in a row: {now.test_failures} of {most.test_failures}",
            f"the same review issue in a row: {now.same_review} of {most.same_review}",
            f"the same test failure in a row: {now.same_test} of {most.same_test}",
            *((describe_examination(state.examination),) if state.plan.examiner else ()),
        ),
    )


FEEDBACK: Loop[FeedbackParams, FeedbackState] = Loop(
    name="feedback",
    params=FeedbackParams,
    state=FeedbackState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
