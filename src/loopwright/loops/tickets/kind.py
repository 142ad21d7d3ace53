"""The ticket cycle as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.events import Answered
from loopwright.kernel.gates import PROTECTED, UNSHOWN, UNTESTED
from loopwright.loops.kind import Kind, Needs, Words, releases_nothing
from loopwright.loops.tickets import brief, closing, files, past
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.request import Tickets
from loopwright.loops.tickets.result import result
from loopwright.loops.tickets.state import TicketParams, TicketsState

_RULES = (
    (
        "A ticket is one try: a creator, then every critic at once, then the checks, then the decision. Another try is"
        " a new ticket, begun fresh, with the history and the structured feedback of those before."
    ),
    (
        "Automatic reject, any one: a critical issue is open; tests fail or do not run; the build fails; new code has"
        " no test coverage. Security concerns and missing tests are always critical."
    ),
    (
        "Strong reject, any one: several high issues, or one with significant risk; architecture violated; a security"
        " concern."
    ),
    (
        "Consider accept, all of them: no critical issue; high ones minor; tests pass with adequate coverage; a clean"
        " build. Without a reason to reject that is APPROVE."
    ),
    (
        "A judge agent may add aspects and reject; it cannot turn a failed check into a pass. Accuracy is told, it"
        " decides nothing."
    ),
    (
        "A ticket without progress is tried once more as it is; then a fresh start is made from the best ticket; then"
        " another agent creates; then only a person helps."
    ),
    (
        "The last ticket that may be written is not routed back: it is escalated. Continuing grants more tickets; only"
        " revising starts the count anew."
    ),
)


def _unresolved(state: TicketsState, _told: object) -> tuple[str, ...]:
    return closing.unresolved(state)


def _when_stopped(state: TicketsState, _told: object) -> tuple[str, ...]:
    """All of it: at a terminal the question itself tells a session's tickets."""
    return closing.so_far(state)


def _objection(said: Answered, agents: tuple[str, ...]) -> str:
    """Why a role cannot be given to whom a person names: only the configuration knows who there is."""
    name = said.text.replace("+", "=").partition("=")[2].strip() if said.choice == "reassign" else ""
    if not name or name in agents:
        return releases_nothing(said)
    return f"no agent called {name!r} is ready here; there are {', '.join(agents) or 'none'}"


KIND: Kind[TicketParams, TicketsState] = Kind(
    loop=TICKETS,
    limits="tickets",
    request=Tickets,
    porch=("loopwright.app.starts.tickets.from_python", "loopwright.app.starts.tickets.adoption"),
    words=Words(
        counter="ticket",
        roles={"create": "creator", "critique": "critic", "judge": "judge"},
        yes=("APPROVE",),
        no=("ROUTE_BACK", "ESCALATE"),
    ),
    starts="loop ticket new TITLE",
    needs=Needs(roles=("creator", "critic"), gates=(PROTECTED, UNTESTED, UNSHOWN)),
    title=lambda params: params.title,
    brief=brief.render,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=result,
    unresolved=_unresolved,
    told_when_stopped=_when_stopped,
    rules=_RULES,
    files=files.render,
    past=past.folded,
    notes=files.notes,
    tells_more=files.tells_more,
    objection=_objection,
    lane=closing.lane,
)
