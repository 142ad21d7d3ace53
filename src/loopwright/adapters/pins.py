"""What a loop relies on beside its commits and its settings, by digest.

Agents' own scripts, files that checks name, where checks import from.

Nobody changes these while a loop runs but a person, or an agent that means to be judged by something else.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from loopwright.adapters.files import sorted_entries
from loopwright.adapters.project_environment import of_the_project
from loopwright.config.settings import AgentSettings, Settings

Pins = Mapping[str, str]  # a path: what it holds

_SCRIPTS = (".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua")
_LARGEST = 4 << 20  # of what is read whole; a larger program is known by its size and times
_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages")
_STARTS_WITH_PYTHON = ("sitecustomize", "usercustomize")
GONE = "gone"
NAMED = "named "  # before the digest of what a check names: a log of an older version has none of these
_SMALL = 1 << 20
_PIECES = re.compile(r"""[\s;&|()<>"'`=]+""")  # of a line for a shell
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
    found = {file for argv in commands for file in _whole_paths(argv, home)}
    return {str(file): NAMED + digest_of(file) for file in sorted(found)}


def _whole_paths(argv: tuple[str, ...], home: str) -> Iterator[Path]:
    for before, word in zip(("", *argv), argv, strict=False):
        option, _, value = word.partition("=") if word.startswith("-") else (before, "", word)
        if not _WRITTEN_AS.match(option):
            yield from (file for file in (_whole_path(value, home),) if file and _is_read(file))
            pieces = (_whole_path(piece, home) for piece in _PIECES.split(value))
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


def digest_of(file: Path) -> str:
    try:
        found = file.stat()
        if found.st_size > _LARGEST:
            return f"{found.st_size} {found.st_mtime_ns}"
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return GONE


def packages_of(commands: Iterable[tuple[str, ...]], environ: Mapping[str, str]) -> Pins:
    """What the Python of each command would import first, or run by itself: entry by entry of its site folders."""
    folders = sorted({folder for argv in commands for folder in site_folders(argv, environ)})
    return {path: held for folder in folders for path, held in _entries(folder)}


def site_folders(argv: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[Path]:
    program = shutil.which(argv[0], path=environ.get("PATH", "")) if argv else None
    homes = [environ.get("VIRTUAL_ENV", ""), environ.get("CONDA_PREFIX", "")]
    for found in (program, os.path.realpath(program)) if program else ():
        above = Path(found).parent.parent
        homes += [str(above), *(map(str, above.glob("versions/*")) if Path(found).parent.name == "shims" else ())]
    for home in filter(None, homes):
        for pattern in _PACKAGES:
            yield from (folder.resolve() for folder in Path(home).glob(pattern))


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


def pins_of(settings: Settings, commands: Iterable[tuple[str, ...]], root: Path, environ: Mapping[str, str]) -> Pins:
    """What a log can hold of it: each script and file, and one digest for each folder of packages."""
    commands = tuple(commands)
    named = files_named((*commands, *settings.workspace.setup), environ.get("HOME", ""))
    scripts = {path: held for agent in settings.agents for path, held in scripts_of(agent, root).items()}
    packages: dict[str, list[str]] = {}
    for path, held in packages_of(commands, of_the_project(environ, root)).items():
        packages.setdefault(os.path.dirname(path), []).append(f"{path}\0{held}\n")  # noqa: PTH120 - hundreds of them
    digests = {folder: hashlib.sha256("".join(all_).encode()).hexdigest() for folder, all_ in packages.items()}
    return {**named, **scripts, **digests}


def differing(before: Pins, now: Pins) -> Iterable[str]:
    """Each path that is not what it was, in words."""
    for path in sorted(before.keys() | now.keys()):
        if before.get(path) != now.get(path) and (path in before or not now[path].startswith(NAMED)):
            yield f"{path} {_what(path, before, now)}"


def _what(path: str, before: Pins, now: Pins) -> str:
    was, held = (pins.get(path, GONE).removeprefix(NAMED) for pins in (before, now))
    if was == GONE:
        return "is new"
    if held != GONE:
        return "was changed"
    # Another program that is found first takes its packages from elsewhere.
    return "is no longer what checks find" if os.path.lexists(path) else "is gone"
