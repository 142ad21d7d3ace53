"""`learning/calibration.json`: what systems were estimated at, what they took, and how far estimates are to be trusted.

What was worked counts, not what was waited: hours of skills, without the time of gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from loopwright.kernel.model import LoopId
from loopwright.kernel.shapes import Problem, fitting, keyed, number, several, text, whole
from loopwright.kernel.wording import counted
from loopwright.loops.kind import Data, Door
from loopwright.loops.lifecycle.state import LifecycleState

_PLAIN_MEAN = 10  # below as many samples each counts alike
_BANDS = ((0, "none", None), (2, "very low", 50), (5, "low", 30), (10, "medium", 20), (20, "good", 10))
_MOST = ("high", 5)


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value[:10]))
    except ValueError:
        return False


_DATE = fitting("a date such as 2026-01-31", _is_date, {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d"})
_RECORD = keyed(
    "an object",
    *("system", "date", "estimated", "actual", "ratio"),
    id=text(),
    system=text(1),
    date=_DATE,
    estimated=(number(0), "Hours."),
    actual=(number(0), "Hours that were worked."),
    ratio=(number(0), "Actual to estimated."),
    mode=(text(), "How much was decided without people."),
    factors=several(text(), "a list of texts"),
    notes=text(),
)
CALIBRATION = keyed(
    "an object",
    *("records",),
    domain=text(),
    records=several(_RECORD),
    adjustments=(keyed("an object", **{"global": number(0)}), "What an estimate is to be multiplied by."),
    lastUpdated=text(),
    confidence=keyed(
        "an object",
        samples=whole(0),
        level=text(),
        margin=(whole(0), "Percent up and down; null where nothing is known."),
    ),
)


def record_of(loop: LoopId, state: LifecycleState, seconds: float, day: str) -> Data | None:
    """None: it was never estimated, and there is nothing to compare."""
    if state.hours is None:
        return None
    hours = round(seconds / 3600, 2)
    factors = [counted(len(state.done), "capability", "capabilities"), counted(state.failures, "failure")]
    return {
        "id": loop,
        "system": state.plan.system.id,
        "date": day,
        "estimated": state.hours,
        "actual": hours,
        "ratio": round(hours / state.hours, 2),
        "mode": state.plan.mode,
        "factors": factors,
        "notes": "; ".join(state.remarks),
    }


def calibration_door(path: str, domain: str, record: Data) -> Door:
    return Door(path=path, change=lambda held: _with(held or {}, domain, record), problems=_problems, form="json")


def _problems(data: object) -> list[Problem]:
    held = CALIBRATION.read(data)
    return [held] if isinstance(held, Problem) else []


def _with(held: Mapping[str, Any], domain: str, record: Data) -> Data:
    others = [row for row in held.get("records", ()) if row.get("id") != record["id"]]
    rows = [*others, record]
    modes = dict.fromkeys(row["mode"] for row in rows if row.get("mode"))
    means = {mode: _mean(row for row in rows if row.get("mode") == mode) for mode in modes}
    return {
        "domain": domain,
        **held,
        "records": rows,
        "adjustments": {**(held.get("adjustments") or {}), "global": _mean(rows), "byExecutionMode": means},
        "lastUpdated": max(str(row["date"]) for row in rows),
        "confidence": confidence(len(rows)),
    }


def _mean(rows: Iterable[Mapping[str, Any]]) -> float:
    """Of few, the plain one; of many, the newest count most."""
    listed = list(rows)
    days = [date.fromisoformat(row["date"][:10]) for row in listed]
    newest = max(days)
    weights = [1.0 if len(listed) < _PLAIN_MEAN else 1 / ((newest - day).days + 1) for day in days]
    total = sum(weight * float(row["ratio"]) for weight, row in zip(weights, listed, strict=True))
    return round(total / sum(weights), 2)


def confidence(samples: int) -> Data:
    """How far an estimate that was corrected may still be off."""
    level, margin = next(((word, off) for most, word, off in _BANDS if samples <= most), _MOST)
    return {"samples": samples, "level": level, "margin": margin}
