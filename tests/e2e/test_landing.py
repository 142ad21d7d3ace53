"""Where a verified result lands: on its own branch, and with `--merge` where nothing of the person's is in the way."""

import json
from pathlib import Path

import pytest

from tests.e2e.scene import ADD, PASSES, TEST_ADD, WRITES_ADD, Scene, ready

TELLS = (
    "note('found', json.dumps([found['issue'] for found in context()['findings'] + context()['failures']]))\n"
    "note('held', json.dumps(Path('calc.py').read_text()))\n"
)
IDENTITY = ("-c", "user.name=Test Person", "-c", "user.email=person@example.com")


def meanwhile(*actions: str) -> str:
    """A reviewer who passes everything; while it works the person does something in their repository."""
    git = f"def git(*words):\n    subprocess.run(['git', '-C', str(root), *{IDENTITY!r}, *words], check=True)\n"
    return git + "".join(f"{action}\n" for action in actions) + PASSES


def committed(path: str, text: str) -> tuple[str, str]:
    return f"(root / {path!r}).write_text({text!r})", "git('add', '-A'); git('commit', '-qm', 'By the person')"


def once(*actions: str) -> str:
    """As `meanwhile`, at the first review alone."""
    first = "".join(f"    {action}\n" for action in actions)
    return meanwhile(f"if attempt == 1:\n{first}")


def left(scene: Scene, *why: str) -> dict[str, object]:
    """It was verified and left on its branch; the note says why and gives the one command."""
    before = scene.repo.git("rev-parse", "main")
    said: dict[str, object] = scene.feedback("--merge", code=3)
    assert (said["outcome"], said["merged_into"], said["branch"]) == ("verified", "", f"loop/{said['loop']}")
    assert (said["merged"], str(said["not_merged"]) in str(said["note"])) == (False, True)
    assert f"`{said['command']}`" in str(said["not_merged"])
    for words in why:
        assert words in str(said["not_merged"])
    assert scene.file_at(str(said["branch"]), "calc.py") == ADD.rstrip()
    history = scene.repo.git("rev-list", "main").splitlines()
    assert before in history
    assert said["commit"] not in history
    return said


def test_without_merge_it_stands_on_a_branch_of_its_own(tmp_path: Path) -> None:
    scene = ready(tmp_path)
    before = scene.person()
    said = scene.loop("feedback", "Add add()", "--unattended")
    loop = scene.row().id
    assert scene.file_at(f"loop/{loop}", "calc.py") == ADD.rstrip()
    assert scene.person() == before
    assert f"loop/{loop}" in said.out
    assert f"git merge loop/{loop}" in said.out


def test_a_checked_out_and_clean_target_is_forwarded_with_its_files(tmp_path: Path) -> None:
    scene = ready(tmp_path)
    said = scene.feedback("--merge")
    assert (said["merged_into"], scene.repo.git("rev-parse", "HEAD")) == ("main", said["commit"])
    assert (scene.root / "calc.py").read_text() == ADD
    assert scene.repo.git("status", "--porcelain") == ""


def test_a_target_that_is_not_checked_out_is_moved_alone(tmp_path: Path) -> None:
    scene = ready(tmp_path, reviewer=meanwhile("git('switch', '-qc', 'other')"))
    files = scene.files()
    said = scene.feedback("--merge")
    assert (said["merged_into"], scene.repo.git("rev-parse", "main")) == ("main", said["commit"])
    assert scene.repo.git("symbolic-ref", "HEAD") == "refs/heads/other"
    assert (scene.files(), scene.repo.git("status", "--porcelain")) == (files, "")


def test_a_dirty_target_is_left_alone(tmp_path: Path) -> None:
    scene = ready(tmp_path, reviewer=meanwhile("(root / 'README.md').write_text('half written')"))
    said = left(scene, "changes of your own", f"git -C {scene.root} merge")
    assert (scene.root / "README.md").read_text() == "half written"
    assert scene.repo.git("status", "--porcelain") == " M README.md"
    command = str(said["note"]).split("`")[1].split()
    scene.repo.git("stash", "-q")
    scene.repo.git(*command[1:])  # the one command takes the result
    assert (scene.root / "calc.py").read_text() == ADD


@pytest.mark.slow
def test_a_target_that_moved_on_is_merged_and_the_merged_tree_is_what_was_verified(tmp_path: Path) -> None:
    scene = ready(tmp_path, reviewer=meanwhile(*committed("other.py", "")))
    said = scene.feedback("--merge")
    assert (said["outcome"], said["merged_into"]) == ("verified", "main")
    assert len(scene.repo.git("rev-list", "--parents", "-1", "main").split()) == 3
    assert {"calc.py", "other.py"} <= scene.files().keys()
    assert (scene.root / "calc.py").read_text() == ADD
    receipts = scene.loop("receipts", "--json").json["receipts"]
    assert scene.repo.git("rev-parse", "main^{tree}") in [receipt["tree"] for receipt in receipts]


@pytest.mark.slow
def test_a_merged_tree_that_fails_is_a_failed_attempt_and_the_target_is_left_alone(tmp_path: Path) -> None:
    more = TEST_ADD.replace("add(2, 3), 5", "add(1, 1), 3").replace("Adding", "More")
    scene = ready(tmp_path, developer=TELLS + WRITES_ADD, reviewer=once(*committed("tests/test_more.py", more)))
    said = scene.feedback("--merge", "--max-iterations", "2", code=4)
    assert (said["outcome"], said["merged"], said["iterations"]) == ("escalated", False, 2)
    first, second = (json.loads(line) for line in scene.noted("found"))
    assert (first, second) == ([], ["tests.test_more.More.test_adds - AssertionError: 2 != 3"])
    assert scene.repo.git("log", "--format=%s", "-1", "main") == "By the person"


def test_a_conflict_is_a_failed_attempt_and_the_next_one_begins_at_the_new_tip(tmp_path: Path) -> None:
    theirs = "def add(*all):\n    raise NotImplementedError\n"
    scene = ready(tmp_path, developer=TELLS + WRITES_ADD, reviewer=once(*committed("calc.py", theirs)))
    said = scene.feedback("--merge")
    assert (said["outcome"], said["merged_into"], said["iterations"]) == ("verified", "main", 2)
    first, second = (json.loads(line) for line in scene.noted("found"))
    assert (first, "calc.py" in " ".join(second)) == ([], True)
    assert [json.loads(text) for text in scene.noted("held")][1:] == [theirs]
    assert (scene.root / "calc.py").read_text() == ADD
    assert scene.repo.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_branch_named_loop_makes_it_another_folder_of_branches(tmp_path: Path) -> None:
    scene = ready(tmp_path)
    scene.repo.git("branch", "loop")
    said = scene.feedback()
    assert said["branch"] == f"loopwright/{said['loop']}"
    assert scene.file_at(said["branch"], "calc.py") == ADD.rstrip()


@pytest.mark.slow
def test_a_detached_head_is_fine_without_merge(tmp_path: Path) -> None:
    scene = ready(tmp_path)
    scene.repo.git("checkout", "-q", "--detach")
    assert "detached" in scene.feedback("--merge", code=2)["error"]
    said = scene.feedback()
    assert (said["outcome"], said["branch"]) == ("verified", f"loop/{said['loop']}")


@pytest.mark.slow
def test_a_linked_worktree_of_the_person_is_a_place_to_work_in(tmp_path: Path) -> None:
    main = ready(tmp_path)
    scene = Scene(type(main.repo)(tmp_path / "linked"), main.notes)
    main.repo.git("worktree", "add", "-qb", "linked", str(scene.root))
    before = main.files()
    said = scene.feedback("--merge")
    assert (said["outcome"], said["merged_into"]) == ("verified", "linked")
    assert ((scene.root / "calc.py").read_text(), scene.repo.git("status", "--porcelain")) == (ADD, "")
    assert (main.files(), main.repo.git("status", "--porcelain")) == (before, "")
    assert main.repo.git("rev-parse", "linked") == said["commit"]


def test_a_target_that_is_gone_leaves_the_result_on_its_branch(tmp_path: Path) -> None:
    scene = ready(tmp_path, reviewer=meanwhile("git('switch', '-qc', 'other')", "git('branch', '-qD', 'main')"))
    said = scene.feedback("--merge", code=3)
    assert (said["outcome"], said["merged_into"], said["merged"]) == ("verified", "", False)
    assert "not merged into main: it does not exist any more" in str(said["note"])
    assert "it does not exist any more" in said["not_merged"]
    assert scene.file_at(str(said["branch"]), "calc.py") == ADD.rstrip()
