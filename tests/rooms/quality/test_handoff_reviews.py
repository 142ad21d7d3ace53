from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Commit, Finding, Severity
from loopwright.loops.quality.handoff import Persisted, initial, known, problems, with_review
from loopwright.loops.quality.handoff_rules import GATES, PHASES, TIERS
from loopwright.loops.quality.state import Known
from tests.rooms.story_files import LEAK, NAME, SLOW, SUMMARIES, Data, entry, fits_schema, story


def reviewed(data: Data, gate: str, *findings: Persisted, passed: bool = True) -> Data:
    after = with_review(data, gate=gate, findings=findings, passed=passed)
    assert problems(after) == ()
    assert fits_schema("handoff", after)
    return after


def standing(data: Data) -> tuple[object, ...]:
    return data["current_phase"], data["completed_phases"], data.get("skipped_phases", "none")


# Findings of a review


def test_findings_are_added_in_the_words_of_the_file() -> None:
    after = reviewed(
        story(),
        "code",
        Persisted(finding=LEAK),
        Persisted(finding=NAME, deferred=True),
        Persisted(finding=SLOW, resolved=True, accepted=True),
        passed=False,
    )
    assert after["quality_findings"] == [
        {
            "severity": "P0",
            "dimension": "C",
            "gate": "code",
            "issue": "the file is not closed",
            "file": "src/a.py",
            "line": 12,
            "resolved": False,
            "check_id": "CQ-04",
            "evidence": "no with",
            "guidance": "use with",
            "id": "leak",
        },
        {
            "severity": "P2",
            "dimension": "",
            "gate": "code",
            "issue": "x says nothing",
            "file": "",
            "line": 0,
            "resolved": False,
            "category": "naming",
            "id": "name",
            "deferred": True,
        },
        {
            "severity": "P1",
            "dimension": "",
            "gate": "code",
            "issue": "quadratic",
            "file": "",
            "line": 0,
            "resolved": True,
            "category": "performance",
            "id": "slow",
            "accepted": True,
        },
    ]


def test_a_finding_is_updated_in_its_place_and_never_twice() -> None:
    first = reviewed(story(), "code", Persisted(finding=LEAK, deferred=True), Persisted(finding=NAME), passed=False)
    first["quality_findings"][0]["seen_by"] = "another tool"
    moved = replace(LEAK, severity=Severity.HIGH, line=14, evidence="")
    after = reviewed(first, "code", Persisted(finding=SLOW), Persisted(finding=moved, resolved=True), passed=False)
    assert [found["id"] for found in after["quality_findings"]] == ["leak", "name", "slow"]
    assert after["quality_findings"][0] == entry(
        LEAK, "code", severity="P1", line=14, resolved=True, seen_by="another tool"
    )
    assert after["quality_findings"][1] == entry(NAME, "code")


def test_findings_of_other_gates_are_left_alone() -> None:
    first = reviewed(story(), "test", Persisted(finding=LEAK), passed=False)
    after = reviewed(first, "code", Persisted(finding=LEAK, resolved=True))
    assert after["quality_findings"] == [entry(LEAK, "test"), entry(LEAK, "code", resolved=True)]


def test_the_data_that_was_given_stays_as_it_was() -> None:
    data = story(quality_findings=[entry(LEAK, "code")], completed_phases=["plan"])
    copy = deepcopy(data)
    reviewed(data, "code", Persisted(finding=LEAK, resolved=True), Persisted(finding=NAME))
    assert data == copy


def test_what_a_person_accepted_stays_so_until_it_is_gone() -> None:
    taken = reviewed(story(), "code", Persisted(finding=LEAK, accepted=True), passed=False)
    seen = reviewed(taken, "code", Persisted(finding=LEAK), passed=False)
    assert seen["quality_findings"] == [entry(LEAK, "code", accepted=True)]
    gone = reviewed(seen, "code", Persisted(finding=LEAK, resolved=True))
    assert gone["quality_findings"] == [entry(LEAK, "code", resolved=True)]


def test_a_finding_that_another_tool_wrote_without_an_id_is_recognised() -> None:
    theirs = {
        "severity": "P1",
        "dimension": "B",
        "gate": "code",
        "issue": "No  timeout in 3 calls",
        "file": "a.py",
        "line": None,
    }
    (told,) = known(story(quality_findings=[theirs]))
    assert told == Known(
        finding=identify(Finding(severity=Severity.HIGH, issue="No  timeout in 3 calls", file="a.py", dimension="B")),
        gate="code",
    )
    again = replace(told.finding, issue="no timeout in 4 calls", line=9, fingerprint="")
    after = reviewed(story(quality_findings=[theirs]), "code", Persisted(finding=again, resolved=True))
    assert after["quality_findings"] == [
        theirs | {"issue": "no timeout in 4 calls", "line": 9, "resolved": True, "id": told.finding.fingerprint}
    ]


def test_a_later_review_is_told_every_finding() -> None:
    data = reviewed(story(), "code", Persisted(finding=LEAK, resolved=True), Persisted(finding=NAME, accepted=True))
    data = reviewed(data, "design", Persisted(finding=SLOW, deferred=True), passed=False)
    assert known(data) == (
        Known(finding=replace(LEAK, dimension="C"), gate="code", resolved=True),
        Known(finding=replace(NAME, dimension="", category="naming"), gate="code", accepted=True),
        Known(finding=SLOW, gate="design"),
    )
    assert known(initial("a")) == ()


def test_a_fix_that_has_not_landed_has_resolved_nothing_elsewhere() -> None:
    fixed = Persisted(finding=LEAK, resolved=True, resolved_in=Commit("c1"))
    data = reviewed(story(), "code", fixed)
    assert data["quality_findings"] == [entry(LEAK, "code", resolved=True, resolved_in="c1")]
    standing = [(each.resolved, each.elsewhere) for each in (*known(data), *known(data, lambda commit: commit == "c1"))]
    assert standing == [(False, True), (True, False)]
    after = reviewed(data, "code", Persisted(finding=LEAK, resolved=True))
    assert after["quality_findings"] == [entry(LEAK, "code", resolved=True)]


# Phases


@pytest.mark.parametrize(
    ("gate", "done"),
    [("plan", 1), ("test", 2), ("code", 3), ("quality", 4)],
)
def test_a_gate_that_passes_completes_its_phase_and_skips_what_was_missing(gate: str, done: int) -> None:
    following = [*PHASES, "quality"][done]
    skipped = list(PHASES[: done - 1]) or "none"
    assert standing(reviewed(story(), gate)) == (following, list(PHASES[:done]), skipped)
    before = story(completed_phases=list(PHASES[: done - 1]))
    assert standing(reviewed(before, gate)) == (following, list(PHASES[:done]), "none")


@pytest.mark.parametrize(
    ("gate", "phase"), [("plan", "plan"), ("test", "tests"), ("code", "code"), ("quality", "quality")]
)
def test_a_gate_that_blocks_puts_the_story_into_its_phase(gate: str, phase: str) -> None:
    assert standing(reviewed(story(), gate, passed=False)) == (phase, [], "none")
    complete = story(current_phase="complete", completed_phases=list(PHASES), memory_captured=True)
    assert standing(reviewed(complete, gate, Persisted(finding=LEAK), passed=False)) == (phase, list(PHASES), "none")


@pytest.mark.parametrize("gate", ["design", "story"])
@pytest.mark.parametrize("phase", ["pending", "code", "failed", "complete"])
@pytest.mark.parametrize("passed", [True, False])
def test_a_design_or_story_gate_leaves_the_phase_alone(gate: str, phase: str, passed: bool) -> None:  # noqa: FBT001
    data = story(current_phase=phase, completed_phases=["plan"], memory_captured=True)
    assert standing(reviewed(data, gate, Persisted(finding=SLOW), passed=passed)) == (phase, ["plan"], "none")


def test_a_complete_story_with_a_new_p0_is_in_quality_again() -> None:
    data = story(current_phase="complete", completed_phases=list(PHASES), memory_captured=True)
    after = reviewed(data, "story", Persisted(finding=LEAK), passed=False)
    assert standing(after) == ("quality", list(PHASES), "none")


def test_a_skipped_phase_whose_gate_passes_later_is_no_longer_skipped() -> None:
    data = reviewed(story(), "code")
    after = reviewed(data, "test")
    assert standing(after) == ("quality", ["plan", "tests", "code"], ["plan"])
    assert list(after)[:5] == ["story_id", "tier", "current_phase", "completed_phases", "skipped_phases"]
    assert standing(reviewed(after, "plan")) == ("quality", ["plan", "tests", "code"], "none")


@pytest.mark.parametrize(("gate", "phase"), [("plan", "plan"), ("test", "tests"), ("code", "code")])
def test_a_gate_does_not_complete_a_phase_that_the_data_denies(gate: str, phase: str) -> None:
    assert standing(reviewed(story(**SUMMARIES), gate)) == (phase, [], "none")
    assert standing(reviewed(story(**SUMMARIES), "quality")) == ("quality", list(PHASES), ["plan", "tests", "code"])


@pytest.mark.parametrize(
    ("captured", "severities", "phase"),
    [
        (True, "", "complete"),
        (True, "P1 P1 P2 P2 P2 P3", "complete"),
        (True, "P1 P1 P1", "quality"),
        (True, "P0", "quality"),
        (False, "", "quality"),
    ],
)
def test_a_story_is_complete_when_nothing_speaks_against_it(captured: bool, severities: str, phase: str) -> None:  # noqa: FBT001
    found = [entry(LEAK, "code", severity=word, id=str(n)) for n, word in enumerate(severities.split())]
    gone = [entry(LEAK, "code", severity="P0", resolved=True)]
    data = story(completed_phases=["plan", "tests", "code"], memory_captured=captured, quality_findings=found + gone)
    assert reviewed(data, "quality")["current_phase"] == phase


def test_how_many_p1_a_complete_story_may_have_can_be_set() -> None:
    data = story(memory_captured=True, quality_findings=[entry(SLOW, "code")])
    phases = [
        with_review(data, gate="quality", findings=(), passed=True, p1_threshold=n)["current_phase"] for n in (0, 1)
    ]
    assert phases == ["quality", "complete"]


@st.composite
def handoffs(draw: st.DrawFn) -> Data:
    done = draw(st.integers(0, 4))
    data = initial("ST-001", draw(st.sampled_from(TIERS)))
    data |= {
        "current_phase": draw(st.sampled_from(["pending", *PHASES, "complete", "failed"])),
        "completed_phases": list(PHASES[:done]),
        "skipped_phases": draw(st.lists(st.sampled_from(PHASES[:done]), unique=True)) if done else None,
        "memory_captured": draw(st.booleans()),
        "plan_summary": draw(st.sampled_from([None, {}, {"test_plan": {"test_count": 0}}])),
        "test_summary": draw(st.sampled_from([None, {"all_tests_red": True}, {"all_tests_red": False}])),
        "code_summary": draw(st.sampled_from([None, {"all_tests_green": True}, {"all_tests_green": False}])),
    }
    return data


PERSISTED = st.builds(
    Persisted,
    finding=st.builds(
        Finding,
        severity=st.sampled_from(Severity),
        issue=st.text(max_size=3),
        fingerprint=st.sampled_from(["", "a", "b"]),
    ),
    resolved=st.booleans(),
    deferred=st.booleans(),
    accepted=st.booleans(),
)
REVIEWS = st.lists(st.tuples(st.sampled_from(GATES), st.lists(PERSISTED, max_size=3), st.booleans()), max_size=6)


@given(handoffs().filter(lambda data: not problems(data)), REVIEWS)
def test_no_history_of_reviews_makes_a_handoff_that_cannot_be_read(data: Data, reviews: list[Any]) -> None:
    for gate, findings, passed in reviews:
        before = known(data)
        data = reviewed(data, gate, *findings, passed=passed)
        after = known(data)
        assert [one for one in after if one.gate != gate] == [one for one in before if one.gate != gate]
        marks = [(one.gate, one.finding.fingerprint) for one in after]
        assert len(marks) == len(set(marks))
        assert {identify(each.finding).fingerprint for each in findings} <= {mark for at, mark in marks if at == gate}
