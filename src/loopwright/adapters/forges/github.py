"""The forge GitHub, through the person's own `gh` and git: their log-in, their rights.

What exists already is changed through `gh api`: `gh pr edit` asks for boards that GitHub no longer has, and all of its
versions before 2.82 fail with that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from loopwright.adapters.forges.github_json import FIELDS, BranchPull, PullPage, listed, marked, page_of
from loopwright.adapters.forges.github_remote import GithubRemote, remote_of
from loopwright.adapters.forges.programs import Fault, fault_of_gh, said_by, words_of
from loopwright.adapters.git.landing import is_ancestor
from loopwright.adapters.git.program import readable, uninterrupted
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import Ground, Site
from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.model import NO_COMMIT, Commit
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.sightings import PullRequestSeen

T = TypeVar("T")
Asked = OpenPullRequest | ReadPullRequest | MergePullRequest
Step = Callable[[], Coroutine[None, None, "str | Fault"]]
_NOT_FOR_US = frozenset(("GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_REPO", "GH_PAGER", "PAGER"))
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}
_NO_REMOTE = "no remote of this repository is on GitHub: add one with `git remote add origin ADDRESS`"
_UNKNOWN = "Could not resolve to a PullRequest"
_KNOWN_LABEL = "already exists"
_HEADS = "refs/heads/"


class GithubForge:
    """`root` is the top of the person's repository, `env` the person's environment."""

    def __init__(self, root: Path, *, env: Mapping[str, str], pinned: Pinned | None = None) -> None:
        self._site = Site(root, env, pinned)
        self._env = env

    async def open(self, wanted: OpenPullRequest) -> PullRequestSeen:
        hub = await self._hub()
        return await _opened(hub, wanted) if isinstance(hub, _Hub) else _failed(wanted, hub)

    async def read(self, wanted: ReadPullRequest) -> PullRequestSeen:
        hub = await self._hub()
        page = await hub.page(wanted.number, wanted) if isinstance(hub, _Hub) else hub
        return _failed(wanted, page) if isinstance(page, Fault) else PullRequestSeen(key=wanted.key, seen=_seen(page))

    async def merge(self, wanted: MergePullRequest) -> PullRequestSeen:
        hub = await self._hub()
        return await _merged(hub, wanted) if isinstance(hub, _Hub) else _failed(wanted, hub)

    async def _hub(self) -> _Hub | Fault:
        ground = await uninterrupted(self._site.ground)
        remote = await uninterrupted(lambda: remote_of(ground, self._env))
        if remote is None:
            return Fault(_NO_REMOTE)
        env = {name: value for name, value in self._env.items() if name not in _NOT_FOR_US}
        return _Hub(ground=ground, remote=remote, env={**env, **_QUIET})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hub:
    """One repository on GitHub: each method asks one thing of it."""

    ground: Ground
    remote: GithubRemote
    env: Mapping[str, str]

    async def gh(self, *argv: str, fed: str = "") -> str | Fault:
        said = await said_by(("gh", *argv), env=self.env, cwd=self.ground.root, fed=fed)
        return readable(said.out) if said.code == 0 else fault_of_gh(said, self.remote.host)

    async def pr(self, *argv: str, fed: str = "") -> str | Fault:
        return await self.gh("pr", *argv, "--repo", self.remote.address, fed=fed)

    async def api(self, path: str, *options: str, fed: Mapping[str, object]) -> str | Fault:
        whole = f"repos/{self.remote.repository}/{path}"
        return await self.gh(
            "api", "--hostname", self.remote.host, whole, *options, "--input", "-", fed=json.dumps(fed)
        )

    async def label(self, number: str, labels: list[str]) -> str | Fault:
        """One that the repository does not have yet is made first."""
        for label in labels:
            made = await self.gh("label", "create", label, "--repo", self.remote.address)
            if isinstance(made, Fault) and _KNOWN_LABEL not in made.text:
                return made
        return await self.api(f"issues/{number}/labels", fed={"labels": labels})

    async def unlabel(self, number: str, labels: list[str]) -> str | Fault:
        for label in labels:
            gone = await self.api(f"issues/{number}/labels/{quote(label, safe='')}", "--method", "DELETE", fed={})
            if isinstance(gone, Fault):
                return gone
        return ""

    async def request(self, number: str, reviewers: list[str]) -> str | Fault:
        """Each by itself: one whom GitHub does not know keeps nobody else from being asked, and holds nothing up."""
        for each in reviewers:
            asked = await self.api(f"pulls/{number}/requested_reviewers", fed=_by_kind([each]))
            if isinstance(asked, Fault) and asked.away:
                return asked
        return ""

    async def of_branch(self, branch: str) -> list[BranchPull] | Fault:
        """The newest first."""
        fields = ("--json", "number,state,headRefOid,isCrossRepository")
        said = await self.pr("list", "--head", branch, "--state", "all", *fields)
        return said if isinstance(said, Fault) else _taken(lambda: listed(said))

    async def page(self, number: int, wanted: Asked) -> PullPage | Fault | None:
        """With the positions of both branches as git has them: GitHub shows them a moment later. None: no such page."""
        said, positions = await asyncio.gather(
            self.pr("view", str(number), "--json", FIELDS),
            self.remote.positions(_short(wanted.branch), _short(wanted.target)),
        )
        if isinstance(said, Fault):
            return None if _UNKNOWN in said.text else said
        page = _taken(lambda: page_of(said))
        if isinstance(page, Fault) or isinstance(positions, Fault):
            return positions if isinstance(positions, Fault) else page
        tip = positions.get(_short(wanted.target), NO_COMMIT)
        if missing := await self._brought_here(wanted, tip, page.seen.merged_as):
            return missing
        if page.seen.state != "open":
            return page
        head = positions.get(_short(wanted.branch), page.seen.head)
        has_more = await uninterrupted(lambda: _lacks(self.ground, head, tip))
        return replace(page, seen=replace(page.seen, head=head, onto=tip if has_more else NO_COMMIT))

    async def _brought_here(self, wanted: Asked, *commits: Commit) -> Fault | None:
        """What was merged is deployed from here, and what the target has by now is what the work is to fit to."""
        wanted_here = [commit for commit in commits if commit]
        if await uninterrupted(lambda: all(_is_here(self.ground, commit) for commit in wanted_here)):
            return None
        return await self.remote.fetch(_short(wanted.target))


def _taken(parse: Callable[[], T]) -> T | Fault:
    """A `gh` of another year may say it in another form."""
    try:
        return parse()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Fault(f"what gh said cannot be read ({error!r}); another version of it may help")


def _lacks(ground: Ground, head: Commit, tip: Commit) -> bool:
    """Whether `tip` has something that `head` does not have. What is not here at all is in nothing that is."""
    if not tip or not _is_here(ground, head):
        return False  # of a head that somebody else made nothing is merged in any case
    return not _is_here(ground, tip) or not is_ancestor(ground, tip, head)


def _is_here(ground: Ground, commit: Commit) -> bool:
    return ground.engine.ask("cat-file", "-e", f"{commit}^{{commit}}").code == 0


async def _opened(hub: _Hub, wanted: OpenPullRequest) -> PullRequestSeen:
    """Whatever was done before, by whomever, is looked at first: nothing of it is done twice."""
    branch = _short(wanted.branch)
    found = await hub.of_branch(branch)
    if isinstance(found, Fault):
        return _failed(wanted, found)
    ours = next((each for each in found if each.state == "open" or each.head == wanted.commit), None)
    if ours is not None and ours.state != "open":
        page = await hub.page(ours.number, wanted)
        over = Fault(f"pull request #{ours.number} of exactly this commit was closed") if _is_closed(page) else None
        return _told(wanted, page, over)
    if refused := await hub.remote.push(wanted.commit, branch):
        page = await hub.page(ours.number, wanted) if ours else None
        return _told(wanted, page, refused) if ours else await _only_a_branch(hub, wanted, refused)
    number = ours.number if ours is not None else await _created(hub, wanted)
    if isinstance(number, Fault):
        return _failed(wanted, number)
    return await _up_to_date(hub, wanted, number)


async def _only_a_branch(hub: _Hub, wanted: OpenPullRequest, refused: Fault) -> PullRequestSeen:
    """What somebody has put where our branch was to be, and never proposed."""
    positions = await hub.remote.positions(_short(wanted.branch))
    head = NO_COMMIT if isinstance(positions, Fault) else positions.get(_short(wanted.branch), NO_COMMIT)
    return replace(_failed(wanted, refused), seen=PullRequest(head=head))


async def _created(hub: _Hub, wanted: OpenPullRequest) -> int | Fault:
    said = await hub.pr(
        "create",
        *("--head", _short(wanted.branch), "--base", _short(wanted.target)),
        *("--title", wanted.title, "--body-file", "-"),
        *(("--draft",) if wanted.draft else ()),
        fed=wanted.body,
    )
    if isinstance(said, Fault):
        return said
    number = said.strip().rpartition("/")[2]
    return int(number) if number.isdecimal() else Fault(f"gh said nothing of the new pull request: {words_of(said)}")


async def _up_to_date(hub: _Hub, wanted: OpenPullRequest, number: int) -> PullRequestSeen:
    page = await hub.page(number, wanted)
    if not isinstance(page, PullPage):
        return _told(wanted, page)
    if wrong := _other_target(page, wanted):
        return _told(wanted, page, wrong)
    steps = _due(hub, wanted, page)
    fault = await _first_fault(steps)
    after = await hub.page(number, wanted) if steps else page
    return _told(wanted, page if isinstance(after, Fault) else _with_request(after, wanted), fault)


def _with_request(page: PullPage | None, wanted: OpenPullRequest) -> PullPage | None:
    """When the comment was made: what people said before it, they did not say of this."""
    if page is None or not wanted.comment:
        return page
    return replace(page, seen=replace(page.seen, asked=page.marks.get(marked(wanted.comment)[0], "")))


async def _first_fault(steps: list[Step]) -> Fault | None:
    """What comes after it is tried when it is asked for again."""
    for step in steps:
        if isinstance(said := await step(), Fault):
            return said
    return None


def _due(hub: _Hub, wanted: OpenPullRequest, page: PullPage) -> list[Step]:
    """What is still to be done, in its order."""
    number = str(page.seen.number)
    texts = {"title": wanted.title, "body": wanted.body}
    other = {name: text for name, text in texts.items() if text and text.strip() != getattr(page, name).strip()}
    labels = [label for label in wanted.labels if label not in page.labels]
    settled = [label for label in wanted.settled if label in page.labels]
    mark, comment = marked(wanted.comment)
    reviewers = _to_ask(wanted, page)
    undo = ("--undo",) if wanted.draft else ()
    steps: tuple[tuple[object, Step], ...] = (
        (other, lambda: hub.api(f"pulls/{number}", "--method", "PATCH", fed=other)),
        (wanted.draft != page.seen.draft, lambda: hub.pr("ready", number, *undo)),
        (labels, lambda: hub.label(number, labels)),
        (settled, lambda: hub.unlabel(number, settled)),
        (
            wanted.comment and mark not in page.marks,
            lambda: hub.pr("comment", number, "--body-file", "-", fed=comment),
        ),
        (reviewers, lambda: hub.request(number, reviewers)),
    )
    return [step for is_due, step in steps if is_due]


def _to_ask(wanted: OpenPullRequest, page: PullPage) -> list[str]:
    """Whoever was asked, or has said something of this commit, is not asked again; nor is its author, ever."""
    done = {each.by for each in page.seen.opinions if each.commit == wanted.commit and each.said != "commented"}
    known = {each.lower() for each in (*done, *page.requested, page.seen.author)}
    return [each for each in wanted.reviewers if each.lower() not in known]


def _by_kind(reviewers: list[str]) -> dict[str, object]:
    people = [each for each in reviewers if "/" not in each]
    return {"reviewers": people, "team_reviewers": [each.rpartition("/")[2] for each in reviewers if "/" in each]}


async def _merged(hub: _Hub, wanted: MergePullRequest) -> PullRequestSeen:
    page = await hub.page(wanted.number, wanted)
    if not isinstance(page, PullPage) or page.seen.state == "merged":
        return _told(wanted, page)
    if (fault := _refusal(page, wanted)) is not None:
        return _told(wanted, page, fault)
    said = await hub.pr("merge", str(wanted.number), "--merge", "--match-head-commit", wanted.commit)
    after = await hub.page(wanted.number, wanted)
    if isinstance(after, PullPage) and after.seen.state == "merged":
        return _told(wanted, after)
    waits = Fault("GitHub took it, and has not merged it yet")  # a queue of its own, or checks that it waits for
    return _told(wanted, page if isinstance(after, Fault) else after, said if isinstance(said, Fault) else waits)


def _refusal(page: PullPage, wanted: MergePullRequest) -> Fault | None:
    seen = page.seen
    if seen.state != "open":
        return Fault(f"pull request #{seen.number} was closed")
    if wrong := _other_target(page, wanted):
        return wrong
    if seen.draft:  # it was proposed as none: somebody says that it is not to be merged yet
        return Fault(f"pull request #{seen.number} was made a draft again")
    if seen.head != wanted.commit:
        return Fault(f"{_short(wanted.branch)} is at {seen.head[:12]}, not at {wanted.commit[:12]}")
    return Fault(f"{page.target} has moved on to {seen.onto[:12]}") if seen.onto else None


def _other_target(page: PullPage, wanted: Asked) -> Fault | None:
    target = _short(wanted.target)
    if page.target == target:
        return None
    return Fault(f"pull request #{page.seen.number} is for {page.target} now, not for {target}; change its base back")


def _is_closed(page: PullPage | Fault | None) -> bool:
    return isinstance(page, PullPage) and page.seen.state == "closed"


def _told(wanted: Asked, page: PullPage | Fault | None, fault: Fault | None = None) -> PullRequestSeen:
    """A page that could not be had is the reason, unless there was one before it."""
    if isinstance(page, Fault):
        return _failed(wanted, fault or page)
    gone = None if page is not None or fault else Fault("there is no such pull request any more")
    why = fault or gone
    return PullRequestSeen(
        key=wanted.key, seen=_seen(page), failed=why.text if why else "", away=why.away if why else False
    )


def _seen(page: PullPage | None) -> PullRequest:
    return page.seen if page is not None else PullRequest()


def _failed(wanted: Asked, fault: Fault) -> PullRequestSeen:
    return PullRequestSeen(key=wanted.key, failed=fault.text, away=fault.away)


def _short(name: str) -> str:
    return name.removeprefix(_HEADS)
