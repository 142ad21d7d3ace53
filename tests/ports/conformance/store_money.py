"""Contracts 30 to 40 of the store: money."""

from __future__ import annotations

from loopwright.errors import OverBudget
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent, NewLoop, Store
from tests.ports.conformance.store_parts import LOOP, Contract, Fresh, begin, entries, raised

ROOT, MIDDLE, LEAF, SIBLING = LoopId("root"), LoopId("middle"), LoopId("leaf"), LoopId("sibling")


def _money(
    reserve: float = 0.0, release: float = 0.0, spend: float = 0.0, *, estimated: bool = False, paid: bool = False
) -> Append:
    moved = NewEvent(
        kind="Moved", data="{}", reserve=reserve, release=release, spend=spend, estimated=estimated, paid=paid
    )
    return Append(entries=(moved,))


async def _amounts(store: Store, *loops: LoopId) -> list[tuple[float, float]]:
    """Spent and reserved."""
    return [(row.spent, row.reserved) for row in [(await store.load(loop)).row for loop in loops]]


async def _tree(store: Store, *, budget: float | None, middle: float | None = None) -> tuple[int, int]:
    """Root, middle, leaf, and a sibling of middle. Returns the fences of leaf and sibling."""
    await begin(store, ROOT, budget=budget)
    await begin(store, MIDDLE, parent=ROOT, budget=middle)
    return await begin(store, LEAF, parent=MIDDLE), await begin(store, SIBLING, parent=ROOT)


async def c30_a_reservation_is_settled_by_what_was_spent(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        await store.append(LOOP, fence=fence, expected=1, batch=_money(reserve=0.7))
        assert await _amounts(store, LOOP) == [(0.0, 0.7)]
        await store.append(LOOP, fence=fence, expected=2, batch=_money(release=0.7, spend=0.3))
        assert await _amounts(store, LOOP) == [(0.3, 0.0)]
        await store.append(LOOP, fence=fence, expected=3, batch=_money(reserve=0.7))
        assert await _amounts(store, LOOP) == [(0.3, 0.7)]


async def c31_a_reservation_that_does_not_fit_is_refused_with_the_numbers(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        await store.append(LOOP, fence=fence, expected=1, batch=_money(reserve=0.5, spend=0.4))
        before = await store.load(LOOP)
        batch = Append(entries=(*entries(2), *_money(reserve=0.2).entries), status="paused", snapshot="{}")
        over = await raised(OverBudget, store.append(LOOP, fence=fence, expected=2, batch=batch))
        assert (over.loop, over.limit, over.spent, over.reserved, over.wanted) == (LOOP, 1.0, 0.4, 0.5, 0.2)
        assert await store.load(LOOP) == before


async def c32_a_reservation_may_use_the_last_cent(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=0.3)
        for expected in (1, 2, 3):
            await store.append(LOOP, fence=fence, expected=expected, batch=_money(reserve=0.1))
        assert await _amounts(store, LOOP) == [(0.0, 0.3)]
        await raised(OverBudget, store.append(LOOP, fence=fence, expected=4, batch=_money(reserve=0.000001)))


async def c33_money_is_counted_in_every_ancestor(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, sibling = await _tree(store, budget=10.0)
        await store.append(LEAF, fence=leaf, expected=1, batch=_money(reserve=2.0, spend=0.5))
        await store.append(SIBLING, fence=sibling, expected=1, batch=_money(reserve=1.0))
        await store.append(LEAF, fence=leaf, expected=2, batch=_money(release=2.0, spend=1.25))
        amounts = await _amounts(store, ROOT, MIDDLE, LEAF, SIBLING)
        assert amounts == [(1.75, 1.0), (1.75, 0.0), (1.75, 0.0), (0.0, 1.0)]
        for loop in (ROOT, MIDDLE, LEAF, SIBLING):
            await store.verify(loop)


async def c34_the_budget_of_any_ancestor_refuses_a_reservation(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, sibling = await _tree(store, budget=3.0, middle=2.5)
        await store.append(SIBLING, fence=sibling, expected=1, batch=_money(reserve=1.0))
        by_root = await raised(OverBudget, store.append(LEAF, fence=leaf, expected=1, batch=_money(reserve=2.25)))
        assert (by_root.loop, by_root.limit, by_root.reserved, by_root.wanted) == (ROOT, 3.0, 1.0, 2.25)
        by_middle = await raised(OverBudget, store.append(LEAF, fence=leaf, expected=1, batch=_money(reserve=2.6)))
        assert (by_middle.loop, by_middle.limit, by_middle.reserved) == (MIDDLE, 2.5, 0.0)
        assert await _amounts(store, ROOT, MIDDLE, LEAF) == [(0.0, 1.0), (0.0, 0.0), (0.0, 0.0)]
        assert (await store.load(LEAF)).row.seq == 1


async def c35_a_cost_is_recorded_even_over_the_budget(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, _ = await _tree(store, budget=1.0)
        await store.append(LEAF, fence=leaf, expected=1, batch=_money(spend=1.5))
        assert await _amounts(store, ROOT, LEAF) == [(1.5, 0.0), (1.5, 0.0)]
        over = await raised(OverBudget, store.append(LEAF, fence=leaf, expected=2, batch=_money(reserve=0.1)))
        assert (over.loop, over.spent, over.reserved, over.wanted) == (ROOT, 1.5, 0.0, 0.1)


async def c36_a_new_limit_counts_from_the_batch_that_sets_it(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        raise_it = Append(entries=_money(reserve=2.0).entries, budget=2.0)
        await store.append(LOOP, fence=fence, expected=1, batch=raise_it)
        await store.append(LOOP, fence=fence, expected=2, batch=Append(entries=entries(1), budget=0.5))
        row = (await store.load(LOOP)).row
        assert (row.budget, row.reserved) == (0.5, 2.0)
        none = Append(entries=_money(reserve=7.0).entries, unlimited=True)
        await store.append(LOOP, fence=fence, expected=2 + 1, batch=none)
        row = (await store.load(LOOP)).row
        assert (row.budget, row.reserved) == (None, 9.0)


async def c37_no_more_is_released_than_is_reserved(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, sibling = await _tree(store, budget=10.0)
        await store.append(SIBLING, fence=sibling, expected=1, batch=_money(reserve=1.0))
        await store.append(LEAF, fence=leaf, expected=1, batch=_money(reserve=0.5))
        await store.append(LEAF, fence=leaf, expected=2, batch=_money(release=0.9))
        assert await _amounts(store, ROOT, MIDDLE, LEAF) == [(0.0, 1.0), (0.0, 0.0), (0.0, 0.0)]


async def c38_a_loop_without_a_budget_has_no_limit(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, _ = await _tree(store, budget=None)
        await store.append(LEAF, fence=leaf, expected=1, batch=_money(reserve=1e6))
        assert (await store.load(ROOT)).row.budget is None
        assert await _amounts(store, ROOT) == [(0.0, 1e6)]


async def c39_a_child_whose_first_event_does_not_fit_is_not_made(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        await begin(store, ROOT, budget=1.0)
        child = NewLoop(id=LEAF, kind="sample", params="{}", parent=ROOT)
        await raised(OverBudget, store.create(child, NewEvent(kind="Created", data="{}", reserve=1.5)))
        assert [row.id for row in await store.rows()] == [ROOT]
        assert await store.create(child, NewEvent(kind="Created", data="{}", reserve=1.0))
        assert await _amounts(store, ROOT, LEAF) == [(0.0, 1.0), (0.0, 1.0)]


async def c40_one_guess_below_makes_a_guess_of_all_that_was_spent_above(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, sibling = await _tree(store, budget=None)
        written = await store.append(LEAF, fence=leaf, expected=1, batch=_money(spend=0.5))
        assert not written.row.estimated
        await store.append(SIBLING, fence=sibling, expected=1, batch=_money(reserve=1.0, estimated=True))
        assert not any(row.estimated for row in await store.rows())
        written = await store.append(LEAF, fence=leaf, expected=2, batch=_money(spend=0.25, estimated=True))
        await store.append(LEAF, fence=leaf, expected=3, batch=_money(spend=0.5))
        assert written.row.estimated
        assert {row.id for row in await (await opened()).rows() if row.estimated} == {ROOT, MIDDLE, LEAF}


async def c41_what_may_cost_does_not_begin_where_nothing_is_left_though_it_reserves_nothing(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        leaf, _ = await _tree(store, budget=0.5)
        await store.append(LEAF, fence=leaf, expected=1, batch=_money(paid=True))
        await store.append(LEAF, fence=leaf, expected=2, batch=_money(spend=0.5))
        over = await raised(OverBudget, store.append(LEAF, fence=leaf, expected=3, batch=_money(paid=True)))
        assert (over.loop, over.spent, over.wanted) == (ROOT, 0.5, 0.0)
        await store.append(LEAF, fence=leaf, expected=3, batch=_money())


MONEY: tuple[Contract, ...] = (
    c30_a_reservation_is_settled_by_what_was_spent,
    c31_a_reservation_that_does_not_fit_is_refused_with_the_numbers,
    c32_a_reservation_may_use_the_last_cent,
    c33_money_is_counted_in_every_ancestor,
    c34_the_budget_of_any_ancestor_refuses_a_reservation,
    c35_a_cost_is_recorded_even_over_the_budget,
    c36_a_new_limit_counts_from_the_batch_that_sets_it,
    c37_no_more_is_released_than_is_reserved,
    c38_a_loop_without_a_budget_has_no_limit,
    c39_a_child_whose_first_event_does_not_fit_is_not_made,
    c40_one_guess_below_makes_a_guess_of_all_that_was_spent_above,
    c41_what_may_cost_does_not_begin_where_nothing_is_left_though_it_reserves_nothing,
)
