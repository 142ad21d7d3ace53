"""A world whose files are real enough to conflict, and whose checks read them: for the engine's own tests.

A file is a set of words. A tree is red where a word of it says so, or where two words that poison each other lie in it
without their cure; a command of a task looks for a word in a file. What lies below `tests/` takes part in judging: a
change there is held back. Commits are named by what they hold, refs keep them as git's would.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.findings import identify
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
    Severity,
    Tree,
)
from loopwright.kernel.risks import AddedText
from loopwright.kernel.trust import Trust
from loopwright.ports.agent import Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined
from loopwright.ports.workspace import Combination, Combining, Landing, Merge, Moved, Snapshot, Taking
from loopwright.testing.scripted_checks import result_of

Files = dict[str, frozenset[str]]
BROKEN = "broken"
JUDGES = "tests/"


def _name(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def changed_paths(old: Mapping[str, frozenset[str]], new: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    return tuple(sorted(path for path in {*old, *new} if old.get(path) != new.get(path)))


def changes_of(old: Files, new: Files) -> tuple[Change, ...]:
    return tuple(_change(path, old.get(path), new.get(path)) for path in changed_paths(old, new))


def _change(path: str, old: frozenset[str] | None, new: frozenset[str] | None) -> Change:
    if new is None:
        return Change(path=path, how="removed")
    return Change(path=path, how="added" if old is None else "changed", blob=_name(sorted(new)))


@dataclass(slots=True)
class Repository:
    """What outlives every controller: objects, refs, branches, and the folders that agents work in."""

    trees: dict[Tree, Files] = field(default_factory=dict)
    commits: dict[Commit, tuple[Tree, tuple[Commit, ...]]] = field(default_factory=dict)
    refs: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, Commit] = field(default_factory=dict)
    folders: dict[str, Files] = field(default_factory=dict)
    steps: dict[str, Commit] = field(default_factory=dict)  # what was made for a step is found again
    left: dict[str, tuple[Conflict, ...]] = field(default_factory=dict)

    def stored(self, files: Files) -> Tree:
        tree = Tree(_name("tree", sorted((path, sorted(words)) for path, words in files.items())))
        self.trees[tree] = files
        return tree

    def commit(self, tree: Tree, *parents: Commit) -> Commit:
        made = Commit(_name("commit", tree, parents))
        self.commits[made] = tree, parents
        return made

    def tree(self, commit: Commit) -> Tree:
        return self.commits[commit][0]

    def files(self, commit: Commit) -> Files:
        return self.trees[self.tree(commit)]

    def keep(self, ref: str, commit: Commit) -> None:
        """As refs are kept: what stood there before stays under a name of its own."""
        held = self.refs.get(ref)
        if held is not None and held != commit:
            self.refs[f"{ref}+{sum(each.startswith(f'{ref}+') for each in self.refs) + 1}"] = held
        self.refs[ref] = commit

    def reachable(self) -> set[Commit]:
        return self.history(*self.refs.values(), *self.branches.values())

    def history(self, *tips: Commit) -> set[Commit]:
        found, left = set[Commit](), [*tips]
        while left:
            commit = left.pop()
            if commit not in found:
                found.add(commit)
                left += self.commits[commit][1]
        return found


@dataclass(slots=True)
class SimulatedWorkspace:
    """The port over a repository."""

    repo: Repository

    async def prepare(self, loop: LoopId, name: str, at: Commit, step: str) -> Path:
        self.repo.folders[name] = dict(self.repo.files(at))
        return Path("/work") / name

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        return Path("/checkout") / at

    async def remove_others(self, loop: LoopId, name: str) -> None:
        for other in [each for each in self.repo.folders if each.endswith(name) and each != name]:
            del self.repo.folders[other]

    async def discard(self, folder: Path) -> None:
        return None

    async def snapshot(self, taking: Taking) -> Snapshot:
        repo = self.repo
        commit = repo.steps.get(taking.step)
        if commit is None:
            commit = repo.commit(repo.stored(dict(repo.folders[taking.name])), taking.parent)
            repo.keep(f"{taking.loop}/{taking.label}", commit)
            repo.steps[taking.step] = commit
        changes = changes_of(repo.files(taking.base), repo.files(commit))
        return Snapshot(commit=commit, tree=repo.tree(commit), changes=changes)

    async def contents(self, commit: Commit, paths: tuple[str, ...]) -> tuple[Content, ...]:
        files = self.repo.files(commit)
        return tuple(Content(path=path, object=_name(sorted(files[path])) if path in files else "") for path in paths)

    async def texts(self, commit: Commit, paths: tuple[str, ...], limit: int) -> tuple[str | None, ...]:
        files = self.repo.files(commit)
        return tuple("\n".join(sorted(files[path]))[:limit] if path in files else None for path in paths)

    async def changed(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        return changes_of(self.repo.files(base), self.repo.files(commit))

    async def added(self, base: Commit, commit: Commit, limit: int) -> tuple[AddedText, ...]:
        before, after = self.repo.files(base), self.repo.files(commit)
        fresh = ((path, sorted(words - before.get(path, frozenset()))) for path, words in after.items())
        return tuple(AddedText(path=path, lines=tuple(enumerate(words, start=1))) for path, words in fresh if words)

    async def combine(self, wanted: Combining) -> Combination:
        """Both sides changed one file, and not alike: a conflict."""
        repo, base, step = self.repo, wanted.base, f"{wanted.step} {wanted.label}"
        if step not in repo.steps:
            files, left = dict(repo.files(base)), list[Conflict]()
            for start, commit in wanted.deltas:
                before, after = repo.files(start), repo.files(commit)
                paths = changed_paths(before, after)
                if both := tuple(each for each in paths if files.get(each) not in (before.get(each), after.get(each))):
                    left.append(Conflict(commit=commit, paths=both))
                    if not wanted.marks:
                        continue
                files = {path: words for path, words in files.items() if path not in paths}
                files |= {path: after[path] for path in paths if path in after}
            for commit, path in wanted.keep:
                files.pop(path, None)
                files |= {each: words for each, words in repo.files(commit).items() if each == path}
            made = base if files == repo.files(base) else repo.commit(repo.stored(files), base)
            if made != base:
                repo.keep(f"{wanted.loop}/{wanted.label}", made)
            repo.steps[step], repo.left[step] = made, tuple(left)
        made = repo.steps[step]
        return Combination(
            commit=made, changes=changes_of(repo.files(base), repo.files(made)), left_out=repo.left[step]
        )

    async def diff(self, base: Commit, commit: Commit, *, limit: int, only: tuple[str, ...] = ()) -> str:
        return ""

    async def tree(self, commit: Commit) -> Tree:
        return self.repo.tree(commit)

    async def land(self, landing: Landing) -> Snapshot:
        repo = self.repo
        commit = repo.steps.get(landing.step)
        if commit is None:
            tree = landing.tree or repo.tree(landing.commit)
            is_there = tree == repo.tree(landing.base) and not landing.merges
            also = (landing.merges,) if landing.merges else ()
            commit = landing.base if is_there else repo.commit(tree, landing.base, *also)
            repo.steps[landing.step] = commit
        if landing.moves:
            repo.branches[landing.branch] = commit
        changes = changes_of(repo.files(landing.base), repo.files(commit))
        return Snapshot(commit=commit, tree=repo.tree(commit), changes=changes)

    async def branch(self, loop: LoopId) -> str:
        return f"loop/{loop}"

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        onto = self.repo.branches[target]
        return Merge(onto=onto, commit=commit, tree=self.repo.tree(commit), fast_forward=True)

    async def advance(self, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
        self.repo.branches[target] = commit
        return Moved(how="done")

    async def clean_up(self, loop: LoopId, choice: Cleanup, branch: str = "") -> tuple[str, ...]:
        return ()


def red(files: Files, poison: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """What the checks find in a tree, by the files alone."""
    words = {word for path, held in files.items() if not path.startswith(JUDGES) for word in held}
    broken = tuple(path for path, held in sorted(files.items()) if BROKEN in held)
    mixed = tuple(cure_of(*pair) for pair in poison if words >= set(pair) and cure_of(*pair) not in words)
    return (*broken, *mixed)


def cure_of(one: str, other: str) -> str:
    return f"cure-{one}-{other}"


def is_met(files: Files, demand: Demand) -> bool:
    """`has PATH WORD` and `lacks PATH WORD`."""
    how, path, word = demand.argv
    return (word in files.get(path, frozenset())) == (how == "has")


@dataclass(slots=True)
class SimulatedChecks:
    """The port: what judges is the base's, so that whatever a candidate makes of `tests/` counts for nothing."""

    repo: Repository
    poison: tuple[tuple[str, str], ...]

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        await asyncio.sleep(0)
        if run.demands_only:
            return self._before_work(run)
        seen = await self.examine(run.commit, run.trust, run.approved)
        tree = seen.lands or self.repo.tree(run.commit)
        files = self.repo.trees[tree]
        found = () if run.preflight else red(files, self.poison)
        results = (CheckResult(name="test", passed=not found, tests=3, failures=tuple(map(_failure, found))),)
        also = () if found or run.preflight else tuple(result_of(each, is_met=is_met(files, each)) for each in run.also)
        product = [each for each in changes_of(self.repo.files(run.base), files) if not each.path.startswith(JUDGES)]
        return ChecksReported(
            key=run.key,
            tree=self.repo.tree(run.commit),
            results=results,
            held=seen.held,
            lands=tree,
            nothing_else=bool(seen.held) and not product,
            also=also,
        )

    def _before_work(self, run: ChecksRun) -> ChecksReported:
        now = tuple(result_of(each, is_met=is_met(self.repo.files(run.commit), each)) for each in run.also)
        red = tuple(not is_met(self.repo.files(each.start), each) for each in run.also)
        also = tuple(replace(each, red_before=was) for each, was in zip(now, red, strict=True))
        return ChecksReported(key=run.key, tree=self.repo.tree(run.commit), results=(), also=also)

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        base, files = self.repo.files(trust.base), self.repo.files(commit)
        gated = tuple(each for each in changes_of(base, files) if each.path.startswith(JUDGES))
        held = tuple(each for each in gated if each not in approved)
        if not held:
            return Examined(gated=gated, evidence=evidence(gated))
        paths = {each.path for each in held}
        kept = {path: words for path, words in files.items() if path not in paths}
        kept |= {path: words for path, words in base.items() if path in paths}
        return Examined(gated=gated, evidence=evidence(gated), lands=self.repo.stored(kept), held=held)

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        return lambda _path: False

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        return Compared(code=("a.py",))


def _failure(name: str) -> Finding:
    return identify(Finding(severity=Severity.HIGH, rule=f"test {name}", issue=f"{name} is red", category="tests"))
