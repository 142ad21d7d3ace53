"""`loop skill`: the skills, their texts, and whether each left behind what it has to, as it is committed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.app.starts.skill_check import Committed, verified
from loopwright.loops.lifecycle.skills import SKILLS
from loopwright.loops.lifecycle.verifier import SkillRecord, of_skill
from tests.cli.projects import Done, loop
from tests.cli.test_bad_input import one_sentence
from tests.repository import Repository

Golden = Callable[[str, str], None]

SYSTEM = "docs/systems/work-orders"
WRITTEN = "# Page\n\nWhat it says.\n"
OWN = "---\nname: {name}\ndescription: Ours.\nmetadata:\n  deliverable: {file}\n---\n# Ours\n\nDo it our way.\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """All that INIT needs but for one page that is not finished, and a report without one of its sections."""
    made = Repository.create(tmp_path / "repo")
    for name in ("DREAM-STATE", "REQUIREMENTS", "FEATURESPEC", "ESTIMATE"):
        made.write(f"{SYSTEM}/{name}.md", WRITTEN)
    made.write(f"{SYSTEM}/TRIAGE.md", "# Triage\n\n## Risks\n\nTBD\n")
    made.write(
        f"{SYSTEM}/VALIDATION.md", "# Validation\n\n## Integration\n\nWorks.\n\n## Security\n\n## Performance\n\nOk.\n"
    )
    made.commit("Papers")
    return made


def verify(repo: Repository, *argv: str) -> Done:
    return loop(repo.path, "skill", "verify", *argv)


def test_every_skill_is_listed(repo: Repository, golden: Golden) -> None:
    repo.write(".loop/skills/house-style/SKILL.md", OWN.format(name="house-style", file="STYLE.txt"))
    told = loop(repo.path, "skill", "list")
    assert (told.code, told.err) == (0, "")
    golden("cli/skill-list.txt", told.out)
    data = loop(repo.path, "skill", "list", "--json").data["skills"]
    assert [each["name"] for each in data] == [*SKILLS, "house-style"]
    assert data[-1] == {
        "name": "house-style",
        "description": "Ours.",
        "origin": "project",
        "phases": [],
        "deliverable": "STYLE.txt",
        "section": "",
        "by_engine": False,
    }


def test_a_skill_is_shown_as_an_agent_gets_it(repo: Repository) -> None:
    told = loop(repo.path, "skill", "show", "spec").out
    assert told.startswith("spec (built-in): Writes the feature specification")
    assert "\n## Verification\n" in told
    repo.write(".loop/skills/spec/SKILL.md", OWN.format(name="spec", file="SPEC.md"))
    assert loop(repo.path, "skill", "show", "spec").out == "spec (project): Ours.\n\n# Ours\n\nDo it our way.\n"
    data = loop(repo.path, "skill", "show", "spec", "--json").data
    assert (data["origin"], data["deliverable"], data["body"]) == ("project", "SPEC.md", "# Ours\n\nDo it our way.\n")


@pytest.mark.parametrize(
    ("argv", "code", "name"),
    [
        (("--phase", "INIT"), 4, "phase"),
        (("--gate", "architecture"), 4, "gate"),
        (("spec",), 0, "skill"),
        (("implement",), 0, "change"),
    ],
)
def test_the_report(argv: tuple[str, ...], code: int, name: str, repo: Repository, golden: Golden) -> None:
    told = verify(repo, *argv)
    assert (told.code, told.err) == (code, "")
    golden(f"cli/skill-verify-{name}.txt", told.out)


def test_the_report_as_data(repo: Repository) -> None:
    told = verify(repo, "--phase", "validate", "--json")
    assert told.code == 4
    report = told.data
    assert report.pop("timestamp").endswith("Z")
    assert {name: each["status"] for name, each in report.pop("skills").items()} == {
        "code-validation": "pass",
        "integration-test": "pass",
        "security-audit": "fail",
        "perf-analysis": "pass",
    }
    gap = f'{SYSTEM}/VALIDATION.md: its section "Security" is empty'
    assert report == {
        "type": "phase",
        "subject": "VALIDATE",
        "phase": "VALIDATE",
        "status": "fail",
        "process": "pass",
        "outcome": "fail",
        "gaps": [{"skill": "security-audit", "gap": gap, "severity": "high"}],
        "blocking": True,
        "message": f"Cannot proceed: security-audit: {gap}",
    }


def test_what_counts_is_committed_where_it_is_looked_for(repo: Repository) -> None:
    repo.write(f"{SYSTEM}/TRIAGE.md", WRITTEN)
    assert verify(repo, "triage").code == 4
    repo.git("checkout", "--quiet", "-b", "feature/system-work-orders")
    repo.commit("Finish the triage")
    repo.git("checkout", "--quiet", "main")
    assert verify(repo, "triage").code == 4
    assert verify(repo, "triage", "--ref", "feature/system-work-orders").code == 0
    assert verify(repo, "--full").code == 4


def test_a_skill_of_theirs_leaves_what_they_say(repo: Repository) -> None:
    repo.write(".loop/skills/triage/SKILL.md", OWN.format(name="triage", file="ESTIMATE.md"))
    assert verify(repo, "triage").code == 0
    repo.write(".loop/skills/house-style/SKILL.md", OWN.format(name="house-style", file="data/STYLE.json"))
    told = verify(repo, "house-style")
    assert (told.code, f"{SYSTEM}/data/STYLE.json: it is not there" in told.out) == (4, True)


def test_what_was_done_and_skipped_is_told_by_whoever_knows(repo: Repository) -> None:
    where = Committed(root=repo.path, environ={}, record=SkillRecord(completed=frozenset()))
    report = verified(of_skill("spec"), where, "2026-01-17T10:30:00Z")
    assert report.message.startswith("⚠️ Cannot proceed: spec not invoked\n")


def test_what_is_wrong_is_said_in_one_sentence(repo: Repository, tmp_path: Path) -> None:
    one_sentence(verify(repo), 2, "give one of SKILL, --phase, --gate and --full")
    one_sentence(verify(repo, "spec", "--full"), 2, "give one of SKILL, --phase, --gate and --full")
    one_sentence(verify(repo, "specs"), 2, "there is no skill 'specs'; did you mean 'spec'?")
    one_sentence(verify(repo, "--phase", "FAILED"), 2, "'--phase'")
    one_sentence(verify(repo, "spec", "--ref", "gone"), 2, "there is no commit 'gone'", "--ref")
    one_sentence(verify(repo, "spec", "--system", "../x"), 2, "'../x' is no id of a system")
    one_sentence(loop(repo.path, "skill", "show", "specs"), 2, "there is no skill 'specs'")
    repo.write(".loop/skills/spec/SKILL.md", "# No frontmatter\n")
    for argv in (("list",), ("show", "spec"), ("verify", "spec")):
        one_sentence(loop(repo.path, "skill", *argv), 2, ".loop/skills/spec/SKILL.md:1: has no frontmatter")
    one_sentence(loop(tmp_path, "skill", "list"), 2, "is not in a git repository")


def test_which_system_is_asked_for_only_where_it_is_not_clear(repo: Repository) -> None:
    repo.write("docs/systems/README.md", WRITTEN)
    repo.commit("A page beside the systems")
    assert verify(repo, "spec").code == 0
    repo.write("docs/systems/invoices/FEATURESPEC.md", WRITTEN)
    repo.commit("Another system")
    one_sentence(verify(repo, "spec"), 2, "(HEAD has those of invoices, work-orders); name it with --system")
    assert verify(repo, "spec", "--system", "invoices").code == 0
    assert verify(repo, "implement").code == 0
    repo.git("rm", "--quiet", "-r", "docs")
    repo.commit("None")
    one_sentence(verify(repo, "spec"), 2, "there are none yet")
