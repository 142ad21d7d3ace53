"""Files that tests read and git ignores: they lie in the person's tree and in no checkout, until `copy` names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from loopwright.adapters.git.program import persons_git
from loopwright.errors import EngineError
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import CheckResult
from loopwright.kernel.wording import join_names

_MISSING = re.compile(r"FileNotFound|ENOENT|no such file|NoSuchFile|does not exist|cannot (?:find|open)", re.IGNORECASE)
_PATH = re.compile(r"""['"`]([^'"`\n]+)['"`]|([\w@+~./-]*[\w-])""")
_SPECIAL = re.compile(r"[*?\[\]\\]")
_IGNORED = "which git ignores"
_MOST_NAMES, _MOST_SHOWN = 40, 3
_CHARACTERS = 400_000  # of what a check said


def with_ignored_files(result: CheckResult, root: Path, environ: Mapping[str, str]) -> CheckResult:
    """A check that is red, or cannot run, for want of a file that git ignores says so, and what brings it along."""
    if result.passed:
        return result
    said = "\n".join((result.unable, *(f"{each.issue}\n{each.evidence}" for each in result.failures)))
    found = _ignored(frozenset(_missing(said[:_CHARACTERS])), root, environ)
    if not found:
        return result
    shown = join_names(found, _MOST_SHOWN)
    patterns = ", ".join(f'"{each}"' for each in _patterns(found, root, environ))
    told = (
        f"it names {shown}, {_IGNORED}, so that no checkout has it:"
        f" add `copy = [{patterns}]` to [workspace] of loop.toml"
    )
    if result.unable:
        first, _, rest = result.unable.partition("\n")
        return replace(result, unable="\n".join(filter(None, (f"{first}; {told}", rest))))
    return replace(result, note="; ".join(filter(None, (result.note, told))))


def said_of_ignored(note: str) -> str:
    """That part of a note."""
    return next((part for part in note.split("; ") if _IGNORED in part), "")


def _missing(said: str) -> Iterator[str]:
    """Paths in lines that miss a file."""
    for line in said.splitlines():
        for quoted, plain in _PATH.findall(line) if _MISSING.search(line) else ():
            path = (quoted or plain).strip()
            if path and ("." in path or "/" in path):
                yield path


def _ignored(paths: frozenset[str], root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Those of the person's tree that end as one of these paths does, by as many names as both have."""
    names = sorted({PurePosixPath(path).name for path in paths} - {""})[:_MOST_NAMES]
    if not names:
        return ()
    wanted = (":(top,glob)**/" + _SPECIAL.sub(r"\\\g<0>", name) for name in names)
    try:
        listed = persons_git(environ, root).names(
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *wanted
        )
    except EngineError:
        return ()
    return tuple(path for path in sorted(listed) if not _is_made(path) and any(_is_same(path, each) for each in paths))


def _is_same(held: str, named: str) -> bool:
    """What a message names may begin in the checkout, in a folder of the project, or at the top of the machine."""
    whole = tuple(part for part in PurePosixPath(named).parts if part not in ("/", ".", ".."))
    path = PurePosixPath(held).parts
    return whole[-len(path) :] == path or path[-len(whole) :] == whole


def _is_made(path: str) -> bool:
    """Dependencies, caches and our own folders: who needs these installs them."""
    folders = PurePosixPath(path).parts[:-1]
    return any(part.startswith(".") for part in folders) or judge_by_name(path) is Judge.PLANTED


def _patterns(found: tuple[str, ...], root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A whole folder where git has nothing of it: what it has is not taken from the person's tree."""
    tracked = persons_git(environ, root).names("ls-files", "-z")
    kept = frozenset(str(above) for path in tracked for above in PurePosixPath(path).parents)

    def pattern(path: str) -> str:
        folders = [str(above) for above in reversed(PurePosixPath(path).parents)][1:]
        return next((f"{folder}/**" for folder in folders if folder not in kept), path)

    return tuple(dict.fromkeys(map(pattern, found)))
