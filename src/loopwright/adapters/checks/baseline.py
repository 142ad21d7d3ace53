"""What the base gives to be measured by, from its receipt. Pure."""

from __future__ import annotations

from loopwright.adapters.checks.judgement import Ran, Standard, failures
from loopwright.adapters.checks.receipts import Receipt
from loopwright.adapters.checks.spec import CheckSpec
from loopwright.kernel.model import LoopId


def needs_base(spec: CheckSpec, ran: Ran) -> bool:
    """A report that counts is always compared with the base; `baseline` only matters once something failed."""
    return spec.report == "junit" or (spec.baseline and bool(failures(spec, ran)))


def standard(receipt: Receipt | None) -> Standard:
    """A base that could not be run to its end measures nothing."""
    if receipt is None:
        return Standard()
    percent = receipt.coverage.percent if receipt.coverage else None
    return Standard(tests=receipt.tests, percent=percent, failing=frozenset(receipt.failing))


def stands_for_base(receipt: Receipt, spec: CheckSpec, loop: LoopId) -> bool:
    """The base is run once and for all, but for a run that gave no report: that is tried again by each loop."""
    return receipt.reported or spec.report == "none" or receipt.loop == loop


def outcome_on_base(receipt: Receipt | None, test: str) -> str | None:
    """How a test that exists on the base came out in the full run there; None: nobody knows."""
    if receipt is None or not receipt.reported:
        return None
    return "failed" if test in receipt.failing else "passed"
