import json
from pathlib import Path

from loopwright.kernel.codec import build as decoded
from loopwright.kernel.model import Brief, Commit, Finding, Key
from loopwright.ports.agent import AgentRun
from loopwright.projections import context
from tests.projections.stories import FAILING, LOOP, NO_ORDER

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
)


def run(brief: Brief, scratchpad: Path | None) -> AgentRun:
    return AgentRun(
        loop=LOOP,
        kind="feedback",
        key=Key("implement-2.1"),
        step="fb-1/7/implement-2.1",
        role="developer",
        brief=brief,
        folder=Path("/repo"),
        scratchpad=scratchpad,
    )


def test_everything_in_the_brief_is_there_as_data_and_uncut() -> None:
    data = context.build(run(BRIEF, Path("/repo/pad.md")))
    findings, failures = data.pop("findings"), data.pop("failures")
    assert data == {
        "loop": "fb-1",
        "kind": "feedback",
        "key": "implement-2.1",
        "role": "developer",
        "skill": "",
        "attempt": 2,
        "limit": 5,
        "task": "Add a filter\x1b[2J",
        "artifacts": ["docs/a.md"],
        "history": ["Iteration 1: review failed with 1 issue"],
        "criteria": ["The order is kept"],
        "advice": ["Use the old name"],
        "base": "b1",
        "candidate": "c1",
        "repair": "no verdict",
        "scratchpad": "/repo/pad.md",
    }
    assert isinstance(findings, list)
    assert isinstance(failures, list)
    assert [decoded(Finding, found) for found in findings + failures] == [NO_ORDER, FAILING]


def test_it_is_json() -> None:
    data = context.build(run(BRIEF, None))
    assert json.loads(json.dumps(data)) == data
    assert data["scratchpad"] is None
