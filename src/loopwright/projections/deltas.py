"""What of a change a judge is shown: in a review of one artifact, that artifact and what its findings name.

A batch starts all its reviews from one commit with everything that is to be reviewed, so the change as a whole
would show the other artifacts too.
"""

from __future__ import annotations

import re

from loopwright.ports.agent import AgentRun

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)  # content lines of a diff never begin with a letter
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
_CONTROLS = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def shown_to(run: AgentRun) -> str:
    if run.kind != "quality":
        return run.diff
    paths = {*run.brief.artifacts, *(finding.file for finding in run.brief.findings)}
    return "".join(part for part in _FILE.split(run.diff) if any(_is_about(part, path) for path in paths))


def _is_about(part: str, path: str) -> bool:
    """Whether the file's header names the path, or something in it, on either side."""
    head = _unquoted(part.partition("\n")[0]).removeprefix("diff --git ")
    inside = head.startswith(f"a/{path}/") or f" b/{path}/" in head
    return inside or head.startswith(f"a/{path} b/") or head.endswith(f" b/{path}")


def _unquoted(head: str) -> str:
    """git writes names with other than plain ASCII in quotes, byte by byte."""
    return _QUOTED.sub(
        lambda name: _ESCAPED.sub(_byte, name[1].encode("utf-8", "replace")).decode("utf-8", "replace"), head
    )


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) > 1 else _CONTROLS.get(code, code)
