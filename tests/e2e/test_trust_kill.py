"""Killed in the midst of every run of a check, and around what lands after the end: nothing is lost or paid twice.

The run has all that a verification can have: preflight, judging run, landing run, canary, and a change that is held
back, which a person approves when the loop has ended.
"""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.kernel.events import Integrated
from tests.e2e import deadly, kills
from tests.e2e.kills import RESUME, Witness, check_nothing_is_lost, end_state, key_of, notes_of, run_and_die, some_of
from tests.e2e.scene import ADD, CHECK, TEST_ADD, Scene
from tests.kept import Kept
from tests.repository import Repository

pytestmark = pytest.mark.sampled("kills")

RUNS = ["implement-1.1", "review-1.1"]  # of agents, however often it is killed
CHECK_RUNS = 11  # preflight, judging and landing runs, canary, and the trials of altered tests and of witnesses
HELD_RUNS, HELD_APPENDS = 8, 4  # of what lands after the end: the runs that judge it, once more
CHECKS_APPENDED = 2  # which of them tells what came of the checks
CHANGED = TEST_ADD.replace("self.assertEqual(add(2, 3), 5)", "add(2, 3)")  # weakened
MORE = TEST_ADD.replace("Adding", "More").replace("2, 3), 5", "0, 0), 0")
STARTS = "def add(a, b):\n    return a + b if a else None\n"
AGENT = f"""#!{sys.executable} -IS
import json, os
from pathlib import Path
run = Path(os.environ["LOOP_RESULT"]).parent.name
with open(Path(os.environ["NOTES"]) / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + run + "\\n").encode())
result = {{"status": "done", "summary": "done", "usage": {{"usd": {kills.PRICE}, "input_tokens": 10}}}}
if os.environ["LOOP_ROLE"] == "developer":
    Path("calc.py").write_text({ADD!r})
    Path("tests/test_more.py").write_text({MORE!r})
    Path("tests/test_calc.py").write_text({CHANGED!r})
else:
    result["verdict"] = "pass"
Path(os.environ["LOOP_RESULT"]).write_text(json.dumps(result))
"""
COMMAND = [sys.executable, deadly.__file__, "--report", "{report}", "discover", "-s", "tests", "-t", "."]
WITH_NOTES = f'\n[checks.test]\nrun = {json.dumps(COMMAND)}\nreport = "junit"\nenv = ["NOTES"]\n'
SETTINGS = kills.SETTINGS.replace(CHECK, WITH_NOTES)


def held_back(folder: Path) -> Scene:
    """Right at once, with a new test and a change to an old one that nothing needs."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("calc.py", STARTS)
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_calc.py", TEST_ADD)
    scene.repo.write(".gitignore", "__pycache__/\n")
    scene.repo.write("loop.toml", SETTINGS)
    agent = scene.repo.write("agent.py", AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("A task")
    return scene


def ran(scene: Scene) -> int:
    """How often the check was started."""
    return len(scene.noted("checks"))


def whole(scene: Scene, what: str) -> subprocess.CompletedProcess[str]:
    done = run_and_die(scene, what, 0, "never")
    assert done.returncode == 0, done.stderr
    return done


def killed(scene: Scene, what: str, at: int | str, when: str) -> Witness:
    witness = Witness(scene)
    died = run_and_die(scene, what, at, when)
    assert died.returncode == -signal.SIGKILL, died.stderr
    witness.controller_is_gone()
    return witness


def killed_in_run(scene: Scene, what: str, number: int) -> Witness:
    (scene.notes / "deadly").write_text(str(ran(scene) + number))
    return killed(scene, what, 0, "never")


def on_main(scene: Scene) -> tuple[str, str]:
    return scene.file_at("main", "tests/test_calc.py"), scene.file_at("main", "tests/test_more.py")


def check_end(scene: Scene, witness: Witness) -> None:
    witness.controller_is_gone()
    check_nothing_is_lost(scene)
    assert sorted(key_of(line) for line in scene.noted("started")) == RUNS


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], dict[str, object]]:
    """How it ends, and how it has ended once what was held back is landed."""
    scene = held_back(tmp_path_factory.mktemp("whole"))
    whole(scene, "feedback")
    assert (ran(scene), on_main(scene)) == (CHECK_RUNS, (TEST_ADD.rstrip(), MORE.rstrip()))
    first = end_state(scene)
    scene.loop("approve", scene.open_gate())
    appended = whole(scene, "resume").stdout.splitlines()
    assert (ran(scene), len(appended)) == (CHECK_RUNS + HELD_RUNS, HELD_APPENDS), appended
    assert on_main(scene) == (CHANGED.rstrip(), MORE.rstrip())
    return first, end_state(scene)


@pytest.mark.slow
@pytest.mark.parametrize("number", some_of(range(1, CHECK_RUNS + 1)))
def test_killed_in_the_midst_of_a_check_only_the_step_it_belongs_to_is_made_again(
    tmp_path: Path, ended: tuple[dict[str, object], dict[str, object]], number: int
) -> None:
    scene = held_back(tmp_path)
    witness = killed_in_run(scene, "feedback", number)
    said = scene.loop(*RESUME, env=notes_of(scene)).json
    assert (said["outcome"], [held["path"] for held in said["held_back"]]) == ("verified", ["tests/test_calc.py"])
    check_end(scene, witness)
    assert ran(scene) == CHECK_RUNS + max(1, number - 1)  # what no event names is no receipt: the step is made again
    assert end_state(scene) == ended[0]


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Kept]:
    """The loop that has ended, and a person's word that what was held back may land."""
    folder = tmp_path_factory.mktemp("approved") / "scene"
    scene = held_back(folder)
    whole(scene, "feedback")
    scene.loop("approve", scene.open_gate())
    return scene, Kept.of(folder)


AFTERWARDS = [(at, when) for at in range(1, HELD_APPENDS + 1) for when in ("before", "after")]


@pytest.mark.slow
@pytest.mark.parametrize(("at", "when"), some_of([*AFTERWARDS, *((0, str(run)) for run in range(1, HELD_RUNS + 1))]))
def test_killed_while_what_was_held_back_lands_it_lands_once(
    approved: tuple[Scene, Kept], ended: tuple[dict[str, object], dict[str, object]], at: int, when: str
) -> None:
    scene, kept = approved
    kept.restored()
    witness = killed(scene, "resume", at, when) if at else killed_in_run(scene, "resume", int(when))
    before = ran(scene)
    scene.loop(*RESUME, "--loop", scene.row().id, env=notes_of(scene))
    check_end(scene, witness)
    is_checked = at > CHECKS_APPENDED or (at, when) == (CHECKS_APPENDED, "after")
    assert ran(scene) - before == (0 if is_checked else HELD_RUNS)
    assert [event.merged_into for event in scene.events(Integrated)] == ["main", "main"]
    assert on_main(scene) == (CHANGED.rstrip(), MORE.rstrip())
    assert end_state(scene) == ended[1]
