"""A real git repository to test against."""

import atexit
import functools
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Repository:
    path: Path

    @classmethod
    def create(cls, path: Path) -> "Repository":
        """A repository on branch main with one commit of README.md."""
        shutil.copytree(_template(), path, symlinks=True)
        repository = cls(path)
        repository.git("update-index", "--refresh")  # the index knows the files by their places on the disk
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


@functools.cache
def _template() -> Path:
    """What every repository begins as, made once by each process of tests: a copy costs a tenth of the four gits."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    repository = Repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    for sample in repository.path.glob(".git/hooks/*.sample"):
        sample.unlink()
    repository.write("README.md", "# Sample\n")
    repository.commit("Begin")
    return folder
