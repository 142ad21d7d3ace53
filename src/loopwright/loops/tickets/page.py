"""`docs/loops/tickets.md`: the ticket cycle as its machine has it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import AgentReport, Commit, Verdict
from loopwright.loops import diagrams
from loopwright.loops.course import Station, at_work, where
from loopwright.loops.diagrams import Walk
from loopwright.loops.samples import BLOCKED_IT, FINDS, PASSED_IT, PASSES, RECORDED
from loopwright.loops.tickets import convergence
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Criterion, TicketParams, TicketsPhase, TicketsState
from loopwright.loops.tickets.thresholds import noes, rules

_MOST = 2  # tickets after which nothing new can happen under the limits used here
_SAMPLE = TicketParams(
    session="sample",
    title="sample",
    base=Commit("b"),
    criteria=tuple(Criterion(id=name, text=name) for name in ("AC-1", "AC-2")),
    limits=TicketLimits(max=_MOST),
    firm=True,
    accepts_checked=True,
)
_INTRO = (
    "A session is what is to be built, with its acceptance criteria. Each try at it is a ticket: a creator makes the"
    " change, every critic looks at it at once, the project's checks run, and the engine decides by thresholds: APPROVE"
    " lands it, ROUTE_BACK opens a new ticket with the history and structured feedback of those before, ESCALATE asks a"
    " person. Agents never loop, and each ticket is begun fresh."
)
_ABOUT_RULES = (
    "Every line is looked at on every ticket and stands in its file with whether it holds and why. Any line of the"
    " first two levels rejects; all lines of the last have to hold. No count turns a critic's no into an approval, and"
    " what is found against a criterion is as heavy as the criterion. A judge agent, where one is named, can only be"
    " stricter. Security concerns and missing tests for new logic count as critical, whatever a critic calls them."
)
_ABOUT_SCORES = (
    "Accuracy is the share of aspects that pass: each check, each criterion, each grave finding that maps to none, and"
    " what a judge agent adds. The score is the mean of how near each came: 45 % where 80 % were asked for is 0.56, 2"
    " of 6 is 0.33. Without a coverage check coverage is not judged and not counted. Both are told; neither decides."
)
_ABOUT_CONVERGENCE = (
    "Progress is told by failing checks and open critical and high findings, by nothing an agent says. After one ticket"
    " without progress the next is tried as usual; after two it is begun afresh from the best ticket so far; after"
    " three another creator has a go, if there is one. A person's answer starts the row anew."
)
_ABOUT_MOVES = (
    "Each line is what the machine did when it was tried. Several states are named where it depends on the tickets"
    " used, on whether the step was tried before, on whether a judge is named, or on who else is still at work. A gate"
    " that is decided beside the work moves only where that is shown."
)


def page() -> str:
    walk = tickets_walk()
    found = diagrams.explored(walk)
    parts = (
        "# The ticket cycle",
        diagrams.GENERATED,
        _INTRO,
        diagrams.diagram(walk, found.moves),
        "## Limits",
        diagrams.table(
            ("`[limits.tickets]`", "default", "means"),
            [("`max`", str(TicketLimits().max), "tickets of one session; the last is not routed back, but escalated")],
        ),
        "## The decision",
        _ABOUT_RULES,
        _rules_table(),
        _ABOUT_SCORES,
        "## Convergence",
        _ABOUT_CONVERGENCE,
        _advice_table(),
        "## Moves",
        _ABOUT_MOVES,
        diagrams.moves_table(found.moves),
        f"{diagrams.cancelled_in(walk, found)} {diagrams.ONE_OF_BOTH}",
    )
    return "\n\n".join(parts) + "\n"


def tickets_walk() -> Walk[TicketParams, TicketsState]:
    return Walk(
        loop=TICKETS,
        phases=(*TicketsPhase, *Station),
        starts=tuple(TICKETS.start(replace(_SAMPLE, judge=judge)) for judge in (False, True)),
        shape=_shape,
        within=lambda state: state.ticket.number <= _MOST + 1,
        when=_when,
        verdicts={PASSES: PASSED_IT, FINDS: BLOCKED_IT, "fail without a reason": AgentReport(verdict=Verdict.FAIL)},
    )


def _when(state: TicketsState, when: str) -> str:
    """What is put on record is the decision."""
    return f"{state.ticket.decision} {RECORDED}" if when == RECORDED else when


def _shape(state: TicketsState) -> tuple[object, ...]:
    ticket, last = state.ticket, state.past[-1] if state.past else None
    course = state.course
    waits = tuple(seat.critique is None for seat in state.seats)
    tried = tuple((trial.respawned, trial.repaired, trial.held, trial.until is None) for trial in course.trials)
    return (
        (where(state), state.phase if course.station is Station.CLARIFY else None, state.plan.judge),
        (min(ticket.number, _MOST), state.allowance > ticket.number),
        bool(last and last.commit and last.files),
        (ticket.decision, bool(ticket.files), any(each.findings for each in ticket.critiques), ticket.idle),
        (waits, tried) if at_work(state, *TicketsPhase) else (),
        bool(course.open_gates),
        (bool(state.groups), course.accepted, course.cancel is None, state.red is None),
    )


def _rules_table() -> str:
    """Every line there is, with a decision of nothing at all: only the names count."""
    judged = rules((), ()) + noes((), ())
    return diagrams.table(("level", "line"), [(rule.level, rule.name) for rule in judged])


def _advice_table() -> str:
    rows = [
        (convergence.SPLIT, "three or more requirements fail again and again, or more than three at once"),
        (convergence.REASSIGN, "what was fixed comes back; or nothing improves and no single gap explains it"),
        (convergence.EXAMPLES, "one requirement failed in at least half of the tickets"),
        ("continue", "it is improving, or too little was tried to tell"),
    ]
    return diagrams.table(("an escalation recommends", "when, the first that fits"), rows)
