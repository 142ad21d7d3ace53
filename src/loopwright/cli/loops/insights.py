"""`loop insights`: what the ticket cycles teach, for people, as data, or as a page with plots."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

import click

from loopwright.adapters.files import write_whole
from loopwright.app.starts.tickets.listing import cycles as cycles_of
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.errors import UsageError
from loopwright.kernel.visible import visible
from loopwright.loops.tickets.insights import text as insight_text
from loopwright.loops.tickets.insights.cycle import Cycle
from loopwright.loops.tickets.insights.data import InsightsDocument, document
from loopwright.loops.tickets.insights.learned import learned
from loopwright.loops.tickets.insights.page import page
from loopwright.loops.tickets.insights.text import Bar, Heading, Line, Sentence


@click.command("insights")
@click.option("--html", metavar="FILE", default="", help="Also write it as a page with plots; it needs no network.")
@json_option(InsightsDocument)
@click.pass_obj
def command(here: Here, *, html: str, as_json: bool) -> int:
    """What the ticket cycles teach: iterations, gaps, guidance, cost, later defects, and proposals for settings.

    A pattern is named only where chance does not explain it. No setting is ever changed by this command.
    """
    cycles: tuple[Cycle, ...] = ()
    if has_log(here):
        with opened(here) as project:
            cycles = asyncio.run(cycles_of(project))
    found = learned(cycles)
    file = _written(here.cwd / html, page(found)) if html else None
    if as_json:
        put_json(document(found, None if file is None else str(file)))
    else:
        _show(insight_text.lines(found))
    if file is not None:
        note(f"The page is in {file}")
    return 0


def _written(file: Path, text: str) -> Path:
    try:
        write_whole(file, text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; name another with --html") from error
    return file


def _show(lines: Iterable[Line]) -> None:
    """Coloured on a terminal, plain in a pipe."""
    if not sys.stdout.isatty():
        put(insight_text.plain(lines))
        return
    # Only a terminal needs rich, which takes longer to load than all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    mark = "█" if (console.encoding or "").startswith("utf") else "#"
    for line in lines:
        match line:
            case Bar():
                start = Text.assemble(f"  {insight_text.label(line)}  ", (insight_text.bar(line, mark), "cyan"))
                console.print(start + Text(f"  {line.note}", style="dim"))
            case Heading() | Sentence():
                style = "bold" if isinstance(line, Heading) else ""
                console.print(Text(visible(insight_text.plain([line])), style=style))
            case _:
                assert_never(line)
