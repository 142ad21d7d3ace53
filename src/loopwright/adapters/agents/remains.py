"""What an agent left behind: its last words, the code its findings point at, its output without secrets."""

from __future__ import annotations

import os
from pathlib import Path

from loopwright.adapters.agents.redaction import Redactor
from loopwright.adapters.files import chunks_of, open_regular, read_tail
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible_bytes

_CODE_LIMIT = 1 << 20
_DETAIL_BYTES, _DETAIL_LINES = 4096, 20


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
    file = open_regular(parts[-1], at)
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
        target.writelines(redactor.stream(chunks_of(path)))
    clean.replace(path)
