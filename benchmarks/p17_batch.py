"""P17: a batch review of many artifacts, against agents that only ever wait for a free place.

The ideal is what the phases take when no agent's place is ever empty: for each of them (all reviewed, the blocked
ones fixed, those reviewed again) the bare run of the agent times the turns that so many places need.
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Figure, seconds
from benchmarks.sample import git, open_sample
from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.readiness import make_ready
from loopwright.app.starts.review import ReviewRequest, create_review
from loopwright.app.worlds import build_world
from loopwright.config.loop_toml import read_settings
from loopwright.engine.driver import drive
from loopwright.kernel.model import Ending

GOAL = 1.1
BLOCKED_SHARE = 5  # one in so many is blocked by its first review
# Nothing but the shell and `sleep`: an interpreter that starts would be measured with it.
AGENT = """#!/bin/sh
sleep {pause}
while read -r line; do
  case $line in '"open/'*|'"blocked/'*) artifact=${{line#?}}; artifact=${{artifact%%'"'*}}; break;; esac
done < "$LOOP_CONTEXT"
said='"status": "done", "summary": "looked", "usage": {{"usd": 0}}'
case $LOOP_ROLE-$LOOP_ATTEMPT-$artifact in
  reviewer-1-blocked/*)
    found='"severity": "critical", "rule": "r", "issue": "it is short", "evidence": "line 1", "guidance": "add a line"'
    found="$found, \\"file\\": \\"$artifact\\""
    printf '{{%s, "verdict": "fail", "findings": [{{%s}}]}}' "$said" "$found" > "$LOOP_RESULT";;
  creator-*) echo fixed >> "$artifact"; printf '{{%s}}' "$said" > "$LOOP_RESULT";;
  *) printf '{{%s, "verdict": "pass"}}' "$said" > "$LOOP_RESULT";;
esac
"""
CONFIG = """version = 1
[agents.it]
kind = "command"
argv = ["{agent}"]
[roles]
default = "it"
[limits]
parallel = {parallel}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    artifacts: int
    parallel: int
    pause: float = 2.0

    @property
    def blocked(self) -> int:
        return self.artifacts // BLOCKED_SHARE

    @property
    def turns(self) -> int:
        """How often in turn every place is taken, over all phases."""
        phases = (self.artifacts, self.blocked, self.blocked)
        return sum(math.ceil(count / self.parallel) for count in phases)

    @property
    def runs(self) -> int:
        return self.artifacts + 2 * self.blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    load: Load
    wall: float
    bare: float  # of one run of the agent, alone
    cpu: float  # of the controller itself, its children not counted

    @property
    def ratio(self) -> float:
        return self.wall / (self.bare * self.load.turns)


def make_batch(folder: Path, load: Load) -> Path:
    repository = folder / "repository"
    agent = folder / "agent"
    agent.write_text(AGENT.format(pause=load.pause))
    agent.chmod(0o755)
    for number in range(load.artifacts):
        kind = "blocked" if number % BLOCKED_SHARE == 0 else "open"
        path = repository / kind / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"artifact {number}\n")
    (repository / "loop.toml").write_text(CONFIG.format(agent=agent, parallel=load.parallel))
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "begin")
    return repository


def bare_run(folder: Path, rounds: int = 3) -> float:
    """Seconds of the agent alone, as no engine starts it."""
    context = folder / "bare-context.json"
    context.write_text('{\n  "artifacts": [\n    "open/0001.txt"\n  ]\n}\n')
    told = {"LOOP_ROLE": "reviewer", "LOOP_ATTEMPT": "1", "LOOP_CONTEXT": str(context)}
    env = {**os.environ, **told, "LOOP_RESULT": str(folder / "bare-result.json")}
    return statistics.median(
        seconds(lambda: subprocess.run([folder / "agent"], check=True, env=env)) for _ in range(rounds)
    )


async def review_all(repository: Path) -> None:
    """One batch over both folders, to its end, with the files that people read."""
    project = open_sample(repository)
    try:
        settings = read_settings((repository / "loop.toml").read_text(), "loop.toml")
        request = ReviewRequest(paths=("open", "blocked"), batch=True)
        loop = await create_review(project, settings, request, repository)
        ready = await make_ready(project, loop, print)
        world = build_world(project, ready, people=Nobody(), observer=ready.publisher)
        halt = await drive(world, ready.seen.opened)
        if halt.outcome is None or halt.outcome.ending is not Ending.REVIEWED:
            raise RuntimeError(f"the batch did not end reviewed: {halt}")
    finally:
        await project.store.close()


def take(load: Load) -> Taken:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository = make_batch(folder, load)
        bare = bare_run(folder)
        before = _own_cpu()
        wall = seconds(lambda: asyncio.run(review_all(repository)))
        return Taken(load=load, wall=wall, bare=bare, cpu=_own_cpu() - before)


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(*, smoke: bool = False) -> Figure:
    """Return the figure for four places, the default; eight places and an instant agent are details."""
    if smoke:
        wholes = [take(Load(artifacts=BLOCKED_SHARE, parallel=4, pause=0.0))]
        eight = instant = wholes[0]
    else:
        wholes = [take(Load(artifacts=200, parallel=4)) for _ in range(2)]
        eight = take(Load(artifacts=200, parallel=8))
        instant = take(Load(artifacts=40, parallel=8, pause=0.0))
    ratios = [taken.ratio for taken in wholes]
    value = statistics.median(ratios)
    return Figure(
        name="P17",
        what="a batch review of 200 artifacts by 2 s agents, 4 at once; one in five is fixed and reviewed again",
        against="the bare agent's seconds x the turns that 4 places need",
        value=value,
        low=min(ratios),
        high=max(ratios),
        goal=f"<= {GOAL}",
        met=value <= GOAL,
        details={
            "wall_s": statistics.median(taken.wall for taken in wholes),
            "ideal_s": wholes[0].bare * wholes[0].load.turns,
            "ratio_of_8_at_once": eight.ratio,
            "ms_per_run_of_an_instant_agent": instant.wall / instant.load.runs * 1000,
            "controller_cpu_ms_per_run": statistics.median(t.cpu / t.load.runs for t in wholes) * 1000,
        },
        notes=("The first turn of a phase starts all at once: the fewer turns a phase has, the higher the ratio.",),
    )


def main(artifacts: str, parallel: str, pause: str = "2") -> None:
    """One run of a chosen size; with a pause of 0 it shows what the engine itself takes."""
    taken = take(Load(artifacts=int(artifacts), parallel=int(parallel), pause=float(pause)))
    own = f"{taken.cpu / taken.load.runs * 1000:.1f} ms of the controller's CPU per run of an agent"
    print(f"{taken.wall:.2f} s, {taken.ratio:.3f} of the ideal, {taken.load.runs} runs, {own}")


if __name__ == "__main__":
    main(*sys.argv[1:])
