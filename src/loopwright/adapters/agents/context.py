"""`LOOP_CONTEXT`: everything in the brief as data, uncut, for agents that are programs.

What a loop tells besides what all tell stands beside it, under the names its room gives it. Findings that are handed
over in a file are in that file and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from loopwright.kernel.codec import plain
from loopwright.kernel.model import NO_KEY, Demand, Finding, Key, LoopId
from loopwright.ports.agent import AgentRun


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What is said of a field here stands in the published schema."""

    loop: Annotated[LoopId, "The id of the loop."]
    kind: Annotated[str, "The kind of the loop, such as feedback."]
    key: Annotated[Key, "This try of this action."] = NO_KEY
    role: Annotated[str, "The part to play."]
    skill: str = ""
    guide: Annotated[str, "Of a skill: how it is done, as Markdown."] = ""
    attempt: Annotated[int, "The attempt of the loop, the same for every role in it."]
    limit: Annotated[int, "How many attempts there are."]
    task: Annotated[str, "What is to be done."]
    artifacts: Annotated[tuple[str, ...], "Paths."]
    findings: Annotated[tuple[Finding, ...], "Of the last review; empty where `findings_file` has them."]
    findings_file: Annotated[str, "Hands the findings over; from the root of the workspace. Empty: they are here."] = ""
    observations: Annotated[tuple[Finding, ...], "Of a fix in quick depth: what need not be fixed."] = ()
    failures: Annotated[tuple[Finding, ...], "Of the last checks, or of a landing that was refused."]
    history: Annotated[tuple[str, ...], "One line per earlier attempt."]
    criteria: tuple[str, ...]
    commands: Annotated[tuple[Demand, ...], "Of a task: what must pass besides the checks, each as its argv."] = ()
    advice: Annotated[tuple[str, ...], "What a person answered or advised."]
    feedback: Annotated[tuple[str, ...], "Of a ticket: where the last one fell short, lowest score first."] = ()
    gate: Annotated[str, "Of a review: the gate it is at, such as code."] = ""
    depth: Annotated[str, "Of a review: quick or comprehensive."] = ""
    story: Annotated[str, "Of a review: whose findings they are."] = ""
    base: Annotated[str, "The commit the change is measured against."] = ""
    candidate: Annotated[str, "The commit to be judged; empty for makers."] = ""
    diff: Annotated[str, "For judges: the change as text; of a review, what of it is about the artifact."] = ""
    repair: Annotated[str, "Why the last result could not be read."] = ""
    scratchpad: Annotated[str | None, "Path of what the loop has written so far."] = None
    agent: Annotated[str, "The name of the agent that plays the part."] = ""
    workspace: Annotated[str, "The folder to work in."] = ""


def facts_of(run: AgentRun, agent: str) -> dict[str, object]:
    """All of it as JSON has it. Programs may rely on every field being there, whichever loop they work for."""
    facts: dict[str, object] = plain(context_of(run, agent)) | (plain(run.brief.own) or {})
    return facts | ({"findings": []} if facts["findings_file"] else {})


def context_of(run: AgentRun, agent: str) -> AgentContext:
    """What the roles of every loop are told."""
    brief = run.brief
    return AgentContext(
        loop=run.loop,
        kind=run.kind,
        key=run.key,
        role=run.role,
        skill=run.skill,
        guide=run.guide,
        attempt=brief.attempt,
        limit=brief.limit,
        task=brief.task,
        artifacts=brief.artifacts,
        findings=brief.findings,
        failures=brief.failures,
        history=brief.history,
        criteria=brief.criteria,
        advice=brief.answers,
        base=brief.base,
        candidate=brief.candidate,
        diff=run.diff,
        repair=brief.repair,
        scratchpad=None if run.scratchpad is None else str(run.scratchpad),
        agent=agent,
        workspace=str(run.folder),
    )
