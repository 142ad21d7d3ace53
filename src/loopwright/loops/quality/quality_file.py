"""`X.quality.yml`: the findings of a blocked artifact, in a file beside it for whoever fixes them.

The person has the same under `.loop/quality`, or beside the artifact where they want it so.
"""

from __future__ import annotations

import posixpath

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.quality.handoff import letter, seed_severity

ENDING = ".quality.yml"
MARK = "# Written by Loopwright"  # begins the person's: one that begins otherwise is somebody else's
_HEAD = f"{MARK}. It is here while the artifact is blocked, and goes when that is over.\n"


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


def other_name(artifact: str) -> str:
    """`src/a.py` has `src/a.py.loop.quality.yml`, where somebody else has both of the others."""
    return f"{_plain(artifact)}.loop{ENDING}"


def for_person(file: str) -> str:
    """Where a person finds what whoever fixes the artifact gets in `file`."""
    return f".loop/quality/{file}"


def as_page(data: dict[str, object]) -> str:
    """The person's file, by which we know it again."""
    return _HEAD + write_yaml(data)


def is_quality_file(path: str) -> bool:
    return path.endswith(ENDING)


def build(  # the words are the file's: `round` is an attempt
    *,
    story: str,
    gate: str,
    round: int,  # noqa: A002
    findings: tuple[Finding, ...],
    artifact: str = "",
) -> dict[str, object]:
    """The file's data. A design is called by the name of its file, anything else by its story."""
    design = posixpath.splitext(posixpath.basename(_plain(artifact)))[0] or story
    whose = {"design_name": design} if gate == "design" else {"story_id": story}
    return {
        **whose,
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
