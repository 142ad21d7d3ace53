"""What a person did with their own hands while nobody drove the system: commits on its branch, edits of its files.

What came about while a step could be at work is nobody's word: a step can write wherever the person can.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from math import inf

from loopwright.adapters.git.repository import OwnBranch, commits_on
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.unfinished import INTERRUPTED, unfinished
from loopwright.errors import Forbidden
from loopwright.kernel.actions import Ask, AwaitGate, WaitUntil
from loopwright.kernel.events import Answered, GateDecided, SessionMarked, Started, StateEdited
from loopwright.kernel.model import NO_KEY, Key
from loopwright.kernel.record import Record, event_of

Failed = Callable[[str], None]
_MARKED = SessionMarked.__name__
_NOBODY = frozenset(kind.__name__ for kind in (Ask, AwaitGate, WaitUntil))  # is at work while these are waited for
_TICK = 0.01  # seconds by which the clock of a file system may be behind


async def may_be_a_steps(project: Project, seen: View, changed: float | None) -> bool:
    """Whether something was changed while a step was at work, or nobody can say when."""
    return changed is None or any(
        began - _TICK <= changed <= ended + _TICK for began, ended in _at_work(await project.store.read(seen.row.id))
    )


def _at_work(records: Iterable[Record]) -> Iterator[tuple[float, float]]:
    """From when to when. One that was cut off has ended with its session."""
    begun: dict[Key, float] = {}
    for record in records:
        match event_of(record):
            case Started(key=key, action=action) if action not in _NOBODY:
                begun[key] = record.at
            case SessionMarked(mark="ended"):
                yield from ((at, record.at) for at in begun.values())
                begun.clear()
            case Answered() | GateDecided():
                pass
            case event if (at := begun.pop(getattr(event, "key", NO_KEY), None)) is not None:
                yield at, record.at
            case _:
                pass
    yield from ((at, inf) for at in begun.values())


async def all_ended(project: Project, seen: View, by: str, failed: Failed) -> View:
    """The system with its last session ended: of one whose controller was killed, nobody has said so."""
    if not seen.now.flights:
        return seen
    marks = (event_of(each) for each in reversed(await project.store.read(seen.row.id)) if each.kind == _MARKED)
    newest = next(marks, None)
    if not (isinstance(newest, SessionMarked) and newest.mark == "began"):
        return seen
    commit = await unfinished(project, seen, failed)
    marked = SessionMarked(mark="ended", why=INTERRUPTED, commit=commit, by=by)
    return await take_in(project, seen, marked, failed) or seen


async def with_commits(project: Project, seen: View, by: str, failed: Failed) -> View:
    """The system with what somebody committed on its branch: nothing of that is lost, and what was made goes on from
    there. Where it is proposed elsewhere, the forge tells of it. Raises `Forbidden` where a step may have done it.
    """
    state = seen.now.state
    if not state.takes_commits:
        return seen
    branch = state.plan.branch
    stood = OwnBranch(branch=branch, since=state.landed, work=state.handed_over, target=state.plan.target)
    found = commits_on(project.root, project.environ, stood)
    if found is None:
        return seen
    if await may_be_a_steps(project, seen, found.moved):
        why = f"{branch} came to {found.tip[:12]} while a step was at work, which can write there too"
        theirs = "if it is yours, commit once more (`git commit --amend --no-edit` there)"
        raise Forbidden(f"{why}; {theirs}, or put it back: `git branch --force {branch} {state.landed}`")
    failed(f"{branch} has come on to {found.tip[:12]} by your own hand: the work goes on from there")
    told = {
        "commit": found.tip,
        "paths": found.paths,
        "made": found.made,
        "onto": found.onto,
        "whole": found.is_whole,
    }
    said = StateEdited(subject="branch", value=json.dumps(told), by=by)
    # What else is to be said of its files is said when the session begins.
    return await take_in(project, seen, said, lambda _sentence: None) or seen
