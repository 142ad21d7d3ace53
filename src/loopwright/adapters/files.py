"""Files of ours: written whole, so that whoever reads one sees the old or the new, and read without surprises."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from loopwright.errors import ConfigError
from loopwright.kernel.quoting import one_line

_READABLE = 0o644


def write_whole(path: Path, text: str) -> None:
    """Replace `path` with `text`: temporary file in the same folder, synced, renamed, folder synced.

    Raises `OSError`; then `path` is as it was and nothing else is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), _READABLE)
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):  # renamed, as it should be
            Path(name).unlink()
    _sync(path.parent)


def ignore_all(folder: Path) -> None:
    """A folder of ours that the person's git never sees, made if need be."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # transcripts and briefs are nobody else's business
    rule = folder / ".gitignore"
    if not rule.exists():
        write_whole(rule, "*\n")


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def made(root: Path, folder: Path) -> Path:
    """The folder, one of ours, made if need be. Raises `ConfigError` if a link is in the way."""
    refuse_links(root, folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def refuse_links(root: Path, path: Path) -> None:
    """Raises `ConfigError` if the way from the root to the path leads out of it, through a link, or ends in one."""
    if not path.is_relative_to(root) or ".." in path.parts:
        raise ConfigError(
            one_line(str(path), 4096), "", f"is not in {one_line(str(root), 4096)}; nothing is written there"
        )
    below = path.relative_to(root)
    for part in (*reversed(below.parents), below):
        if part != Path() and (root / part).is_symlink():
            raise ConfigError(one_line(str(root / part), 4096), "", "is a link; nothing is read or written there")


def holds(path: Path, text: str) -> bool:
    """Whether it is a plain file with exactly this text."""
    try:
        return text_of(path, len(text.encode("utf-8", "backslashreplace"))) == text
    except ConfigError:
        return False


def text_of(path: Path, limit: int) -> str | None:
    """None if there is no such file. Opened without waiting: a pipe in its place must not hang the command.

    Raises `ConfigError` for what is not a plain file of at most `limit` bytes of UTF-8.
    """
    name = one_line(str(path), 4096)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise ConfigError(name, "", f"cannot be opened: {error}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(name, "", "is not a regular file")
        content = os.read(handle, limit + 1)
    except OSError as error:
        raise ConfigError(name, "", f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    return _decoded(content, name, limit)


def _decoded(content: bytes, name: str, limit: int) -> str:
    if len(content) > limit:
        raise ConfigError(name, "", f"is larger than {limit // 1024} KiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(name, "", "is not UTF-8 text", line=line) from error
