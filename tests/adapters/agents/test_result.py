import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.agents.result import MOST_FINDINGS, Result, check_result, identified, read_result
from loopwright.errors import AgentGarbled
from loopwright.kernel.codec import encode
from loopwright.kernel.model import AgentReport, AgentStatus, Finding, Question, Severity, Usage, Verdict

# The example of the contract, with one of each alternative taken.
WHOLE = {
    "status": "done",
    "summary": "what I did",
    "verdict": "pass",
    "findings": [
        {
            "severity": "critical",
            "rule": "S3",
            "file": "src/a.py",
            "line": 12,
            "issue": "wrong",
            "evidence": "seen",
            "guidance": "fix",
            "requirement": "AC-1",
            "dimension": "d",
            "category": "security",
            "expected": "1",
            "actual": "2",
            "score": 0.5,
        }
    ],
    "scores": {"outcome": 2, "scope": 1, "constraints": 0, "success": 2, "done": 1},
    "shape": {
        "criteria": ["c"],
        "mustNot": ["m", {"text": "n", "command": ["true"]}],
        "verification": [{"criterion": "c", "type": "execution output", "command": ["true"]}],
    },
    "tasks": [
        {"id": "T-001", "subject": "s", "description": "d", "verify": ["true"], "blockedBy": ["T-000"], "files": ["f"]}
    ],
    "capabilities": ["x"],
    "estimate": {"hours": 0},
    "aspects": [{"requirement": "r", "aspect": "a", "expected": "e", "actual": "a", "pass": True, "score": 1.0}],
    "questions": [{"question": "which?", "options": ["a", "b"], "impact": "much"}],
    "deliverables": ["docs/x.md"],
    "references": ["docs/y.md"],
    "score": 8,
    "advice": {"diagnosis": ["d"], "recommendations": ["r"], "consensus": "c", "fallback": "f"},
    "ship": {"confidence": 90, "reversibility": "2B", "points": 5, "alternative": "a", "risk": "r"},
    "usage": {"input_tokens": 3, "output_tokens": 4, "usd": 0.25},
}
REPORTED = ("status", "summary", "verdict", "findings", "questions", "usage")


def read(value: object) -> Result:
    return read_result(json.dumps(value).encode())


def refused(data: bytes) -> str:
    with pytest.raises(AgentGarbled) as caught:
        read_result(data)
    return caught.value.why


def test_the_whole_example_of_the_contract_is_read() -> None:
    result = read(WHOLE)
    extras = {key: value for key, value in WHOLE.items() if key not in REPORTED}
    finding = Finding(
        severity=Severity.CRITICAL,
        issue="wrong",
        rule="S3",
        file="src/a.py",
        line=12,
        evidence="seen",
        guidance="fix",
        requirement="AC-1",
        dimension="d",
        category="security",
        expected="1",
        actual="2",
        score=0.5,
    )
    assert json.loads(result.report.extras) == extras
    assert result == Result(
        AgentReport(
            status=AgentStatus.DONE,
            summary="what I did",
            verdict=Verdict.PASS,
            findings=(finding,),
            questions=(Question(question="which?", options=("a", "b"), impact="much"),),
            extras=result.report.extras,
        ),
        Usage(input_tokens=3, output_tokens=4, usd=0.25),
        counted=True,
    )


def test_only_the_status_is_needed_and_silence_about_cost_is_not_zero() -> None:
    assert read({"status": "blocked"}) == Result(
        AgentReport(status=AgentStatus.BLOCKED, summary="(no summary)"), Usage(usd=None)
    )


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("P0", Severity.CRITICAL),
        ("CRITICAL", Severity.CRITICAL),
        ("BLOCKER", Severity.CRITICAL),
        ("P1", Severity.HIGH),
        ("HIGH", Severity.HIGH),
        ("P2", Severity.MEDIUM),
        ("MEDIUM", Severity.MEDIUM),
        ("WARNING", Severity.MEDIUM),
        ("P3", Severity.LOW),
        ("SUGGESTION", Severity.LOW),
        ("low", Severity.LOW),
    ],
)
def test_the_severities_of_all_sources_are_understood(word: str, severity: Severity) -> None:
    report = read({"status": "done", "findings": [{"severity": word, "issue": "x"}]}).report
    assert report.findings == (Finding(severity=severity, issue="x"),)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": None}, "$: status is missing; give it one of done, blocked, needs_clarification"),
        (
            {"status": "finished"},
            '$.status: expected one of done, blocked, needs_clarification, found the text "finished"',
        ),
        ({"verdict": "PASSED"}, '$.verdict: expected one of pass, fail, found the text "PASSED"'),
        ({"verdict": True}, "$.verdict: expected one of pass, fail, found true"),
        ({"summary": ["a"]}, "$.summary: expected text, found a list"),
        ({"findings": {}}, "$.findings: expected a list, found a table of keys"),
        ({"findings": ["x"]}, '$.findings[0]: expected an object, found the text "x"'),
        ({"findings": [{"severity": "low"}]}, "$.findings[0]: issue is missing; give it text"),
        (
            {"findings": [{"issue": "x"}]},
            "$.findings[0]: severity is missing; give it one of critical, high, medium, low",
        ),
        (
            {"findings": [{"severity": "low", "issue": "x", "line": "12"}]},
            '$.findings[0].line: expected a whole number, at least 0, found the text "12"',
        ),
        (
            {"findings": [{"severity": "low", "issue": "x", "line": True}]},
            "$.findings[0].line: expected a whole number, at least 0, found true",
        ),
        ({"usage": {"usd": -1}}, "$.usage.usd: expected an amount in US dollars, 0 to 1000000, found the number -1"),
        (
            {"usage": {"usd": 1e15}},
            "$.usage.usd: expected an amount in US dollars, 0 to 1000000, found the number 1000000000000000.0",
        ),
        (
            {"usage": {"usd": "free"}},
            '$.usage.usd: expected an amount in US dollars, 0 to 1000000, found the text "free"',
        ),
        ({"scores": {"outcome": "2"}}, '$.scores.outcome: expected a number, -1000000 to 1000000, found the text "2"'),
        ({"tasks": [{"verify": "make test"}]}, '$.tasks[0].verify: expected a list, found the text "make test"'),
        ({"aspects": [{"pass": "yes"}]}, '$.aspects[0].pass: expected true or false, found the text "yes"'),
        ({"questions": [{}]}, "$.questions[0]: question is missing; give it text"),
    ],
)
def test_a_wrong_type_is_refused_with_its_place(change: dict[str, object], why: str) -> None:
    assert refused(json.dumps({"status": "done", **change}).encode()) == why


@pytest.mark.parametrize("text", ["9" * 30, "-" + "9" * 400, "9" * 5000, "1e13", "-1e7", "1e307"])
@pytest.mark.parametrize(
    "place",
    [
        '"usage": {"usd": N}',
        '"usage": {"input_tokens": N}',
        '"score": N',
        '"scores": {"outcome": N}',
        '"findings": [{"severity": "low", "issue": "x", "line": N}]',
        '"findings": [{"severity": "low", "issue": "x", "score": N}]',
        '"aspects": [{"score": N}]',
        '"estimate": {"hours": N}',
        '"ship": {"confidence": N}',
    ],
)
def test_a_number_out_of_all_proportion_is_refused(place: str, text: str) -> None:
    why = refused(f'{{"status": "done", {place.replace("N", text)}}}'.encode())
    assert "expected" in why or "too large" in why


def test_not_even_a_key_that_nobody_knows_holds_a_number_that_cannot_be_printed() -> None:
    for value in (10**30, -(10**400), 10**5000, {10**5000: 1}, [[10**5000]]):
        with pytest.raises(AgentGarbled, match="the number is too large"):
            check_result({"status": "done", "x": value})


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        ({"input_tokens": 2_000_000_000, "usd": 0}, None),
        ({"input_tokens": 90_000, "output_tokens": 10_000, "usd": 0}, None),
        ({"output_tokens": 2_000_000_000, "usd": 0.001}, None),
        ({"input_tokens": 99_999, "usd": 0}, 0.0),
        ({"input_tokens": 200_000, "usd": 0.01}, 0.01),
        ({"usd": 0}, 0.0),
    ],
)
def test_no_money_for_very_many_tokens_is_not_believed(usage: dict[str, object], usd: float | None) -> None:
    found = read({"status": "done", "usage": usage})
    assert found.usage.usd == usd
    noted = json.loads(found.report.extras).get("$unknown", {})
    assert noted == ({} if usd is not None else {"usage.usd": "too little for so many tokens: taken for not said"})


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "not JSON"),
        (b'{"status": "do', "not JSON"),
        (b"[]", "$: expected an object, found a list"),
        (b'{"status": "done", "status": "blocked"}', "the key 'status' is there twice"),
        (b'{"status": "done", "scores": {"a": NaN}}', "NaN is no number"),
        (b'{"status": "done", "scores": {"a": -Infinity}}', "-Infinity is no number"),
        (b'{"status": "done", "scores": {"a": 1e999}}', "1e999 is too large"),
        (b'{"status": "\xff"}', "not UTF-8 at byte 12"),
        (b'{"status": "done", "x": ' + b"[" * 40 + b"]" * 40 + b"}", "nested deeper than 32"),
        (b'{"status": "done", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper than 32"),
        (b'{"status": "done", "summary": "' + b"x" * (1 << 20) + b'"}', "larger than 1048576 bytes"),
    ],
)
def test_what_is_not_strict_json_is_refused(data: bytes, part: str) -> None:
    assert part in refused(data)


def test_unknown_keys_are_kept_and_noted() -> None:
    finding = {"severity": "low", "issue": "x", "fingerprint": "mine"}
    report = read({"status": "done", "mood": "good", "findings": [finding]}).report
    assert json.loads(report.extras) == {
        "mood": "good",
        "$unknown": {"mood": "good", "findings[0].fingerprint": "mine"},
    }
    assert report.findings == (Finding(severity=Severity.LOW, issue="x"),)


def test_a_null_is_like_a_key_that_is_not_there() -> None:
    assert read({"status": "done", "verdict": None, "findings": None}).report.verdict is None


def test_text_comes_out_visible_and_bounded() -> None:
    report = read({"status": "done", "summary": "\x1b[2J" + "s" * 9000, "x": "\u202e\ud800"}).report
    assert report.summary.startswith("\\x1b[2Jsss")
    assert report.summary.endswith("more characters)")
    assert json.loads(report.extras)["x"] == "\\u202e\\ud800"


def test_of_very_many_findings_the_worst_are_kept() -> None:
    many = [{"severity": "low", "issue": f"n{number}"} for number in range(300)]
    report = read({"status": "done", "findings": [*many, {"severity": "P0", "issue": "worst"}]}).report
    assert len(report.findings) == MOST_FINDINGS
    assert report.findings[0] == Finding(severity=Severity.CRITICAL, issue="worst")
    assert json.loads(report.extras)["$unknown"] == {"findings": "101 of 301 left out, the least severe"}


def test_findings_get_an_identity_from_their_code() -> None:
    report = read({"status": "done", "findings": [{"severity": "low", "issue": "x", "file": "a", "line": 1}]}).report
    (one,) = identified(report, lambda _: "code").findings
    (same,) = identified(report, lambda _: " code ").findings
    (other,) = identified(report, lambda _: "different").findings
    assert one.fingerprint == same.fingerprint != other.fingerprint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*WHOLE, "other", "severity", "issue"]), inner),
)


@given(JSON | st.dictionaries(st.sampled_from([*WHOLE, "other"]), JSON))
def test_whatever_an_agent_writes_is_refused_or_can_be_stored(value: object) -> None:
    with suppress(AgentGarbled):
        encode(read(value).report).encode("utf-8")


@given(st.binary())
def test_any_bytes_are_refused_or_can_be_stored(data: bytes) -> None:
    with suppress(AgentGarbled):
        encode(read_result(data).report).encode("utf-8")


def test_a_cost_by_a_price_list_is_said_to_be_one() -> None:
    said = {"status": "done", "usage": {"usd": 0.25, "estimated": True}}
    assert check_result(said).usage == Usage(usd=0.25, estimated=True)
