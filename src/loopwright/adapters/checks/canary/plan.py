"""What is broken on purpose, and in which order: functions of the change, its files, files beside them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from loopwright.adapters.checks.canary.breaking import language, unparsable
from loopwright.adapters.checks.canary.hollow import hollowed, names_in, same_code, touched
from loopwright.kernel.trust import Classed, FileClass

_MOST_WITNESSES = 500  # files; one would do, more of them leave no doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Files that are replaced in one try, and what of them is broken in words: `src/a.py: Table.search`."""

    texts: Mapping[str, bytes] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryPlan:
    """Functions first: a red there shows that the files are read, too."""

    functions: Edits  # that the change touched, in the judging checkout
    landing: Edits  # the same in the landing one
    of_base: Edits  # those of them that the base has, as the base has them
    files: Edits  # changed code that is still there
    witness: Edits  # the same, and old files of the same package
    everything: Edits  # and all code of the project
    packages: tuple[str, ...] = ()  # names that the changed files are imported by

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
) -> CanaryPlan:
    """The texts are those of changed files in the three trees; `product` is all that the judging one has of it."""
    changed = tuple(
        each.change.path for each in changes if each.kind is FileClass.PRODUCT and language(each.change.path)
    )
    there = tuple(path for path in changed if path in judging)
    broken = tuple(path for path in there if not _is_as_before(path, base, judging))
    names = {path: touched(base.get(path, b""), judging[path]) for path in broken if language(path) == "python"}
    old = tuple(path for path in product if language(path) and path not in changed)
    beside = tuple(dict.fromkeys(path for each in changed for path in _beside(each, old, product)))
    witnesses = tuple(dict.fromkeys((*there, *beside)))
    return CanaryPlan(
        functions=_hollow(names, judging),
        landing=_hollow(names, landing),
        of_base=_hollow(_on_base(names, base, judging), base),
        files=Edits(texts=unparsable(broken), names=broken),
        witness=Edits(texts=unparsable(witnesses), names=witnesses),
        everything=Edits(texts=unparsable((*there, *old)), names=(*there, *old)),
        packages=tuple(dict.fromkeys(_package(path, product) for path in changed if language(path) == "python")),
    )


def _is_as_before(path: str, base: Mapping[str, bytes], judging: Mapping[str, bytes]) -> bool:
    return language(path) == "python" and path in base and same_code(base[path], judging[path])


def _hollow(names: Mapping[str, tuple[str, ...]], texts: Mapping[str, bytes]) -> Edits:
    made = {path: hollowed(texts[path], frozenset(names[path]), path) for path in names if path in texts}
    kept = {path: text for path, text in made.items() if text is not None}
    return Edits(texts=kept, names=tuple(f"{path}: {name}" for path in kept for name in names[path]))


def _on_base(
    names: Mapping[str, tuple[str, ...]], base: Mapping[str, bytes], judging: Mapping[str, bytes]
) -> dict[str, tuple[str, ...]]:
    """Where the base has them: in the same file, or in one that no longer has them."""
    wanted = {name for each in names.values() for name in each}
    found: dict[str, tuple[str, ...]] = {}
    for path, text in base.items():
        if language(path) == "python":
            here = names_in(text)
            gone = (here & wanted) - names_in(judging.get(path, b""))
            found[path] = tuple(sorted((here & set(names.get(path, ()))) | gone))
    return {path: those for path, those in found.items() if those}


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
