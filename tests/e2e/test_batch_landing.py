"""Fixes of a batch that do not go together, with each other or with what the person landed meanwhile."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.reviewing import reviewed
from tests.e2e.scene import Scene

A, B, INDEX = "docs/a.md", "docs/b.md", "docs/index.md"
REVIEWER = """
artifact = context()["artifacts"][0]
fixed = "fixed" in Path(artifact).read_text()
wrong = [{"severity": "critical", "rule": "R1", "file": file, "issue": f"{file} is not fixed", "evidence": "line 1",
          "guidance": "fix it"} for file in FILES(artifact)]
report(verdict="pass" if fixed else "fail", findings=[] if fixed else wrong)
"""
CREATOR = """
artifact = context()["artifacts"][0]
told = json.dumps(context()["findings"])
note("fixes", json.dumps({"artifact": artifact, "attempt": attempt, "told": told, "held": Path(artifact).read_text()}))

def git(*words):
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True)

def once(name):
    try:
        (notes / name).open("x").close()
    except FileExistsError:
        return False
    return True

"""
FIXES = "Path(artifact).write_text(Path(artifact).read_text() + f'fixed {attempt}\\n')\nreport(summary='fixed')\n"
# The check fails where the person's change meets a fix of the first artifact that was not made for it.
CHECK = """
[checks.state]
trust = "exit-code"
run = ["python3", "-c", "import pathlib, sys; bad = 'bad' in pathlib.Path('state').read_text(); \
text = pathlib.Path('docs/a.md').read_text(); sys.exit(bad and 'fixed' in text and 'mended' not in text)"]
"""


def batch(folder: Path, creator: str, files: str = "[artifact]", more: str = "") -> Scene:
    held = {A: "one\n", B: "two\n", INDEX: "index\n", "state": "good\n"}
    reviewer = f"FILES = lambda artifact: {files}\n{REVIEWER}"
    return reviewed(folder, held, reviewer=reviewer, creator=CREATOR + creator, more=more)


def run(scene: Scene, code: int = 0) -> dict[str, Any]:
    said: dict[str, Any] = scene.loop("review", A, B, "--merge", "--unattended", "--json", code=code).json
    return said


def fixes(scene: Scene, artifact: str) -> list[dict[str, object]]:
    return [fix for fix in map(json.loads, scene.noted("fixes")) if fix["artifact"] == artifact]


@pytest.mark.kills
def test_a_fix_that_conflicts_with_the_target_is_made_again_from_its_tip_and_all_is_merged(tmp_path: Path) -> None:
    meanwhile = "if once('moved'):\n    (root / 'docs/a.md').write_text('theirs\\n'); git('commit', '-qam', 'Moved')\n"
    scene = batch(tmp_path, meanwhile + FIXES)
    said = run(scene)
    assert (said["outcome"], said["merged"], said["blocked"]) == ("reviewed", True, [])
    first, second = fixes(scene, A)
    assert (first["held"], second["held"], second["attempt"]) == ("one\n", "theirs\n", 2)
    assert "conflicts with what another artifact or the target has by now" in str(second["told"])
    assert len(fixes(scene, B)) == 1
    assert (scene.root / A).read_text() == "theirs\nfixed 2\n"
    assert (scene.root / B).read_text() == "two\nfixed 1\n"
    assert scene.repo.git("status", "--porcelain", "--untracked-files=no") == ""


def test_a_fix_that_conflicts_with_that_of_another_artifact_is_made_again_on_top_of_it(tmp_path: Path) -> None:
    both = "Path('docs/index.md').write_text(Path('docs/index.md').read_text() + artifact + '\\n')\n"
    scene = batch(tmp_path, both + FIXES, files="[artifact, 'docs/index.md']")
    said = run(scene)
    assert (said["outcome"], said["merged"], said["fixes"]) == ("reviewed", True, 3)
    assert (scene.root / INDEX).read_text() == f"index\n{A}\n{B}\n"
    assert "docs/index.md conflicts with that of another artifact" in str(fixes(scene, B)[1]["told"])


def test_a_fix_that_turns_the_merged_tree_red_is_a_failed_attempt_of_its_artifact_alone(tmp_path: Path) -> None:
    meanwhile = "if once('moved'):\n    (root / 'state').write_text('bad\\n'); git('commit', '-qam', 'Moved')\n"
    rules = "[each['rule'] for each in context()['findings']]"
    mends = f"if 'state' in {rules}:\n    Path(artifact).write_text('mended\\n')\n"
    scene = batch(tmp_path, meanwhile + mends + FIXES, more=CHECK)
    said = run(scene)
    assert (said["outcome"], said["merged"], said["rounds"]) == ("verified", True, 3)
    assert [len(fixes(scene, each)) for each in (A, B)] == [2, 1]
    assert (scene.root / A).read_text() == "mended\nfixed 2\n"


@pytest.mark.kills
def test_where_its_reviews_are_used_up_the_question_says_why_and_what_can_be_landed_is(tmp_path: Path) -> None:
    stubborn = "if once('moved'):\n    (root / 'state').write_text('bad\\n'); git('commit', '-qam', 'Moved')\n"
    scene = batch(tmp_path, stubborn + FIXES, more=CHECK)
    said = run(scene, code=4)
    assert (said["outcome"], said["merged"]) == ("escalated", False)
    assert said["branch"] == f"loop/{said['loop']}"
    (need,) = said["needs"]
    assert f"Blocked: {A}." in need["what"]
    (blocked,) = said["blocked"]
    assert (blocked["reason"], [each["rule"] for each in blocked["unresolved"]]) == ("MAX_LOOPS_REACHED", ["state"])
    assert scene.file_at(str(said["branch"]), B) == "two\nfixed 1"


@pytest.mark.kills
def test_accepting_what_conflicts_leaves_it_out_and_takes_nothing_back_of_what_the_person_did(tmp_path: Path) -> None:
    theirs = "(root / 'docs/a.md').write_text('theirs\\n'); (root / 'state').write_text('new\\n')"
    scene = batch(tmp_path, f"if once('moved'):\n    {theirs}; git('commit', '-qam', 'Moved')\n{FIXES}")
    said = scene.loop("review", A, B, "--merge", "--max-attempts", "2", "--unattended", "--json", code=4).json
    assert "Blocked: docs/a.md" in said["needs"][0]["what"]
    scene.loop("answer", "accept", "--merge")
    said = scene.loop("resume", "--unattended", "--json").json
    assert (said["outcome"], said["merged"]) == ("accepted", True)
    held = {name: (scene.root / name).read_text() for name in (A, B, "state")}
    assert held == {A: "theirs\n", B: "two\nfixed 1\n", "state": "new\n"}


def test_a_fix_that_the_checks_do_not_pass_is_not_merged_though_the_target_has_not_moved(tmp_path: Path) -> None:
    argv = ["python3", "-c", "import sys; sys.exit('fixed' in open('docs/a.md').read())"]
    check = f'[checks.never]\ntrust = "exit-code"\nrun = {json.dumps(argv)}\n'
    scene = batch(tmp_path, FIXES, more=check)
    alone = scene.loop("review", A, "--merge", "--unattended", "--json", code=4).json
    assert (alone["outcome"], alone["merged"]) == ("escalated", False)
    assert (run(scene, code=4)["merged"], scene.repo.git("log", "-1", "--format=%s", "main")) == (
        False,
        "What is to be reviewed",
    )
