"""Going on with a system that another tool began, from its `loop-state.json`, of which a copy is kept.

Where it lies in the place of the system's own it is replaced with the first event; elsewhere it is only read.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.doors import take_over
from loopwright.adapters.files import made, read_regular, write_whole
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.publication import write_at_once
from loopwright.app.starts.door import Adopter, PointedAt, Told
from loopwright.app.starts.lifecycle.creation import SystemRequest, made_system
from loopwright.app.starts.lifecycle.edits import state_place
from loopwright.app.starts.lifecycle.memory import mode_of, others_at_work
from loopwright.app.starts.lifecycle.parameters import branch_named, refuse_here, system_params
from loopwright.config.plain_file import read_plain_file
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.kernel.changing import replace
from loopwright.kernel.model import LoopId
from loopwright.loops.lifecycle.adopted import earlier_of, is_over
from loopwright.loops.lifecycle.kind import KIND
from loopwright.loops.lifecycle.loop_state import read_loop_state
from loopwright.loops.queue.state import System

FILE = "loop-state.json"
_LARGEST = 4 << 20  # bytes


async def adopt_system(project: Project, settings: Settings, found: PointedAt) -> View:
    """It is of no queue: `loop queue import` takes one in. Approvals are kept as history, and asked for when due."""
    text = read_plain_file(found.path, str(found.path), _LARGEST)
    state = read_loop_state(text, str(found.path))
    if is_over(state):
        raise UsageError(f"{found.path} is of a system that is complete; there is nothing to go on with")
    refuse_here(project, settings)
    folder = found.path.parent
    mode, remarks = mode_of(folder), others_at_work(folder)
    token = secrets.token_hex(4)
    loop = LoopId(f"{state.system}-{token}")
    system = System(id=state.system, name=state.name, description=found.task, github_issue=state.issue, loop=loop)
    branch = branch_named(state.branch, token)
    params = system_params(project, settings, system, SystemRequest(domain=_domain(found.path)), branch)
    params = replace(
        params,
        queue=LoopId(""),
        mode=mode or params.mode,
        capabilities=(),
        earlier=replace(earlier_of(state), remarks=remarks),
    )
    write_whole(made(project.root, project.root / _kept_in(loop)) / FILE, text)
    seen = await made_system(project, settings, params, None)
    await write_at_once(project, seen, stay=tuple(_in_place(project, seen, text)))
    return seen


def _kept_in(loop: LoopId) -> str:
    """Where what it was taken over from stays as it was."""
    return f"{STATE_FOLDER}/{KIND.loop.name}/{loop}/adopted"


def _in_place(project: Project, seen: View, text: str) -> Iterator[Path]:
    """What was read lies where the system has its own: it is no edit, and stays until there is more to tell."""
    for name, copy in KIND.edited(seen.row.id, seen.now.state).items():
        place = state_place(project, name)
        if read_regular(place.path, _LARGEST) == text.encode():
            take_over(place, text.encode())
            write_whole(project.root / copy, text)
            yield place.path


def _domain(file: Path) -> str:
    """The folder that it lies in, or the one above `systems/<sys>/`."""
    folder = file.resolve().parent
    return folder.parent.parent.name if folder.parent.name == "systems" else folder.name


def _told(view: View) -> Told:
    return Told(kept=_kept_in(view.row.id), remarks=view.now.state.remarks)


def _found(path: Path) -> Path | None:
    file = path / FILE if path.is_dir() else path
    return file if file.name == FILE and file.is_file() else None


ADOPTER = Adopter(named=f"a {FILE}", finds=_found, takes=("task",), adopt=adopt_system, told=_told)
