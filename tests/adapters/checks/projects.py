"""Small real projects under git, and checkouts of them made in the plainest way."""

import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.checkouts import NO_TEXTS, IsPlanted
from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.environment import Digests, for_checks
from loopwright.adapters.checks.order import REPORT
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.resolution import Resolution
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, CheckResult, Commit, Key, LoopId, Tree
from loopwright.ports.agent import Update
from loopwright.ports.checks import ChecksRun
from loopwright.ports.store import Append, NewEvent, NewLoop
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.interpreter import WARM_PYTHON
from tests.repository import Repository

LOOP = LoopId("l")
PYTEST = CheckSettings(
    name="test",
    run=(*WARM_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={REPORT}"),
    report="junit",
)
UNITTEST = CheckSettings(
    name="test",
    run=(*WARM_PYTHON, unittest_report.__file__, f"--report={REPORT}", "discover", "-s", "tests"),
    report="junit",
)
# For either; unittest starts in a tenth of the time, so it runs whatever is not about pytest.
STEADY = (
    "import unittest\n\n\nclass Steady(unittest.TestCase):\n    def test_steady(self):\n        self.assertTrue([1])\n"
)


@dataclass(frozen=True, slots=True)
class LaidFolder:
    folder: Path
    tree: Tree
    repository: Repository
    setup_list: str = ""

    def guard(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def altered(self, paths: frozenset[str]) -> frozenset[str]:
        laid = {path: self.repository.git("rev-parse", f"{self.tree}:{path}") for path in paths}
        there = {path for path in paths if (self.folder / path).is_file()}
        same = {path for path in there if self.repository.git("hash-object", str(self.folder / path)) == laid[path]}
        return paths - same

    async def restore(self, is_planted: IsPlanted) -> None:
        """Plain checkouts are for tests of what runs in them; the real ones have this tested."""


@dataclass(slots=True)
class PlainCheckouts:
    """Checkouts and reads with plain git. `laid` remembers every commit that was laid, `beside` how many checkouts were
    open then; `edited` every tree that was made by replacing files, with their paths."""

    repository: Repository
    place: Path
    laid: list[Commit] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)
    edited: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        return self._changes(base, commit)

    def _changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        out = self.repository.git("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", "--raw", base, commit)
        words = [word for word in out.split("\0") if word]
        return tuple(_change(words[i], words[i + 1]) for i in range(0, len(words), 2))

    async def paths(self, commit: Commit | Tree) -> tuple[str, ...]:
        return tuple(self.repository.git("ls-tree", "-r", "--name-only", commit).splitlines())

    async def new_lines(self, old: Tree, new: Tree, paths: tuple[str, ...]) -> dict[str, frozenset[int]]:
        found = {path: self.repository.git("diff", "--unified=0", old, new, "--", path) for path in paths}
        lines = {path: frozenset(_new_lines(text)) for path, text in found.items()}
        return {path: numbers for path, numbers in lines.items() if numbers}

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> dict[str, str]:
        there = self.repository.git("ls-tree", "-r", "--name-only", commit).splitlines()
        found = {path: self.repository.git("show", f"{commit}:{path}") for path in paths if path in there}
        return {path: text for path, text in found.items() if len(text.encode()) <= limit}

    async def links(self, commit: Commit | Tree) -> dict[str, str]:
        rows = self.repository.git("ls-tree", "-r", commit).splitlines()
        paths = tuple(row.split("\t")[1] for row in rows if row.startswith("120000"))
        return await self.texts(commit, paths, limit=4096)

    async def tree(self, commit: Commit) -> Tree:
        return Tree(self.repository.git("rev-parse", f"{commit}^{{tree}}").strip())

    async def compose(
        self,
        onto: Commit | Tree,
        *,
        taken_from: Commit | Tree,
        paths: frozenset[str],
        texts: Mapping[str, bytes | None] = NO_TEXTS,
    ) -> Tree:
        if texts:
            self.edited.append((onto, tuple(sorted(texts))))
        real = VerificationCheckouts(self.repository.path, env=os.environ)
        return await real.compose(onto, taken_from=taken_from, paths=paths, texts=texts)

    def _unpack(self, tree: Tree, folder: Path) -> None:
        archive = subprocess.run(["git", "archive", tree], cwd=self.repository.path, capture_output=True, check=True)
        subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)

    def forget(self) -> None:
        """Nothing is kept of a plain checkout."""

    @asynccontextmanager
    async def lay(self, tree: Tree, *, commit: Commit, base: Commit) -> AsyncIterator[LaidFolder]:
        folder = self.place / f"checkout-{len(self.laid)}"
        self.laid.append(commit)
        self.beside.append(len(list(self.place.glob("checkout-*"))))
        folder.mkdir(parents=True)
        (self.place / "pytest.ini").write_text("[pytest]\n", "utf-8")  # as above real ones: nothing further up counts
        self._unpack(tree, folder)
        try:
            yield LaidFolder(folder, tree, self.repository)
        finally:
            shutil.rmtree(folder)


def _change(raw: str, path: str) -> Change:
    _, _, old, blob, status = raw.split()
    if status == "D":
        return Change(path=path, how="removed", old=old)
    return Change(path=path, how="added" if status == "A" else "changed", blob=blob)


def _new_lines(patch: str) -> Iterator[int]:
    for first, count in re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", patch, re.MULTILINE):
        yield from range(int(first), int(first) + int(count or "1"))


@dataclass(slots=True)
class Project:
    """A repository with checks. `base` is its first commit; each `candidate` is a commit on top of it."""

    repository: Repository
    checks: CommandChecks
    checkouts: PlainCheckouts
    store: MemoryStore
    base: Commit
    updates: list[Update] = field(default_factory=list)

    def candidate(self, files: Mapping[str, str | None]) -> Commit:
        self.repository.git("checkout", "--quiet", "--force", self.base)
        return _commit(self.repository, files)

    def run(self, commit: Commit, *, step: str = "s1") -> ChecksRun:
        return ChecksRun(loop=LOOP, key=Key.parse("checks-1.1"), step=step, commit=commit, base=self.base)

    async def report(self, commit: Commit, *, step: str = "s1", **more: Any) -> ChecksReported:  # noqa: ANN401 - fields of a run
        report = await self.checks.run(replace(self.run(commit, step=step), **more), self.updates.append)
        await self.note(report)
        return report

    async def note(self, report: ChecksReported) -> None:
        """Put it on record, as the engine does: what it rests on counts from then on."""
        created = NewEvent(kind="Created", data="{}")
        await self.store.create(NewLoop(id=LOOP, kind="toy", params="{}"), created)
        fence, length = await self.store.claim(LOOP, "test"), len(await self.store.read(LOOP))
        entries = (NewEvent(kind="ChecksReported", data=encode(report)),)
        await self.store.append(LOOP, fence=fence, expected=length, batch=Append(entries=entries))
        await self.store.release(LOOP, fence)

    async def only(self, commit: Commit, *, step: str = "s1", approved: bool = False) -> CheckResult:
        """The result of the only check: of the landing run, where there is one. `approved`: all that it changes."""
        report = await self.report(commit, step=step)
        if approved and report.held:
            report = await self.report(commit, step=f"{step}-approved", approved=report.held)
        (result,) = report.landing or report.results
        return result


def _commit(repository: Repository, files: Mapping[str, str | None]) -> Commit:
    for path, text in files.items():
        if text is None:
            (repository.path / path).unlink()
        else:
            repository.write(path, text)
    return Commit(repository.commit("Change"))


def project(
    tmp_path: Path,
    files: Mapping[str, str | None],
    specs: Sequence[CheckSettings],
    *,
    protected: tuple[str, ...] = (),
    parallel: int = 2,
    environ: Mapping[str, str] | None = None,
) -> Project:
    repository = Repository.create(tmp_path / "repo")
    base = _commit(repository, files)
    checkouts = PlainCheckouts(repository, tmp_path / "verify")
    clock = ManualClock()
    store = MemoryStore(Memory(), clock)
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(environ or {})}
    checks = CommandChecks(
        specs=tuple(specs),
        parallel=parallel,
        outfit=Outfit(
            protected=protected,
            checkouts=checkouts,
            source=checkouts,
            store=store,
            clock=clock,
            root=repository.path,
            runs=tmp_path / "runs",
            digests=Digests(
                Resolution(for_checks(environment, tmp_path / "verify"), repository.path), person=environ or {}
            ),
        ),
        classifier=Classifier(
            source=checkouts, product=("**",), protected=protected, commands=tuple(spec.run for spec in specs)
        ),
    )
    return Project(repository, checks, checkouts, store, base)
