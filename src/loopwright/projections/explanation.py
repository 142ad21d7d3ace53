"""`loop explain`: why the engine will do what it does next, with the numbers and rules it goes by."""

from __future__ import annotations

from loopwright.kernel.actions import Action, RunAgent, WaitUntil
from loopwright.kernel.ledger import Entry, Ledger, Standing
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Finding
from loopwright.loops.quality import judging
from loopwright.ports.store import LoopRow
from loopwright.projections.quoting import one_line
from loopwright.projections.status import title
from loopwright.projections.wording import (
    ALL_TESTS_PASSING,
    NOT_COMPLIANT,
    PROMISE,
    SPEC_COMPLIANT,
    counted,
    counter,
    moment,
    told,
    usd,
)

_SHOWN = 50
_COMPLIANCE = (
    f"A review that passes without a critical or high finding is {SPEC_COMPLIANT}; anything else is {NOT_COMPLIANT} and"
    " begins the next iteration without running the checks."
)
_TESTING = (
    f"Checks that all pass are {ALL_TESTS_PASSING}: with {SPEC_COMPLIANT} that is {PROMISE}. A failed check begins the"
    " next iteration."
)
_COUNTING = (
    "A counter that reaches its limit asks a person. Continuing grants more; only revising starts a counter anew."
)
_REVIEWING = (
    "An attempt is one review. No fix is asked for that no review would see: when the last review blocks, a person is"
    " asked. Continuing grants more reviews; only revising starts the count anew."
)
_ROUNDS = (
    "A round reviews all that are pending, then fixes all that are blocked. Those that passed leave it; those that only"
    " a person can help wait until nothing else goes on."
)
_TICKETS = (
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
_ELSEWHERE = "each artifact's are in its own loop, and while it is blocked in the file beside it"


def _rules(kind: str) -> tuple[str, ...]:
    match kind:
        case "feedback":
            return (_COMPLIANCE, _TESTING, _COUNTING)
        case "quality":
            return (*judging.RULES, _REVIEWING)
        case "batch":
            return (_ROUNDS, _REVIEWING)
        case "tickets":
            return _TICKETS
        case _:
            return ()


def render(standpoint: Standpoint, actions: tuple[Action, ...], row: LoopRow, ledger: Ledger = ()) -> str:
    """`ledger` tells which findings are new, open or reopened, where the loop keeps one."""
    parts = [
        (f"{row.kind} loop {row.id}: {title(row)}".rstrip(": "), [_where(standpoint, row)]),
        ("Next:", [_action(action) for action in actions] or ["nothing"]),
        ("Counters:" if row.kind == "feedback" else "In force:", [one_line(line, 500) for line in standpoint.lines]),
        ("Rules:", list(_rules(row.kind))),
        ("Open findings:", [_ELSEWHERE] if row.kind == "batch" else _findings(standpoint.findings, ledger, row.kind)),
        ("Budget:", [_budget(row)]),
    ]
    return "\n".join("\n".join([heading, *(f"  {line}" for line in lines)]) for heading, lines in parts if lines) + "\n"


def _where(standpoint: Standpoint, row: LoopRow) -> str:
    return f"{standpoint.state}, {counter(row.kind)} {standpoint.attempt} of {standpoint.limit}, {row.status}"


def _action(action: Action) -> str:
    who = f" {one_line(action.role, 60)}" if isinstance(action, RunAgent) else ""
    when = f" {moment(action.when)}" if isinstance(action, WaitUntil) else ""
    why = f": {one_line(action.why, 500)}" if action.why else ""
    return f"{type(action).__name__}{who}{when} ({one_line(str(action.key), 80)}){why}"


def _findings(findings: tuple[Finding, ...], ledger: Ledger, kind: str) -> list[str]:
    if not findings:
        return ["none"]
    entries = {entry.finding.fingerprint: entry for entry in ledger if entry.standing is not Standing.RESOLVED}
    lines = []
    for finding in findings[:_SHOWN]:
        entry = entries.get(finding.fingerprint)
        standing = _standing(entry, counter(kind)) if entry else ""
        lines.append(f"[{finding.severity.value}{standing}] {told(finding)}")
    if len(findings) > _SHOWN:
        lines.append(f"and {counted(len(findings) - _SHOWN, 'other')}")
    return lines


def _standing(entry: Entry, noun: str) -> str:
    row = f", {entry.streak} in a row" if entry.streak > 1 else ""
    since = f"since {noun} {entry.first}" if entry.first else "since before this loop"
    return f" {entry.standing.value} {since}{row}"


def _budget(row: LoopRow) -> str:
    spent = f"{usd(row.spent)} spent, {usd(row.reserved)} reserved"
    if row.budget is None:
        return f"{spent}, no limit of its own"
    return f"{spent}, {usd(max(0.0, row.budget - row.spent - row.reserved))} free of {usd(row.budget)}"
