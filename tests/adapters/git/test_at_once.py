"""Many at once, cancelled in the middle, killed in the middle."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Coroutine
from pathlib import Path

import pytest

from loopwright.adapters.git.program import uninterrupted
from loopwright.kernel.model import Cleanup, Commit, LoopId
from loopwright.ports.workspace import Landing, Taking
from tests.adapters.git.scene import LOOP, NAME, Scene
from tests.forks import forks
from tests.repository import Repository


def test_snapshots_of_one_label_at_once_all_get_a_ref(repo: Repository) -> None:
    scene = Scene(repo)
    base, workspace = scene.base, scene.workspace

    async def one(number: int) -> Commit:
        folder = await workspace.prepare(LOOP, f"w-{number}", base, f"s-{number}")
        (folder / "README.md").write_text(f"{number}\n")
        shot = await workspace.snapshot(
            Taking(loop=LOOP, name=f"w-{number}", label="a", parent=base, base=base, step=f"s-{number}")
        )
        return shot.commit

    async def run() -> list[Commit]:
        return await asyncio.gather(*map(one, range(6)))

    made = asyncio.run(run())
    refs = {ref: commit for ref, commit in scene.refs().items() if ref.startswith("refs/loopwright/")}
    assert sorted(refs) == [f"refs/loopwright/l-1/a{suffix}" for suffix in ("", "+2", "+3", "+4", "+5", "+6")]
    assert sorted(refs.values()) == sorted(made)


def test_loops_of_one_repository_do_not_meet(repo: Repository) -> None:
    scene = Scene(repo)
    base = scene.base

    async def loop(name: LoopId) -> None:
        workspace = scene.workspace
        folder = await workspace.prepare(name, name, base, "s-1")
        (folder / "README.md").write_text(f"{name}\n")
        shot = await workspace.snapshot(Taking(loop=name, name=name, label="a", parent=base, base=base, step="s-1"))
        await workspace.land(
            Landing(loop=name, branch=f"loop/{name}", commit=shot.commit, base=base, message="m", step="land")
        )

    async def run() -> None:
        await asyncio.gather(*(loop(LoopId(f"l-{number}")) for number in range(4)))

    asyncio.run(run())
    assert [repo.git("show", f"loop/l-{number}:README.md") for number in range(4)] == [f"l-{n}" for n in range(4)]


def test_a_loop_cleans_up_while_judges_of_other_loops_go(repo: Repository) -> None:
    scene = Scene(repo)
    base, workspace = scene.base, scene.workspace

    def at_once(folder: Path) -> tuple[Coroutine[None, None, object], ...]:
        return workspace.discard(folder), workspace.clean_up(LOOP, Cleanup.KEEP_ARTIFACTS)

    async def run() -> None:
        judges = [workspace.checkout(LoopId(f"l-{number}"), base, "s-1") for number in range(2, 42)]
        folders = await asyncio.gather(*judges)
        await asyncio.gather(*(both for folder in folders for both in at_once(folder)))

    asyncio.run(run())
    assert list((repo.path / ".worktrees").glob("judge-*")) == []


def test_a_cancelled_caller_waits_for_the_end_of_the_work() -> None:
    done: list[str] = []

    async def run() -> None:
        started = asyncio.Event()
        loop = asyncio.get_running_loop()
        go_on = asyncio.Event()

        def work() -> None:
            loop.call_soon_threadsafe(started.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            done.append("work")

        task = asyncio.create_task(uninterrupted(work))
        await started.wait()
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done == ["work"]

    asyncio.run(run())


DIES_AT_THE_NTH_GIT = """\
#!/bin/sh
echo x >> {count}
if [ "$(wc -l < {count})" -eq {number} ]; then
    kill -9 $PPID
    {early} && kill -9 $$
fi
exec {git} "$@"
"""


def attempt(repo: Repository, base: str, path: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": path}
    return forks().run("tests.adapters.git.one_attempt", [str(repo.path), base], cwd=repo.path, env=env, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("early", "step"), [(True, 8), (False, 8), *(pytest.param(e, 2, marks=pytest.mark.kills) for e in (True, False))]
)
def test_killed_at_any_git_the_same_calls_again_come_to_the_same_end(
    repo: Repository,
    tmp_path: Path,
    early: bool,  # noqa: FBT001
    step: int,
) -> None:
    base = repo.git("rev-parse", "HEAD")
    path = os.environ["PATH"]
    real = next(Path(folder, "git") for folder in path.split(os.pathsep) if Path(folder, "git").exists())
    killed, ended = 0, -1
    for number in range(
        1 + early, 90, step
    ):  # of all gits, some are killed in either case; in the layer of kills half of them
        program, count = tmp_path / f"bin-{number}" / "git", tmp_path / f"count-{number}"
        program.parent.mkdir()
        program.write_text(DIES_AT_THE_NTH_GIT.format(count=count, number=number, early=str(early).lower(), git=real))
        program.chmod(0o755)
        shutil.rmtree(repo.path / ".git" / "refs" / "loopwright", ignore_errors=True)
        shutil.rmtree(repo.path / ".git" / "refs" / "heads" / "loop", ignore_errors=True)
        ended = attempt(repo, base, f"{program.parent}{os.pathsep}{path}").returncode
        killed += ended == -signal.SIGKILL
        assert attempt(repo, base, path).stdout == "scratch.txt\n"
        assert repo.git("show", "refs/loopwright/l-1/evidence-1:scratch.txt") == "scratch"
        assert repo.git("show", "loop/l-1:README.md") == "changed"
        assert repo.git("rev-list", "--count", f"{base}..loop/l-1") == "1"
        assert repo.git("ls-tree", "--name-only", "loop/l-1") == "README.md"
        if ended == 0:
            break
    assert (ended, killed >= 20 // step) == (0, True), "more gits than were tried"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    scene = Scene(repo)
    assert scene.snapshot("a").commit == scene.refs()["refs/loopwright/l-1/a"]
    assert NAME in {folder.name for folder in (repo.path / ".worktrees").iterdir()}


def test_the_other_folders_of_a_loop_are_removed_and_no_others(repo: Repository) -> None:
    scene = Scene(repo)
    base, workspace = scene.base, scene.workspace

    async def run() -> tuple[bool, ...]:
        own, other = [await workspace.prepare(LOOP, name, base, name) for name in (NAME, f"other-{NAME}")]
        foreign = await workspace.prepare(LoopId("l-2"), "l-2", base, "s")
        left = repo.path / ".loop" / "runs" / LOOP / "examine-1"
        left.mkdir(parents=True)
        for _ in range(2):
            await workspace.remove_others(LOOP, NAME)
        return tuple(folder.exists() for folder in (own, foreign, other, left))

    assert asyncio.run(run()) == (True, True, False, False)
