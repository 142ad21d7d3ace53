"""`loop plan`: the tasks of a workflow, for people, as data, and as a graph."""

from pathlib import Path

import pytest

from tests.cli.projects import GOOD, Sample
from tests.cli.test_bad_input import one_sentence
from tests.cli.workflows import NEVER_GOOD, sample, started


@pytest.fixture
def paused(tmp_path: Path) -> Sample:
    made = sample(tmp_path, NEVER_GOOD)
    assert started(made, "--max-iterations", "2").code == 5
    return made


def test_the_plan_is_shown_with_its_waves_and_commands(paused: Sample) -> None:
    told = paused.loop("plan")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[1:] == [
        "Stage paused, wave 1 of 2, 0 of 2 tasks done",
        "",
        "Wave 1",
        "  [ ] T-001  Write one.txt  (2 attempts, 2 failed)",
        "      verify: test -f one.txt",
        "",
        "Wave 2",
        "  [ ] T-002  Write two.txt  (waits for T-001)",
        "      verify: test -f two.txt",
    ]


def test_the_plan_as_data_and_as_a_graph(paused: Sample) -> None:
    plan = paused.loop("plan", "--json").data
    keys = ("id", "wave", "status", "blocked_by", "waits_for", "verify", "attempts", "stuck")
    assert [tuple(task[key] for key in keys) for task in plan["tasks"]] == [
        ("T-001", 1, "pending", [], [], ["test", "-f", "one.txt"], 2, 2),
        ("T-002", 2, "pending", ["T-001"], ["T-001"], ["test", "-f", "two.txt"], 0, 0),
    ]
    graph = paused.loop("plan", "--mermaid").out
    assert graph.rstrip("\n") == plan["mermaid"].rstrip("\n")
    assert graph.startswith('graph TD\n    t1["T-001: Write one.txt"]')
    assert "t1 --> t2" in graph


def test_looking_at_it_changes_nothing(paused: Sample) -> None:
    before = paused.loop("log").out
    assert paused.loop("plan", "--loop", paused.loop("plan", "--json").data["loop"]).code == 0
    assert paused.loop("log").out == before


def test_where_there_is_no_plan_one_sentence_says_so(tmp_path: Path) -> None:
    made = Sample.create(tmp_path / "repo", GOOD)
    one_sentence(made.loop("plan"), 2, "no workflow was ever started here", 'loop start "REQUEST"')
    loop = made.loop("feedback", "Make it good", "--json").data["loop"]
    one_sentence(made.loop("plan"), 2, "no workflow was ever started here")
    one_sentence(made.loop("plan", "--loop", loop), 2, f"loop {loop} is a feedback loop and has no plan")
    one_sentence(made.loop("plan", "--loop", "gone"), 2, "there is no loop 'gone' here")


def test_before_the_request_is_clear_there_is_none_yet(tmp_path: Path) -> None:
    made = sample(tmp_path)
    assert started(made, request="Make it better").code == 4
    assert made.loop("plan").out.endswith("Stage intent: there is no plan yet.\n")
    assert made.loop("plan", "--mermaid").out == "graph TD\n"
