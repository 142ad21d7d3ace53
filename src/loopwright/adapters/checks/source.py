"""A look at a change through the engine's own git directory: which paths, and the text of some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.adapters.workspace.git import name_of, uninterrupted
from loopwright.adapters.workspace.ground import Ground, Site
from loopwright.adapters.workspace.snapshots import differences
from loopwright.kernel.model import Change, Commit


@dataclass(frozen=True, slots=True)
class GitSource:
    """Implements `checkouts.Source`."""

    site: Site

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        def look() -> tuple[Change, ...]:
            ground = self.site.ground()
            found = differences(ground, ground.tree(base), ground.tree(commit))
            return tuple(difference.change for difference in found)

        return await uninterrupted(look)

    async def texts(self, commit: Commit, paths: tuple[str, ...], *, limit: int) -> dict[str, str]:
        if not paths:
            return {}
        return await uninterrupted(lambda: _texts(self.site.ground(), commit, paths, limit))


def _texts(ground: Ground, commit: Commit, paths: tuple[str, ...], limit: int) -> dict[str, str]:
    """Two processes however many paths: the sizes first, so that nothing large is ever read."""
    askable = [path for path in paths if "\n" not in path]
    names = b"".join(f"{commit}:".encode() + name_of(path) + b"\n" for path in askable)
    sizes = ground.engine.run("cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)", stdin=names)
    found = {}
    for path, line in zip(askable, sizes.splitlines(), strict=True):
        kind, *rest = line.split()
        if kind == b"blob" and int(rest[1]) <= limit:
            found[path] = rest[0]
    content = ground.engine.run("cat-file", "--batch", stdin=b"".join(name + b"\n" for name in found.values()))
    return dict(zip(found, _blobs(content), strict=True))


def _blobs(output: bytes) -> Iterator[str]:
    """`<name> blob <size>`, the bytes, an end of line; again and again."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        size = int(output[start:end].split()[2])
        yield output[end + 1 : end + 1 + size].decode("utf-8", "replace")
        start = end + size + 2
