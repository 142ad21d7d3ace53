"""`loop render`: writes every file made from the log anew."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.rebuilding import rebuild
from loopwright.app.views.answers import RenderAnswer
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.errors import UsageError


@click.command("render")
@json_option(RenderAnswer)
@click.pass_obj
def command(here: Here, *, as_json: bool) -> int:
    """Write every file made from the log anew; the log itself is only read."""
    with opened(here) as project:
        try:
            written = asyncio.run(rebuild(project, note))
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror}; make it writable and try again") from error
        files = tuple(str(path.relative_to(project.root)) for path in written)
    if as_json:
        put_json(RenderAnswer(files=files))
    else:
        put("\n".join(files) or "Nothing to render: no loop was ever started here.")
    return 0
