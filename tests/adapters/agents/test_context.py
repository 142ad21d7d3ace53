import json
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.agents.context import facts_of
from loopwright.kernel.codec import build as decoded
from loopwright.kernel.model import Brief, Commit, Demand, Finding, Key
from loopwright.loops.parts import TaskFacts
from loopwright.loops.quality.state import ReviewFacts
from loopwright.loops.tickets.state import TicketFacts
from loopwright.ports.agent import AgentRun
from tests.rooms.feedback.stories import FAILING, LOOP, NO_ORDER

DIFF = "diff --git a/docs/a.md b/docs/a.md\n--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-a\n+b\n"
BRIEF = Brief(
    task="Add a filter\x1b[2J",
    attempt=2,
    limit=5,
    findings=(NO_ORDER,),
    failures=(FAILING,),
    history=("Iteration 1: review failed with 1 issue",),
    criteria=("The order is kept",),
    answers=("Use the old name",),
    artifacts=("docs/a.md",),
    repair="no verdict",
    base=Commit("b1"),
    candidate=Commit("c1"),
    own=TicketFacts(story="t-1", feedback=("Docs / page: expected 1; actual none; score 0.00",)),
)


def run(brief: Brief, scratchpad: Path | None) -> AgentRun:
    return AgentRun(
        loop=LOOP,
        kind="feedback",
        key=Key.parse("implement-2.1"),
        step="fb-1/7/implement-2.1",
        role="developer",
        brief=brief,
        folder=Path("/repo"),
        scratchpad=scratchpad,
        skill="triage",
        guide="# Triage\n",
    )


def test_everything_in_the_brief_is_there_as_data_and_uncut() -> None:
    data = facts_of(run(BRIEF, Path("/repo/pad.md")), "mine")
    findings, failures = data.pop("findings"), data.pop("failures")
    assert data == {
        "loop": "fb-1",
        "kind": "feedback",
        "key": "implement-2.1",
        "role": "developer",
        "skill": "triage",
        "guide": "# Triage\n",
        "attempt": 2,
        "limit": 5,
        "task": "Add a filter\x1b[2J",
        "artifacts": ["docs/a.md"],
        "history": ["Iteration 1: review failed with 1 issue"],
        "criteria": ["The order is kept"],
        "commands": [],
        "task_id": "",
        "wave": 0,
        "request": "",
        "must_not": [],
        "advised": [],
        "learned": [],
        "done_before": False,
        "interface": "",
        "hidden_tests": [],
        "advice": ["Use the old name"],
        "feedback": ["Docs / page: expected 1; actual none; score 0.00"],
        "base": "b1",
        "candidate": "c1",
        "gate": "",
        "depth": "",
        "story": "t-1",
        "findings_file": "",
        "observations": [],
        "diff": "",
        "repair": "no verdict",
        "scratchpad": "/repo/pad.md",
        "agent": "mine",
        "workspace": "/repo",
    }
    assert isinstance(findings, list)
    assert isinstance(failures, list)
    assert [decoded(Finding, found) for found in findings + failures] == [NO_ORDER, FAILING]


def test_a_judge_has_the_gate_and_the_change_as_data() -> None:
    brief = replace(BRIEF, own=ReviewFacts(gate="code", depth="quick", story="st-1"))
    data = facts_of(replace(run(brief, None), kind="quality", needs_verdict=True, diff=DIFF), "mine")
    assert {name: data[name] for name in ("gate", "depth", "story", "findings_file", "diff")} == {
        "gate": "code",
        "depth": "quick",
        "story": "st-1",
        "findings_file": "",
        "diff": DIFF,
    }
    assert len(str(data["findings"])) > 100


def test_findings_that_are_handed_over_in_a_file_are_nowhere_else() -> None:
    data = facts_of(run(replace(BRIEF, own=ReviewFacts(gate="code", findings_file="docs/a.quality.yml")), None), "mine")
    assert (data["findings"], data["findings_file"]) == ([], "docs/a.quality.yml")
    assert "The order is lost" not in json.dumps(data)


def test_a_loop_that_tells_nothing_of_its_own_has_the_usual_keys_all_the_same() -> None:
    data = facts_of(run(replace(BRIEF, own=None), None), "mine")
    assert {name: data[name] for name in ("gate", "depth", "story", "findings_file", "feedback")} == {
        "gate": "",
        "depth": "",
        "story": "",
        "findings_file": "",
        "feedback": [],
    }


def test_a_task_tells_the_commands_it_brings() -> None:
    own = TaskFacts(commands=(Demand("T-001", ("make", "one\ntwo")),))
    data = facts_of(run(replace(BRIEF, own=own), None), "mine")
    assert data["commands"] == [{"name": "T-001", "argv": ["make", "one\ntwo"], "own": [], "landed": "", "start": ""}]


def test_it_is_json() -> None:
    data = facts_of(run(BRIEF, None), "mine")
    assert json.loads(json.dumps(data)) == data
    assert data["scratchpad"] is None
