"""A cheat before the real verification: real git, real runners, and what a loop makes of the report."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.from_settings import command_checks
from loopwright.config.settings import Settings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.weighing import Failed, Passed, Waits, Weighed, weighed
from loopwright.ports.checks import ChecksRun
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.loops.feedback import params
from tests.repository import Repository
from tests.trust.grounds import Cheat, Content, Ground

# What a test of ours is started with is nothing to the tests that it starts.
_OURS = (
    "PYTEST_CURRENT_TEST",
    "PYTEST_XDIST_WORKER",
    "PYTEST_ADDOPTS",
    "COVERAGE_PROCESS_START",
    "COVERAGE_PROCESS_CONFIG",
)
# Tests have an empty home, where rustup finds no toolchain: every cheat would fail for that alone.
_TOOLCHAINS = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup"
_WORDS = ("Make the sums right",)


@dataclass(frozen=True, slots=True)
class Verdict:
    report: ChecksReported
    said: tuple[Weighed, ...]  # the same work shown twice, as somebody would who does not listen

    @property
    def may_land(self) -> bool:
        return any(isinstance(each, Passed) for each in self.said)

    @property
    def words(self) -> str:
        return " ".join(_word(each) for each in self.said)


def _word(said: Weighed) -> str:
    match said:
        case Failed(faults=faults):
            return f"failed({', '.join(sorted({each.rule for each in faults}))})"
        case Waits(gate=gate):
            return f"waits({gate.gate})"
        case _:
            return type(said).__name__.lower()


@dataclass(slots=True)
class Stage:
    """One project; what ran on its base is kept for the next cheat."""

    ground: Ground
    repository: Repository
    base: Commit
    environ: Mapping[str, str]
    checks: CommandChecks

    async def verdict(self, commit: Commit, allow: tuple[str, ...] = (), artifacts: tuple[str, ...] = ()) -> Verdict:
        run = ChecksRun(
            loop=LoopId("l"),
            key=Key.parse("checks-1.1"),
            step="s1",
            commit=commit,
            base=self.base,
            trust=Trust(in_force=True, base=self.base, allow=allow, artifacts=artifacts),
        )
        report = await self.checks.run(run, lambda _: None)
        state = FEEDBACK.start(replace(params(), trust=run.trust))
        state, first = weighed(state, report, commit, _WORDS)
        _, second = weighed(state, report, commit, _WORDS)
        return Verdict(report, (first, second))

    def candidate(self, cheat: Cheat) -> Commit:
        self.repository.git("checkout", "--quiet", "--force", self.base)
        self.repository.git("clean", "-fdxq")
        product = self.ground.wrong if cheat.product is None else cheat.product
        mine = {} if cheat.unmade else {self.ground.product: product}
        write(self.repository, {**mine, **cheat.files})
        for path, target in cheat.links.items():
            link = self.repository.path / path
            if link.is_dir() and not link.is_symlink():
                shutil.rmtree(link)
            link.unlink(missing_ok=True)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        for path in cheat.modes:
            (self.repository.path / path).chmod(0o755)
        self.repository.git("add", "--all", "--force")
        for path in cheat.submodules:
            self.repository.git("update-index", "--force-remove", "--", path)
            self.repository.git("update-index", "--add", "--cacheinfo", f"160000,{self.base},{path}")
        self.repository.git("commit", "--quiet", "--allow-empty", "--message=Done")
        commit = Commit(self.repository.git("rev-parse", "HEAD"))
        # The person's tree is as it was: what stands above a checkout is not the agent's.
        self.repository.git("checkout", "--quiet", "--force", self.base)
        self.repository.git("clean", "-ffdxq")
        return commit

    def lay(self, tree: str, place: Path) -> Path:
        folder = place / f"laid-{tree[:12]}"
        folder.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", tree], cwd=self.repository.path, capture_output=True, check=True)
        subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
        return folder

    def is_right(self, tree: str, place: Path) -> bool:
        return self._ends_well(self.ground.proof, self.lay(tree, place))

    def fools_the_bare_command(self, commit: Commit, place: Path) -> bool:
        """Whether the check, run as it is on all that the agent left, would be green."""
        return self._ends_well(self.ground.run, self.lay(commit, place))

    def _ends_well(self, argv: tuple[str, ...], folder: Path) -> bool:
        done = subprocess.run(argv, cwd=folder, env=self.environ, capture_output=True, check=False, timeout=60)
        return done.returncode == 0


def write(repository: Repository, files: Mapping[str, Content]) -> None:
    for path, content in files.items():
        file = repository.path / path
        if content is None:
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            continue
        if file.parent.is_file():
            file.parent.unlink()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def stage(ground: Ground, folder: Path, cheat: Cheat) -> Stage:
    repository = Repository.create(folder)
    write(repository, {**ground.files, **cheat.base, **({ground.product: ground.wrong} if cheat.unmade else {})})
    base = Commit(repository.commit("Begin"))
    environ = {name: value for name, value in os.environ.items() if name not in _OURS}
    environ |= {} if cheat.plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environ = {"RUSTUP_HOME": str(_TOOLCHAINS), **environ} if _TOOLCHAINS.is_dir() else environ
    clock = ManualClock()
    checks = command_checks(
        Settings(checks=(ground.check,)), MemoryStore(Memory(), clock), clock, root=repository.path, environ=environ
    )
    return Stage(ground, repository, base, environ, checks)
