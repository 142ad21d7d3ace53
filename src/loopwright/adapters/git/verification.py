"""Checkouts for checks, which no agent ever enters.

A pool of folders in `.loop/verify`. Each is prepared once with copy and setup, and laid for every run
with exactly one tree, composed of what is judged and what may judge. What setup made stays as
long as nobody altered it; everything else is removed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from loopwright.adapters.git.clones import write_repository
from loopwright.adapters.git.folders import is_folder, locked, put, remove, try_lock
from loopwright.adapters.git.laying import SUBMODULES, lay, tracked
from loopwright.adapters.git.manifest import load, save, take_manifest, tidy
from loopwright.adapters.git.overlay import composed, setup_digest
from loopwright.adapters.git.preparation import Preparation, copy_files, run_setup
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import Ground, Place, Site
from loopwright.errors import VcsFailed
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.model import Commit, Tree

NO_TEXTS: Mapping[str, bytes] = MappingProxyType({})
KEPT = 4  # prepared differently, before one is prepared anew


@dataclass(frozen=True, slots=True)
class LaidCheckout:
    folder: Path
    tree: Tree  # as it really runs
    restore: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutPlan:
    """What is to lie there, and how the folder under it has to be prepared."""

    commit: Commit
    tree: Tree
    digest: str
    setup_on: Tree


@dataclass(frozen=True, slots=True)
class Slot:
    place: Place
    hold: int

    @property
    def digest(self) -> Path:
        return self.place.notes / "digest"

    @property
    def made(self) -> Path:
        return self.place.notes / "made.json"

    @property
    def in_use(self) -> Path:
        """There while a run goes on; found at the start of another, its user died in the middle."""
        return self.place.notes / "in-use"


class VerificationCheckouts:
    """`env` is the person's environment; setup runs with that of `preparation`."""

    def __init__(
        self,
        root: Path,
        *,
        env: Mapping[str, str],
        preparation: Preparation | None = None,
        pinned: Pinned | None = None,
    ) -> None:
        self.root = root
        self._site = Site(root, env, pinned)
        self._preparation = preparation or Preparation()

    @contextlib.asynccontextmanager
    async def lay(self, tree: Tree, *, commit: Commit, base: Commit) -> AsyncIterator[LaidCheckout]:
        ground = await uninterrupted(self._site.ground)
        plan = await uninterrupted(lambda: self._plan(ground, commit, tree, base))
        slot = await uninterrupted(lambda: take_slot(ground, plan.digest))
        try:
            await self._fill(ground, slot, plan)

            async def restore() -> None:
                await uninterrupted(lambda: restored(ground, slot, plan))

            yield LaidCheckout(slot.place.folder, plan.tree, restore)
        finally:
            slot.in_use.unlink(missing_ok=True)
            os.close(slot.hold)

    async def compose(
        self,
        onto: Commit | Tree,
        *,
        taken_from: Commit | Tree,
        paths: frozenset[str],
        texts: Mapping[str, bytes] = NO_TEXTS,
    ) -> Tree:
        return await uninterrupted(lambda: composed(self._site.ground(), onto, taken_from, paths, texts))

    def _plan(self, ground: Ground, commit: Commit, tree: Tree, base: Commit) -> CheckoutPlan:
        digest, setup_on = setup_digest(ground, self._preparation, tree, ground.tree(base))
        kind = f"{digest} {ground.conversion_key}"
        return CheckoutPlan(commit=commit, tree=tree, digest=kind, setup_on=setup_on)

    async def _fill(self, ground: Ground, slot: Slot, plan: CheckoutPlan) -> None:
        if not await uninterrupted(lambda: relay(ground, slot, plan)):
            await self._prepare(ground, slot, plan)
            if not await uninterrupted(lambda: relay(ground, slot, plan)):
                raise VcsFailed("git read-tree", f"{slot.place.folder} changes while it is prepared")
        put(slot.in_use, "")

    async def _prepare(self, ground: Ground, slot: Slot, plan: CheckoutPlan) -> None:
        place = slot.place
        await uninterrupted(lambda: begin(ground, slot, plan, self._preparation.copy))
        await run_setup(self._preparation, place.folder, root=ground.root, runs=place.notes / "runs")
        await uninterrupted(lambda: finish(ground, slot, plan))


def take_slot(ground: Ground, digest: str) -> Slot:
    """A free folder, best one that is prepared already. Locks are kernel locks: a dead holder frees its own."""
    slots = ground.own / "verify"
    with locked(slots / "lock"):
        known = sorted(int(notes.name) for notes in slots.iterdir() if notes.name.isdigit())
        ready = [n for n in known if _digest(slot_place(ground, n)) == digest]
        spare = known if len(known) >= KEPT else []
        for number in itertools.chain(ready, spare, itertools.count(max(known, default=0) + 1)):
            place = slot_place(ground, number)
            if (hold := try_lock(place.lock)) is not None:
                return Slot(place, hold)
    raise AssertionError("numbers do not end")


def slot_place(ground: Ground, number: int) -> Place:
    return Place(ground.loop / "verify" / str(number), ground.own / "verify" / str(number))


def _digest(place: Place) -> str:
    file = place.notes / "digest"
    return file.read_text() if file.is_file() else ""


def relay(ground: Ground, slot: Slot, plan: CheckoutPlan) -> bool:
    """Lay the tree over a folder that is prepared as the plan wants; False when it is not."""
    place, made = slot.place, load(slot.made)
    if made is None or _digest(place) != plan.digest or slot.in_use.exists() or not is_folder(place.folder):
        return False
    try:
        if not tidy(place.folder, tracked(ground, slot.place), made):
            return False
        lay(ground, place, slot.hold, plan.tree)
    except (VcsFailed, FileNotFoundError):
        return False
    write_repository(ground, place, plan.commit)
    return True


def restored(ground: Ground, slot: Slot, plan: CheckoutPlan) -> None:
    """The tree's own files again; artifacts of earlier commands stay, but not what would steer the next one."""
    git, made = ground.inside(slot.place, slot.hold), load(slot.made)
    lay(ground, slot.place, slot.hold, plan.tree)
    for path in git.names("ls-files", "-z", "--others"):
        if is_check_configuration(path) and (made is None or path not in made.files):
            remove(slot.place.folder / path)


def begin(ground: Ground, slot: Slot, plan: CheckoutPlan, copies: tuple[str, ...]) -> None:
    place = slot.place
    for note in (slot.digest, slot.made, slot.in_use, place.index):
        remove(note)
    for name in ("index.lock", "runs", SUBMODULES):
        remove(place.notes / name)
    remove(place.folder)
    place.folder.mkdir(parents=True)
    lay(ground, place, slot.hold, plan.setup_on)
    write_repository(ground, place, plan.commit)
    copy_files(copies, ground.root, place.folder)


def finish(ground: Ground, slot: Slot, plan: CheckoutPlan) -> None:
    save(take_manifest(slot.place.folder, tracked(ground, slot.place)), slot.made)
    put(slot.digest, plan.digest)
