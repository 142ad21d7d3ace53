"""`handoff.yml`: how far a story is, and every finding of every review of it, as plain data.

Other tools read and write the same file, so whatever they put there is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_COMMIT, Commit, Finding, Severity
from loopwright.kernel.shapes import Problem
from loopwright.loops.kind import Data, LandedPart
from loopwright.loops.quality.handoff_rules import HANDOFF, LETTERS, PHASES, SEVERITIES, TIERS
from loopwright.loops.quality.state import Known

USUAL_TIER = "small"  # of an artifact that is no story and has none of its own
_PHASE_OF = {"plan": "plan", "test": "tests", "code": "code", "quality": "quality"}  # by gate
# A phase is not over while the data says this of it: (where, what it says, whether it holds for a trivial story too).
_DENIED = {
    "plan": (("plan_summary", "test_plan", "test_count"), 0, False),
    "tests": (("test_summary", "all_tests_red"), False, False),
    "code": (("code_summary", "all_tests_green"), False, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Persisted:
    """A finding as a review leaves it."""

    finding: Finding
    resolved: bool = False
    resolved_in: Commit = NO_COMMIT  # where it is gone, if that is not where the review began
    deferred: bool = False  # found too late to count
    accepted: bool = False  # a person has taken it as debt


# Words


def seed_severity(severity: Severity) -> str:
    """`P0` … `P3`."""
    return SEVERITIES[severity.rank]


def severity_of(word: str) -> Severity:
    return list(Severity)[SEVERITIES.index(word)]


def letter(dimension: str) -> str:
    """A dimension is one of the known letters in these files, or nothing."""
    return dimension.upper() if dimension.upper() in LETTERS else ""


# Reading


def initial(story: str, tier: str = USUAL_TIER) -> Data:
    """The file of a story that nothing has happened to."""
    return {
        "story_id": story,
        "tier": tier if tier in TIERS else USUAL_TIER,
        "current_phase": "pending",
        "completed_phases": [],
        "important_decisions": [],
        "quality_findings": [],
        "memory_captured": False,
    }


def problems(data: object) -> tuple[Problem, ...]:
    """The first place where it is not what it has to be; if it is that, where it contradicts itself."""
    held = HANDOFF.read(data)
    return (held,) if isinstance(held, Problem) else tuple(_contradictions(cast(Data, held)))


def known(data: Data, is_landed: Callable[[Commit], bool] = lambda _commit: False) -> tuple[Known, ...]:
    """What a later review is told: a fix that is not in what it looks at has resolved nothing there.

    Takes data without problems, as does everything below.
    """
    return tuple(_known(entry, is_landed) for entry in _entries(data))


def _known(entry: Mapping[str, object], is_landed: Callable[[Commit], bool]) -> Known:
    gone_in = Commit(_text(entry, "resolved_in"))
    here = not gone_in or is_landed(gone_in)
    return Known(
        finding=finding_of(entry),
        gate=_text(entry, "gate"),
        resolved=entry.get("resolved") is True and here,
        accepted=entry.get("accepted") is True,
        elsewhere=not here,
    )


def finding_of(entry: Mapping[str, object]) -> Finding:
    """With the identity it was written with; one that another tool wrote gets that of its words."""
    line = entry.get("line")
    return identify(
        Finding(
            severity=severity_of(_text(entry, "severity")),
            issue=_text(entry, "issue"),
            rule=_text(entry, "check_id"),
            file=_text(entry, "file"),
            line=line if isinstance(line, int) else 0,
            evidence=_text(entry, "evidence"),
            guidance=_text(entry, "guidance"),
            dimension=_text(entry, "dimension"),
            category=_text(entry, "category"),
            fingerprint=_text(entry, "id"),
        )
    )


def _contradictions(data: Data) -> Iterator[Problem]:
    completed, skipped = _list(data, "completed_phases"), _list(data, "skipped_phases")
    for index, phase in enumerate(skipped):
        if phase not in completed:
            yield Problem(f"{phase} is skipped, so completed_phases has to list it too", ("skipped_phases", index))
    for phase, (path, says_so, _) in _DENIED.items():
        if phase in completed and phase not in skipped and _is_denied(data, phase):
            yield Problem(f"is {str(says_so).lower()}, yet completed_phases has {phase}", path)
    if data["current_phase"] == "complete":
        yield from _unfinished(data)


def _unfinished(data: Data) -> Iterator[Problem]:
    """Why a story is not complete, whatever the thresholds are."""
    if data.get("memory_captured") is not True:
        yield Problem("has to be true when current_phase is complete", ("memory_captured",))
    for index, entry in enumerate(_entries(data)):
        if _is_open(entry, Severity.CRITICAL):
            yield Problem("a P0 is unresolved, so current_phase cannot be complete", ("quality_findings", index))


def _is_denied(data: Data, phase: str) -> bool:
    if phase not in _DENIED:
        return False
    path, says_so, of_trivial = _DENIED[phase]
    value: object = data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value == says_so and (of_trivial or data.get("tier") != "trivial")


# Changing


def with_review(data: Data, *, gate: str, findings: tuple[Persisted, ...], passed: bool, p1_threshold: int = 2) -> Data:
    """The data after a review at `gate`: its findings, and for a gate of the pipeline the phase the story is in."""
    after = {**data, "quality_findings": _merged(_entries(data), gate, findings)}
    phase = _PHASE_OF.get(gate)
    if phase and passed and not _is_denied(after, phase):
        after = _with_passed(after, phase, p1_threshold)
    elif phase:
        after["current_phase"] = phase
    if after["current_phase"] == "complete" and any(_unfinished(after)):
        after["current_phase"] = "quality"
    return after


def with_landed(data: Data, *, gate: str, part: LandedPart, p1_threshold: int = 2) -> Data:
    """The data after a parent has landed a review's fixes: what is gone with them, and what is not yet."""
    gone, waits = ({each.fingerprint for each in found} for found in (part.mended, part.waiting))
    entries = [_moved(entry, part) if entry.get("gate") == gate else entry for entry in _entries(data)]
    data = {**data, "quality_findings": entries}
    told = (finding_of(entry) for entry in entries if entry.get("gate") == gate)
    findings = tuple(_persisted(each, part, gone) for each in told if each.fingerprint in gone | waits)
    if part.passed:
        return with_review(data, gate=gate, findings=findings, passed=True, p1_threshold=p1_threshold)
    return {**data, "quality_findings": _merged(_entries(data), gate, findings)}


def _moved(entry: Data, part: LandedPart) -> Data:
    """What was gone in the part's own commit is gone in the one that has landed."""
    is_there = part.made and entry.get("resolved_in") == str(part.made)
    return {**entry, "resolved_in": str(part.commit)} if is_there else entry


def _persisted(finding: Finding, part: LandedPart, gone: set[str]) -> Persisted:
    if finding.fingerprint not in gone:
        return Persisted(finding=finding)
    return Persisted(finding=finding, resolved=True, resolved_in=part.commit)


def _with_passed(data: Data, phase: str, p1_threshold: int) -> Data:
    done, before = _list(data, "completed_phases"), _list(data, "skipped_phases")
    reached = PHASES[: max(len(done), PHASES.index(phase) + 1)]
    skipped = [each for each in reached if each != phase and (each in before or each not in done)]
    after: Data = {}
    for key, value in data.items():
        if key != "skipped_phases":
            after[key] = value
        if key == "completed_phases":
            after |= {key: list(reached)} | ({"skipped_phases": skipped} if skipped else {})
    after["current_phase"] = PHASES[len(reached)] if reached != PHASES else _last_phase(data, p1_threshold)
    return after


def _last_phase(data: Data, p1_threshold: int) -> str:
    high = sum(_is_open(entry, Severity.HIGH) for entry in _entries(data))
    return "quality" if high > p1_threshold else "complete"


def _merged(entries: list[Data], gate: str, findings: tuple[Persisted, ...]) -> list[Data]:
    fresh = {identify(each.finding).fingerprint: each for each in findings}
    kept = []
    for entry in entries:
        mark = finding_of(entry).fingerprint
        is_meant = entry.get("gate") == gate and mark in fresh
        kept.append(_updated(entry, fresh[mark], gate) if is_meant else entry)
    told = {finding_of(entry).fingerprint for entry in entries if entry.get("gate") == gate}
    return kept + [_updated({}, each, gate) for mark, each in fresh.items() if mark not in told]


def _updated(entry: Data, persisted: Persisted, gate: str) -> Data:
    """What a person has accepted stays accepted until it is gone."""
    finding = identify(persisted.finding)
    accepted = persisted.accepted or (entry.get("accepted") is True and not persisted.resolved)
    extras = {
        "check_id": finding.rule,
        "evidence": finding.evidence,
        "guidance": finding.guidance,
        "category": finding.category or ("" if letter(finding.dimension) else finding.dimension),
        "id": finding.fingerprint,
        "resolved_in": str(persisted.resolved_in),
        "deferred": persisted.deferred,
        "accepted": accepted,
    }
    return {
        **{key: value for key, value in entry.items() if key not in ("deferred", "accepted", "resolved_in")},
        "severity": seed_severity(finding.severity),
        "dimension": letter(finding.dimension),
        "gate": gate,
        "issue": finding.issue,
        "file": finding.file,
        "line": finding.line,
        "resolved": persisted.resolved,
        **{key: value for key, value in extras.items() if value},
    }


# Plain data that was found to be well formed


def _is_open(entry: Mapping[str, object], severity: Severity) -> bool:
    return entry.get("resolved") is not True and entry["severity"] == seed_severity(severity)


def _entries(data: Data) -> list[Data]:
    return [entry for entry in _list(data, "quality_findings") if isinstance(entry, dict)]


def _list(data: Data, key: str) -> list[object]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
