"""A snapshot does not say what holds its default: the defaults it was written with are part of its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

from loopwright.app.kinds import KINDS
from loopwright.engine.fold import FORM, Fold, packed
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.model import Key, Point, Usage

_AS_TEXT = (Key, Point)
_HEAD = f"""\
Form {FORM} of snapshots. Where a default changes or goes away here, FORM in engine/fold.py is raised.
What is added has nothing to do with snapshots of before.
"""


def _kinds(hint: Any) -> Iterator[type]:  # noqa: ANN401 - as a hint is
    if isinstance(hint, type) and is_dataclass(hint) and hint not in _AS_TEXT:
        yield hint
    for inner in get_args(hint):
        yield from _kinds(inner)


def _reached(start: tuple[type, ...]) -> list[type]:
    """Every kind of value that a snapshot can hold."""
    found: dict[type, None] = {}
    left = list(start)
    while left:
        kind = left.pop()
        if kind not in found:
            found[kind] = None
            left += [inner for hint in get_type_hints(kind).values() for inner in _kinds(hint)]
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


def test_a_default_that_changes_asks_for_another_form(golden: Callable[[str, str], None]) -> None:
    states = tuple(kind.loop.state for kind in KINDS.values())
    lines = (
        f"{kind.__module__.removeprefix('loopwright.')}.{kind.__name__}.{field.name} = {encode(field.default)}"
        for kind in _reached((Fold, *states))
        for field in fields(kind)
        if field.default is not MISSING
    )
    golden("snapshot-form.txt", _HEAD + "".join(f"{line}\n" for line in lines))


def test_what_holds_its_default_is_not_written() -> None:
    assert packed(Fold()) == f'{{"form":{FORM},"fold":{{}}}}'
    assert packed(Fold(tokens=7)) == f'{{"form":{FORM},"fold":{{"tokens":7}}}}'


def test_what_is_left_out_is_there_again_when_it_is_read() -> None:
    for value in (Usage(), Usage(usd=0.0), Usage(usd=2.5, seconds=1.0), Usage(usd=None, input_tokens=3)):
        assert decode(Usage, encode(value, sparse=True)) == value
