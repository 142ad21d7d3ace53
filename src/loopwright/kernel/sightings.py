"""What was seen of files, a change, a proposal, a command that runs once, and a loop that was told something: answers
to actions, like those in `events`.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.model import Blob, Key, LoopId, Tree
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.risks import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The other loop has it on record; `refused` says why it does not."""

    key: Key
    loop: LoopId
    reply: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesExamined:
    key: Key
    faults: tuple[FileFault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeExamined:
    key: Key
    tree: Tree
    paths: tuple[str, ...] = ()  # that the change touches
    gone: tuple[str, ...] = ()  # of these, what it removes
    fresh: tuple[str, ...] = ()  # that its newest part touches
    code: tuple[str, ...] = ()  # product files that do something else than where it was built on
    risks: tuple[Risk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestSeen:
    """`failed` says why the forge could not be asked, or did not do it; `seen` is what it last told then."""

    key: Key
    seen: PullRequest = PullRequest()
    failed: str = ""
    away: bool = False  # it could not be reached: worth another try


@dataclass(frozen=True, slots=True, kw_only=True)
class RanOnce:
    """Without a `code` nobody knows how it ended: it was begun, and whoever began it was gone."""

    key: Key
    code: int | None
    detail: str = ""
    output: Blob = Blob("")
