"""What is said at the end: the block `<loop-complete>` with the card, and the report of a loop that was cancelled.

The texts of the card are the seed's. Its frame is drawn by the width that a terminal gives each character, so that it
closes whatever is written in it: the seed's own sample is a column out of line where a text begins.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.workflow.evidence import NOTHING_KNOWN, CriterionStatus
from loopwright.loops.workflow.progress import TaskLine

ShipVerdict = Literal["SHIP", "MONITOR", "RESEARCH"]
_LAMPS: Mapping[ShipVerdict, str] = {"SHIP": "🟢", "MONITOR": "🟡", "RESEARCH": "🔴"}
_NARROW, _WIDE = 34, 74  # columns for text: the seed's frame, and what fits on a terminal of 80 with room to spare
_OF_OURS = re.compile(r"<(?=\s*/?\s*loop-complete)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShipCard:
    """`verified`, `done` and `total` come of receipts; the others are the gate role's word, empty or None without."""

    verdict: ShipVerdict
    verified: str
    done: int
    total: int
    confidence: int | None = None
    reversibility: str = ""
    points: int | None = None
    alternative: str = ""
    risk: str = ""


def render_complete(tasks: tuple[TaskLine, ...], card: ShipCard) -> str:
    """The block, without a line end after it."""
    done = sum(task.status == "completed" for task in tasks)
    heading = "All tasks verified:" if done == len(tasks) else f"Tasks verified, {done} of {len(tasks)}:"
    lines = ("<loop-complete>", heading, *map(_task, tasks), "", *render_card(card), "</loop-complete>")
    return "\n".join(lines)


def render_card(card: ShipCard) -> tuple[str, ...]:
    upper, lower = tuple(_said(card)), tuple(_doubts(card))
    inner = min(_WIDE, max(_NARROW, *(width(line) for line in (*upper, *lower)))) + 2
    head = f"─ {_LAMPS[card.verdict]} {card.verdict} "
    return (
        f"╭{head}{'─' * (inner - width(head))}╮",
        *(f"│ {_filled(line, inner - 2)} │" for line in upper),
        f"├{'─' * inner}┤",
        *(f"│ {_filled(line, inner - 2)} │" for line in lower),
        f"╰{'─' * inner}╯",
    )


def render_cancel_report(
    iterations: int,
    cost: str,
    done: tuple[TaskLine, ...],
    remaining: tuple[TaskLine, ...],
    criteria: Mapping[str, CriterionStatus],
) -> tuple[str, ...]:
    """Lines for whoever cancelled: what it took, what is there, what is not."""
    every = len(done) + len(remaining)
    met = sum(status.met for status in criteria.values())
    return (
        f"Iterations: {iterations}",
        f"Cost: {cost}",
        f"Done: {len(done)} of {counted(every, 'task')}",
        *(f"  ✓ {one_line(task.id)}: {one_line(task.subject)}" for task in done),
        f"Remaining: {len(remaining)} of {counted(every, 'task')}",
        *(f"  · {one_line(task.id)}: {one_line(task.subject)}" for task in remaining),
        f"Criteria: {met} of {len(criteria)} met",
        *(f"  {'✓' if status.met else '✗'} {one_line(name)}" for name, status in criteria.items()),
    )


def width(text: str) -> int:
    """In columns of a terminal."""
    return sum(map(_columns, text))


def _task(task: TaskLine) -> str:
    return f"- {_tame(task.id)}: {'✓' if task.status == 'completed' else '✗'} {_tame(task.subject)}"


def _said(card: ShipCard) -> Iterator[str]:
    sure = NOTHING_KNOWN if card.confidence is None else f"~{card.confidence}%"
    points = f"{NOTHING_KNOWN} pt" if card.points is None else f"{card.points}pt"
    yield f"Verified: {_known(card.verified)}"
    yield f"Tasks: {card.done}/{card.total} complete"
    yield f"Subjective: {sure} · Type {_known(card.reversibility)} · {points}"


def _doubts(card: ShipCard) -> Iterator[str]:
    yield f"↳ Alt: {_known(card.alternative)}"
    yield f"↳ Risk: {_known(card.risk)}"


def _known(text: str) -> str:
    return _tame(text) or NOTHING_KNOWN


def _tame(text: str) -> str:
    """On one line, and nothing in it begins or ends the block."""
    return _OF_OURS.sub(r"<\\", one_line(text))


def _filled(text: str, columns: int) -> str:
    """Exactly so wide: spaces at the end, or cut with a mark."""
    if width(text) > columns:
        ends = accumulate(map(_columns, text))
        text = "".join(char for char, end in zip(text, ends, strict=True) if end < columns).rstrip() + "…"
    return text + " " * (columns - width(text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
