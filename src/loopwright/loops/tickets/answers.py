"""What a coordinator's answer does to a session that escalated: split, examples, reassign, and what every loop has."""

from __future__ import annotations

import re
from dataclasses import replace

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import Answered
from loopwright.kernel.limits import granted_iterations
from loopwright.kernel.model import Cleanup
from loopwright.kernel.said import reply
from loopwright.loops.tickets.asking import can_split
from loopwright.loops.tickets.convergence import EXAMPLES, REASSIGN, REVISE, SPLIT
from loopwright.loops.tickets.ending import reworked
from loopwright.loops.tickets.state import CRITIC, JUDGE, Phase, Tickets, best_ticket, criteria_of, opened

CONTINUE_BY_DEFAULT = 3
_REASSIGN = re.compile(r"(?P<role>[a-z][a-z0-9-]*)\s*(?P<how>[=+])\s*(?P<agent>[a-z0-9][a-z0-9-]*)")


def answered(state: Tickets, event: Answered) -> Tickets:
    if event.choice == "cancel":
        return replace(state, phase=Phase.CLEAN_UP, cancel=Cleanup.KEEP_EVERYTHING)
    if state.phase is Phase.CLARIFY:
        return _clarified(state, event)
    match event.choice:
        case "continue":
            return _continued(state, event)
        case "split":
            return _split(state, event)
        case "examples":
            return _with_examples(state, event)
        case "reassign":
            return _reassigned(state, event)
        case "accept":
            return _accepted(state, event)
        case "history":
            return replace(state, asked=state.asked + 1)
        case "revise":
            return _revised(state, event)
        case _:
            raise InvalidTransition(state.phase, "Answered", f"{event.choice!r} is not one of the options")


def _clarified(state: Tickets, event: Answered) -> Tickets:
    """The same ticket goes on where it was held."""
    answers = (*state.answers, reply(state.phase, state.question, event))
    return replace(state, phase=state.held, answers=answers, question="", tries=state.tries + 1)


def _continued(state: Tickets, event: Answered) -> Tickets:
    told = (*state.answers, event.text) if event.text.strip() else state.answers
    return reworked(_granted(replace(state, answers=told), event.count))


def _granted(state: Tickets, more: int) -> Tickets:
    """Grants, never resets: the numbers go on."""
    if more < 0:
        raise InvalidTransition(state.phase, "Answered", "the number of tickets to grant cannot be negative")
    allowance = granted_iterations(state.ticket.number, state.allowance, more or CONTINUE_BY_DEFAULT)
    return replace(state, allowance=allowance)


def _split(state: Tickets, event: Answered) -> Tickets:
    """The named criteria first, each line or semicolon a group; what is left of the rest comes last."""
    if not can_split(state):
        raise InvalidTransition(state.phase, "Answered", "there is only one criterion, or none: nothing to split by")
    groups = tuple(_ids(state, part) for part in re.split(r"[;\n]", event.text) if part.strip(", \t\r"))
    if not groups:
        raise InvalidTransition(state.phase, "Answered", "split needs the criteria as text, such as AC-1; AC-2, AC-3")
    named = [each for group in groups for each in group]
    twice = sorted({each for each in named if named.count(each) > 1})
    if twice:
        raise InvalidTransition(state.phase, "Answered", f"named twice: {', '.join(twice)}")
    rest = tuple(each for each in _to_do(state) if each not in named)
    first, *later = (*groups, rest) if rest else groups
    following = opened(replace(_granted(state, state.plan.limits.max), groups=tuple(later)), move=SPLIT)
    return replace(following, ticket=replace(following.ticket, focus=first))


def _to_do(state: Tickets) -> tuple[str, ...]:
    """What no approved ticket of an earlier split has been about."""
    later = [each for group in state.groups for each in group]
    own = [criterion.id for criterion in criteria_of(state)]
    return tuple(dict.fromkeys(own + later))


def _ids(state: Tickets, part: str) -> tuple[str, ...]:
    known = {criterion.id.casefold(): criterion.id for criterion in state.plan.criteria}
    words = [word for word in re.split(r"[,\s]+", part.strip()) if word]
    for word in words:
        if word.casefold() not in known:
            names = ", ".join(known.values())
            raise InvalidTransition(state.phase, "Answered", f"no criterion is called {word!r}; there are {names}")
    return tuple(known[word.casefold()] for word in words)


def _with_examples(state: Tickets, event: Answered) -> Tickets:
    if not event.text.strip():
        raise InvalidTransition(state.phase, "Answered", "examples needs the guidance as text")
    return opened(_granted(state, event.count), move=EXAMPLES, guidance=(event.text,))


def _reassigned(state: Tickets, event: Answered) -> Tickets:
    """Another agent for a role, or with `+` a second critic beside the first."""
    said = _REASSIGN.fullmatch(event.text.strip())
    critics = state.plan.critics or (CRITIC,)
    roles = ("creator", *critics, *((JUDGE,) if state.plan.judge else ()))
    if said is None or said["role"] not in roles:
        why = f"reassign needs ROLE=AGENT or ROLE+AGENT as text, such as creator=codex; roles are {', '.join(roles)}"
        raise InvalidTransition(state.phase, "Answered", why)
    if said["how"] == "+" and said["role"] != critics[0]:
        raise InvalidTransition(state.phase, "Answered", f"a pair is two critics: {critics[0]}+AGENT")
    state = _granted(state, event.count)
    if said["how"] == "+":
        return opened(replace(state, extra_critics=(*state.extra_critics, said["agent"])), move=REASSIGN)
    cast = {**dict(state.cast), said["role"]: said["agent"]}
    return opened(replace(state, cast=tuple(cast.items())), move=REASSIGN)


def _accepted(state: Tickets, event: Answered) -> Tickets:
    if best_ticket(state.past) is None:
        raise InvalidTransition(state.phase, "Answered", "no ticket left anything to accept")
    return replace(state, phase=Phase.LAND, accepted=True, merge_accepted=event.merge)


def _revised(state: Tickets, event: Answered) -> Tickets:
    """The one thing that starts the count anew: new guidance, with a reason, by a person."""
    if not event.text.strip():
        raise InvalidTransition(state.phase, "Answered", "revise needs the new guidance as text")
    allowance = state.ticket.number + state.plan.limits.max
    return opened(replace(state, allowance=allowance, answers=(*state.answers, event.text)), move=REVISE)
