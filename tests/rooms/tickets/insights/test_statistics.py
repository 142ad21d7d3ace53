from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.loops.tickets.insights.statistics import (
    NOTHING,
    Case,
    Count,
    Side,
    binomial_tail,
    exact_tail,
    standouts,
)


@st.composite
def counts(draw: st.DrawFn) -> Count:
    total = draw(st.integers(0, 40))
    return Count(draw(st.integers(0, total)), total)


def cases(group: str, hits: int, total: int, stratum: str = "") -> list[Case]:
    return [Case(groups=frozenset({group}), hit=at < hits, stratum=stratum) for at in range(total)]


def test_wilsons_interval_of_a_textbook_case() -> None:
    low, high = Count(9, 10).interval
    assert (round(low, 4), round(high, 4)) == (0.5958, 0.9821)
    assert NOTHING.interval == (0.0, 1.0)
    assert NOTHING.share == 0.0


@given(counts())
def test_the_share_lies_within_its_interval(count: Count) -> None:
    low, high = count.interval
    assert 0 <= low <= high <= 1
    assert not count.total or low - 1e-9 <= count.share <= high + 1e-9


def test_the_tail_of_a_binomial_is_exact() -> None:
    assert isclose(binomial_tail(Count(4, 5), 0.2, "more"), 5 * 0.2**4 * 0.8 + 0.2**5)
    assert isclose(binomial_tail(Count(0, 30), 0.1, "less"), 0.9**30)
    assert binomial_tail(Count(2, 2), 1.0, "more") == 1.0
    assert binomial_tail(Count(1, 2), 0.0, "more") == 0.0


def test_fishers_own_tea_test() -> None:
    assert isclose(exact_tail({"": Count(3, 4)}, {"": Count(1, 4)}, "more"), 17 / comb(8, 4))


def test_a_difference_that_is_only_between_strata_is_none() -> None:
    """All hits are in one stratum, where both groups are alike; pooled, the second group would look far better."""
    own, rest = {"easy": Count(9, 10), "hard": Count(0, 90)}, {"easy": Count(81, 90), "hard": Count(0, 10)}
    assert exact_tail(own, rest, "less") > 0.5
    assert exact_tail({"": Count(9, 100)}, {"": Count(81, 100)}, "less") < 1e-20


def test_what_is_far_beyond_chance_has_no_chance_left() -> None:
    assert exact_tail({"": Count(2000, 2000)}, {"": Count(0, 2000)}, "more") < 1e-20
    assert exact_tail({"": Count(0, 2000)}, {"": Count(2000, 2000)}, "less") < 1e-20


@given(counts(), counts())
def test_both_tails_overlap_in_what_was_seen(own: Count, rest: Count) -> None:
    more, less = (exact_tail({"": own}, {"": rest}, side) for side in ("more", "less"))
    assert 0 <= more <= 1
    assert 0 <= less <= 1
    assert more + less >= 1 - 1e-9


@pytest.mark.parametrize(("side", "hits"), [("more", 45), ("less", 5)])
def test_one_group_that_differs_does_not_make_the_others_stand_out(side: Side, hits: int) -> None:
    seen = [*cases("odd", hits, 50), *cases("b", 25, 50), *cases("c", 26, 50), *cases("d", 24, 50)]
    (found,) = standouts(seen, ("more", "less"), 0.05)
    assert (found.name, found.side, found.own, found.rest) == ("odd", side, Count(hits, 50), Count(75, 150))
    assert found.p < 1e-4


def test_two_groups_that_differ_are_found_one_after_the_other() -> None:
    seen = [*cases("good", 48, 50), *cases("bad", 2, 50), *cases("c", 25, 50), *cases("d", 25, 50)]
    assert [(each.name, each.side) for each in standouts(seen, ("more", "less"), 0.05)] == [
        ("bad", "less"),
        ("good", "more"),
    ]


def test_what_was_seen_less_than_three_times_is_never_named() -> None:
    seen = [*cases("rare", 2, 2), *cases("rest", 0, 500)]
    assert standouts(seen, ("more",), 0.05) == ()
    hits_in_few = [*cases("often", 2, 3), *cases("rest", 0, 5000)]
    assert standouts(hits_in_few, ("more",), 0.05) == ()


def test_a_group_that_is_alone_has_nothing_to_stand_out_from() -> None:
    assert standouts(cases("only", 50, 100), ("more", "less"), 0.05) == ()
    assert standouts([], ("more",), 0.05) == ()


def test_the_more_groups_are_asked_about_the_more_has_to_be_shown() -> None:
    few = [*cases("odd", 9, 10), *cases("rest", 100, 200)]
    many = [*few, *(case for at in range(20) for case in cases(f"g{at}", 5, 10))]
    assert [each.name for each in standouts(few, ("more",), 0.05)] == ["odd"]
    assert standouts(many, ("more",), 0.05) == ()


def test_a_case_may_belong_to_several_groups() -> None:
    both = [Case(groups=frozenset({"slow", "other"}), hit=True)] * 30
    seen = [*both, *cases("other", 5, 60), *cases("third", 5, 60)]
    assert [each.name for each in standouts(seen, ("more",), 0.05)] == ["slow"]
