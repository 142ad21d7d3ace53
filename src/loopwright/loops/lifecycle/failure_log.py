"""`failure-log.json`: every failure of every system of a domain, with what became of it. Others add to it too."""

from __future__ import annotations

from typing import Any

from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Problem, flag, keyed, number, several, text, whole
from loopwright.loops.kind import Data, Door
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.moments import FailureSpan, Moments
from loopwright.loops.lifecycle.state import LifecycleState

FAILURE_LOG = several(
    keyed(
        "an object",
        *("timestamp", "system", "stage", "error"),
        id=(text(), "Of the loop and the failure, where this program wrote it."),
        timestamp=text(1),
        system=text(1),
        stage=text(1),
        error=text(1),
        errorType=text(),
        file=text(),
        line=whole(0),
        retries=(whole(0), "Made of the same failure before."),
        resolution=(text(), "Null as long as it is open."),
        resolutionTime=(number(0), "Seconds until it was resolved."),
        wasEscalated=flag(),
    ),
    "a list of failures",
)


def failure_door(loop: LoopId, path: str, state: LifecycleState, moments: Moments) -> Door:
    return Door(path=path, change=lambda held: _with(held or [], loop, state, moments), problems=_problems, form="json")


def _problems(data: object) -> list[Problem]:
    held = FAILURE_LOG.read(data)
    return [held] if isinstance(held, Problem) else []


def _with(held: list[Any], loop: LoopId, state: LifecycleState, moments: Moments) -> list[Any]:
    """Each of ours where it stands, new ones at the end. What another tool counted before is that tool's to tell."""
    adopted = len(state.plan.earlier.failures) if state.plan.earlier else 0
    pairs = list(zip(state.history, moments.failures, strict=False))[adopted:]
    ours = {f"{loop}-{place}": _row(state, *pair) for place, pair in enumerate(pairs, start=1)}
    rows = [{"id": row["id"], **ours.pop(row["id"])} if row.get("id") in ours else row for row in held]
    return [*rows, *({"id": name, **row} for name, row in ours.items())]


def _row(state: LifecycleState, failure: Failure, span: FailureSpan) -> Data:
    return {
        "timestamp": span.at,
        "system": state.plan.system.id,
        "stage": failure.stage.value,
        "error": one_line(failure.error, 500),
        "errorType": failure.sort,
        "file": one_line(failure.file),
        "line": failure.line,
        "retries": failure.attempt,
        "resolution": span.resolution or None,
        "resolutionTime": round(span.seconds) if span.resolved_at else None,
        "wasEscalated": failure.escalated,
    }
