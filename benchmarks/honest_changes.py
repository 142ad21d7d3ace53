"""Replay changes that people made as candidates of a loop, through the real verification; one JSON line for each.

`python -m benchmarks.honest_changes [--count N] [--commit SHA ...] FOLDER ... > changes.jsonl`

A FOLDER is a clone with an environment that its tests run in (a `.venv`, `node_modules`), or holds such clones.
`loop setup` writes the checks unless there is a `loop.toml`. Of each clone the newest N commits that touch product and
are green on this machine are taken: the first parent is the base and is checked out meanwhile, the message is the task.
A commit whose base or whole tree is red says nothing: its outcome is `red-here`, and another one is taken.

The maker answers every question with the same tree, and the question for a witness with `no_test`. `outcome` is that of
a loop that leaves its result on a branch, `merged` that of one that merges, where `unshown` stands apart.
`python -m benchmarks.honest_changes --table FILE ...` prints a table of such lines. Opt-in: it takes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.measuring import processor_seconds, processor_time
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.from_settings import command_checks
from loopwright.config.loop_toml import load_settings
from loopwright.errors import EngineError
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import describe
from loopwright.kernel.gates import UNSHOWN, matches
from loopwright.kernel.judges import is_source, judge_by_name
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.kernel.trust import Classed, HiddenTests, Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.weighing import Failed, ShowPolicy, Waits, Weighed, is_told_once, weighed
from loopwright.ports.agent import Update
from loopwright.ports.checks import ChecksRun
from loopwright.testing.memory_store import Memory, MemoryStore

OUTCOMES = ("whole", "held", "waits", "stopped", "red-here")
_LOOK_BACK = 400  # commits of a history
_NEWEST = ("--first-parent", "--min-parents=1", "-m", "--name-only", "--format=%x00%H")

_NOT_REPLAYED = (EngineError, OSError, subprocess.CalledProcessError)


class OneHand(MemoryStore):
    """A store that trusts every receipt: all are of this very process, so that a base runs once."""

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:  # noqa: ARG002 - the port's
        return bool(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How a loop with a candidate ends."""

    outcome: str  # of OUTCOMES
    merged: str = ""  # the same with --merge: of OUTCOMES, or `unshown`
    sentence: str = ""  # what a person reads
    level: str = ""
    witnesses: tuple[str, ...] = ()
    same_product: bool = False  # equal after parsing: comments and formatting
    held: tuple[str, ...] = ()
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest(Judged):
    project: str
    commit: str
    subject: str
    kinds: Mapping[str, int]  # paths by class
    verification_cpu_s: float = 0.0
    bare_cpu_s: float = 0.0


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def check_out(folder: Path, commit: str) -> None:
    git(folder, "checkout", "-q", "--force", "--detach", commit)


class History:
    """A clone with its environment, and the checks that `loop setup` wrote for it."""

    def __init__(
        self, folder: Path, *, environ: Mapping[str, str] | None = None, memory: Memory | None = None, parallel: int = 4
    ) -> None:
        self.folder = folder
        plain = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        self.environ = {**plain, "PYTHONPATH": ""} if environ is None else dict(environ)
        if not (folder / "loop.toml").exists():
            loop = [sys.executable, "-m", "loopwright.cli.main", "setup"]
            subprocess.run(loop, cwd=folder, env=self.environ, check=True, capture_output=True)
        clock = SystemClock()
        settings = load_settings(folder)
        self.settings = replace(settings, limits=replace(settings.limits, parallel=parallel))
        self.checks: CommandChecks = command_checks(
            self.settings, OneHand(memory or Memory(), clock), clock, root=folder, environ=self.environ
        )

    def newest(self) -> list[str]:
        """Return the newest commits that touch product, judged by names, which is quick."""
        log = git(self.folder, "log", *_NEWEST, f"-{_LOOK_BACK}")
        commits = (each.split() for each in log.split("\0") if each)
        return [commit for commit, *paths in commits if any(map(self.is_product, paths))]

    def is_product(self, path: str) -> bool:
        is_judge = self.is_test(path) or judge_by_name(path) is not None
        patterns = self.settings.workspace.product
        return is_source(path) and not is_judge and any(matches(path, each) for each in patterns)

    def is_test(self, path: str) -> bool:
        return any(matches(path, each) for each in self.settings.workspace.tests)

    async def replay(self, commit: str) -> Honest:
        base, candidate = Commit(git(self.folder, "rev-parse", f"{commit}^1")), Commit(commit)
        check_out(self.folder, candidate)
        bare = processor_seconds(self.run_bare)
        check_out(self.folder, base)  # as a person has it who starts a loop
        classed = await self.checks.classifier.classify(base, candidate)
        message = git(self.folder, "log", "-1", "--format=%B", commit)
        row = Honest(
            project=self.folder.name,
            commit=commit[:10],
            subject=message.splitlines()[0][:72],
            kinds=_kinds(classed),
            outcome="red-here",
            bare_cpu_s=bare,
        )
        before = await self.verify(base, base, "preflight")
        if before.unable or not _is_green(before):
            return replace(row, sentence=f"the base: {_failures(before)}")
        began = processor_time()
        judged = await self.judge(base, candidate, message)
        spent = processor_time() - began
        if judged.outcome == "stopped" and not _is_green(await self.verify(candidate, candidate, "preflight")):
            return replace(row, sentence=f"the commit: {judged.sentence}")
        return replace(row, **asdict(judged), verification_cpu_s=spent)

    async def judge(self, base: Commit, candidate: Commit, task: str, *, hidden: tuple[str, ...] = ()) -> Judged:
        """Verify a candidate whose base is checked out, and say how a loop with this task ends."""
        report = await self.verify(candidate, base, "checks", hidden)
        plan = FeedbackParams(task=task, base=base, trust=Trust(in_force=True, base=base))
        outcome, sentence = _end(plan, report, candidate, merges=False)
        return Judged(
            outcome=outcome,
            merged=_end(plan, report, candidate, merges=True)[0],
            sentence=sentence,
            level=report.evidence.level if report.evidence else "",
            witnesses=tuple(each.id for each in report.evidence.witnesses) if report.evidence else (),
            same_product=report.same_product,
            held=tuple(change.path for change in report.held),
            wall_s=report.seconds,
        )

    def run_bare(self) -> bool:
        """Run the commands of the checks on what is checked out, and return whether all pass."""
        runs = [
            subprocess.run(spec.run, cwd=self.folder, env=self.environ, check=False, capture_output=True)
            for spec in self.settings.checks
        ]
        return all(each.returncode == 0 for each in runs)

    async def verify(self, commit: Commit, base: Commit, step: str, hidden: tuple[str, ...] = ()) -> ChecksReported:
        run = ChecksRun(
            loop=LoopId("honest"),
            key=Key.parse(f"{step}-1.1"),
            step=f"{step} {commit}",
            commit=commit,
            base=base,
            trust=Trust(base=base, in_force=True),
            preflight=step == "preflight",
            hidden=HiddenTests(files=hidden),
        )
        return await self.checks.run(run, _unwatched)


def _unwatched(_: Update) -> None:
    """Show nothing."""


def _end(plan: FeedbackParams, report: ChecksReported, candidate: Commit, *, merges: bool) -> tuple[str, str]:
    """Return how a loop ends whose maker leaves its tree as it is, and the sentence that a person reads."""
    state, told = FEEDBACK.start(plan), frozenset[str]()
    while True:
        policy = ShowPolicy(asks=True, merges=merges)
        state, verdict = weighed(state, report, candidate, (plan.task,), policy=policy)
        rules = frozenset(each.rule for each in verdict.faults) if isinstance(verdict, Failed) else told
        if rules <= told or not isinstance(verdict, Failed) or not is_told_once(verdict.faults):
            return _outcome(verdict, report)
        told |= rules


def _outcome(verdict: Weighed, report: ChecksReported) -> tuple[str, str]:
    if isinstance(verdict, Waits):
        gate = verdict.gate
        paths = ", ".join(change.path for change in gate.because)
        return "unshown" if gate.gate == UNSHOWN else "waits", f"{gate.gate}: {paths}: {gate.why}"
    if isinstance(verdict, Failed):
        return "stopped", "; ".join(f"{finding.rule}: {finding.issue}" for finding in verdict.faults)[:600]
    return "held" if report.held else "whole", describe(report.evidence) if report.evidence else ""


def _kinds(classed: tuple[Classed, ...]) -> dict[str, int]:
    return dict(Counter(str(each.kind) for each in classed))


def _is_green(report: ChecksReported) -> bool:
    return bool(report.results) and all(result.passed for result in report.results)


def _failures(report: ChecksReported) -> str:
    failures = [finding.issue for result in report.results for finding in result.failures]
    return "; ".join((*report.unable, *failures))[:200]


def replay_all(folder: Path, count: int, commits: list[str]) -> Iterator[Honest]:
    """Replay these commits, or the newest ones; one that cannot be replayed yields a row that says why."""
    stood = git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    try:
        for commit in commits or History(folder).newest():
            row = _replay_one(folder, commit)
            yield row
            count -= row.outcome != "red-here"
            if not (count or commits):
                break
    except _NOT_REPLAYED as error:
        yield _not_replayed(folder, "", error)
    finally:
        if stood != "HEAD":
            git(folder, "checkout", "-q", "--force", stood)


def _replay_one(folder: Path, commit: str) -> Honest:
    """Nothing is known of another commit: a receipt of its runs would make this one look cheap."""
    try:
        return asyncio.run(History(folder).replay(commit))
    except _NOT_REPLAYED as error:
        return _not_replayed(folder, commit, error)


def _not_replayed(folder: Path, commit: str, error: Exception) -> Honest:
    said = f"not replayed: {error}"[:300]
    return Honest(project=folder.name, commit=commit[:10], subject="", kinds={}, outcome="red-here", sentence=said)


def clones_in(folders: list[Path]) -> list[Path]:
    """Return the folders that are repositories, and the repositories directly inside the others."""
    inside = (each for folder in folders for each in ([folder] if _is_clone(folder) else sorted(folder.iterdir())))
    return [each.resolve() for each in inside if _is_clone(each)]


def _is_clone(folder: Path) -> bool:
    return (folder / ".git").exists()


def table(rows: list[Honest]) -> str:
    """Return a line for each project, and one for each change that does not simply land."""
    columns = ("project", "changes", "with tests", *OUTCOMES, "shown", "unshown at a merge", "CPU / bare")
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    names = dict.fromkeys(row.project for row in rows)
    for name, group in [*((name, [row for row in rows if row.project == name]) for name in names), ("all", rows)]:
        lines.append(f"| {name} | {' | '.join(map(str, _cells(group)))} |")
    lines += ["", "| change | subject | outcome | sentence |", "|---|---|---|---|"]
    for row in rows:
        if row.outcome != "whole":
            told = f"{', '.join(row.held)}: {row.sentence}" if row.outcome == "held" else row.sentence
            lines.append(f"| {row.project} {row.commit} | {row.subject} | {row.outcome} | {told} |")
    return "\n".join(lines)


def _cells(rows: list[Honest]) -> Iterator[object]:
    taken = [row for row in rows if row.outcome != "red-here"]
    outcomes = Counter(row.outcome for row in rows)
    ratios = [row.verification_cpu_s / row.bare_cpu_s for row in taken if row.bare_cpu_s]
    yield len(taken)
    yield sum(any("test" in kind for kind in row.kinds) for row in taken)
    yield from (outcomes[outcome] for outcome in OUTCOMES)
    yield sum(row.level == "shown" for row in taken)
    yield sum(row.merged == "unshown" for row in taken)
    yield round(statistics.median(ratios), 2) if ratios else ""


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.honest_changes", description=__doc__)
    parser.add_argument("--count", type=int, default=8, help="commits of each project")
    parser.add_argument("--commit", action="append", default=[], help="take these instead of the newest")
    parser.add_argument("--table", action="store_true", help="the arguments are files of lines; print a table of them")
    parser.add_argument("places", nargs="+", type=Path)
    asked = parser.parse_args(words)
    if asked.table:
        lines = "".join(place.read_text() for place in asked.places).splitlines()
        print(table([Honest(**json.loads(line)) for line in lines]))
        return 0
    for folder in clones_in(asked.places):
        for row in replay_all(folder, asked.count, asked.commit):
            print(json.dumps(asdict(row)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
