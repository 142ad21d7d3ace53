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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from loopwright.adapters.files import read_regular
from loopwright.adapters.processes import end_all
from loopwright.kernel.visible import visible, visible_bytes

MIB = 1 << 20
SUPERVISOR = Path(__file__).with_name("supervisor.py")
Reason = Literal["exited", "wall", "idle", "cancelled", "not_found", "controller_gone"]
_LONGEST_LINE = 1 << 16  # bytes of what the supervisor says at once; it says far less
_MOST_LEFT = 1 << 20  # bytes taken from its pipe when it has ended: as much as one can hold
_LOOK = 1.0  # seconds between looks whether it is still there
_MOST_BYTES, _HIGHEST_END, _LONGEST_STEP = 1 << 53, 255, 366 * 86400.0
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
    grace: float = 10.0  # between asking and killing, where a limit has run out
    hurry: float = 1.0  # as `grace`, where somebody who cancelled waits for it to be gone
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
    voice = _Voice(spec.folder, step)
    process = await _start(spec, step, voice)
    try:
        await _listen(process, voice, watch)
    finally:
        voice.close()
        if process.returncode != 0:  # killed, or it broke: nobody else ends what it started
            end_all(step)
    ended = voice.ended or (_on_disk(spec.folder, step) if process.returncode == 0 else None)
    return ended or _unsupervised(spec.folder, process.returncode, asyncio.get_running_loop().time() - began)


def lock_of(root: Path, workspace: Path) -> Path:
    """The lock that whoever works in `workspace` holds: a step at a time, and none beside a dead one's leftovers."""
    folder = root / ".loop" / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:20]}.lock"


def finished_step(folder: Path) -> StepEnded | None:
    """The ending of a step that ended while nobody listened; None if there is no whole record of one."""
    return _on_disk(folder)


def _on_disk(folder: Path, step: str = "") -> StepEnded | None:
    """As the supervisor left it, if it is whole; with `step`, only if it is of that one."""
    data = _parsed(read_regular(folder / "ended.json", _LONGEST_LINE) or b"")
    return _ended(folder, data) if not step or data.get("step") == step else None


async def _start(spec: StepSpec, step: str, voice: _Voice) -> asyncio.subprocess.Process:
    script = (sys.executable, "-I", "-S", str(SUPERVISOR))
    with (spec.folder / "supervisor.err").open("wb") as errors, voice.lent() as words:
        process = await asyncio.create_subprocess_exec(
            *script,
            *("--root", os.path.realpath(spec.root), "--step", step),
            stdin=asyncio.subprocess.PIPE,
            stdout=words,
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
    limits = {name: getattr(spec, name) for name in ("wall", "idle", "grace", "hurry", "patience", "head", "tail")}
    return data | limits


def _tell(process: asyncio.subprocess.Process, data: bytes) -> None:
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.write(data)


class _Voice:
    """What the supervisor says. Without a sandbox the step can write there too, whatever it likes: the pipe is always
    drained, a line that cannot be read or is too long is dropped, and no more than one is ever held.
    """

    def __init__(self, folder: Path, step: str) -> None:
        self._folder, self._step = folder, step
        self._source, self._words = os.pipe()
        os.set_blocking(self._source, False)
        self._held, self._skips = b"", False  # the line that has no end yet, and whether it is too long
        self.ended: StepEnded | None = None
        self.news = asyncio.Event()
        self._sign: tuple[str, int] | None = None  # the newest that nobody was told yet
        asyncio.get_running_loop().add_reader(self._source, self._take)

    @contextmanager
    def lent(self) -> Iterator[int]:
        """The end that the supervisor gets; we keep none of it."""
        try:
            yield self._words
        finally:
            os.close(self._words)

    def close(self) -> None:
        self.drain()
        os.close(self._source)

    def drain(self) -> None:
        """Take what is left. A pipe that somebody else holds open is not waited for."""
        asyncio.get_running_loop().remove_reader(self._source)
        left = _MOST_LEFT
        while left > 0 and (count := self._read()):
            left -= count

    def tell(self, watch: StepWatch | None) -> None:
        """Pass the newest sign of life on."""
        self.news.clear()
        sign, self._sign = self._sign, None
        if sign is not None and watch is not None:
            watch(*sign)

    def _take(self) -> None:
        if self._read() == 0:
            asyncio.get_running_loop().remove_reader(self._source)

    def _read(self) -> int | None:
        """Read once. 0: nobody can say anything any more; None: nothing there."""
        try:
            data = os.read(self._source, _LONGEST_LINE)
        except BlockingIOError:
            return None
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole, skips = self._held + line, self._skips
            self._held, self._skips = b"", False
            if not skips and len(whole) <= _LONGEST_LINE:
                self._hear(_parsed(whole))
        self._skips = self._skips or len(self._held) + len(rest) > _LONGEST_LINE
        self._held = b"" if self._skips else self._held + rest
        return len(data)

    def _hear(self, message: dict[str, Any]) -> None:
        match message:
            case {"ended": dict(data)} if data.get("step") == self._step:
                self.ended = _ended(self._folder, data) or self.ended
            case {"text": str(text), "bytes": int(count)} if 0 <= count <= _MOST_BYTES:
                self._sign = visible(text), count
                self.news.set()


async def _listen(process: asyncio.subprocess.Process, voice: _Voice, watch: StepWatch | None) -> None:
    """Until the supervisor has ended. A cancellation is passed on to it, and raised once all is dead."""
    cancelled: asyncio.CancelledError | None = None
    words = iter((b"stop\n",))
    ending = asyncio.create_task(process.wait())
    ending.add_done_callback(lambda _: voice.news.set())
    try:
        while process.returncode is None:
            try:
                with suppress(TimeoutError):  # a stranger that holds its stdin open keeps us from being told
                    await asyncio.wait_for(voice.news.wait(), _LOOK)
            except asyncio.CancelledError as error:
                cancelled = error
                _tell(process, next(words, b"kill\n"))
            voice.tell(watch)
        voice.drain()
        voice.tell(watch)
    finally:
        ending.cancel()
        await _released(process)
    if cancelled is not None:
        raise cancelled


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


def _parsed(line: bytes) -> dict[str, Any]:
    """What a line says; nothing where it is no object of JSON."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _ended(folder: Path, data: Mapping[str, Any]) -> StepEnded | None:
    """None where it is no whole record of an ending."""
    counts = [data.get(name) for name in ("strays", "stdout_bytes", "stderr_bytes", "dropped")]
    ends = [each for each in (data.get("exit_code", -1), data.get("signal", -1)) if each is not None]
    if not (
        data.get("reason") in get_args(Reason)
        and all(type(count) is int and 0 <= count <= _MOST_BYTES for count in counts)
        and all(type(end) is int and 0 <= end <= _HIGHEST_END for end in ends)
        and _is_time(data.get("seconds"))
        and isinstance(data.get("detail"), str)
    ):
        return None
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


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LONGEST_STEP


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
