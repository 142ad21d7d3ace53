import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given

from loopwright.loops.workflow.learnings import (
    DAY,
    ConstraintLearned,
    DelegationLearned,
    DiscoveryLearned,
    FailureLearned,
    Learned,
    Learning,
    LearningsRead,
    as_learned,
    file_of,
    kept,
    learning_line,
    moment_of,
    read_learnings,
)
from tests.hostile import all_harmless, texts

TS = "2026-02-05T10:00:00Z"
NOW = 1_770_285_600.0  # the same moment
FAILURE = FailureLearned(
    ts=TS,
    context="auth-validation T-003",
    failure="The schema let an empty token through",
    root_cause="no lower bound",
    prevention="give every text a least length",
)
DISCOVERY = DiscoveryLearned(
    ts=TS, context="auth-validation", discovery="Tokens are made in api.ts", confidence=0.9, applies_to=("auth", "api")
)
CONSTRAINT = ConstraintLearned(
    ts=TS, context="auth-validation", constraint="auth.ts has no dependencies", source="mustNot-1", permanent=True
)
DELEGATION = DelegationLearned(
    ts=TS,
    context="auth-validation",
    spec_score=7,
    fit_score=35,
    shape_chosen="tool-review",
    verification_type="execution output",
    outcome="paused",
    failure_pattern="scope-creep",
    root_cause="the request grew",
    prevention="split it",
)
LEARNT: dict[str, Learning] = {
    "failures": FAILURE,
    "discoveries": DISCOVERY,
    "constraints": CONSTRAINT,
    "delegation": DELEGATION,
}


@pytest.mark.parametrize("kind", LEARNT)
def test_each_kind_has_its_file_and_is_read_back(kind: str) -> None:
    line = learning_line(LEARNT[kind])
    assert file_of(LEARNT[kind]) == kind
    assert read_learnings({kind: f"{line}\n"}) == LearningsRead(learned=(as_learned(LEARNT[kind]),), passed_over=0)


def test_each_kind_has_its_keys_in_their_order(golden: Callable[[str, str], None]) -> None:
    golden("texts/workflow-learnings.jsonl", "".join(f"{learning_line(each)}\n" for each in LEARNT.values()))


def test_what_was_learned_is_told_in_a_line() -> None:
    assert [as_learned(learning).text for learning in LEARNT.values()] == [
        "The schema let an empty token through",
        "Tokens are made in api.ts",
        "auth.ts has no dependencies",
        "paused: scope-creep: the request grew",
    ]


def test_a_line_is_read_as_it_is() -> None:
    data = {"ts": "2026-02-05", "context": ["x"], "failure": "a\nb", "mood": 3}
    assert read_learnings({"failures": json.dumps(data), "others": "{}"}).learned == (
        Learned(ts="2026-02-05", kind="failures", context="", text="a b", confidence=1.0, data=data),
    )


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "[" * 100_000,
        '{"ts": 1' + "0" * 400 + "}",
        "{}",
        '{"ts": "2026-02-05T10:00:00Z"}',
        '{"ts": "2026-02-05T10:00:00Z", "failure": " "}',
        '{"ts": "yesterday", "failure": "x"}',
        '{"ts": 3, "failure": "x"}',
        '{"failure": "x"}',
    ],
)
def test_a_line_that_is_none_is_passed_over_and_counted(line: str) -> None:
    text = f"{line}\n\n{learning_line(FAILURE)}\n"
    assert read_learnings({"failures": text}) == LearningsRead(learned=(as_learned(FAILURE),), passed_over=1)


@pytest.mark.parametrize(("said", "sure"), [(1, 1.0), (0.25, 0.25), (None, 0.0), ("0.9", 0.0), (True, 0.0), (7, 0.0)])
def test_nobody_is_surer_than_a_discovery_says(said: object, sure: float) -> None:
    line = json.dumps({"ts": TS, "discovery": "x", "confidence": said})
    assert [each.confidence for each in read_learnings({"discoveries": line}).learned] == [sure]


def test_lines_are_kept_for_ninety_days() -> None:
    lines = (learning_line(FAILURE), '{"ts": "2025-11-07T10:00:00Z"}', '{"ts": "2025-11-07T09:59:59Z"}', "whose is it?")
    assert kept(lines, NOW) == (lines[0], lines[1], lines[3])
    assert kept(lines, NOW + 91 * DAY) == (lines[3],)


@pytest.mark.parametrize(
    ("ts", "at"),
    [
        (TS, NOW),
        ("2026-02-05T11:00:00+01:00", NOW),
        ("2026-02-05T10:00:00", NOW),
        ("0001-01-01T00:00:00+23:00", -62_135_679_600.0),
        ("soon", None),
        (None, None),
    ],
)
def test_a_moment_is_read_with_or_without_its_zone(ts: object, at: float | None) -> None:
    assert moment_of(ts) == at


def test_a_moment_without_a_zone_is_not_that_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("TZ", "XYZ-9")
            time.tzset()
            assert moment_of("2026-02-05T10:00:00") == NOW
    finally:
        time.tzset()


@given(said=texts)
def test_whatever_was_said_makes_one_line(said: str) -> None:
    line = learning_line(DiscoveryLearned(ts=TS, context=said, discovery=said, confidence=1.0, applies_to=(said,)))
    assert all_harmless(line)
    assert "\n" not in line
    assert json.loads(line.encode())["ts"] == TS
    read_learnings({"failures": said, "discoveries": line})
