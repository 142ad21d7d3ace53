"""The published samples and schemas of the files of a story, and stories and findings to test them with."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from loopwright.kernel.model import Finding, Severity
from loopwright.loops.quality.handoff import Persisted, initial, with_review
from tests.sample_values import alternatives

Data = dict[str, Any]

_ROOT = Path(__file__).parent.parent.parent

LEAK = Finding(
    severity=Severity.CRITICAL,
    issue="the file is not closed",
    rule="CQ-04",
    file="src/a.py",
    line=12,
    evidence="no with",
    guidance="use with",
    dimension="c",
    fingerprint="leak",
)
NAME = Finding(severity=Severity.MEDIUM, issue="x says nothing", dimension="naming", fingerprint="name")
SLOW = Finding(severity=Severity.HIGH, issue="quadratic", category="performance", fingerprint="slow")
# Each says that a phase is not over.
SUMMARIES: Data = {
    "plan_summary": {"test_plan": {"test_count": 0}},
    "test_summary": {"all_tests_red": False},
    "code_summary": {"all_tests_green": False},
}


def forms_of_sample(name: str) -> list[dict[str, Any]]:
    """The sample with each of its alternatives in turn."""
    sample = yaml.safe_load((_ROOT / "tests" / "samples" / f"{name}.yml").read_text())
    return [form for form in alternatives(sample) if isinstance(form, dict)]


def fits_schema(name: str, data: object) -> bool:
    schema = json.loads((_ROOT / "schemas" / f"{name}.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema).is_valid(data)


def story(**changes: object) -> Data:
    return initial("ST-001", "medium") | changes


def entry(finding: Finding, gate: str, **changes: object) -> Data:
    """As a blocked review writes it."""
    data = with_review(initial("a"), gate=gate, findings=(Persisted(finding=finding),), passed=False)
    found: Any = data["quality_findings"]
    return {**found[0], **changes}
