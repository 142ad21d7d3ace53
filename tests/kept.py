"""A folder that costs something to bring about, kept as it was and put back for every test that begins there."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Kept:
    """It goes back to where it was made: what git and the log hold names that place."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> "Kept":
        kept = cls(folder)
        shutil.copytree(folder, kept._copy, symlinks=True)
        return kept

    @property
    def _copy(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.kept")

    def restored(self) -> Path:
        shutil.rmtree(self.folder)
        shutil.copytree(self._copy, self.folder, symlinks=True)
        return self.folder
