"""What is under review: the files of an artifact, by what they are written in. No link is followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from loopwright.kernel.findings import cut
from loopwright.kernel.visible import visible

MOST_FILES = 2000
_LARGEST = 4 * 1024 * 1024  # bytes of a file that is read here
_LONGEST_LINE = 400
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "build", "dist"})
_LANGUAGES = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".yml", ".yaml"), "yaml"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
}
_TEST = re.compile(r"(^|/)(tests?|__tests__)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|\.(test|spec)\.[a-z]+$")
_HANDED_OVER = ".quality.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactFiles:
    """`files` are relative to the candidate's folder; `more` of them were too many to look at."""

    path: str
    files: tuple[str, ...]
    more: bool = False

    def of(self, *languages: str) -> tuple[str, ...]:
        return tuple(file for file in self.files if language(file) in languages)

    def holds(self, file: str) -> bool:
        return file in self.files


def gather(folder: Path, path: str) -> ArtifactFiles:
    """The artifact at `path`, a file or a folder; without files when there is nothing of the kind."""
    name = os.path.normpath(path or ".")
    place = folder / name
    if name.startswith(("/", "..")) or not place.resolve().is_relative_to(folder.resolve()):
        return ArtifactFiles(path=path, files=())
    if place.is_file() and not place.is_symlink():
        return ArtifactFiles(path=path, files=(PurePosixPath(name).as_posix(),))
    found = tuple(islice(_walk(folder, place), MOST_FILES + 1))
    return ArtifactFiles(path=path, files=tuple(sorted(found[:MOST_FILES])), more=len(found) > MOST_FILES)


def _walk(folder: Path, place: Path) -> Iterator[str]:
    for here, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(files):
            file = Path(here) / name
            if not file.is_symlink() and file.is_file() and not name.endswith(_HANDED_OVER):
                yield file.relative_to(folder).as_posix()


def language(file: str) -> str:
    return _LANGUAGES.get(PurePosixPath(file).suffix.lower(), "")


def is_test(file: str) -> bool:
    return bool(_TEST.search(file))


def within(folder: Path, file: str) -> str:
    """A path as a tool gives it, relative to the candidate's folder and made plain."""
    return os.path.normpath(file.removeprefix(f"{folder}{os.sep}"))


def text_of(folder: Path, file: str) -> str:
    """The file's text, as far as one may read it; empty when it is no regular file of the candidate."""
    place = folder / file
    if place.is_symlink() or not place.is_file() or not place.resolve().is_relative_to(folder.resolve()):
        return ""
    with place.open("rb") as stream:
        return stream.read(_LARGEST).decode("utf-8", "replace")


def line_of(folder: Path, file: str, number: int) -> str:
    """The source line, harmless to show: what a finding has for evidence."""
    lines = text_of(folder, file).splitlines() if number > 0 else []
    return cut(visible(lines[number - 1].strip()), _LONGEST_LINE) if number <= len(lines) and lines else ""
