"""What the toy needs of the disk to be started: by a Python program, or with a theme that somebody left in a file."""

from __future__ import annotations

from pathlib import Path

from loopwright.app.creation import create_loop, new_id
from loopwright.app.project import Project
from loopwright.app.starts.door import Adopter, PointedAt, Start
from loopwright.config.settings import LimitSettings, Settings
from loopwright.kernel.codec import encode
from loopwright.kernel.model import LoopId
from tests.toys.haiku import HAIKU, Haiku, HaikuParams


async def _begin(project: Project, settings: Settings, theme: str) -> LoopId:
    params = encode(HaikuParams(theme=theme, base=project.head))
    return await create_loop(project, settings, new_id(theme), kind=HAIKU.name, params=params)


async def _start(project: Project, settings: Settings, asked: Haiku, _roles: tuple[str, ...]) -> LoopId:
    return await _begin(project, settings, asked.theme)


async def _adopt(project: Project, settings: Settings, found: PointedAt) -> LoopId:
    return await _begin(project, settings, found.path.read_text().strip())


def _found(path: Path) -> Path | None:
    return path if path.suffix == ".theme" else None


START = Start(limits=lambda _asked: LimitSettings(), create=_start)
ADOPTER = Adopter(named="a theme", finds=_found, takes=(), adopt=_adopt)
