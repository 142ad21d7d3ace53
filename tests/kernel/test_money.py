import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.errors import OverBudget
from loopwright.kernel.money import Move, Purse, bounded, micros, moved, summed, usd

cents = st.integers(0, 10**9).map(lambda amount: amount / 100)


def purse(*, budget: int | None = 100, spent: int = 0, reserved: int = 0, estimated: bool = False) -> Purse:
    return Purse(loop="l", budget=budget, spent=spent, reserved=reserved, estimated=estimated)


@given(cents)
def test_an_amount_survives_the_way_there_and_back(amount: float) -> None:
    assert usd(micros(amount)) == amount


@pytest.mark.parametrize("amount", [-0.01, float("nan"), float("inf"), float("-inf")])
def test_what_is_no_amount_is_refused(amount: float) -> None:
    with pytest.raises(ValueError, match="is not an amount of money"):
        micros(amount)


def test_the_move_of_several_events_is_their_sum() -> None:
    told = summed([(0.1, 0.0, 0.0, False), (0.2, 0.3, 0.5, False)])
    assert told == Move(reserve=300_000, release=300_000, spend=500_000)
    assert summed([]).is_nothing
    assert not any(move.is_nothing for move in (Move(reserve=1), Move(release=1), Move(spend=1)))


def test_a_guess_makes_a_guess_of_the_sum_unless_nothing_was_spent_by_it() -> None:
    assert summed([(0.0, 0.0, 0.5, False), (0.0, 0.0, 0.25, True)]) == Move(spend=750_000, estimated=True)
    assert summed([(0.5, 0.0, 0.0, True), (0.0, 0.5, 0.25, False)]) == Move(
        reserve=500_000, release=500_000, spend=250_000
    )
    once = moved(purse(spent=30), Move(spend=10, estimated=True))
    assert once == purse(spent=40, estimated=True)
    assert moved(once, Move(spend=10)) == purse(spent=50, estimated=True)


def test_what_a_pause_says_was_spent_is_marked_where_it_is_a_guess() -> None:
    with pytest.raises(OverBudget, match=r"budget of loop l: ~\$0\.30 spent and \$0\.20 reserved of \$1\.00; the next"):
        moved(purse(budget=1_000_000, spent=300_000, reserved=200_000, estimated=True), Move(reserve=500_001))


def test_a_reservation_may_fill_the_budget_and_no_more() -> None:
    assert moved(purse(spent=30, reserved=30), Move(reserve=40)) == purse(spent=30, reserved=70)
    with pytest.raises(OverBudget) as over:
        moved(purse(budget=1_000_000, spent=300_000, reserved=200_000), Move(reserve=500_001))
    assert (over.value.loop, over.value.limit, over.value.spent) == ("l", 1.0, 0.3)
    assert (over.value.reserved, over.value.wanted) == (0.2, 0.500001)


def test_a_run_that_reserves_nothing_begins_only_while_something_is_left() -> None:
    assert moved(purse(spent=99), Move(paid=True)) == purse(spent=99)
    for spent in (100, 130):
        with pytest.raises(OverBudget, match="nothing is left for the next step"):
            moved(purse(spent=spent), Move(paid=True))
    assert moved(purse(budget=None, spent=130), Move(paid=True)) == purse(budget=None, spent=130)
    assert summed([], paid=True) == Move(paid=True)


def test_what_is_settled_in_the_same_move_makes_room() -> None:
    assert moved(purse(reserved=100), Move(reserve=60, release=100, spend=40)) == purse(spent=40, reserved=60)


def test_a_cost_is_counted_even_over_the_budget() -> None:
    assert moved(purse(spent=90), Move(spend=20)) == purse(spent=110)


def test_without_a_budget_everything_fits() -> None:
    assert moved(purse(budget=None), Move(reserve=10**12)) == purse(budget=None, reserved=10**12)


def test_no_more_is_released_than_is_reserved() -> None:
    assert bounded(purse(reserved=5), Move(reserve=2, release=9, spend=1)) == Move(reserve=2, release=7, spend=1)
    assert bounded(purse(reserved=5), Move(release=4)) == Move(release=4)
