"""`loop insights --html`: one page that needs no network and no script, with every plot also as a table."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, moment
from loopwright.loops.tickets.insights.learned import Insights
from loopwright.loops.tickets.insights.plots import Plot, PlotPoint, PlotRow, bars, columns, drawn, listed, points, text
from loopwright.loops.tickets.insights.proposals import Proposal
from loopwright.loops.tickets.insights.sentences import share
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.insights.tables import Bin
from loopwright.loops.tickets.insights.text import NO_DEFECTS, NOTHING_YET, QUIET, spread_in_short, summary

_MOST = 12  # rows of a chart
_NAMED = 10  # tickets as evidence
_STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24; --soft: #4d5560; --rule: #d0d7de; --bar: #2f6fb3;
  --panel: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c; --text: #e6e9ed; --soft: #aab3bd; --rule: #3a424c;
  --bar: #6ea8e5; --panel: #1d2229; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; } h3 { font-size: 1rem; margin: 0; }
figure { margin: 0; overflow-x: auto; } svg { width: 100%; min-width: 34rem; height: auto; display: block; }
svg text { font: 13px system-ui, sans-serif; } .label { fill: var(--text); } .note { fill: var(--soft); }
.bar { fill: var(--bar); } .dot { fill: var(--bar); } .curve { fill: none; stroke: var(--bar); stroke-width: 2; }
.whisker { stroke: var(--text); stroke-width: 1.5; } .halo { stroke: var(--back); stroke-width: 4; }
.axis { stroke: var(--soft); } .grid { stroke: var(--rule); }
.key, figcaption { color: var(--soft); font-size: .9rem; }
article { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: .8rem 1rem;
  margin: .8rem 0; overflow-wrap: anywhere; }
article p { margin: .3rem 0; } code { font-size: .9em; }
details { font-size: .9rem; color: var(--soft); } summary { cursor: pointer; }
table { border-collapse: collapse; margin: .5rem 0; } th, td { text-align: left; padding: .15rem .8rem .15rem 0;
  border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
"""
_KEY = "The thin line across a bar or a dot is the interval of 95%: where it is long, little is known."


def page(found: Insights) -> str:
    body = "".join(_body(found)) if found.cycles else f"<p>{text(NOTHING_YET)}</p>"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>What the ticket cycles teach</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>What the ticket cycles teach</h1>\n{body}</main>\n</body>\n</html>\n"
    )


def _body(found: Insights) -> Iterator[str]:
    yield f"<p>{text(summary(found))}</p>\n"
    yield "<h2>What stands out</h2>\n"
    yield from (_article(number, each) for number, each in enumerate(found.proposals, start=1))
    if not found.proposals:
        yield f"<p>{text(QUIET)}</p>\n"
    yield f'<h2>Figures</h2>\n<p class="key">{_KEY}</p>\n'
    yield from map(_figure, plots(found))
    if not found.defects.hits:
        yield f"<h2>Later defects</h2>\n<p>{text(NO_DEFECTS)}</p>\n"


def _article(number: int, each: Proposal) -> str:
    setting = f"<code>{text(each.setting)}</code>: " if each.setting else ""
    more = f" and {len(each.evidence) - _NAMED} more" if len(each.evidence) > _NAMED else ""
    return (
        f"<article><h3>{number}. {_line(each.because)}.</h3>"
        f"<p>Proposal: {setting}{_line(each.change)}</p><p>To expect: {_line(each.expected)}</p>"
        f"<details><summary>Seen in {counted(len(each.evidence), 'ticket')}</summary>"
        f"{_line(', '.join(each.evidence[:_NAMED]))}{more}</details></article>\n"
    )


def _line(said: str) -> str:
    return text(one_line(said, 600))


def _figure(plot: Plot) -> str:
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in plot.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{_line(cell)}</td>' for cell in row)}</tr>" for row in plot.rows)
    return (
        f"<h2>{text(plot.title)}</h2>\n<figure>{drawn(plot)}\n"
        f"<details><summary>The numbers</summary><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></details></figure>\n"
    )


def plots(found: Insights) -> Iterator[Plot]:
    """Those for which there is anything to draw."""
    yield _bars("rates", "Approved and escalated cycles", "cycles", _rates(found))
    yield _time(found)
    if found.spread.count:
        yield _histogram(found)
        yield _kinds(found)
    if found.escalated.hits and found.gaps:
        rows = [_counted(row.category, row.escalations) for row in found.gaps[:_MOST]]
        yield _bars("gaps", "Gaps that persist, as a share of the escalations", "category", rows)
    if found.guidance:
        rows = [_counted(name, count) for name, count in found.guidance]
        yield _bars("guidance", "Gaps gone with the next ticket, by the sort of guidance", "guidance", rows)
    if found.defects.hits:
        yield _scores("defects", "Later defects of approved tickets, by score at approval", found.by_score)
        yield _scores("accuracy", "Later defects of approved tickets, by accuracy at approval", found.by_accuracy)
    if found.foresight:
        yield _scores("next", "Approval of the next ticket, by the score of one that was sent back", found.foresight)


def _rates(found: Insights) -> list[PlotRow]:
    rows = [_counted("approved", found.approved), _counted("escalated", found.escalated)]
    return [*rows, _counted("then approved", found.mended)] if found.escalated.hits else rows


def _counted(label: str, count: Count) -> PlotRow:
    return PlotRow(one_line(label, 60), count.share, share(count), count.interval)


def _bars(name: str, title: str, column: str, rows: list[PlotRow]) -> Plot:
    said = "; ".join(f"{row.label}: {row.note}" for row in rows)
    return Plot(id=name, title=title, alternative=said, columns=(column, "figures"), rows=listed(rows), svg=bars(rows))


def _kinds(found: Insights) -> Plot:
    longest = max(spread.mean for _, spread in found.kinds)
    rows = [PlotRow(one_line(kind, 60), spread.mean / longest, spread_in_short(spread)) for kind, spread in found.kinds]
    return _bars("kinds", "Mean tickets to approval, by kind of requirement and type of cycle", "kind", rows[:_MOST])


def _histogram(found: Insights) -> Plot:
    heights = found.spread.columns
    said = "; ".join(f"{count} took {tickets}" for tickets, count in heights)
    return Plot(
        id="iterations",
        title="Tickets to approval",
        alternative=f"{spread_in_short(found.spread)}; {said}",
        columns=("tickets", "approvals"),
        rows=tuple((tickets, str(count)) for tickets, count in heights),
        svg=columns(heights, f"tickets to approval: {spread_in_short(found.spread)}"),
    )


def _time(found: Insights) -> Plot:
    many = len(found.over_time)
    days = [moment(at)[:10] for at, _ in found.over_time]
    shown = (0, len(days) - 1)
    dots = [
        PlotPoint((at + 0.5) / many, days[at] if at in shown else "", count)
        for at, (_, count) in enumerate(found.over_time)
    ]
    rows = tuple((day, share(count)) for day, (_, count) in zip(days, found.over_time, strict=True))
    return Plot(
        id="time",
        title="Approval rate over time",
        alternative="; ".join(f"until {day}: {figures}" for day, figures in rows),
        columns=("until", "approved"),
        rows=rows,
        svg=points(dots, "cycles in blocks of equal size, oldest first", joined=True),
    )


def _scores(name: str, title: str, bins: tuple[Bin, ...]) -> Plot:
    dots = [PlotPoint((at + 0.5) / len(bins), each.label, each.count) for at, each in enumerate(bins)]
    rows = tuple((each.label, share(each.count)) for each in bins)
    return Plot(
        id=name,
        title=title,
        alternative="; ".join(f"score {label}: {figures}" for label, figures in rows),
        columns=("score", "share"),
        rows=rows,
        svg=points(dots, "score", joined=False),
    )
