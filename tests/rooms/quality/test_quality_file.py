import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity
from loopwright.loops.quality.quality_file import build, full_name, is_quality_file, name, problems, read
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
    data = build(story="1-design", gate="design", round=1, findings=())
    assert data == {"design_name": "1-design", "verdict": "BLOCKED", "round": 1, "findings": []}
    assert problems(data) == ()
    assert fits_schema("quality-file", data)


@pytest.mark.parametrize("data", FORMS)
def test_every_form_of_the_sample_is_read(data: object) -> None:
    assert problems(data) == ()


def test_findings_are_read_with_what_is_known_of_them() -> None:
    split = Finding(severity=Severity.HIGH, issue="The story has more than one scope.", guidance="Split it.")
    assert read(FORMS[0]) == (
        Finding(
            severity=Severity.CRITICAL,
            issue="The test TC-4 names an acceptance criterion that is not there.",
            rule="S3",
            dimension="A",
            guidance="Name AC-2, or write AC-4.",
            file="stories/ST-001.yml",
            line=31,
            evidence="covers: AC-4",
            fingerprint="0f1e2d3c4b5a6978",
        ),
        identify(split),
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"story_id": None}, ((), "story_id or design_name is missing")),
        ({"verdict": "PASSED"}, (("verdict",), "has to be one of BLOCKED, not 'PASSED'")),
        ({"verdict": None}, ((), "verdict is missing")),
        ({"round": 0}, (("round",), "has to be a whole number from 1, not 0")),
        (
            {"findings": [{"severity": "P4", "issue": ""}]},
            (("findings", 0, "severity"), "has to be one of P0, P1, P2, P3, not 'P4'"),
        ),
        ({"findings": [{"severity": "P1"}]}, (("findings", 0), "issue is missing")),
        (
            {"findings": [{"severity": "P1", "issue": "a", "line": "3"}]},
            (("findings", 0, "line"), "has to be a whole number from 0, not '3'"),
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(change: dict[str, object], problem: object) -> None:
    assert problems(FORMS[0] | change) == (problem,)
    given = {key: value for key, value in (FORMS[0] | change).items() if value is not None}
    assert not fits_schema("quality-file", given)


def test_every_problem_is_told() -> None:
    assert [says for _, says in problems({"verdict": 1, "story_id": ""})] == [
        "has to be text, not an empty text",
        "has to be one of BLOCKED, not 1",
        "round is missing",
        "findings is missing",
    ]
    assert [says for _, says in problems({"verdict": "BLOCKED", "round": 1})] == [
        "findings is missing",
        "story_id or design_name is missing",
    ]


def test_what_is_no_mapping_is_told() -> None:
    assert problems(None) == (((), "has to be a mapping, not nothing"),)


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
def test_what_is_built_is_read_back_whole(findings: list[Finding], gate: str, number: int) -> None:
    data = build(story="ST-1", gate=gate, round=number, findings=tuple(findings))
    assert problems(data) == ()
    assert fits_schema("quality-file", data)
    assert read(data) == tuple(findings)
