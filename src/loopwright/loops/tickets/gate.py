"""The gate on protected files: it is open beside the work, and comes before the verdict that would approve."""

from __future__ import annotations

from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import GateDecided
from loopwright.kernel.gates import PROTECTED
from loopwright.loops.tickets.findings import protected_paths
from loopwright.loops.tickets.judging import decided, unheard
from loopwright.loops.tickets.state import Phase, Tickets, entered


def gate_decided(state: Tickets, event: GateDecided) -> Tickets:
    if event.gate != PROTECTED or event.evidence != state.evidence:
        raise InvalidTransition(state.phase, "GateDecided", "it was decided for other changes than the present ones")
    return _approved(state, event) if event.approved else _rejected(state, event)


def _approved(state: Tickets, event: GateDecided) -> Tickets:
    """What was checked without the approval ran the base versions: it is checked and judged once more."""
    state = replace(state, approved=(*state.approved, event.evidence))
    if state.phase in (Phase.CHECK, Phase.JUDGE, Phase.GATE):
        return entered(unheard(state), Phase.CHECK)
    if state.phase is Phase.CLARIFY and state.held is Phase.JUDGE:
        return replace(unheard(state), held=Phase.CHECK)
    return state


def _rejected(state: Tickets, event: GateDecided) -> Tickets:
    """A person's no keeps the ticket from being approved, and the creator is told."""
    told = f"A person rejected the change to {protected_paths(state)}: {event.reason or 'no reason given'}"
    state = replace(state, rejected=(*state.rejected, event.evidence), refusals=(*state.refusals, told))
    if state.phase is Phase.GATE:
        return decided(state)
    # A creator at work does not know it yet, and a brief never changes under its key: a new try.
    return replace(state, tries=state.tries + 1) if state.phase is Phase.CREATE else state
