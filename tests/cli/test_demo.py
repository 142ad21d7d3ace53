import json
from pathlib import Path

import pytest

from tests.cli.projects import NEVER_RIGHT, Sample, loop, program
from tests.cli.test_looking import Golden, normal
from tests.repository import Repository
from tests.test_schemas import mistakes


@pytest.mark.slow
def test_the_demo_ends_merged_and_verified_and_says_what_happened(tmp_path: Path, golden: Golden) -> None:
    folder = tmp_path / "demo"
    done = program(tmp_path, "demo", "--at", "demo")
    assert done.code == 0, done.err
    repository = Repository(folder)
    assert repository.git("show", "main:textkit/slug.py").startswith("import re\nimport unicodedata")
    assert "creme-brulee" in repository.git("show", "main:tests/test_slug.py")
    shown = normal(done.out, folder).replace(repository.git("rev-parse", "--short", "main"), "COMMIT")
    golden("cli/demo.txt", shown.replace(shown.split("--loop ")[1].split("`")[0], "LOOP"))
    assert loop(folder, "gates", "--json").data["gates"] == []


@pytest.mark.slow
def test_the_demo_as_data_takes_a_folder_that_nobody_has(tmp_path: Path) -> None:
    done = loop(tmp_path, "demo", "--json", TMPDIR=str(tmp_path))
    assert done.code == 0, done.err
    assert Path(done.data["folder"]).parent == tmp_path
    assert mistakes("demo", done.data) == []
    answer = {key: done.data[key] for key in ("outcome", "iterations", "merged_into")}
    assert answer == {"outcome": "verified", "iterations": 3, "merged_into": "main"}


def test_the_demo_takes_no_folder_that_is_in_use(repo: Repository) -> None:
    done = loop(repo.path, "demo", "--at", ".")
    assert (done.code, "the folder is not empty; name one that does not exist yet" in done.err) == (2, True)


def test_a_rehearsal_touches_nothing_of_the_persons(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    script = tmp_path / "other.toml"
    script.write_text(NEVER_RIGHT)
    refs = sample.repo.git("show-ref")
    done = sample.loop("rehearse", str(script), "--max-iterations", "1", "--json")
    assert (done.code, done.data["outcome"]) == (4, "escalated")
    assert mistakes("rehearse", done.data) == []
    assert sample.repo.git("show-ref") == refs
    assert sample.repo.git("status", "--porcelain", "--ignored") == ""


def test_a_rehearsal_names_no_command_for_a_clone_that_is_gone(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    gone = sample.loop("rehearse", "scenario.toml", "--max-iterations", "1")
    assert (gone.code, "Stopped: a person is needed." in gone.out, "loop resume" in gone.out) == (4, True, False)


def test_a_rehearsal_outside_of_a_repository_plays_on_the_sample_project(tmp_path: Path) -> None:
    script = tmp_path / "blocked.toml"
    script.write_text('[[step]]\nrole = "developer"\nresult = { status = "blocked", summary = "no idea" }\n')
    done = loop(tmp_path, "rehearse", "blocked.toml", "Do it", "--json")
    assert (done.code, "the developer is blocked: no idea" in done.data["needs"][0]["what"]) == (4, True)


def test_progress_of_another_tool_is_taken_over(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    iteration = {"number": 1, "implementation": "tried", "review_result": "FAIL", "review_issues": ["a.py:1 - wrong"]}
    counters = {"consecutive_review_failures": 1, "consecutive_test_failures": 0}
    state = {"enabled": True, "current_iteration": 2, "max_iterations": 5, "status": "in_progress", **counters}
    text = json.dumps({"feature_name": "Make it good", "feedback_loop": {**state, "iterations": [iteration]}})
    file = tmp_path / "progress.json"
    file.write_text(text)
    adopted = sample.loop("adopt", str(file), "--json")
    assert (adopted.code, adopted.data["kind"], adopted.data["state"]) == (0, "feedback", "PREFLIGHT")
    assert file.read_text() == text
    resumed = sample.loop("resume", "--json")
    assert (resumed.data["outcome"], resumed.data["iterations"]) == ("verified", 2)
