"""What goes where: answers to stdout, progress and prompts to stderr, and nothing unescaped to either."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar, cast

import click

from loopwright.cli.outlet import Outlet
from loopwright.config.keys import PATTERN
from loopwright.kernel.codec import DataclassValue, as_object
from loopwright.kernel.shapes import Problem
from loopwright.kernel.visible import visible

_PATIENCE = 2.0  # seconds
_OUTLETS: list[Outlet] = []  # that of stderr, once something was written there
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """What any command answers with `--json` when it could not do what it was asked."""

    error: str
    exit_code: int


_LONGEST_NUMBER = 20  # characters of a number on the command line; Python itself gives up on thousands


class _Number(click.ParamType[float]):
    """Every number a person may give has its bounds, which one sentence names whatever stands there."""

    def __init__(self, read: Callable[[str], float], least: int, most: int, says: str) -> None:
        self.name, self._read, self._least, self._most, self._says = says, read, least, most, says

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click has it
        text = str(value)
        with suppress(ValueError):
            number = self._read(text) if len(text) <= _LONGEST_NUMBER else math.nan
            if self._least <= number <= self._most:
                return number
        shown = text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}…"
        return self.fail(f"{shown!r} is not {self._says} from {self._least} to {self._most}.", param, ctx)


MONEY = _Number(float, 0, 1_000_000, "an amount of money")


def count_to(most: int) -> click.ParamType[float]:
    return _Number(int, 1, most, "a whole number")


def put(text: str) -> None:
    """Lines of the answer."""
    _write(sys.stdout, visible(text))


def put_json(answer: DataclassValue, *, lines: bool = True) -> None:
    """The answer as one object, all of it ASCII, so that no terminal and no locale can change it.

    Without `lines` it stands on one, for what prints many.
    """
    indent, between = (2, None) if lines else (None, (",", ":"))
    _write(sys.stdout, json.dumps(as_object(answer), indent=indent, separators=between))


def note(text: str) -> None:
    """What is only for the person who watches. Nobody there to read it is no reason to stop, or to wait."""
    with suppress(OSError, ValueError):
        _write(watched(), visible(text))


def show(text: str) -> None:
    """As `note`, as it is and without an end of the line: a prompt."""
    with suppress(OSError, ValueError):
        _write(watched(), text, end="")


def watched() -> TextIO:
    """Where those who watch are. A real stream is never waited for; one that somebody put in its place is theirs."""
    stream = sys.stderr
    if stream is None:
        return io.StringIO()
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    known = next((outlet for outlet in _OUTLETS if outlet.stream is stream), None)
    if known is None:
        try:
            known = Outlet(stream)
        except (OSError, ValueError):  # it has no descriptor
            return stream
        _OUTLETS[:] = [known]
    return cast(TextIO, known)


def settle() -> None:
    """At the very end: whoever reads slowly gets a moment."""
    for outlet in _OUTLETS:
        outlet.settle(_PATIENCE)


def _write(stream: Any, text: str, end: str = "\n") -> None:  # noqa: ANN401 - a text stream, or what a test put in its place
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + end)
    stream.flush()


def hush() -> None:
    """After a broken pipe: let nothing more be written when Python closes its streams."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class JsonOption(click.Option):
    """`--json`, with everything that the command may answer: the published schemas are made from it."""

    def __init__(self, *names: Any, answers: tuple[Any, ...], **how: Any) -> None:  # noqa: ANN401 - as click has it
        super().__init__(*names, **how)
        self.answers = answers


def json_option(*answers: Any, what: str = "Answer with one JSON object on stdout.") -> Callable[[F], F]:  # noqa: ANN401 - dataclasses, some with their own part named
    return click.option("--json", "as_json", is_flag=True, help=what, cls=JsonOption, answers=answers)


def allow_option(command: F) -> F:
    """A word beforehand, of every command that starts work."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="PATTERN",
        callback=_patterns,
        help="Tests under it may be changed without asking, such as 'tests/api/**'; repeatable.",
    )(command)


def _patterns(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in given:
        read = PATTERN.read(pattern)
        if isinstance(read, Problem):
            raise click.BadParameter(f"{pattern!r}: {read.says}")
    return given


def loop_option(command: F) -> F:
    return click.option("--loop", "loop_id", metavar="ID", default="", help="Which loop; needed only if several fit.")(
        command
    )
