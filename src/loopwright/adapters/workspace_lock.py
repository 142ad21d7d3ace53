"""One step at a time in one workspace, even over the death of a controller or a supervisor.

The lock file names its owner (pid, start time, step marker). Whoever comes next ends what a dead
owner has left. Standard library only: the supervisor runs it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # see processes.py
import errno
import fcntl
import os
import select
import sys
import time

from loopwright.adapters.processes import end_all, send, started_at

_NOBODY = (0, 0, 0, "")  # pid, start time, controller, step
Owner = tuple[int, int, int, str]


def hold(path: str, step: str, controller: int, patience: float) -> int:
    """Be the only step of this workspace; first end what an owner that died or hangs has left.

    A step of the same controller is waited for: it is neither dead nor forgotten. One of another
    controller has lost its loop to ours, and is ended when the patience is over.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    limit = time.monotonic() + patience
    while not _locked(lock):
        if select.select([0], [], [], 0.02)[0]:
            sys.exit(0)  # told to stop, or the controller is gone, before anything was started
        owner = _owner(lock)
        if time.monotonic() > limit and owner[2] != controller:
            _sweep(owner)
    _sweep(_owner(lock))
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {started_at(os.getpid())} {controller} {step}\n".encode(), 0)
    return lock


def wait_until_free(path: str, patience: float = 15.0) -> None:
    """Before files are put right: whatever a dead controller left running in the workspace is gone."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    limit = time.monotonic() + patience
    try:
        while not _locked(lock):
            if time.monotonic() > limit:
                _sweep(_owner(lock))
            time.sleep(0.01)
        _sweep(_owner(lock))
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def _owner(lock: int) -> Owner:
    words = os.pread(lock, 4096, 0).decode("ascii", "replace").split()
    try:
        return (int(words[0]), int(words[1]), int(words[2]), words[3])
    except (IndexError, ValueError):
        return _NOBODY


def _sweep(owner: Owner) -> None:
    pid, start, _, step = owner
    if start and started_at(pid) == start:
        send(pid, signal.SIGKILL)
    if step:
        end_all(step)
