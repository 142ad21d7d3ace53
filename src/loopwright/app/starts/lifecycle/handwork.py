"""What a person did with their own hands while nobody drove the system: commits on its branch, edits of its files.

What came about while a step could be at work is nobody's word: a step can write wherever the person can.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import get_args

from loopwright.adapters.git.repository import OwnBranch, commits_on
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.unfinished import INTERRUPTED
from loopwright.errors import Forbidden
from loopwright.kernel.actions import RunAgent, RunLoop
from loopwright.kernel.events import Answer, SessionMarked, StateEdited
from loopwright.kernel.record import Record, event_of

_ANSWERS = frozenset(kind.__name__ for kind in get_args(Answer))
_MARKED = SessionMarked.__name__
_TICK = 0.01  # seconds by which the clock of a file system may be behind


async def is_a_steps(project: Project, seen: View, changed: float) -> bool:
    """Whether something was changed before the last step had ended."""
    records = reversed(await project.store.read(seen.row.id))
    until = next((record.at for record in records if _ends_a_step(record)), 0.0)
    return changed + _TICK < until


def _ends_a_step(record: Record) -> bool:
    if record.kind in _ANSWERS:
        return True
    event = event_of(record) if record.kind == _MARKED else None
    return isinstance(event, SessionMarked) and (event.mark, event.why) == ("ended", INTERRUPTED)


async def _was_cut_off(project: Project, seen: View) -> bool:
    """Whether somebody was at work whom nobody has ended: they may have done it, so that step is done again first."""
    at_work = {each.key for each in seen.wanted if isinstance(each, RunAgent | RunLoop)}
    if not any(flight.key in at_work for flight in seen.now.flights):
        return False
    marks = (event_of(each) for each in reversed(await project.store.read(seen.row.id)) if each.kind == _MARKED)
    newest = next(marks, None)
    return not (isinstance(newest, SessionMarked) and newest.mark == "ended")


async def with_commits(project: Project, seen: View, by: str, failed: Callable[[str], None]) -> View:
    """The system with what somebody committed on its branch: nothing of that is lost, and what was made goes on from
    there. Where it is proposed already, the forge tells of it. Raises `Forbidden` where a step may have done it.
    """
    state = seen.now.state
    if not state.takes_commits or await _was_cut_off(project, seen):
        return seen
    stood = OwnBranch(branch=state.plan.branch, since=state.landed, work=state.tip, target=state.plan.target)
    found = commits_on(project.root, project.environ, stood)
    if found is None:
        return seen
    branch = state.plan.branch
    if await is_a_steps(project, seen, found.moved):
        why = f"{branch} came to {found.tip[:12]} while a step was at work: that is no word of yours"
        theirs = "or commit once more if it is yours"
        raise Forbidden(f"{why}; put it back with `git branch --force {branch} {state.landed}`, {theirs}")
    failed(f"{branch} has come on to {found.tip[:12]} by your own hand: the work goes on from there")
    told = {"commit": found.tip, "paths": found.paths, "onto": found.onto, "whole": found.is_whole}
    said = StateEdited(subject="branch", value=json.dumps(told), by=by)
    return await take_in(project, seen, said, failed) or seen
