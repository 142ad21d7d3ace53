"""What a ticket session wants done next: a pure function of its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import (
    Action,
    Announce,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Integrate,
    RunAgent,
    RunChecks,
    Stop,
    WaitUntil,
)
from loopwright.kernel.gates import PROTECTED, gate_key
from loopwright.kernel.model import Brief, Cleanup, Ending, Finding, Key, Outcome
from loopwright.loops.tickets.asking import clarification, escalation
from loopwright.loops.tickets.history import feedback, in_a_line
from loopwright.loops.tickets.state import (
    JUDGE,
    Criterion,
    Phase,
    Tickets,
    best_ticket,
    criteria_in_force,
    criteria_of,
    gate_is_open,
    in_focus,
    ticket_id,
)


def decide(state: Tickets) -> tuple[Action, ...]:
    """The phase's own action, or all critics at once; an open gate beside it."""
    if state.phase is Phase.CRITIQUE:
        main: tuple[Action, ...] = tuple(_critic(state, index) for index in waiting_seats(state))
    else:
        main = (_BY_PHASE[state.phase](state),)
        if state.until is not None:
            main = (_wait(main[0], state.until),)
    if gate_is_open(state) and not isinstance(main[0], AwaitGate | Stop | CleanUp | Integrate):
        return (*main, _gate(state))
    return main


def waiting_seats(state: Tickets) -> tuple[int, ...]:
    return tuple(index for index, seat in enumerate(state.seats) if seat.critique is None)


def _wait(action: Action, until: float) -> WaitUntil:
    return WaitUntil(key=action.key.waiting(), when=until, why="the agent is not available before then")


def _brief(state: Tickets, criteria: tuple[Criterion, ...]) -> Brief:
    """What every role is told: the task, and what a person said about it."""
    plan = state.plan
    return Brief(
        task="\n\n".join(part for part in (plan.title, plan.what, plan.context) if part),
        attempt=state.ticket.number,
        limit=state.allowance,
        criteria=tuple(f"{criterion.id}: {criterion.text}" for criterion in criteria),
        answers=state.answers,
        base=plan.base,
        candidate=state.commit,
        story=ticket_id(plan.session, state.ticket.number),
    )


def _create(state: Tickets) -> RunAgent:
    """What is open, lowest score first, with the history and what a person attached."""
    brief = _brief(state, criteria_of(state))
    attached = tuple(text for ticket in (*state.past, state.ticket) for text in ticket.guidance)
    brief = replace(
        brief,
        repair=state.repair,
        findings=_open_before(state),
        history=tuple(in_a_line(state.plan.session, ticket) for ticket in state.past),
        answers=(*brief.answers, *state.refusals, *attached),
        feedback=feedback(state),
    )
    return RunAgent(
        key=_key(state, "create"),
        role="creator",
        brief=brief,
        start=state.commit,
        writes=True,
        agent=dict(state.cast).get("creator", ""),
        why=f"ticket {state.ticket.number}: {state.ticket.move}" if state.past else "the ticket is new",
    )


def _open_before(state: Tickets) -> tuple[Finding, ...]:
    return in_focus(state, state.past[-1].findings) if state.past else ()


def _critic(state: Tickets, index: int) -> RunAgent | WaitUntil:
    """What was open before is to be checked again; what the creator says about its work is not told."""
    seat = state.seats[index]
    action = RunAgent(
        key=seat_key(state, index),
        role=seat.role,
        brief=replace(_brief(state, criteria_in_force(state)), repair=seat.repair, findings=_open_before(state)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        agent=seat.agent,
        why="critics look before the judge decides",
    )
    return action if seat.until is None else _wait(action, seat.until)


def seat_key(state: Tickets, index: int) -> Key:
    return Key("critique", state.ticket.number, part=str(index + 1), tries=state.seats[index].tries)


def seat_of(key: Key) -> int:
    """Which critic a key belongs to; a key that waits belongs to the one it waits for."""
    return int(key.part) - 1


def _judge(state: Tickets) -> RunAgent:
    brief = _brief(state, criteria_in_force(state))
    return RunAgent(
        key=_key(state, JUDGE),
        role=JUDGE,
        brief=replace(brief, repair=state.repair, findings=in_focus(state, state.ticket.findings)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        agent=dict(state.cast).get(JUDGE, ""),
        why="a judge is named: it may add aspects and guidance, and cannot overturn a check",
    )


def _checkpoint(state: Tickets) -> Checkpoint:
    return Checkpoint(
        key=Key("checkpoint", state.ticket.number),
        label=str(state.ticket.number),
        parent=state.commit,
        base=state.plan.base,
        why="every ticket's work is kept",
    )


def _checks(state: Tickets) -> RunChecks:
    return RunChecks(
        key=_key(state, "checks"),
        commit=state.commit,
        base=state.plan.base,
        approved=state.approved,
        why="the engine's own judgement: tests, build and coverage decide",
    )


def _verdict(state: Tickets) -> Announce:
    ticket = state.ticket
    against = "; ".join(rule.line for rule in ticket.rules if rule.is_against)
    return Announce(
        key=_key(state, "verdict"),
        text=f"{ticket.decision}: {ticket_id(state.plan.session, ticket.number)}",
        why=f"accuracy {ticket.accuracy:.2f}, score {ticket.score:.2f}" + (f"; {against}" if against else ""),
    )


def _gate(state: Tickets) -> AwaitGate:
    return AwaitGate(
        key=gate_key(PROTECTED, state.evidence),
        gate=PROTECTED,
        commit=state.commit,
        evidence=state.evidence,
        because=state.protected,
        why="protected files were changed; until a person approves, the base versions run",
    )


def _land(state: Tickets) -> Integrate:
    best = best_ticket(state.past)
    taken = best if state.accepted and best else state.ticket
    merge = state.merge_accepted if state.accepted else state.plan.merge
    return Integrate(
        key=Key("land", state.ticket.number, part=str(state.asked), tries=state.tries),
        commit=taken.commit,
        base=state.plan.base,
        message=state.plan.title,
        branch=state.plan.branch,
        target=state.plan.target if merge else "",
        verified=not state.accepted,
        approved=state.approved,
        why=f"{'accepted by a person' if state.accepted else taken.decision}:"
        f" {ticket_id(state.plan.session, taken.number)}",
    )


def _clean_up(state: Tickets) -> CleanUp:
    choice = state.cancel or Cleanup.KEEP_EVERYTHING
    return CleanUp(key=Key("clean-up"), choice=choice, base=state.plan.base, why="the session was cancelled")


def _stop(state: Tickets) -> Stop:
    outcome = state.outcome or Outcome(ending=Ending.FAILED)
    return Stop(outcome=outcome, why=outcome.note or outcome.ending.value)


def _key(state: Tickets, verb: str) -> Key:
    return Key(verb, state.ticket.number, tries=state.tries)


_BY_PHASE: dict[Phase, Callable[[Tickets], Action]] = {
    Phase.CREATE: _create,
    Phase.CHECKPOINT: _checkpoint,
    Phase.CHECK: _checks,
    Phase.JUDGE: _judge,
    Phase.VERDICT: _verdict,
    Phase.GATE: _gate,
    Phase.LAND: _land,
    Phase.CLARIFY: clarification,
    Phase.ESCALATED: escalation,
    Phase.CLEAN_UP: _clean_up,
    Phase.DONE: _stop,
}
