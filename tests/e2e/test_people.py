"""What people say to a loop through the real commands, and what comes of it."""

import json
from pathlib import Path

import pytest

from loopwright.kernel.events import ChecksReported, GateDecided
from tests.e2e.scene import ADD, ASKS, NAMES_THE_TEST, PASSES, TEST_ADD, WRITES_ADD, Scene, adding, ready

pytestmark = pytest.mark.sampled("trust")

WRONG = "Path('calc.py').write_text('def add(a, b):\\n    return a - b\\n')\nreport(summary='subtracted')\n"
TEST = "tests/test_calc.py"
CHANGED = (
    TEST_ADD.replace("2, 3), 5", "3, 2), 5")
    + "\n    def test_adds_nothing(self):\n        self.assertEqual(add(0, 0), 0)\n"
)
RESUME = ("resume", "--unattended", "--json")


def right_from(number: int) -> str:
    right = f"Path('calc.py').write_text({ADD!r}); report(summary='added')"
    return f"if attempt >= {number}:\n    {right}\n    sys.exit(0)\n" + WRONG


def escalated(folder: Path, developer: str = WRONG, reviewer: str = PASSES, iterations: int = 1) -> Scene:
    scene = ready(folder, developer=developer, reviewer=reviewer)
    said = scene.feedback("--max-iterations", str(iterations), code=4)
    assert [need["kind"] for need in said["needs"]] == ["escalation"]
    return scene


# --- escalations --------------------------------------------------------------------------------------------


@pytest.mark.kills
@pytest.mark.slow
def test_continue_grants_more_iterations_and_the_count_goes_on(tmp_path: Path) -> None:
    scene = escalated(tmp_path, developer=right_from(3))
    scene.loop("answer", "continue", "1")
    assert scene.loop(*RESUME, code=4).json["iterations"] == 2
    scene.loop("answer", "continue", "2")
    said = scene.loop(*RESUME).json
    assert (said["outcome"], said["iterations"]) == ("verified", 3)


@pytest.mark.slow
@pytest.mark.parametrize("merge", [False, True])
def test_accept_keeps_the_best_attempt_and_records_the_debt(tmp_path: Path, *, merge: bool) -> None:
    worse = "Path('calc.py').write_text('def add(a, b):\\n    return a * b\\n') if attempt == 2 else None\n"
    judges = "finding = {'severity': 'high', 'file': 'calc.py', 'issue': 'multiplies', 'evidence': '*'}\n"
    judges += "report(verdict='fail', findings=[finding]) if attempt == 2 else report(verdict='pass')\n"
    scene = escalated(tmp_path, developer=WRONG + worse, reviewer=judges, iterations=2)
    before = scene.person()
    scene.loop("answer", "accept", *(["--merge"] if merge else []))
    said = scene.loop(*RESUME).json
    assert (said["outcome"], said["merged_into"]) == ("accepted", "main" if merge else "")
    assert scene.file_at(f"loop/{said['loop']}", "calc.py") == "def add(a, b):\n    return a - b"
    assert (scene.person() == before) is not merge
    if merge:
        assert scene.repo.git("rev-parse", "HEAD") == said["commit"]
    debt = (scene.root / ".loop" / "debt.md").read_text()
    own, _, others = debt.partition("Seen in other iterations")
    assert ("tests.test_calc.Adding.test_adds" in own, "multiplies" in own, "multiplies" in others) == (
        True,
        False,
        True,
    )
    (scene.root / ".loop" / "debt.md").unlink()
    scene.loop("render")
    assert (scene.root / ".loop" / "debt.md").read_text() == debt


@pytest.mark.kills
@pytest.mark.slow
def test_history_shows_what_was_tried_and_asks_again(tmp_path: Path) -> None:
    scene = escalated(tmp_path)
    shown = scene.loop("answer", "history").out
    assert "subtracted" in shown
    assert "tests.test_calc.Adding.test_adds" in shown
    assert scene.loop(*RESUME, code=4).json["needs"][0]["kind"] == "escalation"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cleanup", "workspace", "files"),
    [
        ("keep_everything", True, True),
        ("keep_artifacts", False, True),
        ("rollback", False, True),
        ("full_cleanup", False, False),
    ],
)
def test_cancel_leaves_what_was_asked_for_and_always_the_commits(
    tmp_path: Path, cleanup: str, *, workspace: bool, files: bool
) -> None:
    scene = escalated(tmp_path)
    loop, before = scene.row().id, scene.person()
    kept = scene.repo.git("for-each-ref", f"refs/loopwright/{loop}")
    said = scene.loop("cancel", "--cleanup", cleanup, "--json").json
    assert said["outcome"] == "cancelled"
    assert kept
    assert scene.repo.git("for-each-ref", f"refs/loopwright/{loop}") == kept
    assert (scene.root / ".worktrees" / loop).exists() is workspace
    assert (scene.root / ".loop" / "feedback" / loop).exists() is files
    assert scene.repo.git("for-each-ref", "refs/heads/loop") == ""
    assert scene.person() == before
    assert scene.loop("cancel", "--loop", loop, "--json", code=3).json["exit_code"] == 3


@pytest.mark.slow
def test_a_question_of_the_developer_is_answered_in_its_next_brief(tmp_path: Path) -> None:
    asks = (
        "if not context()['advice']:\n"
        "    report(status='needs_clarification', questions=[{'question': 'Which sign?'}])\n    sys.exit(0)\n"
        "note('advice', json.dumps(context()['advice']))\n"
        "note('brief', Path(os.environ['LOOP_BRIEF']).read_text())\n"
    )
    scene = ready(tmp_path, developer=asks + WRITES_ADD)
    said = scene.feedback(code=4)
    assert (said["needs"][0]["kind"], said["needs"][0]["what"]) == ("question", "Which sign?")
    scene.loop("answer", "The plus sign")
    assert scene.loop(*RESUME).json["outcome"] == "verified"
    assert json.loads(scene.noted("advice")[0]) == ["Which sign?\n→ The plus sign"]
    assert any("The plus sign" in line for line in scene.noted("brief"))


# --- protected files -------------------------------------------------------------------------------------------


def changes_the_test(text: str) -> str:
    return f"Path({TEST!r}).write_text({text!r})\n"


def test_an_approved_test_is_the_one_that_runs(tmp_path: Path) -> None:
    scene = ready(tmp_path, developer=changes_the_test(CHANGED) + WRITES_ADD, more=ASKS)
    scene.feedback(task=NAMES_THE_TEST, code=4)
    scene.loop("approve", scene.open_gate())
    assert scene.loop(*RESUME).json["outcome"] == "verified"
    assert [event.results[0].tests for event in scene.events(ChecksReported)] == [1, 1, 2]
    assert [event.approved for event in scene.events(GateDecided)] == [True]


@pytest.mark.slow
def test_a_rejected_change_is_told_to_the_developer(tmp_path: Path) -> None:
    restores = (
        "note('findings', json.dumps([finding['issue'] for finding in context()['findings']]))\n"
        f"Path({TEST!r}).write_text({CHANGED!r} if attempt == 1 else {TEST_ADD!r})\n"
    )
    scene = ready(tmp_path, developer=restores + WRITES_ADD, more=ASKS)
    scene.feedback(task=NAMES_THE_TEST, code=4)
    scene.loop("reject", scene.open_gate(), "--reason", "keep the test as it is")
    said = scene.loop(*RESUME).json
    assert (said["outcome"], said["iterations"]) == ("verified", 2)
    first, second = scene.noted("findings")
    assert (json.loads(first), "keep the test as it is" in second) == ([], True)
    assert scene.file_at(said["branch"], TEST) == TEST_ADD.rstrip("\n")


@pytest.mark.parametrize(("expected", "code"), [("0", 0), ("1", 4)])
def test_a_test_that_the_tester_adds_runs_and_counts(tmp_path: Path, expected: str, code: int) -> None:
    scene = adding(tmp_path)
    more = TEST_ADD.replace("add(2, 3), 5", f"add(0, 0), {expected}").replace("Adding", "More")
    tester = f"Path('tests/test_more.py').write_text({more!r})\nreport(summary='one more')\n"
    scene.configure(
        scene.agent("developer", WRITES_ADD), scene.agent("reviewer", PASSES), scene.agent("tester", tester)
    )
    scene.repo.commit("A task")
    said = scene.feedback("--max-iterations", "1", code=code)
    _, checks = scene.events(ChecksReported)
    assert (checks.results[0].tests, checks.results[0].passed) == (1, True)
    assert (checks.landing[0].tests, checks.landing[0].passed) == (2, code == 0)
    assert said["needs"] == [] if code == 0 else said["needs"][0]["kind"] == "escalation"


def test_a_developer_may_not_change_the_test_of_the_tester(tmp_path: Path) -> None:
    scene = adding(tmp_path)
    more = TEST_ADD.replace("add(2, 3), 5", "add(0, 0), 1").replace("Adding", "More")
    bends = f"if attempt > 1:\n    Path('tests/test_more.py').write_text({more.replace('0), 1', '0), 0')!r})\n"
    tester = f"if attempt == 1:\n    Path('tests/test_more.py').write_text({more!r})\nreport(summary='one more')\n"
    scene.configure(
        scene.agent("developer", bends + WRITES_ADD), scene.agent("reviewer", PASSES), scene.agent("tester", tester)
    )
    scene.repo.commit("A task")
    said = scene.feedback(code=4)
    assert [(need["kind"], need["what"]) for need in said["needs"]] == [("gate", "protected")]
