"""`LOOP_CONTEXT`: everything in the brief as data, uncut, for agents that are programs.

What a loop tells besides what all tell stands beside it, under the names its room gives it. Findings that are handed
over in a file are in that file and nowhere else.
"""

from __future__ import annotations

import json

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.codec import encode, plain
from loopwright.kernel.model import Finding

# Programs may rely on these being there, whichever loop they work for.
_ALWAYS: dict[str, object] = {"findings_file": "", "feedback": [], "gate": "", "depth": "", "story": ""}


def build(run: Assignment) -> dict[str, object]:
    brief = run.brief
    own = _ALWAYS | (plain(brief.own) or {})
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
        "findings": [] if own["findings_file"] else _plain(brief.findings),
        "failures": _plain(brief.failures),
        "history": list(brief.history),
        "criteria": list(brief.criteria),
        "advice": list(brief.answers),
        "base": brief.base,
        "candidate": brief.candidate,
        "diff": run.diff,
        "repair": brief.repair,
        "scratchpad": None if run.scratchpad is None else str(run.scratchpad),
        **own,
    }


def _plain(findings: tuple[Finding, ...]) -> list[object]:
    return [json.loads(encode(finding)) for finding in findings]
