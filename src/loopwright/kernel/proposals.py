"""A proposal to merge, as the place where people look at it has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.model import NO_COMMIT, Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one person said on a pull request; the last of theirs that decides something counts."""

    by: str
    said: Literal["approved", "changes-requested", "withdrawn", "commented"]
    text: str = ""
    commit: Commit = NO_COMMIT  # what it was said of
    at: str = ""  # when, by the clock of the forge: later ones sort after earlier ones
    inside: bool = False  # whoever said it belongs to the repository; what is public, anybody can speak to


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciders:
    """Who may decide on a pull request. Without a list for a gate: whoever belongs to the repository."""

    approvers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # by gate: all of them have to
    starter: str = ""  # who may not approve, where four eyes are wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """As the forge has it now."""

    number: int = 0
    url: str = ""
    state: Literal["open", "merged", "closed", "none"] = "none"
    head: Commit = NO_COMMIT  # what it proposes
    merged_as: Commit = NO_COMMIT
    onto: Commit = NO_COMMIT  # where the target stands, if it has something that the head does not have
    draft: bool = False
    author: str = ""  # whose log-in proposed it
    asked: str = ""  # when what it waits for was written there, by the clock of the forge
    opinions: tuple[Opinion, ...] = ()
    red: tuple[str, ...] = ()  # names of the forge's own checks that failed on its head
    pending: tuple[str, ...] = ()  # and of those that have not ended
