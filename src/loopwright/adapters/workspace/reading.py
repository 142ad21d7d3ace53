"""Looking into commits without checking anything out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from loopwright.adapters.workspace.differences import differences
from loopwright.adapters.workspace.git import name_of, uninterrupted
from loopwright.adapters.workspace.ground import Ground, Site
from loopwright.kernel.model import Change, Commit

_ASKED = "%(objecttype) %(objectname) %(objectsize)"


class GitObjects:
    """Reads what changed and what files held. Starts no checkout."""

    def __init__(self, root: Path, *, env: Mapping[str, str]) -> None:
        self._site = Site(root, env)

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        """Every path `commit` changed against `base`. A rename is one removed and one added."""
        found = await uninterrupted(lambda: differences(self._site.ground(), base, commit))
        return tuple(difference.change for difference in found)

    async def texts(self, commit: Commit, paths: tuple[str, ...], *, limit: int) -> dict[str, str]:
        """The text of these files. One that is not there, or larger than `limit` bytes, is left out."""
        askable = [path for path in paths if "\n" not in path]
        if not askable:
            return {}
        return await uninterrupted(lambda: _texts(self._site.ground(), commit, askable, limit))


def _texts(ground: Ground, commit: Commit, paths: list[str], limit: int) -> dict[str, str]:
    """Two processes however many paths: the sizes first, so that nothing large is ever read."""
    names = b"".join(f"{commit}:".encode() + name_of(path) + b"\n" for path in paths)
    answers = ground.engine.run("cat-file", f"--batch-check={_ASKED}", stdin=names).splitlines()
    found = {}
    for path, answer in zip(paths, answers, strict=True):
        match answer.split(b" "):
            case [b"blob", name, size] if int(size) <= limit:
                found[path] = name
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
