from pathlib import Path

import pytest

from tests.cli.projects import CONFIG, GOOD, NEVER_RIGHT, Sample
from tests.repository import Repository


def test_a_verified_task_is_a_commit_on_a_branch_of_its_own(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    before = sample.repo.git("rev-parse", "main")
    done = sample.loop("feedback", "Make it good", "--json")
    assert done.code == 0, done.err
    loop = done.data["loop"]
    assert done.data == {
        "loop": loop,
        "outcome": "verified",
        "iterations": 1,
        "commit": sample.repo.git("rev-parse", f"loop/{loop}"),
        "branch": f"loop/{loop}",
        "merged_into": "",
        "note": "",
        "cost": {"usd": 0.0, "reserved": 0.0, "budget": 25.0},
        "needs": [],
    }
    assert sample.repo.git("show", f"loop/{loop}:result.txt") == "good"
    assert sample.repo.git("rev-parse", "main") == before
    assert sample.repo.git("status", "--porcelain") == ""


def test_merging_takes_the_result_onto_the_current_branch(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    done = sample.loop("feedback", "Make it good", "--merge", "--json")
    assert (done.code, done.data["merged_into"]) == (0, "main")
    assert (sample.repo.path / "result.txt").read_text() == "good"


def test_the_closing_lines_say_where_the_result_is_and_how_to_take_it(tmp_path: Path) -> None:
    done = Sample.create(tmp_path / "repo").loop("feedback", "Make it good")
    assert done.code == 0
    branch = done.out.split("Take it: `git merge ")[1].split("`")[0]
    assert f"Result: branch {branch}" in done.out
    assert "IMPLEMENTATION_VERIFIED after 1 iteration." in done.out


def test_the_files_exist_while_the_first_developer_works(tmp_path: Path) -> None:
    """The agent itself looks: a command agent that lists what is there when it runs."""
    look = "import os, pathlib; p = pathlib.Path(os.environ['LOOP_BRIEF']).read_text(); import re;"
    look += "f = re.search(r'/\\\\S+feedback-scratchpad.md', p); pathlib.Path('result.txt').write_text('good');"
    look += "pathlib.Path('seen.txt').write_text(pathlib.Path(f.group(0)).read_text() if f else 'no pointer: ' + p)"
    config = CONFIG.replace(
        'kind = "rehearsal"\nscenario = "scenario.toml"',
        f"""kind = "rehearsal"
scenario = "scenario.toml"
[agents.looker]
kind = "command"
argv = ["python3", "-c", "{look}"]""",
    ).replace('default = "script"', 'default = "script"\ndeveloper = "looker"')
    sample = Sample.create(tmp_path / "repo", config=config)
    done = sample.loop("feedback", "Make it good", "--json")
    assert done.code == 0, done.err + done.out
    files = sample.repo.path / ".loop" / "feedback" / done.data["loop"]
    assert sorted(file.name for file in files.iterdir()) == ["feedback-scratchpad.md", "progress.json"]
    for folder in (".loop", ".worktrees"):
        assert (sample.repo.path / folder / ".gitignore").read_text() == "*\n"


def test_a_limit_stops_for_a_person_and_says_what_to_type(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    done = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json")
    assert (done.code, done.data["outcome"], done.data["iterations"]) == (4, "escalated", 1)
    (need,) = done.data["needs"]
    assert need["kind"] == "question"
    assert need["what"] == "The feedback loop stopped: 1 of 1 iterations are used. How should it go on?"
    assert [choice["label"] for choice in need["choices"]] == [
        "Continue",
        "Accept current state",
        "Review iteration history",
        "Cancel feature",
        "Revise the approach",
    ]
    assert need["command"] == "loop answer continue 3"


def test_a_budget_that_is_too_small_pauses_with_the_numbers(tmp_path: Path) -> None:
    config = CONFIG.replace(
        'scenario = "scenario.toml"\n', 'scenario = "scenario.toml"\n[agents.script.limits]\nusd = 2.0\n'
    )
    sample = Sample.create(tmp_path / "repo", config=config)
    done = sample.loop("feedback", "Make it good", "--budget", "1", "--json")
    assert (done.code, done.data["outcome"]) == (5, "paused")
    assert "the next step reserves 2.00" in done.data["note"]
    resumed = sample.loop("resume", "--budget", "10", "--json")
    assert (resumed.code, resumed.data["outcome"]) == (0, "verified")


def test_the_task_may_come_from_a_file(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    sample.repo.write("task.md", "Make it good\n\nas the README says\n")
    sample.repo.commit("Task")
    done = sample.loop("feedback", "--task-file", "task.md", "--dry-run")
    assert (done.code, done.out.splitlines()[0]) == (0, "Would start a feedback loop: Make it good")


def test_a_dry_run_says_what_would_be_done_and_makes_nothing(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    done = sample.loop("feedback", "Make it good", "--dry-run", "--json", "--criterion", "It is good")
    assert done.code == 0
    assert done.data["base"] == sample.repo.git("rev-parse", "HEAD")
    assert done.data["agents"] == {"developer": ["script"], "reviewer": ["script"], "tester": []}
    assert (done.data["iterations"], done.data["budget"], done.data["merge"]) == (5, 25.0, False)
    assert list(done.data["checks"]) == ["test"]
    assert not (sample.repo.path / ".loop").exists()
    assert not (sample.repo.path / ".worktrees").exists()


@pytest.mark.parametrize("words", [("--merge",), ("--merge", "--dry-run")])
def test_merging_needs_a_branch(tmp_path: Path, words: tuple[str, ...]) -> None:
    sample = Sample.create(tmp_path / "repo")
    sample.repo.git("checkout", "--quiet", "--detach")
    done = sample.loop("feedback", "Make it good", *words)
    assert done.code == 2
    assert "HEAD is detached; check out a branch first" in done.err


def test_a_repository_is_found_from_a_folder_within(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", GOOD)
    inner = Repository(sample.repo.path / "inner")
    inner.path.mkdir()
    assert Sample(inner).loop("feedback", "Make it good").code == 0
    assert not (inner.path / ".loop").exists()
