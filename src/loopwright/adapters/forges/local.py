"""The forge that needs no network: proposals are files in `.loop/pulls`, and what became of one is what git says.

Whether it is merged, closed or open is never kept: a person may merge, move or delete a branch with their own git.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.forges.pull_files import Pull, PullFiles
from loopwright.adapters.git.branches import advance
from loopwright.adapters.git.landing import is_ancestor, merged_as
from loopwright.adapters.git.program import uninterrupted
from loopwright.adapters.git.refs import position
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import Ground, Site
from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.model import NO_COMMIT, Commit
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.sightings import PullRequestSeen

Asked = ReadPullRequest | MergePullRequest
_HEADS = "refs/heads/"


class LocalForge:
    """`root` is the top of the person's repository, `env` the person's environment."""

    def __init__(self, root: Path, *, env: Mapping[str, str], pinned: Pinned | None = None) -> None:
        self._site = Site(root, env, pinned)

    async def open(self, wanted: OpenPullRequest) -> PullRequestSeen:
        return await uninterrupted(lambda: _opened(self._site.ground(), wanted))

    async def read(self, wanted: ReadPullRequest) -> PullRequestSeen:
        return await uninterrupted(lambda: _read(self._site.ground(), wanted))

    async def merge(self, wanted: MergePullRequest) -> PullRequestSeen:
        return await uninterrupted(lambda: _merged(self._site.ground(), wanted))


def _opened(ground: Ground, wanted: OpenPullRequest) -> PullRequestSeen:
    branch, target = _short(wanted.branch), _short(wanted.target)
    head = position(ground, _HEADS + branch)
    if head != wanted.commit:
        found = PullRequest(head=head or NO_COMMIT)
        return PullRequestSeen(key=wanted.key, seen=found, failed=_not_there(branch, head, wanted.commit))
    if position(ground, _HEADS + target) is None:
        return PullRequestSeen(key=wanted.key, failed=f"{target} does not exist, so nothing can be merged into it")
    files = PullFiles(ground.root)
    with files.locked():
        pulls = files.all()
        of_branch = [pull for pull in pulls if pull.branch == branch and not _is_over(ground, pull, wanted.commit)]
        free = max((pull.number for pull in pulls), default=0) + 1
        pull = of_branch[-1] if of_branch else Pull(number=free, branch=branch, target=target)
        kept = _with(pull, wanted, target)
        files.keep(kept)
    return PullRequestSeen(key=wanted.key, seen=_seen(ground, kept, wanted.commit))


def _is_over(ground: Ground, pull: Pull, commit: Commit) -> bool:
    """What is proposed now is something else: this one was merged, and people remember it as that."""
    tip = position(ground, _HEADS + pull.target)
    head = Commit(pull.head)
    return head != commit and tip is not None and _is_known(ground, head) and is_ancestor(ground, head, tip)


def _with(pull: Pull, wanted: OpenPullRequest, target: str) -> Pull:
    said = (wanted.comment,) if wanted.comment and wanted.comment not in pull.comments else ()
    return replace(
        pull,
        target=target,
        title=wanted.title or pull.title,
        body=wanted.body or pull.body,
        head=wanted.commit,
        draft=wanted.draft,
        labels=tuple(each for each in dict.fromkeys((*pull.labels, *wanted.labels)) if each not in wanted.settled),
        reviewers=tuple(dict.fromkeys((*pull.reviewers, *wanted.reviewers))),
        comments=(*pull.comments, *said),
    )


def _read(ground: Ground, wanted: ReadPullRequest) -> PullRequestSeen:
    return PullRequestSeen(key=wanted.key, seen=_seen(ground, _pull_of(ground, wanted), wanted.commit))


def _pull_of(ground: Ground, wanted: Asked) -> Pull:
    """One whose file is gone is still a branch that somebody may merge. What is merged into what, no file says."""
    nameless = Pull(number=0, branch=_short(wanted.branch), target=_short(wanted.target))
    ours = (each for each in PullFiles(ground.root).all() if each.branch == nameless.branch)
    return next((replace(each, target=nameless.target) for each in ours if each.number == wanted.number), nameless)


def _seen(ground: Ground, pull: Pull, commit: Commit) -> PullRequest:
    tip, head = position(ground, _HEADS + pull.target), position(ground, _HEADS + pull.branch)
    seen = PullRequest(
        number=pull.number, url=PullFiles(ground.root).url(pull), draft=pull.draft, head=head or NO_COMMIT
    )
    if tip is not None and _is_known(ground, commit) and is_ancestor(ground, commit, tip):
        return replace(seen, state="merged", draft=False, merged_as=merged_as(ground, commit, tip))
    if not pull.number:
        return seen
    if head is None:
        return replace(seen, state="closed")
    has_more = tip is not None and not is_ancestor(ground, tip, head)
    return replace(seen, state="open", onto=tip if tip is not None and has_more else NO_COMMIT)


def _merged(ground: Ground, wanted: MergePullRequest) -> PullRequestSeen:
    pull = _pull_of(ground, wanted)
    seen = _seen(ground, pull, wanted.commit)
    if seen.state == "merged":
        return PullRequestSeen(key=wanted.key, seen=seen)
    failed = _refusal(ground, pull, wanted.commit) or _moved(ground, pull, wanted.commit)
    return PullRequestSeen(key=wanted.key, seen=_seen(ground, pull, wanted.commit), failed=failed)


def _refusal(ground: Ground, pull: Pull, commit: Commit) -> str:
    head, tip = position(ground, _HEADS + pull.branch), position(ground, _HEADS + pull.target)
    if head != commit:
        return _not_there(pull.branch, head, commit)
    if tip is None:
        return f"{pull.target} does not exist any more; `git branch {pull.target} {pull.branch}` takes the result"
    return "" if is_ancestor(ground, tip, commit) else f"{pull.target} has moved on to {tip[:12]}"


def _moved(ground: Ground, pull: Pull, commit: Commit) -> str:
    """Why the target was left where it is; empty where it is at the commit now."""
    target = _HEADS + pull.target
    moved = advance(ground, target, position(ground, target) or NO_COMMIT, commit, pull.branch)
    match moved.how:
        case "done":
            return ""
        case "moved":
            return f"{pull.target} has moved on: {moved.detail}"
        case "dirty":
            return f"{moved.detail}; `{moved.take}` takes the result"


def _is_known(ground: Ground, commit: Commit) -> bool:
    return bool(commit) and ground.engine.ask("cat-file", "-e", f"{commit}^{{commit}}").code == 0


def _not_there(branch: str, head: Commit | None, commit: Commit) -> str:
    if head is None:
        return f"the branch {branch} does not exist"
    return f"{branch} is at {head[:12]}, not at {commit[:12]}"


def _short(name: str) -> str:
    return name.removeprefix(_HEADS)
