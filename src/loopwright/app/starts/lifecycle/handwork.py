"""What a person did by hand while nobody drove the system: commits on its branch, edits of its files.

A step of any loop can write there too, so that only a person at a terminal can say that it is theirs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from loopwright.adapters.git.repository import ComeOn, OwnBranch, commits_on, described
from loopwright.app.loops import View
from loopwright.app.project import Confirm, Project
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.unfinished import INTERRUPTED, unfinished
from loopwright.errors import NeedsPerson
from loopwright.kernel.events import SessionMarked, StateEdited
from loopwright.kernel.record import event_of
from loopwright.loops.lifecycle.state import LifecycleState

Failed = Callable[[str], None]
_MARKED = SessionMarked.__name__


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


async def with_commits(project: Project, seen: View, by: str, confirm: Confirm | None) -> View:
    """Return the system with what was committed on its branch by no step of it, once a person says that it is theirs.

    Where it is proposed elsewhere, the forge tells of it. Raises `NeedsPerson` without that word.
    """
    state = seen.now.state
    found = _commits(project, state)
    if found is None:
        return seen
    moved, put_back = _moved(state, found)
    shown = (f"{moved}:", *described(project.root, project.environ, state.landed, found.tip))
    confirm_handwork(seen, confirm, Unrecorded(moved, shown, put_back))
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


def describe_moved_branch(project: Project, seen: View) -> str:
    """Say that the branch of a system was moved by no recorded step, and how to put it back; empty: it was not."""
    state = seen.now.state
    found = _commits(project, state)
    return "{}; if it was not you, put it back: {}".format(*_moved(state, found)) if found else ""


def _commits(project: Project, state: LifecycleState) -> ComeOn | None:
    if not state.takes_commits:
        return None
    stood = OwnBranch(branch=state.plan.branch, since=state.landed, work=state.handed_over, target=state.plan.target)
    return commits_on(project.root, project.environ, stood)


def _moved(state: LifecycleState, found: ComeOn) -> tuple[str, str]:
    branch = state.plan.branch
    moved = f"branch {branch} moved to {found.tip[:12]} by no recorded step"
    return moved, f"`git branch --force {branch} {state.landed}`"


class Unrecorded(NamedTuple):
    """A change that no step of the system has on record."""

    sentence: str
    shown: tuple[str, ...]
    put_back: str  # how to undo it


def confirm_handwork(seen: View, confirm: Confirm | None, found: Unrecorded) -> None:
    """Raise `NeedsPerson` unless the person at the terminal says that they did this."""
    command = f"loop resume --loop {seen.row.id}"
    if confirm is None:
        how = f"confirm it at a terminal with `{command}`, or put it back: {found.put_back}"
        raise NeedsPerson(f"{found.sentence}; {how}", loop=seen.row.id, command=command)
    if not confirm("Did you do this, and is the work to continue with it?", found.shown):
        why = f"{found.sentence} and was not taken in; put it back: {found.put_back}"
        raise NeedsPerson(why, loop=seen.row.id, command=command)
