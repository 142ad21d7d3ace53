"""The life of a finding: new, open, resolved, reopened; and how often in a row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.ledger import Entry, Ledger, Standing, longest_streak, record, resolved, unresolved
from loopwright.kernel.model import Finding, Severity

A = Finding(severity=Severity.MEDIUM, issue="a", fingerprint="a")
B = Finding(severity=Severity.HIGH, issue="b", fingerprint="b")


def after(*judgements: tuple[Finding, ...], source: str = "review") -> Ledger:
    ledger: Ledger = ()
    for attempt, found in enumerate(judgements, start=1):
        ledger = record(ledger, source, found, attempt)
    return ledger


def entry(finding: Finding, standing: Standing, first: int, last: int, streak: int) -> Entry:
    return Entry(finding=finding, source="review", standing=standing, first=first, last=last, streak=streak)


def test_the_first_sighting_is_new() -> None:
    assert after((A,)) == (entry(A, Standing.NEW, 1, 1, 1),)


def test_the_second_in_a_row_is_open() -> None:
    assert after((A,), (A,)) == (entry(A, Standing.OPEN, 1, 2, 2),)


def test_one_that_is_gone_is_resolved_and_stays_so() -> None:
    assert after((A,), ()) == (entry(A, Standing.RESOLVED, 1, 1, 0),)
    assert after((A,), (), ()) == (entry(A, Standing.RESOLVED, 1, 1, 0),)


def test_one_that_is_back_is_reopened_and_worse_and_counts_from_one() -> None:
    worse = replace(A, severity=Severity.HIGH, came_back=True)
    assert after((A,), (), (A,)) == (entry(worse, Standing.REOPENED, 1, 3, 1),)


def test_one_that_was_reopened_stays_worse_while_it_is_seen() -> None:
    worse = replace(A, severity=Severity.HIGH, came_back=True)
    assert after((A,), (), (A,), (A,)) == (entry(worse, Standing.REOPENED, 1, 4, 2),)


def test_each_return_makes_it_worse_up_to_critical() -> None:
    ledger = after((A,), (), (A,), (), (A,), (), (A,))
    assert [e.finding.severity for e in ledger] == [Severity.CRITICAL]


def test_one_that_comes_back_worse_than_raised_is_as_bad_as_it_is() -> None:
    low, critical = replace(A, severity=Severity.LOW), replace(A, severity=Severity.CRITICAL)
    assert after((low,), (), (critical,)) == (entry(critical, Standing.REOPENED, 1, 3, 1),)


def test_an_open_one_is_as_bad_as_it_was_last_said_to_be() -> None:
    milder = replace(A, severity=Severity.LOW, issue="said otherwise")
    assert after((A,), (milder,)) == (entry(milder, Standing.OPEN, 1, 2, 2),)


def test_only_its_own_source_resolves_a_finding() -> None:
    ledger = record(after((A,)), "tests", (B,), 1)
    ledger = record(ledger, "review", (), 2)
    assert [(e.source, e.standing) for e in ledger] == [
        ("review", Standing.RESOLVED),
        ("tests", Standing.NEW),
    ]


def test_two_sources_may_find_the_same() -> None:
    ledger = record(after((A,)), "tests", (A,), 1)
    assert [(e.source, e.streak) for e in ledger] == [("review", 1), ("tests", 1)]


def test_a_finding_said_twice_in_one_judgement_counts_once_and_at_its_worst() -> None:
    worse = replace(A, severity=Severity.CRITICAL)
    assert after((worse, A)) == after((A, worse)) == (entry(worse, Standing.NEW, 1, 1, 1),)


def test_what_is_wrong_comes_worst_first() -> None:
    low = Finding(severity=Severity.LOW, issue="c", fingerprint="c")
    ledger = record(after((low, A)), "tests", (B,), 1)
    assert unresolved(ledger) == (B, A, low)
    assert unresolved(ledger, "review") == (A, low)
    assert unresolved(ledger, "nobody") == ()


def test_what_is_resolved_is_told_apart() -> None:
    ledger = after((A, B), (B,))
    assert (resolved(ledger), unresolved(ledger)) == ((A,), (B,))


@pytest.mark.parametrize(
    ("judgements", "streak"),
    [((), 0), (((A,),), 1), (((A,), (A, B), (A, B)), 3), (((A,), (), (A,)), 1), (((A,), (A,), ()), 0)],
)
def test_a_streak_is_judgements_in_a_row(judgements: tuple[tuple[Finding, ...], ...], streak: int) -> None:
    assert longest_streak(after(*judgements), "review") == streak
    assert longest_streak(after(*judgements), "tests") == 0


@given(st.lists(st.sets(st.sampled_from("abc")), max_size=8))
def test_what_was_seen_last_is_what_is_unresolved(judgements: list[set[str]]) -> None:
    found = [tuple(replace(A, fingerprint=name) for name in sorted(names)) for names in judgements]
    ledger = after(*found)
    assert {f.fingerprint for f in unresolved(ledger)} == (judgements[-1] if judgements else set())
    assert {e.finding.fingerprint for e in ledger} == set().union(*judgements)
    assert all((e.streak == 0) == (e.standing is Standing.RESOLVED) for e in ledger)
