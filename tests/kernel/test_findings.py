"""When two findings are the same fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.findings import bounded, cut, identify, normalise, told_apart
from loopwright.kernel.model import Finding, Severity

REVIEW = Finding(severity=Severity.HIGH, issue="Line 12 drops the error of retry 3", file="src/a.py", line=12)
TEST = Finding(severity=Severity.HIGH, issue="assert 3 == 4", rule="tests/t.py::test_sum", category="tests")


def mark(finding: Finding, code: str = "") -> str:
    return identify(finding, code).fingerprint


# --- noise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("expected 3 but got 41.5", "expected <n> but got <n>"),
        ("took 999999 ns", "took <n> ns"),
        ("took 1000000 ns", "took <n> ns"),
        ("object at 0x7f2ab8", "object at <n>"),
        ("object at 0x7F2AB8", "object at <n>"),
        ("commit 9fceb02d0ae5", "commit <n>"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id <n>"),
        ("id FFFFFFFF-ABCD-ABCD-ABCD-FFFFFFFFFFFF", "id <n>"),
        ("at 2026-01-31T10:20:30Z", "at <time>"),
        ("at 2026-01-31 10:20", "at <time>"),
        ("at 2026-01-31T10:20:30.123+02:00", "at <time>"),
        ("in /tmp/pytest-7/x.py failed", "in <path> failed"),
        ('File "/home/a/b.py"', 'file "<path>"'),
        ("in C:/Users/a.py", "in <path>"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("two\n\tlines  here ", "two lines here"),
        ("Case Folds", "case folds"),
        ("src/a.py stays", "src/a.py stays"),
        ("either/or", "either/or"),
        ("defaced facade", "defaced facade"),
    ],
)
def test_what_differs_between_two_sightings_is_noise(text: str, plain: str) -> None:
    assert normalise(text) == plain


@given(st.text())
def test_normal_text_stays_as_it_is(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.integers(min_value=0), st.integers(min_value=0))
def test_no_number_makes_another_fault(one: int, other: int) -> None:
    assert mark(replace(REVIEW, issue=f"took {one} ms")) == mark(replace(REVIEW, issue=f"took {other} ms"))


# --- identity ------------------------------------------------------------------------------------------------


def test_a_mark_is_short_and_stable() -> None:
    assert identify(REVIEW) == replace(REVIEW, fingerprint="be12fe0cb36b0b6f")


def test_a_mark_that_is_there_stays() -> None:
    assert identify(replace(REVIEW, fingerprint="mine")) == replace(REVIEW, fingerprint="mine")


@pytest.mark.parametrize(
    "changed",
    [
        {"line": 99},
        {"issue": "Line 13 drops the error of retry 30"},
        {"severity": Severity.LOW},
        {"evidence": "other"},
        {"guidance": "other"},
        {"score": 0.5},
    ],
    ids=str,
)
def test_the_same_fault_elsewhere_in_the_file_has_the_same_mark(changed: dict[str, object]) -> None:
    assert mark(replace(REVIEW, **changed)) == mark(REVIEW)  # type: ignore[arg-type]  # names of fields


@pytest.mark.parametrize(
    "changed", [{"file": "src/b.py"}, {"issue": "Line 12 drops the result"}, {"rule": "R1"}], ids=str
)
def test_another_fault_has_another_mark(changed: dict[str, str]) -> None:
    assert mark(replace(REVIEW, **changed)) != mark(REVIEW)  # type: ignore[arg-type]  # names of fields


def test_a_rule_says_what_the_words_do_not() -> None:
    one, other = replace(REVIEW, rule="R1", issue="no retry"), replace(REVIEW, rule="R1", issue="retry is missing")
    assert mark(one) == mark(other)
    assert mark(one) != mark(replace(other, rule="R2"))


def test_the_code_around_it_tells_two_places_of_one_rule_apart() -> None:
    ruled = replace(REVIEW, rule="R1")
    assert mark(ruled, "a = 1") != mark(ruled, "b = c")
    assert mark(ruled, "a = 1") == mark(ruled, "a  =  2")


def test_the_same_assertion_with_other_numbers_is_the_same_failure() -> None:
    assert mark(TEST) == mark(replace(TEST, issue="assert 5 == 6"))


def test_another_failure_of_the_same_test_is_another_finding() -> None:
    assert mark(TEST) != mark(replace(TEST, issue="assert 3 < 4"))
    assert mark(TEST) != mark(replace(TEST, issue="KeyError: 'x'"))


def test_the_same_assertion_in_another_test_is_another_finding() -> None:
    assert mark(TEST) != mark(replace(TEST, rule="tests/t.py::test_product"))


# --- size ------------------------------------------------------------------------------------------------------


def test_a_long_text_is_cut_and_says_how_much_is_missing() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcdef … (1 more characters)"
    assert cut("", 0) == ""


def test_every_text_of_a_finding_is_bounded() -> None:
    long = Finding(
        severity=Severity.LOW,
        issue="i" * 9,
        rule="r" * 9,
        file="f" * 9,
        line=7,
        evidence="e" * 9,
        guidance="g" * 9,
        requirement="q" * 9,
        expected="x" * 9,
        actual="a" * 9,
    )
    rest = " … (5 more characters)"
    assert bounded(long, 4) == Finding(
        severity=Severity.LOW,
        issue="iiii" + rest,
        rule="rrrr" + rest,
        file="ffff" + rest,
        line=7,
        evidence="eeee" + rest,
        guidance="gggg" + rest,
        requirement="qqqq" + rest,
        expected="xxxx" + rest,
        actual="aaaa" + rest,
    )


def test_a_short_finding_is_left_alone() -> None:
    assert bounded(REVIEW) == REVIEW


def test_findings_of_one_report_that_say_different_things_are_told_apart() -> None:
    one = identify(Finding(severity=Severity.HIGH, rule="S2", file="a.yml", issue="two scopes"))
    other = identify(Finding(severity=Severity.HIGH, rule="S2", file="a.yml", issue="no scope"))
    alone = identify(Finding(severity=Severity.HIGH, rule="S3", file="a.yml", issue="two scopes"))
    assert one.fingerprint == other.fingerprint
    apart = told_apart((one, other, alone, one))
    assert len({finding.fingerprint for finding in apart}) == 3
    assert (apart[2], apart[0]) == (alone, apart[3])
    assert told_apart((one,)) == (one,)
