"""What comes after a ticket: the next one, by the policy of convergence, or the session's end."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.limits import granted_iterations
from loopwright.kernel.model import Commit, Ending, Outcome
from loopwright.loops.tickets.convergence import OTHER_AGENT, RETRY, SPLIT, next_move
from loopwright.loops.tickets.state import Tickets, best_ticket, opened, ticket_id


def reworked(state: Tickets) -> Tickets:
    """Another try, that goes about it as the policy says."""
    move = next_move(state.past, has_others=len(state.plan.creators) > 1)
    if move == RETRY:
        return opened(state)
    cast = _with_other_creator(state) if move == OTHER_AGENT else state.cast
    return opened(_from_the_best(replace(state, cast=cast)), move=move)


def next_group(state: Tickets) -> Tickets:
    """The next group of a split after an approval, with as many tickets as any session has."""
    focus, *later = state.groups
    allowance = granted_iterations(state.ticket.number, state.allowance, state.plan.limits.max)
    following = opened(replace(state, groups=tuple(later), allowance=allowance), move=SPLIT)
    return replace(following, ticket=replace(following.ticket, focus=focus))


def _from_the_best(state: Tickets) -> Tickets:
    """What was open at a gate is of another commit, unless that is the very one."""
    best = best_ticket(state.past)
    if best is None or best.commit == state.commit:
        return state
    return replace(state, commit=best.commit, protected=(), evidence="")


def _with_other_creator(state: Tickets) -> tuple[tuple[str, str], ...]:
    """The next of the creators, round and round."""
    names, chosen = state.plan.creators, dict(state.cast)
    now = chosen.get("creator", names[0])
    at = names.index(now) if now in names else -1
    return tuple({**chosen, "creator": names[(at + 1) % len(names)]}.items())


def ended(state: Tickets, ending: Ending, **facts: str) -> Outcome:
    last = state.past[-1] if state.past else None
    best = best_ticket(state.past)
    shown = best if ending is Ending.ACCEPTED and best else last
    line = f"{shown.decision}: {ticket_id(state.plan.session, shown.number)}" if shown else ""
    return Outcome(
        ending=ending,
        attempts=len(state.past),
        commit=Commit(facts.get("commit", "")),
        branch=facts.get("branch", ""),
        merged_into=facts.get("merged_into", ""),
        note=facts.get("note", "") or line,
        findings=() if ending is Ending.VERIFIED or shown is None else shown.findings,
        cleanup=state.cancel,
    )
