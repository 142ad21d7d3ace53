from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report, ReportRefused

LAUGHS = b"""<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<testsuite><testcase name="&c;"/></testsuite>"""
EXTERNAL = b"""<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>"""


def nothing_there(path: str) -> bool:
    return False


@pytest.mark.parametrize("content", [LAUGHS, EXTERNAL, LAUGHS.decode().encode("utf-16")])
def test_a_report_with_a_doctype_is_refused_before_anything_expands(content: bytes) -> None:
    with pytest.raises(ReportRefused):
        read_junit(content, nothing_there)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"   ",
        b"<",
        b"<testsuite>",
        b"<html/>",
        b"\x00\xff",
        b'{"a": 1}',
        b'<?xml encoding="no-such"?><testsuite/>',
    ],
)
def test_what_is_no_junit_report_is_refused(content: bytes) -> None:
    with pytest.raises(ReportRefused):
        read_junit(content, nothing_there)


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_anything_else(content: bytes) -> None:
    with suppress(ReportRefused):
        assert isinstance(read_junit(content, nothing_there), Report)


TWICE = b"""<testsuites><testsuite><testcase classname="a.B" name="c"/><testcase classname="a.B" name="c"/>
        <testcase classname="a.B" name="d"><skipped/></testcase>
        <testcase classname="a.B" name="e"/><testcase classname="a.B" name="e"><error message="at teardown"/></testcase>
        </testsuite></testsuites>"""


def test_skipped_tests_do_not_count_and_a_test_of_pytest_counts_once() -> None:
    report = read_junit(TWICE, nothing_there, nodes=True)
    assert report.tests == 2
    assert report.outcomes == (("a.B.c", "passed"), ("a.B.d", "skipped"), ("a.B.e", "failed"))
    assert [failure.issue for failure in report.failures] == ["a.B.e - at teardown"]


def test_two_tests_of_one_name_are_two_where_a_runner_allows_it() -> None:
    report = read_junit(TWICE, nothing_there)
    assert (report.tests, len(report.outcomes), report.outcome("a.B.e")) == (4, 5, "failed")


def nested(depth: int) -> bytes:
    return b"<testsuite>" * depth + b'<testcase name="x"/>' + b"</testsuite>" * depth


def test_suites_within_suites_are_read_but_not_without_end() -> None:
    assert read_junit(nested(20), nothing_there).outcomes == (("x", "passed"),)
    with pytest.raises(ReportRefused, match="nests suites deeper"):
        read_junit(nested(5000), nothing_there)


def test_a_failure_is_known_by_its_assertion_not_by_its_numbers() -> None:
    def failing(message: str) -> str:
        text = f'<testsuite><testcase name="t"><failure message="{message}"/></testcase></testsuite>'
        return read_junit(text.encode(), nothing_there).failures[0].fingerprint

    assert failing("took 12 ms at 0xdeadbeef") == failing("took 999 ms at 0x1234")
    assert failing("took 12 ms") != failing("was never called")


def test_a_hostile_name_comes_out_visible_and_bounded() -> None:
    text = f'<testsuite><testcase name="a\u202eb"><failure>{"x" * 100_000}</failure></testcase></testsuite>'
    (failure,) = read_junit(text.encode(), nothing_there).failures
    assert failure.rule == "a\\u202eb"
    assert len(failure.evidence) < 2100


def test_the_file_and_line_are_those_that_the_text_names_last() -> None:
    text = """<testsuite><testcase classname="tests.test_a.B" name="c"><failure message="no">
    File "/x/tests/test_a.py", line 3, in c
    tests/test_a.py:7: AssertionError</failure></testcase></testsuite>"""
    (failure,) = read_junit(text.encode(), lambda path: path == "tests/test_a.py", nodes=True).failures
    assert (failure.rule, failure.file, failure.line) == ("tests/test_a.py::B::c", "tests/test_a.py", 7)


@pytest.mark.parametrize("line", ["9" * 5000, "9" * 400, "-1", "\u0663", "1e3"])
def test_a_line_that_cannot_be_is_none(line: str) -> None:
    report = f'<testsuite><testcase classname="a" name="b" file="a.py" line="{line}"><failure/></testcase></testsuite>'
    (found,) = read_junit(report.encode(), lambda _: False).failures
    assert found.line == 0


def test_the_examples_of_a_text_are_a_test_of_that_file() -> None:
    report = b'<testsuite><testcase classname="lib.tests.tests.md" name="tests.md"/></testsuite>'
    found = read_junit(report, {"lib/tests/tests.py", "lib/tests/tests.md"}.__contains__, nodes=True)
    assert found.outcomes == (("lib/tests/tests.md::tests.md", "passed"),)
