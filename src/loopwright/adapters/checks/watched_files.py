"""Files that judge and files that are judged, before and after a command ran.

Code under test may not bend those that judge while it is tested; and where it changes what is judged, what lands would
not be what was checked.
A file is looked at by what the kernel says of it, and read only where that differs. Tests leave what they judge alone:
the suites of boltons, click, sqlparse and tinydb do not as much as touch it. So a file that is as it was, but was
written in between, is told, too, unless the base's own run touches any of them: formatters, generators and archives do.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loopwright.adapters.checks.checkouts import CleanCheckout
from loopwright.adapters.checks.classes.expectations import may_be_expected
from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.adapters.checks.judgement import Rewriting
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.judges import Judge, is_example, judge_by_name

_STEERING = (Judge.RUNNER, Judge.MANIFEST, Judge.BUILD, Judge.PLANTED, Judge.OPENED)
# Set by the kernel alone: who writes a file and puts it back as it was leaves another one.
Stamps = Mapping[str, "_Look"]
_TICK = 20_000_000  # ns by which the clock of files may be late
_ROOTS, _TEST_FOLDERS = ("", "src", "lib", "test", "tests"), frozenset(("test", "tests"))
_MODULES = ("py", "pyi", "pyc", "so", "pyd")
_MAKEFILES = ("makefile", "gnumakefile", "bsdmakefile")


def watched(paths: Iterable[str], judging: frozenset[str]) -> frozenset[str]:
    """Of the base's files those whose content decides, `judging`, and data of its examples.

    Package managers write locks and builds their own files, in the course of their work.
    """
    expected = {path for path in paths if is_example(path) and may_be_expected(path)}
    return frozenset(path for path in expected | judging if not _is_made_on_the_way(path))


def _is_made_on_the_way(path: str) -> bool:
    judge = judge_by_name(path)
    if judge is Judge.BUILD:
        return posixpath.basename(path).lower() not in _MAKEFILES
    return judge is Judge.LOCK


def would_steer(path: str) -> bool:
    """Whether a new file of this name has a say in what runs next to it. What tools keep for themselves has none."""
    return judge_by_name(path) in _STEERING or collected_by_name(path) or _hides_standard_module(path)


def _hides_standard_module(path: str) -> bool:
    """Only where an import could find it: on a root, or beside tests, whose folder test tools put on the path."""
    folder, name = posixpath.split(path)
    near, (stem, _, suffix) = folder, name.partition(".")
    if stem == "__init__":
        folder, stem = posixpath.split(folder)
    is_module = suffix.rpartition(".")[2] in _MODULES and stem in sys.stdlib_module_names and not stem.startswith("_")
    return is_module and (folder in _ROOTS or not _TEST_FOLDERS.isdisjoint(near.split("/")[-2:]))


def stamped(checkout: Path, files: frozenset[str]) -> Stamps:
    """These files as they are now, and beside and above them whatever steers a runner."""
    steering = {path for folder in _above(files) for path in _steering(checkout, folder)}
    return _looks(checkout, files | steering)


def touched(before: Stamps, after: Stamps) -> tuple[str, ...]:
    return tuple(sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)))


def _above(files: frozenset[str]) -> set[str]:
    """Return the folders that these files lie in, and all folders above them."""
    found = {""} if files else set[str]()
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _steering(checkout: Path, folder: str) -> Iterator[str]:
    paths = (posixpath.join(folder, name) for name in _names_in(checkout / folder))
    yield from filter(is_check_configuration, paths)


def is_planted(checkout: Path, path: str, tested: int, is_judging: Callable[[str], bool]) -> bool:
    """Whether a file that is not of the tree is there to steer the next check.

    What a build makes is there for it; what came after tests began, at `tested` in nanoseconds, may not judge.
    """
    if is_check_configuration(path):
        return True
    if not tested or not (would_steer(path) or is_judging(path)):
        return False
    found = _look(f"{checkout}/{path}")
    return found is not None and found.changed >= tested - _TICK


class _Look(NamedTuple):
    inode: int
    size: int
    modified: int
    changed: int  # set by the kernel alone: who sets the other time back does not set this one


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOfTree:
    """Those of a checkout, before a command runs there."""

    checkout: CleanCheckout
    files: frozenset[str]
    before: Mapping[str, _Look]

    @classmethod
    def seen(cls, checkout: CleanCheckout, files: frozenset[str]) -> FilesOfTree:
        return cls(checkout=checkout, files=files, before=_looks(checkout.folder, files))

    async def after(self, is_judged: Callable[[str], bool]) -> Rewriting:
        """What came of those that are judged. Few are touched: only these are asked for their class."""
        folder, before = self.checkout.folder, self.before
        after = _looks(folder, self.files)
        touched = frozenset(path for path in self.files if before.get(path) != after.get(path) and is_judged(path))
        laid = touched & before.keys()
        others = (await self.checkout.altered(laid) if laid else laid) | (touched - laid)
        others |= frozenset(path for path in _in_front(folder, self.files) if is_judged(path))
        made_anew = {path for path in touched if _content(before.get(path)) != _content(after.get(path))}
        return Rewriting(
            written=tuple(sorted(made_anew | others)),
            rewritten=tuple(sorted(others)),
            put_back=tuple(sorted(touched - others)),
        )


def _looks(folder: Path, files: frozenset[str]) -> dict[str, _Look]:
    top = f"{folder}/"
    return {path: look for path in files if (look := _look(top + path)) is not None}


def _look(file: str) -> _Look | None:
    try:
        found = os.lstat(file)  # making paths of thousands of names takes longer than this
    except OSError:
        return None
    return _Look(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _content(look: _Look | None) -> tuple[int, ...] | None:
    return look and look[:3]


def _in_front(folder: Path, files: frozenset[str]) -> Iterator[str]:
    """Packages that are not of the tree and that Python finds before the module of the same name."""
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path in files:
        if path.endswith(".py"):
            above, _, name = path.rpartition("/")
            modules[above].add(name.removesuffix(".py"))
    for above, names in modules.items():
        for name in names.intersection(_names_in(folder / above)):
            package = posixpath.join(above, name)
            inside = (f"{package}/{each}" for each in _names_in(folder / package) if each.startswith("__init__."))
            yield from (path for path in inside if path not in files)


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone, of every folder of a project
    except OSError:
        return []
