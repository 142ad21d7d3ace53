"""`loop start` with somebody at the terminal: what is asked before the work, on the way, and about findings."""

import json
from pathlib import Path

import pytest

from loopwright.app.starts.workflow.task_list import LIST_ID
from tests.cli.projects import Sample
from tests.cli.test_held_back import AtTerminal
from tests.cli.test_start import REVIEWED_WAVES
from tests.cli.workflows import BOTH, CLEAR, CONTENT, FIRST, SECOND, TWO_TASKS, learned, sample, started

pytestmark = pytest.mark.unmeasured

# Asked until they agree: the first look finds something grave, and something less so.
FINDS = """\
[[step]]
role = "reviewer"
attempt = 1
task = "T-001"
result = { status = "done", verdict = "pass" }
[[step]]
role = "reviewer"
attempt = 1
task = "T-002"
result = { status = "done", verdict = "pass" }
[[step]]
role = "reviewer"
attempt = 1
result = { status = "done", verdict = "pass" }
[[step]]
role = "reviewer"
attempt = 1
result = { status = "done", verdict = "pass" }
[[step]]
role = "reviewer"
attempt = 1
[step.result]
status = "done"
verdict = "fail"
[[step.result.findings]]
severity = "critical"
file = "one.txt"
issue = "The first text has no end"
evidence = "good one"
[[step.result.findings]]
severity = "medium"
file = "two.txt"
issue = "The second text is short"
evidence = "good two"
[[step]]
role = "developer"
task = "T-003"
edits = [{ path = "one.txt", content = "good one, the end" }]
result = { status = "done" }
"""


def state(made: Sample) -> dict[str, object]:
    found: dict[str, object] = json.loads((made.repo.path / ".loop" / "workflow-state.json").read_text())
    return found


def test_a_task_list_that_is_named_may_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIST_ID, "my-loop")
    person = AtTerminal(sample(tmp_path), "start", CLEAR)
    person.until("Task list? (new, resume, session-only) [new]:")
    person.types("\x04")
    assert person.ends()[0] == 130


def begun_with_what_was_learned(made: Sample, confirmed: str) -> AtTerminal:
    learned(made)
    person = AtTerminal(made, "start", CLEAR, "--json")
    person.until("Task list? (new, session-only) [new]:")
    person.types("\n")
    person.until("Iterations at most? (10, 25, 50, unlimited) [25]:")
    person.types("unlimited\n")
    person.until("Budget in USD? (10, 25, 50, none) [25]:")
    person.types("50\n")
    person.until("From an earlier run here, ")
    person.until(", what was found out: one.txt must begin with good")
    person.until("Shall the agents be told that this holds here too? [y/N]:")
    person.types(confirmed)
    return person


def test_before_it_begins_how_far_it_may_go_is_asked_and_what_was_learned_counts_when_it_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(LIST_ID, raising=False)
    fits = []
    for name, said in (("a", "y\n"), ("b", "n\n")):
        made = sample(tmp_path / name)
        code, out = begun_with_what_was_learned(made, said).ends()
        assert (code, state(made)["recall_surfaced"]) == (0, ["one.txt must begin with good"])
        assert json.loads(out)["cost"]["budget"] == 50.0
        assert "iterations used: 2 of unlimited" in made.loop("explain").out
        fits.append(json.loads(out)["fit_score"])
    assert fits == [67, 65]


def test_the_shape_is_shown_and_confirmed_below_a_fit_of_forty(tmp_path: Path) -> None:
    made = sample(tmp_path, REVIEWED_WAVES, "scorer", "planner")
    flags = ("--task-list", "new", "--max-iterations", "10", "--budget", "10", "--shape", "tool")
    person = AtTerminal(made, "start", CLEAR, *flags)
    person.asks("? The shape, before any task is made")
    assert "(spec 7/10, fit 35, tool)" in person.screen.replace("\r\n", " ")
    person.types("1\n")
    assert person.ends()[0] == 0


def test_what_the_thorough_review_found_is_resolved_one_by_one(tmp_path: Path) -> None:
    made = sample(tmp_path, TWO_TASKS + FIRST + SECOND + FINDS + CONTENT)
    flags = ("--task-list", "new", "--max-iterations", "10", "--budget", "10")
    person = AtTerminal(made, "start", CLEAR, *flags)
    person.asks("? [BLOCKER] one.txt - The first text has no end (2 findings to resolve).")
    person.types("approve\n")
    person.asks("? [WARNING] two.txt - The second text is short (1 finding to resolve).")
    person.types("1\n")
    code, out = person.ends()
    assert (code, "- T-003: ✓ Mend: The first text has no end" in out) == (0, True)
    assert "answered by" in made.loop("log").out


def test_whoever_begins_another_is_asked_about_the_one_that_is_not_finished(tmp_path: Path) -> None:
    made = sample(tmp_path, REVIEWED_WAVES, "scorer", "planner")
    assert started(made).code == 4
    looks = AtTerminal(made, "start", "Something else")
    looks.until("Resume it, start fresh (it is cancelled, its files and commits stay), or show its status?")
    looks.types("status\n")
    code, out = looks.ends()
    assert (code, "tasks 1/2, wave 2 of 2, waiting" in out) == (0, True)
    resumes = AtTerminal(made, "start", "Something else")
    resumes.until("[resume]:")
    resumes.types("\n")
    resumes.asks("1 of 2 tasks done")
    resumes.types("1\n")
    assert resumes.ends()[0] == 0


def test_what_the_command_says_is_not_asked_and_a_plain_run_needs_nobody(tmp_path: Path) -> None:
    made = sample(tmp_path, BOTH)
    flags = ("--task-list", "session-only", "--max-iterations", "25", "--budget", "none")
    person = AtTerminal(made, "start", CLEAR, *flags)
    code, out = person.ends()
    assert (code, "Complete after 2 iterations." in out) == (0, True)
    assert "> " not in person.screen
    assert made.loop("status", "--json").data["loops"][0]["cost"]["budget"] is None
