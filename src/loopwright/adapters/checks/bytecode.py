"""Compiled Python for checks: never what lies beside the sources, where anybody may have put it.

A check that runs on the base writes what it compiles into a folder of its own, empty before; that folder then serves
the runs on candidates, which write none. An agent can reach it: so it serves only while every file is as it was made,
and its list is one that this process made or that an event of the log names.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.git.folders import remove
from loopwright.adapters.git.manifest import Manifest, is_as_made, read_manifest, take_manifest


class Bytecode:
    def __init__(self, folder: Path, is_named: Callable[[str], Awaitable[bool]]) -> None:
        self._folder, self._is_named = folder, is_named
        self._own: set[str] = set()

    async def made_before(self, check: str) -> tuple[Path, str] | None:
        """The folder that serves this check, and the name of its list; None where there is none to be trusted."""
        made = await asyncio.to_thread(self._sound, check)
        if made is None or not (made.name in self._own or await self._is_named(made.name)):
            return None
        self._own.add(made.name)
        return self._files(check), made.name

    async def keep(self, check: str, fresh: Path, checkout: Path) -> str:
        """Keep what a run on the base compiled, but for what lay in its checkout. The name of the list; empty: nothing.

        Two may do so at once: then one of them has compiled in vain.
        """
        made = await asyncio.to_thread(self._shelved, check, fresh, checkout)
        if made is None:
            return ""
        self._own.add(made.name)
        return made.name

    def _sound(self, check: str) -> Manifest | None:
        made = read_manifest(self._list(check))
        files = self._files(check)
        return (
            made if made and all(is_as_made(f"{files}/{path}", noted) for path, noted in made.files.items()) else None
        )

    def _shelved(self, check: str, fresh: Path, checkout: Path) -> Manifest | None:
        remove(fresh / checkout.relative_to("/"))
        made = take_manifest(fresh, frozenset())
        if not made.files:
            return None
        with contextlib.suppress(OSError):
            remove(self._folder / check)
            (self._folder / check).mkdir(parents=True)
            fresh.rename(self._files(check))
            write_whole(self._list(check), made.text)
            return made
        return None

    def _files(self, check: str) -> Path:
        return self._folder / check / "files"

    def _list(self, check: str) -> Path:
        return self._folder / check / "made.json"
