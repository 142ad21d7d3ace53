"""`X.quality.yml`: the findings of a blocked artifact, in a file beside it, for whoever fixes them."""

from __future__ import annotations

import posixpath

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding
from loopwright.loops.quality.handoff import letter, seed_severity

ENDING = ".quality.yml"


def name(artifact: str) -> str:
    """`a/X.yml` has `a/X.quality.yml`."""
    folder, file = posixpath.split(_plain(artifact))
    return posixpath.join(folder, posixpath.splitext(file)[0] + ENDING)


def full_name(artifact: str) -> str:
    """`src/a.py` has `src/a.py.quality.yml`, where `src/a.md` is reviewed too."""
    return _plain(artifact) + ENDING


def _plain(artifact: str) -> str:
    """Without what says nothing: the slash of a folder, the point that is the folder itself."""
    return artifact.rstrip("/").removesuffix(".") if artifact in (".", "./") else artifact.rstrip("/")


def is_quality_file(path: str) -> bool:
    return path.endswith(ENDING)


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
