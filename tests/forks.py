"""Commands as processes of their own, but without a start-up each: forks of one process that has imported the program.

`python -m tests.forks` is that process. On the socket that is its stdin it hears what to run, tells the pid of the
fork and then how it ended; it serves one command at a time. A fork has its own pid, folder, environment and output,
and dies of a signal like any other process; only its command line in /proc is not its own.
"""

import functools
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import loopwright

ROOT = Path(__file__).parents[1]
MOST = 1 << 20  # bytes of one message


@dataclass(frozen=True, slots=True)
class Forks:
    """The side of the tests."""

    channel: socket.socket
    server: "subprocess.Popen[bytes]"

    @classmethod
    def open(cls) -> "Forks":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            server = subprocess.Popen([sys.executable, "-m", __name__], cwd=ROOT, stdin=theirs.fileno())
        return cls(ours, server)

    def run(
        self, module: str, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """What `main` of this module does, as by `subprocess.run`: whoever takes too long is killed."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = {"module": module, "args": args, "cwd": str(cwd), "env": dict(env)}
            socket.send_fds(self.channel, [json.dumps(asked).encode()], [out.fileno(), err.fileno()])
            pid = self._heard(None)
            try:
                code = self._heard(timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                code = self._heard(None)
                if code == -signal.SIGKILL:  # it may have ended on its own meanwhile
                    raise subprocess.TimeoutExpired([module, *args], timeout) from None
            return subprocess.CompletedProcess([module, *args], code, _text(out), _text(err))

    def _heard(self, timeout: float | None) -> int:
        self.channel.settimeout(timeout)
        return int(self.channel.recv(MOST))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@functools.cache
def forks() -> Forks:
    """Those of this process of tests. With it ends the socket, and so the server; nobody waits for that."""
    return Forks.open()


# --- the process that is forked ------------------------------------------------------------------------------------


def become(asked: dict[str, Any], files: Sequence[int]) -> None:
    """What a fresh process of this command would be."""
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - no path of ours
        for wanted, given in enumerate((nothing.fileno(), *files)):
            os.dup2(given, wanted)
    for file in files:
        os.close(file)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [asked["module"], *asked["args"]]


def serve(channel: socket.socket) -> Callable[[], None]:
    """What to go on with: this returns in every fork, and never in the server."""
    while True:
        message, files, *_ = socket.recv_fds(channel, MOST, 2)
        if not message:
            sys.exit()
        asked = json.loads(message)
        main: Callable[[], None] = import_module(asked["module"]).main
        if (pid := os.fork()) == 0:
            channel.close()
            become(asked, files)
            return main
        for file in files:
            os.close(file)
        channel.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


def import_everything() -> None:
    for found in pkgutil.walk_packages(loopwright.__path__, "loopwright."):
        if found.name != "loopwright.__main__":  # starts the program
            import_module(found.name)


if __name__ == "__main__":
    import_everything()
    gc.freeze()
    serve(socket.socket(fileno=os.dup(0)))()
