"""Running one step: the controller's side of `supervisor.py`.

Every agent, check and setup command goes through `run_step`. When it returns, or when its task
is cancelled and the cancellation comes through, no process of the step is alive.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import marshal
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from loopwright.adapters.processes import end_all
from loopwright.kernel.visible import visible, visible_bytes

MIB = 1 << 20
SUPERVISOR = Path(__file__).with_name("supervisor.py")
Reason = Literal["exited", "wall", "idle", "cancelled", "not_found", "controller_gone"]
StepWatch = Callable[[str, int], None]  # the last line of output, and how many bytes there were so far


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """`env` is the whole environment; the step's marker (`LOOP_STEP`, `LOOP_ROOT`) is added to it."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    folder: Path  # run folder: gets stdout, stderr, ended.json
    root: Path  # the person's repository: marks the step as belonging to it
    stdin: Path | None = None
    wall: float = 1800.0
    idle: float | None = None
    grace: float = 10.0  # between asking and killing
    lock: Path | None = None  # held while the step runs
    patience: float = 15.0  # with a step of another controller that holds the lock; then it is ended
    head: int = 8 * MIB  # of each stream, kept
    tail: int = 1 * MIB
    durable: tuple[Path, ...] = ()  # files that are synced before the step counts as ended


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """How it ended. `dropped` counts bytes of output that neither head nor tail holds."""

    reason: Reason
    exit_code: int | None
    signal: int | None
    seconds: float
    strays: int  # processes that outlived the main one and were killed
    stdout: Path
    stderr: Path
    stdout_bytes: int
    stderr_bytes: int
    dropped: int
    detail: str = ""  # why it could not be started, or what became of the supervisor


async def run_step(spec: StepSpec, watch: StepWatch | None = None) -> StepEnded:
    """Run it to its end. On cancellation everything is dead before `CancelledError` comes through."""
    step = secrets.token_hex(8)
    spec.folder.mkdir(parents=True, exist_ok=True)
    (spec.folder / "ended.json").unlink(missing_ok=True)
    began = asyncio.get_running_loop().time()
    process = await _start(spec, step)
    try:
        ended = await _listen(process, watch)
    finally:
        if process.returncode != 0:  # killed, or it broke: nobody else ends what it started
            end_all(step)
    if ended is not None and ended.get("step") == step:
        return _ended(spec.folder, ended)
    return _unsupervised(spec.folder, process.returncode, asyncio.get_running_loop().time() - began)


def lock_of(root: Path, workspace: Path) -> Path:
    """The lock that whoever works in `workspace` holds: a step at a time, and none beside a dead one's leftovers."""
    folder = root / ".loop" / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:20]}.lock"


def finished_step(folder: Path) -> StepEnded | None:
    """The ending of a step that ended while nobody listened; None if there is no whole record of one."""
    try:
        data = json.loads((folder / "ended.json").read_bytes())
        return _ended(folder, data) if data["reason"] in get_args(Reason) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


async def _start(spec: StepSpec, step: str) -> asyncio.subprocess.Process:
    script = (sys.executable, "-I", "-S", str(SUPERVISOR))
    with (spec.folder / "supervisor.err").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *script,
            *("--root", os.path.realpath(spec.root), "--step", step),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    body = marshal.dumps(_as_data(spec))  # json would cost the supervisor more than all its other imports
    _tell(process, len(body).to_bytes(4, "big") + body)
    return process


def _as_data(spec: StepSpec) -> dict[str, Any]:
    data = {
        "argv": spec.argv,
        "cwd": str(spec.cwd),
        "env": dict(spec.env),
        "folder": str(spec.folder),
        "root": os.path.realpath(spec.root),
        "stdin": str(spec.stdin) if spec.stdin else None,
        "lock": str(spec.lock) if spec.lock else None,
        "durable": [str(path) for path in spec.durable],
    }
    limits = {name: getattr(spec, name) for name in ("wall", "idle", "grace", "patience", "head", "tail")}
    return data | limits


def _tell(process: asyncio.subprocess.Process, data: bytes) -> None:
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.write(data)


async def _listen(process: asyncio.subprocess.Process, watch: StepWatch | None) -> dict[str, Any] | None:
    """Until the supervisor has ended. A cancellation is passed on to it, and raised once all is dead."""
    ended: dict[str, Any] | None = None
    cancelled: asyncio.CancelledError | None = None
    words = iter((b"stop\n",))
    try:
        while True:
            try:
                if process.stdout is None or not (line := await process.stdout.readline()):
                    await process.wait()
                    break
                ended = _heard(line, watch) or ended
            except asyncio.CancelledError as error:
                cancelled = error
                _tell(process, next(words, b"kill\n"))
    finally:
        await _released(process)
    if cancelled is not None:
        raise cancelled
    return ended


def _heard(line: bytes, watch: StepWatch | None) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None  # the supervisor was killed in mid-word
    message = json.loads(line)
    if "ended" in message:
        ended: dict[str, Any] = message["ended"]
        return ended
    if watch is not None:
        watch(visible(message["text"]), message["bytes"])
    return None


async def _released(process: asyncio.subprocess.Process) -> None:
    """Close our end, which ends a supervisor that still runs, and wait for it whatever happens meanwhile."""
    if process.stdin is not None:
        process.stdin.close()
    while process.returncode is None:
        with suppress(asyncio.CancelledError):
            await process.wait()
    if process.stdin is not None:
        with suppress(OSError, asyncio.CancelledError):
            await process.stdin.wait_closed()


def _ended(folder: Path, data: Mapping[str, Any]) -> StepEnded:
    return StepEnded(
        reason=data["reason"],
        exit_code=data["exit_code"],
        signal=data["signal"],
        seconds=float(data["seconds"]),
        strays=data["strays"],
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        stdout_bytes=data["stdout_bytes"],
        stderr_bytes=data["stderr_bytes"],
        dropped=data["dropped"],
        detail=visible(data["detail"]),
    )


def _unsupervised(folder: Path, code: int | None, seconds: float) -> StepEnded:
    """The supervisor was killed or broke. The command died with it, by SIGKILL; what it said is where it said it."""
    errors = folder / "supervisor.err"  # without a sandbox a step can remove even this
    said = visible_bytes(errors.read_bytes()[-2000:] if errors.exists() else b"").strip().rpartition("\n")[2]
    sizes = [path.stat().st_size if path.exists() else 0 for path in (folder / "stdout", folder / "stderr")]
    return StepEnded(
        reason="exited",
        exit_code=None,
        signal=9,
        seconds=seconds,
        strays=0,
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        stdout_bytes=sizes[0],
        stderr_bytes=sizes[1],
        dropped=0,
        detail=f"the supervisor of the step ended with {code}"
        + (f": {said}" if said else ", killed by the step itself"),
    )
