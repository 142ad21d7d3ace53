"""What a new folder needs before work can begin in it: files to copy, commands to run."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.files import read_tail
from loopwright.adapters.git.folders import files_below, is_folder, remove
from loopwright.adapters.steps import StepEnded, StepSpec, lock_of, run_step
from loopwright.config.settings import WorkspaceSettings
from loopwright.errors import ConfigError, SetupFailed
from loopwright.kernel.visible import visible_bytes

TAIL = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """`[workspace]` of loop.toml. `env` is the whole environment of the setup commands."""

    setup: tuple[tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    wall: float = 1800.0

    @staticmethod
    def of(settings: WorkspaceSettings, env: Mapping[str, str]) -> Preparation:
        return Preparation(setup=settings.setup, copy=settings.copy, env=dict(env))

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


def copy_files(paths: tuple[str, ...], root: Path, folder: Path) -> None:
    """Bring files from the person's tree that git does not carry."""
    for path in paths:
        source, target = _beneath(root, path), _beneath(folder, path)
        if not source.exists():
            raise SetupFailed(f"copy {path}", f"{source} does not exist; make it, or change `copy` in loop.toml")
        _refuse_links_above(folder, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=is_folder(target))
        else:
            remove(target)
            shutil.copy2(source, target)


def _beneath(folder: Path, path: str) -> Path:
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or ".git" in parts:
        raise ConfigError("loop.toml", "workspace.copy", f"{path!r} has to be a path inside the repository")
    return folder / path


def _refuse_links_above(folder: Path, target: Path) -> None:
    for above in target.relative_to(folder).parents:
        if (folder / above).is_symlink() and above != Path():
            raise SetupFailed(f"copy {target.name}", f"{folder / above} is a link; nothing is written through it")


def digest_of(preparation: Preparation, root: Path) -> str:
    """Changes when a prepared folder would come out differently, as far as the person's tree can tell."""
    digest = hashlib.sha256(repr((preparation.setup, preparation.copy)).encode())
    for path in preparation.copy:
        source = _beneath(root, path)
        names = sorted(files_below(source)) if source.is_dir() else [""]
        for name in names:
            file = source / name if name else source
            content = file.read_bytes() if file.is_file() else b"-"
            digest.update(f"\n{path}/{name}\n".encode("utf-8", "surrogateescape") + hashlib.sha256(content).digest())
    return digest.hexdigest()
