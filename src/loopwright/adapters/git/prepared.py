"""What copy and setup make, made once and kept: by lock files, commands and copied files.

It is made in a fresh folder on the base's files, listed, and moved to `.loop/prepared/<key>`. A workspace gets a copy
of its own; a verification checkout gets links to the entries of dependency folders, and copies of the rest. An agent
can reach that folder. So it serves a check only while each file is as the list says, and the list is one that this
process made or that an event of the log names.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.adapters.git.dependency_links import (
    LinkPlan,
    Stamps,
    are_as_made,
    only_linked_elsewhere,
    plan_links,
    take_stamps,
)
from loopwright.adapters.git.file_copies import copy_entry, for_all, put_file
from loopwright.adapters.git.folders import is_folder, put, real_folder, remove, try_lock
from loopwright.adapters.git.manifest import (
    Manifest,
    content_of,
    is_as_made,
    parents_of,
    read_manifest,
    stat_of,
    take_manifest,
)
from loopwright.adapters.git.site import Ground
from loopwright.errors import DependenciesChanged, SetupFailed
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.visible import visible

KEPT = 4  # prepared differently, before the oldest goes
_LOOK_AGAIN = 0.05  # seconds, while somebody else prepares the same
_NUL = b"\0"
_LINKS = "links"  # of dependency folders, kept beside what setup made

IsNamed = Callable[[str], Awaitable[bool]]  # whether an event of the log rests on a list of this name


class AlteredSinceMade(Exception):
    """Something setup made is not there any more, or is something else; it is made anew."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where what setup made for one key is kept."""

    folder: Path

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def list(self) -> Path:
        return self.folder / "made.json"

    @property
    def mark(self) -> Path:
        """There once a check wrote into a dependency folder: then every checkout gets a copy."""
        return self.folder.with_name(f"{self.folder.name}.copied")


@dataclass(frozen=True, slots=True)
class MadeFolder:
    """A folder where setup has run, and which is nobody else's."""

    folder: Path
    tracked: frozenset[str]
    ignored: tuple[str, ...]  # folders that git does not look into, such as `node_modules/`


Make = Callable[[], AbstractAsyncContextManager[MadeFolder]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What setup made, held so that nobody takes it away meanwhile."""

    files: Path
    made: Manifest
    plan: LinkPlan
    stamps: Stamps = field(default_factory=dict)  # of what is linked

    def lay_into(self, folder: Path, tracked: frozenset[str], present: Collection[str] = ()) -> list[str]:
        """Lay it beside the tree's own files, never in their place, and return the paths that are there then.

        What is `present` already is not laid, but for what speaks of the folder. Raises `AlteredSinceMade`.
        """
        above = parents_of(tracked)
        held = self.plan.roots & above
        plan = plan_links(self.made, self.files, held) if held else self.plan

        def is_free(path: str) -> bool:
            return path not in tracked and tracked.isdisjoint(parents_of(frozenset({path})))

        wanted = [path for path in plan.copied if path not in above and is_free(path)]
        linked = [path for path in plan.links if is_free(path)]
        folders = {*parents_of(frozenset((*wanted, *linked))), *filter(is_free, plan.folders)}
        for path in sorted(folders - above):
            real_folder(folder / path)
        missing = [path for path in wanted if path not in present or path in self.made.speaks]
        for_all(lambda path: self._copy(path, folder), missing)
        for path in linked:
            if path not in present:
                remove(folder / path)
                _put_link(f"{folder}/{path}", f"{self.files}/{path}", f"{self.files.with_name(_LINKS)}/{path}")
        return [*linked, *(path for path in wanted if not self.made.is_special(path))]

    def _copy(self, path: str, folder: Path) -> None:
        source, target = f"{self.files}/{path}", f"{folder}/{path}"
        if not is_as_made(source, self.made.files[path]):
            raise AlteredSinceMade(path)
        if os.path.lexists(target):
            remove(Path(target))
        if path in self.made.speaks:
            _copy_moved(source, target, os.fsencode(self.made.made_in), os.fsencode(folder))
        else:
            copy_entry(source, target)


def _put_link(place: str, target: str, kept: str) -> None:
    """A link, by a further name for the one that an earlier checkout left, if that leads to the same target.

    A new link takes many times as long, and nobody can alter one without making another.
    """
    with contextlib.suppress(OSError):
        os.link(kept, place, follow_symlinks=False)
        if os.readlink(place) == target:  # noqa: PTH115 - a Path would be made for each
            return
        os.unlink(place)  # noqa: PTH108 - as above
    os.symlink(target, place)  # noqa: PTH211 - as above
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(kept), exist_ok=True)  # noqa: PTH103, PTH120 - as above
        os.link(place, kept, follow_symlinks=False)


def _copy_moved(source: str, target: str, old: bytes, new: bytes) -> None:
    """What speaks of the folder it was made in speaks of this one: a link, a script's first line, a `.pth` file."""
    content = content_of(source)
    if Path(source).is_symlink():
        Path(target).symlink_to(os.fsdecode(content.replace(old, new)))
    elif _NUL in content and len(old) != len(new):
        copy_entry(source, target)  # in compiled code a path of another length would move all that follows it
    else:
        put_file(target, content.replace(old, new), Path(source).stat())


class PreparedFolders:
    """`is_named` says whether the log rests on a list, for those that another process made.

    `link`: dependency folders are linked where that works.
    """

    def __init__(self, is_named: IsNamed | None = None, *, link: bool = True) -> None:
        self._is_named, self._link = is_named, link
        self._own: set[str] = set()
        self._known: dict[Shelf, tuple[list[int], Prepared]] = {}  # with the stat of its list
        self._contended: set[Shelf] = set()  # made again by another process while this one used it

    @contextlib.asynccontextmanager
    async def open(self, ground: Ground, key: str, make: Make) -> AsyncIterator[Prepared]:
        """What `make` makes in the folder it gives back, made now unless it is there already."""
        hold = await self._held(ground, key, shared=True)
        try:
            while (found := await self._trusted(shelf_of(ground, key))) is None:
                os.close(hold)
                hold = await self._held(ground, key)
                if await self._trusted(shelf_of(ground, key)) is None:
                    await self._make(ground, key, make)
                os.close(hold)
                hold = await self._held(ground, key, shared=True)
            yield found
        finally:
            os.close(hold)

    @contextlib.asynccontextmanager
    async def guard(self, ground: Ground, key: str, laid: Prepared, make: Make) -> AsyncIterator[None]:
        """Hold what is linked while a check runs. Raises `DependenciesChanged` if it is not what it was."""
        shelf = shelf_of(ground, key)
        async with self.open(ground, key, make) as prepared:
            if (prepared.made.name, prepared.plan.roots) != (laid.made.name, laid.plan.roots):
                self._contended.add(shelf)
                raise DependenciesChanged
            yield
            now = await asyncio.to_thread(_stamps_now, prepared)
        if now == prepared.stamps:
            return
        if await asyncio.to_thread(only_linked_elsewhere, prepared.made, prepared.files, prepared.stamps, now):
            self._known[shelf] = (stat_of(str(shelf.list)), replace(prepared, stamps=now))
        else:
            shelf.mark.touch()
            await self.forget(ground, key, prepared)
        raise DependenciesChanged

    async def forget(self, ground: Ground, key: str, altered: Prepared) -> None:
        """What was altered is not laid again; what was made in its place meanwhile is."""
        hold = await self._held(ground, key)
        try:
            file = shelf_of(ground, key).list
            made = await asyncio.to_thread(read_manifest, file)
            if made is not None and made.name == altered.made.name:
                remove(file)
        finally:
            os.close(hold)

    async def _trusted(self, shelf: Shelf) -> Prepared | None:
        try:
            stood = stat_of(str(shelf.list))
        except OSError:
            return None
        link = self._link and shelf not in self._contended and not shelf.mark.exists()
        if shelf in self._known and self._known[shelf][0] == stood and (link or not self._known[shelf][1].plan.roots):
            return self._known[shelf][1]
        made = await asyncio.to_thread(read_manifest, shelf.list)
        if made is None or not is_folder(shelf.files):
            return None
        if made.name not in self._own:
            if self._is_named is None or not await self._is_named(made.name):
                return None
            self._own.add(made.name)
        prepared = await asyncio.to_thread(_prepared, shelf, made, link=link)
        if prepared is not None:
            self._known[shelf] = (stood, prepared)
        return prepared

    async def _make(self, ground: Ground, key: str, make: Make) -> None:
        shelf = shelf_of(ground, key)
        await asyncio.to_thread(remove, shelf.folder)
        async with make() as made:
            self._own.add(await asyncio.to_thread(_shelve, shelf, made))
        await asyncio.to_thread(_drop_oldest, ground)

    async def _held(self, ground: Ground, key: str, *, shared: bool = False) -> int:
        file = ground.own / "verify" / f"{key}.lock"
        while (hold := try_lock(file, shared=shared)) is None:  # noqa: ASYNC110 - of another process perhaps
            await asyncio.sleep(_LOOK_AGAIN)
        return hold


def _prepared(shelf: Shelf, made: Manifest, *, link: bool) -> Prepared | None:
    """None where something that would be linked is not as it was made."""
    if not link:
        return Prepared(shelf.files, made, _all_copied(made))
    try:
        plan = plan_links(made, shelf.files)
        stamps = take_stamps(shelf.files, plan.roots)
    except OSError:
        return None
    return Prepared(shelf.files, made, plan, stamps) if are_as_made(made, shelf.files, plan, stamps) else None


def _all_copied(made: Manifest) -> LinkPlan:
    return LinkPlan(copied=tuple(made.files), folders=made.folders)


def _stamps_now(prepared: Prepared) -> Stamps:
    try:
        return take_stamps(prepared.files, prepared.plan.roots)
    except OSError:
        return {}


def held_for_workspace(ground: Ground, key: str) -> tuple[Prepared, int] | None:
    """What was made for this key, whoever made it: an agent's own folder needs no proof. With the lock to close."""
    shelf = shelf_of(ground, key)
    hold = try_lock(ground.own / "verify" / f"{key}.lock", shared=True)
    if hold is None:
        return None
    made = read_manifest(shelf.list)
    if made is None or not is_folder(shelf.files):
        os.close(hold)
        return None
    return Prepared(shelf.files, made, _all_copied(made)), hold


def shelf_of(ground: Ground, key: str) -> Shelf:
    return Shelf(ground.loop / "prepared" / key)


def _shelve(shelf: Shelf, made: MadeFolder) -> str:
    """List what setup made in the folder, which becomes the shelf's. The name of the list."""
    listed = take_manifest(made.folder, made.tracked)
    _refuse_judges(listed, made.ignored)
    remove(made.folder / ".git")
    for path in made.tracked:  # nobody asks for them, and the person's own runner would find their tests
        if not is_folder(made.folder / path):
            remove(made.folder / path)
    shelf.folder.mkdir(parents=True)
    made.folder.rename(shelf.files)
    put(shelf.list, listed.text)
    return listed.name


def _refuse_judges(made: Manifest, ignored: tuple[str, ...]) -> None:
    for path in made.files:
        if is_check_configuration(path) and not path.startswith(ignored):
            raise SetupFailed(
                "setup",
                f"it makes {visible(path)}, which would decide how checks run; commit that file, or let setup"
                " make it in a folder that git ignores",
            )


def _drop_oldest(ground: Ground) -> None:
    shelves = [folder for folder in (ground.loop / "prepared").iterdir() if is_folder(folder)]
    for folder in sorted(shelves, key=lambda folder: folder.stat().st_mtime, reverse=True)[KEPT:]:
        file = ground.own / "verify" / f"{folder.name}.lock"
        if (hold := try_lock(file)) is not None:
            Shelf(folder).mark.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(hold)
