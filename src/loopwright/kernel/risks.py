"""Which gates a change calls for, by rules on its paths and on what it adds; and what an approval is bound to."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.model import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One reason for a gate: a changed path matches one of `paths`, or a line that a change adds has one of `words`."""

    gate: str
    name: str
    paths: tuple[str, ...] = ()  # patterns
    words: tuple[str, ...] = ()  # regular expressions, whatever their case


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Where a rule found something: what a person is shown, and what their approval is bound to."""

    gate: str
    rule: str
    file: str
    line: int = 0  # of the file as it is now; 0: the path itself
    text: str = ""
    mark: str = ""  # digest of what was changed there: it becomes another one when that does


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedText:
    """What a change adds to one file."""

    path: str
    lines: tuple[tuple[int, str], ...] = ()  # each with its number in the file as it is now
    whole: bool = True  # false: it is too large, or no text: it may hold anything


def risks_in(
    changes: tuple[Change, ...], added: tuple[AddedText, ...], rules: tuple[GateRule, ...]
) -> tuple[Risk, ...]:
    """Where the rules find something. A file that cannot be read whole is taken to hold every word."""
    raise NotImplementedError((changes, added, rules))
