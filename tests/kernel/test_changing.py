"""A value with some of its fields changed: the same as `dataclasses.replace` makes of it."""

from __future__ import annotations

import dataclasses

import pytest

from loopwright.kernel.changing import _copier, replace
from loopwright.kernel.model import Ending, Outcome, Usage
from loopwright.loops.workflow.limits import WorkflowLimits

WHOLE = Outcome(ending=Ending.VERIFIED, attempts=2, note="done")


@pytest.mark.parametrize(
    "changes", [{}, {"note": "again"}, {"attempts": 3, "ending": Ending.ACCEPTED}, {"findings": ()}], ids=str
)
def test_it_is_what_the_standard_library_makes(changes: dict[str, object]) -> None:
    assert replace(WHOLE, **changes) == dataclasses.replace(WHOLE, **changes)  # type: ignore[arg-type]


def test_the_value_itself_stays_as_it_was() -> None:
    _copier.cache_clear()  # what was made by other tests may not have been measured
    changed = replace(WHOLE, note="again")
    assert (WHOLE.note, changed.note, type(changed)) == ("done", "again", Outcome)
    assert hash(replace(Usage(usd=1.0), usd=2.0)) == hash(Usage(usd=2.0))


def test_a_field_that_is_none_is_refused() -> None:
    with pytest.raises(AttributeError, match="colour"):
        replace(WorkflowLimits(), colour="red")


def test_what_it_makes_is_frozen_as_well() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        replace(WHOLE, note="again").note = "and again"  # type: ignore[misc]
