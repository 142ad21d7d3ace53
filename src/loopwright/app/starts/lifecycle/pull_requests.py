"""What people decided on the pull request of a system, taken in before anything else is done with it."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.adapters.git.rules import began_with
from loopwright.adapters.outside import forge_of
from loopwright.app.approvers import deciders
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.said import record
from loopwright.config.settings import Settings
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
