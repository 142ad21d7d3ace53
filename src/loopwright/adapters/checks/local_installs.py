"""Folders that a Python of checks has installed from somebody's disk: in place, or as a copy of what they held then."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from loopwright.adapters.files import sorted_entries

_LARGEST = 64 * 1024
# A word that starts Python, as it stands in a command, a recipe or a script.
INTERPRETER = re.compile(r"(?<![\w./~-])(?:[\w.~-]*/)*(?:python|pypy)[\d.]*(?![\w./-])")
ENVIRONMENTS = (".venv", "venv")  # where programs that start others look
_POINTING = (".pth", ".egg-link")
_PACKAGES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages")


def installed_from(
    argv: tuple[str, ...], environment: Mapping[str, str], root: Path | None, scripts: Iterable[str] = ()
) -> tuple[str, ...]:
    """Whole paths. `root` is the person's repository, which may keep an environment that no command names.

    `scripts` are the texts that say what the command starts.
    """
    words = {word for text in scripts for word in INTERPRETER.findall(text)}
    started = (str(root / word) if root and is_below(word) else word for word in words)
    folders = {folder for program in (*argv[:1], *started) for folder in site_folders((program,), environment)}
    homes = [root / name for name in ENVIRONMENTS] if root else []
    folders |= {folder for home in homes for folder in _packages(home)}
    return tuple(sorted({place for folder in folders for place in _places(folder)}))


def is_below(word: str) -> bool:
    """Whether it is named by its place in the repository."""
    return "/" in word and not word.startswith(("/", "~"))


def site_folders(argv: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[Path]:
    program = shutil.which(argv[0], path=environ.get("PATH", "")) if argv else None
    homes = [environ.get("VIRTUAL_ENV", ""), environ.get("CONDA_PREFIX", "")]
    for found in (program, os.path.realpath(program)) if program else ():
        above = Path(found).parent.parent
        homes += [str(above), *(map(str, above.glob("versions/*")) if Path(found).parent.name == "shims" else ())]
    for home in filter(None, homes):
        yield from _packages(Path(home))


def _packages(home: Path) -> Iterator[Path]:
    yield from (folder.resolve() for pattern in _PACKAGES for folder in home.glob(pattern))


def _places(folder: Path) -> Iterator[str]:
    for entry in sorted_entries(folder):
        if entry.name.endswith(".dist-info"):
            yield from _told(_text(Path(entry.path, "direct_url.json")))
        elif entry.name.endswith(_POINTING):
            yield from (line.strip() for line in _text(Path(entry.path)).splitlines() if line.startswith("/"))


def _told(text: str) -> Iterator[str]:
    """What an installer writes down of where it took a distribution from."""
    try:
        data = json.loads(text)
        url = urlsplit(str(data.get("url", ""))) if isinstance(data, dict) else urlsplit("")
    except (ValueError, RecursionError):
        return
    if url.scheme == "file":
        yield unquote(url.path)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return content.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
