"""P18: the whole verification of a plain product change (runs and canary) against the bare check, over real projects.

`LOOP_HISTORIES` is a folder of clones with their environments, as `benchmarks.honest_changes` takes them. Of each the
newest change of product alone is verified, and the bare command of its checks is run on the same files, in turn. Work
is processor time of all processes, so that other work on the machine does not count; wall time is with two slots.
`python -m benchmarks.p18_verification` prints a line a project. Opt-in: it needs these clones and takes minutes.
"""

from __future__ import annotations

import asyncio
import copy
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.honest_changes import History, git
from benchmarks.measuring import Figure
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import FileClass
from loopwright.testing.memory_store import Memory

HISTORIES = "LOOP_HISTORIES"
WORK, WALL, MOST = 1.6, 1.5, 2.2
_ROUNDS, _LOOK_AT = 5, 40
_PLAIN = {FileClass.PRODUCT, FileClass.TEXT}


@dataclass(frozen=True, slots=True)
class Cost:
    work: float  # processor seconds
    wall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    project: str
    ours: tuple[Cost, ...]
    bare: tuple[Cost, ...]
    preflight: Cost  # once more on a base that was run before

    @property
    def work(self) -> float:
        return statistics.median(mine.work / other.work for mine, other in zip(self.ours, self.bare, strict=True))

    @property
    def wall(self) -> float:
        return statistics.median(mine.wall / other.wall for mine, other in zip(self.ours, self.bare, strict=True))


def cost_of(work: Callable[[], object]) -> Cost:
    """Of this process and of all that it waited for."""
    start, before = time.perf_counter(), _processor()
    work()
    return Cost(_processor() - before, time.perf_counter() - start)


def _processor() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


async def plain_change(history: History) -> str | None:
    for commit in history.chosen(_LOOK_AT):
        base = Commit(git(history.folder, "rev-parse", f"{commit}^1"))
        kinds = {each.kind for each in await history.checks.classifier.classify(base, Commit(commit))}
        if FileClass.PRODUCT in kinds and kinds <= _PLAIN:
            git(history.folder, "checkout", "-q", "--detach", base)
            row = await history.weigh(commit)
            if row.outcome == "lands":
                return commit
    return None


def compare(folder: Path) -> Compared | None:
    memory = Memory()
    history = History(folder, memory=memory, parallel=2)
    commit = asyncio.run(plain_change(history))
    if commit is None:
        return None
    base = Commit(git(folder, "rev-parse", f"{commit}^1"))
    known = Memory()
    once = History(folder, memory=known, parallel=2)
    asyncio.run(once.ran(base, base, "preflight"))
    preflight = cost_of(lambda: asyncio.run(once.ran(base, base, "preflight")))
    ours: list[Cost] = []
    bare: list[Cost] = []
    for _ in range(_ROUNDS):
        git(folder, "checkout", "-q", "--detach", commit)
        bare.append(cost_of(lambda: _bare(history)))
        git(folder, "checkout", "-q", "--detach", base)
        fresh = History(folder, memory=copy.deepcopy(known), parallel=2)
        asyncio.run(fresh.ran(base, base, "preflight"))  # as the loop has that asks for the verification
        ours.append(cost_of(partial(_verify, fresh, Commit(commit), base)))
    return Compared(project=folder.name, ours=tuple(ours), bare=tuple(bare), preflight=preflight)


def _verify(history: History, commit: Commit, base: Commit) -> None:
    asyncio.run(history.ran(commit, base, "checks"))


def _bare(history: History) -> None:
    for spec in history.settings.checks:
        subprocess.run(spec.run, cwd=history.folder, env=history.environ, check=False, capture_output=True)


def compared() -> list[Compared]:
    found = []
    for folder in sorted(Path(os.environ[HISTORIES]).iterdir()):
        each = compare(folder)
        if each is None:
            print(f"{folder.name}: no plain change of product that lands", flush=True)
            continue
        found.append(each)
        print(
            f"{each.project}: work {each.work:.2f}, wall {each.wall:.2f}, bare {each.bare[0].work:.1f} s of processor,"
            f" preflight again {each.preflight.work:.2f} s; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return found


def measure() -> Figure:
    found = compared()
    works, walls = [each.work for each in found], [each.wall for each in found]
    value = statistics.median(works)
    wall = statistics.median(walls)
    return Figure(
        name="P18",
        what="verification of a plain product change: runs and canary, processor time",
        against="the bare check",
        value=value,
        low=min(works),
        high=max(works),
        goal=f"≤ {WORK}, wall ≤ {WALL} with two slots, never > {MOST}",
        met=value <= WORK and wall <= WALL and max(works) <= MOST,
        details={
            "wall": wall,
            "preflight again, s": statistics.median(each.preflight.work for each in found),
            **{each.project: each.work for each in found},
        },
        notes=(f"load of the machine meanwhile: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",),
    )


if __name__ == "__main__":
    print(measure())
    sys.exit(0)
