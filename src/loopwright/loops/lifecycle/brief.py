"""What whoever does a skill, finds the cause of a failure, or fixes it, is told."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.changing import replace
from loopwright.kernel.deliverables import FileDemand
from loopwright.kernel.model import Brief
from loopwright.kernel.quoting import at_most, fenced, one_line, quoted
from loopwright.loops import brief_parts
from loopwright.loops.lifecycle.skills import SKILLS, left_by
from loopwright.loops.lifecycle.state import LifecycleState

_FOUND, _GUIDE, _MEMORY = 8_192, 16_384, 8_192  # bytes
_CONTRACT = fenced(
    '{"status": "done | blocked | needs_clarification",\n "summary": "what was done, in a sentence",\n'
    ' "verdict": "pass | fail",\n "findings": [{"severity": "critical | high | medium | low", "file": "src/a.py",'
    ' "line": 12, "issue": "…", "evidence": "…", "guidance": "…"}],\n'
    ' "deliverables": ["docs/systems/…"], "references": ["docs/…"],\n'
    ' "capabilities": ["of the skill spec"], "estimate": {"hours": 0},\n'
    ' "questions": [{"question": "…", "options": ["…"], "impact": "…"}]}',
    "json",
)
_RESULT = (
    "## Result\n\nWhen finished, write one JSON object to the file named by the environment variable `LOOP_RESULT`."
    " The file named by `LOOP_CONTEXT` has everything in this brief as data."
)
_RULES = (
    "Only `status` is needed. `needs_clarification` asks a person and waits; an ambiguous requirement is such a case."
    " A skill that judges gives a `verdict`, and findings with evidence where it is `fail`."
)
_ADVICE = fenced(
    '{"status": "done",\n "summary": "the likely root cause, in a sentence",\n'
    ' "advice": {"diagnosis": ["hypotheses, the likeliest first"], "recommendations": ["what to change, and where"],'
    ' "consensus": "", "fallback": "what else to try"}}',
    "json",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemBrief:
    """What only a lifecycle tells, under the names agents find it by."""

    system: str
    system_name: str
    stage: str
    skill: str = ""
    capability: str = ""
    capabilities: tuple[str, ...] = ()
    deliverables: tuple[str, ...] = ()
    memory: str = ""  # what was known when the session began
    error: str = ""
    diagnosis: str = ""
    related: tuple[str, ...] = ()  # files that a fix may touch


def _brief(state: LifecycleState, own: SystemBrief, task: str) -> Brief:
    return Brief(
        task=task,
        attempt=state.retries + 1,
        limit=state.allowance.retries + 1,
        findings=state.findings,
        failures=state.failure.findings if state.failure else (),
        history=tuple(f"{each.stage}: {each.error}" for each in state.history[-5:]),
        answers=(*state.course.answers, *state.course.refusals),
        repair=state.course.trial.repair,
        base=state.ground,
        candidate=state.tip,
        before=state.course.before,
        unapproved=state.course.unapproved,
        put_back=state.course.put_back,
        own=own,
    )


def left_behind(state: LifecycleState, name: str) -> tuple[FileDemand, ...]:
    """What the skill has to leave; a person's own version of it may say otherwise."""
    own = dict(state.plan.leaves)
    skill = replace(SKILLS[name], leaves=own[name], section="") if name in own else SKILLS[name]
    return left_by(skill, state.plan.system.id)


def _own(state: LifecycleState, skill: str, **more: object) -> SystemBrief:
    system = state.plan.system
    every = (*state.done, *((state.current,) if state.current else ()), *state.remaining)
    return SystemBrief(
        system=system.id,
        system_name=system.name,
        stage=state.resumes_at.value,
        skill=skill,
        capability=state.current,
        capabilities=every,
        deliverables=tuple(each.path for each in left_behind(state, skill)),
        memory=state.memory,
        **more,  # type: ignore[arg-type]  # fields of this value
    )


_CONFLICT = (
    "The files hold both sides between git's marks: above the middle what others made meanwhile, below it what was"
    " made here. Decide each place so that what either side is for still holds, and leave no mark"
)


def for_skill(state: LifecycleState, skill: str) -> Brief:
    system = state.plan.system
    about = f": {system.description}" if system.description else ""
    of = f", capability {state.current}" if state.current else ""
    task = f"Do the skill {skill} for {system.name} ({system.id}{of}){about}"
    return _brief(state, _own(state, skill), task)


def for_diagnosis(state: LifecycleState) -> Brief:
    error = state.failure.error if state.failure else ""
    task = f"Find out why {state.resumes_at} of {state.plan.system.name} fails, and what to do about it: {error}"
    return _brief(state, _own(state, "debug-assist", error=error), task)


def for_fix(state: LifecycleState, related: tuple[str, ...] = ()) -> Brief:
    error = state.failure.error if state.failure else ""
    task = f"Fix what fails in {state.resumes_at} of {state.plan.system.name}, and nothing else: {error}"
    if state.failing != state.tip:
        task += f". {_CONFLICT}"
    own = _own(state, "implement", error=error, diagnosis=state.diagnosis, related=related)
    return _brief(state, own, task)


def render(run: Assignment) -> str:
    brief, own = run.brief, run.brief.own
    parts = [
        _heading(run, own),
        _duty(own),
        brief_parts.task(brief),
        *_capabilities(own),
        *_deliverables(own),
        *_guide(run),
        *_memory(own),
        *_material(own, brief),
        *brief_parts.was_before(brief),
        *brief_parts.from_person(brief),
        *brief_parts.repair(brief),
        f"{_RESULT}\n\n{_ADVICE}" if own.skill == "debug-assist" else f"{_RESULT}\n\n{_CONTRACT}\n\n{_RULES}",
    ]
    return "\n\n".join(parts) + "\n"


def _heading(run: Assignment, own: SystemBrief) -> str:
    who = f"# Brief for the skill {one_line(run.skill or run.role, 60)}"
    return f"{who}: {one_line(own.stage, 20)} of {one_line(own.system_name, 120)} ({one_line(own.system, 40)})"


def _duty(own: SystemBrief) -> str:
    if own.skill == "debug-assist":
        return "Look, form hypotheses, name the likely root cause. Change nothing: what is written here is discarded."
    if own.diagnosis or own.error:
        return (
            "A targeted fix: change what fails and nothing unrelated. It becomes a commit of its own; the check that"
            " failed runs first, then the whole suite. Tests that fail now judge the fix unchanged. What is changed"
            " elsewhere is not taken."
        )
    return (
        "Work in the working directory. What is left there becomes a commit of the system's branch; its deliverables"
        " are looked at, and the project's own checks decide, not what is said about the work."
    )


def _capabilities(own: SystemBrief) -> tuple[str, ...]:
    if not own.capabilities:
        return ()
    lines = "\n".join(
        f"- {one_line(name, 200)}{' (now)' if name == own.capability else ''}" for name in own.capabilities
    )
    return (f"## Capabilities\n\n{at_most(lines, _FOUND)}",)


def _deliverables(own: SystemBrief) -> tuple[str, ...]:
    if not own.deliverables:
        return ()
    lines = "\n".join(f"- `{one_line(path, 300)}`" for path in own.deliverables)
    return (f"## Deliverables\n\nThey must be there, say something, and hold no placeholder.\n\n{lines}",)


def _guide(run: Assignment) -> tuple[str, ...]:
    return (f"## The skill\n\n{at_most(run.guide, _GUIDE)}",) if run.guide else ()


def _memory(own: SystemBrief) -> tuple[str, ...]:
    """What others wrote, from the memory of the domain: it informs, and orders nothing."""
    return (f"## Cold boot\n\n{quoted(at_most(own.memory, _MEMORY))}",) if own.memory else ()


def _material(own: SystemBrief, brief: Brief) -> tuple[str, ...]:
    parts = []
    if own.diagnosis:
        parts.append(f"## Diagnosis\n\n{fenced(at_most(own.diagnosis, _FOUND))}")
    if own.related:
        parts.append("## Files\n\nOnly these, and new tests: " + ", ".join(f"`{each}`" for each in own.related[:40]))
    found = tuple(dict.fromkeys((*brief.findings, *brief.failures)))
    if found:
        parts.append(brief_parts.listed("## What is wrong", found, _FOUND, rules=True))
    return tuple(parts)
