"""`loop explain`: why the engine will do what it does next, with the numbers and rules it goes by."""

from __future__ import annotations

from loopwright.kernel.actions import Action, RunAgent, WaitUntil
from loopwright.kernel.ledger import Ledger, Standing
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Finding
from loopwright.ports.store import LoopRow
from loopwright.projections.quoting import one_line
from loopwright.projections.status import title
from loopwright.projections.wording import (
    ALL_TESTS_PASSING,
    NOT_COMPLIANT,
    PROMISE,
    SPEC_COMPLIANT,
    counted,
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
_RULES = {"feedback": (_COMPLIANCE, _TESTING, _COUNTING)}


def render(standpoint: Standpoint, actions: tuple[Action, ...], row: LoopRow, ledger: Ledger = ()) -> str:
    """`ledger` tells which findings are new, open or reopened, where the loop keeps one."""
    parts = [
        (f"{row.kind} loop {row.id}: {title(row)}".rstrip(": "), [_where(standpoint, row)]),
        ("Next:", [_action(action) for action in actions] or ["nothing"]),
        ("Counters:", list(standpoint.lines)),
        ("Rules:", list(_RULES.get(row.kind, ()))),
        ("Open findings:", _findings(standpoint.findings, ledger)),
        ("Budget:", [_budget(row)]),
    ]
    return "\n".join("\n".join([heading, *(f"  {line}" for line in lines)]) for heading, lines in parts if lines) + "\n"


def _where(standpoint: Standpoint, row: LoopRow) -> str:
    return f"{standpoint.state}, attempt {standpoint.attempt} of {standpoint.limit}, {row.status}"


def _action(action: Action) -> str:
    who = f" {one_line(action.role, 60)}" if isinstance(action, RunAgent) else ""
    when = f" {moment(action.when)}" if isinstance(action, WaitUntil) else ""
    why = f": {one_line(action.why, 500)}" if action.why else ""
    return f"{type(action).__name__}{who}{when} ({one_line(action.key, 80)}){why}"


def _findings(findings: tuple[Finding, ...], ledger: Ledger) -> list[str]:
    if not findings:
        return ["none"]
    entries = {entry.finding.fingerprint: entry for entry in ledger if entry.standing is not Standing.RESOLVED}
    lines = []
    for finding in findings[:_SHOWN]:
        entry = entries.get(finding.fingerprint)
        row = f", {entry.streak} in a row" if entry and entry.streak > 1 else ""
        standing = f" {entry.standing.value} since attempt {entry.first}{row}" if entry else ""
        lines.append(f"[{finding.severity.value}{standing}] {told(finding)}")
    if len(findings) > _SHOWN:
        lines.append(f"and {counted(len(findings) - _SHOWN, 'other')}")
    return lines


def _budget(row: LoopRow) -> str:
    spent = f"{usd(row.spent)} spent, {usd(row.reserved)} reserved"
    if row.budget is None:
        return f"{spent}, no limit of its own"
    return f"{spent}, {usd(max(0.0, row.budget - row.spent - row.reserved))} free of {usd(row.budget)}"
