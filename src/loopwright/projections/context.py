"""`LOOP_CONTEXT`: everything in the brief as data, uncut, for agents that are programs."""

from __future__ import annotations

import json

from loopwright.kernel.codec import encode
from loopwright.kernel.model import Finding
from loopwright.ports.agent import AgentRun


def build(run: AgentRun) -> dict[str, object]:
    brief = run.brief
    return {
        "loop": run.loop,
        "kind": run.kind,
        "key": run.key,
        "role": run.role,
        "skill": run.skill,
        "attempt": brief.attempt,
        "limit": brief.limit,
        "task": brief.task,
        "artifacts": list(brief.artifacts),
        "findings": _plain(brief.findings),
        "failures": _plain(brief.failures),
        "history": list(brief.history),
        "criteria": list(brief.criteria),
        "advice": list(brief.answers),
        "base": brief.base,
        "candidate": brief.candidate,
        "repair": brief.repair,
        "scratchpad": None if run.scratchpad is None else str(run.scratchpad),
    }


def _plain(findings: tuple[Finding, ...]) -> list[object]:
    return [json.loads(encode(finding)) for finding in findings]
