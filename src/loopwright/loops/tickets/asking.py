"""What a person is asked: a question of an agent's, or how to go on with a session that escalated."""

from __future__ import annotations

from loopwright.kernel.actions import Ask, Option
from loopwright.kernel.model import Key
from loopwright.loops.tickets.convergence import intervention, persistent_gaps
from loopwright.loops.tickets.history import in_a_line
from loopwright.loops.tickets.state import Tickets, best_ticket, ticket_id

# How each answer that only this loop has is typed, at a prompt too, and which text it needs.
_HOW = {
    "split": (
        'split --text "AC-1; AC-2"',
        "split AC-1; AC-2: these first, each group a ticket of its own",
        "the criteria to do first (AC-1; AC-2)",
    ),
    "examples": ('examples --text "what it should look like"', "examples TEXT: show what is wanted", "the guidance"),
    "reassign": (
        'reassign --text "creator=AGENT"',
        "reassign creator=AGENT, or critic+AGENT for a second critic",
        "ROLE=AGENT (or ROLE+AGENT, for a pair)",
    ),
}


def clarification(state: Tickets) -> Ask:
    return Ask(
        key=Key("clarify", state.asked),
        question=state.question,
        free_text=True,
        options=(Option(choice="answer", label="Answer the question"), Option(choice="cancel", label="Cancel")),
        why="CLARIFICATION NEEDED: the work is on hold until a person answers",
    )


def escalation(state: Tickets) -> Ask:
    """Why, every attempt in a line, the pattern in them, and what would most likely help."""
    advised, why = intervention(state.past, can_split=can_split(state))
    head = f"ESCALATE: {ticket_id(state.plan.session, state.ticket.number)}: {'; '.join(state.reasons)}."
    attempts = (in_a_line(state.plan.session, ticket) for ticket in state.past)
    ask = f"Recommended: {advised} ({why}). How should it go on?"
    return Ask(
        key=Key("escalation", state.asked),
        question="\n".join((head, *attempts, *_pattern(state), ask)),
        options=_options(state),
        findings=state.ticket.findings,
        why="; ".join(state.reasons),
    )


def can_split(state: Tickets) -> bool:
    return len(state.plan.criteria) > 1


def _pattern(state: Tickets) -> tuple[str, ...]:
    stubborn = ", ".join(f"{gap} (in {count} tickets)" for gap, count in persistent_gaps(state.past))
    return (f"Pattern: {state.past[-1].trend}; persistent gaps: {stubborn or 'none'}",) if state.past else ()


def _options(state: Tickets) -> tuple[Option, ...]:
    best = best_ticket(state.past)
    offered = (
        ("continue", "Continue with more tickets"),
        ("split", "Split: name the criteria to do first") if can_split(state) else None,
        ("examples", "Examples: attach guidance to a new ticket"),
        ("reassign", "Reassign: ROLE=AGENT, or ROLE+AGENT for a pair"),
        ("accept", f"Accept the best ticket ({ticket_id(state.plan.session, best.number)}) with what is known")
        if best
        else None,
        ("history", "Show all attempts"),
        ("revise", "Revise: give new guidance and start the count anew"),
        ("cancel", "Cancel"),
    )
    return tuple(_option(*each) for each in offered if each is not None)


def _option(choice: str, label: str) -> Option:
    how, prompt, needs = _HOW.get(choice, ("", "", ""))
    return Option(choice=choice, label=label, how=how, prompt=prompt, needs=needs)
