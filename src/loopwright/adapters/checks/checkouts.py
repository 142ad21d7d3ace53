"""What the checks need of version control: clean checkouts to run in, and a look at the change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from loopwright.kernel.model import Change, Commit, Tree

IsPlanted = Callable[[str], bool]  # of the path of a file that is not of the tree
NO_TEXTS: Mapping[str, bytes | None] = MappingProxyType({})


class CleanCheckout(Protocol):
    """A checkout no agent ever enters, as long as its context is open."""

    @property
    def folder(self) -> Path: ...

    @property
    def tree(self) -> Tree:
        """What lies there."""

    @property
    def setup_list(self) -> str:
        """The name of the list of what setup made there; empty: it made nothing."""

    @property
    def guard(self) -> Callable[[], AbstractAsyncContextManager[None]]:
        """Holds what setup made while a command runs; raises `DependenciesChanged` if the run may have changed it."""

    @property
    def restore(self) -> Callable[[IsPlanted], Awaitable[None]]:
        """Puts the tree's files back as they were laid, and removes what a command planted to steer the next one."""

    @property
    def altered(self) -> Callable[[frozenset[str]], Awaitable[frozenset[str]]]:
        """Of these files of the tree those whose content is not what was laid, or that are gone."""


class Checkouts(Protocol):
    """Several checkouts may be open at once; no two share a folder."""

    def lay(self, tree: Tree, *, commit: Commit, base: Commit) -> AbstractAsyncContextManager[CleanCheckout]:
        """`commit` gives the folder its git history, `base` what setup runs on."""

    async def compose(
        self,
        onto: Commit | Tree,
        *,
        taken_from: Commit | Tree,
        paths: frozenset[str],
        texts: Mapping[str, bytes | None] = NO_TEXTS,
    ) -> Tree:
        """The tree of `onto`, where these paths are as in `taken_from`, and these files hold these texts.

        None for a text: the file is gone.
        """

    def forget(self) -> None:
        """Remove what is kept of checkouts that are over."""


class TreeReader(Protocol):
    """Reads what trees hold and how they differ."""

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        """Every path `commit` changed against `base`. A rename is one removed and one added."""

    async def paths(self, commit: Commit | Tree) -> tuple[str, ...]:
        """Every file of the tree."""

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> Mapping[str, str]:
        """The text of these files. One that is not there, or larger than `limit` bytes, is left out."""

    async def links(self, commit: Commit | Tree) -> Mapping[str, str]:
        """Every symbolic link of the tree, with what it says."""


class ObjectReader(TreeReader, Protocol):
    """Reads objects; starts no checkout."""

    async def tree(self, commit: Commit) -> Tree: ...

    async def new_lines(self, old: Tree, new: Tree, paths: tuple[str, ...]) -> Mapping[str, frozenset[int]]:
        """Lines of these files that `new` adds or changes against `old`; a file without any is left out."""
