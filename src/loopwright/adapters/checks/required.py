"""What the runs of a verification have to have shown: that tests were there, unless these are still to come."""

from __future__ import annotations

from dataclasses import replace

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.order import may_verify
from loopwright.adapters.checks.receipts import is_of_nothing
from loopwright.config.settings import CheckSettings
from loopwright.kernel.judges import is_source
from loopwright.kernel.model import CheckResult
from loopwright.kernel.trust import FileClass

WEAK = (
    "no check that ran here counts tests: write one whose runner is known, or give your word with"
    ' `trust = "exit-code"` in [checks.NAME] of loop.toml; `loop setup` finds what there is'
)


def to_land(desk: Desk, specs: tuple[CheckSettings, ...]) -> tuple[CheckSettings, ...]:
    """The checks as the landing run is held to them: something must have been there to run.

    Where tests are still to come, none need be there. What runs no tests may be empty only as it was before: a build
    of code that just came could say so of itself, and nobody would hear that it fails.
    """
    trust = desk.run.trust
    has_code = any(each.kind is FileClass.PRODUCT and is_source(each.change.path) for each in desk.seen.classed)

    def may_be_empty(spec: CheckSettings) -> bool:
        if not trust.tests_to_come:
            return False
        return may_verify(spec, desk.texts) or (spec.may_be_empty and not has_code)

    return tuple(replace(spec, may_be_empty=may_be_empty(spec)) for spec in specs)


async def is_weak(desk: Desk, specs: tuple[CheckSettings, ...], results: tuple[CheckResult, ...]) -> bool:
    """Nothing but exit codes speaks. Neither a check whose files were not touched is weak, nor one that may count tests
    as soon as there is something to run."""
    if desk.run.trust.tests_to_come:
        return False
    ran = [result for result in results if result.receipt or not result.passed]
    if not ran or any(result.tests is not None for result in ran):
        return False
    by_name = {spec.name: spec for spec in specs}
    return not any([await _is_enough(desk, by_name[result.name], result) for result in ran])


async def _is_enough(desk: Desk, spec: CheckSettings, result: CheckResult) -> bool:
    if spec.trust == "exit-code" or not spec.may_be_empty or not may_verify(spec, desk.texts):
        return spec.trust == "exit-code"
    receipt = await desk.book.find(result.receipt)
    return receipt is not None and is_of_nothing(receipt, spec)
