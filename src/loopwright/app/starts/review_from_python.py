"""A review that is started from Python."""

from __future__ import annotations

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.door import Start
from loopwright.app.starts.review import ReviewRequest, create_review
from loopwright.config.settings import LimitSettings, Settings
from loopwright.loops.quality.request import Quality
from loopwright.loops.reviewed import QualityLimits


def _limits(asked: Quality) -> LimitSettings:
    quality = QualityLimits(max_attempts=asked.max_attempts, p1_threshold=asked.p1_threshold)
    return LimitSettings(parallel=asked.parallel, quality=quality)


async def _start(project: Project, settings: Settings, asked: Quality, roles: tuple[str, ...]) -> View:
    review = ReviewRequest(
        paths=(asked.artifacts,) if isinstance(asked.artifacts, str) else tuple(asked.artifacts),
        gate=asked.gate,
        depth=asked.mode,
        batch=asked.batch,
        merge=asked.merge,
        task=asked.task,
        criteria=tuple(asked.criteria),
    )
    return await create_review(project, settings, review, project.root, played=roles)


START = Start(limits=_limits, create=_start)
