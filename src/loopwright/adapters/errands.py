"""Running a command of the person's own once: its marker is durable before it begins, and bars it ever after.

The marker is `.loop/once/<digest of the step>`. It is empty until the command has ended; then it has the answer.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.agents.redaction import Redactor
from loopwright.adapters.agents.remains import redact_in_place
from loopwright.adapters.files import join, made, read_regular, read_tail, sync, write_whole
from loopwright.adapters.git.folders import until_quiet
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.steps import StepEnded, StepSpec, finished_step, lock_of, run_step
from loopwright.errors import SetupFailed
from loopwright.kernel.actions import RunOnce
from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.sightings import RanOnce
from loopwright.kernel.visible import visible_bytes
from loopwright.ports.store import Store

UNKNOWN = "it was begun, and nobody knows how it ended"
_TOO_LONG, _NOT_FOUND, _BY_SIGNAL = 124, 127, 128  # as shells and `timeout` say it
_NOT_BEGUN = 1
_LARGEST_MARKER = 1 << 16
_LAST = 4096  # bytes of output that are looked at for the last line


@dataclass(frozen=True, slots=True)
class PersonsErrands:
    """`env` is the person's own environment: the command may do what they may."""

    root: Path
    env: Mapping[str, str]
    store: Store
    checkouts: VerificationCheckouts

    async def run_once(self, wanted: RunOnce, step: str) -> RanOnce:
        digest = hashlib.sha256(step.encode()).hexdigest()[:32]
        once = _Once(
            marker=made(self.root, self.root / ".loop" / "once") / digest,
            folder=self.root / ".loop" / "runs" / "once" / digest,
        )
        if os.path.lexists(once.marker):
            return await self._again(wanted, once)
        try:
            tree = await self.checkouts.objects.tree(wanted.commit)
            async with self.checkouts.lay(tree, commit=wanted.commit, base=wanted.commit) as checkout:
                if not once.begin():
                    return await self._again(wanted, once)
                ended = await run_step(self._spec(wanted, once, checkout.folder))
        except SetupFailed as failed:
            return RanOnce(key=wanted.key, code=_NOT_BEGUN, detail=f"it was not begun: {failed}")
        return await self._kept(wanted, once, ended)

    async def _again(self, wanted: RunOnce, once: _Once) -> RanOnce:
        """What is known of a step that was begun before. What is left of it is ended first, by its own supervisor."""
        await uninterrupted(lambda: until_quiet(self.root, once.marker))
        if answer := once.answer():
            return replace(answer, key=wanted.key)
        ended = finished_step(once.folder)
        if ended is None or _code(ended) is None:
            return RanOnce(key=wanted.key, code=None, detail=UNKNOWN)
        return await self._kept(wanted, once, ended)

    def _spec(self, wanted: RunOnce, once: _Once, checkout: Path) -> StepSpec:
        return StepSpec(
            argv=wanted.argv,
            cwd=checkout,
            env={**self.env, "PWD": str(checkout)},
            folder=once.folder,
            root=self.root,
            wall=wanted.limit,
            lock=lock_of(self.root, once.marker),
        )

    async def _kept(self, wanted: RunOnce, once: _Once, ended: StepEnded) -> RanOnce:
        """The output first: a marker with a code is the whole answer."""
        for file in (ended.stdout, ended.stderr):
            redact_in_place(file, Redactor(self.env))
        code = _code(ended)
        detail = _detail(ended, code, wanted.limit)
        output = once.folder / "output"
        join((ended.stdout, ended.stderr), output)
        ran = RanOnce(key=wanted.key, code=code, detail=detail, output=await self.store.keep_file(output))
        if code is not None:
            write_whole(once.marker, encode(ran))
        shutil.rmtree(once.folder, ignore_errors=True)
        return ran


@dataclass(frozen=True, slots=True, kw_only=True)
class _Once:
    marker: Path
    folder: Path  # of the run

    def begin(self) -> bool:
        """False: somebody has begun it. True is said only when that stands on the disk."""
        try:
            handle = os.open(self.marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return False
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        sync(self.marker.parent)
        sync(self.marker.parent.parent)
        return True

    def answer(self) -> RanOnce | None:
        content = read_regular(self.marker, _LARGEST_MARKER) or b""
        try:
            return decode(RanOnce, content.decode("utf-8", "backslashreplace"))
        except DecodeError:
            return None


def _code(ended: StepEnded) -> int | None:
    """None: it was ended from outside, somewhere in its middle."""
    match ended.reason:
        case "exited" if ended.exit_code is not None:
            return ended.exit_code
        case "exited" if ended.signal is not None:
            return _BY_SIGNAL + ended.signal
        case "wall" | "idle":
            return _TOO_LONG
        case "not_found":
            return _NOT_FOUND
        case _:
            return None


def _detail(ended: StepEnded, code: int | None, limit: float) -> str:
    if code is None:
        return UNKNOWN
    if ended.reason == "wall":
        return f"it took longer than {limit:g} s and was stopped"
    if code == 0 or ended.reason == "not_found":
        return ended.detail
    said = "\n".join(visible_bytes(read_tail(each, _LAST)) for each in (ended.stdout, ended.stderr))
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), ended.detail)
    return f"it ended with {code}" + (f": {last}" if last else "")
