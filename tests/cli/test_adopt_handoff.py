import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.projects import Done, Sample
from tests.cli.reviews import blocks, fixes, reviewable
from tests.test_schemas import mistakes

# As another tool would have left it: the tests are there, the code is being reviewed.
HANDOFF = """\
story_id: ST-7
tier: medium
current_phase: code
completed_phases: [plan, tests]
plan_summary:
  components: [{name: export, file: src/a.py, responsibility: writes rows}]
  test_plan: {test_count: 3, test_types: [unit]}
test_summary: {all_tests_red: true, test_count: 3, test_files: [tests/test_a.py]}
code_summary: {coverage: 91, files_modified: [src/gone.py, ../outside.py, src/a.py]}
important_decisions: []
quality_findings:
  - {severity: P0, dimension: A, gate: code, issue: "it is bad", file: src/a.py, line: 1, resolved: false, check_id: R1}
  - {severity: P2, dimension: B, gate: plan, issue: "too few edge cases", file: "", line: 0, resolved: true}
memory_captured: false
house_rule: kept as it is  # another tool's own
"""
FILES = ("src/a.py", "tests/test_a.py")


def handed_over(tmp_path: Path, text: str = HANDOFF, *steps: str) -> tuple[Sample, Path]:
    sample = reviewable(tmp_path / "repo", *steps, files=FILES)
    file = tmp_path / "handoff.yml"
    file.write_text(text)
    return sample, file


def ours(sample: Sample) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((sample.repo.path / ".loop/stories/ST-7/handoff.yml").read_text())
    return loaded


def adopted(sample: Sample, file: Path, *words: str) -> Done:
    done = sample.loop("adopt", str(file), *words, "--json")
    assert done.code == 0, done.err
    return done


def test_a_story_goes_on_where_the_other_tool_left_it(tmp_path: Path) -> None:
    sample, file = handed_over(tmp_path, HANDOFF, blocks("src/a.py", attempt=1), fixes("src/a.py"))
    done = adopted(sample, file)
    assert mistakes("adopt", done.data) == []
    where = {"kind": "quality", "loop": done.data["loop"], "state": "LOAD_ARTIFACTS"}
    assert done.data == {**where, "kept": "", "remarks": [], "commands": []}
    assert (file.read_text(), ours(sample)) == (HANDOFF, yaml.safe_load(HANDOFF))
    resumed = sample.loop("resume", "--json")
    assert (resumed.code, resumed.data["passed"], resumed.data["rounds"]) == (0, ["src/a.py"], 2)
    after = ours(sample)
    assert (after["current_phase"], after["completed_phases"]) == ("quality", ["plan", "tests", "code"])
    assert (after["house_rule"], after["plan_summary"]) == ("kept as it is", yaml.safe_load(HANDOFF)["plan_summary"])
    assert [(each["gate"], each["resolved"]) for each in after["quality_findings"][:2]] == [
        ("code", True),
        ("plan", True),
    ]
    assert file.read_text() == HANDOFF


def test_what_was_taken_over_is_in_the_log(tmp_path: Path) -> None:
    sample, file = handed_over(tmp_path)
    adopted(sample, file)
    (sample.repo.path / ".loop/stories/ST-7/handoff.yml").unlink()
    assert sample.loop("render").code == 0
    assert ours(sample) == yaml.safe_load(HANDOFF)
    assert sample.loop("resume").code == 0
    before = ours(sample)
    (sample.repo.path / ".loop/stories/ST-7/handoff.yml").unlink()
    assert sample.loop("render").code == 0
    assert ours(sample) == before


def test_the_reviewer_is_told_what_was_found_before(tmp_path: Path) -> None:
    sample, file = handed_over(tmp_path)
    loop = adopted(sample, file).data["loop"]
    explained = sample.loop("explain", "--loop", loop, "--json").data
    assert [(each["severity"], each["text"]) for each in explained["findings"]] == [
        ("critical", "src/a.py:1 - it is bad")
    ]


@pytest.mark.parametrize(
    ("phases", "words", "gate", "artifact"),
    [
        ("[]", ("--artifact", "plan.md"), "plan", "plan.md"),
        ("[]", (), "plan", "src/a.py"),
        ("[plan]", (), "test", "tests/test_a.py"),
        ("[plan, tests]", (), "code", "src/a.py"),
        ("[plan, tests, code]", (), "quality", "src/a.py"),
    ],
)
def test_the_gate_is_that_of_the_first_phase_that_is_not_complete(
    tmp_path: Path, phases: str, words: tuple[str, ...], gate: str, artifact: str
) -> None:
    sample, file = handed_over(tmp_path, HANDOFF.replace("[plan, tests]", phases))
    sample.repo.write("plan.md", "a plan\n")
    loop = adopted(sample, file, *words).data["loop"]
    created = sample.loop("log", "--loop", loop, "--json").data["data"]
    assert json.loads(created["params"])["gate"] == gate
    (shown,) = sample.loop("status", "--json").data["loops"]
    assert (shown["task"], shown["status"]) == (artifact, "interrupted")


def test_a_folder_stands_for_the_file_in_it(tmp_path: Path) -> None:
    sample, file = handed_over(tmp_path)
    assert adopted(sample, file.parent).data["kind"] == "quality"
    both = tmp_path / "both"
    both.mkdir()
    for says in ("is, or has, none of these: a progress.json, a handoff.yml", "has both a progress.json and"):
        done = sample.loop("adopt", str(both))
        assert (done.code, says in done.err) == (2, True), done.err
        (both / "handoff.yml").write_text(HANDOFF)
        (both / "progress.json").write_text("{}")


@pytest.mark.parametrize(
    ("change", "words", "part"),
    [
        (("[plan, tests]", "[plan, tests, code, quality]"), (), "every phase of story ST-7 is complete"),
        (("[plan, tests]", "[tests]"), (), "handoff.yml:4: completed_phases[0]: has to follow the order"),
        (("tier: medium", "tier: huge"), (), "handoff.yml:2: tier: expected one of trivial, small, medium, large"),
        (("tier: medium", "tier: [medium"), (), "handoff.yml:"),
        (("story_id: ST-7", "story_id: ../evil"), (), "cannot be the id of a story"),
        (("src/a.py", "src/b.py"), (), "names nothing for the code gate that is in "),
        (("", ""), ("--artifact", "nowhere.py"), "nowhere.py: there is no such file or folder"),
    ],
)
def test_a_handoff_that_cannot_go_on_is_refused_in_a_sentence(
    tmp_path: Path, change: tuple[str, str], words: tuple[str, ...], part: str
) -> None:
    sample, file = handed_over(tmp_path, HANDOFF.replace(*change))
    done = sample.loop("adopt", str(file), *words, "--json")
    assert (done.code, mistakes("error", done.data)) == (2, [])
    assert part in done.data["error"]
    assert "\n" not in done.data["error"]
    assert not (sample.repo.path / ".loop" / "stories").exists()
    assert sample.loop("status", "--json").data == {"loops": []}


def test_a_story_that_is_known_here_is_not_taken_over_again(tmp_path: Path) -> None:
    sample, file = handed_over(tmp_path)
    adopted(sample, file)
    done = sample.loop("adopt", str(file))
    assert done.code == 2
    assert "story ST-7 is known here; go on with `loop review`" in done.err


def test_an_artifact_goes_only_with_a_handoff(tmp_path: Path) -> None:
    sample, _ = handed_over(tmp_path)
    (tmp_path / "progress.json").write_text("{}")
    done = sample.loop("adopt", str(tmp_path / "progress.json"), "--artifact", "src/a.py")
    assert (done.code, "--artifact goes with a handoff.yml" in done.err) == (2, True)
