"""The quality loop in the states of the state machine it was built after, found by walking our own machine.

Walked are the ordinary answers only: what faults, people and cancelling do besides is in the table of moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.events import Event
from loopwright.kernel.limits import reached
from loopwright.kernel.model import AgentReport, Commit, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import Depth, QualityParams, QualityPhase, QualityState, reviews_made
from loopwright.loops.samples import (
    BLOCKED_IT,
    CHANGED,
    DONE,
    FINDS,
    LANDED,
    LOADED,
    PASSED_IT,
    PASSES,
    RECORDED,
    answers_to,
)

REVIEW, PASS, FIX, INCREMENT = "Review", "Pass", "Fix", "IncrementAttempt"
PERSIST, BLOCKED, ESCALATE = "PersistFindings", "Blocked", "EscalateToUser"
START, END = "start", "end"
VERDICTS = {
    PASSES: PASSED_IT,
    FINDS: BLOCKED_IT,
    "fail without a finding that can be shown": AgentReport(verdict=Verdict.FAIL),
}
_ORDINARY = (LOADED, PASSES, FINDS, RECORDED, DONE, CHANGED, LANDED)
_STANDS_FOR: dict[str, tuple[str, ...]] = {
    QualityPhase.LOAD_ARTIFACTS: (REVIEW,),
    QualityPhase.RUN_CHECKS: (REVIEW,),
    QualityPhase.EMIT_VERDICT: (REVIEW,),
    QualityPhase.FIX: (FIX,),
    QualityPhase.CHECKPOINT: (FIX,),
    Station.LAND: (PASS, PERSIST, END),
    Station.DONE: (PASS, PERSIST, END),
    Station.ESCALATED: (BLOCKED, ESCALATE, END),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedMove:
    begin: str
    when: str
    end: str


def rows() -> tuple[SeedMove, ...]:
    """Every way from one of these states to another, with the words of both depths put together."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for depth in Depth:
        params = QualityParams(artifact="sample", base=Commit("b"), story="sample", depth=depth, firm=True)
        for begin, event, guard, end in _walked(QUALITY.start(params)):
            words = found.setdefault((begin, guard, end), [])
            words += [event] if event and event not in words else []
    return tuple(
        SeedMove(begin=begin, when=", ".join(part for part in (" or ".join(events), guard) if part), end=end)
        for (begin, guard, end), events in found.items()
    )


def phases() -> dict[str, list[str]]:
    """Which phases of ours each of the states with steps of its own is."""
    return {state: [phase for phase, path in _STANDS_FOR.items() if path == (state,)] for state in (REVIEW, FIX)}


_Step = tuple[str, str, str, str]  # from, event, guard, to


def _walked(start: QualityState) -> list[_Step]:
    steps: list[_Step] = [(START, f"spawn {start.plan.reviewer}", "", REVIEW)]
    waiting = [start]
    while waiting:
        state = waiting.pop(0)
        for event in _ordinary(state):
            after = QUALITY.apply(state, event)
            steps += [step for step in _steps(state, after) if step not in steps]
            waiting += [after] if _STANDS_FOR[where(after)][-1] != END else []
    return steps


def _ordinary(state: QualityState) -> list[Event]:
    (action,) = QUALITY.decide(state)
    return [event for word, event in answers_to(action, VERDICTS).items() if word in _ORDINARY]


def _steps(state: QualityState, after: QualityState) -> list[_Step]:
    begin, path = _STANDS_FOR[where(state)][-1], _STANDS_FOR[where(after)]
    if (begin,) == path:
        return []
    if begin == FIX:
        return _counted(state, after)
    token = after.rounds[-1].line.partition(":")[0]
    if path[0] == PASS:
        return [(begin, token, "", PASS), (PASS, "append to handoff.quality_findings", "", PERSIST), _result(after)]
    if path[0] == BLOCKED:
        why = after.course.reasons[0].partition(":")[0]
        return [(begin, token, _guard(after), BLOCKED), (BLOCKED, why, "", ESCALATE), _result(after)]
    return [(begin, token, _guard(after), path[0])]


def _counted(state: QualityState, after: QualityState) -> list[_Step]:
    """The number of the review goes up on the way from a fix to the next review, or there is no such state."""
    finished = f"{state.plan.creator} agent finished"
    between = INCREMENT if after.number == state.number + 1 else REVIEW
    return [(FIX, finished, "", between), (between, "", _guard(after), REVIEW)]


def _guard(state: QualityState) -> str:
    return f"attempt {'>=' if reached(reviews_made(state), state.allowance) else '<'} max_attempts"


def _result(state: QualityState) -> _Step:
    passed = state.rounds[-1].verdict is Verdict.PASS
    return (PERSIST, "PASS", "", END) if passed else (ESCALATE, "BLOCKED", "", END)
