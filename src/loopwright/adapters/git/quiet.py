"""A folder is touched only when nothing is at work in it, be it a step whose controller died."""

from __future__ import annotations

from pathlib import Path

from loopwright.adapters.steps import lock_of
from loopwright.adapters.workspace_lock import wait_until_free


def until_quiet(root: Path, folder: Path) -> None:
    wait_until_free(str(lock_of(root, folder)))
