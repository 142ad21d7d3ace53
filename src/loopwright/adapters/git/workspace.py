"""The workspace port over git. Each method is one piece of work in a thread; see the modules it calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.git import checkouts, cleanup, snapshots
from loopwright.adapters.git.branches import advance
from loopwright.adapters.git.combination import combine
from loopwright.adapters.git.landing import branch_of, land, merge
from loopwright.adapters.git.objects import GitObjects, added_texts, beginnings, contents
from loopwright.adapters.git.overlay import setup_inputs, setup_key
from loopwright.adapters.git.preparation import Preparation, copy_files, digest_of, run_setup
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import Ground, Place, Site
from loopwright.kernel.model import Change, Cleanup, Commit, Content, LoopId, Tree
from loopwright.kernel.risks import AddedText
from loopwright.ports.workspace import Combination, Combining, Landing, Merge, Moved, Snapshot, Taking


class GitWorkspace:
    """`root` is the top of the person's repository, `env` the person's environment."""

    def __init__(
        self,
        root: Path,
        *,
        env: Mapping[str, str],
        preparation: Preparation | None = None,
        pinned: Pinned | None = None,
    ) -> None:
        self._site = Site(root, env, pinned)
        self._preparation = preparation or Preparation()
        self._judges = set[str]()  # names of their folders, while they are at work

    async def prepare(self, loop: LoopId, name: str, at: Commit, step: str) -> Path:
        def bring() -> tuple[Ground, Place, str, str]:
            ground, needed = self._site.ground(), self._preparation.needed
            digest = digest_of(self._preparation, ground.root) if needed else ""
            tree = ground.tree(at)
            key = setup_key(digest, setup_inputs(ground, self._preparation, tree, tree)[0]) if needed else ""
            return ground, checkouts.bring(ground, loop, name, at, step), digest, key

        ground, place, digest, key = await uninterrupted(bring)
        if digest and not checkouts.is_prepared(place, digest):
            if not await uninterrupted(lambda: checkouts.fill_from_prepared(ground, place, key)):
                await self._set_up(ground, place, loop)
            await uninterrupted(lambda: checkouts.settle_prepared(ground, place, at, digest))
        return place.folder

    async def _set_up(self, ground: Ground, place: Place, loop: LoopId) -> None:
        runs = ground.loop / "runs" / loop / f"setup-{place.folder.name}"
        await uninterrupted(lambda: copy_files(self._preparation.copy, ground.root, place.folder))
        await run_setup(self._preparation, place.folder, root=ground.root, runs=runs)

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        self._judges.add(checkouts.judges_name(loop, at, step))
        return await uninterrupted(lambda: checkouts.lay_out(self._site.ground(), loop, at, step))

    async def remove_others(self, loop: LoopId, name: str) -> None:
        await uninterrupted(lambda: cleanup.remove_others(self._site.ground(), loop, name))

    async def discard(self, folder: Path) -> None:
        self._judges.discard(folder.name)
        await uninterrupted(lambda: checkouts.throw_away(self._site.ground(), folder))

    async def snapshot(self, taking: Taking) -> Snapshot:
        return await uninterrupted(lambda: snapshots.take(self._site.ground(), taking))

    async def keep(self, loop: LoopId, name: str, at: Commit, step: str) -> Commit:
        """What whoever was stopped in mid-step had edited; nothing is put back, and the folder stays as it is."""
        return await uninterrupted(lambda: snapshots.keep_unfinished(self._site.ground(), loop, name, at, step))

    async def contents(self, commit: Commit, paths: tuple[str, ...]) -> tuple[Content, ...]:
        def held() -> tuple[Content, ...]:
            ground = self._site.ground()
            return contents(ground.engine, ground.tree(commit), paths)

        return await uninterrupted(held)

    async def texts(self, commit: Commit, paths: tuple[str, ...], limit: int) -> tuple[str | None, ...]:
        def held() -> tuple[str | None, ...]:
            ground = self._site.ground()
            return beginnings(ground.engine, ground.tree(commit), paths, limit)

        return await uninterrupted(held)

    async def changed(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        return await GitObjects(self._site).changes(base, commit)

    async def added(self, base: Commit, commit: Commit, limit: int) -> tuple[AddedText, ...]:
        return await uninterrupted(lambda: added_texts(self._site.ground(), base, commit, limit))

    async def combine(self, wanted: Combining) -> Combination:
        """`base` itself, and no ref, when nothing changes."""
        return await uninterrupted(lambda: combine(self._site.ground(), wanted))

    async def diff(self, base: Commit, commit: Commit, *, limit: int, only: tuple[str, ...] = ()) -> str:
        return await uninterrupted(lambda: snapshots.diff_text(self._site.ground(), base, commit, limit, only))

    async def tree(self, commit: Commit) -> Tree:
        return await uninterrupted(lambda: self._site.ground().tree(commit))

    async def land(self, landing: Landing) -> Snapshot:
        def bring_home() -> Snapshot:
            ground = self._site.ground()
            landed = land(ground, landing)
            checkouts.drop_judges(ground, landing.loop, tuple(self._judges))
            return landed

        return await uninterrupted(bring_home)

    async def branch(self, loop: LoopId) -> str:
        return await uninterrupted(lambda: branch_of(self._site.ground(), loop))

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        return await uninterrupted(lambda: merge(self._site.ground(), commit, target, message, step))

    async def advance(self, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
        return await uninterrupted(lambda: advance(self._site.ground(), target, onto, commit, branch))

    async def clean_up(self, loop: LoopId, choice: Cleanup, branch: str = "") -> tuple[str, ...]:
        return await uninterrupted(lambda: cleanup.clean_up(self._site.ground(), loop, choice, branch))
