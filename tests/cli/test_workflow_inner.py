"""A workflow whose tasks are made in ticket sessions, from the command line to the files."""

from pathlib import Path

from tests.cli.workflows import CONTENT, TWO_TASKS, sample, started

TICKETS = '[workflow]\ninner = "tickets"'
FIRST_WRONG_THEN_RIGHT = """\
[[step]]
role = "creator"
task = "T-001"
attempt = 1
edits = [{ path = "one.txt", content = "bad one" }]
result = { status = "done", summary = "wrote it", usage = { usd = 0.5 } }
[[step]]
role = "creator"
task = "T-001"
attempt = 2
edits = [{ path = "one.txt", content = "good one" }]
result = { status = "done", summary = "wrote it well", usage = { usd = 0.5 } }
[[step]]
role = "creator"
task = "T-002"
edits = [{ path = "two.txt", content = "good two" }]
result = { status = "done", usage = { usd = 0.5 } }
[[step]]
role = "critic"
repeat = true
result = { status = "done", verdict = "pass" }
[[step]]
role = "panel"
repeat = true
[step.result]
status = "done"
advice = { consensus = "Begin it with good." }
"""


def test_a_task_that_is_not_approved_gets_another_ticket_with_advice_and_both_land(tmp_path: Path) -> None:
    made = sample(tmp_path, TWO_TASKS + FIRST_WRONG_THEN_RIGHT + CONTENT, "planner", "panel", limits=TICKETS)
    done = started(made)
    told = {key: done.data[key] for key in ("outcome", "tasks", "iterations")}
    assert (done.code, told) == (0, {"outcome": "complete", "tasks": {"done": 2, "total": 2}, "iterations": 3})
    assert done.data["cost"]["usd"] == 1.5
    folders = made.repo.path / ".loop" / "tickets"
    written = sorted(file.name for file in folders.glob("completed/*/*.md"))
    assert [name.partition("-t-")[2] for name in written] == ["001-001.md", "001-002.md", "002-001.md"]
    assert not list(folders.glob("active/*/*.md"))
    (second,) = folders.glob("completed/*/*-t-001-002.md")
    assert "> Consensus: Begin it with good." in second.read_text()
    before = {file: file.read_text() for file in folders.glob("completed/*/*.md")}
    assert made.loop("render").code == 0
    assert {file: file.read_text() for file in folders.glob("completed/*/*.md")} == before
    briefs = [file.read_text() for file in made.repo.path.glob(".loop/runs/*/*-create-2.1/brief.md")]
    assert ["## Part of" in brief and "T-001: test -f one.txt" in brief for brief in briefs] == [True]


def test_who_makes_a_ticket_has_to_be_named(tmp_path: Path) -> None:
    made = sample(tmp_path, TWO_TASKS, "planner", limits=TICKETS)
    config = made.repo.path / "loop.toml"
    config.write_text(config.read_text().replace('default = "script"', 'reviewer = "script"\ncritic = "script"'))
    assert "roles.creator" in started(made).err


def test_a_task_of_a_workflow_is_no_workflow(tmp_path: Path) -> None:
    made = sample(tmp_path, limits=TICKETS.replace("tickets", "workflow"))
    done = started(made)
    says = 'loop.toml:15: workflow.inner: expected one of feedback, tickets, found the text "workflow"'
    assert (done.code, done.err) == (2, f"loop: {says}\n")


ASKS = """\
[[step]]
role = "creator"
task = "T-001"
result = { status = "needs_clarification", questions = [{ question = "Which one?" }] }
"""


def test_a_session_in_which_a_task_is_made_is_adopted_by_nobody(tmp_path: Path) -> None:
    made = sample(tmp_path, TWO_TASKS + ASKS + CONTENT, "planner", limits=TICKETS)
    begun = started(made)
    assert begun.code == 4
    (file,) = made.repo.path.glob(".loop/tickets/active/*/*.md")
    refused = made.loop("adopt", ".loop/tickets", "--json")
    loop = begun.data["loop"]
    whose = f"a part of the workflow {loop} is made in it; go on with `loop resume {loop}`"
    said = f"session {file.parent.name} is known here already: {whose}"
    assert (refused.code, refused.data["error"]) == (2, said)
