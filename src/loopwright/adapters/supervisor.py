"""One step's keeper: a script, started as `python -I -S supervisor.py --root R --step ID`.

The controller writes a marshalled spec to our stdin, its length first, and may later write `stop` (ask,
then kill) or `kill`; the end of that stream means that the controller is gone. We start the
command, keep the head and the tail of its output, watch the limits, and answer with JSON lines:
signs of life, then `ended`. When we say so, `ended.json` is durable and nothing the step started
is alive.

On Linux we are the child subreaper: whatever double-forks, leaves its session, closes its files
or clears its environment is still found below us. Elsewhere only the command's process group is
killed, so a process that leaves it survives the step.

Standard library only, and little of it: every step pays for what is imported here.
"""
# pathlib, json (which loads re), signal (which loads enum), typing and contextlib would more than double our start.
# ruff: noqa: PTH118, PTH120, SIM105, E402

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the C module under `signal`, which has no stubs
import fcntl
import marshal
import os
import select
import stat
import sys
import time
from _json import encode_basestring_ascii as quoted  # what json itself quotes with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# `-I` leaves only the standard library on the path; our own modules come after it, so that they shadow nothing.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))

from loopwright.adapters.capture import KeptStream
from loopwright.adapters.processes import (
    LINUX,
    MARKER,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    ROOT,
    end_all,
    living,
    prctl,
    reap,
    send,
)
from loopwright.adapters.workspace_lock import hold

PIPE_SIZE = 1 << 20
UPDATE_PAUSE = 0.2


class SupervisedStep:
    """The command while it runs: limits, signs of life, and why it ended."""

    def __init__(self, spec: dict[str, Any], step: str) -> None:
        self.spec, self.step = spec, step
        self.reason, self.detail = "exited", ""
        self.statuses: dict[int, int] = {}  # how our children ended
        self.main = 0
        self.kill_at: float | None = None
        self.streams: list[KeptStream] = []
        self.started = self.active = time.monotonic()
        self.updated = 0.0
        self.newest: KeptStream | None = None

    def run(self) -> dict[str, Any]:
        ends = [self._stream(name) for name in ("stdout", "stderr")]
        self.started = self.active = time.monotonic()
        self.main, self.detail = launch(self.spec, self.step, ends)
        for end in ends:
            os.close(end)
        if self.detail:
            self.reason = "not_found"
        self._watch()
        strays = end_all(self.step, self.main, statuses=self.statuses) - {self.main}
        dropped = sum(stream.finish() for stream in self.streams)
        return self._ending(len(strays), dropped)

    def _stream(self, name: str) -> int:
        read, write = os.pipe()
        if LINUX:
            try:
                fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
            except OSError:
                pass  # the person's pipe quota may be used up; the default size works, slower
        path = os.path.join(self.spec["folder"], name)
        self.streams.append(KeptStream(read, path, self.spec["head"], self.spec["tail"]))
        return write

    def _ending(self, strays: int, dropped: int) -> dict[str, Any]:
        status = self.statuses.get(self.main) if self.reason != "not_found" else None
        return {
            "step": self.step,
            "reason": self.reason,
            "exit_code": os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
            "seconds": round(time.monotonic() - self.started, 3),
            "strays": strays,
            "stdout_bytes": self.streams[0].total,
            "stderr_bytes": self.streams[1].total,
            "dropped": dropped,
            "detail": self.detail,
        }

    def _watch(self) -> None:
        poll = select.poll()
        by_source = {stream.source: stream for stream in self.streams}
        alarm = _alarm_pipe()
        for source in (0, alarm, *by_source):
            poll.register(source, select.POLLIN)
        while not self._main_ended():
            for source, _ in poll.poll(self._pause()):
                if source == 0:
                    self._obey()
                elif source == alarm:
                    os.read(alarm, 4096)
                elif by_source[source].take() == 0:
                    poll.unregister(source)
                else:
                    self.active, self.newest = time.monotonic(), by_source[source]
            if self._out_of_time():
                return
            self._tell()

    def _main_ended(self) -> bool:
        return reap(self.statuses) or self.main in self.statuses

    def _pause(self) -> float:
        """Milliseconds until the next deadline."""
        now = time.monotonic()
        ends = [self.started + self.spec["wall"]] if self.kill_at is None else [self.kill_at]
        if self.kill_at is None and self.spec["idle"] is not None:
            ends.append(self.active + self.spec["idle"])
        if self.newest is not None:
            ends.append(self.updated + UPDATE_PAUSE)
        return min(3_600_000.0, max(0.0, (min(ends) - now) * 1000 + 1))

    def _out_of_time(self) -> bool:
        """True when the time to end by itself is over and everything is to be killed."""
        now = time.monotonic()
        if self.kill_at is not None:
            return now >= self.kill_at
        if now >= self.started + self.spec["wall"]:
            self.stop("wall")
        elif self.spec["idle"] is not None and now >= self.active + self.spec["idle"]:
            self.stop("idle")
        return False

    def stop(self, reason: str, *, at_once: bool = False) -> None:
        """Ask the whole tree to end; it is killed when the grace is over."""
        now = time.monotonic()
        if self.kill_at is None:
            self.reason = reason
            self.kill_at = now + self.spec["hurry" if reason == "cancelled" else "grace"]
            if not at_once:
                self._ask()
        if at_once:
            self.kill_at = now

    def _ask(self) -> None:
        for pid in living(self.step, descend=True) or {-self.main}:
            send(pid, signal.SIGTERM)
            send(pid, signal.SIGCONT)

    def _obey(self) -> None:
        try:
            words = os.read(0, 4096).split()
        except OSError:
            words = []
        if words:
            self.stop("cancelled", at_once=b"kill" in words)
        else:
            self.stop("controller_gone", at_once=True)

    def _tell(self) -> None:
        now = time.monotonic()
        if self.newest is not None and now - self.updated >= UPDATE_PAUSE:
            say({"text": self.newest.last_line(), "bytes": sum(stream.total for stream in self.streams)})
            self.updated, self.newest = now, None


def launch(spec: dict[str, Any], step: str, ends: list[int]) -> tuple[int, str]:
    """Start the command. Its pid, and why it could not be started, if so."""
    told, tell = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(spec, step, ends, (tell, supervisor))
    os.close(tell)
    failure = os.read(told, 4096).decode("utf-8", "replace")
    os.close(told)
    return pid, failure


def _become(spec: dict[str, Any], step: str, ends: list[int], parent: tuple[int, int]) -> NoReturn:
    tell, supervisor = parent
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(127)
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(spec["stdin"] or os.devnull, os.O_RDONLY), 0)
        os.dup2(ends[0], 1)
        os.dup2(ends[1], 2)
        os.chdir(spec["cwd"])
        environment = {**spec["env"], MARKER: step, ROOT: spec["root"]}
        os.execvpe(spec["argv"][0], spec["argv"], environment)  # noqa: S606  never a shell
    except (OSError, ValueError) as error:
        os.write(tell, f"{spec['argv'][0]}: {error}"[:1000].encode())
    finally:
        os._exit(127)


def _alarm_pipe() -> int:
    """A descriptor that becomes readable when a child ends or somebody asks us to stop."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


def keep(folder: int, ended: dict[str, Any], durable: list[str]) -> None:
    """Make the ending durable: a half file is never seen, a lost one never promised.

    `folder` was opened before the step began, which may have put a link in its place.
    """
    for path in durable:
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                _synced(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
        except OSError:
            pass  # not there, or a trap: whoever reads it next will say so
    part = "ended.json.part"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    os.write(file, as_json(ended).encode())
    _synced(file)
    os.rename(part, "ended.json", src_dir_fd=folder, dst_dir_fd=folder)
    _synced(folder)


def _synced(file: int) -> None:
    os.fsync(file)
    os.close(file)


def say(message: dict[str, Any], *, wait: bool = False) -> None:
    """One line to the controller; a sign of life that does not fit its pipe is lost, an ending waits."""
    os.set_blocking(1, wait)
    try:
        os.write(1, as_json(message).encode() + b"\n")
    except OSError:
        pass  # the controller is gone or does not read; what counts is in ended.json


def as_json(value: Any) -> str:  # noqa: ANN401  what JSON can hold
    """Enough of JSON for what is said here."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(name)}: {as_json(item)}" for name, item in value.items()) + "}"
    if value is None:
        return "null"
    return quoted(value) if isinstance(value, str) else repr(value)


def read_spec() -> dict[str, Any]:
    spec: dict[str, Any] = marshal.loads(_read(int.from_bytes(_read(4), "big")))  # noqa: S302  from our own controller
    if select.select([0], [], [], 0)[0]:
        sys.exit(0)  # already told to stop, or the controller is gone
    return spec


def _read(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit(0)  # the controller went away before it had asked for anything
        data += piece
    return data


def main() -> None:
    """Two of us: a guard that does nothing but outlive the keeper, whom a command can easily find and kill."""
    step = sys.argv[sys.argv.index("--step") + 1]
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.setsid()
    guard, controller = os.getpid(), os.getppid()
    keeper = os.fork()
    if keeper:
        os._exit(_guarded(keeper, step))  # nothing to tidy up, and tidying takes as long as all the rest
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.setsid()
    if os.getppid() == guard:
        supervise(step, controller)
        os._exit(0)


def _guarded(keeper: int, step: str) -> int:
    """Wait for the keeper. If it did not end well, end what it had started."""
    statuses = dict([os.waitpid(keeper, 0)])
    if statuses[keeper] == 0:
        return 0
    end_all(step, statuses=statuses)
    return 1


def supervise(step: str, controller: int) -> None:
    signal.signal(signal.SIGCHLD, lambda *_: None)
    spec = read_spec()
    lock = hold(spec["lock"], step, controller, spec["patience"]) if spec["lock"] else None
    folder = os.open(spec["folder"], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    running = SupervisedStep(spec, step)
    signal.signal(signal.SIGTERM, lambda *_: running.stop("cancelled"))
    ended: dict[str, Any] = {}
    try:
        ended = running.run()
    finally:
        if not ended:  # a fault of ours must not let the step live on
            end_all(step, running.main, statuses=running.statuses)
    keep(folder, ended, spec["durable"])
    if lock is not None:
        os.ftruncate(lock, 0)
    say({"ended": ended}, wait=True)


if __name__ == "__main__":
    main()
