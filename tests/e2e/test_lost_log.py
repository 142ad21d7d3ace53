"""An agent deletes the state folder of a loop that already has attempts: nothing takes that for a fresh start."""

from pathlib import Path

import pytest

from tests.e2e.scene import WRITES_ADD, Scene, ready

WRONG_FIRST = "if attempt == 1:\n    Path('calc.py').write_text('add = None\\n')\n    report()\n    sys.exit(0)\n"
DELETES = "import shutil\nshutil.rmtree(root / '.loop', ignore_errors=True)\n"


def refs(scene: Scene) -> list[str]:
    return scene.repo.git("for-each-ref", "refs/loopwright").splitlines()


@pytest.mark.slow
def test_a_deleted_log_is_not_begun_anew_until_a_person_says_so(tmp_path: Path) -> None:
    once = "if not (notes / 'deleted').exists():\n    note('deleted', '')\n"
    deletes = once + "".join(f"    {line}\n" for line in DELETES.splitlines())
    scene = ready(tmp_path, developer=WRONG_FIRST + deletes + WRITES_ADD)
    before = scene.person()
    stopped = scene.loop("feedback", "Add add()", "--unattended", "--json", code=1).json["error"]
    assert (len(stopped.splitlines()), "loop.db" in stopped) == (1, True)
    kept = refs(scene)
    assert kept
    sentence = (
        f"{scene.root}/.loop/loop.db is gone, but earlier loops have left their refs here (refs/loopwright…);"
        " restore it from a backup, or begin a new log with `loop setup --new-log`"
    )
    for words in (("feedback", "Add add()"), ("feedback", "Add add()", "--dry-run"), ("resume",), ("status",)):
        assert scene.loop(*words, "--json", code=3).json == {"error": sentence, "exit_code": 3, "needs": []}
    assert (scene.person(), refs(scene)) == (before, kept)
    begun = {"log": f"{scene.root}/.loop/loop.db", "created": True}
    assert scene.loop("setup", "--new-log", "--json").json == begun
    assert scene.feedback()["outcome"] == "verified"
    assert set(kept) < set(refs(scene))


def test_the_side_file_of_the_log_is_missed_from_the_first_attempt_on(tmp_path: Path) -> None:
    """The developer deletes what was not yet carried over into the one file, and kills the controller."""
    kills = (
        "for side in ('wal', 'shm'):\n    (root / '.loop' / f'loop.db-{side}').unlink()\n"
        "os.kill(int((notes / 'pid').read_text()), 9)\n"
    )
    scene = ready(tmp_path, developer="while not (notes / 'pid').exists():\n    pass\n" + kills)
    with scene.begin("feedback", "Add add()", "--unattended") as begun:
        (scene.notes / "new").write_text(str(begun.pid))
        (scene.notes / "new").rename(scene.notes / "pid")
    assert refs(scene) == []
    for words in (("status",), ("resume", "--unattended"), ("feedback", "Add add()", "--unattended")):
        refused = scene.loop(*words, code=3)
        assert (len(refused.err.splitlines()), "is not the newest log of loop add-add-" in refused.err) == (1, True)


def test_a_step_cannot_begin_a_new_log(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer="loop('setup', '--new-log')\n" + WRITES_ADD)
    assert scene.feedback()["outcome"] == "verified"
    (said,) = scene.noted("commands")
    assert said.startswith("setup --new-log: 3: loop: loop setup --new-log is for people")
