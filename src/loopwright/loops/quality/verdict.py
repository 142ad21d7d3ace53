"""The gate rule and the rules by which a review converges: from a reviewer's report to a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.kernel.findings import identify, normalise
from loopwright.kernel.ledger import Entry, Standing, record
from loopwright.kernel.model import AgentReport, Finding, Severity, Verdict
from loopwright.kernel.touched import is_touched
from loopwright.loops.quality.state import ENGINE, LANDING, Deferred, Depth, QualityState, counted, open_findings

RULES = (
    "A finding without evidence or without guidance is no finding.",
    "What was there before counts while it is there, however reworded; gone, it is resolved; back, it weighs more.",
    "New findings must weigh more from round to round, unless a fix touched what they are about, or they are critical.",
    "What was resolved does not come back under another name, unless it is critical: then it is reopened.",
    "What a person has accepted does not count, unless it has become worse.",
    "Any critical finding blocks, and more high ones than the threshold. A reviewer's own no is stricter, never laxer.",
    "What was put off counts after all where the reviewer does not pass it, or where too many high ones would be left.",
)
_ACCEPTED = "a person has accepted it"
_FLOORS = (Severity.LOW, Severity.HIGH, Severity.CRITICAL)  # by the reviews before; the last one stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a review comes to. `state` has the ledger after it."""

    state: QualityState
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    counting: tuple[Finding, ...]
    deferred: tuple[Deferred, ...]


def counts_from(state: QualityState) -> Severity:
    """The least severity at which a new finding counts in this round. It rises only with reviews that were made."""
    before = sum(each.reviewed for each in state.rounds if state.since <= each.number < state.number)
    return _FLOORS[min(before, len(_FLOORS) - 1)]


def usable(report: AgentReport) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """The findings that say what shows them and what to do, and in words those that do not."""
    kept, dropped = [], []
    for finding in report.findings:
        lacks = [name for name in ("evidence", "guidance") if not getattr(finding, name).strip()]
        if lacks:
            dropped.append(f"{finding.issue}: no {' and no '.join(lacks)}")
        else:
            kept.append(identify(finding))
    return tuple(kept), tuple(dropped)


def judge(state: QualityState, report: AgentReport, found: tuple[Finding, ...]) -> Judgement:
    """The verdict on what a reviewer found and could show."""
    split = _sorted(state, found)
    first = _judged(state, report, split)
    if state.plan.firm and first.verdict is Verdict.PASS and _hides_a_no(first.state, report, split):
        return _judged(state, report, _counted_after_all(first.state, split))
    return first


def rests_on(state: QualityState, report: AgentReport, found: tuple[Finding, ...]) -> bool:
    """Whether a reviewer's no rests on what it found and could show, and not only on the rest."""
    return _judged(state, report, _sorted(state, found)).verdict is Verdict.FAIL


def _judged(state: QualityState, report: AgentReport, split: Sorted) -> Judgement:
    state = _after(state, split)
    held = open_findings(state)
    why = blocking(state, held)
    if not why and report.verdict is not Verdict.PASS and held:
        why = "the reviewer does not pass it"
    if why:
        return Judgement(state=state, verdict=Verdict.FAIL, why=f"{tally(held)}; {why}")
    return Judgement(state=state, verdict=Verdict.PASS, why=tally(held) + _put_off(split.deferred))


def _after(state: QualityState, split: Sorted) -> QualityState:
    ledger = record(state.ledger, state.plan.gate, split.counting, state.number)
    for source in (ENGINE, LANDING):  # settled by a real verdict, and by a landing that is tried anew
        ledger = record(ledger, source, (), state.number)
    counting = {finding.fingerprint for finding in split.counting}
    deferred = tuple(each for each in state.deferred if each.finding.fingerprint not in counting)
    return replace(state, ledger=ledger, deferred=_merged(deferred, split.deferred))


def _hides_a_no(after: QualityState, report: AgentReport, split: Sorted) -> bool:
    """Whether a pass would rest on what was put off: the reviewer says no, or too many high ones would be left."""
    if report.verdict is not Verdict.PASS and any(each.why != _ACCEPTED for each in split.deferred):
        return True
    later = put_off(after)
    return bool(later) and counted(open_findings(after) + later, Severity.HIGH) > after.plan.limits.p1_threshold


def put_off(state: QualityState) -> tuple[Finding, ...]:
    """What was found and did not count, but for what a person has accepted."""
    return tuple(each.finding for each in state.deferred if each.why != _ACCEPTED)


def _counted_after_all(after: QualityState, split: Sorted) -> Sorted:
    by_person = tuple(each for each in split.deferred if each.why == _ACCEPTED)
    return Sorted(counting=split.counting + put_off(after), deferred=by_person)


def blocking(state: QualityState, held: tuple[Finding, ...]) -> str:
    """Which part of the gate rule blocks, or nothing."""
    most = state.plan.limits.p1_threshold
    if counted(held, Severity.CRITICAL):
        return "any critical finding blocks"
    if counted(held, Severity.HIGH) > most:
        return f"more than {most} high findings block"
    return ""


def tally(held: tuple[Finding, ...]) -> str:
    counts = [f"{counted(held, severity)} {severity.value}" for severity in Severity if counted(held, severity)]
    return ", ".join(counts) or "no findings"


def _put_off(deferred: tuple[Deferred, ...]) -> str:
    return f"; {len(deferred)} deferred" if deferred else ""


def _sorted(state: QualityState, found: tuple[Finding, ...]) -> Sorted:
    named = {finding.fingerprint for finding in found}
    known = {entry.finding.fingerprint for entry in _own(state)}
    unnamed = [entry for entry in _own(state) if entry.finding.fingerprint not in named]
    unnamed.sort(key=lambda entry: entry.standing is Standing.RESOLVED)
    counting: list[Finding] = []
    deferred: list[Deferred] = []
    for finding in (_weighed(state, each) for each in found):
        if finding.fingerprint in known:
            counting.append(finding)
            continue
        old = next((entry for entry in unnamed if _is_renamed(entry, finding)), None)
        if why := _put_off_because(state, finding, old):
            deferred.append(Deferred(finding=finding, round=state.number, why=why))
        elif old is None:
            counting.append(finding)
        else:
            unnamed.remove(old)  # one finding goes on under one other name, so that three do not become one
            counting.append(replace(finding, fingerprint=old.finding.fingerprint))
    return Sorted(counting=tuple(counting), deferred=tuple(deferred))


def _put_off_because(state: QualityState, finding: Finding, old: Entry | None) -> str:
    if _is_accepted(state, finding):
        return _ACCEPTED
    if finding.severity is Severity.CRITICAL or (old is not None and old.standing is not Standing.RESOLVED):
        return ""
    if state.plan.firm and is_touched(state.touched, finding.file or state.plan.artifact, finding.line):
        return ""
    if old is not None:
        return f"it was resolved before (as {old.finding.fingerprint}) and does not come back under another name"
    least = counts_from(state)
    if finding.severity.rank > least.rank:
        return f"new in round {state.number}, where new findings count from {least.value} up"
    return ""


def _own(state: QualityState) -> tuple[Entry, ...]:
    return tuple(entry for entry in state.ledger if entry.source == state.plan.gate)


def _is_renamed(entry: Entry, finding: Finding) -> bool:
    """Whether `finding` is that of the entry, which the review does not name itself, under another name."""
    if _same_matter(entry.finding, finding):
        return True
    same_rule = bool(finding.rule) and (entry.finding.rule, entry.finding.file) == (finding.rule, finding.file)
    return same_rule and entry.standing is not Standing.RESOLVED


def _same_matter(one: Finding, other: Finding) -> bool:
    """The same words about the same file, or the same evidence in it, whatever the rule is called."""
    if one.file != other.file:
        return False
    same_issue = normalise(one.issue) == normalise(other.issue)
    return same_issue or (bool(one.evidence.strip()) and normalise(one.evidence) == normalise(other.evidence))


def _is_accepted(state: QualityState, finding: Finding) -> bool:
    taken = (known.finding for known in state.plan.known if known.accepted and known.gate == state.plan.gate)
    return any(_is_same(each, finding) and each.severity.rank <= finding.severity.rank for each in taken)


def _is_same(one: Finding, other: Finding) -> bool:
    return one.fingerprint == other.fingerprint or _same_matter(one, other)


def _weighed(state: QualityState, finding: Finding) -> Finding:
    """A comprehensive review that meets a grave finding which an earlier review left unresolved calls it critical."""
    if state.plan.depth is not Depth.COMPREHENSIVE:
        return finding
    left = (k.finding for k in state.plan.known if not (k.resolved or k.accepted or k.elsewhere))
    grave = (each for each in left if each.severity in (Severity.CRITICAL, Severity.HIGH))
    if any(_is_same(each, finding) for each in grave):
        return replace(finding, severity=Severity.CRITICAL)
    return finding


def _merged(held: tuple[Deferred, ...], more: tuple[Deferred, ...]) -> tuple[Deferred, ...]:
    marks = {each.finding.fingerprint for each in held}
    return held + tuple(each for each in more if each.finding.fingerprint not in marks)
