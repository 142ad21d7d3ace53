"""A person's edit of `loop-state.json`, taken in when somebody goes on with the system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from loopwright.adapters.files import read_regular
from loopwright.adapters.git.repository import commits_on
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import take_in
from loopwright.errors import ConfigError
from loopwright.kernel.events import StateEdited
from loopwright.kernel.shapes import Problem, shown
from loopwright.loops.lifecycle.files import shown_copy, state_paths
from loopwright.loops.lifecycle.loop_state import StateEdit, edit_of
from loopwright.loops.lifecycle.loop_state_view import render_loop_state
from loopwright.loops.lifecycle.past import LifecyclePast
from loopwright.loops.lifecycle.states import Stage

_LARGEST = 4 << 20  # bytes


async def with_edit(project: Project, seen: View, by: str, failed: Callable[[str], None]) -> View:
    """The system with what the person said in its file. Raises `ConfigError` where that cannot be taken in, naming the
    key, and `Forbidden` where the machine does not take it: the file stays as they wrote it.
    """
    found = {edit.state: name for name, edit in _edits(project, seen)}
    if len(found) > 1:
        names = " and ".join(found.values())
        raise ConfigError(names, "state", f"both were edited, and say {' and '.join(found)}; put one of them back")
    for state in found:
        said = StateEdited(subject="state", value=json.dumps(state), by=by)
        return await take_in(project, seen, said, failed) or seen
    return seen


async def with_commits(project: Project, seen: View, by: str, failed: Callable[[str], None]) -> View:
    """The system with what somebody committed on its branch while nobody drove it: nothing of that is lost, and it is
    what the work goes on from. Where it is proposed already, the forge tells of it."""
    state = seen.now.state
    if state.resumes_at in (Stage.SHIP, Stage.COMPLETE) or seen.now.flights:
        return seen
    found = commits_on(project.root, project.environ, state.plan.branch, state.landed)
    if found is None:
        return seen
    tip, paths = found
    failed(f"{state.plan.branch} has come on to {tip[:12]} by your own hand: the work goes on from there")
    said = StateEdited(subject="branch", value=json.dumps({"commit": tip, "paths": paths}), by=by)
    return await take_in(project, seen, said, failed) or seen


def _edits(project: Project, seen: View) -> Iterator[tuple[str, StateEdit]]:
    if not isinstance(seen.past, LifecyclePast):
        return
    now = render_loop_state(seen.now.state, seen.past.moments, seen.past.log)
    ours = _read(project.root / shown_copy(seen.row.id)) or now
    own, last_active = state_paths(seen.now.state)
    for name in (own, last_active):
        theirs = _read(project.root / name)
        if theirs in ("", ours, now) or (name == last_active and not _is_of(theirs, seen)):
            continue
        edit = edit_of(ours, theirs)
        if isinstance(edit, Problem):
            raise ConfigError(name, shown(edit.at), edit.says)
        if edit is not None:
            yield name, edit


def _read(file: Path) -> str:
    return (read_regular(file, _LARGEST) or b"").decode("utf-8", "replace")


def _is_of(text: str, seen: View) -> bool:
    """The file of the system that was last active may be another's."""
    system = seen.now.state.plan.system.id
    return f'"systemId": "{system}"' in text
