"""What is published in `schemas/` is valid, fits the samples, and fits what the code really writes."""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import click
import jsonschema
import pytest
import yaml

from generators import schemas
from loopwright.adapters.agents.context import context_of
from loopwright.adapters.agents.result import read_result
from loopwright.adapters.agents.scenario import FAULTS, read_scenario
from loopwright.adapters.checks.receipts import Receipt
from loopwright.app.views import journey, status
from loopwright.app.views.answers import StepOutput
from loopwright.app.views.journey import ShownEvent
from loopwright.cli.output import JsonOption
from loopwright.kernel.actions import Ask, AwaitGate, Option
from loopwright.kernel.codec import encode, plain
from loopwright.kernel.events import Logged
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Brief, Change, Commit, Finding, Key, LoopId, Severity, Verdict
from loopwright.kernel.record import Record
from loopwright.loops.feedback import progress
from loopwright.loops.feedback.kind import KIND
from loopwright.loops.feedback.limits import Allowance, FeedbackLimits
from loopwright.loops.feedback.state import FeedbackParams, FeedbackState, Iteration
from loopwright.ports.agent import AgentRun
from loopwright.ports.store import LoopRow
from tests.app.views import seen
from tests.app.views.seen import Still
from tests.sample_values import alternatives, example_of

ROOT = Path(__file__).parent.parent
SCHEMAS = sorted((ROOT / "schemas").iterdir())
SAMPLES = sorted((ROOT / "tests" / "samples").iterdir())
NAMES = [file.name.removesuffix(".schema.json") for file in SCHEMAS]

FINDING = Finding(severity=Severity.HIGH, issue="no header row", file="src/a.py", line=3, fingerprint="0123")


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text())
    return loaded


def mistakes(name: str, value: object) -> list[str]:
    found = jsonschema.Draft202012Validator(schema(name)).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in found]


def sample(file: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    text = file.read_text()
    readers: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": json.loads, ".yml": yaml.safe_load}
    return readers[file.suffix](text)


def schema_name(file: Path) -> str:
    return file.stem + ("-toml" if file.suffix == ".toml" else "")


# The schemas themselves


@pytest.mark.parametrize("file", SCHEMAS, ids=NAMES)
def test_a_schema_is_valid_and_says_what_it_is_for(file: Path) -> None:
    loaded = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(loaded)
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert loaded["title"]
    assert loaded["description"]


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_schema_is_made_from_the_code(name: str, document: Callable[[str, str], None]) -> None:
    document(f"../schemas/{name}.schema.json", schemas.SCHEMAS[name].text())


def test_every_schema_is_made_from_the_code() -> None:
    assert schemas.SCHEMAS.keys() == set(NAMES)


def test_all_that_a_command_answers_to_programs_is_a_dataclass_with_a_schema() -> None:
    lines = (ShownEvent, StepOutput)  # a line of a log has a schema of its own for each kind of event
    published = [each.source for each in schemas.SCHEMAS.values()]
    doors = schemas.doors()
    assert [name for name, answers in doors.items() if answers not in (*published, lines)] == []
    assert doors["log"] == lines
    assert (StepOutput,) in published
    kinds = [get_origin(answer) or answer for answers in doors.values() for answer in answers]
    assert all(is_dataclass(kind) for kind in kinds)


def test_every_json_option_is_the_one_that_says_what_is_answered() -> None:
    for path, command in schemas.all_commands():
        flags = [type(option) for option in command.params if "--json" in option.opts]
        assert flags == ([] if isinstance(command, click.Group) else [JsonOption]), path


def test_every_schema_has_a_sample_or_is_held_against_what_the_code_writes() -> None:
    covered_elsewhere = {"event", "loop-toml"}
    assert set(NAMES) == {schema_name(file) for file in SAMPLES} | covered_elsewhere


# Samples


def test_each_alternative_of_a_sample_is_tried() -> None:
    assert list(alternatives({"a": "x | y", "b": [{"c": "1|…|2"}], "d": 3})) == [
        {"a": "x", "b": [{"c": "1"}], "d": 3},
        {"a": "y", "b": [{"c": "1"}], "d": 3},
        {"a": "x", "b": [{"c": "1"}], "d": 3},
        {"a": "x", "b": [{"c": "2"}], "d": 3},
    ]
    assert list(alternatives({"a": 1})) == [{"a": 1}]


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: str(file.name))
def test_a_sample_fits_its_schema_with_each_alternative(file: Path) -> None:
    for value in alternatives(sample(file)):
        assert mistakes(schema_name(file), value) == []


def test_the_words_between_the_bars_are_the_only_ones_allowed() -> None:
    for file in SAMPLES:
        value = sample(file)
        assert bool(mistakes(schema_name(file), value)) == (list(alternatives(value)) != [value])


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("progress", {"feedback_loop": {}}, "$.feedback_loop"),
        ("agent-result", {"status": "ok"}, "$.status"),
        ("agent-result", {"status": "done", "findings": [{"severity": "P0", "issue": "x"}]}, "$.findings[0].severity"),
        ("agent-result", {"summary": "no status"}, "$"),
        ("agent-result", {"status": "done", "usage": {"usd": -1}}, "$.usage.usd"),
        ("scenario-toml", {"step": [{"role": "developer", "fault": "naps"}]}, "$.step[0].fault"),
        ("scenario-toml", {"step": [{"role": "a", "edits": [{"path": "x", "find": "y"}]}]}, "$.step[0].edits[0]"),
        ("scenario-toml", {"stpe": []}, "$"),
        ("handoff", {"story_id": "a", "current_phase": "plan", "completed_phases": ["code"]}, "$.completed_phases[0]"),
        ("quality-file", {"story_id": "a", "verdict": "BLOCKED", "round": 0, "findings": []}, "$.round"),
        ("quality-file", {"verdict": "BLOCKED", "round": 1, "findings": []}, "$"),
        ("workflow-state", {"version": 1, "stage": "done", "task": "x"}, "$.stage"),
        ("workflow-state", {"version": 2, "stage": "shape", "task": "x"}, "$.version"),
        ("workflow-state", {"version": 1, "stage": "shape"}, "$"),
        (
            "workflow-state",
            {"version": 1, "stage": "shape", "task": "x", "reviews": {"wave_1": {"score": 11}}},
            "$.reviews.wave_1",
        ),
        (
            "workflow-state",
            {
                "version": 1,
                "stage": "shape",
                "task": "x",
                "reviews": {"thorough": {"passed": True, "blockers_remaining": 1}},
            },
            "$.reviews.thorough",
        ),
        ("error", {"error": "x", "exit_code": "2"}, "$.exit_code"),
        ("feedback", {"loop": "a", "outcome": "done", "iterations": 1, "commit": "", "cost": {"usd": 0}}, "$"),
        ("status", {"loops": [{}]}, "$.loops[0]"),
    ],
)
def test_a_mistake_is_found_at_its_place(name: str, change: object, place: str) -> None:
    assert {found.partition(": ")[0] for found in mistakes(name, change)} == {place}


def test_unknown_keys_of_a_result_are_kept() -> None:
    assert mistakes("agent-result", {"status": "done", "mood": "sunny"}) == []


# What the code reads


def test_what_the_schema_of_a_result_allows_is_what_the_engine_reads() -> None:
    for value in alternatives(sample(ROOT / "tests" / "samples" / "agent-result.json")):
        assert isinstance(value, dict)
        assert read_result(json.dumps(value).encode()).report.status.value == value["status"]


def test_what_the_schema_of_a_scenario_allows_is_what_a_rehearsal_reads() -> None:
    for fault in FAULTS:
        scenario = {"step": [{"role": "developer", "fault": fault, "retry_after": 3, "sleep": "1m30s"}]}
        assert mistakes("scenario-toml", scenario) == []
    text = (ROOT / "tests" / "samples" / "scenario.toml").read_text()
    text = re.sub(r"hang\|[a-z|-]+", "hang", text)
    assert [step.role for step in read_scenario(text, "scenario.toml").steps] == ["developer", "reviewer"]


# What the code writes


def feedback(*past: Iteration) -> FeedbackState:
    return FeedbackState(
        plan=FeedbackParams(task="Add an export", base=Commit("b0")),
        allowance=Allowance.of(FeedbackLimits()),
        current=Iteration(number=len(past) + 1),
        commit=Commit("b0"),
        past=past,
    )


def test_progress_as_it_is_written_fits() -> None:
    failed = Iteration(number=1, implementation="tried", review=Verdict.FAIL, issues=(FINDING,))
    passed = Iteration(number=2, implementation="done", review=Verdict.PASS, tests=Verdict.PASS)
    for state in (feedback(), feedback(failed), feedback(failed, passed)):
        for word in ("running", "paused"):
            assert mistakes("progress", json.loads(progress.render(state, word))) == []


def test_the_context_as_it_is_written_fits() -> None:
    brief = Brief(task="Add an export", attempt=2, limit=5, findings=(FINDING,), answers=("use csv",))
    run = AgentRun(
        loop=LoopId("a-1"),
        kind="feedback",
        key=Key.parse("implement-2.1"),
        step="s",
        role="developer",
        brief=brief,
        folder=Path("w"),
    )
    assert mistakes("agent-context", plain(context_of(run, "mine"))) == []


def row(word: Any, outcome: str = "") -> LoopRow:  # noqa: ANN401 - the store's own words
    return LoopRow(
        id=LoopId("a-1"),
        kind="feedback",
        params='{"task":"Add an export"}',
        parent=None,
        status=word,
        seq=3,
        fence=1,
        created=1.8e9,
        updated=1.8e9,
        budget=25.0,
        spent=0.5,
        reserved=0.1,
        outcome=outcome,
    )


def test_status_as_it_is_written_fits() -> None:
    here = Standpoint(state="REVIEW", attempt=2, limit=5, failures=1, findings=(FINDING,))
    asked = Ask(
        key=Key.parse("ask-1"), question="What now?", options=(Option(choice="continue", label="Go on"),), why="limit"
    )
    gate = AwaitGate(
        key=Key.parse("gate-1"),
        gate="protected",
        commit=Commit("c"),
        evidence="e",
        because=(Change(path="tests/a.py", how="changed"),),
    )
    ended = '{"ending":"verified","attempts":2,"commit":"c","branch":"loop/a-1","merged_into":"","note":""}'
    shown = [
        seen.shown(seen.seen(Still(here=here), row("running"))),
        seen.shown(seen.seen(Still(here=here), row("running")), alive=False),
        seen.shown(seen.seen(Still(here=here, wants=(asked, gate)), row("waiting")), {"security": "approved"}),
        seen.shown(seen.seen(Still(here=here), row("complete", ended)), alive=False),
    ]
    assert mistakes("status", plain(status.document(shown))) == []


def test_a_receipt_as_it_is_kept_fits() -> None:
    receipt = json.loads(encode(example_of(Receipt, full=True)))
    assert mistakes("receipts", {"loop": "a-1", "receipts": [receipt]}) == []
    assert receipt.keys() == schema("receipts")["$defs"]["Receipt"]["properties"].keys()


VALIDATOR = jsonschema.Draft202012Validator(schemas.event_line())


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("kind", get_args(Logged), ids=lambda kind: str(kind.__name__))
def test_an_event_of_any_kind_as_it_is_written_fits(kind: type[Logged], full: bool) -> None:  # noqa: FBT001
    event = example_of(kind, full=full)
    record = Record(loop=LoopId("a-1"), seq=1, at=1.8e9, kind=kind.__name__, data=encode(event), spend=0.25, hash="h")
    assert [error.message for error in VALIDATOR.iter_errors(plain(journey.show(record, KIND.words)))] == []


def test_an_event_of_one_kind_with_the_data_of_another_is_refused() -> None:
    line = {"loop": "a", "seq": 1, "at": "2026-01-17T10:30:00Z", "key": None, "text": "", "hash": ""}
    line |= {"cost": {"usd": 0, "estimated": False, "reserved": 0, "released": 0}}
    assert VALIDATOR.is_valid({**line, "kind": "CleanedUp", "data": {"key": "k"}})
    assert not VALIDATOR.is_valid({**line, "kind": "CleanedUp", "data": {"gate": "k"}})
    assert not VALIDATOR.is_valid({**line, "kind": "Unheard", "data": {"key": "k"}})
