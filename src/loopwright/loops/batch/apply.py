"""How a batch moves: all pending reviewed, all blocked fixed, round by round; then what passed is brought together."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    Answered,
    BudgetChanged,
    CancelRequested,
    CleanedUp,
    Combined,
    ConfigChanged,
    Event,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.kernel.findings import cut
from loopwright.kernel.machine import answers_one_of
from loopwright.kernel.model import NO_KEY, NO_POINT, Cleanup, Ending, Outcome
from loopwright.kernel.said import new_limits
from loopwright.loops.batch.decide import CONTINUE_BY_DEFAULT, decide
from loopwright.loops.batch.state import (
    AT_FIX,
    AT_REVIEW,
    Batch,
    Item,
    Order,
    Phase,
    Standing,
    can_go_on,
    ended,
    escalated,
    is_landed,
    landable,
    of_standing,
    stuck,
    with_item,
)
from loopwright.loops.reviewed import QualityLimits

_LINE = 300  # characters that a batch keeps of what a child says of itself

_AskedFor = LoopEnded | Answered | Combined | Integrated | IntegrationRefused | CleanedUp


def apply(state: Batch, event: Event) -> Batch:
    match event:
        case CancelRequested():
            return _cancelled(state, event.cleanup)
        case ConfigChanged():
            return _reconfigured(state, event)
        case BudgetChanged():
            return state  # money is the engine's business
        case LoopEnded() | Answered() | Combined() | Integrated() | IntegrationRefused() | CleanedUp():
            if not answers_one_of(decide(state), event):
                raise InvalidTransition(state.phase, type(event).__name__, f"{event.key} is not asked for")
            return _took_in(state, event)
        case _:
            raise InvalidTransition(state.phase, type(event).__name__, "a batch never asks for it")


def _took_in(state: Batch, event: _AskedFor) -> Batch:
    match event:
        case LoopEnded():
            return _heard(state, event)
        case Answered():
            return _answered(state, event)
        case Combined():
            return _combined(state, event)
        case Integrated() | IntegrationRefused():
            return _landed(state, event)
        case CleanedUp():
            return replace(state, phase=Phase.DONE, outcome=ended(state, Ending.CANCELLED))
        case _:
            assert_never(event)


# --- rounds -------------------------------------------------------------------------------------


def _heard(state: Batch, event: LoopEnded) -> Batch:
    index = int(event.key.part) - 1
    cancelling = state.phase is Phase.CANCEL
    state = with_item(state, index, _after(state.items[index], event.outcome, cancelling=cancelling))
    state = replace(state, todo=tuple(other for other in state.todo if other != index))
    return state if state.todo else _phase_over(state)


def _after(item: Item, outcome: Outcome, *, cancelling: bool) -> Item:
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
            blocked = outcome.at.state == AT_FIX
            return replace(seen, standing=Standing.BLOCKED if blocked else Standing.PENDING)
        case Ending.VERIFIED:
            return replace(seen, standing=Standing.PASSED, commit=outcome.commit, over=True)
        case Ending.ACCEPTED:
            return replace(seen, standing=Standing.ACCEPTED, commit=outcome.commit, over=True)
        case Ending.CANCELLED:
            return replace(seen, standing=item.standing if cancelling else Standing.STUCK, over=True)
        case Ending.ESCALATED:
            return replace(seen, standing=Standing.STUCK)
        case Ending.FAILED:
            return replace(seen, standing=Standing.STUCK, line=f"FAILED: {item.path}: {seen.line}")
        case _:
            assert_never(outcome.ending)


def _reviews(outcome: Outcome) -> int:
    """A child that waits for its next review has not made it yet."""
    return outcome.attempts - 1 if outcome.at.state == AT_REVIEW else outcome.attempts


def _phase_over(state: Batch) -> Batch:
    if state.phase is Phase.CANCEL:
        return _done(state) if state.cancel is None else replace(state, phase=Phase.CLEAN_UP)
    state = replace(state, order=None)
    if state.phase is Phase.REVIEW and (blocked := of_standing(state, Standing.BLOCKED)):
        return replace(state, phase=Phase.FIX, todo=blocked)
    if pending := of_standing(state, Standing.PENDING):
        return replace(state, phase=Phase.REVIEW, round=state.round + 1, todo=pending)
    return _settled(state)


def _settled(state: Batch) -> Batch:
    """Nothing goes on by itself: what passed is landed, and then a person is asked about the rest."""
    return _asked_or_done(state) if is_landed(state) else replace(state, phase=Phase.COMBINE)


def _asked_or_done(state: Batch) -> Batch:
    if not _is_whole(state) and not state.accepted:
        return escalated(state)
    open_still = tuple(index for index in stuck(state) if not state.items[index].over)
    if open_still:
        # A person accepted what there is; what could not be accepted is not left waiting under a batch that has ended.
        order = Order(say="cancel", text=Cleanup.KEEP_ARTIFACTS)
        return replace(state, phase=Phase.CANCEL, todo=open_still, order=order)
    return _done(state)


def _done(state: Batch) -> Batch:
    ending = Ending.ACCEPTED if state.accepted else Ending.VERIFIED
    return replace(state, phase=Phase.DONE, outcome=ended(state, ending))


def _is_whole(state: Batch) -> bool:
    return not stuck(state) and is_landed(state)


# --- landing ------------------------------------------------------------------------------------


def _combined(state: Batch, event: Combined) -> Batch:
    for index in landable(state):
        item = state.items[index]
        if item.commit in event.left_out:
            line = (
                f"CONFLICT: {item.path}: its fix, kept as {item.commit[:12]}, conflicts with that of another artifact"
            )
            state = with_item(state, index, replace(item, standing=Standing.CONFLICT, line=line))
    if not event.files:
        return _asked_or_done(replace(state, landed=landable(state)))
    return replace(state, phase=Phase.LAND, combined=event.commit)


def _landed(state: Batch, event: Integrated | IntegrationRefused) -> Batch:
    if isinstance(event, IntegrationRefused):
        state = replace(state, note=f"the fixes could not be landed: {event.detail or event.reason}")
    else:
        state = replace(
            state,
            landed=landable(state),
            branch=event.branch,
            commit=event.commit,
            merged_into=event.merged_into,
            note=event.note,
        )
    # A cancel during the landing is for what is left; where nothing is, it came too late.
    if state.cancel is not None and not _is_whole(state):
        return _to_cancel(state)
    return _asked_or_done(replace(state, cancel=None))


# --- people -------------------------------------------------------------------------------------


def _answered(state: Batch, event: Answered) -> Batch:
    match event.choice:
        case "continue":
            if event.count < 0:
                raise InvalidTransition(state.phase, "Answered", "continue needs a positive number")
            order = Order(say="continue", grant=event.count or CONTINUE_BY_DEFAULT, text=event.text)
            return _ordered(state, order)
        case "revise":
            if not event.text.strip():
                raise InvalidTransition(state.phase, "Answered", "revise needs the new guidance as text")
            return _ordered(state, Order(say="revise", text=event.text))
        case "accept":
            state = replace(state, accepted=True, merge_accepted=event.merge)
            return _ordered(state, Order(say="accept"))
        case "history":
            return replace(state, asked=state.asked + 1)
        case "cancel":
            return _cancelled(state, Cleanup.KEEP_EVERYTHING)
        case _:
            raise InvalidTransition(state.phase, "Answered", f"{event.choice!r} is not one of the options")


def _ordered(state: Batch, order: Order) -> Batch:
    """Tell every child that waits with a question. One that fell over has none: it goes on, but is not accepted."""
    able = can_go_on(state)
    if order.say == "accept":
        able = tuple(index for index in able if state.items[index].asking != NO_KEY)
    elif not able and is_landed(state):
        raise InvalidTransition(state.phase, "Answered", "the loops of all blocked artifacts have ended")
    fallen = tuple(index for index in able if _awaits_review(state.items[index]))
    for index in fallen:
        state = with_item(state, index, replace(state.items[index], standing=Standing.PENDING))
    told = tuple(index for index in able if index not in fallen)
    state = replace(state, phase=Phase.FIX, todo=told, order=order)
    return state if told else _phase_over(state)


def _awaits_review(item: Item) -> bool:
    return item.at.state == AT_REVIEW and item.asking == NO_KEY


def _cancelled(state: Batch, cleanup: Cleanup) -> Batch:
    if state.phase in (Phase.DONE, Phase.CLEAN_UP, Phase.CANCEL):
        raise InvalidTransition(state.phase, "CancelRequested", "the batch has ended")
    state = replace(state, cancel=cleanup)
    return state if state.phase is Phase.LAND else _to_cancel(state)


def _to_cancel(state: Batch) -> Batch:
    """Every child that has not ended is told, so that none is left open."""
    left = tuple(index for index, item in enumerate(state.items) if not item.over)
    if not left:
        return replace(state, phase=Phase.CLEAN_UP)
    order = Order(say="cancel", text=state.cancel or "")
    return replace(state, phase=Phase.CANCEL, todo=left, order=order)


def _reconfigured(state: Batch, event: ConfigChanged) -> Batch:
    """New limits are for the artifacts whose loop has not begun; the others keep theirs."""
    if state.phase is Phase.DONE:
        raise InvalidTransition(state.phase, "ConfigChanged", "the batch has ended")
    limits = new_limits(state.phase, QualityLimits, event)
    return replace(state, plan=replace(state.plan, limits=limits))
