"""`X.quality.yml`: the findings of a blocked artifact, in a file beside it, for whoever fixes them."""

from __future__ import annotations

from pathlib import PurePosixPath

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding
from loopwright.projections.handoff import letter, seed_severity

_ENDING = ".quality.yml"


def name(artifact: str) -> str:
    """`a/X.yml` has `a/X.quality.yml`."""
    path = PurePosixPath(artifact)
    return path.with_name(path.stem + _ENDING).as_posix() if path.name else _ENDING


def full_name(artifact: str) -> str:
    """`src/a.py` has `src/a.py.quality.yml`, where `src/a.md` is reviewed too."""
    path = PurePosixPath(artifact)
    return path.with_name(path.name + _ENDING).as_posix() if path.name else _ENDING


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
