"""Reading what an agent left behind, as if it had set traps: no symlinks followed, no pipes waited for, all bounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.agents.redaction import Redactor
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible_bytes

CHUNK = 1 << 20
_CODE_LIMIT = 1 << 20
_DETAIL_BYTES, _DETAIL_LINES = 4096, 20
_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_regular(path: Path, limit: int) -> bytes | None:
    """At most `limit` bytes and one more, so that too long a file shows. None: no regular file there."""
    try:
        file = os.open(path, _SAFE)
    except OSError:
        return None
    return _contents(file, limit)


def _contents(file: int, limit: int) -> bytes | None:
    with os.fdopen(file, "rb") as opened:
        return opened.read(limit + 1) if stat.S_ISREG(os.fstat(file).st_mode) else None


def read_tail(path: Path, limit: int) -> bytes:
    try:
        file = os.open(path, _SAFE)
    except OSError:
        return b""
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return b""
        opened.seek(max(0, os.fstat(file).st_size - limit))
        return opened.read(limit)


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
            at = _step_down(at, name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        content = _contents(_step_down(at, parts[-1], _SAFE), _CODE_LIMIT)
    except (OSError, ValueError):
        return ""
    lines = (content or b"").splitlines()
    return lines[finding.line - 1].decode("utf-8", "replace") if finding.line <= len(lines) else ""


def _step_down(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
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
    try:
        file = os.open(path, _SAFE)
    except OSError:
        return
    with os.fdopen(file, "rb") as source:
        if stat.S_ISREG(os.fstat(file).st_mode):
            while chunk := source.read(CHUNK):
                yield chunk
