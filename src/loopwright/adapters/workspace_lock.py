"""One step at a time in one workspace, even over the death of a controller or a supervisor.

The lock file names its owner (pid, start time, step marker). Whoever comes next ends what a dead
owner has left. Standard library only: the supervisor runs it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import signal
import sys
import time
from typing import Any, NamedTuple

from loopwright.adapters.processes import end_all, send, started_at


class Owner(NamedTuple):
    step: str
    controller: int


def hold(path: str, me: Owner, patience: float) -> int:
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
        if time.monotonic() > limit and owner.get("controller") != me.controller:
            _sweep(owner)
    _sweep(_owner(lock))
    _record(lock, {"pid": os.getpid(), "start": started_at(os.getpid()), **me._asdict()})
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
