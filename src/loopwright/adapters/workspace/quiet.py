"""A folder is touched only when nothing is at work in it, be it a step whose controller died."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

from loopwright.adapters.processes import end_all
from loopwright.adapters.steps import lock_of
from loopwright.adapters.workspace.folders import open_lock
from loopwright.errors import VcsFailed

PATIENCE = 15.0  # seconds a step of a dead controller may take to end by itself
LAST = 5.0


def until_quiet(root: Path, folder: Path) -> None:
    """Wait for the step that holds the folder; end what one left whose supervisor is gone."""
    descriptor = open_lock(lock_of(root, folder))
    try:
        if not _free_within(descriptor, PATIENCE):
            _end_leftovers(descriptor)
            if not _free_within(descriptor, LAST):
                raise VcsFailed(
                    "flock", f"a step still runs in {folder} and cannot be ended; end it, then `loop resume`"
                )
        _end_leftovers(descriptor)
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _free_within(descriptor: int, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > limit:
                return False
            time.sleep(0.02)
        else:
            return True


def _end_leftovers(descriptor: int) -> None:
    """A step that ended well leaves its lock file empty."""
    try:
        owner = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except ValueError:
        return
    if isinstance(owner, dict) and isinstance(step := owner.get("step"), str) and step:
        end_all(step)
