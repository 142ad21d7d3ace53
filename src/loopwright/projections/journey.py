"""The journey: one line per event of the log, and the same as data."""

from __future__ import annotations

import json
from typing import get_args

from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import Announced, Answer, Logged, Said, key_of
from loopwright.kernel.visible import visible
from loopwright.ports.store import Record
from loopwright.projections.events import answer_in_words, said_in_words, work_in_words
from loopwright.projections.quoting import one_line
from loopwright.projections.wording import moment, usd

_KINDS: dict[str, type[Logged]] = {kind.__name__: kind for kind in get_args(Logged)}
_KEY_WIDTH = 14


def line(record: Record, kind: str) -> str:
    """`08:15:02Z  review-2.1      reviewer: fail, 2 findings (NOT_COMPLIANT), 0.25 USD`.

    `kind` is that of the loop. Empty for an event that adds nothing to the one before it.
    """
    event = event_of(record)
    if isinstance(event, Announced):
        return ""  # the line it is about was told when it was started
    key = "" if event is None else one_line(str(key_of(event)), 80)
    sentence = _words(record, event, kind) + _money(record)
    return f"{moment(record.at)[11:]}  {key:<{_KEY_WIDTH}}  {sentence}"


def data(record: Record, kind: str) -> dict[str, object]:
    """One object per event, for `loop log --json`: the record as it stands, and its sentence."""
    event = event_of(record)
    return {
        "loop": record.loop,
        "seq": record.seq,
        "at": moment(record.at),
        "kind": record.kind,
        "key": None if event is None else str(key_of(event)) or None,
        "text": _words(record, event, kind),
        "cost": {"reserved": record.reserve, "released": record.release, "usd": record.spend},
        "data": visible(record.data) if event is None else json.loads(record.data),
        "hash": record.hash,
    }


def event_of(record: Record) -> Logged | None:
    """None when this version cannot read it: the journey shows what it can."""
    kind = _KINDS.get(record.kind)
    if kind is None:
        return None
    try:
        return decode(kind, record.data)
    except DecodeError:
        return None


def _words(record: Record, event: Logged | None, kind: str) -> str:
    if event is None:
        return f"{one_line(record.kind, 60)}: cannot be read by this version"
    if isinstance(event, Answer):
        return answer_in_words(event, kind)
    return said_in_words(event) if isinstance(event, Said) else work_in_words(event, kind)


def _money(record: Record) -> str:
    spent = f", {usd(record.spend)}" if record.spend else ""
    return spent + (f", {usd(record.reserve)} reserved" if record.reserve else "")
