"""Where proposals to merge are looked at by people, and merged."""

from __future__ import annotations

from typing import Protocol

from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.sightings import PullRequestSeen


class Forge(Protocol):
    """What can be expected of a forge is an answer, never an exception: it refuses, or it is away.

    All of it may be repeated: there is one open proposal per branch, and the same comment is not made twice.
    """

    async def open(self, wanted: OpenPullRequest) -> PullRequestSeen:
        """The branch is put where people can see it, at exactly this commit."""

    async def read(self, wanted: ReadPullRequest) -> PullRequestSeen: ...

    async def merge(self, wanted: MergePullRequest) -> PullRequestSeen:
        """Refuses where the proposal is of another commit by now, and where the target has moved: what would be merged
        then, nobody has verified. One that is merged already is merged."""
