"""The skill verifier: whether what had to be invoked was, and whether each left behind what it has to.

Two questions, told apart: the process (was it done, or skipped with a reason) and the outcome (is its deliverable what
it has to be). A gap of critical or high severity blocks; no word of an agent fills one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from loopwright.kernel.deliverables import FileDemand, FileFault, Format
from loopwright.kernel.wording import counted
from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS, Skill, left_by
from loopwright.loops.lifecycle.states import NORMAL, Stage

Scope = Literal["skill", "phase", "gate", "full"]
Standing = Literal["pass", "partial", "fail"]

# What has to be there before a person is asked: for `spec` what describes the system, for `architecture` the design and
# its review, for `infrastructure` what it is built and kept in, for `deploy` all that judged or describes the whole.
GATES: Mapping[str, tuple[str, ...]] = {
    "spec": ("entry-portal", "requirements", "spec", "estimation", "triage"),
    "architecture": ("architect", "architecture-review"),
    "infrastructure": ("scaffold", "git-workflow"),
    "deploy": (*REQUIRED[Stage.VALIDATE], *REQUIRED[Stage.DOCUMENT], *REQUIRED[Stage.REVIEW], "deploy"),
}
_PHASE_OF_GATE = {
    "spec": Stage.INIT,
    "architecture": Stage.SCAFFOLD,
    "infrastructure": Stage.SCAFFOLD,
    "deploy": Stage.SHIP,
}
_FORMATS: Mapping[str, Format] = {".md": "markdown", ".json": "json", ".yml": "yaml", ".yaml": "yaml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillsAsked:
    """What is to be verified."""

    type: Scope
    subject: str = ""  # the name of the skill, phase or gate
    skills: tuple[str, ...]
    phase: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRecord:
    """Which skills were done, and why others were not. `completed` is None where nobody recorded it."""

    completed: frozenset[str] | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)  # with the reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSkill:
    """Partial: nothing of it can be seen in a file. A deliverable, or the reason why there is none."""

    status: Literal["pass", "partial", "fail", "skipped"]
    deliverable: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillGap:
    skill: str
    gap: str
    severity: Literal["critical", "high", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillReport:
    timestamp: str
    type: Scope
    subject: str
    phase: str
    status: Standing
    process: Standing
    outcome: Standing
    skills: dict[str, VerifiedSkill]
    gaps: tuple[SkillGap, ...]
    blocking: bool
    message: str


def of_skill(name: str) -> SkillsAsked:
    needing = [stage for stage in NORMAL if name in REQUIRED[stage]]
    return SkillsAsked(type="skill", subject=name, skills=(name,), phase=needing[0] if needing else "")


def of_phase(stage: Stage) -> SkillsAsked:
    return SkillsAsked(type="phase", subject=stage, skills=REQUIRED[stage], phase=stage)


def of_gate(gate: str) -> SkillsAsked:
    return SkillsAsked(type="gate", subject=gate, skills=GATES[gate], phase=_PHASE_OF_GATE[gate])


def of_everything() -> SkillsAsked:
    """Each skill that a phase needs, once."""
    return SkillsAsked(type="full", skills=tuple(dict.fromkeys(name for stage in NORMAL for name in REQUIRED[stage])))


def told_otherwise(name: str, deliverable: str, section: str) -> Skill:
    """The skill as a person's own text of it says what it leaves behind; also one that only they know."""
    form: Format = next((_FORMATS[ending] for ending in _FORMATS if deliverable.lower().endswith(ending)), "text")
    return replace(SKILLS.get(name, Skill(name=name)), leaves=deliverable, section=section, format=form)


def wanted_of(skills: tuple[Skill, ...], system: str) -> dict[str, tuple[FileDemand, ...]]:
    """What each has to leave behind, by its name."""
    return {skill.name: left_by(skill, system) for skill in skills}


def report(
    asked: SkillsAsked,
    wanted: Mapping[str, tuple[FileDemand, ...]],
    faults: tuple[FileFault, ...],
    record: SkillRecord,
    at: str,
) -> SkillReport:
    """`faults` are those that were found when what is wanted was looked for; `at` is when, as people read it."""
    skills: dict[str, VerifiedSkill] = {}
    process: list[SkillGap] = []
    outcome: list[SkillGap] = []
    for name in asked.skills:
        found = _why(wanted[name], faults)
        if name in record.skipped:
            skills[name] = VerifiedSkill(status="skipped", reason=record.skipped[name])
            process.append(SkillGap(skill=name, gap=f"skipped: {record.skipped[name]}", severity="low"))
        elif record.completed is not None and name not in record.completed:
            skills[name] = VerifiedSkill(status="fail", reason="not invoked")
            process.append(SkillGap(skill=name, gap="not invoked", severity="critical"))
        else:
            skills[name] = _seen(name, wanted[name], found, record)
            outcome += [SkillGap(skill=name, gap=each, severity="high") for each in found]
    unseen = any(each.status == "partial" for each in skills.values())
    gaps = (*process, *outcome)
    standings = _standing(process, partial=unseen), _standing(outcome)
    status: Standing = next((each for each in _WORST_FIRST if each in standings), "pass")
    return SkillReport(
        timestamp=at,
        type=asked.type,
        subject=asked.subject,
        phase=asked.phase,
        status=status,
        process=standings[0],
        outcome=standings[1],
        skills=skills,
        gaps=gaps,
        blocking=status == "fail",
        message=_message(gaps, skills),
    )


def not_invoked(skill: str, *others: str) -> str:
    """What a person is told where a phase cannot be left."""
    also = f"\nNot invoked either: {', '.join(others)}" if others else ""
    return (
        f"⚠️ Cannot proceed: {skill} not invoked\n"
        "Options:\n"
        "  - Invoke the skill now\n"
        f'  - Skip with reason: skip {skill} --reason "explanation"\n'
        f'    (here: `loop skip {skill} --reason "explanation"`){also}'
    )


def report_lines(told: SkillReport) -> tuple[str, ...]:
    """The report for people."""
    about = f"{told.type} {told.subject}" if told.subject else "all skills"
    rows = (
        f"  {each.status:7}  {name}" + "".join(f"  {said}" for said in (each.deliverable, each.reason) if said)
        for name, each in told.skills.items()
    )
    gaps = (f"  {each.severity:8}  {each.skill}: {each.gap}" for each in told.gaps)
    named = ("", "Gaps:", *gaps) if told.gaps else ()
    head = f"{about}: {told.status} (process {told.process}, outcome {told.outcome})"
    return (head, "", *rows, *named, "", *told.message.split("\n"))


_WORST_FIRST: tuple[Standing, ...] = ("fail", "partial")


def _why(wanted: tuple[FileDemand, ...], faults: tuple[FileFault, ...]) -> list[str]:
    places = {(each.path, each.section) for each in wanted}
    return [f"{fault.path}: {fault.why}" for fault in faults if (fault.path, fault.section) in places]


def _seen(name: str, wanted: tuple[FileDemand, ...], found: list[str], record: SkillRecord) -> VerifiedSkill:
    if wanted:
        where = ", ".join(f"{each.path}, section {each.section}" if each.section else each.path for each in wanted)
        return VerifiedSkill(status="fail" if found else "pass", deliverable=where)
    by_engine = name in SKILLS and SKILLS[name].by_engine
    reason = "the engine does it itself" if by_engine else "what it leaves is the change itself, which the checks judge"
    return VerifiedSkill(status="partial" if record.completed is None and not by_engine else "pass", reason=reason)


def _standing(gaps: list[SkillGap], *, partial: bool = False) -> Standing:
    if any(each.severity != "low" for each in gaps):
        return "fail"
    return "partial" if gaps or partial else "pass"


def _message(gaps: tuple[SkillGap, ...], skills: Mapping[str, VerifiedSkill]) -> str:
    missing = [each.skill for each in gaps if each.severity == "critical"]
    if missing:
        return not_invoked(*missing)
    faulty = [each for each in gaps if each.severity == "high"]
    if faulty:
        more = f", and {counted(len(faulty) - 1, 'more gap')}" if len(faulty) > 1 else ""
        return f"Cannot proceed: {faulty[0].skill}: {faulty[0].gap}{more}"
    stood = [each.status for each in skills.values()]
    others = {"skipped": stood.count("skipped"), "judged by the checks alone": stood.count("partial")}
    more = "".join(f", {count} {what}" for what, count in others.items() if count)
    return f"Nothing blocks: {counted(stood.count('pass'), 'skill')} verified{more}."
