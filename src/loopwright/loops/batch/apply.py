"""How a batch moves: all pending reviewed, all blocked fixed, round by round; then what passed is brought together."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    Answer,
    Answered,
    ChecksReported,
    Combined,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.faults import conflict_finding, faults_of, names_of_faults
from loopwright.kernel.findings import cut
from loopwright.kernel.model import NO_COMMIT, NO_KEY, NO_POINT, Commit, Ending, Finding, LoopId, Outcome
from loopwright.loops import course as c
from loopwright.loops.accepting import ShownRed, tried_as_accepted
from loopwright.loops.batch.state import (
    ArtifactStanding,
    BatchItem,
    BatchPhase,
    BatchState,
    aboard,
    before_fix,
    before_review,
    can_go_on,
    child_key,
    ended,
    failing,
    goes_to,
    is_accepted,
    is_landed,
    landable,
    made_on,
    of_standing,
    stuck,
    to_land,
    with_item,
)
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.hooks import untested
from loopwright.loops.reviewed import EarlierPass, QualityLimits
from loopwright.loops.weighing import Failed, Passed, Rejected, Waits, rejection, weighed

_LINE = 300  # characters that a batch keeps of what a child says of itself


def took(state: BatchState, event: Answer) -> BatchState:
    match event:
        case LoopEnded():
            return _heard(state, event)
        case Combined():
            return _combined(state, event)
        case ChecksReported():
            return _verified(state, event) if state.phase is BatchPhase.VERIFY else _checked(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, "a batch never asks for it")


# --- rounds -------------------------------------------------------------------------------------


def _heard(state: BatchState, event: LoopEnded) -> BatchState:
    index = next(each for each in state.todo if child_key(state, each) == event.key)
    cancelling = state.phase is BatchPhase.CANCEL
    state = with_item(state, index, _after(state.items[index], event.outcome, cancelling=cancelling))
    state = replace(state, todo=tuple(other for other in state.todo if other != index))
    return state if state.todo else _phase_over(state)


def _after(item: BatchItem, outcome: Outcome, *, cancelling: bool) -> BatchItem:
    """The artifact after its loop went as far as this phase lets it."""
    seen = replace(
        item,
        at=item.at if outcome.at == NO_POINT else outcome.at,
        line=cut(" ".join(outcome.note.split()), _LINE) or item.line,
        attempts=_reviews(outcome) or item.attempts,
        asking=outcome.asking,
        loop=outcome.loop or item.loop,
    )
    match outcome.ending:
        case Ending.HELD:
            blocked = outcome.at == before_fix(outcome.at.attempt)
            return replace(seen, standing=ArtifactStanding.BLOCKED if blocked else ArtifactStanding.PENDING)
        case Ending.VERIFIED | Ending.REVIEWED:
            good = replace(seen, standing=ArtifactStanding.PASSED, commit=outcome.commit, over=True)
            return replace(good, deferred=len(outcome.findings), mended=outcome.mended)
        case Ending.ACCEPTED:
            good = replace(seen, standing=ArtifactStanding.ACCEPTED, commit=outcome.commit, over=True)
            return replace(good, mended=outcome.mended)
        case Ending.CANCELLED:
            return replace(seen, standing=item.standing if cancelling else ArtifactStanding.STUCK, over=True)
        case Ending.ESCALATED:
            return replace(seen, standing=ArtifactStanding.STUCK)
        case Ending.FAILED:
            return replace(seen, standing=ArtifactStanding.STUCK, line=f"FAILED: {item.path}: {seen.line}")
        case _:
            assert_never(outcome.ending)


def _reviews(outcome: Outcome) -> int:
    """A child that waits for its next review has not made it yet."""
    return outcome.attempts - 1 if outcome.at == before_review(outcome.at.attempt) else outcome.attempts


def _phase_over(state: BatchState) -> BatchState:
    if state.phase is BatchPhase.CANCEL:
        return _done(state) if state.course.cancel is None else c.cleaning_up(state)
    state = replace(state, order=None)
    if state.phase is BatchPhase.REVIEW and (blocked := of_standing(state, ArtifactStanding.BLOCKED)):
        state = _entered(state, BatchPhase.FIX, blocked)
        return c.tried_on_the_base(state, state.plan.trust) if state.plan.checked else state
    if pending := of_standing(state, ArtifactStanding.PENDING):
        return _entered(replace(state, round=state.round + 1), BatchPhase.REVIEW, pending)
    if blocked := of_standing(state, ArtifactStanding.BLOCKED):  # their fixes changed nothing: no review to be made
        return _entered(replace(state, round=state.round + 1), BatchPhase.FIX, blocked)
    return _asked_or_done(state) if is_landed(state) else c.entered(state, BatchPhase.COMBINE)


def _entered(state: BatchState, phase: BatchPhase, todo: tuple[int, ...]) -> BatchState:
    return c.entered(replace(state, todo=todo), phase)


def _asked_or_done(state: BatchState) -> BatchState:
    """Nothing goes on by itself, and what passed is landed: a person is asked about the rest."""
    if not _is_whole(state) and not state.course.accepted:
        return c.escalated(state, ())
    if open_still := can_go_on(state):  # nothing is left waiting under a batch that has ended
        return _entered(state, BatchPhase.CANCEL, open_still)
    return _done(state)


def _done(state: BatchState) -> BatchState:
    if state.unable:
        return c.done(state, replace(ended(state, Ending.FAILED), note=state.unable))
    good = Ending.VERIFIED if state.verified or not state.plan.firm else Ending.REVIEWED
    took = is_accepted(state) or state.course.untested
    outcome = ended(state, Ending.ACCEPTED if took else good)
    return c.done(state, replace(outcome, findings=(*outcome.findings, *failing(state), *untested(state))))


def unable(state: BatchState, outcome: Outcome) -> BatchState:
    """Nothing is left waiting under a batch that has ended."""
    left = tuple(index for index, item in enumerate(state.items) if not item.over)
    return _entered(replace(state, unable=outcome.note), BatchPhase.CANCEL, left)


def _is_whole(state: BatchState) -> bool:
    return not stuck(state) and is_landed(state)


# --- landing ------------------------------------------------------------------------------------


def _combined(state: BatchState, event: Combined) -> BatchState:
    for index in aboard(state):
        if state.items[index].commit in event.left_out:
            state = _left_out(state, index, event)
    if state.adding:
        still = state.items[state.adding[0]].standing is ArtifactStanding.PASSED
        return c.entered(replace(state, combined=event.commit), BatchPhase.CHECK) if still else _next_added(state)
    if of_standing(state, ArtifactStanding.BLOCKED):
        return _made_anew(state)
    if not event.files or not landable(state):
        return _asked_or_done(replace(state, landed=landable(state), red=None))
    state = replace(state, combined=event.commit, verified=False)
    return c.entered(state, BatchPhase.VERIFY) if _is_to_verify(state) else c.landing(state)


def _is_to_verify(state: BatchState) -> bool:
    """What lands ran the configured checks; what a person saw fail and accepts is taken as it is known."""
    plan, red = state.plan, state.red
    if not is_accepted(state):
        return plan.firm and plan.checked
    seen = red is not None and red.is_of(to_land(state), state.course)
    return plan.accepts_checked and plan.checked and not (seen and state.course.accepted)


def _verified(state: BatchState, event: ChecksReported) -> BatchState:
    if is_accepted(state):
        return _checked_as_accepted(state, event)
    # A folder names what is product in it: tests below are held back as anywhere.
    asked = state.plan.trust.artifacts or tuple(item.path for item in state.items)
    words = tuple(path for path in asked if not path.endswith("/"))
    state, said = weighed(state, event, state.combined, words)
    match said:
        case Passed():
            return c.landing(replace(state, verified=True, red=None))
        case Waits():
            return c.at_the_gate(state)
        case Failed():
            named = names_of_faults(event, said.faults)
            return _not_verified(state, f"with all fixes together these fail: {named}", said.faults)
        case Rejected():
            return _rejected(state, said.gate)
        case _:
            assert_never(said)


def _checked_as_accepted(state: BatchState, event: ChecksReported) -> BatchState:
    """Red, nothing more is landed yet: a person hears what fails, and may still accept it."""
    tried, faults = tried_as_accepted(state, event, state.combined)
    if faults is None:
        return c.entered(replace(tried, again=state.again + 1), BatchPhase.VERIFY)
    if not faults:
        return c.landing(replace(tried, verified=True, red=None))
    why = f"What was accepted is not landed: with all fixes together these fail: {names_of_faults(event, faults)}"
    state = replace(_shown_red(tried, faults), failures=faults)
    return c.escalated(c.steered(state, accepted=False), (why,), faults)


def _shown_red(state: BatchState, faults: tuple[Finding, ...], onto: Commit = NO_COMMIT) -> BatchState:
    red = ShownRed(of=to_land(state), approvals=state.course.approvals, faults=faults, onto=onto)
    return replace(state, red=red)


def _rejected(state: BatchState, gate: GateRecord) -> BatchState:
    why = f"a person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
    return _not_verified(state, why, (rejection(gate),))


def _not_verified(state: BatchState, why: str, faults: tuple[Finding, ...]) -> BatchState:
    return refused(
        state,
        IntegrationRefused(
            key=NO_KEY,
            reason="checks",
            detail=why,
            findings=faults,
            onto=state.onto or state.plan.base,
            merged=state.combined,
        ),
    )


def decided(state: BatchState, gate: GateRecord) -> BatchState:
    """What was checked without the approval ran the base's versions: once more."""
    waits = state.course.station is Station.GATE
    if gate.ruling is Ruling.APPROVED:
        stale = waits or c.at_work(state, BatchPhase.VERIFY)
        return c.entered(replace(state, again=state.again + 1), BatchPhase.VERIFY) if stale else state
    return _rejected(state, gate) if waits and not gate.lasting else state


def _left_out(state: BatchState, index: int, event: Combined) -> BatchState:
    """A conflict is a failed attempt. What a person accepted is not made anew behind their back."""
    item = state.items[index]
    other = "what another artifact or the target has by now" if state.onto else "that of another artifact"
    line = f"CONFLICT: {item.path}: its fix, kept as {item.commit[:12]}, conflicts with {other}"
    paths = next((each.paths for each in event.conflicts if each.commit == item.commit), None)
    if paths is None or state.course.accepted or item.standing is ArtifactStanding.ACCEPTED:
        return with_item(state, index, replace(item, standing=ArtifactStanding.CONFLICT, line=line))
    refusal = IntegrationRefused(
        key=event.key,
        reason="conflict",
        detail=f"its fix conflicts with {other}",
        findings=tuple(conflict_finding(path, other) for path in paths),
        onto=event.commit,
    )
    return _sent_back(state, index, refusal, line)


def _checked(state: BatchState, event: ChecksReported) -> BatchState:
    """The one that was added last turned the tree red, or it is good with those before it."""
    index = state.adding[0]
    faults = faults_of(event, " on the merged tree")
    if not faults:
        return _next_added(replace(state, good=(*state.good, index), ground=state.combined))
    why = f"with its fix these fail: {names_of_faults(event)}"
    refusal = IntegrationRefused(
        key=event.key, reason="checks", detail=why, findings=faults, onto=state.ground, merged=state.combined
    )
    return _next_added(_sent_back(state, index, refusal, f"FAILED CHECKS: {state.items[index].path}: {why}"))


def _next_added(state: BatchState) -> BatchState:
    state = replace(state, adding=state.adding[1:], again=state.again + 1)
    if state.adding:
        return c.entered(state, BatchPhase.COMBINE)
    if of_standing(state, ArtifactStanding.BLOCKED):
        return _made_anew(state)
    return c.entered(replace(state, good=(), blameless=True), BatchPhase.COMBINE)


def _sent_back(state: BatchState, index: int, refusal: IntegrationRefused, line: str) -> BatchState:
    """To a new loop that goes on where the one that passed it ended: its reviews count, its fix starts at the tip."""
    item = state.items[index]
    again = replace(
        item,
        standing=ArtifactStanding.BLOCKED,
        at=before_fix(item.attempts),
        line=line,
        commit=NO_COMMIT,
        loop=LoopId(""),
        over=False,
        before=(*item.before, item.loop),
        earlier=EarlierPass(
            attempts=item.attempts,
            commit=item.commit,
            made_on=made_on(state, index),
            landing=refusal,
            mended=item.mended,
        ),
    )
    return with_item(state, index, again)


def _made_anew(state: BatchState) -> BatchState:
    state = replace(state, good=(), blameless=False, failures=(), again=state.again + 1)
    return _entered(state, BatchPhase.FIX, of_standing(state, ArtifactStanding.BLOCKED))


def landed(state: BatchState, event: Integrated) -> BatchState:
    state = replace(state, landed=landable(state), result=event, aimed=goes_to(state), failures=(), blameless=False)
    # A cancel during the landing is for what is left; where nothing is, it came too late.
    if state.course.cancel is not None and not _is_whole(state):
        return cancelled(state)
    return _asked_or_done(c.steered(state, cancel=None))


def refused(state: BatchState, event: IntegrationRefused) -> BatchState:
    """Whose fix it is that does not go with the target is found out; where nothing tells, a person is asked."""
    if state.course.accepted and not event.onto:  # so a log of before may end
        why = f"the fixes could not be landed: {event.detail or event.reason}"
        return _asked_or_done(replace(state, result=replace(state.result, note=why)))
    known, fixed = state.onto, landable(state)
    state = replace(state, onto=event.onto or known, failures=event.findings)
    if event.reason == "conflict" and event.onto not in (NO_COMMIT, known):
        return c.entered(replace(state, again=state.again + bool(known)), BatchPhase.COMBINE)
    if is_accepted(state):
        return c.not_landed(_shown_red(state, event.findings, event.onto) if event.reason == "checks" else state, event)
    if event.reason != "checks" or not event.merged or state.blameless:
        return c.not_landed(state, event)
    if len(fixed) == 1:
        line = f"FAILED CHECKS: {state.items[fixed[0]].path}: {event.detail}"
        return _made_anew(_sent_back(state, fixed[0], event, line))
    return c.entered(replace(state, adding=fixed, ground=state.onto, again=state.again + 1), BatchPhase.COMBINE)


# --- people -------------------------------------------------------------------------------------


def ordered(state: BatchState, order: Answered) -> BatchState:
    """Tell every child that waits with a question. One that fell over before its review is simply reviewed again."""
    able = can_go_on(state)
    fallen = tuple(index for index in able if _awaits_review(state.items[index]))
    for index in fallen:
        state = with_item(state, index, replace(state.items[index], standing=ArtifactStanding.PENDING))
    return _told(state, order, tuple(index for index in able if index not in fallen))


def accepted(state: BatchState) -> BatchState:
    """One that fell over has no question, and nothing to accept."""
    asking = tuple(index for index in can_go_on(state) if state.items[index].asking != NO_KEY)
    return _told(state, Answered(key=NO_KEY, choice="accept"), asking)


def _told(state: BatchState, order: Answered, todo: tuple[int, ...]) -> BatchState:
    state = _entered(replace(state, order=order), BatchPhase.FIX, todo)
    return state if todo else _phase_over(state)


def _awaits_review(item: BatchItem) -> bool:
    return item.at == before_review(item.at.attempt) and item.asking == NO_KEY


def cancelled(state: BatchState) -> BatchState:
    """Every child that has not ended is told, so that none is left open."""
    if c.at_work(state, BatchPhase.CANCEL):
        raise InvalidTransition(c.where(state), "CancelRequested", "the batch has ended")
    left = tuple(index for index, item in enumerate(state.items) if not item.over)
    return _entered(state, BatchPhase.CANCEL, left) if left else c.cleaning_up(state)


def relimited(state: BatchState, limits: QualityLimits) -> BatchState:
    """New limits are for the artifacts whose loop has not begun; the others keep theirs."""
    return replace(state, plan=replace(state.plan, limits=limits))
