"""Looking into commits without checking anything out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.workspace.git import uninterrupted
from loopwright.adapters.workspace.ground import Site
from loopwright.adapters.workspace.snapshots import differences
from loopwright.kernel.model import Change, Commit


class GitObjects:
    """Reads what changed and what a file held. Starts no checkout."""

    def __init__(self, root: Path, *, env: Mapping[str, str]) -> None:
        self._site = Site(root, env)

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        """Every path `commit` changed against `base`. A rename is one removed and one added."""
        found = await uninterrupted(lambda: differences(self._site.ground(), base, commit))
        return tuple(difference.change for difference in found)

    async def text(self, commit: Commit, path: str, *, limit: int) -> str | None:
        """The first `limit` bytes of a file as text, or None when the commit has no such file."""
        return await uninterrupted(lambda: self._text(commit, path, limit))

    def _text(self, commit: Commit, path: str, limit: int) -> str | None:
        engine = self._site.ground().engine
        row = engine.run("ls-tree", "-z", commit, "--", path).partition(b"\0")[0]
        kind_and_blob = row.partition(b"\t")[0].split()
        if kind_and_blob[1:2] != [b"blob"]:
            return None
        return engine.beginning("cat-file", "blob", kind_and_blob[2].decode(), limit=limit).decode("utf-8", "replace")
