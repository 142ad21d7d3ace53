import asyncio
import os
from pathlib import Path

import pytest

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.project import open_project
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.feedback import FeedbackRequest, create_feedback
from loopwright.app.worlds import build_world
from loopwright.engine.world import World
from tests.cli.projects import Sample

OWN = "---\nname: triage\ndescription: Ours.\n---\n# Our triage\n"


def test_agents_are_told_how_a_skill_is_done_and_a_persons_own_text_goes_first(tmp_path: Path) -> None:
    sample = Sample.create(tmp_path / "repo")

    async def world() -> World:
        project = open_project(sample.repo.path, os.environ)
        try:
            loop = await create_feedback(project, settings_of(project), FeedbackRequest(task="Make it good"))
            ready = await make_ready(project, loop, pytest.fail)
            return build_world(project, ready, people=Nobody(), observer=ready.publisher)
        finally:
            await project.store.close()

    tell = asyncio.run(world()).skill_text
    assert tell("triage").startswith("# Triage\n\n## Purpose\n")
    sample.repo.write(".loop/skills/triage/SKILL.md", OWN)
    assert (tell("triage"), tell("nothing-such")) == ("# Our triage\n", "")
