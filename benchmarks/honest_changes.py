"""Replay changes that people made as candidates of a loop, through the real verification; one JSON line for each.

`python -m benchmarks.honest_changes [--count N] [--commit SHA ...] FOLDER ... > changes.jsonl`

A FOLDER is a clone with an environment that its tests run in (a `.venv`, `node_modules`), or holds such clones.
`loop setup` writes the checks unless there is a `loop.toml`. Of each clone the newest N commits that touch product are
taken: the first parent is the base and is checked out meanwhile, the message is the task. A commit whose base or whole
tree is red on this machine says nothing: its outcome is `red-here`.
`python -m benchmarks.honest_changes --table FILE ...` prints a table of such lines. Opt-in: it takes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
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
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source, judge_by_name
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.kernel.trust import Classed, Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.weighing import Failed, Waits, Weighed, weighed
from loopwright.ports.agent import Update
from loopwright.ports.checks import ChecksRun
from loopwright.testing.memory_store import Memory, MemoryStore

OUTCOMES = ("whole", "held", "waits", "stopped", "red-here")
_LOOK_BACK = 400  # commits of a history
_NEWEST = ("--first-parent", "--min-parents=1", "-m", "--name-only", "--format=%x00%H")
_ASKED_ONCE = frozenset({"no-witness"})  # rules that fail one attempt and stop no loop


_NOT_REPLAYED = (EngineError, OSError, subprocess.CalledProcessError)


class OneHand(MemoryStore):
    """A store that trusts every receipt: all are of this very process, so that a base runs once."""

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:  # noqa: ARG002 - the port's
        return bool(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest:
    project: str
    commit: str
    subject: str
    outcome: str  # of OUTCOMES
    sentence: str = ""
    evidence: object = None  # as the report has it
    kinds: Mapping[str, int]  # paths by class
    held: tuple[str, ...] = ()
    verification_cpu_s: float = 0.0
    bare_cpu_s: float = 0.0
    wall_s: float = 0.0


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

    def newest(self, count: int) -> list[str]:
        """Return the newest commits that touch product, judged by names, which is quick."""
        log = git(self.folder, "log", *_NEWEST, f"-{_LOOK_BACK}")
        commits = (each.split() for each in log.split("\0") if each)
        return [commit for commit, *paths in commits if any(map(self._is_product, paths))][:count]

    def _is_product(self, path: str) -> bool:
        patterns = self.settings.workspace
        is_test = any(matches(path, each) for each in patterns.tests)
        is_judge = is_test or judge_by_name(path) is not None
        return is_source(path) and not is_judge and any(matches(path, each) for each in patterns.product)

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
        report = await self.verify(candidate, base, "checks")
        spent = processor_time() - began
        plan = FeedbackParams(task=message, base=base, trust=Trust(in_force=True, base=base))
        _, verdict = weighed(FEEDBACK.start(plan), report, candidate, (message,))
        outcome, sentence = _outcome(verdict, report)
        if outcome == "stopped" and not _is_green(await self.verify(candidate, candidate, "preflight")):
            outcome = "red-here"
        return replace(
            row,
            outcome=outcome,
            sentence=sentence,
            evidence=_evidence(report),
            held=tuple(change.path for change in report.held),
            verification_cpu_s=spent,
            wall_s=report.seconds,
        )

    def run_bare(self) -> None:
        """Run the commands of the checks on what is checked out."""
        for spec in self.settings.checks:
            subprocess.run(spec.run, cwd=self.folder, env=self.environ, check=False, capture_output=True)

    async def verify(self, commit: Commit, base: Commit, step: str) -> ChecksReported:
        run = ChecksRun(
            loop=LoopId("honest"),
            key=Key.parse(f"{step}-1.1"),
            step=f"{step} {commit}",
            commit=commit,
            base=base,
            trust=Trust(base=base, in_force=True),
            preflight=step == "preflight",
        )
        return await self.checks.run(run, _unwatched)


def _unwatched(_: Update) -> None:
    """Show nothing."""


def _outcome(verdict: Weighed, report: ChecksReported) -> tuple[str, str]:
    """Return the outcome and the sentence that a person would read."""
    said = report.canary.sentence if report.canary else ""
    lands = "held" if report.held else "whole"
    if isinstance(verdict, Waits):
        return "waits", f"{verdict.gate.gate}: {verdict.gate.why}"
    if not isinstance(verdict, Failed):
        return lands, said
    rules = {finding.rule for finding in verdict.faults}
    issues = "; ".join(f"{finding.rule}: {finding.issue}" for finding in verdict.faults)[:300]
    if rules and rules <= _ASKED_ONCE:
        return lands, issues
    if "untested-change" in rules:
        return "waits", f"untested: {said}"
    if report.claim is not None:
        return "waits", f"protected: {', '.join(change.path for change in report.claim.changes)}"
    return "stopped", issues


def _evidence(report: ChecksReported) -> object:
    found = getattr(report, "evidence", None)
    return None if found is None else json.loads(encode(found))


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
        history = History(folder)
        for commit in commits or history.newest(count):
            try:
                yield asyncio.run(history.replay(commit))
            except _NOT_REPLAYED as error:
                yield _not_replayed(folder, commit, error)
    except _NOT_REPLAYED as error:
        yield _not_replayed(folder, "", error)
    finally:
        if stood != "HEAD":
            git(folder, "checkout", "-q", "--force", stood)


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
    lines = [f"| project | changes | with tests | {' | '.join(OUTCOMES)} |", "|---|---|---|---|---|---|---|---|"]
    groups = {name: [row for row in rows if row.project == name] for name in dict.fromkeys(row.project for row in rows)}
    for name, group in [*groups.items(), ("all", rows)]:
        by = Counter(row.outcome for row in group)
        tests = sum(any("test" in kind for kind in row.kinds) for row in group)
        cells = (name, len(group), tests, *(by[outcome] for outcome in OUTCOMES))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| change | subject | outcome | sentence |", "|---|---|---|---|"]
    for row in rows:
        if row.outcome in ("waits", "stopped"):
            lines.append(f"| {row.project} {row.commit} | {row.subject} | {row.outcome} | {row.sentence[:160]} |")
    return "\n".join(lines)


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
