"""Who may decide a gate: those whom the loop's settings name, and where four eyes are wanted not whoever started it."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.adapters.git.repository import git_names
from loopwright.app.choice import named, root_of
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.config.settings import Settings
from loopwright.kernel.events import Created, GateDecided
from loopwright.kernel.model import LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import event_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What is asked of whoever decides one gate."""

    approvers: tuple[str, ...] = ()  # empty: anyone
    four_eyes: bool = False
    started_by: str = ""  # empty: nobody knows

    @property
    def is_open(self) -> bool:
        return not self.approvers and not self.four_eyes


def objection(said: GateDecided, names: tuple[str, ...], wanted: Deciding) -> str:
    """Why they may not decide it; empty: they may. `names` are those that git gives them beside the one of the log.

    An approver is named by the login, the login with its machine, or git's `user.name` or `user.email`, in any case.
    Whoever started a loop may still reject.
    """
    theirs = {name.strip().casefold() for name in (said.by, said.by.rpartition("@")[0], *names)} - {""}
    if wanted.approvers and theirs.isdisjoint(name.strip().casefold() for name in wanted.approvers):
        may = ", ".join(one_line(name, 100) for name in wanted.approvers)
        return f"gate {said.gate} may be decided by {may} alone, and you are {_shown(said.by, names)}"
    if not (wanted.four_eyes and said.approved):
        return ""
    if not wanted.started_by:
        return f"gate {said.gate} wants four eyes, and nobody knows who started the loop"
    if said.by.casefold() == wanted.started_by.casefold():
        return f"gate {said.gate} wants four eyes, and you started the loop: somebody else has to approve it"
    return ""


async def objection_to(project: Project, loop: LoopId, said: GateDecided) -> str:
    """As `objection`, by the settings that the root of the loop is pinned to."""
    root = await view(project, root_of(await named(project, loop)))
    wanted = await _wanted(project, root, said.gate)
    return "" if wanted.is_open else objection(said, git_names(project.environ, project.root), wanted)


async def _wanted(project: Project, root: View, gate: str) -> Deciding:
    settings = Settings.from_json(root.now.settings) if root.now.settings else Settings()
    approvers = next((each.approvers for each in settings.gates if each.name == gate), ())
    if not settings.lifecycle.four_eyes:
        return Deciding(approvers=approvers)
    first = event_of((await project.store.read(root.row.id, limit=1))[0])
    started_by = first.by if isinstance(first, Created) else ""
    return Deciding(approvers=approvers, four_eyes=True, started_by=started_by)


def _shown(by: str, names: tuple[str, ...]) -> str:
    known = ", ".join(one_line(name, 100) for name in names if name)
    return f"{one_line(by, 100)} ({known})" if known else one_line(by, 100)
