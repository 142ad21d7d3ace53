"""What may judge and what is judged: the class of every changed path, and what the checks are known to look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from loopwright.kernel.model import Change


class FileClass(StrEnum):
    JUDGE_BY_NAME = "judge by name"  # manifests, configuration of runners, what a check names: never free
    TEST = "test"  # added, or only added to
    CHANGED_TEST = "changed test"  # a test of the base was changed or removed
    PRODUCT = "product"
    TEXT = "text"
    JUDGE = "judge"  # all else


_JUDGED = (FileClass.PRODUCT, FileClass.TEXT)
_LANDED = (*_JUDGED, FileClass.TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classed:
    """A changed path with its class. Tests inside a product file are cut out: `judged` and `landed` are what the file
    holds in the two runs then, until a person approves; None: as its class says."""

    change: Change
    kind: FileClass
    why: str = ""  # in words for a person: "a runner's configuration", "its name is taken: json"
    judged: bytes | None = None
    landed: bytes | None = None
    waits: bool = False  # tests of the base in it cannot be told from the product: nothing of it is held back
    is_manifest: bool = False  # decides what is installed
    put_back: bool = False  # a lock without its manifest: the base's lands, and nobody is asked
    allowed: bool = False  # a person said so before the start: as if it were approved
    moved: str = ""  # the other path, where the same content is removed here and added there

    @property
    def is_judged(self) -> bool:
        """Whether the judging run takes the candidate's side."""
        return self.kind in _JUDGED or self.allowed

    @property
    def is_landed(self) -> bool:
        """Whether the landing run takes the candidate's side, even if nobody approves anything."""
        return self.kind in _LANDED or self.allowed

    @property
    def is_gated(self) -> bool:
        if self.put_back or self.allowed:
            return False
        return not self.is_landed or self.waits or self.landed is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """Whether the checks look at the change: it was broken on purpose, and somebody noticed or not."""

    said: Literal["noticed", "untested-change", "unread", "disarmed", "not-shown"]
    how: Literal["", "exercises", "reads"] = ""
    where: Literal["", "judging", "landing"] = ""  # `landing`: only tests that are new noticed it
    noticed_by: tuple[str, ...] = ()  # checks
    blind: tuple[str, ...] = ()  # checks that count tests and stayed green: they do not look at this change
    missed: tuple[str, ...] = ()  # files, or functions as `src/a.py: name`, whose breaking nobody noticed
    sentence: str = ""
    seconds: float = 0.0
