"""Files that judge, before and after a command ran: code under test may not bend them while it is tested."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from loopwright.adapters.checks.classes.expectations import may_be_expected
from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.adapters.checks.shadows import shadowing
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.judges import Judge, is_example, judge_by_name
from loopwright.kernel.model import Change

_STEERING = (Judge.RUNNER, Judge.MANIFEST, Judge.BUILD, Judge.PLANTED, Judge.OPENED)
# Set by the kernel alone: who writes a file and puts it back as it was leaves another one.
Stamps = Mapping[str, tuple[int, int]]
_TICK = 20_000_000  # ns by which the clock of files may be late
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
    if judge_by_name(path) in _STEERING or collected_by_name(path):
        return True
    return any(shadowing(Change(path=path, how="added"), ()))


def stamped(checkout: Path, files: frozenset[str]) -> Stamps:
    """These files as they are now, and beside and above them whatever steers a runner."""
    folders = {folder for file in files for folder in _above(file)}
    steering = {path for folder in folders for path in _steering(checkout, folder)}
    return {path: stamp for path in files | steering if (stamp := _stamp(checkout / path)) is not None}


def touched(before: Stamps, after: Stamps) -> tuple[str, ...]:
    return tuple(sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)))


def _above(file: str) -> Iterator[str]:
    folder = posixpath.dirname(file)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _steering(checkout: Path, folder: str) -> Iterator[str]:
    try:
        names = [entry.name for entry in (checkout / folder).iterdir()]
    except OSError:  # the candidate has no such folder
        return
    yield from (path for name in names if is_check_configuration(path := posixpath.join(folder, name)))


def is_planted(checkout: Path, path: str, tested: int, is_judging: Callable[[str], bool]) -> bool:
    """Whether a file that is not of the tree is there to steer the next check.

    What a build makes is there for it; what came after tests began, at `tested` in nanoseconds, may not judge.
    """
    if is_check_configuration(path):
        return True
    if not tested or not (would_steer(path) or is_judging(path)):
        return False
    found = _stamp(checkout / path)
    return found is not None and found[1] >= tested - _TICK


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.lstat()
    except OSError:
        return None
    return (found.st_ino, found.st_ctime_ns)
