"""Where tools run: the folder, the environment, a place for scratch, and starting a program with bounded output."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.environment import for_checks
from loopwright.kernel.visible import visible_bytes

OUTPUT_LIMIT = 32 * 1024 * 1024  # bytes kept of each stream
_CHUNK = 1 << 16
_MARKERS = ("LOOP_STEP", "LOOP_ROOT")  # by which the supervisor knows what belongs to the step
_TAIL_LINES, _TAIL_BYTES = 20, 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRan:
    """How a program ended. `code` is None when it was stopped or could not be started."""

    code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    whole: bool = True  # nothing of its output was dropped
    why: str = ""  # it was stopped, in words

    @property
    def ending(self) -> str:
        return self.why or f"it ended with exit code {self.code}"

    @property
    def tail(self) -> str:
        """Its last words, harmless to show: both streams, the errors last."""
        said = b"\n".join(filter(None, (self.stdout[-_TAIL_BYTES:].strip(), self.stderr[-_TAIL_BYTES:].strip())))
        return "\n".join(visible_bytes(said).splitlines()[-_TAIL_LINES:]) or "(no output)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """`folder` is the candidate: data from somebody who may mean harm. `scratch` lies outside it."""

    folder: Path
    scratch: Path
    env: Mapping[str, str]
    say: Callable[[str], None]

    def find(self, program: str) -> str | None:
        return shutil.which(program, path=self.env.get("PATH", ""))

    async def run(self, *argv: str, env: Mapping[str, str] | None = None, timeout: float | None = None) -> ToolRan:
        """Without `timeout` only the limit of the whole step ends it."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=self.folder,
                env={**self.env, **(env or {})},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            return ToolRan(code=None, why=f"it cannot be started: {error}")
        return await _finished(process, timeout)


def tool_environment(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """As a check's: what a tool or a test under review has no business with is gone, our result file above all."""
    markers = {name: environ[name] for name in _MARKERS if name in environ}
    return for_checks(environ, folder.parent) | markers


async def _finished(process: asyncio.subprocess.Process, timeout: float | None) -> ToolRan:
    kept = (bytearray(), bytearray())
    reading = (_drain(process.stdout, kept[0]), _drain(process.stderr, kept[1]))
    why, whole = "", True
    try:
        async with asyncio.timeout(timeout):
            whole = all(await asyncio.gather(*reading))
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        why = f"it was stopped after {timeout:g} s"
    return ToolRan(
        code=None if why else process.returncode, stdout=bytes(kept[0]), stderr=bytes(kept[1]), whole=whole, why=why
    )


async def _drain(stream: asyncio.StreamReader | None, kept: bytearray) -> bool:
    """Read to the end, keep the beginning. False when something was dropped."""
    whole = True
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        room = OUTPUT_LIMIT - len(kept)
        kept += chunk[:room]
        whole = whole and len(chunk) <= room
    return whole


def say(line: str) -> None:
    """A line for the transcript, at once: silence is taken for hanging."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def argument(path: str) -> str:
    """A file's path that no program takes for an option or for a file of arguments."""
    return f".{os.sep}{path}"
