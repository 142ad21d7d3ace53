"""`loop insights` for people: what stands out first, then the figures as bars, within 80 columns.

The lines are values, so that a terminal may colour them; `plain` is what a pipe gets.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, dollars
from loopwright.loops.tickets.insights.learned import Insights
from loopwright.loops.tickets.insights.sentences import share
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.insights.tables import Bin, Spread

NOTHING_YET = "No ticket session has come to a verdict yet; `loop ticket new` and `loop ticket run` begin one."
QUIET = (
    "Nothing stands out: whatever differs here, chance explains as well. A pattern is named only with 3 occurrences"
    " or more and at a level of 5% shared out over everything that is asked."
)
NO_DEFECTS = (
    "No later session names an approved ticket as the origin of a defect, so nothing is known about how good the"
    " approvals were. A ticket that mends one says so in its context: `defect of TICKET-…`."
)
WIDTH = 80
LABEL, BAR = 22, 20
_MOST = 8  # rows of a table
_NAMED = 3  # tickets as evidence of a proposal


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    share: float  # of the longest possible bar
    note: str


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    indent: int = 0


Line = Heading | Bar | Sentence


def lines(found: Insights) -> Iterator[Line]:
    if not found.cycles:
        yield Sentence(NOTHING_YET if not found.under_way else f"{NOTHING_YET} {_under_way(found)}")
        return
    yield Sentence(summary(found))
    yield from _standing_out(found)
    yield from _rates(found)
    yield from _iterations(found)
    yield from _gaps(found)
    yield from _guidance(found)
    yield from _defects(found)
    yield Heading("Approval of the next ticket, by the score of one that was sent back")
    yield from bins(found.foresight)


def summary(found: Insights) -> str:
    """The figures that a person wants first."""
    each, guess = found.cost_per_approved, found.estimated
    price = "" if each is None else f", {dollars(each, estimated=guess)} for each approved ticket"
    under_way = f" {_under_way(found)}" if found.under_way else ""
    return (
        f"{counted(found.cycles, 'cycle')} with {counted(found.tickets, 'ticket')};"
        f" {dollars(found.cost, estimated=guess)} spent{price}.{under_way}"
    )


def _under_way(found: Insights) -> str:
    return f"Under way and not counted: {counted(found.under_way, 'session')}."


def _standing_out(found: Insights) -> Iterator[Line]:
    yield Heading("What stands out")
    if not found.proposals:
        yield Sentence(QUIET)
    for number, each in enumerate(found.proposals, start=1):
        yield Sentence(f"{number}. {one_line(each.because, 400)}.")
        setting = f"`{each.setting}`: " if each.setting else ""
        yield Sentence(f"Proposal: {setting}{one_line(each.change)}", 3)
        yield Sentence(f"To expect: {each.expected}", 3)
        more = f" and {len(each.evidence) - _NAMED} more" if len(each.evidence) > _NAMED else ""
        yield Sentence(f"Seen in: {', '.join(each.evidence[:_NAMED])}{more}", 3)


def _rates(found: Insights) -> Iterator[Line]:
    yield Heading("Cycles, each share with its interval of 95%")
    yield _counted("approved", found.approved)
    yield _counted("escalated", found.escalated)
    if found.escalated.hits:
        yield _counted("  then approved", found.mended)


def _iterations(found: Insights) -> Iterator[Line]:
    yield Heading("Tickets to approval")
    if not found.spread.count:
        yield Sentence("No ticket was approved.")
        return
    most = max(count for _, count in found.spread.columns)
    yield from (Bar(f"after {tickets}", count / most, str(count)) for tickets, count in found.spread.columns)
    yield Heading("Mean tickets to approval, by kind of requirement and type of cycle")
    longest = max(spread.mean for _, spread in found.kinds)
    yield from (Bar(kind, spread.mean / longest, spread_in_short(spread)) for kind, spread in found.kinds)


def spread_in_short(spread: Spread) -> str:
    if not spread.count:
        return "never approved"
    return f"mean {spread.mean:.1f}, median {spread.median:g} (n={spread.count})"


def _gaps(found: Insights) -> Iterator[Line]:
    yield Heading("Gaps that persist, as a share of the escalations")
    if not found.escalated.hits:
        yield Sentence("Nothing was escalated.")
        return
    yield from (_counted(row.category, row.escalations) for row in found.gaps[:_MOST])
    if len(found.gaps) > _MOST:
        yield Sentence(f"and {counted(len(found.gaps) - _MOST, 'category', 'categories')} more")


def _guidance(found: Insights) -> Iterator[Line]:
    yield Heading("Gaps gone with the next ticket, by the sort of guidance given")
    if not found.guidance:
        yield Sentence("No ticket has followed one that was sent back.")
    yield from (_counted(name, count) for name, count in found.guidance)


def _defects(found: Insights) -> Iterator[Line]:
    yield Heading("Later defects of approved tickets, by score at approval")
    if not found.defects.hits:
        yield Sentence(NO_DEFECTS)
        return
    yield _counted("all", found.defects)
    yield from bins(found.by_score)


def bins(found: tuple[Bin, ...]) -> Iterator[Line]:
    if not found:
        yield Sentence("No ticket has followed one that was sent back.")
    yield from (_counted(each.label, each.count) for each in found)


def _counted(label: str, count: Count) -> Bar:
    low, high = count.interval
    return Bar(label, count.share, f"{share(count)}, {low:.0%} to {high:.0%}")


def plain(found: Iterable[Line], *, mark: str = "#") -> str:
    """Lines of text. `mark` is what bars are made of."""
    return "\n".join(_plain(line, mark) for line in found)


def _plain(line: Line, mark: str) -> str:
    match line:
        case Heading():
            return f"\n{line.text}"
        case Sentence():
            pad = " " * line.indent
            return textwrap.fill(one_line(line.text, 1000), WIDTH, initial_indent=pad, subsequent_indent=pad)
        case Bar():
            return f"  {label(line)}  {bar(line, mark)}  {line.note}".rstrip()
        case _:
            assert_never(line)


def label(line: Bar) -> str:
    """In its column, cut if need be; leading spaces stay."""
    text = line.label[: len(line.label) - len(line.label.lstrip())] + one_line(line.label)
    return (text if len(text) <= LABEL else f"{text[: LABEL - 1]}…").ljust(LABEL)


def bar(line: Bar, mark: str) -> str:
    """Something is shown of whatever is not nothing."""
    length = max(round(line.share * BAR), line.share > 0)
    return (mark * length).ljust(BAR)
