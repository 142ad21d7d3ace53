"""What people are sent: said when an event calls for it, and delivered beside the loop, which never waits for that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from loopwright.adapters.notices import one_at_a_time, scheme_of, send, start_behind
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.project import Project
from loopwright.app.views.answers import AttemptedNotice
from loopwright.app.views.notices import notice_of
from loopwright.engine.world import News
from loopwright.errors import EngineError
from loopwright.kernel.wording import counted
from loopwright.ports.store import NewNotice, PendingNotice

PAUSES = (2.0, 10.0, 30.0, 60.0)  # seconds after each failure; one more and it is given up
ATTEMPTS = len(PAUSES) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcer:
    """Says what people are sent of one root, and sees to it that somebody delivers it."""

    project: Project
    title: str

    def notice(self, news: News) -> NewNotice | None:
        return notice_of(self.project.kinds, self.project.root.name, self.title, news)

    def made(self) -> None:
        start_behind(self.project.root, self.project.environ)


async def take_up(project: Project, said: Callable[[str], None]) -> None:
    """What an earlier controller left behind is delivered after all; what was given up is said in a line."""
    pending: tuple[PendingNotice, ...] = ()
    with suppress(EngineError):  # no loop stands still because of what was to be sent
        pending = await project.store.notices()
    if given_up := [each for each in pending if each.attempts >= ATTEMPTS]:
        many, why = counted(len(given_up), "notice"), given_up[-1].why
        said(f"{many} could not be delivered ({why}); `loop notify` tries again.")
    if len(given_up) < len(pending):
        start_behind(project.root, project.environ)


class Delivery:
    """Delivers what is pending. Each address is tried again only for what it has not taken yet."""

    def __init__(self, project: Project, urls: tuple[str, ...]) -> None:
        self._project, self._urls = project, urls
        self._taken: set[tuple[str, str]] = set()

    async def once(self) -> tuple[AttemptedNotice, ...]:
        """Try all that is pending, also what was given up."""
        with self._alone():
            return tuple([await self._try(each.notice) for each in await self._project.store.notices()])

    async def until_done(self) -> None:
        """With growing pauses, until all is delivered or given up."""
        clock = self._project.clock
        while left := await self._not_given_up():
            await clock.sleep_until(min(self._due(each) for each in left))
            with self._alone():
                for each in await self._not_given_up():
                    if self._due(each) <= clock.now():
                        await self._try(each.notice)

    def _alone(self) -> AbstractContextManager[None]:
        return one_at_a_time(self._project.root / STATE_FOLDER)

    async def _not_given_up(self) -> list[PendingNotice]:
        return [each for each in await self._project.store.notices() if each.attempts < ATTEMPTS]

    def _due(self, pending: PendingNotice) -> float:
        """When it may be tried. Of a clock that was set back nobody knows how long ago the last time was."""
        if not pending.attempts or pending.tried > self._project.clock.now():
            return 0.0
        return pending.tried + PAUSES[pending.attempts - 1]

    async def _try(self, notice: NewNotice) -> AttemptedNotice:
        failed = []
        for url in [each for each in self._urls if (notice.id, each) not in self._taken]:
            if why := send(url, notice.title, notice.body, self._project.environ):
                failed.append(why)
            else:
                self._taken.add((notice.id, url))
        tried = AttemptedNotice(id=notice.id, title=notice.title, why="; ".join(failed))
        if failed:
            await self._project.store.notice_failed(notice.id, tried.why)
        else:
            await self._project.store.notice_delivered(notice.id)
        return tried


def send_test(project: Project, urls: tuple[str, ...]) -> tuple[AttemptedNotice, ...]:
    """A message for each address."""
    title = f"{project.root.name}: a test [loopwright notice test]"
    body = "Loopwright reaches you here when a loop needs you, is blocked or paused, or is complete."
    return tuple(
        AttemptedNotice(id="test", title=f"a test through {scheme_of(url)}", why=why)
        for url in urls
        for why in (send(url, title, body, project.environ),)
    )
