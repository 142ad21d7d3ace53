"""`loop explain`: why the engine will do what it does next, with the numbers and rules it goes by."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopwright.app.loops import View
from loopwright.app.views.events import begun_in_words
from loopwright.app.views.evidence import evidence_of
from loopwright.app.views.status import LoopStatus, shown_attempt
from loopwright.kernel.actions import Action, Ask, AwaitGate, LoadArtifacts, RunAgent, RunLoop, WaitUntil
from loopwright.kernel.codec import SPREAD
from loopwright.kernel.evidence import describe, describe_decisions, describe_tests
from loopwright.kernel.ledger import Entry, Ledger, Standing
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, dollars, moment, told
from loopwright.ports.store import LoopRow

_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFinding:
    severity: Severity
    text: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The loop's status object; its counters and rules, what is open, and all of it as people read it."""

    status: LoopStatus = field(metadata=SPREAD)
    lines: tuple[str, ...]
    findings: tuple[OpenFinding, ...]
    explanation: str
    exhibit: str = ""  # what a person looks at before they answer


def explain(view: View, status: LoopStatus, exhibit: str = "") -> Explained:
    stand = view.standpoint
    return Explained(
        status=status,
        lines=stand.lines,
        findings=tuple(
            OpenFinding(severity=finding.severity, text=told(finding), fingerprint=finding.fingerprint)
            for finding in stand.findings
        ),
        explanation=render(view, status.status),
        exhibit=exhibit,
    )


def render(view: View, status: str) -> str:
    row, kind, stand = view.row, view.kind, view.standpoint
    actions = _to_decide(view, status) if view.is_over else view.wanted
    ledger: Ledger = getattr(view.now.state, "ledger", ())
    found = _findings(stand.findings, ledger, kind.words.counter)
    parts = [
        (f"{row.kind} loop {row.id}: {view.title}".rstrip(": "), [_where(view, status)]),
        ("Decision:", [one_line(line, 500) for line in kind.decision(view.now.state)]),
        ("Next:", [_action(action) for action in actions] or ["nothing"]),
        ("Held up:", [one_line(line, 500) for line in kind.held_up(view.now.state)] if actions else []),
        (kind.in_force, [one_line(line, 500) for line in stand.lines]),
        ("Rules:", list(kind.rules)),
        ("Open findings:", [kind.findings_elsewhere] if kind.findings_elsewhere else found),
        ("Evidence:", _evidence(view)),
        ("Budget:", [_budget(row)]),
    ]
    return "\n".join("\n".join([heading, *(f"  {line}" for line in lines)]) for heading, lines in parts if lines) + "\n"


def _to_decide(view: View, status: str) -> tuple[Action, ...]:
    """Return the gates of a loop that has ended without what is held back."""
    return tuple(each for each in view.wanted if isinstance(each, AwaitGate)) if status != "cancelled" else ()


def _evidence(view: View) -> list[str]:
    seen = evidence_of(view)
    if seen is None:
        return []
    told = (describe(seen), *describe_tests(seen), *describe_decisions(seen.decisions))
    return [one_line(line, 1_000) for line in told]


def _where(view: View, status: str) -> str:
    stand = view.standpoint
    of = f" of {stand.limit}" if stand.limit else ""
    how_far = f"{view.kind.words.counter} {shown_attempt(stand, view.row)}{of}"
    return f"{stand.state}, {how_far}, {status}"


def _action(action: Action) -> str:
    when = f" until {moment(action.when)}" if isinstance(action, WaitUntil) else ""
    why = f": {one_line(action.why, 500)}" if action.why else ""
    told = begun_in_words(type(action).__name__, _about(action))
    return f"{told}{when} ({one_line(str(action.key), 80)}){why}{_to_say(action)}"


def _to_say(action: Action) -> str:
    """Return what a person is asked, and the command that decides."""
    match action:
        case AwaitGate():
            return f"; decide with `loop approve {one_line(action.gate, 60)}@{action.evidence}` or `loop reject`"
        case Ask() if action.free_text:
            return f"; the question: {one_line(action.question, 1_000)}"
        case _:
            return ""


def _about(action: Action) -> str:
    match action:
        case RunAgent():
            return action.role
        case AwaitGate():
            return action.gate
        case RunLoop():
            return action.name or action.kind
        case LoadArtifacts():
            return ", ".join(action.paths)
        case _:
            return ""


def _findings(findings: tuple[Finding, ...], ledger: Ledger, noun: str) -> list[str]:
    if not findings:
        return ["none"]
    entries = {entry.finding.fingerprint: entry for entry in ledger if entry.standing is not Standing.RESOLVED}
    lines = []
    for finding in findings[:_SHOWN]:
        entry = entries.get(finding.fingerprint)
        standing = _standing(entry, noun) if entry else ""
        lines.append(f"[{finding.severity.value}{standing}] {told(finding)}")
    if len(findings) > _SHOWN:
        lines.append(f"and {counted(len(findings) - _SHOWN, 'other')}")
    return lines


def _standing(entry: Entry, noun: str) -> str:
    row = f", {entry.streak} in a row" if entry.streak > 1 else ""
    since = f"since {noun} {entry.first}" if entry.first else "since before this loop"
    return f" {entry.standing.value} {since}{row}"


def _budget(row: LoopRow) -> str:
    spent = f"{dollars(row.spent, estimated=row.estimated)} spent, {dollars(row.reserved)} reserved"
    if row.budget is None:
        return f"{spent}, no limit of its own"
    return f"{spent}, {dollars(max(0.0, row.budget - row.spent - row.reserved))} free of {dollars(row.budget)}"
