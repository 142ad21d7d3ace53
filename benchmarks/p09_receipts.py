"""P9: verifying an unchanged tree again, against running its checks."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from pathlib import Path

from benchmarks.measuring import Figure, in_turn, seconds
from benchmarks.sample import git, make_repository, open_sample
from loopwright.adapters.from_settings import command_checks
from loopwright.config.loop_toml import read_settings
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.ports.checks import ChecksRun

CHECK = "import time; time.sleep(2)"  # a test suite of two seconds


def measure() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        repository = make_repository(Path(folder), code=CHECK)
        base = Commit(git(repository, "rev-parse", "HEAD"))
        project = open_sample(repository)
        settings = read_settings((repository / "loop.toml").read_text(), "loop.toml")
        checks = command_checks(settings, project.store, project.clock, root=repository, environ=project.environ)
        numbers = itertools.count()

        def verify(commit: Commit) -> None:
            run = ChecksRun(loop=LoopId("bench"), key=Key("checks"), step=f"s{next(numbers)}", commit=commit, base=base)
            report = asyncio.run(checks.run(run, lambda _: None))
            if not all(result.passed for result in report.results):
                raise RuntimeError(f"the sample check failed: {report}")

        def changed() -> Commit:
            (repository / "work.txt").write_text(f"change {next(numbers)}\n")
            git(repository, "commit", "-qam", "change")
            return Commit(git(repository, "rev-parse", "HEAD"))

        def first() -> float:
            commit = changed()
            return seconds(lambda: verify(commit))

        same = changed()
        verify(same)
        pairs = in_turn(lambda: seconds(lambda: verify(same)), first)
        asyncio.run(project.store.close())
    return Figure(
        name="P9",
        what="verifying an unchanged tree again",
        against="running its checks (two seconds)",
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
