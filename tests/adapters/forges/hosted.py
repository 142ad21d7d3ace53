"""A repository with branches that are checked out nowhere, and people who commit to them, for the tests of forges."""

import subprocess
from dataclasses import dataclass

from loopwright.kernel.model import Commit
from tests.repository import Repository


@dataclass(frozen=True, slots=True)
class Branches:
    """Commits made in objects: no checkout is needed, and none is touched."""

    repo: Repository
    start: str = "main"

    def position(self, branch: str) -> Commit:
        return Commit(self.repo.git("rev-parse", f"refs/heads/{branch}"))

    def commit(self, branch: str) -> Commit:
        """One more on the branch, with one more file; it begins where `start` is."""
        begun = self.repo.git("for-each-ref", f"refs/heads/{branch}")
        parent = self.position(branch if begun else self.start)
        entries = self.repo.git("ls-tree", parent).splitlines()
        blob = self._made("hash-object", "-w", "--stdin", fed=branch)
        name = f"{branch.replace('/', '-')}-{len(entries)}.txt"
        tree = self._made("mktree", fed="\n".join([*entries, f"100644 blob {blob}\t{name}", ""]))
        return self._put(branch, tree, parent)

    def merge(self, branch: str, into: str) -> Commit:
        """As a person's forge does it: a merge, also where the target could just be moved."""
        ours, theirs = self.position(into), self.position(branch)
        return self._put(into, self.repo.git("merge-tree", "--write-tree", ours, theirs), ours, theirs)

    def delete(self, branch: str) -> None:
        self.repo.git("update-ref", "-d", f"refs/heads/{branch}")

    def holds(self, branch: str, commit: str) -> bool:
        return commit in self.repo.git("rev-list", f"refs/heads/{branch}").split()

    def _made(self, *argv: str, fed: str) -> str:
        done = subprocess.run(["git", *argv], cwd=self.repo.path, input=fed, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def _put(self, branch: str, tree: str, *parents: str) -> Commit:
        options = [word for parent in parents for word in ("-p", parent)]
        commit = self.repo.git("commit-tree", tree, *options, "-m", f"More of {branch}")
        self.repo.git("update-ref", f"refs/heads/{branch}", commit)
        return Commit(commit)
