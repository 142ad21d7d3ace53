import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity
from loopwright.loops.quality.quality_file import build, full_name, is_quality_file, name
from tests.rooms.story_files import fits_schema, forms_of_sample

FORMS = forms_of_sample("quality-file")

DANGLING = Finding(
    severity=Severity.CRITICAL,
    issue="TC-4 names no criterion",
    rule="S3",
    dimension="b",
    guidance="name AC-2",
    file="stories/ST-001.yml",
    line=31,
    evidence="covers: AC-4",
    fingerprint="0f1e",
)


@pytest.mark.parametrize(
    ("artifact", "short", "full"),
    [
        ("a/X.yml", "a/X.quality.yml", "a/X.yml.quality.yml"),
        ("1-design.md", "1-design.quality.yml", "1-design.md.quality.yml"),
        ("src/a.py", "src/a.quality.yml", "src/a.py.quality.yml"),
        ("src", "src.quality.yml", "src.quality.yml"),
        ("src/", "src.quality.yml", "src.quality.yml"),
        ("a.tar.gz", "a.tar.quality.yml", "a.tar.gz.quality.yml"),
        ("a/.env", "a/.env.quality.yml", "a/.env.quality.yml"),
        (".", ".quality.yml", ".quality.yml"),
    ],
)
def test_the_file_lies_beside_the_artifact(artifact: str, short: str, full: str) -> None:
    assert (name(artifact), full_name(artifact)) == (short, full)
    assert is_quality_file(short)
    assert is_quality_file(full)
    assert not is_quality_file(artifact)


def test_the_file_tells_every_finding_in_the_words_of_its_format() -> None:
    bare = Finding(severity=Severity.LOW, issue="a word", dimension="style", fingerprint="02")
    assert build(story="ST-001", gate="story", round=2, findings=(DANGLING, bare)) == {
        "story_id": "ST-001",
        "verdict": "BLOCKED",
        "round": 2,
        "findings": [
            {
                "severity": "P0",
                "check": "S3",
                "dimension": "B",
                "issue": "TC-4 names no criterion",
                "guidance": "name AC-2",
                "file": "stories/ST-001.yml",
                "line": 31,
                "evidence": "covers: AC-4",
                "id": "0f1e",
            },
            {"severity": "P3", "check": "", "dimension": "", "issue": "a word", "guidance": "", "id": "02"},
        ],
    }


def test_a_design_is_named_as_one() -> None:
    data = build(story="docs-1-design-md-d653", gate="design", round=1, findings=(), artifact="docs/1-design.md")
    assert data == {"design_name": "1-design", "verdict": "BLOCKED", "round": 1, "findings": []}
    assert fits_schema("quality-file", data)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"story_id": None, "design_name": "1-design"}, True),
        ({"story_id": None}, False),
        ({"verdict": "PASSED"}, False),
        ({"round": 0}, False),
        ({"findings": [{"severity": "P4", "issue": ""}]}, False),
        ({"findings": [{"severity": "P1"}]}, False),
        ({"findings": [{"severity": "P1", "issue": "a", "line": "3"}]}, False),
    ],
)
def test_the_schema_says_what_others_may_rely_on(change: dict[str, object], fits: bool) -> None:  # noqa: FBT001
    data = {key: value for key, value in (FORMS[0] | change).items() if value is not None}
    assert fits_schema("quality-file", data) == fits


FINDINGS = st.builds(
    Finding,
    severity=st.sampled_from(Severity),
    issue=st.text(),
    rule=st.text(),
    file=st.text(),
    line=st.integers(0, 10**6),
    evidence=st.text(),
    guidance=st.text(),
    dimension=st.sampled_from(["", "A", "N"]),
)


@given(st.lists(FINDINGS.map(identify)), st.sampled_from(["story", "design", "code"]), st.integers(1, 9))
def test_what_is_built_fits_the_schema(findings: list[Finding], gate: str, number: int) -> None:
    data = build(story="ST-1", gate=gate, round=number, findings=tuple(findings))
    assert fits_schema("quality-file", data)
