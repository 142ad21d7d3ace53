"""One step's keeper: a script of the standard library alone, started as `python -I -S supervisor.py --root R --step ID`.

The controller writes a JSON spec as the first line of our stdin and may later write `stop` (ask,
then kill) or `kill`; the end of that stream means that the controller is gone. We start the
command, keep the head and the tail of its output, watch the limits, and answer with JSON lines:
signs of life, then `ended`. When we say so, `ended.json` is durable and nothing the step started
is alive.

On Linux we are the child subreaper: whatever double-forks, leaves its session, closes its files
or clears its environment is still found below us. Elsewhere only the command's process group is
killed, so a process that leaves it survives the step.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import sys
import time
from typing import Any, NoReturn

MARKER = "LOOP_STEP"
ROOT = "LOOP_ROOT"
LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PIPE_SIZE = 1 << 20
KILL_LIMIT = 30.0  # seconds after which what cannot be killed (stuck in the kernel) is left and named
LOCK_LIMIT = 15.0
UPDATE_PAUSE = 0.2
SHOWN = 300  # characters of the last line; a message must fit one atomic pipe write

Table = dict[int, tuple[int, str, int]]  # pid: parent, state, start time


# --- processes -----------------------------------------------------------------------------------


def processes() -> Table:
    """Every process we can see; empty where there is no /proc."""
    table: Table = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit() and (facts := _facts(name)):
            table[int(name)] = facts
    return table


def _facts(pid: str) -> tuple[int, str, int] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0].decode(), int(fields[19])


def started_at(pid: int) -> int:
    """The kernel's start time of a process; with the pid it names one process for good. 0: there is none."""
    facts = _facts(str(pid))
    return facts[2] if facts else 0


def below(roots: set[int], table: Table) -> set[int]:
    """All descendants of `roots`, without them."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    ahead = list(roots)
    while ahead:
        for child in children.get(ahead.pop(), ()):
            if child not in found:
                found.add(child)
                ahead.append(child)
    return found - roots


def marked(step: str, table: Table) -> set[int]:
    """Processes whose environment carries the step's marker, wherever they hang in the tree."""
    wanted = f"{MARKER}={step}".encode()
    found = set()
    for pid in table:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                carries = wanted in file.read().split(b"\0")
        except OSError:
            continue
        if carries:
            found.add(pid)
    return found


def living(step: str, *, descend: bool) -> set[int]:
    """What of the step is alive now: by descent from us (if asked) and by marker, never ourselves."""
    table = processes()
    roots = marked(step, table)
    found = roots | below(roots | ({os.getpid()} if descend else set()), table)
    return {pid for pid in found - {os.getpid()} if table[pid][1] not in "ZX"}


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone already, or not ours to kill: the caller looks again


def end_all(step: str, group: int = 0, *, statuses: dict[int, int] | None = None) -> set[int]:
    """Kill all of the step, frozen first so that nothing is born while we look. Returns what was killed.

    With `statuses` our own descendants belong to it: they are reaped, and their ends put there.
    """
    descend = statuses is not None
    killed: set[int] = set()
    limit = time.monotonic() + KILL_LIMIT
    while True:
        found = _frozen(step, descend=descend)
        for pid in found:
            send(pid, signal.SIGKILL)
        if group and not LINUX:
            send(-group, signal.SIGKILL)
        killed |= found
        alone = statuses is None or reap(statuses)
        if (not found and alone) or time.monotonic() > limit:
            return killed
        time.sleep(0.002)


def _frozen(step: str, *, descend: bool) -> set[int]:
    frozen: set[int] = set()
    while fresh := living(step, descend=descend) - frozen:
        for pid in fresh:
            send(pid, signal.SIGSTOP)
        frozen |= fresh
    return frozen


def reap(statuses: dict[int, int]) -> bool:
    """Collect every child that has ended. True: there is none left."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]
    except ChildProcessError:
        return True
    return False


# --- output --------------------------------------------------------------------------------------


class Kept:
    """One stream of output. The head goes to its file at once, the tail stays in a ring until the end."""

    def __init__(self, source: int, path: str, head: int, tail: int) -> None:
        self.source, self.head, self.total, self.written, self.at = source, head, 0, 0, 0
        self.ring = memoryview(bytearray(max(tail, 1)))
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        os.set_blocking(source, False)

    def take(self) -> int | None:
        """Read once. 0: the stream has ended; None: nothing there."""
        size, at = len(self.ring), self.at
        try:
            count = os.readv(self.source, [self.ring[at:], self.ring[:at]])
        except BlockingIOError:
            return None
        wanted = min(count, max(0, self.head - self.total))
        if wanted:
            self._write(self.last(count, at + count)[:wanted])
        self.total += count
        self.at = (at + count) % size
        return count

    def last(self, count: int, end: int) -> bytes:
        """The `count` bytes of the ring that end at `end`."""
        size = len(self.ring)
        start = (end - count) % size
        piece = self.ring[start : start + count]
        return bytes(piece) if len(piece) == count else bytes(piece) + bytes(self.ring[: count - len(piece)])

    def _write(self, data: bytes) -> None:
        try:
            while data:
                count = os.write(self.file, data)
                self.written += count
                data = data[count:]
        except OSError:
            self.head = 0  # a full disk ends the record, not the step; the rest is counted as dropped

    def finish(self) -> int:
        """Take what is left, add the tail to the file, and say how many bytes were dropped."""
        for _ in range(16):  # more than a full pipe; whoever still writes is no process of ours
            if not self.take():
                break
        rest = self.total - self.written
        tail = min(rest, len(self.ring))
        if rest > tail:
            self._write(f"\n… {(rest - tail) / 1e6:.1f} MB omitted …\n".encode())
        self._write(self.last(tail, self.at))
        os.close(self.file)
        return rest - tail

    def last_line(self) -> str:
        seen = self.last(min(self.total, len(self.ring), 4096), self.at)
        lines = seen.replace(b"\r", b"\n").rstrip().rpartition(b"\n")
        return lines[2][:SHOWN].decode("utf-8", "backslashreplace")[:SHOWN]


# --- the step ------------------------------------------------------------------------------------


class Step:
    """The command while it runs: limits, signs of life, and why it ended."""

    def __init__(self, spec: dict[str, Any], step: str) -> None:
        self.spec, self.step = spec, step
        self.reason, self.detail = "exited", ""
        self.statuses: dict[int, int] = {}  # how our children ended
        self.main = 0
        self.kill_at: float | None = None
        self.streams: list[Kept] = []
        self.started = self.active = time.monotonic()
        self.updated = 0.0
        self.newest: Kept | None = None

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
                pass  # the person's pipe quota is used up; the default size works, slower
        path = os.path.join(self.spec["folder"], name)
        self.streams.append(Kept(read, path, self.spec["head"], self.spec["tail"]))
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
            self.kill_at = now + self.spec["grace"]
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
            return os._exit(127)
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(spec["stdin"] or os.devnull, os.O_RDONLY), 0)
        os.dup2(ends[0], 1)
        os.dup2(ends[1], 2)
        os.chdir(spec["cwd"])
        os.execvpe(spec["argv"][0], spec["argv"], {**spec["env"], MARKER: step, ROOT: spec["root"]})
    except (OSError, ValueError) as error:
        os.write(tell, f"{spec['argv'][0]}: {error}"[:1000].encode())
    finally:
        os._exit(127)


def prctl(option: int, value: int) -> bool:
    return LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


def _alarm_pipe() -> int:
    """A descriptor that becomes readable when a child ends or somebody asks us to stop."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


# --- the workspace lock, the record, the door -----------------------------------------------------


def hold(path: str, step: str) -> int:
    """Be the only step of this workspace; first end what an owner that died or hangs has left."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    limit = time.monotonic() + LOCK_LIMIT
    while not _locked(lock):
        if select.select([0], [], [], 0.02)[0]:
            sys.exit(0)  # told to stop, or the controller is gone, before anything was started
        owner = _owner(lock)
        if time.monotonic() > limit and owner.get("controller") != os.getppid():
            _sweep(owner)
    _sweep(_owner(lock))
    _record(lock, {"pid": os.getpid(), "start": started_at(os.getpid()), "step": step, "controller": os.getppid()})
    return lock


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def _owner(lock: int) -> dict[str, Any]:
    try:
        owner = json.loads(os.pread(lock, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return owner if isinstance(owner, dict) else {}


def _sweep(owner: dict[str, Any]) -> None:
    pid, start, step = owner.get("pid"), owner.get("start"), owner.get("step")
    if isinstance(pid, int) and start and started_at(pid) == start:
        send(pid, signal.SIGKILL)
    if isinstance(step, str) and step:
        end_all(step)


def _record(lock: int, owner: dict[str, Any]) -> None:
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(owner).encode(), 0)


def keep(folder: str, ended: dict[str, Any], durable: list[str]) -> None:
    """Make the ending durable: a half file is never seen, a lost one never promised."""
    for path in durable:
        if os.path.isfile(path):
            _synced(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
    part = f"{folder}/ended.json.part"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.write(file, json.dumps(ended).encode())
    _synced(file)
    os.rename(part, f"{folder}/ended.json")
    _synced(os.open(folder, os.O_RDONLY))


def _synced(file: int) -> None:
    os.fsync(file)
    os.close(file)


def say(message: dict[str, Any], *, wait: bool = False) -> None:
    """One line to the controller; a sign of life that does not fit its pipe is lost, an ending waits."""
    os.set_blocking(1, wait)
    try:
        os.write(1, json.dumps(message).encode() + b"\n")
    except OSError:
        pass  # the controller is gone or does not read; what counts is in ended.json


def read_spec() -> dict[str, Any]:
    text = b""
    while b"\n" not in text:
        piece = os.read(0, 65536)
        text += piece
        if not piece:
            sys.exit(0)  # the controller went away before it had asked for anything
    line, _, more = text.partition(b"\n")
    if more:
        sys.exit(0)  # already told to stop
    spec: dict[str, Any] = json.loads(line)
    return spec


def main() -> None:
    step = sys.argv[sys.argv.index("--step") + 1]
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    if os.getpgrp() != os.getpid():
        os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    spec = read_spec()
    lock = hold(spec["lock"], step) if spec["lock"] else None
    running = Step(spec, step)
    signal.signal(signal.SIGTERM, lambda *_: running.stop("cancelled"))
    ended: dict[str, Any] = {}
    try:
        ended = running.run()
    finally:
        if not ended:  # a fault of ours must not let the step live on
            end_all(step, running.main, statuses=running.statuses)
    keep(spec["folder"], ended, spec["durable"])
    if lock is not None:
        os.ftruncate(lock, 0)
    say({"ended": ended}, wait=True)


if __name__ == "__main__":
    main()
