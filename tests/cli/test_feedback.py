from pathlib import Path

import pytest

from loopwright.loops.quality.quality_file import MARK
from tests.cli.projects import CONFIG, GOOD, NEVER_RIGHT, Sample
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured


def test_a_verified_task_is_a_commit_on_a_branch_of_its_own(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    before = sample.repo.git("rev-parse", "main")
    done = sample.loop("feedback", "Make it good", "--json")
    assert done.code == 0, done.err
    loop = done.data["loop"]
    answer = done.data
    assert answer.pop("evidence")["level"] == "not shown"
    assert answer == {
        "loop": loop,
        "outcome": "verified",
        "iterations": 1,
        "failing": [],
        "commit": sample.repo.git("rev-parse", f"loop/{loop}"),
        "branch": f"loop/{loop}",
        "merged_into": "",
        "merged": False,
        "not_merged": "",
        "interrupted": False,
        "command": f"git merge loop/{loop}",
        "folder": "",
        "note": "",
        "held_back": [],
        "cost": {"usd": 0.0, "estimated": False, "reserved": 0.0, "budget": 25.0},
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


# A developer that copies the scratchpad as it is when the developer runs: at first from where it must be, then from
# where the brief says it is.
LOOKER = """\
import os, pathlib, re
attempt = os.environ["LOOP_ATTEMPT"]
brief = pathlib.Path(os.environ["LOOP_BRIEF"]).read_text()
pointer = re.search(r"/[^`\\s]+feedback-scratchpad[.]md", brief)
known = "{root}/.loop/feedback/" + os.environ["LOOP_ID"] + "/feedback-scratchpad.md"
pad = pathlib.Path(known if attempt == "1" else pointer[0])
pathlib.Path("seen-" + attempt).write_text(pad.read_text())
pathlib.Path("result.txt").write_text("bad" if attempt == "1" else "good")
"""


def test_the_files_exist_while_the_developer_works(tmp_path: Path) -> None:
    root, script = tmp_path / "repo", tmp_path / "looker.py"
    script.write_text(LOOKER.replace("{root}", str(root)))
    agent = f'[agents.looker]\nkind = "command"\nargv = ["python3", "{script}"]\n[roles]\ndeveloper = "looker"\n'
    sample = Sample.create(root, config=CONFIG.replace("[roles]\n", agent))
    done = sample.loop("feedback", "Make it good", "--json")
    assert done.code == 0, done.err
    seen = [sample.repo.git("show", f"{done.data['branch']}:seen-{attempt}") for attempt in (1, 2)]
    assert ["## Iteration 1" in text for text in seen] == [False, True]
    files = root / ".loop" / "feedback" / done.data["loop"]
    assert sorted(file.name for file in files.iterdir()) == ["feedback-scratchpad.md", "progress.json"]
    assert [(root / folder / ".gitignore").read_text() for folder in (".loop", ".worktrees")] == ["*\n", "*\n"]


def test_of_a_loop_that_landed_no_tree_is_left_where_a_test_runner_would_find_it(tmp_path: Path) -> None:
    config = CONFIG.replace("[workspace]\n", '[workspace]\ncopy = ["deps"]\n')
    sample = Sample.create(tmp_path / "repo", config=config)
    sample.repo.write(".git/info/exclude", "deps\n")
    sample.repo.write("deps/tool", "tool\n")
    done = sample.loop("feedback", "Make it good", "--merge", "--json")
    assert (done.code, done.data["merged"]) == (0, True)
    assert sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json").code == 4  # nothing to do: asks
    found = sorted(file.relative_to(sample.repo.path).as_posix() for file in sample.repo.path.rglob("check.py"))
    (waits,) = (row["id"] for row in sample.loop("status", "--json").data["loops"] if row["status"] == "waiting")
    assert found == [f".worktrees/{waits}/check.py", "check.py"]


def test_a_limit_stops_for_a_person_and_says_what_to_type(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    done = sample.loop("feedback", "Make it good", "--max-iterations", "1", "--json")
    assert (done.code, done.data["outcome"], done.data["iterations"]) == (4, "escalated", 1)
    (need,) = done.data["needs"]
    assert need["kind"] == "escalation"
    assert need["what"].startswith("The feedback loop stopped: 1 of 1 iteration is used; what fails was so before, on")
    assert [choice["label"] for choice in need["choices"]] == [
        "Continue",
        "Accept current state",
        "Review iteration history",
        "Cancel feature",
        "Revise the approach",
    ]
    assert need["command"] == "loop answer continue 3"


@pytest.mark.parametrize(("more", "limit"), [("10", 10.0), ("none", None)])
def test_a_budget_that_is_too_small_pauses_with_the_numbers(tmp_path: Path, more: str, limit: float | None) -> None:
    config = CONFIG.replace(
        'scenario = "scenario.toml"\n', 'scenario = "scenario.toml"\n[agents.script.limits]\nusd = 2.0\n'
    )
    sample = Sample.create(tmp_path / "repo", config=config)
    done = sample.loop("feedback", "Make it good", "--budget", "1", "--json")
    assert (done.code, done.data["outcome"]) == (5, "paused")
    assert "the next step reserves $2.00" in done.data["note"]
    resumed = sample.loop("resume", "--budget", more, "--json")
    assert (resumed.code, resumed.data["outcome"], resumed.data["cost"]["budget"]) == (0, "verified", limit)


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


def test_what_is_not_promised_without_a_sandbox_is_said_at_every_start(tmp_path: Path) -> None:
    own, others = Sample.create(tmp_path / "own"), Sample.create(tmp_path / "others")
    others.repo.write("loop.toml", CONFIG + '\n[agents.other]\nkind = "command"\nargv = ["true"]\n')
    said = "No sandbox: agents and checks run with your permissions. An agent that means to could speak for you"
    assert said not in own.loop("feedback", "Make it good").err
    assert others.loop("feedback", "Make it good").err.count(said) == 1


@pytest.mark.parametrize("command", [("feedback", "x"), ("review", "mine/a.txt")])
@pytest.mark.parametrize("is_dry", [True, False], ids=["dry run", "run"])
def test_work_that_is_not_committed_is_said_to_be_unseen(
    tmp_path: Path,
    command: tuple[str, ...],
    is_dry: bool,  # noqa: FBT001
) -> None:
    sample = Sample.create(tmp_path / "repo")
    (sample.repo.path / ".git/info/exclude").write_text("ignored.txt\n")
    for path in ("mine/a.txt", "loop.toml", ".loop/tickets/queue/a.yml", "ignored.txt"):
        sample.repo.write(path, CONFIG)
    sample.repo.write("mine/a.quality.yml", f"{MARK}.\n")
    words = (*command, *(["--dry-run"] if is_dry else ["--unattended"]))
    named = command[0] == "review"  # what is named to a review is reviewed as it is
    assert ("Uncommitted changes" in sample.loop(*words).err) is not named
    sample.repo.write("check.py", "changed")
    count, paths = ("1 file", "check.py") if named else ("2 files", "check.py, mine/a.txt")
    said = f"Uncommitted changes of {count} are not seen by the loop: {paths}; commit what it needs first."
    assert sample.loop(*words).err.count(said) == 1
