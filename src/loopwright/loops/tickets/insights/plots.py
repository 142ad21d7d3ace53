"""Plots as inline SVG, drawn by hand: each with a title and a description for those who do not see it.

Colours are classes of the page's style sheet, so that one drawing serves light and dark. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from loopwright.kernel.visible import visible
from loopwright.loops.tickets.insights.statistics import Count

WIDTH = 640
_LABEL = 170  # where bars begin
_BAR = 226  # the longest one
_ROW, _TOP = 28, 8
_LEFT, _RIGHT, _HEIGHT, _BOTTOM = 52, 28, 240, 72  # of plots with two axes
_LONGEST = 22  # characters of a label


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What a reader of the page is told about a drawing, and its rows as a table."""

    id: str
    title: str
    alternative: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    svg: str


@dataclass(frozen=True, slots=True)
class PlotRow:
    label: str
    share: float  # of the longest bar
    note: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """At `x` from 0 to 1 in the plot, labelled; `count` gives the height and its interval."""

    x: float
    label: str
    count: Count


def text(said: str) -> str:
    """Harmless in a page, whoever wrote it."""
    return escape(visible(said), quote=True)


def bars(rows: Sequence[PlotRow]) -> str:
    """Horizontal bars, each with its label before and its figures after; a whisker shows the interval."""
    height = _TOP * 2 + _ROW * len(rows)
    return _svg(height, "".join(_bar(row, _TOP + _ROW * at) for at, row in enumerate(rows)))


def _bar(row: PlotRow, y: int) -> str:
    middle = y + _ROW / 2
    return (
        _text(_LABEL - 10, middle, _short(row.label), anchor="end")
        + _rect(_LABEL, y + 5, row.share * _BAR, _ROW - 10)
        + (_whisker(row.interval, middle) if row.interval else "")
        + _text(_LABEL + _BAR + 12, middle, row.note, css="note")
    )


def _whisker(interval: tuple[float, float], y: float) -> str:
    low, high = (_LABEL + end * _BAR for end in interval)
    return "".join(
        _line((low, y), (high, y), css) + "".join(_line((x, y - 4), (x, y + 4), css) for x in (low, high))
        for css in ("halo", "whisker")
    )


def columns(heights: Sequence[tuple[str, int]], axis: str) -> str:
    """A histogram: upright bars with their counts above and `axis` below."""
    most, step = max(count for _, count in heights), _plot_width() / len(heights)
    parts = [_axes(axis)]
    for at, (label, count) in enumerate(heights):
        height, x = count / most * (_HEIGHT - 24), _LEFT + step * at
        wide = min(step * 0.7, 64)
        middle = x + step / 2
        parts.append(_rect(middle - wide / 2, _TOP + _HEIGHT - height, wide, height))
        parts.append(_text(middle, _TOP + _HEIGHT - height - 10, str(count), anchor="middle", css="note"))
        parts.append(_text(middle, _TOP + _HEIGHT + 16, label, anchor="middle"))
    return _svg(_TOP + _HEIGHT + _BOTTOM, "".join(parts))


def points(found: Sequence[PlotPoint], axis: str, *, joined: bool) -> str:
    """Shares against an axis, from 0 to 100 %, each with its interval; joined where the order is that of time."""
    parts = [_axes(axis), *(_level(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))]
    places = [(_LEFT + point.x * _plot_width(), _height_at(point.count.share)) for point in found]
    if joined:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="curve" points="{path}"/>')
    parts += (_point(point, place) for point, place in zip(found, places, strict=True))
    return _svg(_TOP + _HEIGHT + _BOTTOM, "".join(parts))


def _point(point: PlotPoint, place: tuple[float, float]) -> str:
    x, y = place
    low, high = (_height_at(end) for end in point.count.interval)
    return (
        _line((x, low), (x, high), "whisker")
        + f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        + _text(x, _TOP + _HEIGHT + 16, point.label, anchor="middle")
        + _text(x, _TOP + _HEIGHT + 34, f"n={point.count.total}", anchor="middle", css="note")
    )


def _height_at(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _level(share: float) -> str:
    y = _height_at(share)
    line = _line((_LEFT, y), (WIDTH - _RIGHT, y), "grid") if share else ""
    return line + _text(_LEFT - 8, y, f"{share:.0%}", anchor="end")


def _axes(axis: str) -> str:
    y = _TOP + _HEIGHT
    return _line((_LEFT, y), (WIDTH - _RIGHT, y), "axis") + _text(
        _LEFT + _plot_width() / 2, y + 58, axis, anchor="middle", css="note"
    )


def _plot_width() -> int:
    return WIDTH - _LEFT - _RIGHT


def _svg(height: float, inner: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="ID-t ID-d">{{titles}}{inner}</svg>'


def drawn(plot: Plot) -> str:
    """The drawing with its title and description inside."""
    titles = f'<title id="{plot.id}-t">{text(plot.title)}</title><desc id="{plot.id}-d">{text(plot.alternative)}</desc>'
    return plot.svg.replace("ID-t ID-d", f"{plot.id}-t {plot.id}-d", 1).replace("{titles}", titles, 1)


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"/>'


def _line(begin: tuple[float, float], end: tuple[float, float], css: str) -> str:
    return f'<line class="{css}" x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def _text(x: float, y: float, said: str, *, anchor: str = "start", css: str = "label") -> str:
    return (
        f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        f' dominant-baseline="central">{text(said)}</text>'
    )


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def listed(rows: Iterable[PlotRow]) -> tuple[tuple[str, str], ...]:
    """The rows of a bar chart as a table."""
    return tuple((row.label, row.note) for row in rows)
