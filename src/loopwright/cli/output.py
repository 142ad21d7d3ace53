"""What goes where: answers to stdout, progress and prompts to stderr, and nothing unescaped to either."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeVar, cast

import click

from loopwright.cli.outlet import Outlet
from loopwright.config.keys import PATTERN
from loopwright.kernel.codec import DataclassValue, as_object
from loopwright.kernel.shapes import Problem
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import dollars

_PATIENCE = 0.75  # seconds
_OUTLETS: list[Outlet] = []  # those of stdout and stderr, once something was written there
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationNeed:
    """What only a person at a terminal can confirm, and the command that asks for it."""

    loop: str
    why: str
    command: str
    kind: Literal["confirmation"] = "confirmation"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """What any command answers with `--json` when it could not do what it was asked."""

    error: str
    exit_code: int
    needs: tuple[ConfirmationNeed, ...] = ()


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
UNSET: Literal["settings"] = "settings"  # nothing was said: it is as it was, or as the settings have it


class OrNone(click.ParamType[Any]):
    """A number, or the word for none."""

    def __init__(self, inner: click.ParamType[float], word: str) -> None:
        self.name, self._inner, self._word = inner.name, inner, word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click has it
        if value in (self._word, UNSET):
            return None if value == self._word else value
        try:
            return self._inner.convert(value, param, ctx)
        except click.BadParameter as error:
            return self.fail(f"{error.message.rstrip('.')}, or `{self._word}`.", param, ctx)


MONEY_OR_NONE = OrNone(MONEY, "none")


def limit_shown(usd: float | None) -> str:
    return "none" if usd is None else dollars(usd)


def count_to(most: int) -> click.ParamType[float]:
    return _Number(int, 1, most, "a whole number")


def put(text: str) -> None:
    """Lines of the answer."""
    _write(sys.stdout, visible(text))


def put_json(answer: DataclassValue) -> None:
    """The answer as one object, all of it ASCII, so that no terminal and no locale can change it."""
    _write(sys.stdout, _json(answer, 2))


def _json(answer: DataclassValue, indent: int | None) -> str:
    return json.dumps(as_object(answer), indent=indent, separators=None if indent else (",", ":"))


async def put_next(answer: str | DataclassValue, *, before: str = "") -> None:
    """One of many answers, of a command that stays: lines, or an object on one line; `before` as it is.

    Whoever does not read holds the command up, and a signal ends it all the same.
    """
    text = visible(answer) if isinstance(answer, str) else _json(answer, None)
    stream = _outlet(sys.stdout)
    if isinstance(stream, Outlet) and stream.waits:
        _write(stream, before + text)
        await stream.drained()
    else:
        _write(sys.stdout, before + text)


def note(text: str) -> None:
    """What is only for the person who watches. Nobody there to read it is no reason to stop, or to wait."""
    with suppress(OSError, ValueError):
        _write(watched(), visible(text))


def confirmation(*, asks: bool) -> Callable[[str, Sequence[str]], bool] | None:
    """Return the way to have the person at the terminal confirm something; None where nobody is to be asked."""
    return _confirmed if asks else None


def _confirmed(question: str, shown: Sequence[str]) -> bool:
    for line in shown:
        note(line)
    return click.confirm(question, default=False, err=True)


def show(text: str) -> None:
    """As `note`, as it is and without an end of the line: a prompt."""
    with suppress(OSError, ValueError):
        _write(watched(), text, end="")


def watched() -> TextIO:
    """Where those who watch are. A real stream is never waited for; one that somebody put in its place is theirs."""
    return io.StringIO() if sys.stderr is None else cast(TextIO, _outlet(sys.stderr))


def _outlet(stream: TextIO) -> Outlet | TextIO:
    known = next((outlet for outlet in _OUTLETS if outlet.stream is stream), None)
    if known is not None or not isinstance(stream, io.TextIOWrapper):
        return known or stream
    try:
        made = Outlet(stream)
    except (OSError, ValueError):  # it has no descriptor
        return stream
    _OUTLETS[:] = [*(outlet for outlet in _OUTLETS if outlet.stream in (sys.stdout, sys.stderr)), made]
    return made


def settle() -> None:
    """At the very end: whoever reads slowly what is only for them gets a moment."""
    for outlet in _OUTLETS:
        if outlet.stream is sys.stderr:
            outlet.settle(_PATIENCE)


def _write(stream: Any, text: str, end: str = "\n") -> None:  # noqa: ANN401 - a text stream, or what a test put in its place
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + end)
        stream.flush()
    except OSError as error:
        if error.errno == errno.EIO:  # the terminal is gone: as little a mistake as a pipe that nobody reads
            raise BrokenPipeError(error.errno, "the terminal is gone") from error
        raise


def fill_closed_streams() -> None:
    """Where whoever started us closed a stream: nobody reads it, and no file of ours comes to stand in its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115 - to the end


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


def task_options(command: F) -> F:
    """What a person says beforehand about the kind of work."""
    about = click.option(
        "--about",
        type=click.Choice(("code", "text", "tests", "cleanup")),
        callback=lambda _context, _option, value: value or "",
        help="What the task is about; unset, the reviewer says it.",
    )
    keeps = click.option(
        "--keeps-behaviour",
        is_flag=True,
        help="Refactoring, performance or formatting: no test has to fail without the change.",
    )
    return about(keeps(command))


def release_option(command: F) -> F:
    """A word afterwards, by the same rules."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="PATTERN",
        callback=_patterns,
        help="With revise: tests under it that landed with an earlier task may be changed; repeatable.",
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
