"""Whether a process runs inside a step of ours: then it may not approve, answer or resume anything.

Two signs: a supervisor of the same repository among the ancestors (daemons too end up below one),
and the marker in the environment. Either is enough. What clears its environment *and* has killed
its supervisor is not recognised.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from loopwright.adapters.processes import MARKER, ROOT, processes

NOTHING: Mapping[str, str] = MappingProxyType({})


def inside_step(root: Path, pid: int, environ: Mapping[str, str] = NOTHING) -> bool:
    """`environ` is the caller's own, for systems where that of another process cannot be read."""
    wanted = os.path.realpath(root)
    if MARKER in environ and _is(environ.get(ROOT, ""), wanted):
        return True
    return any(_marked(each, wanted) or _supervises(each, wanted) for each in _lineage(pid))


def _lineage(pid: int) -> Iterator[int]:
    table = processes()
    seen: set[int] = set()
    while pid in table and pid not in seen:
        seen.add(pid)
        yield pid
        pid = table[pid][0]


def _supervises(pid: int, root: str) -> bool:
    words = _words(pid, "cmdline")
    if not any(Path(word).name == "supervisor.py" for word in words[:6]) or "--root" not in words[:-1]:
        return False
    return _is(words[words.index("--root") + 1], root)


def _marked(pid: int, root: str) -> bool:
    pairs = dict(word.partition("=")[::2] for word in _words(pid, "environ"))
    return MARKER in pairs and _is(pairs.get(ROOT, ""), root)


def _is(path: str, root: str) -> bool:
    return bool(path) and os.path.realpath(path) == root


def _words(pid: int, name: str) -> list[str]:
    try:
        return [os.fsdecode(word) for word in Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")]
    except OSError:
        return []
