"""The journey: one line per event of the log, and the same as data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from loopwright.app.views.events import answer_in_words, said_in_words, work_in_words
from loopwright.kernel.events import Announced, Answer, Logged, Said
from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import Record, event_of, is_estimated
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import dollars, moment
from loopwright.loops.kind import Words

_KEY_WIDTH = 14
_EVIDENCE = re.compile(r"-[0-9a-f]{24}$")  # of a gate; data has it whole


def line(record: Record, words: Words) -> str:
    """`08:15:02Z  review-2.1      reviewer: fail, 2 findings (NOT_COMPLIANT), $0.25`.

    `words` are those of the loop. Empty for an event that adds nothing to the one before it.
    """
    event = event_of(record)
    if isinstance(event, Announced):
        return ""  # the line it is about was told when it was started
    key = "" if event is None else _EVIDENCE.sub("", one_line(str(getattr(event, "key", "")), 80))
    sentence = _sentence(record, event, words) + _money(record, event)
    return f"{moment(record.at)[11:]}  {key:<{_KEY_WIDTH}}  {sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCost:
    reserved: float
    released: float
    usd: float
    estimated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEvent:
    """One object per event, for `loop log --json`: the record as it stands, and its sentence."""

    loop: LoopId
    seq: int
    at: str
    kind: str
    key: str | None
    text: str
    cost: EventCost
    data: object
    hash: str


def show(record: Record, words: Words) -> ShownEvent:
    event = event_of(record)
    key = getattr(event, "key", None)
    return ShownEvent(
        loop=record.loop,
        seq=record.seq,
        at=moment(record.at),
        kind=record.kind,
        key=None if key is None else str(key),
        text=_sentence(record, event, words),
        cost=EventCost(
            reserved=record.reserve,
            released=record.release,
            usd=record.spend,
            estimated=is_estimated(record.spend, event),
        ),
        data=visible(record.data) if event is None else json.loads(record.data),
        hash=record.hash,
    )


def _sentence(record: Record, event: Logged | None, words: Words) -> str:
    if event is None:
        return f"{one_line(record.kind, 60)}: cannot be read by this version"
    if isinstance(event, Answer):
        return answer_in_words(event, words)
    return said_in_words(event) if isinstance(event, Said) else work_in_words(event, words)


def _money(record: Record, event: Logged | None) -> str:
    spent = f", {dollars(record.spend, estimated=is_estimated(record.spend, event))}" if record.spend else ""
    return spent + (f", {dollars(record.reserve)} reserved" if record.reserve else "")
