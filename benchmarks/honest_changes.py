"""Changes that people really made, verified and weighed as if an agent had made them; prints what came of each.

`python -m benchmarks.honest_changes FOLDER [COUNT] [COMMIT ...]` takes a clone with an environment that its tests run
in (a `.venv`, `node_modules`), lets `loop setup` write the checks, and takes the newest COUNT changes of the history
that touch product, and the newest one that is documentation alone: each commit is a candidate, its first parent the
base (and what is checked out meanwhile), its message the task.
`python -m benchmarks.honest_changes --table FILE ...` makes one table of what was printed.
A change whose base or whole tree is red here is no honest case: it is counted and left out. Opt-in: it takes long.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.from_settings import command_checks
from loopwright.config.loop_toml import load_settings
from loopwright.errors import EngineError
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source, is_text, judge_by_name
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.kernel.trust import Classed, FileClass, Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.weighing import Failed, Waits, Weighed, weighed
from loopwright.ports.agent import Update
from loopwright.ports.checks import ChecksRun
from loopwright.testing.memory_store import Memory, MemoryStore

_LOOK_BACK = 400  # changes of a history


class OneHand(MemoryStore):
    """All receipts are of this very process, so that a base is run once."""

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:  # noqa: ARG002 - the port's
        return bool(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest:
    project: str
    commit: str
    subject: str
    kinds: dict[str, int]  # paths by class
    outcome: str  # lands, held back, waits, told, stopped; "red" where it is no honest case
    why: str = ""
    held: tuple[str, ...] = ()
    seconds: float = 0.0


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class History:
    """One clone with its environment, and the checks that `loop setup` wrote for it."""

    def __init__(self, folder: Path, *, memory: Memory | None = None, parallel: int = 4) -> None:
        self.folder = folder
        plain = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        self.environ = {**plain, "PYTHONPATH": ""}
        if not (folder / "loop.toml").exists():
            loop = [sys.executable, "-m", "loopwright.cli.main", "setup"]
            subprocess.run(loop, cwd=folder, env=self.environ, check=True, capture_output=True)
        clock = SystemClock()
        settings = load_settings(folder)
        self.settings = replace(settings, limits=replace(settings.limits, parallel=parallel))
        self.checks: CommandChecks = command_checks(
            self.settings, OneHand(memory or Memory(), clock), clock, root=folder, environ=self.environ
        )

    def chosen(self, count: int) -> list[str]:
        """The newest that touch product, and one that is only documentation; told by names, which is quick."""
        product: list[str] = []
        texts: list[str] = []
        log = git(self.folder, "log", "--first-parent", "-m", "--name-only", "--format=%x00%H", f"-{_LOOK_BACK}")
        for commit, *paths in (each.split() for each in log.split("\0") if each):
            if any(self._is_code(path) for path in paths):
                product.append(commit)
            elif paths and all(is_text(path) for path in paths):
                texts.append(commit)
        return [*product[:count], *texts[:1]]

    def _is_code(self, path: str) -> bool:
        patterns = self.settings.workspace
        is_test = any(matches(path, each) for each in patterns.tests)
        is_judge = is_test or judge_by_name(path) is not None
        return is_source(path) and not is_judge and any(matches(path, each) for each in patterns.product)

    async def weigh(self, commit: str) -> Honest:
        base, candidate = Commit(git(self.folder, "rev-parse", f"{commit}^1")), Commit(commit)
        git(self.folder, "checkout", "-q", "--detach", base)  # as a person has it who starts a loop
        classed = await self.checks.classifier.classify(base, candidate)
        message = git(self.folder, "log", "-1", "--format=%B", commit)
        row = Honest(
            project=self.folder.name,
            commit=commit[:10],
            subject=message.splitlines()[0][:72],
            kinds={str(kind): number for kind, number in _kinds(classed).items()},
            outcome="red",
        )
        before = await self.ran(base, base, "preflight")
        if before.unable or not _is_green(before):
            return replace(row, why=f"the base: {_shown(before)}")
        report = await self.ran(candidate, base, "checks")
        plan = FeedbackParams(task=message, base=base, trust=Trust(in_force=True, base=base))
        _, said = weighed(FEEDBACK.start(plan), report, candidate, (message,))
        outcome, why = self._told(said, report)
        if outcome == "stopped" and not await self._is_whole_green(candidate):
            outcome = "red"
        held = tuple(change.path for change in report.held)
        return replace(row, outcome=outcome, why=why, held=held, seconds=report.seconds)

    async def ran(self, commit: Commit, base: Commit, step: str) -> ChecksReported:
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

    async def _is_whole_green(self, commit: Commit) -> bool:
        """On its own, with its own tests and settings: as its people saw it."""
        return _is_green(await self.ran(commit, commit, "preflight"))

    def _told(self, said: Weighed, report: ChecksReported) -> tuple[str, str]:
        if isinstance(said, Waits):
            return "waits", f"{said.gate.gate}: {said.gate.why}"
        if isinstance(said, Failed):
            rules = {finding.rule for finding in said.faults}
            if "untested-change" in rules:
                return "told: untested", report.canary.sentence if report.canary else ""
            if report.claim is not None:
                return "told, then waits", f"protected: {', '.join(change.path for change in report.claim.changes)}"
            return "stopped", "; ".join(f"{finding.rule}: {finding.issue}" for finding in said.faults)[:300]
        return ("held back" if report.held else "lands"), report.canary.sentence if report.canary else ""


def _unwatched(_update: Update) -> None:
    """Nobody looks at single lines."""


def _kinds(classed: tuple[Classed, ...]) -> Counter[FileClass]:
    return Counter(each.kind for each in classed)


def _is_green(report: ChecksReported) -> bool:
    return bool(report.results) and all(result.passed for result in report.results)


def _shown(report: ChecksReported) -> str:
    failures = [finding.issue for result in report.results for finding in result.failures]
    return "; ".join((*report.unable, *failures))[:200]


async def _weigh_all(folder: Path, count: int, commits: list[str]) -> None:
    history = History(folder)
    stood = git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    for commit in commits or history.chosen(count):
        try:
            row = await history.weigh(commit)
        except EngineError as error:
            said = str(error)[:300]
            row = Honest(project=folder.name, commit=commit[:10], subject="", kinds={}, outcome="red", why=said)
        print(json.dumps(asdict(row)), flush=True)
    if stood != "HEAD":
        git(folder, "checkout", "-q", stood)


def table(rows: list[Honest]) -> str:
    """One line a project, one a change that does not simply land."""
    lines = [
        "| project | changes | with tests | land | of them something held back | wait | stopped | left out: red here |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|"]
    groups = {name: [row for row in rows if row.project == name] for name in dict.fromkeys(row.project for row in rows)}
    for name, group in [*groups.items(), ("all", rows)]:
        honest = [row for row in group if row.outcome != "red"]
        tests = sum(any("test" in kind for kind in row.kinds) for row in honest)
        by = Counter(row.outcome for row in honest)
        lands = by["lands"] + by["held back"]
        waits = len(honest) - lands - by["stopped"]
        cells = (name, len(honest), tests, lands, by["held back"], waits, by["stopped"], len(group) - len(honest))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| change | what | came to | why |", "|---|---|---|---|"]
    for row in rows:
        if row.outcome not in ("lands", "held back", "red"):
            lines.append(f"| {row.project} {row.commit} | {row.subject} | {row.outcome} | {row.why[:160]} |")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    if words[:1] == ["--table"]:
        text = "".join(Path(each).read_text() for each in words[1:])
        print(table([Honest(**json.loads(line)) for line in text.splitlines() if line.startswith("{")]))
        return 0
    folder, *rest = words
    count = int(rest.pop(0)) if rest and rest[0].isdigit() and len(rest[0]) < 4 else 8
    asyncio.run(_weigh_all(Path(folder).resolve(), count, rest))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
