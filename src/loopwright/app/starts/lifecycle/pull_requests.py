"""What people did elsewhere, taken in before anything else is done with a system: decided on its pull request, or
committed on its branch."""

from __future__ import annotations

import json
from collections.abc import Callable

from loopwright.adapters.git.repository import commits_on
from loopwright.adapters.git.rules import began_with
from loopwright.adapters.outside import forge_of
from loopwright.app.approvers import deciders
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import record, take_in
from loopwright.config.settings import Settings
from loopwright.kernel.events import StateEdited
from loopwright.kernel.quoting import one_line
from loopwright.loops.lifecycle.opinions import heard
from loopwright.loops.lifecycle.proposing import elsewhere


async def read_first(project: Project, seen: View, failed: Callable[[str], None]) -> View:
    """The system with what was said there on record. Where nothing is waited for, or nobody can be asked, as it is."""
    wanted = elsewhere(seen.now.state)
    if wanted is None or seen.alive is not None:
        return seen
    pinned = began_with(seen.base, seen.now.rules)
    settings = Settings.from_json(seen.now.settings)
    forge = forge_of(settings, root=project.root, environ=project.environ, pinned=pinned)
    answer = await forge.read(wanted)
    if answer.failed or not answer.seen.number:
        why = one_line(answer.failed, 300) or "it is not there"
        failed(f"pull request #{wanted.number} of loop {seen.row.id} could not be read: {why}")
        return seen
    for said in heard(seen.now.state, answer.seen, await deciders(project, seen)):
        seen = await record(project, seen, said, failed) or seen
    return seen


async def with_commits(project: Project, seen: View, by: str, failed: Callable[[str], None]) -> View:
    """The system with what somebody committed on its branch while nobody drove it: nothing of that is lost, and it is
    what the work goes on from. Where it is proposed already, the forge tells of it."""
    state = seen.now.state
    if not state.takes_commits or seen.now.flights:
        return seen
    found = commits_on(project.root, project.environ, state.plan.branch, state.landed)
    if found is None:
        return seen
    tip, paths = found
    failed(f"{state.plan.branch} has come on to {tip[:12]} by your own hand: the work goes on from there")
    said = StateEdited(subject="branch", value=json.dumps({"commit": tip, "paths": paths}), by=by)
    return await take_in(project, seen, said, failed) or seen
