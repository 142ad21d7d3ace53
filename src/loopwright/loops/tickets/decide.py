"""What a ticket session wants done next in its own phases, and what it lands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.kernel.actions import Action, Announce, Checkpoint, Integrate, RunAgent, RunChecks
from loopwright.kernel.model import Brief, Finding, Key, Tree
from loopwright.loops.accepting import ShownRed, known_on, with_shown
from loopwright.loops.course import told_apart
from loopwright.loops.parts import TaskFacts
from loopwright.loops.tickets.convergence import feedback, in_a_line
from loopwright.loops.tickets.findings import marks_of_checks
from loopwright.loops.tickets.state import (
    JUDGE,
    Criterion,
    Ticket,
    TicketFacts,
    TicketsPhase,
    TicketsState,
    about,
    base_of,
    best_to_take,
    criteria_in_force,
    criteria_of,
    in_focus,
    seat_key,
    ticket_id,
)


def work(state: TicketsState) -> tuple[Action, ...]:
    """All critics at once, else the phase's one step."""
    if state.phase is TicketsPhase.CRITIQUE:
        return tuple(_critic(state, at) for at, seat in enumerate(state.seats) if seat.critique is None)
    return (_BY_PHASE[state.phase](state),)


def _key(state: TicketsState, step: str) -> Key:
    return Key(step, state.ticket.number, tries=state.course.trial.tries)


def _brief(state: TicketsState, criteria: tuple[Criterion, ...]) -> Brief:
    """What every role is told: the task, and what a person said about it."""
    plan = state.plan
    return Brief(
        task="\n\n".join(part for part in (plan.title, plan.what, plan.context) if part),
        attempt=state.ticket.number,
        limit=state.allowance,
        criteria=tuple(f"{criterion.id}: {criterion.text}" for criterion in criteria),
        repair=state.course.trial.repair,
        answers=state.course.answers,
        base=base_of(state),
        candidate=state.commit,
        unapproved=state.course.unapproved,
        put_back=state.course.put_back,
        altered_tests=state.course.altered_tests,
        own=_facts(state),
    )


def _facts(state: TicketsState) -> TicketFacts:
    plan, part = state.plan, state.plan.part or TaskFacts()
    return TicketFacts(
        story=ticket_id(plan.session, state.ticket.number),
        commands=plan.also,
        task_id=part.task_id,
        wave=part.wave,
        request=part.request,
        must_not=part.must_not,
        advised=state.course.advised or part.advised,
        learned=part.learned,
    )


def _create(state: TicketsState) -> RunAgent:
    """What is open, lowest score first, with the history and what a person attached."""
    brief = _brief(state, criteria_of(state))
    attached = tuple(text for ticket in (*state.past, state.ticket) for text in ticket.guidance)
    brief = replace(
        brief,
        findings=told_apart(state.course, with_shown(_open_before(state), _red_of_start(state))),
        history=tuple(in_a_line(state.plan.session, ticket) for ticket in state.past),
        answers=(*brief.answers, *state.course.refusals, *attached),
        before=state.course.before,
        own=replace(brief.own, feedback=feedback(state)),
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


def _red_of_start(state: TicketsState) -> ShownRed | None:
    """What a person saw fail of what the creator goes on from."""
    return state.red if state.red and state.red.of == state.commit else None


def _open_before(state: TicketsState) -> tuple[Finding, ...]:
    return in_focus(state, state.past[-1].findings) if state.past else ()


def _to_look_at(state: TicketsState) -> tuple[Finding, ...]:
    """What critics found themselves: checks and the engine tell anew what they found, and nobody tells it twice."""
    told_anew = marks_of_checks(state.past[-1]) if state.past else frozenset()
    return tuple(f for f in _open_before(state) if f.fingerprint not in told_anew and f.category != "engine")


def _critic(state: TicketsState, at: int) -> RunAgent:
    """What was open before is to be checked again; what the creator says about its work is not told."""
    seat, trial = state.seats[at], state.course.trial_of(seat_key(at))
    return RunAgent(
        key=Key("critique", state.ticket.number, part=trial.part, tries=trial.tries),
        role=seat.role,
        brief=replace(_brief(state, criteria_in_force(state)), repair=trial.repair, findings=_to_look_at(state)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        agent=seat.agent,
        why="critics look before the judge decides",
    )


def _judge(state: TicketsState) -> RunAgent:
    return RunAgent(
        key=_key(state, JUDGE),
        role=JUDGE,
        brief=replace(_brief(state, criteria_in_force(state)), findings=in_focus(state, state.ticket.findings)),
        start=state.commit,
        writes=False,
        needs_verdict=True,
        agent=dict(state.cast).get(JUDGE, ""),
        why="a judge is named: it may add aspects and guidance, and cannot overturn a check",
    )


def _checkpoint(state: TicketsState) -> Checkpoint:
    number, tries = state.ticket.number, state.course.trial.tries
    again = state.ticket.idle  # the creator was asked once more in the same ticket
    return Checkpoint(
        key=Key("checkpoint", number, tries=tries if again else None),
        label=f"{number}-{tries}" if again else str(number),
        parent=state.commit,
        base=base_of(state),
        trust=state.plan.trust,
        why="every ticket's work is kept",
    )


def _checks(state: TicketsState) -> RunChecks:
    checks = RunChecks(
        key=_key(state, "checks"),
        commit=state.commit,
        base=base_of(state),
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        also=state.plan.also,
        after=state.plan.after.also_allowed(state.course.released),
        red=state.course.tests_to_pass,
        tries_new_tests=about(state) == "tests",
        why="the engine's own judgement: tests, build and coverage decide",
    )
    taken = best_to_take(state) if state.course.accepted else None
    return checks if taken is None else _as_accepted(state, checks, taken)


def _as_accepted(state: TicketsState, checks: RunChecks, taken: Ticket) -> RunChecks:
    return replace(
        checks,
        key=Key("checks", taken.number, part=str(state.course.asked), tries=state.course.trial.tries),
        commit=taken.commit,
        base=taken.onto or state.plan.base,
        red=(),
        why="what a person accepts has run the checks before it lands",
    )


def _verdict(state: TicketsState) -> Announce:
    ticket = state.ticket
    against = "; ".join(rule.line for rule in ticket.rules if rule.is_against)
    return Announce(
        key=_key(state, "verdict"),
        text=f"{ticket.decision}: {ticket_id(state.plan.session, ticket.number)}",
        why=f"accuracy {ticket.accuracy:.2f}, score {ticket.score:.2f}" + (f"; {against}" if against else ""),
    )


_BY_PHASE: dict[TicketsPhase, Callable[[TicketsState], Action]] = {
    TicketsPhase.CREATE: _create,
    TicketsPhase.CHECKPOINT: _checkpoint,
    TicketsPhase.CHECK: _checks,
    TicketsPhase.JUDGE: _judge,
    TicketsPhase.VERDICT: _verdict,
}


def land(state: TicketsState) -> Integrate:
    accepted, best = state.course.accepted, best_to_take(state)
    taken = best if accepted and best else state.ticket
    merge = state.course.merge_accepted if accepted else state.plan.merge
    as_known = accepted and not state.verified
    return Integrate(
        key=Key("land", state.ticket.number, part=str(state.course.asked), tries=state.course.trial.tries),
        commit=taken.commit,
        base=taken.onto or state.plan.base,
        message=state.plan.title,
        branch=state.plan.branch,
        target=state.plan.target if merge else "",
        verified=not as_known,
        known_on=known_on(state.red, taken.commit) if as_known and state.plan.accepts_checked else None,
        approved=state.course.approved,
        may_drop=state.course.may_drop,
        trust=state.plan.trust,
        also=state.plan.also,
        tree=Tree("") if as_known else state.course.lands,
        holds_back=bool(state.course.held) or (as_known and state.plan.trust.in_force),
        why=f"{'accepted by a person' if accepted else taken.decision}: {ticket_id(state.plan.session, taken.number)}",
    )
