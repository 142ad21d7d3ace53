import math

import pytest

from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.wording import dollars, join_names, moment, slug, told


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Ask Ümläut: me?", "ask-uemlaeut-me"),
        ("Straße über die Brücke", "strasse-ueber-die-brue"),
        ("a\u0308pfel", "aepfel"),
        ("Crème brûlée, señor Łukasz", "creme-brulee-senor-uka"),
        ("Smørrebrød №5", "smoerrebroed-no5"),
        ("日本語", ""),
        ("--- plain ---", "plain"),
    ],
)
def test_a_name_made_of_a_title_keeps_its_letters(title: str, name: str) -> None:
    assert slug(title, 22) == name


def test_a_finding_that_came_back_says_why_it_weighs_more_even_where_it_is_cut() -> None:
    finding = Finding(severity=Severity.CRITICAL, issue="x" * 500, came_back=True)
    assert told(finding).endswith(" (it came back: one step graver)")


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0.5, "1970-01-01T00:00:00Z"),
        (200_000_000_000.0, "8307-10-01T19:33:20Z"),
        (1e15, "9999-12-31T23:59:59Z"),
        (-1e15, "0001-01-01T00:00:00Z"),
        (math.inf, "9999-12-31T23:59:59Z"),
    ],
)
def test_a_clock_that_is_beside_itself_is_told_all_the_same(at: float, text: str) -> None:
    assert moment(at) == text


def test_money_is_written_in_dollars_and_marked_where_it_is_a_guess() -> None:
    assert (dollars(2.5), dollars(1.196, estimated=True)) == ("$2.50", "~$1.20")


def test_of_many_names_the_first_are_listed_and_the_rest_is_counted() -> None:
    assert [join_names(names, 2) for names in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == [
        "",
        "a",
        "a, b",
        "a, b and 1 more",
    ]
