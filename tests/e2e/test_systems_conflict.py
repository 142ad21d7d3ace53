"""What a person does to the target, or to the branch of a system, while it is built: nothing of either side is lost."""

import signal
from pathlib import Path

import pytest

from tests.e2e.kills import notes_of
from tests.e2e.scene import Scene, until
from tests.e2e.systems import RUN, SHOP_TEST, approve_all, shop, statuses
from tests.handwork import confirm_handwork
from tests.repository import Repository

PATIENCE = 60.0
STRONGER = "\n    def test_it_is_not_closed(self):\n        self.assertIs(shop.OPEN, True)\n"
THEIRS = "def part():\n    return 1\n\n\ndef price():\n    return 7\n"
THEIR_TEST = """\
import unittest
from shop.part1 import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(), 7)
"""


@pytest.mark.slow
@pytest.mark.kills
def test_both_sides_of_a_conflict_are_merged_once_they_are_verified_and_approved(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: ()})
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.repo.write("shop/part1.py", THEIRS)
    scene.repo.write("tests/test_price.py", THEIR_TEST)
    scene.repo.write("tests/test_shop.py", SHOP_TEST + STRONGER)
    theirs = scene.repo.commit("A price")
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert "State: SHIP" in scene.loop("status").out
    assert approve_all(scene) == ["deploy"]
    scene.loop(*RUN, env=notes_of(scene))
    assert statuses(scene) == {"sys-001": "complete"}
    merged = (scene.root / "shop/part1.py").read_text()
    assert [word in merged for word in ("def part", "def price", "<<<<<<<")] == [True, True, False]
    assert scene.repo.git("merge-base", "HEAD", theirs) == theirs
    assert (scene.root / "tests/test_shop.py").read_text().endswith(STRONGER)
    assert "loop-state.json" in scene.repo.git("ls-files", "domain-memory")  # it was committed with all else
    assert scene.noted("deployed") == ["part1"]


def commit_by_hand(scene: Scene, folder: Path, files: dict[str, str], *more: str) -> str:
    """On the branch of the system, in a work tree of the person's own."""
    scene.repo.git("worktree", "add", "--quiet", str(folder), "feature/system-part-1")
    here = Repository(folder)
    if more:
        here.git(*more)
    for path, text in files.items():
        here.write(path, text)
    return here.commit("By hand")


@pytest.mark.slow
@pytest.mark.kills
def test_what_was_made_and_what_is_committed_by_hand_are_both_merged(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: ()})
    scene.loop("init", "--next", env=notes_of(scene))
    for _ in range(3):  # INIT, SCAFFOLD, IMPLEMENT
        scene.loop("next", "--unattended", env=notes_of(scene))
    commit_by_hand(scene, tmp_path / "own", {"NOTES.md": "# Notes\n"})
    confirm_handwork(scene.root)
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.loop(*RUN, env=notes_of(scene))
    assert statuses(scene) == {"sys-001": "complete"}
    here = scene.repo.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert {"NOTES.md", "shop/part1.py", "tests/test_part1.py"} <= {*here}


@pytest.mark.slow
@pytest.mark.kills
@pytest.mark.parametrize("who", ["developer", "test-generation"])
def test_who_was_stopped_begins_again_with_what_is_committed_by_hand(tmp_path: Path, who: str) -> None:
    scene = shop(tmp_path, {1: ()})
    (scene.notes / "slow").write_text(who)
    with scene.begin("run", "--unattended", env=notes_of(scene)) as process:
        until((scene.notes / "at-it").exists, f"{who} is at it")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    (scene.notes / "slow").unlink()
    commit_by_hand(scene, tmp_path / "own", {"NOTES.md": "# Notes\n"})
    confirm_handwork(scene.root)
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.loop(*RUN, env=notes_of(scene))
    here = scene.repo.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert {"NOTES.md", "shop/part1.py", "tests/test_part1.py"} <= {*here}


@pytest.mark.slow
@pytest.mark.kills
def test_a_conflict_that_a_person_merges_by_hand_is_merged_as_they_did(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: ()})
    (scene.notes / "undecided").write_text("")
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.repo.write("shop/part1.py", THEIRS.replace("return 1", "return 1  # one"))
    theirs = scene.repo.commit("A price")
    scene.loop(*RUN, code=4, env=notes_of(scene))
    assert "State: BLOCKED" in scene.loop("status").out
    both = THEIRS + "\n\n# by hand\n"
    mine = commit_by_hand(
        scene, tmp_path / "own", {"shop/part1.py": both}, "merge", "--quiet", "--no-commit", "-Xours", "main"
    )
    confirm_handwork(scene.root)
    scene.loop("answer", "resume")
    scene.loop("resume", "--unattended", code=4, env=notes_of(scene))
    assert approve_all(scene) == ["deploy"]
    scene.loop(*RUN, env=notes_of(scene))
    assert (scene.root / "shop/part1.py").read_text() == both
    assert {theirs, mine} <= {*scene.repo.git("rev-list", "HEAD").split()}


@pytest.mark.slow
def test_what_a_step_puts_on_the_branch_or_into_the_files_of_a_system_is_nobodys_word(tmp_path: Path) -> None:
    scene = shop(tmp_path, {1: (), 2: ()})
    first = scene.loop("init", "sys-001", "--json").json["loop"]
    other = scene.loop("init", "sys-002", "--json").json["loop"]
    scene.loop("next", "--loop", first, "--unattended", env=notes_of(scene))
    (scene.notes / "forges").write_text(str(scene.root))
    for _ in range(2):  # INIT, and SCAFFOLD, whose architect forges the word of a person on the first system
        scene.loop("next", "--loop", other, "--unattended", code=None, env=notes_of(scene))
    for _ in range(2):
        (need,) = scene.loop("run", "--loop", first, "--unattended", "--json", code=4).json["needs"]
        assert "feature/system-part-1 moved to" in need["why"]
        scene.repo.git("pack-refs", "--all")  # whoever tidies up says nothing about whose it is
    scene.repo.git("branch", "--force", "feature/system-part-1", "feature/system-part-1~1")
    (need,) = scene.loop("run", "--loop", first, "--unattended", "--json", code=4).json["needs"]
    assert "loop-state.json was edited" in need["why"]
