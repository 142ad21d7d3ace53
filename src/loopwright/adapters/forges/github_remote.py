"""The repository on GitHub as git reaches it: which remote that is, where its branches stand, a push and a fetch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.forges.github_json import repository_of
from loopwright.adapters.forges.programs import Fault, fault_of_git, said_by
from loopwright.adapters.git.program import ALWAYS, Said, find_git, readable
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Commit

_PREFERRED = ("upstream", "github", "origin")  # as `gh` chooses where several could be meant
_CONNECTING = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY")
_REJECTED = re.compile(r"^!\t.*\[rejected\]", re.MULTILINE)
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True, kw_only=True)
class GithubRemote:
    name: str  # of git's remote
    host: str
    repository: str  # owner/name
    root: Path
    program: str
    env: Mapping[str, str]

    @property
    def address(self) -> str:
        """As `gh` takes it, whatever it would choose by itself."""
        return f"{self.host}/{self.repository}"

    async def positions(self, *branches: str) -> dict[str, Commit] | Fault:
        """Where these branches stand there; one that does not exist is left out."""
        said = await self._git("ls-remote", "--heads", self.name, *(_HEADS + branch for branch in branches))
        if said.code != 0:
            return fault_of_git(said, self.name, self.host)
        rows = (row.split("\t") for row in readable(said.out).splitlines())
        return {ref.removeprefix(_HEADS): Commit(commit) for commit, ref in rows}

    async def push(self, commit: Commit, branch: str) -> Fault | None:
        """Never by force: a branch that has something else there has it from somebody."""
        spec = f"{commit}:{_HEADS}{branch}"
        said = await self._git("push", "--porcelain", "--no-verify", "--no-follow-tags", self.name, spec)
        if said.code == 0:
            return None
        if _REJECTED.search(readable(said.out)):
            return Fault(f"{branch} has commits at {self.name} that are not ours; look at them, or delete it there")
        return fault_of_git(said, self.name, self.host)

    async def fetch(self, branch: str) -> Fault | None:
        """All of the branch is here then; no ref of the person's moves."""
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        said = await self._git("fetch", *quiet, "--refmap=", self.name, _HEADS + branch)
        return None if said.code == 0 else fault_of_git(said, self.name, self.host)

    async def _git(self, *argv: str) -> Said:
        settings = (setting for setting in ALWAYS if not setting.startswith("protocol."))
        options = (word for setting in settings for word in ("-c", setting))
        return await said_by((self.program, *options, *argv), env=self.env, cwd=self.root)


def remote_of(ground: Ground, env: Mapping[str, str]) -> GithubRemote | None:
    """The one that `gh` would take: what was chosen with `gh repo set-default`, else by its name."""
    said = ground.person.ask("config", "-z", "--get-regexp", r"^remote\..*\.(url|gh-resolved)$")
    urls, chosen = dict[str, str](), list[str]()
    for key, _, value in (readable(entry).partition("\n") for entry in said.out.split(b"\0") if entry):
        remote, _, of_what = key.removeprefix("remote.").rpartition(".")
        if of_what == "url":
            urls.setdefault(remote, value)
        elif value == "base":
            chosen.append(remote)
    wanted = env.get("GH_HOST", "").lower()
    places = {each: place for each, url in urls.items() if (place := repository_of(url)) is not None}
    usable = {each: place for each, place in places.items() if not wanted or place[0] == wanted}
    name = next((each for each in (*chosen, *_PREFERRED, *usable) if each in usable), None)
    if name is None:
        return None
    host, repository = usable[name]
    person = {**ground.person.env, **{each: env[each] for each in _CONNECTING if each in env}}
    return GithubRemote(
        name=name, host=host, repository=repository, root=ground.root, program=find_git(env), env=person
    )
