"""`docs/loops/feedback.md`: the feedback loop as its machine has it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import Commit
from loopwright.kernel.wording import ALL_TESTS_PASSING
from loopwright.loops import diagrams
from loopwright.loops.course import Ruling, Station, where
from loopwright.loops.diagrams import Walk
from loopwright.loops.feedback.iterations import NOT_COMPLIANT, PROMISE, SPEC_COMPLIANT
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams, FeedbackPhase, FeedbackState
from loopwright.loops.samples import FOUND, PASSED_IT

_DEPTH = 2  # closed iterations after which nothing new can happen under the limits used here
_LIMITS = FeedbackLimits(max_feedback_iterations=2, max_consecutive_review_failures=2, max_consecutive_test_failures=2)
_INTRO = (
    "A developer implements, a reviewer compares the change with the task, the checks decide. What failed goes into the"
    f" next developer's brief. The loop ends with `{PROMISE}`, or asks a person when a limit is reached."
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried. Several states are named where it depends on the counters, on"
    " whether the step was tried before, on whether a tester or an examiner is configured, or on whether it is a part"
    " of a larger loop, which takes its result and lands it."
)
_ABOUT_GATE = (
    "Changed or removed protected files open the gate `protected`, which a person may decide at any time. Until then"
    " the loop goes on with the base versions of those files, and stops at GATE only when nothing but the decision is"
    " missing."
)


def page() -> str:
    walk = feedback_walk()
    found = diagrams.explored(walk)
    parts = (
        "# The feedback loop",
        diagrams.GENERATED,
        _INTRO,
        diagrams.diagram(walk, found.moves),
        "## Limits",
        _limits_table(FeedbackLimits()),
        "## Moves",
        _ABOUT_MOVES,
        diagrams.moves_table(found.moves),
        f"{diagrams.cancelled_in(walk, found)} {diagrams.ONE_OF_BOTH}",
        _ABOUT_GATE,
    )
    return "\n\n".join(parts) + "\n"


def feedback_walk() -> Walk[FeedbackParams, FeedbackState]:
    sample = FeedbackParams(task="sample", base=Commit("b"), limits=_LIMITS, accepts_checked=True)
    kinds = ((False, True), (True, True), (False, False))
    params = (
        *(replace(sample, tester=tester, lands=lands) for tester, lands in kinds),
        replace(sample, examiner="named"),
        replace(sample, examiner="missing"),
    )
    return Walk(
        loop=FEEDBACK,
        phases=(*FeedbackPhase, *Station),
        starts=tuple(FEEDBACK.start(each) for each in params),
        shape=_shape,
        within=lambda state: len(state.past) <= _DEPTH,
        when=_when,
        verdicts={SPEC_COMPLIANT: PASSED_IT, NOT_COMPLIANT: FOUND},
    )


def _when(state: FeedbackState, when: str) -> str:
    rejected = _ruling(state) is Ruling.REJECTED and not state.course.accepted
    return f"{when} with a rejected change" if rejected and when == ALL_TESTS_PASSING else when


def _shape(state: FeedbackState) -> tuple[object, ...]:
    course, trial = state.course, state.course.trial
    return (
        where(state),
        state.phase if course.station is Station.CLARIFY else "",
        (state.plan.tester, state.plan.lands, state.plan.examiner),
        _examined(state),
        len(state.past),
        (trial.respawned, trial.repaired, trial.until is None),
        _ruling(state),
        (course.accepted, course.cancel is None, state.red is None),
    )


def _examined(state: FeedbackState) -> tuple[object, ...]:
    held = state.examination
    return held.may_repair, held.asks, held.settled, bool(held.files), bool(held.failing), held.laid


def _ruling(state: FeedbackState) -> Ruling | None:
    gate = state.course.due(PROTECTED)
    return gate.ruling if gate is not None and gate.ruling is not Ruling.APPROVED else None


def _limits_table(limits: FeedbackLimits) -> str:
    rows = [
        ("`max_feedback_iterations`", str(limits.max_feedback_iterations), "iterations in all"),
        (
            "`max_consecutive_review_failures`",
            str(limits.max_consecutive_review_failures),
            "failed reviews in a row, or the same review issue in a row",
        ),
        (
            "`max_consecutive_test_failures`",
            str(limits.max_consecutive_test_failures),
            "failed test runs in a row, or the same test failure in a row",
        ),
    ]
    return diagrams.table(("`[limits.feedback]`", "default", "asks a person after"), rows)
