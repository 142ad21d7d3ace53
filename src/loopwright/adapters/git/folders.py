"""Folders of ours: made, locked, emptied and removed without ever following a link."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.steps import lock_of
from loopwright.adapters.workspace_lock import wait_until_free
from loopwright.errors import VcsFailed


def own_folder(folder: Path) -> None:
    """A folder in the person's tree that their git does not see."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise VcsFailed("mkdir", f"{folder} is in the way: it has to be a folder; move it and try again")
    folder.mkdir(exist_ok=True)
    put(folder / ".gitignore", "*\n")


def real_folder(folder: Path) -> None:
    """A folder of ours, not a link to one."""
    if not is_folder(folder):
        remove(folder)
        folder.mkdir()


def put(file: Path, text: str) -> None:
    """The file with exactly this text, whatever was there; written only when it differs."""
    wanted = text.encode("utf-8", "surrogateescape")
    with contextlib.suppress(OSError):
        if not file.is_symlink() and file.read_bytes() == wanted:
            return
    if file.is_dir() and not file.is_symlink():
        remove(file)
    new = file.with_name(f".new-{file.name}-{os.getpid()}-{threading.get_ident()}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as out:
        out.write(wanted)
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)


def is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def remove(path: Path) -> None:
    """Whatever is there is gone, links not followed; harmless when nothing is."""
    if not is_folder(path):
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        make_readable(path)
        shutil.rmtree(path)
    except FileNotFoundError:
        shutil.rmtree(path, ignore_errors=True)


def make_readable(folder: Path) -> None:
    """Give the owner back what an agent took away with chmod."""
    with contextlib.suppress(OSError):
        folder.chmod(folder.lstat().st_mode | stat.S_IRWXU)
    for above, folders, files in os.walk(folder):
        for name in folders:
            _grant(Path(above, name), stat.S_IRWXU)
        for name in files:
            _grant(Path(above, name), stat.S_IRUSR)


def _grant(path: Path, wanted: int) -> None:
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and mode & wanted != wanted:
            path.chmod(mode | wanted)


def files_below(folder: Path, skipped: tuple[str, ...] = ()) -> Iterator[str]:
    """Plain files and links below a folder, as paths relative to it; nothing called `.git` is entered, nor what is
    named and lies directly in it."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(os.path.join(folder, prefix)) as entries:  # noqa: PTH118 - tens of thousands of files
            for entry in entries:
                if entry.name == ".git" or (not prefix and entry.name in skipped):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    yield prefix + entry.name


@contextlib.contextmanager
def locked(file: Path) -> Iterator[int]:
    """Hold a lock that ends with its last holder, be it this process or a git it started."""
    descriptor = open_lock(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def open_lock(file: Path) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def try_lock(file: Path, *, shared: bool = False) -> int | None:
    """The descriptor of a lock that was free, or None."""
    descriptor = open_lock(file)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def until_quiet(root: Path, folder: Path) -> None:
    """Whoever is at work in the folder has ended, be it a step whose controller died."""
    wait_until_free(str(lock_of(root, folder)))
