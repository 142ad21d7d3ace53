"""Skills as texts: the built-in ones against the table of the lifecycle, and a person's own over them."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from loopwright.adapters.skill_library import BUILT_IN, LARGEST, SkillLibrary, SkillText
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.deliverables import FileDemand, fault_of
from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS
from loopwright.loops.lifecycle.states import NORMAL

HEADINGS = ["Purpose", "Inputs", "Steps", "Deliverable", "Verification", "What not to do"]
NOT_ALWAYS_NEEDED = {"debug-assist": "VERIFY", "skill-verifier": "every"}
JUDGING = ("architecture-review", "code-validation", "integration-test", "security-audit", "perf-analysis")


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    return SkillLibrary(root=tmp_path)


def put(library: SkillLibrary, text: str, name: str = "spec") -> None:
    folder = library.root / ".loop" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def own(name: str = "spec", more: str = "", body: str = "# Ours\n\nText.\n") -> str:
    return f"---\nname: {name}\ndescription: Our own.\n{more}---\n{body}"


def section(body: str, heading: str) -> str:
    return re.split(r"\n## ", body.split(f"\n## {heading}\n", 1)[1], maxsplit=1)[0]


# Those that are shipped


def test_every_skill_of_the_table_is_there_and_no_other(library: SkillLibrary) -> None:
    assert library.names == tuple(sorted(SKILLS))
    assert len(SKILLS) == 26


@pytest.mark.parametrize("name", SKILLS)
def test_a_built_in_skill_says_what_the_table_says(name: str, library: SkillLibrary) -> None:
    skill, text = SKILLS[name], library.read(name)
    front: dict[str, Any] = yaml.safe_load((BUILT_IN / name / "SKILL.md").read_text().split("---\n")[1])
    metadata = front["metadata"]
    assert (text.deliverable, text.section, text.origin) == (skill.leaves, skill.section, "built-in")
    phases = " ".join(stage for stage in NORMAL if name in REQUIRED[stage])
    assert metadata["phase"] == (phases or NOT_ALWAYS_NEEDED[name])
    assert metadata.get("by", "") == ("engine" if skill.by_engine else "")
    assert {each.leaves for each in SKILLS.values()} >= set(text.references)
    assert all(reference in text.body for reference in text.references)


@pytest.mark.parametrize("name", SKILLS)
def test_a_built_in_skill_is_whole(name: str, library: SkillLibrary) -> None:
    skill, text = SKILLS[name], library.read(name)
    file = (BUILT_IN / name / "SKILL.md").read_text()
    assert fault_of(FileDemand(path=name), file) == ""
    assert [fault_of(FileDemand(path=name, section=each), file) for each in HEADINGS] == [""] * len(HEADINGS)
    assert re.findall(r"^## (.*)$", text.body, re.MULTILINE) == HEADINGS
    assert "References to read:" in section(text.body, "Inputs")
    assert 40 <= len(file.splitlines()) <= 80
    assert max(map(len, file.splitlines()[4:])) <= 120
    left = section(text.body, "Deliverable")
    if skill.leaves:
        assert f"`docs/systems/<system>/{skill.leaves}`" in left
        assert f"section `{skill.section}`" in left if skill.section else True
    else:
        assert ("The change itself" in left) is not skill.by_engine
        assert ("done by the engine" in " ".join(left.split())) is skill.by_engine


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("spec", ("capabilities",)),
        ("estimation", ("estimate", "hours")),
        *((n, ("verdict", "findings")) for n in JUDGING),
    ],
)
def test_a_skill_names_the_keys_of_the_result_that_matter(
    name: str, keys: tuple[str, ...], library: SkillLibrary
) -> None:
    left = section(library.read(name).body, "Deliverable")
    assert [key for key in keys if f"`{key}`" not in left] == []


# A person's own


def test_a_skill_of_the_project_goes_before_the_built_in_one(library: SkillLibrary) -> None:
    put(library, "\ufeff" + own(more="metadata:\n  references: A.md B.md\n").replace("\n", "\r\n"))
    assert library.read("spec") == SkillText(
        name="spec",
        description="Our own.",
        body="# Ours\n\nText.\n",
        origin="project",
        deliverable="FEATURESPEC.md",
        references=("A.md", "B.md"),
    )
    assert library.guide("spec") == "# Ours\n\nText.\n"
    assert library.read("triage").origin == "built-in"


def test_it_may_leave_another_file_and_then_the_section_is_its_own(library: SkillLibrary) -> None:
    put(library, own("security-audit", "metadata: {deliverable: security/REPORT.md}\n"), "security-audit")
    found = library.read("security-audit")
    assert (found.deliverable, found.section) == ("security/REPORT.md", "")


def test_a_section_alone_may_be_named_otherwise(library: SkillLibrary) -> None:
    put(library, own("security-audit", "metadata: {section: Safety}\n"), "security-audit")
    found = library.read("security-audit")
    assert (found.deliverable, found.section) == ("VALIDATION.md", "Safety")


def test_a_person_may_have_skills_that_we_do_not_know(library: SkillLibrary) -> None:
    put(library, own("house-style"), "house-style")
    assert set(library.names) == {*SKILLS, "house-style"}
    found = library.read("house-style")
    assert (found.origin, found.deliverable) == ("project", "")


def test_of_a_skill_that_nobody_knows_nothing_is_told(library: SkillLibrary) -> None:
    assert library.guide("nothing-such") == library.guide("../spec") == ""
    with pytest.raises(UsageError, match=r"there is no skill 'specs'; did you mean 'spec'\?"):
        library.read("specs")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# No frontmatter\n", ":1: has no frontmatter"),
        ("---\nname: spec\n", ":1: the frontmatter has no end; close it with a line ---"),
        ("---\n---\nText.\n", ":1: expected a name, a description and more keys, found nothing"),
        ("---\nname: spec\n---\nText.\n", ":1: description is missing; give it text of at most 1024 characters"),
        (own("triage"), ":2: name: expected 'spec', as its folder is called, found 'triage'"),
        (own("Spec"), ":2: name: expected a name of lower-case letters, digits and single hyphens, found the text"),
        (own().replace("Our own.", "' '"), ":3: description: expected text of at most 1024 characters"),
        (own(more="descripton: x\n"), ":4: descripton: unknown key; did you mean 'description'?"),
        (own(more="name: spec\n"), ":4: name: is given twice, first on line 2; keep one"),
        (own(more="metadata: text\n"), ":4: metadata: expected a table of keys, found the text"),
        (own(more="metadata:\n  phase: 1\n"), ":5: metadata.phase: expected text, found the number 1"),
        (own(more="metadata:\n  deliverable: ../A.md\n"), ":5: metadata.deliverable: expected a relative file name"),
        (own(more="metadata:\n  deliverable: /A.md\n"), ":5: metadata.deliverable: expected a relative file name"),
        (own(more="metadata:\n  deliverable: a/./A.md\n"), ":5: metadata.deliverable: expected a relative file name"),
        (own(more="metadata:\n  deliverable: ''\n"), ":5: metadata.deliverable: expected a relative file name"),
        (own(body=" \n"), ":6: has no text below its frontmatter"),
        (own(body="x" * LARGEST), ": is larger than 64 KiB"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_key(text: str, says: str, library: SkillLibrary) -> None:
    put(library, text)
    with pytest.raises(ConfigError) as error:
        library.read("spec")
    assert f".loop/skills/spec/SKILL.md{says}" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_the_file_is_a_mistake_and_so_is_a_name_that_none_may_have(library: SkillLibrary) -> None:
    (library.root / ".loop/skills/spec").mkdir(parents=True)
    (library.root / ".loop/skills/README.md").touch()
    with pytest.raises(ConfigError, match=r"spec/SKILL\.md: is not there; the folder of a skill has one"):
        library.read("spec")
    (library.root / ".loop/skills/My Skill").mkdir()
    with pytest.raises(ConfigError, match=r"^\.loop/skills: expected a name of lower-case letters"):
        _ = library.names


@pytest.mark.parametrize("linked", [".loop/skills", ".loop/skills/spec", ".loop/skills/spec/SKILL.md"])
def test_no_link_is_followed(linked: str, library: SkillLibrary, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    elsewhere = SkillLibrary(root=outside)
    put(elsewhere, own())
    (library.root / linked).parent.mkdir(parents=True)
    (library.root / linked).symlink_to(outside / linked)
    with pytest.raises(ConfigError, match="is a link; nothing is read or written there"):
        library.read("spec")


def test_a_pipe_in_its_place_is_refused(library: SkillLibrary) -> None:
    (library.root / ".loop/skills/spec").mkdir(parents=True)
    os.mkfifo(library.root / ".loop/skills/spec/SKILL.md")
    with pytest.raises(ConfigError, match="is not a regular file"):
        library.read("spec")
