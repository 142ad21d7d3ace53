"""Tests that were red when a fix was requested judge the fix in the version in which they were red."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.judgement import COVERED
from loopwright.adapters.checks.sequence import run_checks
from loopwright.config.settings import CheckSettings
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import Change, Finding
from loopwright.kernel.trust import Claim
from loopwright.kernel.wording import join_names, told

_NAMED = 5  # in a sentence


async def find_still_red(
    desk: Desk, specs: tuple[CheckSettings, ...], landing: Mapping[str, str]
) -> tuple[Claim, Finding] | None:
    """Run the restored tests; return what a person would have to allow, and the finding that says so.

    `landing` are the outcomes of what would land: a test that is red there and forgiven was not made green by a change.
    """
    seen, changes = desk.seen, desk.seen.red_changes
    if seen.red in (None, seen.landing) or set(changes) <= set(desk.run.approved):
        return None
    results = await run_checks(desk, specs, seen.red, replace(desk.drops, any=True))
    runs = [await desk.outfit.ids(each.receipt, desk.book) for each in results]
    outcomes = {test: how for run in runs for test, how in run}
    # A module that could not be imported has an id of its own, which is gone once its tests run.
    gone = "passed" if all(each.passed for each in results) else "failed"
    red = dict.fromkeys(test for each in desk.run.red for test in each.tests if test not in COVERED)
    forgiven = {test for each in desk.run.red if each.forgiven for test in each.tests}
    left = {test for test in forgiven if landing.get(test) == "failed" or test not in outcomes}
    failing = tuple(test for test in red if outcomes.get(test, gone) != "passed" and test not in left)
    if not failing:
        return None
    finding = engine_finding("red-test-changed", _message(failing, changes), file=changes[0].path)
    # It is for the maker: a person at the gate reads the claim.
    messages = tuple(told(one) for each in results for one in each.failures if one.rule in failing)
    red_at = next(each.commit for each in desk.run.red if failing[0] in each.tests) or desk.run.trust.base
    return Claim(changes=changes, new=failing, messages=messages, red_at=red_at), replace(finding, category="red-test")


def _message(failing: tuple[str, ...], changes: tuple[Change, ...]) -> str:
    paths = ", ".join(change.place for change in changes[:_NAMED])
    named = join_names(failing, _NAMED)
    return (
        f"{named} failed when this fix was requested and still fails as it was then: the change to {paths} does not"
        " count. Fix the code. If the test itself is wrong, leave your change to it: a person decides then."
    )
