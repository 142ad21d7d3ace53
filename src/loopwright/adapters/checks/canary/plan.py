"""What is broken on purpose, and in which order: functions of the change, its files, files beside them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from loopwright.adapters.checks.canary.breaking import language, unparsable
from loopwright.adapters.checks.canary.hollow import (
    StubForm,
    hollowed,
    misled,
    names_in,
    same_code,
    same_values,
    touched,
)
from loopwright.adapters.checks.runners.table import Phase
from loopwright.kernel.trust import Classed, FileClass

_MOST_WITNESSES = 500  # files; one would do, more of them leave no doubt

Texts = Mapping[str, bytes]
_Names = Mapping[str, Collection[str]]  # of functions, by path


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenChange:
    """What of a change can be broken: functions by file, and other code of files where no function was touched."""

    texts: Texts
    names: _Names = field(default_factory=dict)
    files: Texts = field(default_factory=dict)
    values: Texts = field(default_factory=dict)  # the same, where whoever only needs a name does not fail

    def functions(self, form: StubForm) -> dict[str, bytes]:
        found = {path: names for path, names in self.names.items() if path in self.texts}
        made = {path: hollowed(self.texts[path], frozenset(names), path, form) for path, names in found.items()}
        return {path: text for path, text in made.items() if text is not None}

    def phase(self, form: StubForm) -> Phase:
        return Phase(texts=self.functions(form), names=self.names)

    def wrong_values(self) -> tuple[Phase, ...]:
        """Return phases in which the change is there and gives a wrong value: its functions, or else its names."""
        phases = (self.phase("none"), self.phase("object")) if self.names else (Phase(texts=self.values),)
        return tuple(phase for phase in phases if phase.texts)


def broken_change(before: Texts, after: Texts) -> BrokenChange:
    """`before` and `after` are the texts of changed product files; a file that is new is only in `after`."""
    functions: dict[str, tuple[str, ...]] = {}
    files: dict[str, bytes] = {}
    values: dict[str, bytes] = {}
    for path, text in after.items():
        old, broken = before.get(path, b""), unparsable((path,))
        if language(path) != "python":
            changed = broken if before.get(path) != text else {}
            files, values = files | changed, values | changed
        elif names := touched(old, text):
            functions[path] = names
        elif path not in before or not (same_code(old, text) or same_values(old, text)):
            untrue, wrong = misled(old, text)
            files[path] = untrue or broken[path]
            values |= {path: wrong} if wrong else {}
    return BrokenChange(texts=after, names=functions, files=files, values=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Files that are replaced in one try, and what of them is broken in words: `src/a.py: Table.search`."""

    texts: Texts = field(default_factory=dict)
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


def planned(
    changes: tuple[Classed, ...],
    *,
    base: Texts,
    judging: Texts,
    landing: Texts,
    product: tuple[str, ...],
    before: Texts | None = None,
) -> CanaryPlan:
    """The texts are those of changed files in the trees; `product` is all that the judging one has of it. What is as it
    was `before`, where that is not the base, is not asked about."""
    asked = (path for path in to_break(changes) if before is None or before.get(path) != judging.get(path))
    changed = tuple(path for path in asked if language(path))
    there = {path: judging[path] for path in changed if path in judging}
    broken = broken_change(base if before is None else before, there)
    spared = frozenset(each.change.path for each in changes if each.spared)
    old = tuple(path for path in product if language(path) and path not in changed and path not in spared)
    beside = dict.fromkeys(path for each in changed for path in _beside(each, old, product))
    kept, on_base = _names_on_both_sides(broken.names, base, judging)
    return CanaryPlan(
        kept=_stub_functions(kept, judging),
        on_base=_stub_functions(on_base, base),
        functions=_stub_functions(broken.names, judging),
        landing=_stub_functions(broken.names, landing),
        files=break_files(path for path in there if path in broken.names or path in broken.files),
        witness=break_files((*there, *(path for path in beside if path not in there))),
        everything=break_files((*there, *old)),
    )


def to_break(changes: tuple[Classed, ...]) -> tuple[str, ...]:
    """Changed product. A test that is broken is red whatever the product does, even if it was named as such."""
    return tuple(each.change.path for each in changes if each.kind is FileClass.PRODUCT and not each.spared)


def break_files(paths: Iterable[str]) -> Edits:
    names = tuple(paths)
    return Edits(texts=unparsable(names), names=names)


def _stub_functions(names: _Names, texts: Texts) -> Edits:
    made = BrokenChange(texts=texts, names=names).functions("raise")
    return Edits(texts=made, names=tuple(f"{path}: {name}" for path in made for name in names[path]))


def _names_on_both_sides(names: _Names, base: Texts, judging: Texts) -> tuple[_Names, _Names]:
    """Return those that the base has in the same file, or had in one that no longer has them; and the same there.

    They go first and alone: a new function may be what keeps the tests from running them, and would be noticed.
    """
    python = tuple(path for path in base if language(path) == "python")
    gone = {path: names_in(base[path]) - names_in(judging.get(path, b"")) for path in python}
    moved = frozenset[str]().union(*gone.values())
    there = {path: names_in(base.get(path, b"")) | moved for path in names}
    kept = {path: tuple(name for name in names[path] if name in there[path]) for path in names}
    wanted = frozenset(name for each in names.values() for name in each)
    found = {path: (names_in(base[path]) & set(names.get(path, ()))) | (gone[path] & wanted) for path in python}
    return kept, {path: sorted(those) for path, those in found.items()}


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
