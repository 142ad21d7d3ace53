"""Evidence that a change does what it was made for: something that failed before it passes now."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Level(StrEnum):
    """How much the checks show of a change. A level is never an outcome."""

    SHOWN = "shown"  # a witness fails without the change and passes with it
    GUARDED = "guarded"  # no witness, but a test fails when the change is broken
    UNTESTED = "untested"  # no test fails even then
    NOT_SHOWN = "not shown"  # nothing to try: data, configuration, types, or the mutation check is off


_WEAKEST_FIRST = (Level.UNTESTED, Level.GUARDED, Level.NOT_SHOWN, Level.SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A test or command that fails on the base and passes on the candidate."""

    id: str
    check: str
    fails_on_base: Literal["assertion", "missing-name", "exit-code"]
    by: Literal["base", "maker", "examiner", "person"] = "maker"  # who wrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredTest:
    """A test of the base that the candidate changes."""

    id: str
    how: Literal["altered", "moved", "weakened", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    level: Level
    witnesses: tuple[Witness, ...] = ()
    altered_tests: tuple[AlteredTest, ...] = ()
    idle_tests: tuple[str, ...] = ()  # new tests that fail on the base and yet do not notice a broken change


def lowest(levels: tuple[Level, ...]) -> Level:
    """Return the level of a whole made of parts with these levels."""
    return min(levels, key=_WEAKEST_FIRST.index, default=Level.NOT_SHOWN)
