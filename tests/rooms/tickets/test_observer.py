import json
from dataclasses import replace

import pytest

from loopwright.adapters.shared_lines import numbered
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Cancelled, Interrupted
from loopwright.kernel.model import Change, CheckResult, Finding, Key, Severity, Verdict
from loopwright.loops.kind import Noted
from loopwright.loops.tickets.observer import precise
from tests.hostile import all_harmless
from tests.rooms.story_files import fits_schema
from tests.rooms.tickets.stories import (
    AT,
    GREEN,
    LEAK,
    LOOP,
    LOOSE,
    NO_TESTS,
    PARAMS,
    PROTECTED,
    RED,
    ROUTED_BACK,
    STORIES,
    Step,
    Story,
    announced,
    asks,
    away,
    checked,
    crashed,
    criticised,
    gate,
    iterations,
    judged,
    kept,
    landed,
    made,
    not_landed,
    played,
    refused,
    violations,
)

TAMPERED = Finding(severity=Severity.CRITICAL, issue="a test was removed", rule="tampering", category="tampering")


def data(noted: tuple[Noted, ...]) -> list[dict[str, object]]:
    return [each.data for each in noted]


def broken(*steps: Step, judge: bool = False) -> list[tuple[object, ...]]:
    """Kind, resource, tool, agent, severity, whether it blocks, and the sentence."""
    plan = replace(PARAMS, judge=judge)
    keys = ("observation_type", "resource", "tool", "agent", "severity", "blocking", "violation")
    return [tuple(each[key] for key in keys) for each in data(violations(plan, played(*steps, params=plan).records))]


# Dispatches


def test_a_dispatch_is_noted_when_it_starts_and_when_it_ends() -> None:
    noted = iterations(PARAMS, played(*ROUTED_BACK[:3]).records)
    assert [each.data["iteration"] for each in noted[:3]] == [
        {"loop": 1, "cycle": "coding", "agent": "creator", "role": "creator", "status": "started", "findings": []},
        {"loop": 1, "cycle": "coding", "agent": "alpha", "role": "creator", "status": "completed", "findings": []},
        {"loop": 1, "cycle": "coding", "agent": "critic", "role": "critic", "status": "started", "findings": []},
    ]
    last = noted[-1]
    assert (last.loop, last.seq, last.part, last.timestamp) == (LOOP, 7, 0, "2026-01-17T10:37:00.000000Z")
    assert {key: value for key, value in last.data.items() if key != "iteration"} == {
        "type": "agent-dispatch",
        "timestamp": "2026-01-17T10:37:00.000000Z",
        "resource": "agent",
        "correlation": "TICKET-session-001",
    }
    found = last.data["iteration"]
    assert isinstance(found, dict)
    assert found["agent"] == "gamma"
    assert found["findings"][0] == {
        "severity": "HIGH",
        "category": "correctness",
        "requirement": "AC-1",
        "file": "src/client.py",
        "issue": "handleTimeout() is never called in a test",
    }
    assert [each["severity"] for each in found["findings"]] == ["HIGH", "MEDIUM", "CRITICAL"]


def test_an_agent_that_cannot_go_on_is_blocked() -> None:
    for step in (asks("Which?"), crashed(), away):
        last = iterations(PARAMS, played(step).records)
        states = [each["iteration"]["status"] for each in data(last)]  # type: ignore[index]
        assert states[:2] == ["started", "blocked"]


@pytest.mark.parametrize("ends", [Interrupted, Cancelled])
def test_a_dispatch_that_was_cut_off_is_not_left_open(ends: type[Interrupted] | type[Cancelled]) -> None:
    created, started = played().records[:2]
    kind, key = ends.__name__, Key.parse("create-1.1")
    cut = replace(started, seq=3, kind=kind, data=encode(ends(key=key)))
    other = replace(started, seq=4, kind=kind, data=encode(ends(key=Key.parse("checks-1.2"))))
    noted = data(iterations(PARAMS, (created, started, cut, other)))
    states = [each["iteration"]["status"] for each in noted]  # type: ignore[index]
    assert states == ["started", "blocked"]


def test_other_kinds_of_work_are_another_cycle() -> None:
    plan = replace(PARAMS, cycle="documentation")
    (started,) = iterations(plan, played(params=plan).records)
    assert started.data["iteration"]["cycle"] == "tech"  # type: ignore[index]


# Violations


def test_what_critics_and_checks_find_is_a_violation_of_quality() -> None:
    found = broken(*ROUTED_BACK)
    assert found == [
        ("quality-cycle", "file", "critic", "gamma", "HIGH", True, NO_TESTS.issue),
        ("quality-cycle", "file", "critic", "gamma", "MEDIUM", False, LOOSE.issue),
        ("quality-cycle", "finding", "critic", "gamma", "CRITICAL", True, LEAK.issue),
        ("quality-cycle", "finding", "test", None, "HIGH", True, "assert 1 == 2"),
    ]


def test_what_is_mild_or_passed_is_none() -> None:
    mild = Finding(severity=Severity.LOW, issue="a space", category="style")
    steps = (made("x"), kept("a"), criticised(mild), checked(*GREEN), announced, landed)
    assert broken(*steps) == []
    known = replace(RED[1], passed=True)
    assert broken(*steps[:3], checked(known, CheckResult(name="build", passed=True))) == []


def test_what_a_judge_finds_counts_too() -> None:
    steps = (made("x"), kept("a"), criticised(), checked(*GREEN), judged("no", LOOSE))
    assert broken(*steps, judge=True) == [("quality-cycle", "file", "judge", "judge", "MEDIUM", False, LOOSE.issue)]


def test_what_gets_around_a_rule_is_blocking() -> None:
    cheat = (made("x"), kept("a", protected=PROTECTED), criticised(), checked(*GREEN, findings=(TAMPERED, LOOSE)))
    assert broken(*cheat) == [
        ("blocking", "file", "workspace", None, "HIGH", True, "a protected file was changed"),
        ("blocking", "finding", "engine", None, "CRITICAL", True, "a test was removed"),
        ("blocking", "file", "engine", None, "MEDIUM", False, LOOSE.issue),
    ]
    guarded = (made("x"), kept("a", protected=PROTECTED), criticised(), checked(*GREEN))
    told = "a person rejected what the gate protected guards: no reason given"
    assert broken(*guarded, gate(approved=False))[-1] == ("blocking", "gate", "gate", None, "CRITICAL", True, told)
    assert len(broken(*guarded, gate(approved=True))) == 1
    done = (made("x"), kept("a"), criticised(), checked(*GREEN), announced)
    told = "the result could not be landed: src/client.py"
    assert broken(*done, not_landed) == [("blocking", "branch", "landing", None, "HIGH", True, told)]
    told = "GateDecided was refused: an agent may not decide"
    assert broken(refused) == [("blocking", "loop", "engine", None, "HIGH", True, told)]


def test_the_whole_of_a_violation() -> None:
    first, refusal = (
        violations(PARAMS, played(made("x"), kept("a"), criticised(NO_TESTS)).records)[0],
        violations(PARAMS, played(refused).records)[0],
    )
    assert first.data == {
        "type": "violation",
        "timestamp": "2026-01-17T10:37:00.000000Z",
        "observation_type": "quality-cycle",
        "resource": "file",
        "correlation": "TICKET-session-001",
        "cycle": "coding",
        "session_id": "session",
        "agent": "gamma",
        "tool": "critic",
        "file": "src/client.py",
        "violation": "handleTimeout() is never called in a test",
        "severity": "HIGH",
        "blocking": True,
        "context": {"rule": "T1", "category": "correctness", "requirement": "AC-1", "line": 12},
    }
    assert (refusal.data["context"], refusal.data["file"]) == ({"by": "agent of ticket-7"}, None)
    early = played(refused)
    alone = (*early.records[:1], *early.records[2:])
    assert violations(PARAMS, alone)[0].data["correlation"] == "session"


def test_what_is_found_for_the_third_time_is_a_pattern_once() -> None:
    again = (made("x"), kept("a"), criticised(LOOSE, verdict=Verdict.FAIL), checked(), announced)
    kinds = [(each[0], each[5]) for each in broken(*again, *again, *again, *again)]
    assert kinds == [("quality-cycle", False)] * 3 + [("patterns", False)] + [("quality-cycle", False)]
    last = violations(PARAMS, played(*again, *again, *again).records)[-1]
    assert last.data["context"] == {"rule": "N1", "category": "naming", "occurrences": 3}
    assert (last.part, last.seq) == (1, violations(PARAMS, played(*again, *again, *again).records)[-2].seq)


# The lines


def test_lines_fit_their_schemas() -> None:
    story = played(refused, made("x"), kept("a", protected=PROTECTED), crashed(), criticised(NO_TESTS, LEAK))
    stories = [*STORIES.values(), story]
    for name, tell in (("iterations", iterations), ("violations", violations)):
        for each in stories:
            for number, noted in enumerate(tell(PARAMS, each.records), start=1):
                assert fits_schema(name, json.loads(numbered(noted, number)))


def test_a_line_has_its_number_and_its_place_in_the_log() -> None:
    (started,) = iterations(PARAMS, STORIES["start"].records)
    written = json.loads(numbered(started, 7))
    assert (written["sequence"], written["log"]) == (7, {"loop": "ticket-7", "seq": 2, "part": 0})
    assert started.order == (started.timestamp, "ticket-7", 2, 0)
    assert "\n" not in numbered(started, 7)


def test_time_never_goes_back_within_a_session() -> None:
    story = played(*ROUTED_BACK)
    odd = tuple(replace(record, at=AT if record.seq == 5 else record.at) for record in story.records)
    stamps = [each.timestamp for each in iterations(PARAMS, odd)]
    assert stamps == sorted(stamps)
    assert precise(AT + 0.25) == "2026-01-17T10:30:00.250000Z"


def test_a_longer_log_only_adds_lines() -> None:
    story = played(*ROUTED_BACK, *ROUTED_BACK)
    for tell in (iterations, violations):
        whole = tell(PARAMS, story.records)
        for size in range(len(story.records)):
            part = tell(PARAMS, story.records[:size])
            assert whole[: len(part)] == part


def test_hostile_words_are_shown_and_steer_nothing() -> None:
    said = "\x1b[2J\n# x\u202e\u2028"
    finding = replace(NO_TESTS, issue=said, file=said, rule=said, category=said, requirement=said)
    change = (Change(path=said, how="changed", blob="1"),)
    story: Story = played(made(said, said), kept("a", protected=change), criticised(finding), checked(*GREEN))
    for tell in (iterations, violations):
        for noted in tell(PARAMS, story.records):
            assert all_harmless(numbered(noted, 1))
            assert "\n" not in numbered(noted, 1)
