"""What a person's answer does to a review that stopped."""

from __future__ import annotations

from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import Answered
from loopwright.kernel.ledger import unresolved
from loopwright.kernel.limits import granted_iterations
from loopwright.kernel.model import Cleanup
from loopwright.kernel.said import reply
from loopwright.loops.quality.decide import CONTINUE_BY_DEFAULT
from loopwright.loops.quality.ending import landed_or_done
from loopwright.loops.quality.state import Phase, Quality, best_round, enter, next_review


def answered(state: Quality, event: Answered) -> Quality:
    if event.choice == "cancel":
        return replace(state, phase=Phase.CLEAN_UP, cancel=Cleanup.KEEP_EVERYTHING)
    if state.phase is Phase.CLARIFY and event.choice not in ("accept", "history"):
        return _clarified(state, event)
    match event.choice:
        case "continue":
            return _continued(state, event)
        case "accept":
            return _accepted(state, event)
        case "history":
            return replace(state, asked=state.asked + 1)
        case "revise":
            return _revised(state, event)
        case _:
            raise InvalidTransition(state.phase, "Answered", f"{event.choice!r} is not one of the options")


def _clarified(state: Quality, event: Answered) -> Quality:
    return enter(
        replace(state, answers=(*state.answers, reply(state.phase, state.question, event)), question=""), Phase.FIX
    )


def _continued(state: Quality, event: Answered) -> Quality:
    """Grants, never resets: the reviews go on from where they are."""
    if event.count < 0:
        raise InvalidTransition(state.phase, "Answered", "continue needs a positive number")
    more = event.count or CONTINUE_BY_DEFAULT
    told = (*state.answers, event.text) if event.text.strip() else state.answers
    allowance = granted_iterations(len(state.rounds), state.allowance, more)
    return fix_or_review(replace(state, allowance=allowance, reasons=(), answers=told))


def _accepted(state: Quality, event: Answered) -> Quality:
    if best_round(state.rounds) is None:
        raise InvalidTransition(state.phase, "Answered", "no review gave a verdict, so there is nothing to accept")
    return landed_or_done(replace(state, accepted=True, merge_accepted=event.merge))


def _revised(state: Quality, event: Answered) -> Quality:
    """The one thing that starts a count anew: new guidance, with a reason, by a person."""
    if not event.text.strip():
        raise InvalidTransition(state.phase, "Answered", "revise needs the new guidance as text")
    allowance = len(state.rounds) + state.plan.limits.max_attempts
    told = (*state.answers, event.text)
    return fix_or_review(replace(state, allowance=allowance, since=state.number + 1, reasons=(), answers=told))


def fix_or_review(state: Quality) -> Quality:
    """A fix where a review said what to fix; where none gave a verdict, another review."""
    known = state.rounds[-1].judged and unresolved(state.ledger, state.plan.gate)
    return enter(state, Phase.FIX) if known else next_review(state)
