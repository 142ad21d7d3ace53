"""Checkouts for checks, which no agent ever enters.

Each run gets a folder of its own in `.loop/verify`, under a name nobody can guess: the files of exactly one tree,
composed of what is judged and what may judge, each hashed against it; and a copy of what setup made. It is removed
afterwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from loopwright.adapters.git.clones import write_repository
from loopwright.adapters.git.folders import is_folder, locked, open_lock, remove, try_lock
from loopwright.adapters.git.laid_tree import refuse_what_is_not
from loopwright.adapters.git.laying import lay, tracked
from loopwright.adapters.git.manifest import Manifest
from loopwright.adapters.git.overlay import composed, setup_digest
from loopwright.adapters.git.preparation import Preparation, copy_files, run_setup
from loopwright.adapters.git.prepared import AlteredSinceMade, IsNamed, MadeFolder, Prepared, PreparedFolders
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import Ground, Place, Site
from loopwright.adapters.steps import lock_of
from loopwright.errors import VcsFailed
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.model import Commit, Tree

NO_TEXTS: Mapping[str, bytes] = MappingProxyType({})
_TRIES = 2  # of copying what setup made, which somebody may have altered


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidCheckout:
    folder: Path
    tree: Tree  # as it really runs
    setup_list: str  # the name of the list of what setup made there; empty: nothing
    restore: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutPlan:
    """What is to lie there; with a key, what setup makes of `setup_on` too."""

    commit: Commit
    tree: Tree
    key: str = ""
    setup_on: Tree = Tree("")


@dataclass(frozen=True, slots=True)
class Fresh:
    """A folder of one run. Its lock is a kernel lock: that of a dead holder is free, and its folder goes."""

    place: Place
    hold: int


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
        self._prepared = PreparedFolders(is_named)

    @contextlib.asynccontextmanager
    async def lay(self, tree: Tree, *, commit: Commit, base: Commit) -> AsyncIterator[LaidCheckout]:
        ground = await uninterrupted(self._site.ground)
        plan = await uninterrupted(lambda: self._plan(ground, tree, commit, base))
        async with fresh_folder(ground) as fresh:
            made = await self._fill(ground, fresh, plan)

            async def restore() -> None:
                await uninterrupted(lambda: restored(ground, fresh, plan, made))

            folder, named = fresh.place.folder, made.name if made else ""
            yield LaidCheckout(folder=folder, tree=tree, setup_list=named, restore=restore)

    async def compose(
        self,
        onto: Commit | Tree,
        *,
        taken_from: Commit | Tree,
        paths: frozenset[str],
        texts: Mapping[str, bytes] = NO_TEXTS,
    ) -> Tree:
        return await uninterrupted(lambda: composed(self._site.ground(), onto, taken_from, paths, texts))

    def _plan(self, ground: Ground, tree: Tree, commit: Commit, base: Commit) -> CheckoutPlan:
        if not self._preparation.needed:
            return CheckoutPlan(commit=commit, tree=tree)
        key, setup_on = setup_digest(ground, self._preparation, tree, ground.tree(base))
        return CheckoutPlan(commit=commit, tree=tree, key=key, setup_on=setup_on)

    async def _fill(self, ground: Ground, fresh: Fresh, plan: CheckoutPlan) -> Manifest | None:
        """Lay the tree and what setup made; the list of the latter."""
        if not plan.key:
            await uninterrupted(lambda: fill(ground, fresh, plan))
            return None
        for _ in range(_TRIES):
            async with self._prepared.open(ground, plan.key, lambda: self._made(ground, plan)) as prepared:
                with contextlib.suppress(AlteredSinceMade):
                    await uninterrupted(lambda: fill(ground, fresh, plan, prepared))
                    return prepared.made
            await self._prepared.forget(ground, plan.key)
        raise VcsFailed("copy", "what setup made changes while it is copied; find out who does it")

    @contextlib.asynccontextmanager
    async def _made(self, ground: Ground, plan: CheckoutPlan) -> AsyncIterator[MadeFolder]:
        async with fresh_folder(ground) as fresh:
            place = fresh.place
            await uninterrupted(lambda: lay_out(ground, fresh, plan.setup_on, plan.commit))
            await uninterrupted(lambda: copy_files(self._preparation.copy, ground.root, place.folder))
            await run_setup(self._preparation, place.folder, root=ground.root, runs=place.notes / "runs")
            yield await uninterrupted(lambda: made_in(ground, fresh))


@contextlib.asynccontextmanager
async def fresh_folder(ground: Ground) -> AsyncIterator[Fresh]:
    fresh = await uninterrupted(lambda: begin(ground))
    try:
        yield fresh
    finally:
        await uninterrupted(lambda: end(ground, fresh))


def begin(ground: Ground) -> Fresh:
    """A new folder; those whose holder died are removed."""
    slots, name = ground.own / "verify", secrets.token_hex(16)
    place = Place(ground.loop / "verify" / name, slots / name)
    with locked(slots / "lock"):
        dead = [(each, try_lock(each / "lock")) for each in slots.iterdir() if is_folder(each)]
        fresh = Fresh(place, open_lock(place.lock))
        fcntl.flock(fresh.hold, fcntl.LOCK_EX)
    for notes, hold in dead:
        if hold is not None:
            end(ground, Fresh(Place(ground.loop / "verify" / notes.name, notes), hold))
    place.folder.mkdir(parents=True)
    return fresh


def end(ground: Ground, fresh: Fresh) -> None:
    remove(fresh.place.folder)
    remove(fresh.place.notes)
    lock_of(ground.root, fresh.place.folder).unlink(missing_ok=True)
    os.close(fresh.hold)


def fill(ground: Ground, fresh: Fresh, plan: CheckoutPlan, prepared: Prepared | None = None) -> None:
    remove(fresh.place.folder)  # of a try that failed
    fresh.place.folder.mkdir()
    lay_out(ground, fresh, plan.tree, plan.commit)
    if prepared is not None:
        prepared.copy_into(fresh.place.folder, tracked(ground, fresh.place))
    refuse_what_is_not(ground, fresh.place, fresh.hold, plan.tree)


def lay_out(ground: Ground, fresh: Fresh, tree: Tree, commit: Commit) -> None:
    lay(ground, fresh.place, fresh.hold, tree)
    write_repository(ground, fresh.place, commit)


def restored(ground: Ground, fresh: Fresh, plan: CheckoutPlan, made: Manifest | None) -> None:
    """The tree's own files again; artifacts of earlier commands stay, but not what would steer the next one."""
    git, folder = ground.inside(fresh.place, fresh.hold), fresh.place.folder
    lay(ground, fresh.place, fresh.hold, plan.tree)
    for path in git.names("ls-files", "-z", "--others"):
        if is_check_configuration(path) and (made is None or path not in made.files):
            remove(folder / path)
    refuse_what_is_not(ground, fresh.place, fresh.hold, plan.tree)


def made_in(ground: Ground, fresh: Fresh) -> MadeFolder:
    git = ground.inside(fresh.place, fresh.hold)
    hidden = git.names("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    ignored = tuple(name for name in hidden if name.endswith("/"))
    return MadeFolder(fresh.place.folder, tracked(ground, fresh.place), ignored)
