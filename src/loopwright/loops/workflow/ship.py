"""The gate's own word on finished work: how sure it is, whether it can be taken back, and the verdict of that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from loopwright.kernel.model import AgentReport
from loopwright.kernel.shapes import Field, Shape, expected, keyed, record, text, whole
from loopwright.loops.workflow.reading import lines, told
from loopwright.loops.workflow.shape import ASSUMPTION, CODE_REVIEW

SURE = 70  # percent; below it more has to be found out first
IRREVERSIBLE = "1"
_TYPES = (IRREVERSIBLE, "2A", "2B")
_TYPE_WORD = re.compile(r"type[\s-]*", re.IGNORECASE)

ShipVerdict = Literal["SHIP", "MONITOR", "RESEARCH"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ship:
    """What nobody said is None or empty, and `n/a` on the card."""

    confidence: int | None = None  # percent
    reversibility: str = ""  # 1: cannot be taken back; 2A, 2B: can be
    points: int | None = None
    alternative: str = ""
    risk: str = ""


def _reversibility() -> Shape:
    says = f"one of {', '.join(_TYPES)}"

    def read(value: object) -> object:
        word = _TYPE_WORD.sub("", value, count=1).strip().upper() if isinstance(value, str) else None
        return word if word == "" or word in _TYPES else expected(says, value)

    return Shape(says=says, read=read, json={"enum": ["", *_TYPES]})


_SHIP = record(
    Field(
        name="ship",
        shape=keyed(
            "an object",
            confidence=whole(0, 100),
            reversibility=_reversibility(),
            points=whole(0, 1000),
            alternative=text(),
            risk=text(),
        ),
        required=True,
    ),
    says="an object",
)


def read_ship(report: AgentReport) -> Ship | str:
    """As a gate gave it, or why it cannot be taken."""
    data = told(report, _SHIP)
    if isinstance(data, str):
        return data
    held: dict[str, Any] = data["ship"]
    return Ship(
        confidence=held.get("confidence"),
        reversibility=held.get("reversibility", ""),
        points=held.get("points"),
        alternative=" ".join(lines([held.get("alternative", "")])),
        risk=" ".join(lines([held.get("risk", "")])),
    )


def verdict_of(ship: Ship, verified_by: str) -> ShipVerdict:
    """RESEARCH fails the gate; MONITOR passes it and says that somebody has to keep an eye on it.

    `verified_by` is the type of verification that the work rests on. Nobody's doubt is none: without a gate that speaks
    the checks stand alone.
    """
    if verified_by == ASSUMPTION or (ship.confidence is not None and ship.confidence < SURE):
        return "RESEARCH"
    if ship.reversibility == IRREVERSIBLE or verified_by == CODE_REVIEW:
        return "MONITOR"
    return "SHIP"
