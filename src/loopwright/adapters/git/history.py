"""The commits a person has made, read with their own git: nothing is written, not even the engine's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.differences import differences_seen_by
from loopwright.adapters.git.objects import links_of, paths_of, texts_of
from loopwright.adapters.git.program import Git, persons_git, readable, uninterrupted
from loopwright.kernel.model import Change, Commit, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A commit with what it was made on."""

    parent: Commit
    commit: Commit


class PersonsHistory:
    """Reads trees, as the checks do, for looking back over what was done before there were loops."""

    def __init__(self, root: Path, *, env: Mapping[str, str]) -> None:
        self._git: Git = persons_git(env, root)

    def latest(self, count: int) -> tuple[Made, ...]:
        """The last commits that were no merges, the newest first; none where there is no commit yet."""
        asked = self._git.ask("rev-list", "--no-merges", "--parents", f"--max-count={count}", "HEAD")
        rows = [row.split() for row in readable(asked.out).splitlines()] if asked.code == 0 else []
        return tuple(Made(parent=Commit(row[1]), commit=Commit(row[0])) for row in rows if len(row) > 1)

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        found = await uninterrupted(lambda: differences_seen_by(self._git, base, commit))
        return tuple(difference.change for difference in found)

    async def paths(self, commit: Commit | Tree) -> tuple[str, ...]:
        return await uninterrupted(lambda: paths_of(self._git, commit))

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> dict[str, str]:
        return await uninterrupted(lambda: texts_of(self._git, commit, paths, limit)) if paths else {}

    async def links(self, commit: Commit | Tree) -> dict[str, str]:
        return await uninterrupted(lambda: links_of(self._git, commit))
