"""Checkouts for checks, which no agent ever enters.

Each run gets a folder of its own in `.loop/verify`, under a name nobody can guess: the files of exactly one tree,
composed of what is judged and what may judge, each hashed against it; and what setup made, as links or copies.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from loopwright.adapters.git.clones import write_repository
from loopwright.adapters.git.folders import remove
from loopwright.adapters.git.laid_tree import altered_of, refuse_what_is_not
from loopwright.adapters.git.laying import lay, submodules_of, tracked
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.overlay import composed, setup_inputs, setup_key
from loopwright.adapters.git.preparation import Preparation, copy_files, digest_of, run_setup
from loopwright.adapters.git.prepared import AlteredSinceMade, IsNamed, MadeFolder, Prepared, PreparedFolders
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.run_folders import RunFolder, RunFolders, end, note_copies
from loopwright.adapters.git.site import Ground, Site
from loopwright.errors import NeedsPerson, VcsFailed
from loopwright.kernel.model import Commit, Tree

NO_TEXTS: Mapping[str, bytes] = MappingProxyType({})
IsPlanted = Callable[[str], bool]
_TRIES = 2  # of copying what setup made, which somebody may have altered


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidCheckout:
    folder: Path
    tree: Tree  # as it really runs
    setup_list: str  # the name of the list of what setup made there; empty: nothing
    guard: Callable[[], AbstractAsyncContextManager[None]]
    restore: Callable[[IsPlanted], Awaitable[None]]
    altered: Callable[[frozenset[str]], Awaitable[frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutPlan:
    """What is to lie there; with a key, what setup makes of `setup_on` too."""

    commit: Commit
    tree: Tree
    key: str = ""
    setup_on: Tree = Tree("")
    brought: str = ""  # the digest of what `copy` names


class VerificationCheckouts:
    """`env` is the person's environment; setup runs with that of `preparation`."""

    def __init__(
        self,
        root: Path,
        *,
        env: Mapping[str, str],
        preparation: Preparation | None = None,
        pinned: Pinned | None = None,
        is_named: IsNamed | None = None,
    ) -> None:
        self.root = root
        self._site = Site(root, env, pinned)
        self._preparation = preparation or Preparation()
        self._prepared = PreparedFolders(is_named, link=self._preparation.link)
        self._brought: dict[bytes, str] = {}  # what `copy` names, looked at once for the same lock files
        self._folders = RunFolders()
        weakref.finalize(self, self._folders.forget)

    def forget(self) -> None:
        self._folders.forget()

    @property
    def objects(self) -> GitObjects:
        """Of the same repository: what was read for one is known to the other."""
        return GitObjects(self._site)

    @contextlib.asynccontextmanager
    async def lay(self, tree: Tree, *, commit: Commit, base: Commit) -> AsyncIterator[LaidCheckout]:
        ground = await uninterrupted(self._site.ground)
        plan = await uninterrupted(lambda: self._plan(ground, tree, commit, base))
        folder, prepared = await self._filled(ground, plan)
        named = prepared.made.name if prepared else ""

        async def restore(is_planted: IsPlanted) -> None:
            def is_new(path: str) -> bool:
                return prepared is None or not (path in prepared.made.files or path in prepared.plan.links)

            await uninterrupted(lambda: restored(ground, folder, plan, lambda p: is_new(p) and is_planted(p)))

        def guard() -> AbstractAsyncContextManager[None]:
            if prepared is None or not prepared.plan.roots:
                return contextlib.nullcontext()
            return self._prepared.guard(ground, plan.key, prepared, lambda: self._made(ground, plan))

        async def altered(paths: frozenset[str]) -> frozenset[str]:
            return await uninterrupted(lambda: altered_of(ground, folder.place, folder.hold, tree, paths))

        try:
            yield LaidCheckout(
                folder=folder.place.folder,
                tree=tree,
                setup_list=named,
                guard=guard,
                restore=restore,
                altered=altered,
            )
        finally:
            await uninterrupted(lambda: self._folders.end(ground, folder, named))

    async def compose(
        self,
        onto: Commit | Tree,
        *,
        taken_from: Commit | Tree,
        paths: frozenset[str],
        texts: Mapping[str, bytes | None] = NO_TEXTS,
    ) -> Tree:
        return await uninterrupted(lambda: composed(self._site.ground(), onto, taken_from, paths, texts))

    def _plan(self, ground: Ground, tree: Tree, commit: Commit, base: Commit) -> CheckoutPlan:
        if not self._preparation.needed:
            return CheckoutPlan(commit=commit, tree=tree)
        inputs, setup_on = setup_inputs(ground, self._preparation, tree, ground.tree(base))
        if inputs not in self._brought:
            self._brought[inputs] = digest_of(self._preparation, ground.root)
        brought = self._brought[inputs]
        key = setup_key(brought, inputs)
        return CheckoutPlan(commit=commit, tree=tree, key=key, setup_on=setup_on, brought=brought)

    async def _filled(self, ground: Ground, plan: CheckoutPlan) -> tuple[RunFolder, Prepared | None]:
        """A folder with the tree and what setup made."""
        if not plan.key:
            return await uninterrupted(lambda: self._laid(ground, plan)), None
        for _ in range(_TRIES):
            async with self._prepared.open(ground, plan.key, lambda: self._made(ground, plan)) as prepared:
                with contextlib.suppress(AlteredSinceMade):
                    return await uninterrupted(lambda: self._laid(ground, plan, prepared)), prepared
            await self._prepared.forget(ground, plan.key, prepared)
        raise VcsFailed("copy", "what setup made changes while it is copied; find out who does it")

    def _laid(self, ground: Ground, plan: CheckoutPlan, prepared: Prepared | None = None) -> RunFolder:
        folder = self._folders.begin(ground, prepared.made.name if prepared else "")
        with contextlib.ExitStack() as failed:
            failed.callback(end, ground, folder)
            fill(ground, folder, plan, prepared)
            failed.pop_all()
        return folder

    @contextlib.asynccontextmanager
    async def _made(self, ground: Ground, plan: CheckoutPlan) -> AsyncIterator[MadeFolder]:
        folder = await uninterrupted(lambda: self._folders.begin(ground))
        place = folder.place
        try:
            await uninterrupted(lambda: self._refuse_other_files(ground, plan))
            await uninterrupted(lambda: lay_out(ground, folder, plan.setup_on, plan.commit))
            await uninterrupted(lambda: copy_files(self._preparation.copy, ground.root, place.folder))
            await run_setup(self._preparation, place.folder, root=ground.root, runs=place.notes / "runs")
            yield await uninterrupted(lambda: made_in(ground, folder))
        finally:
            await uninterrupted(lambda: end(ground, folder))

    def _refuse_other_files(self, ground: Ground, plan: CheckoutPlan) -> None:
        """An agent could alter what was made, and what it would be made from."""
        if digest_of(self._preparation, ground.root) != plan.brought:
            raise NeedsPerson(
                f"{', '.join(self._preparation.copy)} was changed while the loop ran, and checks would run with it;"
                " look at it, then go on with `loop resume` at a terminal"
            )


def fill(ground: Ground, folder: RunFolder, plan: CheckoutPlan, prepared: Prepared | None = None) -> None:
    lay_out(ground, folder, plan.tree, plan.commit)
    if prepared is not None:
        laid = tracked(ground, folder.place)
        note_copies(folder, prepared.lay_into(folder.place.folder, laid, folder.copies))
    _refuse_other(ground, folder, plan.tree)


def _refuse_other(ground: Ground, folder: RunFolder, tree: Tree) -> None:
    hashed = refuse_what_is_not(ground, folder.place, folder.hold, tree, folder.laid)
    folder.note_laid({} if submodules_of(ground, tree) else hashed)


def lay_out(ground: Ground, folder: RunFolder, tree: Tree, commit: Commit) -> None:
    lay(ground, folder.place, folder.hold, tree)
    write_repository(ground, folder.place, commit)


def restored(ground: Ground, folder: RunFolder, plan: CheckoutPlan, is_planted: IsPlanted) -> None:
    """The tree's own files again; artifacts of earlier commands stay, but not what would steer the next one."""
    git = ground.inside(folder.place, folder.hold)
    lay(ground, folder.place, folder.hold, plan.tree)
    for path in git.names("ls-files", "-z", "--others"):
        if is_planted(path):
            remove(folder.place.folder / path)
    _refuse_other(ground, folder, plan.tree)


def made_in(ground: Ground, folder: RunFolder) -> MadeFolder:
    git = ground.inside(folder.place, folder.hold)
    hidden = git.names("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    ignored = tuple(name for name in hidden if name.endswith("/"))
    return MadeFolder(folder.place.folder, tracked(ground, folder.place), ignored)
