"""What people are sent: a gate or a question that waits for them, that a loop is blocked or paused, how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.app.kinds import Kinds
from loopwright.app.views.needs import Choice, Need, needs, with_loop
from loopwright.engine.world import News
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Ended, Paused
from loopwright.kernel.model import Ending, Outcome, Topic
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible
from loopwright.loops.kind import AnyKind
from loopwright.ports.store import NewNotice

_GOT_THERE = (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED)
_LONGEST = 8_000  # characters of a body; the chats that take the least cut it themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeWords:
    topic: Topic
    headline: str
    lines: tuple[str, ...]


def notice_of(kinds: Kinds, place: str, title: str, news: News) -> NewNotice | None:
    """`place` is the name of the project, `title` what the root is about. A part only asks: the rest is its root's."""
    kind = kinds[news.row.kind]
    told = _asked(news) if news.asks else _stood_still(kind, news) if len(news.path) == 1 else None
    if told is None:
        return None
    root = news.path[0]
    body = kind.notice(news.state, told.topic) or "\n".join((*told.lines, "", f"Loop {root}: {one_line(title, 200)}"))
    head = f"{one_line(place, 60)}: {told.headline}: {one_line(title, 120)} [loopwright notice {news.id}]"
    return NewNotice(id=news.id, loop=root, topic=told.topic, title=visible(head), body=visible(body)[:_LONGEST])


def _asked(news: News) -> NoticeWords:
    waiting = (news.asks,) if news.asks else ()
    (need,) = needs(news.row, waiting, "waiting")
    if need.kind == "gate":
        return NoticeWords(topic="gate", headline=f"the {need.what} gate waits for you", lines=_lines(need, need.why))
    if any(isinstance(each.what, Ask) and each.what.paused for each in waiting):
        return NoticeWords(topic="budget", headline="paused at a limit", lines=_lines(need, need.what))
    if need.kind == "escalation":
        return NoticeWords(topic="blocked", headline="blocked", lines=_lines(need, need.what))
    return NoticeWords(topic="question", headline="a question waits for you", lines=_lines(need, need.what))


def _lines(need: Need, about: str) -> tuple[str, ...]:
    need = with_loop(need)  # whoever reads it elsewhere does not see how many loops there are
    part = (f"Asked by its part {need.loop}.",) if len(need.path) > 1 else ()
    ways = need.choices or (Choice(label="Answer", command=need.command),)
    return (about, *part, "", *(f"{each.label}: {each.command}" for each in ways))


def _stood_still(kind: AnyKind, news: News) -> NoticeWords | None:
    match news.event:
        case Ended(outcome=outcome):
            return _ended(kind, news, outcome)
        case Paused() if news.row.status != "paused":  # one that only looked whether it can go on has no news
            (need,) = needs(news.row, (), "paused", paused=news.event)
            return NoticeWords(topic="budget", headline="paused at a limit", lines=_lines(need, need.why))
        case _:
            return None


def _ended(kind: AnyKind, news: News, outcome: Outcome) -> NoticeWords | None:
    if outcome.ending is Ending.CANCELLED:
        return None
    lines = kind.closing(news.state, outcome)
    if outcome.ending in _GOT_THERE and not outcome.still_held:
        return NoticeWords(topic="complete", headline="complete", lines=lines)
    return NoticeWords(topic="blocked", headline=f"ended as {outcome.ending}", lines=lines)
