"""What the log of a system comes to for its files, record by record."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.changing import replace
from loopwright.kernel.record import Record, event_of
from loopwright.loops.lifecycle.moments import Moments, noticed
from loopwright.loops.lifecycle.skill_log import SkillLog, logged
from loopwright.loops.lifecycle.state import LifecycleState


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecyclePast:
    state: LifecycleState  # after the last record
    moments: Moments = Moments()
    log: SkillLog = SkillLog()
    seq: int = 0  # the last record


def folded(known: LifecyclePast | None, record: Record, state: LifecycleState) -> LifecyclePast:
    """With one record more; `state` is the system after it."""
    past = known or LifecyclePast(state=state)
    event = event_of(record)
    if event is None:
        return replace(past, state=state, seq=record.seq, moments=replace(past.moments, updated=record.at))
    return replace(
        past,
        state=state,
        seq=record.seq,
        moments=noticed(past.moments, record.at, event, past.state, state, past.log),
        log=logged(past.log, record.at, event, past.state, state),
    )
