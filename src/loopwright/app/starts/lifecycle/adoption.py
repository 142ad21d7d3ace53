"""Going on with a system that another tool began, from its `loop-state.json`, of which a copy is kept.

Where it lies in the place of the system's own it is replaced with the first event; elsewhere it is only read.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.door import Adopter, PointedAt, Told
from loopwright.app.starts.lifecycle.creation import SystemRequest, branch_named, made_system
from loopwright.app.starts.lifecycle.memory import mode_of, others_at_work
from loopwright.app.starts.lifecycle.parameters import refuse_here, system_params
from loopwright.app.starts.lifecycle.state_files import LARGEST, STATE_FILE, keep_original, kept_in, write_around
from loopwright.config.plain_file import read_plain_file
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.kernel.changing import replace
from loopwright.kernel.model import LoopId
from loopwright.loops.lifecycle.adopted import earlier_of, is_over
from loopwright.loops.lifecycle.loop_state import read_loop_state
from loopwright.loops.queue.state import System


async def adopt_system(project: Project, settings: Settings, found: PointedAt) -> View:
    """It is of no queue: `loop queue import` takes one in. Approvals are kept as history, and asked for when due."""
    text = read_plain_file(found.path, str(found.path), LARGEST)
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
    keep_original(project, loop, text)
    seen = await made_system(project, settings, params, None)
    await write_around(project, seen, text)
    return seen


def _domain(file: Path) -> str:
    """The folder that it lies in, or the one above `systems/<sys>/`."""
    folder = file.resolve().parent
    return folder.parent.parent.name if folder.parent.name == "systems" else folder.name


def _told(view: View) -> Told:
    return Told(kept=kept_in(view.row.id), remarks=view.now.state.remarks)


def _found(path: Path) -> Path | None:
    file = path / STATE_FILE if path.is_dir() else path
    return file if file.name == STATE_FILE and file.is_file() else None


ADOPTER = Adopter(named=f"a {STATE_FILE}", finds=_found, takes=("task",), adopt=adopt_system, told=_told)
