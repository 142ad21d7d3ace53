"""Which domain is meant, and what its queue is called."""

from __future__ import annotations

from loopwright.app.layout import CONFIG_FILE
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.config.keys import FOLDER
from loopwright.errors import UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.shapes import Problem
from loopwright.kernel.wording import moment, slug
from loopwright.loops.queue.machine import QUEUE

_LONGEST = 60  # characters of an id
_USUAL = "domain"  # where the folder of the repository has no name of its own


def domain_of(project: Project, named: str = "") -> str:
    """The one that is named, else that of loop.toml, else the name of the repository's folder."""
    if named:
        held = FOLDER.read(named)
        if isinstance(held, Problem):
            raise UsageError(f"--domain: {held.says}")
        return named
    # A queue may be there before loop.toml is; keys that nothing obeys yet matter to whoever starts a loop.
    has_settings = (project.root / CONFIG_FILE).is_file()
    told = settings_of(project, lambda _sentence: None).lifecycle.domain if has_settings else ""
    return told or project.root.name or _USUAL


def queue_id(domain: str) -> LoopId:
    return LoopId(f"{QUEUE.name}-{slug(domain, _LONGEST) or _USUAL}")


def now(project: Project) -> str:
    """As files and records have it."""
    return moment(project.clock.now())
