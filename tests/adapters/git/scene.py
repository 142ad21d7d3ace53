"""A loop at work in a repository, for the tests of the workspace."""

import asyncio
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.kernel.model import Commit, LoopId
from loopwright.ports.workspace import Landing, Moved, Snapshot, Taking
from tests.repository import Repository

LOOP, NAME = LoopId("l-1"), "l-1-work"


@dataclass(slots=True)
class Scene:
    repo: Repository
    preparation: Preparation = field(default_factory=Preparation)

    @property
    def workspace(self) -> GitWorkspace:
        """A new one each time, as after a restart."""
        return GitWorkspace(self.repo.path, env=os.environ, preparation=self.preparation)

    @property
    def base(self) -> Commit:
        return Commit(self.repo.git("rev-parse", "HEAD"))

    def prepare(self, at: str = "", step: str = "s-1") -> Path:
        return asyncio.run(self.workspace.prepare(LOOP, NAME, Commit(at or self.base), step))

    def snapshot(
        self, label: str = "attempt-1", parent: str = "", step: str = "s-1", only: tuple[str, ...] = ()
    ) -> Snapshot:
        start = Commit(parent or self.base)
        wanted = Taking(loop=LOOP, name=NAME, label=label, parent=start, base=self.base, step=step, only=only)
        return asyncio.run(self.workspace.snapshot(wanted))

    def land(self, commit: Commit, *, base: str = "", branch: str = "loop/l-1", step: str = "land") -> Snapshot:
        start = Commit(base or self.base)
        landing = self.workspace.land(
            Landing(loop=LOOP, branch=branch, commit=commit, base=start, message="Do it", step=step)
        )
        return asyncio.run(landing)

    def advance(self, target: str, onto: str, commit: str, branch: str = "") -> Moved:
        return asyncio.run(self.workspace.advance(target, Commit(onto), Commit(commit), branch))

    def files(self, commit: str) -> list[str]:
        return [name for name in self.repo.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0") if name]

    def refs(self) -> dict[str, str]:
        lines = self.repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)


def run_in(folder: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """What an agent would run."""
    ceiling = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return subprocess.run(
        argv, cwd=folder, env={**os.environ, **ceiling, **env}, capture_output=True, text=True, check=False
    )
