"""What is broken on purpose, and in which order: functions of the change, its files, files beside them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from loopwright.adapters.checks.canary.breaking import language, unparsable
from loopwright.adapters.checks.canary.hollow import hollowed, names_in, same_code, touched
from loopwright.kernel.trust import Classed, FileClass

_MOST_WITNESSES = 500  # files; one would do, more of them leave no doubt

_Names = Mapping[str, tuple[str, ...]]  # of functions, by path
_Gone = Mapping[str, frozenset[str]]  # functions that a file had on the base, and has no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Files that are replaced in one try, and what of them is broken in words: `src/a.py: Table.search`."""

    texts: Mapping[str, bytes] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryPlan:
    """Functions first: a red there shows that the files are read, too."""

    kept: Edits  # functions that the change touched and the base has, in the judging checkout
    on_base: Edits  # the same as the base has them
    functions: Edits  # all that the change touched, new ones too, in the judging checkout
    landing: Edits  # the same in the landing one
    files: Edits  # changed code that is still there
    witness: Edits  # the same, and old files of the same package
    everything: Edits  # and all code of the project
    packages: tuple[str, ...] = ()  # names that the changed files are imported by
    python: tuple[str, ...] = ()  # changed code of it that is still there

    @property
    def is_only_data(self) -> bool:
        return not self.witness.texts


def planned(
    changes: tuple[Classed, ...],
    *,
    base: Mapping[str, bytes],
    judging: Mapping[str, bytes],
    landing: Mapping[str, bytes],
    product: tuple[str, ...],
    before: Mapping[str, bytes] | None = None,
) -> CanaryPlan:
    """The texts are those of changed files in the trees; `product` is all that the judging one has of it. What is as it
    was `before`, where that is not the base, is not asked about."""
    start = base if before is None else before
    asked = (path for path in to_break(changes) if before is None or before.get(path) != judging.get(path))
    changed = tuple(path for path in asked if language(path))
    there = tuple(path for path in changed if path in judging)
    found = {path: touched(start.get(path, b""), judging[path]) for path in there if language(path) == "python"}
    broken = tuple(path for path in there if found.get(path) or not _is_as_before(path, start, judging))
    names = {path: found[path] for path in broken if path in found}
    gone = {path: names_in(base[path]) - names_in(judging.get(path, b"")) for path in _python(base)}
    spared = frozenset(each.change.path for each in changes if each.spared)
    old = tuple(path for path in product if language(path) and path not in changed and path not in spared)
    beside = tuple(dict.fromkeys(path for each in changed for path in _beside(each, old, product)))
    witnesses = tuple(dict.fromkeys((*there, *beside)))
    return CanaryPlan(
        kept=_hollow(_kept(names, base, gone), judging),
        on_base=_hollow(_on_base(names, base, gone), base),
        functions=_hollow(names, judging),
        landing=_hollow(names, landing),
        files=Edits(texts=unparsable(broken), names=broken),
        witness=Edits(texts=unparsable(witnesses), names=witnesses),
        everything=Edits(texts=unparsable((*there, *old)), names=(*there, *old)),
        packages=tuple(dict.fromkeys(_package(path, product) for path in changed if language(path) == "python")),
        python=tuple(path for path in broken if language(path) == "python"),
    )


def to_break(changes: tuple[Classed, ...]) -> tuple[str, ...]:
    """Changed product. A test that is broken is red whatever the product does, even if it was named as such."""
    return tuple(each.change.path for each in changes if each.kind is FileClass.PRODUCT and not each.spared)


def _is_as_before(path: str, base: Mapping[str, bytes], judging: Mapping[str, bytes]) -> bool:
    return language(path) == "python" and path in base and same_code(base[path], judging[path])


def _hollow(names: _Names, texts: Mapping[str, bytes]) -> Edits:
    made = {path: hollowed(texts[path], frozenset(names[path]), path) for path in names if path in texts}
    kept = {path: text for path, text in made.items() if text is not None}
    return Edits(texts=kept, names=tuple(f"{path}: {name}" for path in kept for name in names[path]))


def _kept(names: _Names, base: Mapping[str, bytes], gone: _Gone) -> dict[str, tuple[str, ...]]:
    """Those that the base has in the same file, or had in one that no longer has them.

    They go first and alone: a new function may be what keeps the tests from running them, and would be noticed.
    """
    moved = frozenset[str]().union(*gone.values())
    there = {path: names_in(base.get(path, b"")) | moved for path in names}
    found = {path: tuple(name for name in names[path] if name in there[path]) for path in names}
    return {path: those for path, those in found.items() if those}


def _on_base(names: _Names, base: Mapping[str, bytes], gone: _Gone) -> dict[str, tuple[str, ...]]:
    wanted = frozenset(name for each in names.values() for name in each)
    found = {path: names_in(base[path]) & set(names.get(path, ())) | (gone[path] & wanted) for path in gone}
    return {path: tuple(sorted(those)) for path, those in found.items() if those}


def _python(texts: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(path for path in texts if language(path) == "python")


def _beside(path: str, old: tuple[str, ...], product: tuple[str, ...]) -> tuple[str, ...]:
    """Old files of the same language and package, else of the nearest folder above that has any."""
    alike = [each for each in old if language(each) == language(path)]
    for folder in _upwards(path, frozenset(product)):
        if found := [each for each in alike if not folder or each.startswith(f"{folder}/")]:
            return tuple(found[:_MOST_WITNESSES])
    return ()


def _upwards(path: str, product: frozenset[str]) -> Iterator[str]:
    """The top folder of its package, then each one above, the whole tree as an empty name last."""
    folder = PurePosixPath(path).parent
    while f"{folder.parent}/__init__.py" in product:
        folder = folder.parent
    while folder.name:
        yield str(folder)
        folder = folder.parent
    yield ""


def _package(path: str, product: tuple[str, ...]) -> str:
    """The name that an import of it begins with."""
    folder = PurePosixPath(next(_upwards(path, frozenset(product))))
    return folder.name if f"{folder}/__init__.py" in product else PurePosixPath(path).stem
