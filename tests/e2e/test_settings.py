"""Settings, money and the log through the real commands: what changes, what stops, what is refused."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from loopwright.kernel.events import ChecksReported, ConfigChanged, Paused
from tests.e2e.scene import CHECK, TEST_ADD, WRITES_ADD, Scene, ready

pytestmark = pytest.mark.sampled("trust")

WRONG = "Path('calc.py').write_text('def add(a, b):\\n    return a - b\\n')\nreport(summary='subtracted')\n"
RESUME = ("resume", "--unattended", "--json")


def ended(folder: Path) -> Scene:
    scene = ready(folder)
    scene.feedback()
    return scene


@pytest.mark.slow
def test_a_changed_loop_toml_is_shown_and_becomes_an_event(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer=WRONG, more="[limits.feedback]\nmax_feedback_iterations = 1\n")
    scene.feedback(code=4)
    text = (scene.root / "loop.toml").read_text()
    scene.repo.write("loop.toml", text.replace("max_feedback_iterations = 1", "max_feedback_iterations = 4"))
    first = scene.loop(*RESUME, code=4)
    assert "loop.toml has changed since this loop began" in first.err
    assert "limits.feedback.max_feedback_iterations: 1 -> 4" in first.err
    assert "loop.toml has changed" not in scene.loop(*RESUME, code=4).err
    (event,) = scene.events(ConfigChanged)
    assert json.loads(event.limits)["max_feedback_iterations"] == 4
    assert scene.view().standpoint.limit == 4


def test_an_edit_elsewhere_in_loop_toml_does_not_undo_what_the_command_said(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer=WRONG)
    scene.feedback("--max-iterations", "1", code=4)
    scene.repo.write("loop.toml", (scene.root / "loop.toml").read_text() + "\n[budget]\nusd = 7.0\n")
    scene.loop(*RESUME, code=4)
    assert len(scene.events(ConfigChanged)) == 1
    assert scene.view().standpoint.limit == 1


def test_a_sandbox_that_must_be_strict_is_refused_while_there_is_none(tmp_path: Path) -> None:
    scene = ready(tmp_path, more='[sandbox]\nmode = "strict"\n')
    said = scene.loop("feedback", "Add add()", "--unattended", code=2)
    assert said.err.strip().startswith("loop: loop.toml: sandbox.mode: this version has no sandbox")


def test_a_budget_that_is_used_up_pauses_and_a_raised_one_goes_on(tmp_path: Path) -> None:
    scene = ready(tmp_path)
    said = scene.feedback("--budget", "0.105", code=5)  # the developer's reservation fits, the reviewer's no more
    assert (said["outcome"], said["cost"]) == (
        "paused",
        {"usd": 0.01, "estimated": False, "reserved": 0.0, "budget": 0.105},
    )
    assert [event.reason for event in scene.events(Paused)] == ["budget"]
    assert scene.loop(*RESUME, code=5).json["outcome"] == "paused"
    assert scene.loop(*RESUME, "--budget", "1").json["outcome"] == "verified"
    assert [line.split()[0] for line in scene.noted("started")] == ["developer", "reviewer"]


def test_deleted_files_are_written_anew_from_the_log(tmp_path: Path) -> None:
    scene = ended(tmp_path)
    folder = scene.root / ".loop" / "feedback"
    before = {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert {file.name for file in before} == {"feedback-scratchpad.md", "progress.json"}
    shutil.rmtree(folder)
    scene.loop("render")
    assert {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


# --- the log ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_with_a_changed_event_is_refused_by_its_number(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer=WRONG)
    scene.feedback("--max-iterations", "1", code=4)
    database = scene.root / ".loop" / "loop.db"
    connection = sqlite3.connect(database)
    with connection:
        words = "UPDATE events SET data = replace(data, 'subtracted', 'divided by') WHERE kind = 'AgentReported'"
        assert connection.execute(words).rowcount == 2
    connection.close()
    harmed = database.read_bytes()
    for command in ("log", "resume", "status", "explain", "cancel"):
        assert database.read_bytes() == harmed
        said = scene.loop(command, "--json", code=1)  # to cancel is put on record before anything is read
        sentence = said.err.strip().splitlines()[-1]
        assert "event 5" in sentence
        assert "Traceback" not in said.err


@pytest.mark.kills
@pytest.mark.slow
def test_a_truncated_log_is_refused_in_one_sentence(tmp_path: Path) -> None:
    scene = ended(tmp_path)
    database = scene.root / ".loop" / "loop.db"
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2 - 100])
    for command in (("status",), ("resume",), ("feedback", "Another", "--unattended")):
        said = scene.loop(*command, "--json", code=1)
        assert "loop.db" in said.json["error"]
        assert "Traceback" not in said.err


@pytest.mark.kills
@pytest.mark.slow
def test_a_log_of_a_newer_version_is_refused_and_left_untouched(tmp_path: Path) -> None:
    scene = ended(tmp_path)
    database = scene.root / ".loop" / "loop.db"
    connection = sqlite3.connect(database)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.close()
    before = database.read_bytes()
    for command in (("status",), ("resume",), ("feedback", "Another", "--unattended")):
        said = scene.loop(*command, "--json", code=1)
        assert "written by a newer Loopwright" in said.json["error"]
    assert database.read_bytes() == before


# --- the ground a check stands on -----------------------------------------------------------------------------------


def test_setup_and_copied_files_are_in_the_workspace_and_where_the_checks_run(tmp_path: Path) -> None:
    made = "import pathlib; pathlib.Path('made.txt').write_text('made')"
    more = f'[workspace]\nsetup = [["python3", "-c", {json.dumps(made)}]]\ncopy = [".env.local"]\n'
    looks = "note('seen', Path('made.txt').read_text() + Path('.env.local').read_text())\n"
    scene = ready(tmp_path, developer=looks + WRITES_ADD, more=more)
    needs = "        self.assertEqual(open('made.txt').read() + open('.env.local').read(), 'made copied')\n"
    scene.repo.write("tests/test_calc.py", TEST_ADD + needs)
    scene.repo.write(".gitignore", "__pycache__/\n.env.local\n")
    scene.repo.commit("Needs files")
    scene.repo.write(".env.local", " copied")
    said = scene.feedback()
    assert (said["outcome"], scene.noted("seen")) == ("verified", ["made copied"])
    assert "made.txt" not in scene.repo.git("ls-tree", "-r", "--name-only", said["branch"]).splitlines()


FLIPS = """\
import unittest
from pathlib import Path

class Flipping(unittest.TestCase):
    def test_flips(self):
        side = "base" if "NotImplemented" in Path("calc.py").read_text() else "candidate"
        with open({notes!r} + "/" + side, "a") as file:
            file.write(".")
            self.assertEqual(file.tell() % 2, 0, "every other time")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("flaky", "code"), [("warn", 0), ("fail", 4)])
def test_a_test_that_flips_on_its_own_is_flaky(tmp_path: Path, flaky: str, code: int) -> None:
    scene = ready(tmp_path, more=CHECK + f'flaky = "{flaky}"\n')
    scene.repo.write("tests/test_flips.py", FLIPS.format(notes=str(scene.notes)))
    scene.repo.commit("A test that flips")
    scene.feedback("--max-iterations", "1", code=code)
    *_, checks = scene.events(ChecksReported)
    assert checks.results[0].flaky == ("tests.test_flips.Flipping.test_flips",)


@pytest.mark.slow
@pytest.mark.parametrize(("baseline", "code"), [("true", 0), ("false", 4)])
def test_a_failure_that_the_base_has_too_is_forgiven_where_asked_for(tmp_path: Path, baseline: str, code: int) -> None:
    scene = ready(tmp_path, more=CHECK + f"baseline = {baseline}\n")
    old = "import unittest\nclass Old(unittest.TestCase):\n    def test_old(self):\n        self.fail('long known')\n"
    scene.repo.write("tests/test_old.py", old)
    scene.repo.commit("A failure of old")
    said = scene.feedback("--max-iterations", "1", code=code)
    *_, checks = scene.events(ChecksReported)
    assert checks.results[0].known == (("tests.test_old.Old.test_old",) if code == 0 else ())
    assert (said["outcome"] == "verified") is (code == 0)
