"""What speaks against a tree, as its checks and the commands of its task tell it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import KEPT, faults_of, is_only_unmet, names_of_faults
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NO_KEY, CheckResult, Demand, Finding, Severity, Tree

PASSED = CheckResult(name="test", passed=True, tests=3)
RED = CheckResult(name="test", passed=False)
GREEN = ChecksReported(key=NO_KEY, tree=Tree("t"), results=(PASSED,))
SAID = identify(Finding(severity=Severity.HIGH, category="checks", rule="verify T-001", issue="it ended with 3"))
UNMET = CheckResult(name="T-001", passed=False, failures=(SAID,))
UNSAID = CheckResult(name="mustNot-1", passed=False, note="the file is there")
MET = CheckResult(name="T-002", passed=True)


def test_what_must_not_be_is_named_by_itself_and_other_demands_as_what_they_verify() -> None:
    demands = (Demand("T-001", ("make",)), Demand("criterion-2", ("make",)), Demand("mustNot-1", ("make",)))
    assert [demand.rule for demand in demands] == ["verify T-001", "verify criterion-2", "mustNot-1"]


def test_a_tree_is_good_where_all_checks_and_all_demands_passed() -> None:
    assert faults_of(replace(GREEN, also=(MET,))) == ()
    assert names_of_faults(replace(GREEN, also=(MET,))) == "no check ran"


def test_a_demand_that_failed_is_a_fault_that_names_what_asked_for_it() -> None:
    report = replace(GREEN, also=(UNMET, MET, UNSAID))
    told = [(each.rule, each.requirement, each.issue) for each in faults_of(report, " on the merged tree")]
    assert told == [
        ("verify T-001", "T-001", "it ended with 3"),
        ("mustNot-1", "mustNot-1", "mustNot-1 failed on the merged tree: the file is there"),
    ]
    assert names_of_faults(report) == "verify T-001, mustNot-1"
    assert faults_of(report)[0].fingerprint == SAID.fingerprint


def test_a_demand_that_does_not_say_why_is_a_fault_all_the_same() -> None:
    (fault,) = faults_of(replace(GREEN, also=(CheckResult(name="T-001", passed=False),)))
    assert (fault.issue, bool(fault.fingerprint)) == ("verify T-001 failed: it did not say why", True)


def test_demands_are_no_check_a_tree_that_no_check_judged_is_not_good() -> None:
    assert [each.rule for each in faults_of(replace(GREEN, results=(), also=(MET,)))] == ["no-result"]


def test_faults_of_checks_come_first() -> None:
    assert names_of_faults(replace(GREEN, results=(RED,), also=(UNMET,))) == "test, verify T-001"


@pytest.mark.parametrize(
    ("report", "is_only"),
    [
        (replace(GREEN, also=(UNMET, MET)), True),
        (replace(GREEN, also=(MET,)), False),
        (replace(GREEN, results=(RED,), also=(UNMET,)), False),
        (replace(GREEN, also=(UNMET, UNSAID)), False),
    ],
)
def test_only_demands_failed_where_checks_did_not_and_nothing_is_there_that_must_not(
    report: ChecksReported, *, is_only: bool
) -> None:
    assert is_only_unmet(report) is is_only


def test_a_report_of_before_has_no_demands() -> None:
    data = json.loads(encode(GREEN))
    assert data.pop("also") == []
    assert decode(ChecksReported, json.dumps(data)) == GREEN


def test_who_changed_a_test_that_stays_as_it_landed_hears_of_it_where_something_fails() -> None:
    paths = tuple(f"tests/test_{at}.py" for at in range(9))
    assert faults_of(replace(GREEN, kept=paths)) == ()
    failed, kept = faults_of(replace(GREEN, results=(RED,), kept=paths))
    assert (failed.rule, kept.rule, kept.severity) == ("check-test", KEPT, Severity.MEDIUM)
    assert "The change to tests/test_0.py, " in kept.issue
    assert " more was put back" in kept.issue
    (_, one) = faults_of(replace(GREEN, results=(RED,), kept=paths[:1]))
    assert "The change to tests/test_0.py was put back" in one.issue
