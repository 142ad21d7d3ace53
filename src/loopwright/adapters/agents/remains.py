"""Reading what an agent left behind, as if it had set traps: no symlinks followed, no pipes waited for, all bounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from loopwright.adapters.agents.redaction import Redactor
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible_bytes

CHUNK = 1 << 20
_CODE_LIMIT = 1 << 20
_DETAIL_BYTES, _DETAIL_LINES = 4096, 20
_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_regular(path: Path, limit: int) -> bytes | None:
    """At most `limit` bytes and one more, so that too long a file shows. None: no regular file there."""
    file = _opened(path)
    if file is None:
        return None
    with file:
        return file.read(limit + 1)


def read_tail(path: Path, limit: int) -> bytes:
    file = _opened(path)
    if file is None:
        return b""
    with file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read(limit)


def _opened(path: Path | str, folder: int | None = None) -> BinaryIO | None:
    """The file if it is a regular one, not a link to one."""
    try:
        handle = os.open(path, _SAFE, dir_fd=folder)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def last_words(stdout: Path, stderr: Path) -> str:
    """The last lines an agent printed, harmless to show: from stderr, else from stdout."""
    for path in (stderr, stdout):
        lines = visible_bytes(read_tail(path, _DETAIL_BYTES)).strip().splitlines()[-_DETAIL_LINES:]
        if lines:
            return "\n".join(lines)
    return ""


def code_line(folder: Path, finding: Finding) -> str:
    """The line of code a finding points at; empty when there is none to be had safely."""
    parts = Path(finding.file).parts
    if not finding.line or not parts or finding.file.startswith("/") or ".." in parts:
        return ""
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        for name in parts[:-1]:
            at = _below(at, name)
    except (OSError, ValueError):
        return ""
    file = _opened(parts[-1], at)
    os.close(at)
    if file is None:
        return ""
    with file:
        lines = file.read(_CODE_LIMIT).splitlines()
    return lines[finding.line - 1].decode("utf-8", "replace") if finding.line <= len(lines) else ""


def _below(folder: int, name: str) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def redact_in_place(path: Path, redactor: Redactor) -> None:
    if not redactor.knows_any or not path.is_file() or path.is_symlink():
        return
    clean = path.with_name(f"{path.name}.clean")
    with clean.open("wb") as target:
        target.writelines(redactor.stream(_chunks(path)))
    clean.replace(path)


def join(parts: tuple[Path, ...], whole: Path) -> int:
    """One file after the other into `whole`; how many bytes that were."""
    with whole.open("wb") as target:
        for part in parts:
            target.writelines(_chunks(part))
        return target.tell()


def _chunks(path: Path) -> Iterator[bytes]:
    file = _opened(path)
    if file is None:
        return
    with file:
        while chunk := file.read(CHUNK):
            yield chunk
