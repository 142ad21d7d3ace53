import pytest

from loopwright.kernel.deliverables import FileDemand, FileFault
from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS, Skill, left_by
from loopwright.loops.lifecycle.states import NORMAL, Stage
from loopwright.loops.lifecycle.verifier import (
    GATES,
    SkillGap,
    SkillRecord,
    SkillReport,
    SkillsAsked,
    VerifiedSkill,
    not_invoked,
    of_everything,
    of_gate,
    of_phase,
    of_skill,
    report,
    report_lines,
    told_otherwise,
    wanted_of,
)

AT = "2026-01-17T10:30:00Z"
FOLDER = "docs/systems/sys-1"


def verified(asked: SkillsAsked, record: SkillRecord | None = None, *faults: FileFault) -> SkillReport:
    wanted = wanted_of(tuple(SKILLS[name] for name in asked.skills), "sys-1")
    return report(asked, wanted, faults, record or SkillRecord(), AT)


def done(*names: str, **skipped: str) -> SkillRecord:
    return SkillRecord(
        completed=frozenset(names), skipped={name.replace("_", "-"): why for name, why in skipped.items()}
    )


def test_a_skill_whose_deliverable_is_there_passes() -> None:
    assert verified(of_skill("spec"), done("spec")) == SkillReport(
        timestamp=AT,
        type="skill",
        subject="spec",
        phase="INIT",
        status="pass",
        process="pass",
        outcome="pass",
        skills={"spec": VerifiedSkill(status="pass", deliverable=f"{FOLDER}/FEATURESPEC.md")},
        gaps=(),
        blocking=False,
        message="Nothing blocks: 1 skill verified.",
    )


def test_a_deliverable_that_is_wrong_blocks() -> None:
    fault = FileFault(path=f"{FOLDER}/FEATURESPEC.md", why="it is empty")
    told = verified(of_skill("spec"), done("spec"), fault)
    assert (told.status, told.process, told.outcome, told.blocking) == ("fail", "pass", "fail", True)
    assert told.skills == {"spec": VerifiedSkill(status="fail", deliverable=f"{FOLDER}/FEATURESPEC.md")}
    assert told.gaps == (SkillGap(skill="spec", gap=f"{FOLDER}/FEATURESPEC.md: it is empty", severity="high"),)
    assert told.message == f"Cannot proceed: spec: {FOLDER}/FEATURESPEC.md: it is empty"


def test_a_skill_that_was_not_invoked_blocks_whatever_lies_there() -> None:
    told = verified(of_phase(Stage.SCAFFOLD), done("architect", "architecture-review", "scaffold"))
    assert (told.status, told.process, told.outcome, told.blocking) == ("fail", "fail", "pass", True)
    assert told.skills["git-workflow"] == VerifiedSkill(status="fail", reason="not invoked")
    assert told.gaps == (SkillGap(skill="git-workflow", gap="not invoked", severity="critical"),)
    assert told.message == not_invoked("git-workflow")


def test_what_is_said_of_a_skill_not_invoked() -> None:
    told = [
        "⚠️ Cannot proceed: security-audit not invoked",
        "Options:",
        "  - Invoke the skill now",
        '  - Skip with reason: skip security-audit --reason "explanation"',
        '    (here: `loop skip security-audit --reason "explanation"`)',
    ]
    assert not_invoked("security-audit").splitlines() == told
    assert not_invoked("security-audit", "spec", "triage").splitlines() == [*told, "Not invoked either: spec, triage"]


def test_a_skipped_skill_leaves_a_gap_that_does_not_block() -> None:
    fault = FileFault(path=f"{FOLDER}/VALIDATION.md", section="Security", why="it has no section")
    record = done("code-validation", "integration-test", "perf-analysis", security_audit="takes no input")
    told = verified(of_phase(Stage.VALIDATE), record, fault)
    assert (told.status, told.process, told.outcome, told.blocking) == ("partial", "partial", "pass", False)
    assert told.skills["security-audit"] == VerifiedSkill(status="skipped", reason="takes no input")
    assert told.gaps == (SkillGap(skill="security-audit", gap="skipped: takes no input", severity="low"),)
    assert told.message == "Nothing blocks: 3 skills verified, 1 skipped."


def test_several_skills_share_a_file_and_each_answers_for_its_section() -> None:
    fault = FileFault(path=f"{FOLDER}/VALIDATION.md", section="Security", why="it is missing")
    other = FileFault(path=f"{FOLDER}/VALIDATION.md", section="Integration", why="it is empty")
    told = verified(of_phase(Stage.VALIDATE), None, fault, other)
    assert {name: each.status for name, each in told.skills.items()} == {
        "code-validation": "pass",
        "integration-test": "fail",
        "security-audit": "fail",
        "perf-analysis": "pass",
    }
    assert told.skills["perf-analysis"].deliverable == f"{FOLDER}/VALIDATION.md, section Performance"
    assert told.message.endswith("it is empty, and 1 more gap")


@pytest.mark.parametrize(
    ("name", "record", "status", "reason"),
    [
        ("implement", SkillRecord(), "partial", "what it leaves is the change itself, which the checks judge"),
        ("implement", done("implement"), "pass", "what it leaves is the change itself, which the checks judge"),
        ("memory-manager", SkillRecord(), "pass", "the engine does it itself"),
        ("memory-manager", done("memory-manager"), "pass", "the engine does it itself"),
        ("memory-manager", done(), "fail", "not invoked"),
    ],
)
def test_what_leaves_no_file(name: str, record: SkillRecord, status: str, reason: str) -> None:
    told = verified(of_skill(name), record)
    assert (told.skills[name].status, told.skills[name].reason, told.status) == (status, reason, status)


def test_a_skill_of_a_persons_own_leaves_what_they_say() -> None:
    own = told_otherwise("house-style", "", "")
    assert own == Skill(name="house-style", format="text")
    told = report(of_skill("house-style"), wanted_of((own,), "sys-1"), (), SkillRecord(), AT)
    assert (told.phase, told.status) == ("", "partial")
    assert told_otherwise("spec", "spec/API.YAML", "") == Skill(name="spec", leaves="spec/API.YAML", format="yaml")
    assert told_otherwise("git-workflow", "git.txt", "").needs == "git"
    assert left_by(told_otherwise("spec", "S.md", "Part"), "sys-1") == (
        FileDemand(path=f"{FOLDER}/S.md", section="Part"),
    )


@pytest.mark.parametrize("stage", NORMAL)
def test_a_phase_asks_for_the_skills_it_needs(stage: Stage) -> None:
    assert of_phase(stage) == SkillsAsked(type="phase", subject=stage, skills=REQUIRED[stage], phase=stage)


@pytest.mark.parametrize(
    ("gate", "phase", "skills"),
    [
        ("spec", "INIT", ("entry-portal", "requirements", "spec", "estimation", "triage")),
        ("architecture", "SCAFFOLD", ("architect", "architecture-review")),
        ("infrastructure", "SCAFFOLD", ("scaffold", "git-workflow")),
        (
            "deploy",
            "SHIP",
            (
                *("code-validation", "integration-test", "security-audit", "perf-analysis"),
                *("document", "code-review", "refactor", "deploy"),
            ),
        ),
    ],
)
def test_a_gate_asks_for_what_is_approved_there(gate: str, phase: str, skills: tuple[str, ...]) -> None:
    assert of_gate(gate) == SkillsAsked(type="gate", subject=gate, skills=skills, phase=phase)
    assert gate in GATES


def test_everything_is_each_skill_that_a_phase_needs_once() -> None:
    asked = of_everything()
    assert sorted(asked.skills) == sorted(SKILLS.keys() - {"debug-assist", "skill-verifier"})
    assert (asked.type, asked.subject, asked.phase) == ("full", "", "")


def test_the_report_for_people() -> None:
    fault = FileFault(path=f"{FOLDER}/GIT.md", why="it is not there")
    told = verified(of_gate("infrastructure"), SkillRecord(skipped={"scaffold": "it is there"}), fault)
    assert report_lines(told) == (
        "gate infrastructure: fail (process partial, outcome fail)",
        "",
        "  skipped  scaffold  it is there",
        "  fail     git-workflow  docs/systems/sys-1/GIT.md",
        "",
        "Gaps:",
        "  low       scaffold: skipped: it is there",
        "  high      git-workflow: docs/systems/sys-1/GIT.md: it is not there",
        "",
        "Cannot proceed: git-workflow: docs/systems/sys-1/GIT.md: it is not there",
    )
    assert report_lines(verified(of_everything()))[0] == "all skills: partial (process partial, outcome pass)"
    assert "Gaps:" not in report_lines(verified(of_everything()))
    assert verified(of_everything()).message == "Nothing blocks: 21 skills verified, 3 judged by the checks alone."
