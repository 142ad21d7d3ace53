"""A stand-in for GitHub that the real `gh` talks to: it keeps pull requests; its branches are a real bare repository.

`gh` is pointed at a socket by its own setting `http_unix_socket`; there it speaks plain HTTP, whatever the host is.
"""

import json
import re
import shutil
import socketserver
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.adapters.forges.hosted import Branches
from tests.repository import Repository

HOST, OWNER, NAME = "git.test", "acme", "shop"
TOKEN = "of-a-test"
needs_gh = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")
_OPERATION = re.compile(r"(?:query|mutation) (\w+)")
_TYPE = re.compile(r"(\w+): ?__type")

Data = dict[str, Any]


class NotFoundError(Exception):
    """What GitHub has no answer to."""


class RefusedError(Exception):
    """What GitHub does not do, with its reasons."""


@dataclass(slots=True)
class HubPull:
    number: int
    branch: str
    target: str
    title: str
    body: str
    draft: bool
    state: str = "OPEN"
    head: str = ""  # once it is over
    merge: str = ""
    labels: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    comments: list[Data] = field(default_factory=list)
    reviews: list[Data] = field(default_factory=list)
    checks: list[Data] = field(default_factory=list)


@dataclass(slots=True)
class GithubStandIn:
    branches: Branches
    socket: Path
    pulls: dict[int, HubPull] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)  # the next answers: a status and a message
    protected: str = ""  # why nothing is merged
    labels: list[str] = field(default_factory=lambda: ["a", "bug"])  # that the repository has
    strangers: list[str] = field(default_factory=list)  # who do not belong to it
    said: int = 0  # so many things; each a second after the other

    def head_of(self, pull: HubPull) -> str:
        return pull.head or self.branches.position(pull.branch)

    def say(self, number: int, by: str, text: str) -> None:
        self.pulls[number].comments.append({**self._by(by), "body": text, "createdAt": self._at()})

    def review(self, number: int, by: str, state: str, text: str = "") -> None:
        commit = self.head_of(self.pulls[number])
        said = {**self._by(by), "state": state, "body": text, "commit": {"oid": commit}, "submittedAt": self._at()}
        self.pulls[number].reviews.append(said)

    def _by(self, login: str) -> Data:
        return {"author": {"login": login}, "authorAssociation": "NONE" if login in self.strangers else "MEMBER"}

    def _at(self) -> str:
        self.said += 1
        return f"2026-02-05T10:{self.said // 60:02}:{self.said % 60:02}Z"

    def merge(self, number: int) -> None:
        pull = self.pulls[number]
        pull.head = self.head_of(pull)
        pull.merge = self.branches.merge(pull.branch, pull.target)
        pull.state = "MERGED"

    def close(self, number: int) -> None:
        self.pulls[number].head = self.head_of(self.pulls[number])
        self.pulls[number].state = "CLOSED"

    def answer(self, method: str, path: str, body: Data, token: str) -> tuple[int, Any]:
        self.asked.append(f"{method} {path}")
        if token != f"token {TOKEN}":
            return 401, {"message": "Bad credentials"}
        if self.faults:
            status, message = self.faults.pop(0)
            return status, {"message": message}
        try:
            return 200, self._graphql(body) if path == "/api/graphql" else self._rest(method, path, body)
        except RefusedError as refused:
            return 422, {"message": "Validation Failed", "errors": list(refused.args)}
        except NotFoundError as missing:
            if path != "/api/graphql":
                return 404, {"message": "Not Found"}
            return 200, {"data": {}, "errors": [{"type": "NOT_FOUND", "message": str(missing)}]}

    def _graphql(self, body: Data) -> Data:
        operation = _OPERATION.search(body["query"])
        assert operation is not None
        self.asked[-1] = operation[1]
        variables = body.get("variables") or {}
        match operation[1]:
            case "PullRequest_fields" | "PullRequest_fields2":
                return {"data": {name: {"fields": []} for name in _TYPE.findall(body["query"])}}
            case "RepositoryInfo":
                return {"data": {"repository": self._repository() | {"parent": None}}}
            case "PullRequestList":
                return {"data": {"repository": {"pullRequests": self._listed(variables)}}}
            case "PullRequestForBranch":
                return {"data": {"repository": self._repository() | {"pullRequests": {"nodes": []}}}}
            case "PullRequestByNumber":
                return {"data": {"repository": {"pullRequest": self._shown(self._numbered(variables["pr_number"]))}}}
            case _:
                return self._changed(operation[1], variables["input"])

    def _changed(self, operation: str, wanted: Data) -> Data:
        if operation == "PullRequestCreate":
            number = len(self.pulls) + 1
            self.pulls[number] = HubPull(
                number=number,
                branch=wanted["headRefName"],
                target=wanted["baseRefName"],
                title=wanted["title"],
                body=wanted["body"],
                draft=wanted["draft"],
            )
            return {"data": {"createPullRequest": {"pullRequest": self._shown(self.pulls[number])}}}
        pull = self._numbered(int(wanted.get("subjectId") or wanted["pullRequestId"]))
        match operation:
            case "CommentCreate":
                self.say(pull.number, "loop-bot", wanted["body"])
                return {"data": {"addComment": {"commentEdge": {"node": {"url": "there"}}}}}
            case "PullRequestReadyForReview" | "ConvertPullRequestToDraft":
                pull.draft = operation == "ConvertPullRequestToDraft"
                return {"data": {}}
            case "PullRequestMerge":
                if self.protected or wanted["expectedHeadOid"] != self.head_of(pull):
                    return {"data": {}, "errors": [{"message": self.protected or "Head branch was modified."}]}
                self.merge(pull.number)
                return {"data": {}}
            case _:
                raise AssertionError(operation)

    def _rest(self, method: str, path: str, body: Data) -> Any:  # noqa: ANN401 - what JSON can hold
        whole = path.removeprefix(f"/api/v3/repos/{OWNER}/{NAME}/")
        if (method, whole) == ("POST", "labels"):
            if body["name"] in self.labels:
                raise RefusedError({"resource": "Label", "code": "already_exists", "field": "name"})
            self.labels.append(body["name"])
            return body
        found = re.fullmatch(r"(?:pulls|issues)/(\d+)(?:/(\w+))?(?:/([\w:%-]+))?", whole)
        assert found is not None, path
        pull = self._numbered(int(found[1]))
        match method, found[2]:
            case "PATCH", None:
                pull.title, pull.body = body.get("title", pull.title), body.get("body", pull.body)
            case "POST", "labels":
                assert set(body["labels"]) <= set(self.labels), "such a label was never made"
                pull.labels += body["labels"]
            case "DELETE", "labels":
                pull.labels.remove(unquote(found[3]))
                return [{"name": label} for label in pull.labels]
            case "POST", "requested_reviewers":
                if "nobody" in body["reviewers"]:
                    raise RefusedError("Reviews may only be requested from collaborators.")
                pull.requested += body["reviewers"] + [f"{OWNER}/{team}" for team in body["team_reviewers"]]
            case _:
                raise AssertionError(f"{method} {path}")
        return {}

    def _numbered(self, number: int) -> HubPull:
        if number not in self.pulls:
            raise NotFoundError(f"Could not resolve to a PullRequest with the number of {number}.")
        return self.pulls[number]

    def _repository(self) -> Data:
        return {"id": "R_1", "name": NAME, "owner": {"login": OWNER}, "defaultBranchRef": {"name": "main"}}

    def _listed(self, variables: Mapping[str, Any]) -> Data:
        found = [pull for pull in self.pulls.values() if pull.branch == variables["headBranch"]]
        nodes = [self._shown(pull) for pull in reversed(found) if pull.state in variables["state"]]
        return {"totalCount": len(nodes), "nodes": nodes, "pageInfo": {"hasNextPage": False, "endCursor": ""}}

    def _shown(self, pull: HubPull) -> Data:
        head, ends = self.head_of(pull), {"hasNextPage": False, "endCursor": ""}
        checks = {"statusCheckRollup": {"contexts": {"nodes": pull.checks, "pageInfo": ends}}}
        return {
            "id": str(pull.number),
            "number": pull.number,
            "url": f"https://{HOST}/{OWNER}/{NAME}/pull/{pull.number}",
            "state": pull.state,
            "title": pull.title,
            "body": pull.body,
            "isDraft": pull.draft,
            "isCrossRepository": False,
            "author": {"login": "loop-bot"},
            "headRefName": pull.branch,
            "headRefOid": head,
            "baseRefName": pull.target,
            "mergeStateStatus": "CLEAN",
            "mergeCommit": {"oid": pull.merge} if pull.merge else None,
            "headRepositoryOwner": {"login": OWNER},
            "commits": {"nodes": [{"commit": {"oid": head}}]},
            "statusCheckRollup": {"nodes": [{"commit": checks}]},
            "labels": {"nodes": [{"name": label} for label in pull.labels], "totalCount": len(pull.labels)},
            "reviews": {"nodes": pull.reviews, "totalCount": len(pull.reviews), "pageInfo": ends},
            "comments": {"nodes": pull.comments, "totalCount": len(pull.comments), "pageInfo": ends},
            "reviewRequests": {"nodes": [{"requestedReviewer": _reviewer(each)} for each in pull.requested]},
        }


def _reviewer(name: str) -> Data:
    if "/" not in name:
        return {"__typename": "User", "login": name}
    organization, _, team = name.partition("/")
    return {"__typename": "Team", "slug": team, "name": team, "organization": {"login": organization}}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    hub: GithubStandIn


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        body = json.loads(self._body() or b"{}")
        token = self.headers.get("Authorization") or ""
        status, said = self.server.hub.answer(self.command, self.path, body, token)
        out = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - so the server looks for them

    def address_string(self) -> str:
        return "gh"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nobody reads it."""


@contextmanager
def github_of(repo: Repository, path: Path) -> Iterator[tuple[GithubStandIn, dict[str, str]]]:
    """A GitHub that has the person's `main`, and the environment in which `gh` and git find it."""
    bare, folder = path / "hub.git", Path(tempfile.mkdtemp())  # a socket's path has to be short
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare))
    address = f"https://{HOST}/{OWNER}/{NAME}.git"
    repo.git("remote", "add", "origin", address)
    repo.git("config", f"url.{bare}.insteadOf", address)
    socket = folder / "gh.sock"
    (folder / "config.yml").write_text(f"http_unix_socket: {socket}\n")
    hub = GithubStandIn(Branches(Repository(bare)), socket)
    with _Server(str(socket), _Handler) as server:
        server.hub = hub
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            own = dict.fromkeys(("GH_CONFIG_DIR", "XDG_CACHE_HOME", "TMPDIR"), str(folder))  # it remembers hosts there
            yield hub, {**own, "GH_ENTERPRISE_TOKEN": TOKEN}
        finally:
            server.shutdown()
            shutil.rmtree(folder)
