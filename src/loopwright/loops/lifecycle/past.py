"""What the log of a system comes to for its files, record by record."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.changing import replace
from loopwright.kernel.events import Announced, Logged, SessionMarked
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.wording import date_of
from loopwright.loops.kind import Noted
from loopwright.loops.lifecycle.handoff import Handoff, Leaving, handed_over
from loopwright.loops.lifecycle.journey import JourneyTurn, entries
from loopwright.loops.lifecycle.moments import Moments, noticed
from loopwright.loops.lifecycle.skill_log import SkillLog, logged
from loopwright.loops.lifecycle.state import LifecycleState


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecyclePast:
    state: LifecycleState  # after the last record
    moments: Moments = Moments()
    log: SkillLog = SkillLog()
    journey: tuple[Noted, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    failed: int = 0  # the record that last changed what is known of failures
    final: int = 0  # the record with which its contracts are final
    latest: str = ""  # time never goes back in the journey
    seq: int = 0  # the last record


def folded(known: LifecyclePast | None, record: Record, state: LifecycleState) -> LifecyclePast:
    """With one record more; `state` is the system after it."""
    past = known or LifecyclePast(state=state)
    event = event_of(record)
    if event is None:  # what it did is seen with the next one
        return replace(past, seq=record.seq, moments=replace(past.moments, updated=record.at))
    moments = noticed(past.moments, record.at, event, past.state, state, past.log)
    log = logged(past.log, record.at, event, past.state, state)
    latest = max(past.latest, date_of(record.at).isoformat(timespec="microseconds").replace("+00:00", "Z"))
    turn = JourneyTurn(
        event=event,
        before=past.state,
        after=state,
        log_before=past.log,
        log=log,
        moments_before=past.moments,
        moments=moments,
    )
    fresh = tuple(
        Noted(loop=record.loop, seq=record.seq, part=part, timestamp=latest, data=data)
        for part, data in enumerate(entries(turn, f"{record.loop}-{record.seq}", latest))
    )
    now = replace(
        past,
        state=state,
        seq=record.seq,
        moments=moments,
        log=log,
        latest=latest,
        journey=(*past.journey, *fresh) if fresh else past.journey,
        failed=past.failed if moments.failures is past.moments.failures else record.seq,
    )
    return _handed_over(now, record, event)


def _handed_over(now: LifecyclePast, record: Record, event: Logged) -> LifecyclePast:
    """A session that ends leaves a handoff; a system that is complete has left its last."""
    if isinstance(event, Announced) and event.key.step == "interfaces":
        return replace(now, final=record.seq)
    complete = isinstance(event, Announced) and event.key.step == "handoff"
    ended = isinstance(event, SessionMarked) and event.mark == "ended"
    if not complete and (not ended or (now.handoffs and now.handoffs[-1].complete)):
        return now
    leaving = Leaving(
        loop=record.loop, state=now.state, moments=now.moments, log=now.log, at=record.at, complete=complete
    )
    return replace(now, handoffs=(*now.handoffs, handed_over(leaving, now.handoffs, record.seq)))
