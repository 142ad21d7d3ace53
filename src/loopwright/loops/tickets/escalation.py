"""A session that escalated: what a coordinator is asked, and what the answers that only this loop has do."""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Option
from loopwright.kernel.events import Answered
from loopwright.kernel.limits import granted_iterations
from loopwright.loops import course as c
from loopwright.loops.floor import CONTINUE_BY_DEFAULT
from loopwright.loops.hooks import Escalation
from loopwright.loops.tickets.convergence import EXAMPLES, REASSIGN, SPLIT, in_a_line, intervention, persistent_gaps
from loopwright.loops.tickets.ending import open_now
from loopwright.loops.tickets.state import (
    AS_IT_WAS,
    CRITIC,
    JUDGE,
    TicketsState,
    best_to_take,
    can_split,
    criteria_of,
    criticised_by,
    opened,
    ticket_id,
)

# How each answer that only this loop has is typed, at a prompt too, and which text it needs.
_HOW = {
    SPLIT: (
        'split --text "AC-1; AC-2"',
        "split AC-1; AC-2: these first, each group a ticket of its own",
        "the criteria to do first (AC-1; AC-2)",
    ),
    EXAMPLES: ('examples --text "what it should look like"', "examples TEXT: show what is wanted", "the guidance"),
    REASSIGN: (
        'reassign --text "creator=AGENT"',
        "reassign creator=AGENT, or critic+AGENT for a second critic",
        "ROLE=AGENT (or ROLE+AGENT, for a pair)",
    ),
}
DONE = "done"
_REASSIGN = re.compile(r"(?P<role>[a-z][a-z0-9-]*)\s*(?P<how>[=+])\s*(?P<agent>[a-z0-9][a-z0-9-]*)")


def escalation(state: TicketsState) -> Escalation:
    """Why, every attempt in a line, the pattern in them, and what would most likely help."""
    why = "; ".join(state.course.reasons)
    advised, because = intervention(state.past, can_split=can_split(state))
    head = f"ESCALATE: {ticket_id(state.plan.session, state.ticket.number)}: {why}."
    attempts = (in_a_line(state.plan.session, ticket) for ticket in state.past)
    ask = f"Recommended: {advised} ({because}). How should it go on?"
    return Escalation(
        question="\n".join((head, *attempts, *_pattern(state), ask)),
        options=_options(state),
        findings=open_now(state),
        why=why,
    )


def _pattern(state: TicketsState) -> tuple[str, ...]:
    stubborn = ", ".join(f"{gap} (in {count} tickets)" for gap, count in persistent_gaps(state.past))
    return (f"Pattern: {state.past[-1].trend}; persistent gaps: {stubborn or 'none'}",) if state.past else ()


def _options(state: TicketsState) -> tuple[Option, ...]:
    offered = (
        ("continue", "Continue with more tickets"),
        (SPLIT, "Split: name the criteria to do first") if can_split(state) else None,
        (EXAMPLES, "Examples: attach guidance to a new ticket"),
        (REASSIGN, "Reassign: ROLE=AGENT, or ROLE+AGENT for a pair"),
        # Which one that is may change while the question stands: a person may reject what a ticket changes.
        ("accept", "Accept the best ticket with what is known") if best_to_take(state) else None,
        ("history", "Show all attempts"),
        ("revise", "Revise: give new guidance and start the count anew"),
        (DONE, "It was done already: judge it as it stands") if state.ticket.idle else None,
        ("cancel", "Cancel"),
    )
    return tuple(_option(*each) for each in offered if each is not None)


def _option(choice: str, label: str) -> Option:
    how, prompt, needs = _HOW.get(choice, ("", "", ""))
    return Option(choice=choice, label=label, how=how, prompt=prompt, needs=needs)


# --- what the answers do --------------------------------------------------------------------------


def answered(state: TicketsState, event: Answered) -> TicketsState:
    """Split, examples or reassign: each opens a new ticket, and grants more of them. Done: it is judged as it is."""
    by_choice = {SPLIT: _split, EXAMPLES: _with_examples, REASSIGN: _reassigned, DONE: _done_already}
    return by_choice[event.choice](state, event)


def _done_already(state: TicketsState, _: Answered) -> TicketsState:
    """A person says that the work is there: critics and checks judge the tree as it is."""
    return criticised_by(replace(state, ticket=replace(state.ticket, idle=False, files=AS_IT_WAS)))


def granted(state: TicketsState, more: int) -> TicketsState:
    """Grants, never resets: the numbers go on."""
    return replace(state, allowance=granted_iterations(state.ticket.number, state.allowance, more))


def _granted_by(state: TicketsState, event: Answered) -> TicketsState:
    if event.count < 0:
        raise _refusal(state, "the number of tickets to grant cannot be negative")
    return granted(state, event.count or CONTINUE_BY_DEFAULT)


def _split(state: TicketsState, event: Answered) -> TicketsState:
    """The named criteria first, each line or semicolon a group; what is left of the rest comes last."""
    groups = tuple(_ids(state, part) for part in re.split(r"[;\n]", event.text) if part.strip(", \t\r"))
    if not groups:
        raise _refusal(state, "split needs the criteria as text, such as AC-1; AC-2, AC-3")
    named = [each for group in groups for each in group]
    twice = sorted({each for each in named if named.count(each) > 1})
    if twice:
        raise _refusal(state, f"named twice: {', '.join(twice)}")
    rest = tuple(each for each in _to_do(state) if each not in named)
    first, *later = (*groups, rest) if rest else groups
    following = opened(replace(granted(state, state.plan.limits.max), groups=tuple(later)), move=SPLIT)
    return replace(following, ticket=replace(following.ticket, focus=first))


def _to_do(state: TicketsState) -> tuple[str, ...]:
    """What no approved ticket of an earlier split has been about."""
    later = [each for group in state.groups for each in group]
    own = [criterion.id for criterion in criteria_of(state)]
    return tuple(dict.fromkeys(own + later))


def _ids(state: TicketsState, part: str) -> tuple[str, ...]:
    known = {criterion.id.casefold(): criterion.id for criterion in state.plan.criteria}
    words = [word for word in re.split(r"[,\s]+", part.strip()) if word]
    for word in words:
        if word.casefold() not in known:
            raise _refusal(state, f"no criterion is called {word!r}; there are {', '.join(known.values())}")
    return tuple(known[word.casefold()] for word in words)


def _with_examples(state: TicketsState, event: Answered) -> TicketsState:
    if not event.text.strip():
        raise _refusal(state, "examples needs the guidance as text")
    return opened(_granted_by(state, event), move=EXAMPLES, guidance=(event.text,))


def _reassigned(state: TicketsState, event: Answered) -> TicketsState:
    """Another agent for a role, or with `+` a second critic beside the first."""
    said = _REASSIGN.fullmatch(event.text.strip())
    critics = state.plan.critics or (CRITIC,)
    roles = ("creator", *critics, *((JUDGE,) if state.plan.judge else ()))
    if said is None or said["role"] not in roles:
        why = f"reassign needs ROLE=AGENT or ROLE+AGENT as text, such as creator=codex; roles are {', '.join(roles)}"
        raise _refusal(state, why)
    if said["how"] == "+" and said["role"] != critics[0]:
        raise _refusal(state, f"a pair is two critics: {critics[0]}+AGENT")
    state = _granted_by(state, event)
    if said["how"] == "+":
        return opened(replace(state, extra_critics=(*state.extra_critics, said["agent"])), move=REASSIGN)
    cast = {**dict(state.cast), said["role"]: said["agent"]}
    return opened(replace(state, cast=tuple(cast.items())), move=REASSIGN)


def _refusal(state: TicketsState, why: str) -> InvalidTransition:
    return InvalidTransition(c.where(state), "Answered", why)
