"""What a loop relies on beside its commits and its settings, by digest: agents' own scripts, where checks import from.

Nobody changes these while a loop runs but a person, or an agent that means to be judged by something else.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from loopwright.adapters.project_environment import of_the_project
from loopwright.config.settings import AgentSettings, Settings

Pins = Mapping[str, str]  # a path: what it holds

_SCRIPTS = (".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua")
_LARGEST = 4 << 20  # of what is read whole; a larger program is known by its size and times
_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages")
_STARTS_WITH_PYTHON = ("sitecustomize", "usercustomize")
GONE = "gone"


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
    is_script = word.endswith(_SCRIPTS) or bool(file.stat().st_mode & stat.S_IXUSR)
    return file if is_program or is_script else None


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
    folders = sorted({folder for argv in commands for folder in _site_folders(argv, environ)})
    return {path: held for folder in folders for path, held in _entries(folder)}


def _site_folders(argv: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[Path]:
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
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
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
    """What a log can hold of it: each script, and one digest for each folder of packages."""
    scripts = {path: held for agent in settings.agents for path, held in scripts_of(agent, root).items()}
    packages: dict[str, list[str]] = {}
    for path, held in packages_of(commands, of_the_project(environ, root)).items():
        packages.setdefault(os.path.dirname(path), []).append(f"{path}\0{held}\n")  # noqa: PTH120 - hundreds of them
    return scripts | {folder: hashlib.sha256("".join(all_).encode()).hexdigest() for folder, all_ in packages.items()}


def differing(before: Pins, now: Pins) -> Iterable[str]:
    """Each path that is not what it was, in words."""
    for path in sorted(before.keys() | now.keys()):
        if before.get(path) != now.get(path):
            what = "is new" if path not in before else "is gone" if now.get(path, GONE) == GONE else "was changed"
            yield f"{path} {what}"
