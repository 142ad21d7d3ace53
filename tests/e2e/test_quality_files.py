"""What a review leaves on file: the story's handoff, and the findings beside an artifact while it is blocked."""

from pathlib import Path

import pytest
import yaml

from loopwright.app.starts.stories import story_id
from loopwright.errors import ConfigError
from loopwright.kernel.model import Ending
from tests.e2e.reviewing import (
    BAD,
    CODE,
    CREATOR,
    DESIGN,
    FINE,
    FIXES,
    LEAVES_IT,
    REVIEWS,
    STORY,
    ever_committed,
    go_on,
    handoff,
    on_file,
    review,
    reviewed,
    seen,
)
from tests.e2e.scene import Scene

pytestmark = pytest.mark.sampled("kills")

BESIDE = "stories/ST-1.quality.yml"  # in the creator's workspace
SHOWN = f".loop/quality/{BESIDE}"  # for the person
BAD_STORY = {STORY: f"id: ST-1\n{FINE}{BAD}"}
BAD_CODE = {CODE: f"x = 1\n{BAD}# BUG low ./ S7 a comma is missing\n"}
OF_CODE = story_id(CODE)  # the story of a path that is no story
OPEN = {
    "severity": "P0",
    "check": "S2",
    "dimension": "",
    "issue": "two things in one",
    "guidance": "take the line out",
    "file": STORY,
    "evidence": "the line says so",
}


def quality_files(scene: Scene) -> list[str]:
    """In the person's tree and in every workspace."""
    return sorted(str(path.relative_to(scene.root)) for path in scene.root.rglob("*.quality.yml"))


# --- the handoff ----------------------------------------------------------------------------------------------


def test_a_passed_review_puts_its_findings_on_file_with_what_was_resolved(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_CODE)
    done = review(scene, CODE)
    assert (done.outcome.ending, done.outcome.attempts, done.said) == (Ending.REVIEWED, 2, ())
    assert sorted(on_file(scene, OF_CODE)) == [
        ("code", "P0", "two things in one", True),
        ("code", "P3", "a comma is missing", False),  # an observation at quick depth: nobody was told to fix it
    ]
    held = handoff(scene, OF_CODE)
    assert (held["current_phase"], held["completed_phases"]) == ("quality", ["plan", "tests", "code"])


def test_a_review_that_ends_with_a_person_puts_its_findings_on_file_too(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_STORY, creator=LEAVES_IT)
    stopped = review(scene, STORY)
    assert stopped.halt.why == "waiting"
    assert on_file(scene, "ST-1") == [("story", "P0", "two things in one", False)]
    assert [each["attempt"] for each in seen(scene, "reviews")] == [1, 2, 3]
    assert [each["attempt"] for each in seen(scene, "fixes")] == [1, 2]  # none that no review would see


def test_a_review_at_another_gate_appends_and_leaves_the_entries_of_others_alone(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_CODE)
    review(scene, CODE, gate="code")
    file = scene.root / ".loop" / "stories" / OF_CODE / "handoff.yml"
    held = yaml.safe_load(file.read_text())
    foreign = {"severity": "P2", "dimension": "C", "gate": "plan", "issue": "by hand", "file": "", "line": 0}
    held["quality_findings"].insert(0, {**foreign, "resolved": False, "by": "another tool"})
    held["notes"] = "what another tool keeps here"
    file.write_text(yaml.safe_dump(held))
    review(scene, CODE, gate="quality")
    entries = on_file(scene, OF_CODE)
    assert [gate for gate, *_ in entries] == ["plan", "code", "code", "quality", "quality"]
    assert sorted(entries) == [
        ("code", "P0", "two things in one", True),
        ("code", "P3", "a comma is missing", False),
        ("plan", "P2", "by hand", False),
        # The committed file has the bug still; a comprehensive review has the comma fixed with it.
        ("quality", "P0", "two things in one", True),
        ("quality", "P3", "a comma is missing", True),
    ]
    after = handoff(scene, OF_CODE)
    assert (after["notes"], after["quality_findings"][0]["by"]) == (
        "what another tool keeps here",
        "another tool",
    )


def test_a_handoff_that_became_unreadable_is_left_as_it_is_and_the_loop_goes_on(tmp_path: Path) -> None:
    breaks = "held = root / '.loop/stories/ST-1/handoff.yml'\nheld.parent.mkdir(parents=True)\n"
    breaks += "held.write_text('story_id: [not, a')\n"
    scene = reviewed(tmp_path, BAD_STORY, creator=breaks + CREATOR)
    done = review(scene, STORY)
    held = scene.root / ".loop" / "stories" / "ST-1" / "handoff.yml"
    assert done.outcome.ending is Ending.REVIEWED
    assert held.read_text() == "story_id: [not, a"
    assert set(done.said)
    assert all(str(held) in sentence and "mend it and run `loop render`" in sentence for sentence in done.said)
    held.unlink()
    scene.loop("render")
    assert on_file(scene, "ST-1") == [("story", "P0", "two things in one", True)]


def test_a_handoff_that_cannot_be_read_keeps_a_review_from_starting(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_STORY)
    held = scene.repo.write(".loop/stories/ST-1/handoff.yml", "story_id: ST-1\ntier: huge\n")
    with pytest.raises(ConfigError, match=r"handoff\.yml:2: tier"):
        review(scene, STORY)
    assert held.read_text() == "story_id: ST-1\ntier: huge\n"
    assert scene.noted("started") == []


@pytest.mark.parametrize("ending", ["passed", "waiting", "accepted", "cancelled"])
def test_render_makes_the_handoff_anew_however_the_review_ended(tmp_path: Path, ending: str) -> None:
    scene = reviewed(tmp_path, BAD_STORY, creator=CREATOR if ending == "passed" else LEAVES_IT)
    done = review(scene, STORY)
    if ending == "accepted":
        go_on(scene, done.loop, "accept")
    if ending == "cancelled":
        scene.loop("cancel")
    file = scene.root / ".loop" / "stories" / "ST-1" / "handoff.yml"
    before = file.read_text()
    file.unlink()
    named = scene.loop("render", "--json").json["files"]
    assert ".loop/stories/ST-1/handoff.yml" in named
    assert file.read_text() == before
    assert ("accepted: true" in before) == (ending == "accepted")


def test_render_makes_a_handoff_of_several_gates_anew(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_CODE)
    for gate in ("plan", "code", "quality"):
        review(scene, CODE, gate=gate)
    file = scene.root / ".loop" / "stories" / OF_CODE / "handoff.yml"
    before = file.read_text()
    file.unlink()
    scene.loop("render")
    assert file.read_text() == before
    assert {each["gate"] for each in handoff(scene, OF_CODE)["quality_findings"]} == {"plan", "code", "quality"}


# --- the findings beside the artifact -------------------------------------------------------------------------


def test_the_creator_finds_the_findings_beside_the_artifact_and_nowhere_else(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_STORY)
    done = review(scene, STORY)
    (fix,) = seen(scene, "fixes")
    written = yaml.safe_load(fix["file"])
    ids = [each.pop("id") for each in written["findings"]]
    assert written == {"story_id": "ST-1", "verdict": "BLOCKED", "round": 1, "findings": [OPEN]}
    assert ids == [handoff(scene, "ST-1")["quality_findings"][0]["id"]]
    assert yaml.safe_load(fix["for the person"]) == yaml.safe_load(fix["file"])
    assert fix["for the person"].startswith("# Written by Loopwright")
    assert fix["told"] == []
    assert (BESIDE in fix["brief"], "two things in one" in fix["brief"]) == (True, False)
    assert done.outcome.ending is Ending.REVIEWED
    assert quality_files(scene) == []
    assert not [path for path in ever_committed(scene) if path.endswith(".quality.yml")]


def test_a_design_has_its_name_in_the_file(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {DESIGN: f"# Paying\n{BAD}"})
    review(scene, DESIGN)
    (fix,) = seen(scene, "fixes")
    written = yaml.safe_load(fix["file"])
    assert list(written) == ["design_name", "verdict", "round", "findings"]
    assert written["findings"][0]["file"] == DESIGN
    assert quality_files(scene) == []


def test_the_file_tells_each_round_what_is_open_in_it(tmp_path: Path) -> None:
    grows = REVIEWS + "findings = findings[attempt - 1:] \nreport(verdict='fail', findings=findings)\n"
    bugs = "".join(f"# BUG critical ./ S{number} fault {number}\n" for number in "abc")
    scene = reviewed(tmp_path, {STORY: bugs}, reviewer=grows, creator=LEAVES_IT)
    stopped = review(scene, STORY)
    told = [yaml.safe_load(fix["file"]) for fix in seen(scene, "fixes")]
    assert [(each["round"], [one["issue"] for one in each["findings"]]) for each in told] == [
        (1, ["fault a", "fault b", "fault c"]),
        (2, ["fault b", "fault c"]),
    ]
    left = yaml.safe_load((scene.root / SHOWN).read_text())
    assert (left["round"], [one["issue"] for one in left["findings"]]) == (3, ["fault c"])
    assert f"They are in {SHOWN}" in stopped.ask.question
    assert stopped.ask.findings == ()  # they are in the file, and nowhere else


@pytest.mark.parametrize("ending", ["accept", "cancel"])
def test_the_file_outlives_the_escalation_and_goes_with_the_person_s_word(tmp_path: Path, ending: str) -> None:
    scene = reviewed(tmp_path, BAD_STORY, creator=LEAVES_IT)
    stopped = review(scene, STORY)
    assert quality_files(scene) == [SHOWN]
    go_on(scene, stopped.loop, "accept") if ending == "accept" else scene.loop("cancel")
    assert quality_files(scene) == []
    assert not [path for path in ever_committed(scene) if path.endswith(".quality.yml")]


def test_a_file_that_was_deleted_while_the_artifact_is_blocked_is_rendered_again(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_STORY, creator=LEAVES_IT)
    review(scene, STORY)
    before = (scene.root / SHOWN).read_text()
    (scene.root / SHOWN).unlink()
    scene.loop("render")
    assert (scene.root / SHOWN).read_text() == before


def test_a_creator_that_commits_and_keeps_the_file_gets_it_into_no_commit(tmp_path: Path) -> None:
    commits = FIXES + "Path('mine.quality.yml').write_text('x: 1')\n"
    commits += "subprocess.run(['git', 'add', '-A', '-f'], check=True)\n"
    commits += (
        "subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-qm', 'all'], check=True)\n"
    )
    scene = reviewed(tmp_path, BAD_STORY, creator=commits + "report()\n")
    done = review(scene, STORY)
    assert done.outcome.ending is Ending.REVIEWED
    named = scene.repo.git("ls-tree", "-r", "--name-only", done.outcome.commit).splitlines()
    assert named == ["README.md", "loop.toml", STORY]
    assert BESIDE not in ever_committed(scene)


def test_at_an_inline_gate_no_file_is_written_and_the_findings_are_in_the_context(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_CODE)
    review(scene, CODE, gate="code")
    (fix,) = seen(scene, "fixes")
    assert (fix["file"], [finding["issue"] for finding in fix["told"]]) == ("", ["two things in one"])
    assert "two things in one" in fix["brief"]
    assert quality_files(scene) == []


def test_in_a_batch_every_gate_hands_over_by_file(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {**BAD_CODE, "src/fine.py": "x = 1\n"})
    done = review(scene, "src", batch=True, gate="code")
    (fix,) = seen(scene, "fixes")
    # The same file in the workspace and for the person, observations of a quick review included.
    issues, shown = (
        [one["issue"] for one in yaml.safe_load(fix[file])["findings"]] for file in ("file", "for the person")
    )
    assert (issues, fix["told"]) == (["two things in one", "a comma is missing"], [])
    assert shown == issues
    assert done.outcome.ending is Ending.REVIEWED
    assert quality_files(scene) == []


MINE = "mine: precious\n"


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_a_file_of_the_person_s_own_stays_and_is_not_what_the_creator_gets(
    tmp_path: Path, *, tracked: bool, beside: bool
) -> None:
    more = "[quality]\nbeside = true\n" if beside else ""
    scene = reviewed(tmp_path, BAD_STORY | ({BESIDE: MINE} if tracked else {}), more=more)
    (scene.root / BESIDE).write_text(MINE)
    before = scene.repo.git("status", "--porcelain")
    done = review(scene, STORY)
    (fix,) = seen(scene, "fixes")
    assert [one["issue"] for one in yaml.safe_load(fix["file"])["findings"]] == ["two things in one"]
    assert done.outcome.ending is Ending.REVIEWED
    assert (scene.root / BESIDE).read_text() == MINE
    assert scene.repo.git("status", "--porcelain") == before
    named = scene.repo.git("ls-tree", "-r", "--name-only", done.outcome.commit).splitlines()
    assert (BESIDE in named) is tracked


def test_with_beside_the_file_is_in_the_person_s_tree_and_names_itself_there(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, BAD_STORY, creator=LEAVES_IT, more="[quality]\nbeside = true\n")
    stopped = review(scene, STORY)
    assert quality_files(scene) == [BESIDE]
    assert f"They are in {BESIDE}" in stopped.ask.question
    scene.loop("cancel")
    assert quality_files(scene) == []
