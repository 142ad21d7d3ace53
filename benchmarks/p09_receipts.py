"""P9: verifying an unchanged tree again, against running its checks."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from pathlib import Path

from benchmarks.measuring import ROUNDS, Figure, in_turn, seconds
from benchmarks.sample import git, make_repository, open_sample
from loopwright.adapters.from_settings import command_checks
from loopwright.config.loop_toml import read_settings
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.ports.checks import ChecksRun
from loopwright.ports.store import Append, NewEvent, NewLoop

LOOP = LoopId("bench")
CHECK_SECONDS = 2.0


class Verifier:
    """A repository, its checks, and a loop whose log names every receipt: no other receipt counts."""

    def __init__(self, folder: Path, check_seconds: float) -> None:
        self.repository = make_repository(folder, code=f"import time; time.sleep({check_seconds})")
        self.project = open_sample(self.repository)
        settings = read_settings((self.repository / "loop.toml").read_text(), "loop.toml")
        store, clock, environ = self.project.store, self.project.clock, self.project.environ
        self.checks = command_checks(settings, store, clock, root=self.repository, environ=environ)
        self.base = Commit(git(self.repository, "rev-parse", "HEAD"))
        self._changes = itertools.count(1)
        self._fence = self._events = 0

    async def start(self) -> None:
        created = NewEvent(kind="Created", data=encode(Created(kind="bench", params="{}")))
        await self.project.store.create(NewLoop(id=LOOP, kind="bench", params="{}"), created)
        self._fence, self._events = await self.project.store.claim(LOOP, "bench"), 1

    async def verify(self, commit: Commit) -> bool:
        """Run the checks and record their report; return whether a receipt answered."""
        run = ChecksRun(loop=LOOP, key=Key("checks"), step=f"s{self._events}", commit=commit, base=self.base)
        report = await self.checks.run(run, lambda _: None)
        if not all(result.passed for result in report.results):
            raise RuntimeError(f"the sample check failed: {report}")
        batch = Append(entries=(NewEvent(kind="ChecksReported", data=encode(report)),))
        await self.project.store.append(LOOP, fence=self._fence, expected=self._events, batch=batch)
        self._events += 1
        return all(result.reused for result in report.results)

    def commit_change(self) -> Commit:
        (self.repository / "README.md").write_text(f"change {next(self._changes)}\n")
        git(self.repository, "commit", "-qam", "change")
        return Commit(git(self.repository, "rev-parse", "HEAD"))


def measure(*, smoke: bool = False) -> Figure:
    check_seconds, rounds = (0.05, 1) if smoke else (CHECK_SECONDS, ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        verifier = Verifier(Path(folder), check_seconds)
        asyncio.run(verifier.start())

        def timed(commit: Commit, *, reused: bool) -> float:
            answers: list[bool] = []
            took = seconds(lambda: answers.append(asyncio.run(verifier.verify(commit))))
            if answers != [reused]:
                raise RuntimeError(f"a receipt answered: {answers[0]}, expected: {reused}")
            return took

        same = verifier.commit_change()
        timed(same, reused=False)
        pairs = in_turn(lambda: timed(same, reused=True), lambda: timed(verifier.commit_change(), reused=False), rounds)
        asyncio.run(verifier.project.store.close())
    return Figure(
        name="P9",
        what="verifying an unchanged tree again",
        against=f"running its checks ({check_seconds:g} seconds)",
        value=pairs.median,
        low=min(pairs.ratios),
        high=max(pairs.ratios),
        goal="<= 0.02",
        met=pairs.median <= 0.02,
        details={
            "again_ms": statistics.median(pairs.ours) * 1000,
            "first_ms": statistics.median(pairs.theirs) * 1000,
        },
    )
