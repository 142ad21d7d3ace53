"""The story checks, each on a story that breaks it and nothing else."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopwright.adapters.tools.stories import judge_story
from loopwright.kernel.model import Severity, Verdict
from loopwright.kernel.yaml_writer import write_yaml
from tests.adapters.tools.program import Candidate, brief

CRITICAL, HIGH, MEDIUM, LOW = Severity
Story = dict[str, Any]

TRIVIAL: Story = {
    "id": "ST-001",
    "title": "Correct a word on the start page",
    "description": "The greeting has a letter too many.",
    "tier": "trivial",
    "metadata": {"story_points": 1, "priority": "low", "blocked_by": [], "status": "planned"},
}
SMALL: Story = TRIVIAL | {
    "tier": "small",
    "files": ["src/greeting.py"],
    "acceptance_criteria": [
        {"id": "AC-1", "given": "a guest", "when": "they come", "then": "hello", "priority": "must"}
    ],
}
MEDIUM_STORY: Story = SMALL | {
    "tier": "medium",
    "scope": "feature",
    "interfaces": {"implements": [{"name": "greet", "signature": "greet(name)", "returns": "str", "raises": []}]},
    "io_examples": [
        {"name": "a guest", "input": "Ada", "output": "Hello, Ada"},
        {"name": "nobody", "input": "", "output": {"error": "EMPTY_NAME"}},
    ],
    "error_handling": [{"code": "EMPTY_NAME", "condition": "no name", "recoverable": True, "fallback": "ask"}],
    "test_specs": {
        "unit": [{"id": "T-01", "description": "greets", "covers": "AC-1"}, {"id": "T-02", "description": "n"}]
    },
    "invariants": [{"rule": "a greeting is never empty", "test": "T-02"}],
    "logging_rules": [],
    "observability_rules": {},
}
LARGE: Story = MEDIUM_STORY | {
    "tier": "large",
    "failure_modes": [{"trigger": "down", "impact": "none", "mitigation": "retry", "test": "T-01"}],
    "edge_cases": [
        {"category": category, "case": "c", "expected": "e", "test": "T-01"}
        for category in ("invalid_input", "duplicate", "limits", "time", "config")
    ],
    "determinism": {"time_injection": "clock"},
    "feature_flags": [{"name": "greeting", "default": False, "rollout": "gradual"}],
    "concurrency": {"idempotent": True},
    "resource_safety": {"cleanup": "none"},
}


def judged(story: Story) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.rule) for finding in judge_story("ST-001.yml", write_yaml(story))]


@pytest.mark.parametrize("story", [TRIVIAL, SMALL, MEDIUM_STORY, LARGE], ids=lambda story: str(story["tier"]))
def test_a_story_with_all_its_tier_asks_for_passes(story: Story) -> None:
    assert judged(story) == []


Change = Callable[[Story], object]
BROKEN: list[tuple[str, Severity, Story, Change]] = [
    ("S1", HIGH, TRIVIAL, lambda story: story.pop("title")),
    ("S1", HIGH, TRIVIAL, lambda story: story.update(title="  ")),
    ("S1", HIGH, TRIVIAL, lambda story: story.update(title="x" * 101)),
    ("S1", HIGH, TRIVIAL, lambda story: story.update(tier="huge")),
    ("S1", HIGH, TRIVIAL, lambda story: story["metadata"].update(story_points=4)),
    ("S1", HIGH, TRIVIAL, lambda story: story["metadata"].update(story_points=True)),
    ("S1", HIGH, TRIVIAL, lambda story: story["metadata"].update(priority="urgent")),
    ("S1", HIGH, TRIVIAL, lambda story: story["metadata"].pop("status")),
    ("S1", HIGH, TRIVIAL, lambda story: story["metadata"].update(blocked_by="ST-000")),
    ("S1", HIGH, SMALL, lambda story: story.pop("files")),
    ("S1", HIGH, SMALL, lambda story: story.update(files="src/greeting.py")),
    ("S1", HIGH, SMALL, lambda story: story["files"].append("tests/test_greeting.py")),
    ("S1", HIGH, MEDIUM_STORY, lambda story: story.update(scope="magic")),
    ("S1", HIGH, MEDIUM_STORY, lambda story: story.pop("scope")),
    ("S1", HIGH, MEDIUM_STORY, lambda story: story["test_specs"]["unit"][0].update(covers="AC-9", id="T-02")),
    ("S1", HIGH, LARGE, lambda story: story["edge_cases"].append({"category": "weather"})),
    ("S2", CRITICAL, MEDIUM_STORY, lambda story: story.update(scope=["feature", "refactor"])),
    ("S2", CRITICAL, MEDIUM_STORY, lambda story: story.update(scope="feature, refactor")),
    ("S2", CRITICAL, LARGE, lambda story: story.update(scope="feature and migration")),
    ("S3", CRITICAL, MEDIUM_STORY, lambda story: story["invariants"].append({"rule": "r", "test": "T-99"})),
    ("S3", CRITICAL, LARGE, lambda story: story["edge_cases"][0].update(test=["T-01", "T-99"])),
    ("S4", CRITICAL, MEDIUM_STORY, lambda story: story["test_specs"]["unit"].append({"id": "T-03"})),
    ("S5", CRITICAL, MEDIUM_STORY, lambda story: story["io_examples"].pop()),
    ("S6", HIGH, LARGE, lambda story: story["edge_cases"].pop()),
    ("S7", HIGH, MEDIUM_STORY, lambda story: story.pop("files")),
    ("S7", HIGH, LARGE, lambda story: story.pop("io_examples")),
    ("S8a", CRITICAL, SMALL, lambda story: story.update(files=["a.py", "b.py", "c.py", "d.py"])),
    ("S8b", HIGH, SMALL, lambda story: story["metadata"].update(story_points=13)),
    ("S9", HIGH, LARGE, lambda story: story["feature_flags"][0].update(default=True)),
    ("S9", HIGH, LARGE, lambda story: story["feature_flags"][0].pop("default")),
    ("S10", MEDIUM, MEDIUM_STORY, lambda story: story.update(test_specs=story.pop("test_specs"))),
]


@pytest.mark.parametrize(("check", "severity", "story", "change"), BROKEN)
def test_what_a_story_breaks_is_found_by_its_check(
    check: str, severity: Severity, story: Story, change: Change
) -> None:
    broken = copy.deepcopy(story)
    change(broken)
    assert set(judged(broken)) == {(severity, check)}


def test_a_dangling_reference_is_told_once_at_its_line_with_what_to_do() -> None:
    story = MEDIUM_STORY | {"invariants": [{"rule": "a", "test": "T-02"}, *({"rule": "b", "test": "T-99"},) * 2]}
    text = write_yaml(story)
    (finding,) = judge_story("s.yml", text)
    assert text.splitlines()[finding.line - 1].strip() == finding.evidence == "test: T-99"
    assert finding.issue == "invariants refers to the test T-99, which test_specs does not have"
    assert finding.guidance == "Add T-99 to test_specs, or refer to a test that is there."


def test_missing_fields_are_one_finding_that_lists_them() -> None:
    (finding,) = judge_story("s.yml", write_yaml({**TRIVIAL, "title": "", "description": None}))
    assert (finding.rule, finding.issue) == ("S1", "A trivial story needs title, description")
    assert finding.evidence == "the story has: id, title, description, tier, metadata"


def test_a_story_without_a_tier_is_held_to_what_it_amounts_to() -> None:
    story = {name: value for name, value in SMALL.items() if name not in ("tier", "files")}
    assert [finding.issue for finding in judge_story("s.yml", write_yaml(story))] == [
        "A small story needs tier, which it inherits from the tier trivial",
        "A small story needs files",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: ST-001\nid: ST-002\n", 2),
        ("id: &a x\nb: *a\n", 1),
        ("id: !!python/object/apply:os.system [true]\n", 1),
        ("id: [1\ntitle: x\n", 2),
        ("- just\n- a list\n", 1),
        ("", 1),
    ],
)
def test_what_is_not_plain_yaml_is_critical_with_its_line(text: str, line: int) -> None:
    (finding,) = judge_story("s.yml", text)
    assert brief(finding)[:3] == (CRITICAL, "yaml", "s.yml")
    assert finding.line == line
    assert finding.evidence
    assert finding.guidance


def test_the_reviewer_judges_a_story_and_blocks_it(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools="/nonexistent")
    candidate.put("stories/ST-001.yml", write_yaml(MEDIUM_STORY | {"scope": ["feature", "docs"]}))
    candidate.put("stories/ST-001.quality.yml", "findings: []\n")
    report = candidate.review("stories", gate="story", depth="comprehensive")
    assert (report.verdict, [finding.rule for finding in report.findings]) == (Verdict.FAIL, ["S2"])
    assert report.summary == "stories: 1 finding; ran: story checks."


def test_a_story_that_is_no_yaml_file_is_not_judged(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path)
    candidate.put("ST-001.txt", "a story")
    assert [finding.rule for finding in candidate.review("ST-001.txt", gate="story").findings] == ["not-judged"]
