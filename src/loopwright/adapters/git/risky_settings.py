"""The person's git settings that can run code or change what git believes, and whether somebody changed one.

Ours are off in every command of ours; but the person's next `git status` obeys theirs. So a step that changes one is
found out, by the key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.person_config import ConfigEntry, read_config
from loopwright.adapters.git.program import Git
from loopwright.errors import Forbidden
from loopwright.kernel.visible import visible

_RISKY = re.compile(
    r"core\.(fsmonitor|hookspath|sshcommand|editor|pager|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)"
    r"|(filter|alias|include|includeif|pager|trailer|mergetool|difftool|browser|man|protocol|sendemail)\..*"
    r"|diff\.external|diff\..*\.(textconv|command)|merge\..*\.driver|gpg\.(.*\.)?program|credential\.(.*\.)?helper"
    r"|(sequence\.editor|web\.browser|ssh\.variant|init\.templatedir|interactive\.difffilter|commit\.template)"
    r"|remote\..*\.(uploadpack|receivepack|vcs)|submodule\..*\.update|uploadpack\..*|receive\..*",
    re.DOTALL,
)
_HOOK = "hook/"  # no key of git has a slash there
Looked = tuple[tuple[int, ...] | None, ...]


@dataclass(slots=True)
class RiskySettings:
    """As they were when the repository was first looked at. Asking git is left out while no file has changed."""

    git: Git  # as the person would run it
    files: tuple[Path, ...]  # where settings may stand
    hooks: Path
    _known: dict[str, str]
    _looked: Looked

    @classmethod
    def taken(cls, git: Git, common: Path, env: Mapping[str, str], config: tuple[ConfigEntry, ...]) -> RiskySettings:
        home, hooks = env.get("HOME", ""), common / "hooks"
        settings = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
        usual = [common / "config", common / "config.worktree", Path(home, ".gitconfig"), Path(settings, "git/config")]
        files = tuple(dict.fromkeys([*usual, *(entry.file for entry in config if entry.file)]))
        return cls(git, files, hooks, _risky(config, hooks), _stats((*files, hooks)))

    def refuse_changed(self) -> None:
        """Raises `Forbidden` with the key that somebody changed meanwhile."""
        looked = _stats((*self.files, self.hooks))
        if looked == self._looked:
            return
        now = _risky(read_config(self.git), self.hooks)
        for key in sorted(self._known.keys() | now.keys()):
            if self._known.get(key) != now.get(key):
                raise _changed(visible(key), self.hooks)
        self._looked = looked


def _changed(key: str, hooks: Path) -> Forbidden:
    what, look = f"{key} of your git configuration", f"`git config --show-origin --get-all {key}`"
    if key.startswith(_HOOK):
        what = f"the hook {key.removeprefix(_HOOK)} in {hooks}"
        look = "an editor"
    return Forbidden(
        f"{what} was changed while a step ran, and your git would obey it; look at it with {look}, put it back and run"
        " `loop resume`"
    )


def _risky(config: tuple[ConfigEntry, ...], hooks: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in config:
        if _RISKY.fullmatch(entry.key.lower()):
            values = f"{found.get(entry.key, '')}\0{entry.value}"
            found[entry.key] = hashlib.sha256(values.encode()).hexdigest()
    return found | {f"{_HOOK}{name}": stood for name, stood in _hooks(hooks)}


def _hooks(folder: Path) -> list[tuple[str, str]]:
    try:
        with os.scandir(folder) as entries:
            kept = [entry for entry in entries if not entry.name.endswith(".sample")]
            return [(each.name, repr(_stat(Path(each.path)))) for each in kept]
    except OSError:
        return []


def _stats(files: tuple[Path, ...]) -> Looked:
    return tuple(map(_stat, files))


def _stat(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
