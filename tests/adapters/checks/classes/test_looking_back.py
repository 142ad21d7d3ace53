"""The commits a person made, seen with the classes."""

import asyncio
import os
from collections.abc import Mapping

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.classes.looking_back import LookedBack, look_back
from loopwright.adapters.git.history import PersonsHistory
from tests.repository import Repository


def made(repo: Repository, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        repo.write(path, text)
    repo.commit("A step")


def looked_back(repo: Repository) -> LookedBack:
    history = PersonsHistory(repo.path, env=os.environ)
    return asyncio.run(look_back(Classifier(source=history), history.latest(20)))


def test_every_commit_is_asked_what_would_have_waited(repo: Repository) -> None:
    made(repo, {"src/a.py": "x = 1\n", "tests/test_a.py": "def test_a():\n    assert 1\n", "odd/a.dat": "1"})
    made(repo, {"src/a.py": "x = 2\n"})
    made(repo, {"tests/test_a.py": "def test_a():\n    assert 2\n"})
    made(repo, {"odd/a.dat": "2", "alone.dat": "1"})
    made(repo, {"pyproject.toml": ""})
    found = looked_back(repo)
    assert (found.commits, found.asking) == (5, 3)
    assert sorted(found.patterns) == ["alone.dat", "odd/**"]
    assert str(found).startswith("3 of the last 5 commits would have asked you (2 ")
    assert not (repo.path / ".loop").exists()


def test_a_single_commit_has_nothing_to_be_compared_with(repo: Repository) -> None:
    assert str(LookedBack()) == "no commits to look back at"
    assert looked_back(repo).asking == 0
