"""What the toy needs of the disk to be started: by a Python program, or with a theme that somebody left in a file."""

from __future__ import annotations

from pathlib import Path

from loopwright.app.creation import create_loop, new_id
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.door import Adopter, PointedAt, Start
from loopwright.config.settings import LimitSettings, Settings
from tests.toys.haiku import Haiku, HaikuParams


async def _begin(project: Project, settings: Settings, theme: str) -> View:
    return await create_loop(project, settings, new_id(theme), HaikuParams(theme=theme, base=project.head))


async def _start(project: Project, settings: Settings, asked: Haiku, _roles: tuple[str, ...]) -> View:
    return await _begin(project, settings, asked.theme)


async def _adopt(project: Project, settings: Settings, found: PointedAt) -> View:
    return await _begin(project, settings, found.path.read_text().strip())


def _found(path: Path) -> Path | None:
    return path if path.suffix == ".theme" else None


START = Start(limits=lambda _asked: LimitSettings(), create=_start)
ADOPTER = Adopter(named="a theme", finds=_found, takes=(), adopt=_adopt)
