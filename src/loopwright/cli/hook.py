"""`loop hook`: what Claude Code asks when a turn ends or a session starts.

A session's own call never comes here: `loopwright.__main__` answers it before anything else is loaded. Here are the
help, the person who tries a hook at a terminal, and the forms that are published.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Literal

import click

import loopwright.hook as hooks
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put

_ALWAYS = "The answer is JSON in any case."


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """Empty: the turn may end."""

    decision: Literal["block"] = "block"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OkOrNot:
    """`--format ok`."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    hookEventName: Literal["SessionStart"]  # noqa: N815 - as Claude Code has it
    additionalContext: str  # noqa: N815 - as above


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswer:
    """Empty: there is nothing to say."""

    hookSpecificOutput: SessionContext | None = None  # noqa: N815 - as above


@click.group("hook")
def command() -> None:
    """What Claude Code asks when a turn ends or a session starts; `loop plugin install` has it ask.

    JSON on stdin, JSON on stdout. A session always gets an answer and exit code 0, within seconds, and any doubt lets
    it go; arguments that are wrong are an error at a terminal only.
    """


@command.command("stop")
@click.option(
    "--format",
    "form",
    type=click.Choice(hooks.FORMS),
    default=hooks.FORMS[0],
    help="`claude` is what command hooks of Claude Code answer, `ok` what its prompt and agent hooks do.  [claude]",
)
@json_option(TurnAnswer, OkOrNot, what=_ALWAYS)
@click.pass_obj
def stop(here: Here, *, form: str, as_json: bool) -> int:  # noqa: ARG001 - JSON in any case
    """Whether a turn may end: not while tasks of the list in CLAUDE_CODE_TASK_LIST_ID are pending or in progress."""
    return _answered("stop", here, form)


@command.command("session-start")
@json_option(SessionAnswer, what=_ALWAYS)
@click.pass_obj
def session_start(here: Here, *, as_json: bool) -> int:  # noqa: ARG001 - as above
    """What a session should know: the loop that goes on here, how far it is, and how to resume it."""
    return _answered("session-start", here, "")


def _answered(name: str, here: Here, form: str) -> int:
    said = hooks.respond(name, sys.stdin.buffer.read(), here.environ, time.time())
    put(hooks.answer(name, form, said))
    return 0
