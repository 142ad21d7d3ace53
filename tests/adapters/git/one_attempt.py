"""One attempt of a loop in a process of its own, a module for tests/forks.py: with ROOT BASE it works and lands."""

import asyncio
import os
import sys
from pathlib import Path

from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.kernel.model import Commit, LoopId
from loopwright.ports.workspace import Combining, Landing, Taking


async def live(root: Path, base: Commit) -> None:
    workspace, loop = GitWorkspace(root, env=os.environ), LoopId("l-1")
    folder = await workspace.prepare(loop, "l-1-work", base, "s-1")
    (folder / "README.md").write_text("changed")
    (folder / "scratch.txt").write_text("scratch")
    wanted = Taking(loop=loop, name="l-1-work", label="a", parent=base, base=base, step="s-1", only=("README.md",))
    shot = await workspace.snapshot(wanted)
    made = await workspace.combine(
        Combining(loop=loop, label="combined", base=base, commits=(shot.commit,), step="combine")
    )
    await workspace.land(
        Landing(loop=loop, branch="loop/l-1", commit=made.commit, base=base, message="Do it", step="land")
    )
    sys.stdout.write("".join(f"{path}\n" for path in shot.dropped))


def main() -> None:
    root, base = sys.argv[1:]
    asyncio.run(live(Path(root), Commit(base)))
