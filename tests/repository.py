"""A real git repository to test against."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Repository:
    path: Path

    @classmethod
    def create(cls, path: Path) -> "Repository":
        """A repository on branch main with one commit of README.md."""
        path.mkdir(parents=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch=main")
        repository.write("README.md", "# Sample\n")
        repository.commit("Begin")
        return repository

    def git(self, *args: str) -> str:
        """What git prints, without the last newline. A failure shows what git said."""
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"git {' '.join(args)} ended with {done.returncode}: {done.stderr.strip()}"
        return done.stdout.removesuffix("\n")

    def write(self, path: str, text: str) -> Path:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def commit(self, message: str) -> str:
        """Commits all there is, changed or not, and returns the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", f"--message={message}")
        return self.git("rev-parse", "HEAD")
