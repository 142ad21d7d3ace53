"""`LOOP_CONTEXT`: everything in the brief as data, uncut, for agents that are programs.

Findings that are handed over in a file are in that file and nowhere else.
"""

from __future__ import annotations

import json

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Finding


def build(run: Assignment) -> dict[str, object]:
    brief = run.brief
    return {
        "loop": run.loop,
        "kind": run.kind,
        "key": str(run.key),
        "role": run.role,
        "skill": run.skill,
        "attempt": brief.attempt,
        "limit": brief.limit,
        "task": brief.task,
        "artifacts": list(brief.artifacts),
        "findings": [] if brief.findings_file else _plain(brief.findings),
        "findings_file": brief.findings_file,
        "failures": _plain(brief.failures),
        "history": list(brief.history),
        "criteria": list(brief.criteria),
        "advice": list(brief.answers),
        "feedback": list(brief.feedback),
        "gate": brief.gate,
        "depth": brief.depth,
        "story": brief.story,
        "base": brief.base,
        "candidate": brief.candidate,
        "diff": run.diff,
        "repair": brief.repair,
        "scratchpad": None if run.scratchpad is None else str(run.scratchpad),
    }


def _plain(findings: tuple[Finding, ...]) -> list[object]:
    return [json.loads(encode(finding)) for finding in findings]
