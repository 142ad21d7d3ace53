"""What a new folder needs before work can begin in it: files to copy, commands to run."""

from __future__ import annotations

import hashlib
import itertools
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.files import read_tail
from loopwright.adapters.git.dependency_links import is_cache
from loopwright.adapters.git.file_copies import copy_entry, for_all
from loopwright.adapters.git.folders import files_below, is_folder, remove
from loopwright.adapters.steps import StepEnded, StepSpec, lock_of, run_step
from loopwright.config.settings import WorkspaceSettings
from loopwright.errors import ConfigError, SetupFailed
from loopwright.kernel.gates import matches
from loopwright.kernel.visible import visible_bytes

TAIL = 4096
OWN_FOLDERS = (".loop", ".worktrees")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """`[workspace]` of loop.toml. `env` is the whole environment of the setup commands."""

    setup: tuple[tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()
    link: bool = True  # dependency folders, in checkouts for checks
    env: Mapping[str, str] = field(default_factory=dict)
    wall: float = 1800.0

    @staticmethod
    def of(settings: WorkspaceSettings, env: Mapping[str, str]) -> Preparation:
        return Preparation(setup=settings.setup, copy=settings.copy, link=settings.link, env=dict(env))

    @property
    def needed(self) -> bool:
        return bool(self.setup or self.copy)


async def run_setup(preparation: Preparation, folder: Path, *, root: Path, runs: Path) -> None:
    """Run the setup commands in `folder`; their output goes below `runs`."""
    for number, argv in enumerate(preparation.setup, start=1):
        spec = StepSpec(
            argv=argv,
            cwd=folder,
            env={**preparation.env, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
            folder=runs / f"setup-{number}",
            root=root,
            wall=preparation.wall,
            lock=lock_of(root, folder),
        )
        ended = await run_step(spec)
        if ended.reason != "exited" or ended.exit_code != 0:
            raise SetupFailed(shlex.join(argv), _why(ended, preparation.wall))


def _why(ended: StepEnded, wall: float) -> str:
    if ended.reason == "not_found":
        return "the program was not found"
    if ended.reason == "wall":
        return f"it took longer than {wall:.0f} s"
    said = next(
        filter(None, (visible_bytes(read_tail(each, TAIL)).strip() for each in (ended.stderr, ended.stdout))), ""
    )
    return said or f"it ended with {ended.exit_code if ended.exit_code is not None else ended.reason}"


def copy_files(patterns: tuple[str, ...], root: Path, folder: Path) -> None:
    """Bring files from the person's tree that git does not carry."""
    for pattern in patterns:
        found = named_by(pattern, root)
        if not found:
            source = root / pattern
            raise SetupFailed(f"copy {pattern}", f"{source} does not exist; make it, or change `copy` in loop.toml")
        for above in {path.rpartition("/")[0] for path in found}:
            _refuse_links_above(folder, folder / above)
            (folder / above).mkdir(parents=True, exist_ok=True)
        for_all(lambda path: _replace(f"{root}/{path}", f"{folder}/{path}"), found)


def _replace(source: str, target: str) -> None:
    if os.path.lexists(target):
        remove(Path(target))
    copy_entry(source, target)


def named_by(pattern: str, root: Path) -> list[str]:
    """The files of the person's tree that `copy` names: one, all below a folder, or what fits a pattern."""
    _refuse_outside(pattern)
    if not _is_pattern(pattern):
        whole = pattern.rstrip("/")
        if is_folder(root / whole):
            return sorted(f"{whole}/{name}" for name in files_below(root / whole))
        return [whole] if (root / whole).exists() else []
    start = "/".join(itertools.takewhile(lambda part: not _is_pattern(part), pattern.rstrip("/").split("/")[:-1]))
    if not is_folder(root / start):
        return []
    skipped = OWN_FOLDERS if not start else ()
    names = (f"{start}/{name}" if start else name for name in files_below(root / start, skipped))
    return sorted(name for name in names if matches(name, pattern))


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?")


def _refuse_outside(path: str) -> None:
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or ".git" in parts:
        raise ConfigError("loop.toml", "workspace.copy", f"{path!r} has to be a path inside the repository")


def _refuse_links_above(folder: Path, target: Path) -> None:
    relative = target.relative_to(folder)
    for above in (relative, *relative.parents):
        if above != Path() and (folder / above).is_symlink():
            raise SetupFailed(f"copy {target.name}", f"{folder / above} is a link; nothing is written through it")


def digest_of(preparation: Preparation, root: Path) -> str:
    """Changes when a prepared folder would come out differently, as far as the person's tree can tell."""
    digest = hashlib.sha256(repr((preparation.setup, preparation.copy)).encode())
    for pattern in preparation.copy:
        for path in named_by(pattern, root):
            if is_cache(path):
                continue  # the person's own runs write there
            found = os.lstat(f"{root}/{path}")
            stood = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            digest.update(f"\n{path}\n{stood}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
