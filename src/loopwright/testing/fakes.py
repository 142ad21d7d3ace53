"""Scripted stand-ins for every port but the store: what the engine meets in its own tests.

Each keeps its facts outside itself (in the lists and dicts it is given), so that a new instance
after a simulated crash finds again what the old one did, as the real adapters do.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.engine.world import Seen
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import ChecksReported, Said
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    Change,
    CheckResult,
    Cleanup,
    Commit,
    Conflict,
    Content,
    Demand,
    Finding,
    LoopId,
    Tree,
)
from loopwright.kernel.risks import AddedText
from loopwright.kernel.trust import FailedHiddenTest, Trust
from loopwright.ports.agent import AgentAnswer, AgentRun, Update, Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined
from loopwright.ports.people import Reply, Waiting
from loopwright.ports.workspace import Combination, Combining, Landing, Merge, Moved, Snapshot, Taking
from loopwright.testing.scripted_checks import result_of

AgentScript = Callable[[AgentRun], AgentAnswer]


@dataclass(slots=True)
class ScriptedAgent:
    """Answers by a function; remembers every run it was asked for."""

    script: AgentScript
    runs: list[AgentRun] = field(default_factory=list)
    usd: float = 0.0

    def reservation(self, role: str, agent: str = "") -> float:
        return self.usd

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        await asyncio.sleep(0)
        self.runs.append(run)
        return self.script(run)

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return None


@dataclass(slots=True)
class ScriptedVerdicts:
    """Checks that answer by a function of the run."""

    script: Callable[[ChecksRun], tuple[CheckResult, ...]]
    runs: list[ChecksRun] = field(default_factory=list)
    gated: Callable[[], tuple[Change, ...]] = tuple  # what of every candidate a person has to approve
    is_new_test: Callable[[str], bool] = lambda _path: False
    is_met: Callable[[ChecksRun, Demand], bool] = lambda _run, _demand: True
    was_met: Callable[[ChecksRun, Demand], bool] = lambda _run, _demand: False  # before the work on it starts
    compared: Compared = Compared(code=("a.py",))
    hidden_faults: Callable[[ChecksRun], tuple[Finding, ...]] = lambda _run: ()  # what is wrong with acceptance tests

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        await asyncio.sleep(0)
        self.runs.append(run)
        tree = Tree(f"tree-{run.commit}")
        if run.demands_only:
            before = tuple(result_of(each, is_met=self.was_met(run, each)) for each in run.also)
            return ChecksReported(key=run.key, tree=tree, results=(), also=before)
        if run.hidden.must_fail:
            hidden = tuple(FailedHiddenTest(id=f"{file}::test", file=file) for file in run.hidden.files)
            return ChecksReported(key=run.key, tree=tree, results=(), findings=self.hidden_faults(run), hidden=hidden)
        held, results = (await self.examine(run.commit, run.trust, run.approved)).held, self.script(run)
        is_due = not run.preflight and all(result.passed for result in results)
        also = tuple(result_of(each, is_met=self.is_met(run, each)) for each in run.also) if is_due else ()
        return ChecksReported(key=run.key, tree=tree, results=results, held=held, lands=tree, also=also)

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        gated = self.gated()
        held = tuple(change for change in gated if change not in approved)
        return Examined(gated=gated, evidence=evidence(gated), held=held)

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        return self.is_new_test

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        return self.compared


@dataclass(slots=True)
class MemoryWorkspace:
    """Commits are names; a snapshot made twice for one label is the same snapshot.

    `changes` are what every workspace holds against its base, `changes_in` what those of these names hold instead;
    `holds` are the files of commits: path to object.
    """

    commits: dict[str, Snapshot] = field(default_factory=dict)
    branches: dict[str, Commit] = field(default_factory=dict)
    changes: tuple[Change, ...] = (Change(path="a.py", how="changed", blob="1"),)
    changes_in: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    cleaned: list[Cleanup] = field(default_factory=list)
    stay: tuple[str, ...] = ()  # folders that cannot be removed
    holds: dict[Commit, dict[str, str]] = field(default_factory=dict)
    combined: dict[str, Combination] = field(default_factory=dict)

    async def prepare(self, loop: LoopId, name: str, at: Commit, step: str) -> Path:
        return Path("/workspace") / name

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        return Path("/checkout") / at

    async def remove_others(self, loop: LoopId, name: str) -> None:
        return None

    async def discard(self, folder: Path) -> None:
        return None

    async def snapshot(self, taking: Taking) -> Snapshot:
        name = f"{taking.loop}/{taking.label}"
        if name not in self.commits:
            changes = self.changes_in.get(taking.name, self.changes)
            taken = tuple(
                change
                for change in changes
                if not (taking.only or taking.welcome_only)
                or change.path in taking.also
                or _is_below(change.path, taking.only)
                or taking.welcome(change.path)
                or (taking.new_files and change.how == "added")
            )
            dropped = tuple(sorted(change.path for change in changes if change not in taken))
            commit = Commit(_digest(name))
            self.holds[commit] = _with(self.holds.get(taking.parent, {}), taken)
            self.commits[name] = Snapshot(commit=commit, tree=Tree(f"tree-{commit}"), changes=taken, dropped=dropped)
        return self.commits[name]

    async def contents(self, commit: Commit, paths: tuple[str, ...]) -> tuple[Content, ...]:
        files = self.holds.get(commit, {})
        return tuple(Content(path=path, object=_object(files, path)) for path in paths)

    async def texts(self, commit: Commit, paths: tuple[str, ...], limit: int) -> tuple[str | None, ...]:
        files = self.holds.get(commit, {})
        return tuple(
            files[path].encode()[:limit].decode("utf-8", "replace") if path in files else None for path in paths
        )

    async def changed(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        return _changes(self.holds.get(base, {}), self.holds.get(commit, {}))

    async def added(self, base: Commit, commit: Commit, limit: int) -> tuple[AddedText, ...]:
        before, held = self.holds.get(base, {}), self.holds.get(commit, {})
        paths = [change.path for change in await self.changed(base, commit) if change.path in held]
        return tuple(_added(path, before.get(path, ""), held[path], limit) for path in paths)

    async def combine(self, wanted: Combining) -> Combination:
        """Two commits conflict when they hold different things at a path that both changed."""
        if wanted.step not in self.combined:
            parts = (wanted.loop, wanted.label, wanted.base, wanted.commits, wanted.keep)
            name = Commit(_digest(repr(parts)))  # killed and made again, it is the same
            made = self._combine(name, wanted)
            self.combined[wanted.step] = self._keeping(name, wanted.base, made, wanted.keep)
        return self.combined[wanted.step]

    def _keeping(
        self, name: Commit, base: Commit, made: Combination, keep: tuple[tuple[Commit, str], ...]
    ) -> Combination:
        files = dict(self.holds.get(made.commit, {}))
        wanted = {path: self.holds.get(commit, {}).get(path) for commit, path in keep}
        kept = tuple(sorted(path for path, content in wanted.items() if files.get(path) != content))
        if not kept:
            return made
        for path in kept:
            content = wanted[path]
            files.pop(path, None) if content is None else files.__setitem__(path, content)
        changes = tuple(_changes(self.holds.get(base, {}), files))
        commit = name if changes else base
        self.holds[commit] = files
        return Combination(commit=commit, changes=changes, left_out=made.left_out, kept=kept)

    def _combine(self, name: Commit, wanted: Combining) -> Combination:
        start, so_far, left_out = self.holds.get(wanted.base, {}), dict[str, Change](), list[Conflict]()
        for commit, made_on in {commit: start for start, commit in wanted.deltas}.items():
            before = self.holds.get(made_on, {})
            found = _changes(before, self.holds.get(commit, {}))
            now = _with(start, tuple(so_far.values()))
            against = {
                each.path for each in found if now.get(each.path, "") not in (before.get(each.path, ""), each.blob)
            }
            if paths := tuple(each.path for each in found if each.path in against):
                left_out.append(Conflict(commit=commit, paths=paths))
                found = tuple(_marked(each, now) if each.path in against else each for each in found)
            if wanted.marks or not paths:
                so_far |= {change.path: change for change in found}
        changes = tuple(so_far[path] for path in sorted(so_far))
        commit = name if changes else wanted.base
        self.holds[commit] = _with(start, changes)
        return Combination(commit=commit, changes=changes, left_out=tuple(left_out))

    async def diff(self, base: Commit, commit: Commit, *, limit: int, only: tuple[str, ...] = ()) -> str:
        return f"diff {base}..{commit}"[:limit]

    async def tree(self, commit: Commit) -> Tree:
        return Tree(f"tree-{commit}")

    async def land(self, landing: Landing) -> Snapshot:
        if landing.moves:
            self.branches[landing.branch] = landing.commit
        tree = landing.tree or Tree(f"tree-{landing.commit}")
        return Snapshot(commit=landing.commit, tree=tree, changes=self.changes)

    async def branch(self, loop: LoopId) -> str:
        return f"loop/{loop}"

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        onto = self.branches.get(target, Commit("base"))
        return Merge(onto=onto, commit=commit, tree=Tree(f"tree-{commit}"), fast_forward=onto == "base")

    async def advance(self, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
        self.branches[target] = commit
        return Moved(how="done")

    async def clean_up(self, loop: LoopId, choice: Cleanup, branch: str = "") -> tuple[str, ...]:
        self.cleaned.append(choice)
        return self.stay


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def _is_below(path: str, entries: tuple[str, ...]) -> bool:
    return any(path == entry or path.startswith(f"{entry}/") for entry in entries)


def _with(files: Mapping[str, str], changes: tuple[Change, ...]) -> dict[str, str]:
    after = {**files, **{change.path: change.blob for change in changes}}
    return {path: after[path] for path in sorted(after) if after[path]}


def _marked(theirs: Change, ours: Mapping[str, str]) -> Change:
    both = f"<<<<<<< \n{ours.get(theirs.path, '')}=======\n{theirs.blob}>>>>>>> \n"
    return replace(theirs, how="changed", blob=both)


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    paths = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    return tuple(_change(path, old.get(path, ""), new.get(path, "")) for path in paths)


def _change(path: str, old: str, new: str) -> Change:
    if not new:
        return Change(path=path, how="removed")
    return Change(path=path, how="changed" if old else "added", blob=new)


def _added(path: str, old: str, new: str, limit: int) -> AddedText:
    if len(new.encode()) > limit or "\0" in new:
        return AddedText(path=path, whole=False)
    before, after = (text.removesuffix("\n").split("\n") for text in (old, new))
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    new_ones = [number for kind, _, _, first, last in steps if kind != "equal" for number in range(first, last)]
    return AddedText(path=path, lines=tuple((number + 1, after[number]) for number in new_ones))


def _object(files: Mapping[str, str], path: str) -> str:
    """That of a folder stands for all it holds."""
    below = sorted(item for item in files.items() if item[0].startswith(f"{path}/"))
    return files.get(path, _digest(repr(below)) if below else "")


@dataclass(slots=True)
class ScriptedPeople:
    """Says the next thing of its list to the first that is asked, then is gone."""

    says: list[Callable[[ForPeople], Said]] = field(default_factory=list)
    asked: list[Waiting] = field(default_factory=list)

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        self.asked.extend(waiting)
        first = waiting[0]
        return Reply(loop=first.loop, said=self.says.pop(0)(first.what)) if self.says else None


@dataclass(slots=True)
class Recorder:
    """An observer that remembers."""

    seen: list[Seen] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)

    def recorded(self, seen: Seen) -> None:
        self.seen.append(replace(seen))

    def progressed(self, update: Update) -> None:
        self.updates.append(update)
