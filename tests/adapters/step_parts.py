"""Steps made of small Python programs, and ways to see whether their processes are alive."""

import asyncio
import os
import secrets
import select
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.adapters.steps import StepEnded, StepSpec, StepWatch, finished_step, run_step

ENV = {"PATH": os.environ["PATH"]}
FOR_EVER = "import signal\nwhile True: signal.pause()"


@dataclass(frozen=True)
class Stage:
    """A folder to run steps in. Every process of them has `token` in its command line."""

    root: Path
    token: str = field(default_factory=lambda: f"token-{secrets.token_hex(8)}")

    @property
    def folder(self) -> Path:
        return self.root / "run"

    def argv(self, code: str) -> tuple[str, ...]:
        return (sys.executable, "-I", "-S", "-c", code, self.token)

    def spec(self, code: str, *, wall: float = 60.0, idle: float | None = None, grace: float = 5.0) -> StepSpec:
        return StepSpec(
            argv=self.argv(code),
            cwd=self.root,
            env=ENV,
            folder=self.folder,
            root=self.root,
            wall=wall,
            idle=idle,
            grace=grace,
            hurry=grace,
        )

    def run(
        self,
        code: str,
        watch: StepWatch | None = None,
        *,
        wall: float = 60.0,
        idle: float | None = None,
        grace: float = 5.0,
    ) -> StepEnded:
        return asyncio.run(run_step(self.spec(code, wall=wall, idle=idle, grace=grace), watch))

    def cancelled(self, code: str, *, grace: float = 30.0, hurry: float | None = None) -> StepEnded:
        """Run it, cancel it when it has printed something, and see how it ended."""

        async def at_first_sight() -> None:
            seen = asyncio.Event()
            spec = self.spec(code, grace=grace)
            spec = spec if hurry is None else replace(spec, hurry=hurry)
            task = asyncio.create_task(run_step(spec, lambda *_: seen.set()))
            await seen.wait()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

        asyncio.run(at_first_sight())
        ended = finished_step(self.folder)
        assert ended is not None
        return ended

    def alive(self) -> list[int]:
        return [pid for pid, words in command_lines() if self.token.encode() in words]


def command_lines() -> list[tuple[int, list[bytes]]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                found.append((int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")))
            except OSError:
                continue
    return found


def supervisors_of(folder: Path) -> list[int]:
    """Supervisors whose repository is `folder`."""
    root = os.fsencode(os.path.realpath(folder))
    return [pid for pid, words in command_lines() if b"--root" in words and root in words]


def ended_within(pids: list[int], seconds: float) -> bool:
    """Wait for processes that are not our children."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], seconds)[0]:
                return False
        finally:
            os.close(handle)
    return True
