"""What is taken of a fix, what a review is of, what does not count as an attempt, and what comes back."""

import json
from pathlib import Path
from typing import Any

import pytest

from loopwright.app.starts.stories import story_id
from loopwright.kernel.events import AgentFailed
from loopwright.kernel.model import Ending
from tests.e2e.reviewing import (
    BAD,
    CODE,
    CREATOR,
    FINE,
    FIXES,
    JUDGES,
    REVIEWER,
    REVIEWS,
    STORY,
    evidence,
    go_on,
    on_file,
    rehearsed,
    review,
    reviewed,
    seen,
)
from tests.e2e.scene import CHECK

pytestmark = pytest.mark.sampled("kills")

Steps = list[dict[str, Any]]
TEST = "tests/test_calc.py"
TWO_TESTS = """\
import unittest
from src import calc, helper

class Calculating(unittest.TestCase):
    def test_one(self):
        self.assertGreater(helper.x, 0)

    def test_two(self):
        self.assertTrue(calc)
"""
ONE_TEST = TWO_TESTS.partition("\n    def test_two")[0]
FAULT = {"severity": "critical", "rule": "S2", "issue": "wrong", "evidence": "seen", "guidance": "mend it"}

TRIES = "with Path(context()['artifacts'][0]).open('a') as file:\n    file.write(f'tried {attempt}\\n')\nreport()\n"


# --- what is taken --------------------------------------------------------------------------------------------


def test_of_a_fix_only_the_artifact_and_the_files_its_findings_name_are_taken(tmp_path: Path) -> None:
    names = [CODE, "src/helper.py", "src/other.py"]
    bugs = f"{BAD}# BUG critical src/helper.py S3 wrong too\n# BUG critical {TEST} S4 a weak test\n"
    everywhere = FIXES + f"for name in ({names[1:]} + ['new.txt']):\n    Path(name).write_text('x = 2')\n"
    weakens = f"Path({TEST!r}).write_text({ONE_TEST!r})\nreport()\n"
    files = dict.fromkeys(names, "x = 1\n") | {CODE: bugs, TEST: TWO_TESTS, "tests/__init__.py": ""}
    scene = reviewed(tmp_path, files, creator=everywhere + weakens, more=CHECK)
    done = review(scene, CODE)
    changed = scene.repo.git("diff", "--name-only", "main", done.outcome.commit).splitlines()
    assert changed == [CODE, "src/helper.py"]
    explained = scene.loop("explain", "--json").json["lines"]
    assert [line for line in explained if line.startswith("not taken")] == [
        "not taken from the last fix: new.txt, which no finding names",
        "not taken from the last fix: src/other.py, which no finding names",
    ]
    (kept,) = evidence(scene, done.loop)
    assert [scene.file_at(kept, name) for name in ("new.txt", "src/other.py")] == ["x = 2"] * 2
    # A test of the base is a person's to take away, whoever found it weak; until then that is not resolved.
    assert scene.file_at(f"{done.outcome.branch}-held", TEST) == ONE_TEST.rstrip()
    assert {issue: gone for _, _, issue, gone in on_file(scene, story_id(CODE))} == {
        "two things in one": True,
        "wrong too": True,
        "a weak test": False,
    }
    assert "  - [critical] tests/test_calc.py - a weak test\n" in (scene.root / ".loop/debt.md").read_text()


ADDS_TESTS = """
stem = Path(told["artifacts"][0]).stem
texts = {f"tests/test_{stem}_new.py": f"attempt {attempt}", "tests/conftest.py": "x", "tests/test_calc.py": "y"}
for name, text in texts.items():
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text)
if attempt > 1:
    report()
    sys.exit(0)
Path(artifact).write_text(Path(artifact).read_text() + "# BUG critical ./ S3 it takes two\\n")
report()
"""


@pytest.mark.parametrize("artifacts", [[CODE], [CODE, "src/other.py"]], ids=["one", "a batch"])
def test_tests_that_a_fix_adds_are_taken_and_nothing_else_that_judges(tmp_path: Path, artifacts: list[str]) -> None:
    files = dict.fromkeys(artifacts, BAD) | {TEST: "def test_calc(): ...\n"}
    scene = reviewed(tmp_path, files, creator=FIXES + ADDS_TESTS)
    done = review(scene, *artifacts)
    added = {f"tests/test_{Path(each).stem}_new.py": "attempt 2" for each in artifacts}
    changed = scene.repo.git("diff", "--name-only", "main", done.outcome.commit).splitlines()
    assert changed == [*sorted(artifacts), *sorted(added)]
    assert {name: scene.file_at(done.outcome.branch, name) for name in added} == added


def test_a_test_that_a_review_without_checks_alters_is_held_back(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {TEST: f"x = 1\n{BAD}"})
    done = review(scene, TEST)
    assert ([change.path for change in done.outcome.held], done.outcome.ending) == ([TEST], Ending.REVIEWED)
    assert scene.file_at(done.outcome.branch, TEST) + "\n" == f"x = 1\n{BAD}"
    assert scene.file_at(done.outcome.held_on, TEST) == "x = 1"


def test_a_creator_that_deletes_the_artifact_is_told_to_bring_it_back(tmp_path: Path) -> None:
    deletes = "if attempt == 1:\n    Path(context()['artifacts'][0]).unlink()\n    report()\n    sys.exit(0)\n"
    rules = "note('told', json.dumps({'rules': [each['rule'] for each in context()['findings']]}))\n"
    restores = f"Path(context()['artifacts'][0]).write_text({FINE!r})\n{rules}"
    scene = reviewed(tmp_path, {CODE: BAD}, creator=deletes + restores + "report()\n")
    done = review(scene, CODE)
    assert (done.outcome.ending, done.outcome.attempts) == (Ending.REVIEWED, 3)
    assert [sorted(told["rules"]) for told in seen(scene, "told")] == [["S2", "artifact-gone"]]
    assert [each["attempt"] for each in seen(scene, "reviews")] == [1, 3]  # there was nothing to look at in between


# --- what is reviewed, and where it goes ----------------------------------------------------------------------


def test_what_the_person_has_not_committed_is_reviewed_and_stands_under_the_fix_as_a_commit(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {STORY: FINE, "other.txt": "one\n", "staged.txt": "one\n"})
    scene.repo.write(STORY, FINE + BAD + "and: more\n")
    scene.repo.write("other.txt", "mine\n")
    scene.repo.write("staged.txt", "mine\n")
    scene.repo.git("add", "staged.txt")
    before = scene.person()
    done = review(scene, STORY)
    titles = scene.repo.git("log", "--format=%s", "-3", done.outcome.branch).splitlines()
    assert titles == [
        f"Fix what the story review of {STORY} found",
        f"Uncommitted changes to {STORY}",
        "What is to be reviewed",
    ]
    assert scene.file_at(f"{done.outcome.branch}~1", STORY) == FINE + BAD + "and: more"
    assert scene.file_at(done.outcome.branch, STORY) == FINE + "and: more"
    assert scene.repo.git("diff", "--name-only", "main", done.outcome.branch) == STORY
    assert scene.person() == before


def test_an_untracked_artifact_is_reviewed_too(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {CODE: "x = 1\n"})
    scene.repo.write(STORY, FINE + BAD)
    done = review(scene, STORY)
    assert scene.file_at(done.outcome.branch, STORY) == FINE.rstrip()
    assert (scene.root / STORY).read_text() == FINE + BAD


def test_merge_takes_the_fix_onto_the_branch_the_person_is_on(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {STORY: FINE + BAD})
    done = review(scene, STORY, merge=True)
    assert done.outcome.merged_into == "main"
    assert scene.repo.git("rev-parse", "main") == done.outcome.commit
    assert (scene.root / STORY).read_text() == FINE
    assert scene.repo.git("status", "--porcelain") == ""


def test_merge_leaves_the_fix_on_its_branch_where_it_would_run_over_the_person_s_changes(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {STORY: FINE})
    scene.repo.write(STORY, FINE + BAD)
    before = scene.person()
    done = review(scene, STORY, merge=True)
    assert (done.outcome.ending, done.outcome.merged_into) == (Ending.REVIEWED, "")
    assert "changes of your own; take the result with `git" in done.outcome.note
    assert scene.file_at(done.outcome.branch, STORY) == FINE.rstrip()
    assert scene.person() == before


def test_a_review_that_passes_at_once_makes_no_branch_and_no_commit(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {STORY: FINE})
    kept = ("for-each-ref", "refs/heads", "refs/loopwright")
    before = scene.repo.git(*kept), scene.person()
    done = review(scene, STORY, merge=True)
    assert (done.outcome.ending, done.outcome.attempts, done.outcome.branch) == (Ending.REVIEWED, 1, "")
    assert (scene.repo.git(*kept), scene.person()) == before


# --- rounds ---------------------------------------------------------------------------------------------------


def test_a_finding_that_comes_back_keeps_its_identity_and_weighs_more(tmp_path: Path) -> None:
    scripted = REVIEWS + "a, b = findings\na['severity'] = 'high'\n"
    scripted += "findings = [a, b] if attempt == 1 else [b] if attempt == 2 else [a]\n" + JUDGES
    bugs = "# BUG critical ./ S1 comes and goes\n# BUG critical ./ S2 stays\n"
    scene = reviewed(tmp_path, {STORY: bugs}, reviewer=scripted, creator=TRIES)
    stopped = review(scene, STORY)
    assert sorted(on_file(scene, story_id(STORY))) == [
        ("story", "P0", "comes and goes", False),
        ("story", "P0", "stays", False),  # no tree without it has landed
    ]
    assert "1 finding came back after being fixed" in stopped.ask.question
    told = [sorted(each["rule"] for each in seen_of["told"]) for seen_of in seen(scene, "reviews")]
    assert told == [[], ["S1", "S2"], ["S2"]]


def test_a_re_review_is_told_the_prior_findings_and_what_changed_since(tmp_path: Path) -> None:
    scene = reviewed(tmp_path, {STORY: FINE + BAD})
    review(scene, STORY)
    first, second = seen(scene, "reviews")
    assert (first["told"], first["diff"]) == ([], "")
    assert [each["issue"] for each in second["told"]] == ["two things in one"]
    assert "\n-# BUG critical ./ S2 two things in one" in second["diff"]
    assert "took the lines out" not in second["brief"]  # what the creator claims is no reviewer's business


def test_continue_grants_more_reviews_and_the_creator_hears_of_it(tmp_path: Path) -> None:
    patient = "if attempt < 3:\n    with Path(context()['artifacts'][0]).open('a') as file:\n        "
    patient += f"file.write(f'# tried {{attempt}}\\n')\n    report()\n    sys.exit(0)\n{CREATOR}"
    scene = reviewed(tmp_path, {STORY: FINE + BAD}, creator=patient)
    stopped = review(scene, STORY)
    assert stopped.ask.question.startswith(f"The review of {STORY} stopped: MAX_LOOPS_REACHED: 3 reviews and 2 fixes.")
    done = go_on(scene, stopped.loop, "continue", "1")
    assert (done.outcome.ending, done.outcome.attempts) == (Ending.REVIEWED, 4)


# --- what is not counted --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "reason"), [("crash", "crashed"), ("garbage", "garbled"), ("no-result", "garbled")])
def test_a_reviewer_that_fails_once_is_asked_again_and_nothing_is_counted(
    tmp_path: Path, fault: str, reason: str
) -> None:
    steps: Steps = [
        {"role": "reviewer", "fault": fault},
        {"role": "reviewer", "result": {"status": "done", "verdict": "pass"}},
    ]
    scene = rehearsed(tmp_path, {STORY: FINE}, steps)
    done = review(scene, STORY)
    assert (done.outcome.ending, done.outcome.attempts) == (Ending.REVIEWED, 1)
    assert [event.reason for event in scene.events(AgentFailed)] == [reason]


@pytest.mark.parametrize("fault", ["garbage", "no-result"])
def test_a_reviewer_that_fails_for_ever_blocks_it(tmp_path: Path, fault: str) -> None:
    scene = rehearsed(tmp_path, {STORY: FINE}, [{"role": "reviewer", "fault": fault, "repeat": True}])
    stopped = review(scene, STORY, max_attempts=2)
    assert len(scene.events(AgentFailed)) == 4  # two tries of each review
    assert "look at the reviewer, which gave no verdict" in stopped.ask.question
    assert "accept" not in [option.choice for option in stopped.ask.options]


@pytest.mark.parametrize("fault", ["crash", "garbage"])
def test_a_creator_that_fails_once_is_asked_again_and_its_fix_is_taken(tmp_path: Path, fault: str) -> None:
    failing = {"status": "done", "verdict": "fail", "findings": [FAULT | {"file": STORY}]}
    steps: Steps = [
        {"role": "reviewer", "attempt": 1, "result": failing},
        {"role": "creator", "fault": fault, "edits": [{"path": STORY, "content": "half of"}]},
        {"role": "creator", "edits": [{"path": STORY, "content": "whole\n"}], "result": {"status": "done"}},
        {"role": "reviewer", "attempt": 2, "result": {"status": "done", "verdict": "pass"}},
    ]
    scene = rehearsed(tmp_path, {STORY: FINE}, steps)
    done = review(scene, STORY)
    assert (done.outcome.ending, done.outcome.attempts) == (Ending.REVIEWED, 2)
    assert scene.file_at(done.outcome.branch, STORY) == "whole"


def test_a_reviewer_whose_no_has_no_evidence_is_asked_once_more_and_stays_a_no(tmp_path: Path) -> None:
    empty = {"severity": "critical", "issue": "bad", "file": STORY}
    says = f"note('repair', context()['repair'])\nreport(verdict='fail', findings=[{json.dumps(empty)}])\n"
    scene = reviewed(tmp_path, {STORY: FINE}, reviewer=says)
    stopped = review(scene, STORY, max_attempts=1)
    assert scene.noted("repair")[0] == ""
    assert "evidence or guidance" in scene.noted("repair")[1]
    assert stopped.halt.why == "waiting"


def test_what_a_reviewer_writes_is_thrown_away(tmp_path: Path) -> None:
    writes = "Path(context()['artifacts'][0]).write_text('mine now')\nPath('extra').write_text('x')\n"
    scene = reviewed(tmp_path, {STORY: FINE}, reviewer=writes + REVIEWER)
    before = scene.person()
    done = review(scene, STORY)
    assert (done.outcome.ending, done.outcome.branch) == (Ending.REVIEWED, "")
    assert scene.person() == before
