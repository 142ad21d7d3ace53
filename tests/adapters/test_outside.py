import asyncio
import os
from pathlib import Path

import pytest

from loopwright.adapters.forges.github import GithubForge
from loopwright.adapters.forges.local import LocalForge
from loopwright.adapters.outside import errands_of, forge_of
from loopwright.config.settings import Settings, WorkspaceSettings
from loopwright.config.systems import ForgeSettings
from loopwright.kernel.actions import RunOnce
from loopwright.kernel.model import Commit, Key
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.repository import Repository


@pytest.mark.parametrize(
    ("forge", "kind"), [(ForgeSettings(), LocalForge), (ForgeSettings(kind="github"), GithubForge)]
)
def test_the_settings_choose_the_forge(forge: ForgeSettings, kind: type, repo: Repository) -> None:
    assert type(forge_of(Settings(forge=forge), root=repo.path, environ=os.environ)) is kind


def test_a_command_finds_what_the_workspace_copies(repo: Repository, tmp_path: Path) -> None:
    repo.write(".env", "TARGET=here\n")
    settings = Settings(workspace=WorkspaceSettings(copy=(".env",)))
    errands = errands_of(settings, MemoryStore(Memory(), ManualClock()), root=repo.path, environ=os.environ)
    commit = Commit(repo.git("rev-parse", "HEAD"))
    wanted = RunOnce(key=Key("deploy", 1), argv=("cp", ".env", str(tmp_path / "deployed")), commit=commit)
    assert asyncio.run(errands.run_once(wanted, "l-1/3/deploy-1")).code == 0
    assert (tmp_path / "deployed").read_text() == "TARGET=here\n"
