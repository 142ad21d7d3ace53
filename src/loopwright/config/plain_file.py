"""Text that a person or another tool wrote, from the disk: never from a pipe, never too large, always UTF-8."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from loopwright.errors import ConfigError


def read_plain_file(path: Path, name: str, limit: int, *, follow: bool = True) -> str:
    """`name` is how messages call it, `limit` its most bytes; without `follow` a link is refused.

    Raises `FileNotFoundError`, and `ConfigError` for whatever else is wrong with it.
    """
    content = _content(path, name, limit, follow=follow)
    if len(content) > limit:
        size = f"{limit // 2**20} MiB" if limit > 2**20 else f"{limit // 1024} KiB"
        raise ConfigError(name, "", f"is larger than {size}")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(name, "", "is not UTF-8 text", line=line) from error


def _content(path: Path, name: str, limit: int, *, follow: bool) -> bytes:
    """Opened without waiting: a pipe in its place must not hang the command."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        if isinstance(error, OSError) and error.errno == errno.ELOOP and not follow:
            raise ConfigError(name, "", "is a link; put the file itself there") from error
        said = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(name, "", f"cannot be opened: {said}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(name, "", "is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(limit + 1)
    except OSError as error:
        raise ConfigError(name, "", f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
