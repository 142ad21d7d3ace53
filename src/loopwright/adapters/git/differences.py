"""What changed between two trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.git.program import Git, path_of, printable, readable
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Change

ABSENT, SUBMODULE = "000000", "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One changed path with all that is needed to undo the change."""

    path: str  # as file functions take it
    old_mode: str
    new_mode: str
    old: str
    new: str

    @property
    def is_submodule(self) -> bool:
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def name(self) -> str:
        """As the log has it."""
        return printable(self.path)

    @property
    def change(self) -> Change:
        how: Literal["added", "changed", "removed"] = "changed"
        if self.old_mode == ABSENT:
            how = "added"
        elif self.new_mode == ABSENT:
            how = "removed"
        now = {} if how == "removed" else {"blob": self.new, "mode": self.new_mode}
        before = {} if how == "added" else {"old": self.old, "old_mode": self.old_mode}
        return Change(path=self.name, how=how, **now, **before)


def differences(ground: Ground, old: str, new: str) -> tuple[Difference, ...]:
    """What changed between two commits or trees, renames as one removed and one added path."""
    return differences_seen_by(ground.engine, old, new)


def differences_seen_by(git: Git, old: str, new: str) -> tuple[Difference, ...]:
    if old == new:
        return ()
    asked = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
    fields = git.run_once((old, new), *asked).split(b"\0")
    pairs = zip(fields[0::2], fields[1::2], strict=False)
    return tuple(_difference(readable(meta), path_of(path)) for meta, path in pairs)


def _difference(meta: str, path: str) -> Difference:
    old_mode, new_mode, old, new, _ = meta.removeprefix(":").split(" ")
    return Difference(path=path, old_mode=old_mode, new_mode=new_mode, old=old, new=new)
