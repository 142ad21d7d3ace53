"""A person's edit of `loop-state.json`, taken in when somebody goes on with the system."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from loopwright.adapters.doors import RecordPlace, is_ours, take_over
from loopwright.adapters.files import read_regular
from loopwright.app.loops import View, whole_view
from loopwright.app.project import Confirm, Project
from loopwright.app.publication import write_at_once
from loopwright.app.said import take_in
from loopwright.app.starts.lifecycle.handwork import Unrecorded, all_ended, confirm_handwork, with_commits
from loopwright.app.starts.lifecycle.state_files import LARGEST, state_place
from loopwright.errors import ConfigError, Forbidden
from loopwright.kernel.events import StateEdited
from loopwright.kernel.shapes import Problem, shown
from loopwright.loops.lifecycle.files import edited, state_paths
from loopwright.loops.lifecycle.loop_state import edit_of
from loopwright.loops.lifecycle.loop_state_view import render_loop_state
from loopwright.loops.lifecycle.past import LifecyclePast

_SYSTEM = re.compile(r'"systemId":\s*"([^"]*)"')


_UNDO = "move it away and run `loop render`"
_PUT_BACK = "it is left as you wrote it; change it, or move it away and run `loop render` to have it as it was"


@dataclass(frozen=True, slots=True)
class _Edited:
    place: RecordPlace
    content: bytes
    state: str  # empty: nothing was changed that means anything


async def by_hand(
    project: Project, seen: View, by: str, failed: Callable[[str], None], confirm: Confirm | None
) -> View:
    """The system with all that a person did with their own hands since it was last driven."""
    seen = await all_ended(project, seen, by, failed)
    return await with_edit(project, await with_commits(project, seen, by, confirm), by, confirm)


async def with_edit(project: Project, seen: View, by: str, confirm: Confirm | None) -> View:
    """The system with what the person said in its file. Raises `ConfigError` where that cannot be taken in, naming the
    key, `NeedsPerson` where nobody says that it is theirs, and `Forbidden` where the machine does not take it: the
    file stays as it is.
    """
    edits = tuple(_edits(project, seen))
    found = {each.state: each.place.name for each in edits if each.state}
    if len(found) > 1:
        names, says = " and ".join(found.values()), f"both were edited, and say {' and '.join(found)}"
        raise ConfigError(names, "state", f"{says}; move one of them away and run `loop render`")
    for state, name in found.items():
        edited_by = _sentence(name, state)
        shown = (f"{edited_by}, and the system is in {seen.standpoint.state}",)
        confirm_handwork(seen, confirm, Unrecorded(edited_by, shown, _UNDO))
        said = StateEdited(subject="state", value=json.dumps(state), by=by)
        try:
            # That the file is left as it is, is no news: it is written below, once it is known to be taken in.
            seen = await take_in(project, seen, said, lambda _sentence: None) or seen
        except Forbidden as error:
            raise Forbidden(f"{name}: {error}; {_PUT_BACK}") from error
    for each in edits:
        take_over(each.place, each.content)
    if edits:
        await write_at_once(project, seen)
    return seen


async def describe_edit(project: Project, seen: View) -> str:
    """Say that the file of a system was edited by no recorded step, and how to put it back; empty: it was not."""
    places = (state_place(project, name) for name in edited(seen.row.id, seen.now.state))
    if all(is_ours(place) or not place.path.exists() for place in places):
        return ""
    whole = await whole_view(project, seen.listed)
    with suppress(ConfigError):  # told when somebody goes on with it
        for each in _edits(project, whole):
            if each.state:
                return f"{_sentence(each.place.name, each.state)}; if it was not you, {_UNDO}"
    return ""


def _sentence(name: str, state: str) -> str:
    return f"{name} was edited by no recorded step: it sets state to {state}"


def _edits(project: Project, seen: View) -> Iterator[_Edited]:
    if not isinstance(seen.past, LifecyclePast):
        return
    now = render_loop_state(seen.now.state, seen.past.moments, seen.past.log)
    _, last_active = state_paths(seen.now.state)
    for name, copy in edited(seen.row.id, seen.now.state).items():
        place = state_place(project, name)
        content = read_regular(place.path, LARGEST) or b""
        theirs = content.decode("utf-8", "replace")
        if is_ours(place) or theirs in ("", now) or (name == last_active and _is_of_another(theirs, seen)):
            continue
        ours = (read_regular(project.root / copy, LARGEST) or b"").decode("utf-8", "replace")
        edit = edit_of(ours or now, theirs)
        if isinstance(edit, Problem):
            raise ConfigError(name, shown(edit.at), f"{edit.says}; {_PUT_BACK}")
        yield _Edited(place, content, edit.state if edit else "")


def _is_of_another(text: str, seen: View) -> bool:
    """The file of the system that was last active may be another's. Of what cannot be read, nobody knows."""
    told = _SYSTEM.search(text)
    return told is not None and told[1] != seen.now.state.plan.system.id
