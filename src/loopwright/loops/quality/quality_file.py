"""`X.quality.yml`: the findings of a blocked artifact, in a file beside it, for whoever fixes them."""

from __future__ import annotations

import posixpath

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding
from loopwright.kernel.plain_shapes import Problem, check
from loopwright.loops.quality.handoff import finding_of, letter, seed_severity
from loopwright.loops.quality.handoff_rules import QUALITY_FILE

_ENDING = ".quality.yml"


def name(artifact: str) -> str:
    """`a/X.yml` has `a/X.quality.yml`."""
    folder, file = posixpath.split(artifact)
    return posixpath.join(folder, posixpath.splitext(file)[0] + _ENDING)


def full_name(artifact: str) -> str:
    """`src/a.py` has `src/a.py.quality.yml`, where `src/a.md` is reviewed too."""
    return artifact + _ENDING


def is_quality_file(path: str) -> bool:
    return path.endswith(_ENDING)


def build(*, story: str, gate: str, round: int, findings: tuple[Finding, ...]) -> dict[str, object]:  # noqa: A002
    """The file's data; `round` is the word the file has for an attempt."""
    return {
        "design_name" if gate == "design" else "story_id": story,
        "verdict": "BLOCKED",
        "round": round,
        "findings": [_entry(identify(finding)) for finding in findings],
    }


def problems(data: object) -> tuple[Problem, ...]:
    """Where it is not what it has to be."""
    found = tuple(check(QUALITY_FILE, data))
    is_nameless = isinstance(data, dict) and data.get("story_id") is None and data.get("design_name") is None
    return (*found, ((), "story_id or design_name is missing")) if is_nameless else found


def read(data: dict[str, object]) -> tuple[Finding, ...]:
    """The findings of data without problems."""
    entries = data["findings"]
    return tuple(finding_of(entry, rule="check") for entry in entries) if isinstance(entries, list) else ()


def _entry(finding: Finding) -> dict[str, object]:
    extras = {"file": finding.file, "line": finding.line, "evidence": finding.evidence, "id": finding.fingerprint}
    return {
        "severity": seed_severity(finding.severity),
        "check": finding.rule,
        "dimension": letter(finding.dimension),
        "issue": finding.issue,
        "guidance": finding.guidance,
        **{key: value for key, value in extras.items() if value},
    }
