"""A forge and a runner of commands without files: what a loop that proposes and deploys meets in its own tests.

What they know is kept in the lists and dicts they are given, so that a new instance after a simulated crash finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest, RunOnce
from loopwright.kernel.model import NO_COMMIT, Commit
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.sightings import PullRequestSeen, RanOnce

OfForge = OpenPullRequest | ReadPullRequest | MergePullRequest


@dataclass(slots=True)
class MemoryPull:
    """A test plays the people: it says what they decide by replacing `seen`, and what they read stands beside it."""

    branch: str
    target: str
    base: Commit  # where the target stood when this head was proposed
    seen: PullRequest
    title: str = ""
    body: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


@dataclass(slots=True)
class MemoryForge:
    """`branches` says where every branch stands, by the names it is asked about; those of a workspace will do.

    `faults` are the next answers in place of its own, one for each that is asked.
    """

    branches: dict[str, Commit]
    pulls: list[MemoryPull] = field(default_factory=list)
    asked: list[OfForge] = field(default_factory=list)
    faults: list[PullRequestSeen] = field(default_factory=list)

    async def open(self, wanted: OpenPullRequest) -> PullRequestSeen:
        if fault := self._fault(wanted):
            return fault
        head = self.branches.get(wanted.branch, NO_COMMIT)
        if head != wanted.commit:
            failed = f"{wanted.branch} is at {head or 'nothing'}, not at {wanted.commit}"
            return PullRequestSeen(key=wanted.key, seen=PullRequest(head=head), failed=failed)
        pull = self._open_one(wanted) or self._new(wanted)
        if pull.seen.head != wanted.commit:
            pull.base = self.branches.get(wanted.target, NO_COMMIT)
        pull.seen = replace(pull.seen, head=wanted.commit, draft=wanted.draft)
        pull.title, pull.body = wanted.title or pull.title, wanted.body or pull.body
        labels = dict.fromkeys((*pull.labels, *wanted.labels))
        pull.labels = tuple(each for each in labels if each not in wanted.settled)
        pull.reviewers = tuple(dict.fromkeys((*pull.reviewers, *wanted.reviewers)))
        pull.comments = tuple(dict.fromkeys((*pull.comments, *filter(None, (wanted.comment,)))))
        return PullRequestSeen(key=wanted.key, seen=self._now(pull))

    async def read(self, wanted: ReadPullRequest) -> PullRequestSeen:
        return self._fault(wanted) or PullRequestSeen(key=wanted.key, seen=self._now(self._numbered(wanted.number)))

    async def merge(self, wanted: MergePullRequest) -> PullRequestSeen:
        if fault := self._fault(wanted):
            return fault
        pull = self._numbered(wanted.number)
        seen, failed = self._now(pull), ""
        if pull is None or seen.state == "closed":
            failed = "there is nothing to merge"
        elif seen.state != "merged" and seen.head != wanted.commit:
            failed = f"{wanted.branch} is at {seen.head}, not at {wanted.commit}"
        elif seen.state != "merged" and seen.onto:
            failed = f"{wanted.target} has moved on"
        elif seen.state != "merged":
            self.branches[wanted.target] = wanted.commit
            pull.seen = replace(pull.seen, state="merged", merged_as=wanted.commit, draft=False)
        return PullRequestSeen(key=wanted.key, seen=self._now(pull), failed=failed)

    def _fault(self, wanted: OfForge) -> PullRequestSeen | None:
        self.asked.append(wanted)
        return replace(self.faults.pop(0), key=wanted.key) if self.faults else None

    def _open_one(self, wanted: OpenPullRequest) -> MemoryPull | None:
        return next(
            (each for each in self.pulls if each.branch == wanted.branch and each.seen.state == "open"),
            next((each for each in self.pulls if each.seen.head == wanted.commit), None),
        )

    def _new(self, wanted: OpenPullRequest) -> MemoryPull:
        number = len(self.pulls) + 1
        seen = PullRequest(number=number, url=f"memory:{number}", state="open", head=wanted.commit)
        base = self.branches.get(wanted.target, NO_COMMIT)
        self.pulls.append(MemoryPull(branch=wanted.branch, target=wanted.target, base=base, seen=seen))
        return self.pulls[-1]

    def _numbered(self, number: int) -> MemoryPull | None:
        return self.pulls[number - 1] if 0 < number <= len(self.pulls) else None

    def _now(self, pull: MemoryPull | None) -> PullRequest:
        if pull is None:
            return PullRequest()
        if pull.seen.state != "open":
            return pull.seen
        tip = self.branches.get(pull.target, NO_COMMIT)
        head = self.branches.get(pull.branch, NO_COMMIT)
        return replace(pull.seen, head=head, onto=tip if tip != pull.base else NO_COMMIT)


@dataclass(slots=True)
class MemoryErrands:
    """`codes` by the first word of a command, 0 for others; None: whoever began it was gone before it ended."""

    codes: dict[str, int | None] = field(default_factory=dict)
    ran: dict[str, RunOnce] = field(default_factory=dict)  # by step: each is run once

    async def run_once(self, wanted: RunOnce, step: str) -> RanOnce:
        self.ran.setdefault(step, wanted)
        code = self.codes.get(wanted.argv[0], 0)
        return RanOnce(key=wanted.key, code=code, detail="" if code == 0 else f"{wanted.argv[0]} ended with {code}")
