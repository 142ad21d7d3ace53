"""`loop notify`: deliver what people were to be sent and did not get, or send a test message."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import click

from loopwright.app.notices import Delivery, send_test
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.views.answers import AttemptedNotice, NotifyAnswer
from loopwright.cli.here import Here
from loopwright.cli.opened import looking, opened
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.errors import UsageError


@click.command("notify")
@click.option("--test", "is_test", is_flag=True, help="Send a test message to every address, and nothing else.")
@click.option("--behind", type=click.Path(path_type=Path), hidden=True, help="As a loop starts it, for a project.")
@json_option(NotifyAnswer)
@click.pass_obj
def command(here: Here, *, is_test: bool, behind: Path | None, as_json: bool) -> int:
    """Try once more to deliver every notice that did not arrive, also those that were given up.

    A loop delivers its notices by itself; this is for those that no service took. The addresses are those of
    `[notify] urls` in loop.toml. The exit code is 1 where something was not delivered.
    """
    if behind is not None:
        return _behind(replace(here, cwd=behind))
    tried = _tested(here) if is_test else _delivered(here)
    if as_json:
        put_json(NotifyAnswer(notices=tried))
    else:
        put("\n".join(map(_line, tried)) or "Nothing is waiting to be delivered.")
    return int(any(each.why for each in tried))


def _behind(here: Here) -> int:
    with opened(here) as project:
        urls = settings_of(project, lambda _sentence: None).notify.urls
        if urls:
            asyncio.run(Delivery(project, urls).until_done())
    return 0


def _tested(here: Here) -> tuple[AttemptedNotice, ...]:
    with looking(here) as project:
        return send_test(project, _addresses(project))


def _delivered(here: Here) -> tuple[AttemptedNotice, ...]:
    with opened(here) as project:
        if not asyncio.run(project.store.notices()):
            return ()
        return asyncio.run(Delivery(project, _addresses(project)).once())


def _addresses(project: Project) -> tuple[str, ...]:
    found = settings_of(project, note).notify.urls
    if not found:
        raise UsageError("there are no addresses in loop.toml; name some as `urls` below [notify]")
    return found


def _line(tried: AttemptedNotice) -> str:
    return f"not delivered: {tried.title} ({tried.why})" if tried.why else f"delivered: {tried.title}"
