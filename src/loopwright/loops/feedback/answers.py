"""What a person's answer does: continue, accept, history, cancel, revise; or the answer to a question."""

from __future__ import annotations

from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import Answered
from loopwright.kernel.limits import Allowance, grant
from loopwright.kernel.model import Cleanup
from loopwright.kernel.said import reply
from loopwright.loops.feedback.decide import CONTINUE_BY_DEFAULT
from loopwright.loops.feedback.state import Feedback, Phase, best_iteration, counts, with_open_iteration


def answered(state: Feedback, event: Answered) -> Feedback:
    if event.choice == "cancel":
        return replace(state, phase=Phase.CLEAN_UP, cancel=Cleanup.KEEP_EVERYTHING)
    if state.phase is Phase.CLARIFY:
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


def _clarified(state: Feedback, event: Answered) -> Feedback:
    answers = (*state.answers, reply(state.phase, state.question, event))
    return replace(with_open_iteration(state), answers=answers, question="")


def _continued(state: Feedback, event: Answered) -> Feedback:
    """Grants, never resets: the counts go on from where they are."""
    if event.count < 0:
        raise InvalidTransition(state.phase, "Answered", "continue needs a positive number")
    allowance = grant(state.allowance, counts(state), event.count or CONTINUE_BY_DEFAULT)
    told = (*state.answers, event.text) if event.text.strip() else state.answers
    return replace(with_open_iteration(state), allowance=allowance, reasons=(), answers=told)


def _accepted(state: Feedback, event: Answered) -> Feedback:
    if best_iteration(state.past) is None:
        raise InvalidTransition(state.phase, "Answered", "no attempt left anything to accept")
    return replace(state, phase=Phase.LAND, accepted=True, merge_accepted=event.merge)


def _revised(state: Feedback, event: Answered) -> Feedback:
    """The one thing that resets a counter: new guidance, with a reason, by a person."""
    if not event.text.strip():
        raise InvalidTransition(state.phase, "Answered", "revise needs the new guidance as text")
    used = len(state.past)
    full = Allowance.of(state.plan.limits)
    return replace(
        with_open_iteration(state),
        allowance=replace(full, iterations=used + full.iterations),
        review_failures=0,
        test_failures=0,
        ledger=tuple(replace(entry, streak=0) for entry in state.ledger),
        reasons=(),
        answers=(*state.answers, event.text),
    )
