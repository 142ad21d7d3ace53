"""What GitHub says, as `gh` prints it, taken apart. Nothing is asked here.

Everything in it was written by others: what is not as expected is left out, and what people wrote is bounded.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from loopwright.kernel.model import Commit
from loopwright.kernel.proposals import Opinion, PullRequest
from loopwright.kernel.visible import visible

FIELDS = (
    "number,url,state,isDraft,headRefOid,baseRefName,mergeCommit,reviews,comments,statusCheckRollup,labels"
    ",reviewRequests,title,body,author"
)
_MARK = "<!-- loopwright:{} -->"
_OURS = re.compile(r"<!-- loopwright:[0-9a-f]{16} -->")
_LONGEST, _MOST = 8000, 200  # characters of what one person said, and of how many such things
_URL = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]+@)?(?P<host>[^/:]+)(?::(?P<port>\d+))?/|(?:[^@/:]+@)(?P<scp>[^/:]+):)"
    r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)
_GREEN = frozenset(("SUCCESS", "NEUTRAL", "SKIPPED"))
_DECIDES: Mapping[str, Literal["approved", "changes-requested", "withdrawn"]] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes-requested",
    "DISMISSED": "withdrawn",
}
_INSIDE = frozenset(("OWNER", "MEMBER", "COLLABORATOR"))
_STATES: Mapping[str, Literal["open", "merged", "closed"]] = {"OPEN": "open", "MERGED": "merged", "CLOSED": "closed"}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullPage:
    """A pull request as GitHub shows it."""

    seen: PullRequest
    target: str
    title: str
    body: str
    labels: frozenset[str]
    requested: frozenset[str]  # of whom a look is wanted: logins, and teams as `organization/team`
    marks: Mapping[str, str]  # of comments that are ours, with the time of each


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchPull:
    """One of the pull requests of a branch."""

    number: int
    state: str
    head: str


def repository_of(url: str) -> tuple[str, str] | None:
    """The host, and the repository as `owner/name`, of a remote's address; None where it has no such form."""
    found = _URL.fullmatch(url)
    if found is None:
        return None
    port = found["port"] if url.startswith("http") else None  # that of another protocol is nothing to `gh`
    host = (found["host"] or found["scp"]).lower() + (f":{port}" if port else "")
    return host, f"{found['owner']}/{found['name']}"


def listed(text: str) -> list[BranchPull]:
    """Of this repository alone: a fork may have a branch of the same name."""
    return [
        BranchPull(number=int(each["number"]), state=_STATES.get(each["state"], "closed"), head=each["headRefOid"])
        for each in _objects(json.loads(text))
        if not each.get("isCrossRepository")
    ]


def page_of(text: str) -> PullPage:
    data: Json = json.loads(text)
    comments = _objects(data.get("comments"))
    red, pending = checks_of(_objects(data.get("statusCheckRollup")))
    return PullPage(
        seen=PullRequest(
            number=int(data["number"]),
            url=_text(data.get("url")),
            state=_STATES.get(data["state"], "closed"),
            head=Commit(_text(data.get("headRefOid"))),
            merged_as=Commit(_text(_inner(data, "mergeCommit", "oid"))),
            draft=data.get("isDraft") is True,
            author=_text(_inner(data, "author", "login")),
            opinions=opinions_of(_objects(data.get("reviews")), comments),
            red=red,
            pending=pending,
        ),
        target=_text(data.get("baseRefName")),
        title=_text(data.get("title")),
        body=_text(data.get("body")),
        labels=frozenset(_text(each.get("name")) for each in _objects(data.get("labels"))),
        requested=frozenset(map(_reviewer, _objects(data.get("reviewRequests")))),
        marks=dict(_marks(comments)),
    )


def _marks(comments: Iterable[Json]) -> Iterator[tuple[str, str]]:
    for each in comments:
        yield from ((mark, _text(each.get("createdAt"))) for mark in _OURS.findall(_text(each.get("body"))))


def marked(comment: str) -> tuple[str, str]:
    """The mark by which the comment is found again, and the comment with it. People do not see it."""
    mark = _MARK.format(hashlib.sha256(comment.encode()).hexdigest()[:16])
    return mark, f"{comment}\n\n{mark}"


def opinions_of(reviews: Iterable[Json], comments: Iterable[Json]) -> tuple[Opinion, ...]:
    """Return the last review of each person that decides something, then what was only said.

    A dismissed review takes back what its author said before. What was edited is left out: anybody who may write to
    the repository can have edited it.
    """
    deciding: dict[str, Opinion] = {}
    said: list[Opinion] = []
    for review in reviews:
        told = _opinion(review, "submittedAt")
        word = _DECIDES.get(_text(review.get("state")))
        if word is not None:
            deciding.pop(told.by, None)
            deciding[told.by] = replace(told, said=word)
        elif review.get("state") == "COMMENTED" and told.text and not _is_edited(review):
            said.append(told)
    for comment in comments:
        is_hidden = comment.get("isMinimized") is True or _OURS.search(_text(comment.get("body")))
        if not is_hidden and not _is_edited(comment) and (told := _opinion(comment, "createdAt")).text:
            said.append(told)
    return (*deciding.values(), *said[-_MOST:])


def _is_edited(data: Json) -> bool:
    return data.get("includesCreatedEdit") is True


def _opinion(data: Json, when: str) -> Opinion:
    return Opinion(
        by=_text(_inner(data, "author", "login")),
        said="commented",
        text=visible(_text(data.get("body")).strip()[:_LONGEST]),
        commit=Commit(_text(_inner(data, "commit", "oid"))),
        at=_text(data.get(when)),
        inside=data.get("authorAssociation") in _INSIDE,
    )


def checks_of(rollup: Iterable[Json]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the checks that failed, and of those that have not ended; of one that ran twice the later run counts."""
    latest: dict[str, Json] = {}
    for check in rollup:
        name = " / ".join(filter(None, (_text(check.get("workflowName")), _name(check))))
        if name not in latest or _text(latest[name].get("startedAt")) <= _text(check.get("startedAt")):
            latest[name] = check
    pending = {name for name, check in latest.items() if _is_pending(check)}
    red = {name for name, check in latest.items() if name not in pending and _outcome(check) not in _GREEN}
    return tuple(sorted(red)), tuple(sorted(pending))


def _name(check: Json) -> str:
    return visible(_text(check.get("name")) or _text(check.get("context")))


def _outcome(check: Json) -> str:
    """Checks have a conclusion, the older statuses only a state."""
    return _text(check.get("conclusion")) or _text(check.get("state"))


def _is_pending(check: Json) -> bool:
    if "context" in check:
        return check.get("state") in ("PENDING", "EXPECTED")
    return check.get("status") != "COMPLETED"


def _reviewer(request: Json) -> str:
    return _text(request.get("login")) or _text(request.get("slug"))


def _inner(data: Json, name: str, field: str) -> object:
    inner = data.get(name)
    return inner.get(field) if isinstance(inner, Mapping) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _objects(value: object) -> list[Json]:
    return list(_only_objects(value)) if isinstance(value, list) else []


def _only_objects(values: Iterable[object]) -> Iterator[Json]:
    return (each for each in values if isinstance(each, Mapping))
