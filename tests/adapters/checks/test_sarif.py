import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.reports import Report, ReportRefused
from loopwright.adapters.checks.sarif import read_sarif
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding
from tests.adapters.checks.projects import project


def result(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a JSON document
    place = {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": 3}}
    return {
        "ruleId": "E501",
        "level": "error",
        "message": {"text": "Line too long"},
        "locations": [{"physicalLocation": place}],
        **more,
    }


def log(*results: dict[str, Any], **run: Any) -> bytes:  # noqa: ANN401 - as above
    return json.dumps({"version": "2.1.0", "runs": [{"results": list(results), **run}]}).encode()


def findings(content: bytes, code: str = "x = 1") -> tuple[Finding, ...]:
    return read_sarif(content, lambda *_: code, "/checkout").failures


@pytest.mark.parametrize(("level", "severity"), [("error", "high"), ("warning", "medium"), ("note", "low")])
def test_a_result_is_a_finding_with_rule_place_message_and_severity(level: str, severity: str) -> None:
    (found,) = findings(log(result(level=level)))
    assert (found.rule, found.file, found.line, found.issue) == ("E501", "src/a.py", 3, "Line too long")
    assert found.severity == severity


def test_the_level_comes_from_the_rule_where_the_result_has_none() -> None:
    bare = result()
    del bare["level"]
    tool = {"driver": {"name": "x", "rules": [{"id": "E501", "defaultConfiguration": {"level": "note"}}]}}
    assert findings(log(bare, tool=tool))[0].severity == "low"
    assert findings(log(bare))[0].severity == "medium"


def test_what_is_suppressed_or_passing_is_no_finding() -> None:
    silent = (result(level="none"), result(kind="pass"), result(suppressions=[{"kind": "inSource"}]))
    assert findings(log(*silent)) == ()


def test_identity_is_rule_file_and_code_not_the_line() -> None:
    moved = result()
    moved["locations"] = [
        {"physicalLocation": {"artifactLocation": {"uri": "file:///checkout/src/a.py"}, "region": {"startLine": 90}}}
    ]
    assert findings(log(result()))[0].fingerprint == findings(log(moved))[0].fingerprint
    assert findings(log(result()))[0].fingerprint != findings(log(result()), code="y = 2")[0].fingerprint


@pytest.mark.parametrize("uri", ["/etc/passwd", "../../etc/passwd", "a/../../b"])
def test_a_place_outside_the_checkout_is_no_place(uri: str) -> None:
    outside = result(locations=[{"physicalLocation": {"artifactLocation": {"uri": uri}}}])
    assert findings(log(outside))[0].file == ""


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{}", b"null", b'{"version": "2.0.0", "runs": []}', b'{"version": "2.1.0"}', b"[" * 100_000),
        *(log(result(level=5)), log(result(level="fatal")), log(result(message="x")), log(result(locations=[1]))),
        *(log(result(), tool=[]), b'{"version": "2.1.0", "runs": [NaN]}'),
    ],
)
def test_what_is_not_sarif_is_refused(content: bytes) -> None:
    with pytest.raises(ReportRefused):
        findings(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["ruleId", "level", "message", "locations", "text", "rule"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(json_values)
def test_no_result_makes_it_raise_anything_else(value: object) -> None:
    content = json.dumps({"version": "2.1.0", "runs": [{"results": [value]}]}).encode()
    with suppress(ReportRefused):
        assert isinstance(read_sarif(content, lambda *_: "", "/"), Report)


def test_a_linter_that_exits_with_zero_still_fails_by_its_report(tmp_path: Path) -> None:
    code = f"import sys, pathlib; pathlib.Path(sys.argv[1]).write_text({log(result()).decode()!r})"
    lint = CheckSettings(name="lint", run=(sys.executable, "-c", code, "{report}"), report="sarif", baseline=True)
    made = project(tmp_path, {"other.py": ""}, [lint])
    fixed = asyncio.run(made.only(made.candidate({"src/a.py": "1\n2\nlong line\n"})))
    assert (fixed.passed, [f.rule for f in fixed.failures], fixed.tests) == (False, ["E501"], None)


def test_a_linter_that_writes_no_report_fails(tmp_path: Path) -> None:
    lint = CheckSettings(name="lint", run=(sys.executable, "-c", ""), report="sarif")
    made = project(tmp_path, {"a.py": ""}, [lint])
    missing = asyncio.run(made.only(made.candidate({"a.py": "1\n"})))
    assert (missing.passed, missing.failures[0].rule) == (False, "no-report lint")


@pytest.mark.parametrize("line", [True, -1, 10**9, 10**250, 3.5, "7"])
def test_a_line_that_cannot_be_is_none(line: object) -> None:
    place = {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": line}}
    (found,) = findings(log(result(locations=[{"physicalLocation": place}])))
    assert found.line == 0


def test_a_number_of_thousands_of_digits_is_refused_in_our_words() -> None:
    with pytest.raises(ReportRefused, match="has more than 300 digits"):
        findings(b'{"version": ' + b"9" * 5000 + b"}")
