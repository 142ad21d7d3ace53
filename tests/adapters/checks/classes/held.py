"""A repository of two commits in memory, for asking what class each change has."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.kernel.model import Change, Commit, Tree
from loopwright.kernel.trust import Classed

Files = Mapping[str, str]
BASE, CANDIDATE = Commit("base"), Commit("candidate")
LINK, SUBMODULE = "120000", "160000"


def _blob(text: str) -> str:
    content = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Reads objects. `modes` are of candidate files that are not plain, `linked` files of the base that are links."""

    base: Files
    candidate: Files
    modes: Mapping[str, str] = field(default_factory=dict)
    linked: Files = field(default_factory=dict)

    async def changes(self, base: Commit, commit: Commit) -> tuple[Change, ...]:
        paths = sorted(self.base.keys() | self.candidate.keys())
        return tuple(change for path in paths if (change := self._change(path)) is not None)

    def _change(self, path: str) -> Change | None:
        before = LINK if path in self.linked else "100644"
        old, new, mode = self.base.get(path), self.candidate.get(path), self.modes.get(path, before)
        if old is None and new is not None:
            return Change(path=path, how="added", blob=_blob(new), mode=mode)
        if old is not None and new is None:
            return Change(path=path, how="removed", old=_blob(old), old_mode=before)
        if old is None or new is None or (old == new and mode == before):
            return None
        return Change(path=path, how="changed", blob=_blob(new), mode=mode, old=_blob(old), old_mode=before)

    async def paths(self, commit: Commit | Tree) -> tuple[str, ...]:
        return tuple(self._files(commit))

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> Mapping[str, str]:
        files = self._files(commit)
        return {path: files[path] for path in paths if path in files and len(files[path]) <= limit}

    async def links(self, commit: Commit | Tree) -> Mapping[str, str]:
        return self.linked

    def _files(self, commit: str) -> Files:
        return self.base if commit == BASE else self.candidate


def classes(
    base: Files,
    changed: Mapping[str, str | None],
    *commands: tuple[str, ...],
    modes: Mapping[str, str] | None = None,
    links: Files | None = None,
    **terms: tuple[str, ...] | frozenset[str],
) -> dict[str, Classed]:
    """The class of every change by path. `changed` holds what the candidate has instead; None: it is removed.

    `links` of the base are files of it, too.
    """
    base = {**base, **(links or {})}
    candidate = {path: text for path, text in {**base, **changed}.items() if text is not None}
    source = Held(base=base, candidate=candidate, modes=modes or {}, linked=links or {})
    classifier = Classifier(source=source, commands=commands, **terms)  # type: ignore[arg-type]
    found = asyncio.run(classifier.classify(BASE, CANDIDATE))
    return {each.change.path: each for each in found}
