"""What a loop relies on beside its commits and its settings, by digest.

Agents' own scripts, files that checks name, where checks import from.

Nobody changes these while a loop runs but a person, or an agent that means to be judged by something else.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import sorted_entries
from loopwright.adapters.resolution import PIECES, Resolution
from loopwright.config.settings import AgentSettings, Settings

Pins = Mapping[str, str]  # a path: what it holds
Commands = tuple[tuple[str, ...], ...]

_SCRIPTS = (".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua")
_LARGEST = 4 << 20  # of what is read whole; a larger program is known by its size and times
_STARTS_WITH_PYTHON = ("sitecustomize", "usercustomize")
GONE = "gone"
NAMED = "named "  # before the digest of what a command names, and may write
PROGRAM = "program "  # before the name of a program, in the place of a path
_SMALL = 1 << 20
_SHIM = 16 * 1024
# What a command is told to write is another file after every run.
_WRITTEN_AS = re.compile(
    r"-o$|(?!.*(?:conf|rc))-.*(?:out|report|junit|xml|log|cov|result|cache|dump|trace|prof|save)", re.IGNORECASE
)
_WRITTEN = (".log", ".out", ".txt", ".xml", ".html", ".csv", ".tsv", ".info", ".lcov", ".pid", ".lock")


def scripts_of(agent: AgentSettings, root: Path) -> Pins:
    """The files among an agent's words: its program, if it is named by a path, and scripts."""
    found = (_script(word, root, is_program=number == 0) for number, word in enumerate(agent.argv))
    return {str(file): digest_of(file) for file in found if file is not None}


def _script(word: str, root: Path, *, is_program: bool) -> Path | None:
    if is_program and os.sep not in word:
        return None
    try:
        file = root / word
        if not word or not file.is_file():
            return None
    except (OSError, ValueError):
        return None
    return file if is_program or _is_script(file) else None


def _is_script(file: Path) -> bool:
    return file.name.endswith(_SCRIPTS) or bool(file.stat().st_mode & stat.S_IXUSR)


def files_named(commands: Iterable[tuple[str, ...]], home: str) -> Pins:
    """What commands name by a whole path, and so find outside of what is judged: programs, scripts, settings."""
    found = {file for argv in commands for file in _whole_paths(argv, home) if _can_change(str(file))}
    return {str(file): NAMED + digest_of(file) for file in sorted(found)}


def _whole_paths(argv: tuple[str, ...], home: str) -> Iterator[Path]:
    for before, word in zip(("", *argv), argv, strict=False):
        option, _, value = word.partition("=") if word.startswith("-") else (before, "", word)
        if not _WRITTEN_AS.match(option):
            yield from (file for file in (_whole_path(value, home),) if file and _is_read(file))
            pieces = (_whole_path(piece, home) for piece in PIECES.split(value))
            yield from (file for file in pieces if file and _is_script(file))


def _whole_path(word: str, home: str) -> Path | None:
    path = home + word[1:] if word.startswith("~/") else word
    try:
        return Path(path) if path.startswith("/") and Path(path).is_file() else None
    except (OSError, ValueError):
        return None


def _is_read(file: Path) -> bool:
    """A script or a text such as settings; data may be what the command itself writes."""
    if _is_script(file):
        return True
    try:
        small = file.stat().st_size <= _SMALL and not file.name.endswith(_WRITTEN)
        return small and b"\0" not in file.read_bytes()
    except OSError:
        return False


def _can_change(file: str) -> bool:
    """Whether a process of this user could write the file, or put another one in its place."""
    return os.access(file, os.W_OK) or os.access(os.path.dirname(os.path.realpath(file)), os.W_OK)  # noqa: PTH120


def digest_of(file: Path) -> str:
    try:
        found = file.stat()
        if found.st_size > _LARGEST:
            return f"{found.st_size} {found.st_mtime_ns}"
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return GONE


def importable(folders: Iterable[Path]) -> Pins:
    """What Python would import first from these folders, or run by itself, entry by entry."""
    return {path: held for folder in folders for path, held in _entries(folder)}


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of packages; of single files size and time too; whole what Python runs at every start."""
    for entry in sorted_entries(folder):
        if entry.name.endswith(".pth") or entry.name.startswith(_STARTS_WITH_PYTHON):
            yield entry.path, digest_of(Path(entry.path))
        elif entry.name.endswith("-info") and entry.is_dir():
            points = Path(entry.path, "entry_points.txt")
            yield entry.path, digest_of(points) if points.exists() else ""
        elif entry.name != "__pycache__":
            yield entry.path, _size_and_time(entry)


def _size_and_time(entry: os.DirEntry[str]) -> str:
    """Not of folders: using a package makes a `__pycache__` in it."""
    if entry.is_dir(follow_symlinks=False):
        return ""
    found = entry.stat(follow_symlinks=False)
    return f"{found.st_size} {found.st_mtime_ns}"


@dataclass(frozen=True, slots=True)
class ReliedOn:
    """What the commands of checks rely on outside of the tree, as far as an agent could change it.

    What only the system can write changes when the system is upgraded: then checks run again, and no loop stops.
    """

    commands: Commands
    setup: Commands
    resolution: Resolution

    def now(self) -> Pins:
        """Path by path, for one process."""
        return {**self._named(), **importable(self._folders()), **self._programs()}

    def for_log(self, copied: Iterable[Path]) -> Pins:
        """One digest for each folder, and the time: on another PATH other programs are found, which nobody put there.

        `copied` are the folders of the person's tree that every new checkout is made from.
        """
        folders = {str(folder): _digest(_entries(folder)) for folder in self._folders()}
        brought = {str(place): NAMED + _digest(_outermost(place)) for place in copied}
        return {**self._named(), **folders, **brought, **self._programs(), PROGRAM: str(time.time_ns())}

    def _named(self) -> Pins:
        return files_named((*self.commands, *self.setup), self.resolution.environ.get("HOME", ""))

    def _folders(self) -> list[Path]:
        found = (each for argv in self.commands for each in self.resolution.interpreters(argv).values())
        folders = {folder for each in found for folder in each.folders}
        return sorted(folder for folder in folders if os.access(folder, os.W_OK))

    def _programs(self) -> Pins:
        commands = (*self.commands, *self.setup)
        found = {name: place for argv in commands for name, place in self.resolution.programs(argv).items()}
        return {f"{PROGRAM}{name}": f"{place}\0{_stamp(place)}" for name, place in found.items() if "/" not in name}


def _digest(entries: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256(repr(sorted(entries)).encode("utf-8", "surrogateescape")).hexdigest()


def _outermost(place: Path, deep: int = 2) -> Iterator[tuple[str, str]]:
    """Of a folder of packages the files that each begins with. Hidden folders are caches, but for that of programs."""
    if not place.is_dir():
        yield str(place), digest_of(place)
        return
    for entry in sorted_entries(place):
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            yield entry.path, f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
        elif entry.is_symlink():
            yield entry.path, str(Path(entry.path).readlink())
        elif entry.name.startswith("@"):
            yield from _outermost(Path(entry.path), deep)
        elif deep > 1 and (entry.name == ".bin" or not entry.name.startswith((".", "__pycache__"))):
            yield from _outermost(Path(entry.path), deep - 1)


def _stamp(place: str) -> str:
    """Return the real path of a program, and what it holds where an agent could change that."""
    real = os.path.realpath(place)
    if not _can_change(real):
        return real
    found = Path(real).stat()
    if found.st_size <= _SHIM:  # a shim is written again with the same text
        return f"{real} {digest_of(Path(real))}"
    return f"{real} {found.st_size} {found.st_mtime_ns}"


def pins_of(settings: Settings, commands: Commands, root: Path, environ: Mapping[str, str]) -> Pins:
    """What a log can hold of it. `environ` is that of the checks."""
    scripts = {path: held for agent in settings.agents for path, held in scripts_of(agent, root).items()}
    relied_on = ReliedOn(commands, settings.workspace.setup, Resolution(environ, root))
    copied = (root / pattern for pattern in settings.workspace.copy if not re.search(r"[*?]", pattern))
    return {**scripts, **relied_on.for_log(copied)}


def differing(before: Pins, now: Pins) -> Iterator[str]:
    """Each path that is not what it was, in words.

    A program first: another one imports from elsewhere, and nothing of that is gone.
    """
    yield from _moved(before, now)
    for path in sorted(before.keys() | now.keys()):
        is_new = path not in before and now[path].startswith(NAMED)  # a command may write what it names
        if before.get(path) != now.get(path) and not path.startswith(PROGRAM) and not is_new:
            yield f"{path} {_what(path, before, now)}"


def _moved(before: Pins, now: Pins) -> Iterator[str]:
    """Programs that are not what they were. One that was not there before hides none."""
    since = int(before.get(PROGRAM, "0"))
    for name in sorted(name for name in before if name.startswith(PROGRAM) and name != PROGRAM):
        was, _, stamp = before[name].partition("\0")
        place, _, new_stamp = now.get(name, "").partition("\0")
        if place != was:
            if place and _made(place) >= since:
                yield f"{place} is found in place of {was}"
            elif not place and not os.path.exists(was):  # noqa: PTH110 - of a text that came from a log
                yield f"{was} is gone"
        elif stamp != new_stamp:
            yield f"{place} was changed"


def _made(place: str) -> int:
    """When it came to be there: set by the kernel alone."""
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return 0


def _what(path: str, before: Pins, now: Pins) -> str:
    was, held = (pins.get(path, GONE).removeprefix(NAMED) for pins in (before, now))
    if was == GONE:
        return "is new"
    if held != GONE:
        return "was changed"
    # Another program that is found first takes its packages from elsewhere.
    return "is no longer what checks find" if os.path.lexists(path) else "is gone"
