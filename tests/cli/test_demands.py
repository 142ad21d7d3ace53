"""Commands that a task brings, from the log of a loop to what a person sees of them."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from loopwright.app.creation import create_loop, new_id
from loopwright.app.project import open_project
from loopwright.app.settings import settings_of
from loopwright.kernel.model import Demand, LoopId
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.state import FeedbackParams
from tests.cli.projects import GOOD, Sample

pytestmark = pytest.mark.unmeasured

SAYS_GOOD = Demand("T-001", (sys.executable, "-c", "print('it is', open('result.txt').read())"))
HAS_MORE = Demand("T-002", (sys.executable, "-c", "print('looking'); open('more.txt')"))


def begun(sample: Sample, *also: Demand) -> LoopId:
    """A feedback loop whose task brings these: no command line has a word for it."""

    async def made() -> LoopId:
        project = open_project(sample.repo.path, dict(os.environ))
        try:
            params = FeedbackParams(
                task="Make it good",
                base=project.head,
                limits=FeedbackLimits(max_feedback_iterations=1),
                trust=Trust(in_force=True),
                also=also,
            )
            return (await create_loop(project, settings_of(project), new_id("good"), params)).row.id
        finally:
            await project.store.close()

    return asyncio.run(made())


def test_a_command_that_passes_is_shown_like_a_check(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", GOOD)
    loop = begun(sample, SAYS_GOOD)
    assert sample.loop("resume", "--loop", loop).code == 0
    assert "verify T-001 passed" in sample.loop("log", "--loop", loop).out
    assert "PASS  verify T-001 on tree " in sample.loop("receipts", "--loop", loop).out
    assert sample.loop("log", "--agent", "checks-1.1", "--loop", loop).out == "result.txt says good\nit is good\n"
    other = begun(sample, SAYS_GOOD)
    assert sample.loop("resume", "--loop", other).code == 0
    assert f"reused: loop {loop} ran it\n  {sys.executable} -c print('it is'" in sample.loop("receipts").out


def test_a_command_that_fails_lets_nothing_land_and_is_told_once(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo", GOOD)
    loop = begun(sample, SAYS_GOOD, HAS_MORE)
    done = sample.loop("resume", "--loop", loop)
    assert done.code == 4
    assert (done.out + done.err).count("[high] verify T-002 failed: ") == 1
    assert sample.repo.git("branch", "--list", f"loop/{loop}") == ""
    assert "FileNotFoundError" in (sample.repo.path / f".loop/feedback/{loop}/progress.json").read_text()
    assert "FAIL  verify T-002 on tree " in sample.loop("receipts", "--loop", loop).out
