"""`loop start` as programs have it: to the end, stopped on the way, and gone on with."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loopwright import hook
from loopwright.app.project import open_project
from loopwright.app.settings import settings_of
from loopwright.app.starts.workflow.creation import WorkflowRequest, create_alone
from loopwright.errors import AlreadyRunning
from loopwright.kernel.model import LoopId
from tests.cli.projects import Done, Sample
from tests.cli.test_bad_input import one_sentence
from tests.cli.workflows import (
    BOTH,
    CLEAR,
    CONTENT,
    FIRST,
    NEVER_GOOD,
    SECOND,
    TWO_TASKS,
    configured,
    learned,
    sample,
    started,
)
from tests.kept import Kept
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured

QUESTION = {"question": "Which texts?", "options": ["one", "both"], "impact": "Nobody knows what to write."}
# Unclear at first; told what is meant, it is clear.
ASKS = """\
[[step]]
role = "scorer"
attempt = 1
[step.result]
status = "done"
scores = { outcome = 1, scope = 1, constraints = 0, success = 1, done = 1 }
questions = [{ question = "Which texts?", options = ["one", "both"], impact = "Nobody knows what to write." }]
[[step]]
role = "scorer"
attempt = 2
[step.result]
status = "done"
scores = { outcome = 2, scope = 2, constraints = 2, success = 1, done = 1 }
"""


def scored(outcome: int, scope: int, constraints: int, success: int, done: int) -> str:
    scores = f"outcome = {outcome}, scope = {scope}, constraints = {constraints}, success = {success}, done = {done}"
    return f'[[step]]\nrole = "scorer"\nresult = {{ status = "done", scores = {{ {scores} }} }}\n'


REVIEWED_WAVES = scored(2, 2, 1, 1, 1) + BOTH  # spec 7, fit 35
EACH_TASK = scored(1, 1, 1, 1, 1) + BOTH  # spec 5, fit 25


def own(done: Done) -> dict[str, Any]:
    """What the answer of a workflow has besides what every run answers."""
    keys = ("outcome", "stage", "spec_score", "fit_score", "shape", "tasks", "waves", "questions")
    return {key: done.data[key] for key in keys}


def count(done: int, total: int = 2) -> dict[str, int]:
    return {"done": done, "total": total}


# --- to the end


def test_a_request_is_driven_to_done_and_merged_and_closed_for_programs_and_for_people(tmp_path: Path) -> None:
    made = sample(tmp_path / "programs")
    done = started(made, "--merge")
    assert done.code == 0
    assert own(done) == {
        "outcome": "complete",
        "stage": "complete",
        "spec_score": 10,
        "fit_score": 65,
        "shape": "tool",
        "tasks": count(2),
        "waves": 2,
        "questions": [],
    }
    rest = {key: done.data[key] for key in ("merged", "not_merged", "held_back", "cost")}
    cost = {"usd": 1.0, "estimated": False, "reserved": 0.0, "budget": 25.0}
    assert rest == {"merged": True, "not_merged": "", "held_back": [], "cost": cost}
    assert done.data["commit"] == made.repo.git("rev-parse", "main")
    assert (made.repo.path / "two.txt").read_text() == "good two"
    # The closing block is on stderr beside data, on stdout for people, and in the progress.
    block = done.err[done.err.index("<loop-complete>") : done.err.index("</loop-complete>")]
    assert "- T-002: ✓ Write two.txt" in block
    assert block in (made.repo.path / ".loop" / "PROGRESS.md").read_text()
    people = sample(tmp_path / "people").loop("start", CLEAR, "--unattended", "--merge")
    assert people.code == 0
    assert people.out.startswith(block)
    assert "<loop-complete>" not in people.err


def test_without_any_role_of_its_own_the_request_is_one_task(tmp_path: Path) -> None:
    script = CONTENT + '[[step]]\nrole = "developer"\nedits = [{ path = "one.txt", content = "good" }]\n'
    made = sample(tmp_path, script + 'result = { status = "done" }\n', "critic")
    done = started(made)
    assert (done.code, done.data["tasks"], done.data["waves"]) == (0, count(1, 1), 1)
    assert "no planner is named: the engine's own rule stands in" in done.err


def test_tests_may_be_changed_where_it_was_allowed_beforehand(tmp_path: Path) -> None:
    touches = FIRST.replace("edits = [", 'edits = [{ path = "test_a.py", content = "x = 2" }, ')
    made = sample(tmp_path, TWO_TASKS + touches + SECOND + CONTENT)
    asks = 'tests = ["test_*.py"]\n[trust]\nchanged_tests = "ask"\n'
    made.repo.write("loop.toml", (made.repo.path / "loop.toml").read_text() + asks)
    made.repo.write("test_a.py", "x = 1")
    made.repo.commit("A test")
    held = started(made)
    assert (held.code, [each["path"] for each in held.data["held_back"]]) == (0, ["test_a.py"])
    allowed = started(made, "--allow", "test_*.py")
    assert (allowed.code, allowed.data["held_back"]) == (0, [])
    assert made.repo.git("show", f"{allowed.data['commit']}:test_a.py") == "x = 2"


# --- unclear


def test_an_unclear_request_is_blocked_with_the_scorers_questions_and_goes_on_when_answered(tmp_path: Path) -> None:
    made = sample(tmp_path, ASKS + BOTH, "scorer", "planner")
    stopped = started(made, request="Write texts")
    assert stopped.code == 4
    assert own(stopped) == {
        "outcome": "blocked",
        "stage": "intent",
        "spec_score": 4,
        "fit_score": 20,
        "shape": None,
        "tasks": count(0, 0),
        "waves": 0,
        "questions": [QUESTION],
    }
    (need,) = stopped.data["needs"]
    assert (need["kind"], need["questions"]) == ("question", [QUESTION])
    assert made.loop("answer", "both").code == 0
    done = made.loop("resume", "--unattended", "--json")
    assert (done.code, done.data["spec_score"], done.data["fit_score"]) == (0, 8, 45)


def test_what_was_cancelled_holds_no_session_that_shares_the_list(tmp_path: Path) -> None:
    made = sample(tmp_path, NEVER_GOOD)
    named = {"HOME": str(tmp_path / "home"), "CLAUDE_CODE_TASK_LIST_ID": "list6"}
    assert started(made, "--max-iterations", "1", **named).code == 5
    event = json.dumps({"cwd": str(made.repo.path), "session_id": "s"}).encode()
    now = time.time()
    assert hook.respond("stop", event, named, now) == "pending tasks: Write one.txt, Write two.txt (blocked by 1)"
    assert made.loop("cancel", **named).code == 0
    assert hook.respond("stop", event, named, now) == ""
    assert made.loop("render", **named).code == 0
    assert [*(tmp_path / "home/.claude/tasks/list6").glob("*.json")] == []


# --- limits


HELD_UP = (
    "Held up:\n"
    "  T-001 is not begun: 2 of 2 iterations are used\n"
    "  T-002 waits for T-001 (not begun)\n"
    f"  T-001 failed its verification 2 times: check 'test' failed: `{sys.executable} check.py` ended with"
    " exit code 1 and 1 other\n"
    "  nobody advises on T-001: no panel is named in [roles] of loop.toml, so it is tried again without\n"
)


def test_at_its_most_iterations_it_is_paused_until_more_are_granted(tmp_path: Path) -> None:
    made = sample(tmp_path, NEVER_GOOD)
    paused = started(made, "--max-iterations", "2")
    assert (paused.code, paused.data["outcome"], paused.data["stage"]) == (5, "paused", "paused")
    assert paused.data["needs"][0]["command"] == "loop answer continue 10"
    # What failed is told to the next attempt, and not that an iteration is used.
    assert "loop of T-001 goes on: Write one.txt; attempt 2: check 'test' failed: " in paused.err
    assert "1 of 1 iteration is used" not in paused.err
    told = made.loop("explain").out
    assert told[told.index("Held up:\n") : told.index("In force:")] == HELD_UP
    again = made.loop("resume", "--unattended", "--json")
    assert (again.code, again.data["outcome"], again.data["iterations"]) == (5, "paused", 2)
    assert made.loop("answer", "continue", "1").code == 0
    more = made.loop("resume", "--unattended", "--json")
    assert (more.code, more.data["iterations"]) == (5, 3)


@pytest.mark.measured
def test_at_its_budget_every_word_of_how_to_go_on_is_one_that_works(tmp_path: Path) -> None:
    made = sample(tmp_path, limits="[agents.script.limits]\nusd = 0.1")
    paused = started(made, "--budget", "0.75")
    assert (paused.code, paused.data["outcome"], paused.data["iterations"]) == (5, "paused", 1)
    (root, *_) = made.loop("status", "--json").data["loops"]
    assert ([each["command"] for each in root["needs"]], root["attempt"]) == (["loop resume --budget USD"], 1)
    shown = made.loop("status").out
    assert "loop resume --budget USD  Go on, with more than the $0.75 it has\n" in shown
    assert "iteration 1" in shown
    assert "| Iteration 1 |" in (made.repo.path / ".loop/PROGRESS.md").read_text()
    announced = hook.respond("session-start", json.dumps({"cwd": str(made.repo.path)}).encode(), {}, 0.0)
    assert "Next: `loop resume --budget USD`, with more than the $0.75 it has: budget of loop" in announced
    for named in ((), ("--loop", root["id"])):
        refused = made.loop("answer", "continue", "10", *named)
        assert refused.code == 3
        assert refused.err.startswith(f"loop: loop {root['id']} asks nothing: it paused at its budget (budget of loop ")
        assert refused.err.endswith("); it goes on with `loop resume --budget USD`, with more than the $0.75 it has\n")
    assert made.loop("resume", "--budget", "0.8", "--unattended").code == 5
    # What is written into the file is its budget as well, though that had no such line and 25 by default.
    made.repo.write("loop.toml", (made.repo.path / "loop.toml").read_text() + "\n[budget]\nusd = 10.0\n")
    done = made.loop("resume", "--unattended", "--json").data
    assert (done["outcome"], done["cost"]["budget"]) == ("complete", 10.0)


def test_agents_that_reserve_nothing_stop_at_the_budget_all_the_same(tmp_path: Path) -> None:
    paused = started(sample(tmp_path), "--budget", "0.5")
    assert (paused.code, paused.data["tasks"], paused.data["cost"]["usd"]) == (5, count(0), 0.5)


def test_a_limit_that_is_raised_in_the_configuration_lets_it_go_on(tmp_path: Path) -> None:
    made = sample(tmp_path, limits="[limits.workflow]\nmax_iterations = 1")
    assert started(made).code == 5
    config = (made.repo.path / "loop.toml").read_text()
    made.repo.write("loop.toml", config.replace("max_iterations = 1", 'max_iterations = "unlimited"'))
    done = made.loop("resume", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["tasks"]) == (0, "complete", count(2))


def test_what_an_option_said_is_not_undone_by_another_edit(tmp_path: Path) -> None:
    made = sample(tmp_path, NEVER_GOOD)
    assert started(made, "--max-iterations", "1", "--budget", "3").code == 5
    root = made.loop("status", "--json").data["loops"][0]
    assert root["tasks"] == {"done": 0, "total": 2, "wave": 1, "waves": 2}
    assert (root["attempt"], root["limit"], root["status"]) == (1, 1, "paused")
    made.repo.write("loop.toml", (made.repo.path / "loop.toml").read_text() + "[finish]\nmerge = true\n")
    again = made.loop("resume", "--unattended", "--json")
    assert (again.code, again.data["iterations"], again.data["cost"]["budget"]) == (5, 1, 3.0)


def test_there_may_be_no_limit_of_money_and_iterations(tmp_path: Path) -> None:
    made = sample(tmp_path, NEVER_GOOD)
    paused = started(made, "--budget", "none", "--max-iterations", "unlimited")
    assert (paused.code, paused.data["cost"]["budget"], paused.data["iterations"]) == (5, None, 4)
    shown = made.loop("status").out
    assert "State: ESCALATED (iteration 4, tasks 0/2, wave 1 of 2, paused)" in shown
    told = made.loop("explain").out
    assert "the iterations are not limited; 3 failures of one task in the same way, or 25 in all, still pause" in told


# --- check-ins


def looks_in(made: Sample, fit: int, shape: str) -> None:
    stopped = started(made)
    assert (stopped.code, stopped.data["fit_score"], stopped.data["shape"]) == (4, fit, shape)
    (need,) = stopped.data["needs"]
    assert (need["kind"], stopped.data["tasks"]) == ("check-in", count(1))


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    made = sample(tmp_path_factory.mktemp("unfinished"), REVIEWED_WAVES, "scorer", "planner")
    looks_in(made, 35, "tool-review")
    return Kept.of(made.repo.path)


@pytest.fixture
def unfinished(once: Kept) -> Sample:
    """It waits for somebody to look in after its first wave."""
    return Sample(Repository(once.restored()))


def test_a_person_looks_in_between_and_says_that_it_continues(tmp_path: Path) -> None:
    made = sample(tmp_path, EACH_TASK, "scorer", "planner")
    looks_in(made, 25, "colleague")
    for words in (["resume", "--unattended"], ["resume"], ["start", "--resume", "--unattended"]):
        assert made.loop(*words).code == 4, words
    assert made.loop("answer", "continue").code == 0
    done = made.loop("resume", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["tasks"]) == (0, "complete", count(2))


LOOKS = "1 of 2 tasks done; to do: T-002 Write two.txt. Go on after this wave?"


def test_a_check_in_behind_a_limit_is_shown_with_the_answer(tmp_path: Path) -> None:
    made = sample(tmp_path, REVIEWED_WAVES, "scorer", "planner")
    (need,) = started(made, "--max-iterations", "1").data["needs"]
    assert need["kind"] == "escalation"
    assert f"is recorded.\nIt asks next: {LOOKS}" in made.loop("answer", "continue", "10").out
    assert made.loop("answer", "continue").code == 0
    assert made.loop("resume", "--unattended", "--json").data["outcome"] == "complete"


ONE, MORE = (f"[limits.workflow]\nmax_iterations = {most}" for most in (1, 5))


@pytest.fixture(scope="module")
def paused_once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    made = sample(tmp_path_factory.mktemp("paused"), REVIEWED_WAVES, "scorer", "planner", limits=ONE)
    assert started(made).code == 5
    return Kept.of(made.repo.path)


@pytest.fixture
def paused(paused_once: Kept) -> Sample:
    """Paused at the limit in its configuration, with a check-in behind it."""
    return Sample(Repository(paused_once.restored()))


def test_a_check_in_that_a_raised_limit_brings_up_is_asked(paused: Sample) -> None:
    paused.repo.write("loop.toml", configured("scorer", "planner", limits=MORE))
    asked = paused.loop("resume", "--unattended", "--json")
    (need,) = asked.data["needs"]
    assert (asked.code, need["kind"], need["why"]) == (4, "check-in", "1 task is done since you last looked")
    assert paused.loop("answer", "continue").code == 0
    assert paused.loop("resume", "--unattended", "--json").data["outcome"] == "complete"


def test_the_persons_word_on_the_shape_stands_above_the_score_and_what_nobody_confirms_counts_for_nothing(
    tmp_path: Path,
) -> None:
    made = sample(tmp_path, REVIEWED_WAVES, "scorer", "planner")
    learned(made)
    done = started(made, "--shape", "tool")
    assert (done.code, done.data["fit_score"], done.data["shape"]) == (0, 35, "tool")
    assert "Nobody is there to confirm that this holds here too, so the agents are not told of it." in done.err
    assert "The shape was taken without asking (fit 35" in (made.repo.path / ".loop" / "PROGRESS.md").read_text()


# --- one that is not finished


def ids(made: Sample) -> list[str]:
    return [each["id"] for each in made.loop("status", "--json").data["loops"] if each["parent"] is None]


def test_another_request_needs_a_word_on_the_one_that_is_not_finished(unfinished: Sample) -> None:
    (first,) = ids(unfinished)
    refused = unfinished.loop("start", CLEAR, "--unattended")
    one_sentence(refused, 4, first, "`loop start --resume`", "--fresh")
    assert ids(unfinished) == [first]


def test_beside_one_that_runs_no_other_is_begun_and_nobody_is_told_to_go_on_with_it(unfinished: Sample) -> None:
    (first,) = ids(unfinished)
    project = open_project(unfinished.repo.path, {"PATH": "/usr/bin:/bin"})
    asyncio.run(project.store.claim(LoopId(first), "another controller"))
    settings = settings_of(project, print)
    with pytest.raises(AlreadyRunning):
        asyncio.run(create_alone(project, settings, WorkflowRequest(request=CLEAR)))
    refused = unfinished.loop("start", CLEAR, "--unattended")
    one_sentence(refused, 75, f"loop {first} is already running", "`loop status --watch`")
    asyncio.run(project.store.close())


@pytest.mark.parametrize("words", [["resume"], ["start", "--resume"], ["start"]])
def test_it_is_gone_on_with(unfinished: Sample, words: list[str]) -> None:
    assert unfinished.loop("answer", "continue").code == 0
    done = unfinished.loop(*words, "--unattended", "--json")
    assert (done.code, done.data["outcome"], [done.data["loop"]]) == (0, "complete", ids(unfinished))
    assert done.data["tasks"] == count(2)


def test_beginning_anew_cancels_it_and_keeps_its_files(unfinished: Sample) -> None:
    (first,) = ids(unfinished)
    files = unfinished.repo.path / ".loop"
    again = unfinished.loop("start", CLEAR, "--fresh", "--unattended", "--json", "--shape", "tool")
    second = again.data["loop"]
    statuses = {each["id"]: each["status"] for each in unfinished.loop("status", "--json").data["loops"]}
    assert (statuses[first], first != second) == ("cancelled", True)
    kept = json.loads((files / "workflow" / first / "workflow-state.json").read_text())
    newest = json.loads((files / "workflow-state.json").read_text())
    assert (kept["stage"], kept["loop"], newest["loop"]) == ("cancelled", first, second)
    assert f"its files are in .loop/workflow/{first}, every commit is kept" in again.err


def test_nothing_is_cancelled_for_a_request_that_could_not_begin(unfinished: Sample) -> None:
    config = (unfinished.repo.path / "loop.toml").read_text()
    unfinished.repo.write("loop.toml", config + "nonsense = 1\n")
    assert unfinished.loop("start", CLEAR, "--fresh", "--unattended").code == 2
    unfinished.repo.write("loop.toml", config)
    assert unfinished.loop("status", "--json").data["loops"][0]["status"] == "waiting"


def test_whoever_cancels_is_told_what_it_took_and_what_is_left(unfinished: Sample) -> None:
    told = unfinished.loop("cancel")
    assert told.code == 0
    assert "Iterations: 1\nCost: $0.50 of $25.00\nDone: 1 of 2 tasks\n  ✓ T-001: Write one.txt\n" in told.out
    assert "Remaining: 1 of 2 tasks\n  · T-002: Write two.txt\nCriteria: 0 of " in told.out


def test_a_cost_that_no_agent_said_is_marked_wherever_it_is_told(tmp_path: Path) -> None:
    silent = REVIEWED_WAVES.replace("usage = { usd = 0.5 }", "usage = {}")
    made = sample(tmp_path, silent, "scorer", "planner", limits="[agents.script.limits]\nusd = 0.25")
    answered = started(made).data["cost"]
    assert answered == {"usd": 0.25, "estimated": True, "reserved": 0.0, "budget": 25.0}
    root, part = made.loop("status", "--json").data["loops"]
    assert (root["cost"], part["parent"], part["cost"]["estimated"]) == (answered, root["id"], True)
    assert "Cost: ~$0.25/$25" in (made.repo.path / ".loop" / "PROGRESS.md").read_text()
    assert ", ~$0.25\n" in made.loop("log", "--loop", part["id"]).out
    assert "\nCost: ~$0.25 of $25.00\n" in made.loop("cancel").out
