"""Before its first append a run reads its loop once: one load, one list of the loops, and nothing it wrote itself."""

import asyncio
import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from loopwright.app.choice import pick
from loopwright.app.project import Project, open_project
from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.cli.drive import Manner, driven
from loopwright.cli.here import Here
from loopwright.ports.store import Store
from tests.cli.projects import NEVER_RIGHT, Sample

READS = ("load", "read", "rows")


class Counting:
    """A store that notes what is asked of it, up to the first append."""

    def __init__(self, store: Store) -> None:
        self._store, self.asked, self.appended = store, list[str](), False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name == "append":
            self.appended = True
        elif name in READS and not self.appended:
            self.asked.append(name)
        return cast(Callable[..., Any], getattr(self._store, name))


def counted(root: Path, work: Callable[[Project], Any]) -> list[str]:
    project = open_project(root, dict(os.environ))
    store = Counting(project.store)

    async def whole() -> None:
        try:
            with redirect_stderr(io.StringIO()):
                await work(replace(project, store=cast(Store, store)))
        finally:
            await project.store.close()

    asyncio.run(whole())
    return store.asked


def test_a_new_loop_is_read_once(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")
    here = Here(cwd=sample.repo.path, environ=dict(os.environ))

    async def begin(project: Project) -> None:
        loop = await create_feedback(project, settings_of(project), FeedbackRequest(task="x"))
        await driven(project, here, loop, Manner(unattended=True))

    assert counted(sample.repo.path, begin) == ["load"]


def test_a_loop_that_goes_on_is_listed_once_and_read_once(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    sample.loop("feedback", "x", "--unattended")
    sample.loop("answer", "continue", "1")
    here = Here(cwd=sample.repo.path, environ=dict(os.environ))

    async def go_on(project: Project) -> None:
        chosen = await pick(project, "", lambda each: not each.is_over)
        assert chosen is not None
        await driven(project, here, chosen, Manner(unattended=True))

    assert counted(sample.repo.path, go_on) == ["rows", "load"]
