"""A check that misses a file which only the person's tree has."""

import os
from pathlib import Path

import pytest

from loopwright.adapters.checks.ignored_files import said_of_ignored, with_ignored_files
from loopwright.kernel.model import CheckResult, Finding, Severity
from tests.repository import Repository

IGNORED = ("data/a.csv", "data/b.csv", "tests/kept/c.bin", "node_modules/x/d.json", ".cache/e.txt", "f.db")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Repository.create(tmp_path_factory.mktemp("ignored") / "repo")
    repo.write(".gitignore", "data/\nnode_modules/\n.cache/\n*.bin\n*.db\n")
    repo.write("tests/kept/told.txt", "")
    repo.write("a.csv.txt", "")
    repo.commit("A project")
    for path in IGNORED:
        repo.write(path, "")
    return repo.path


def result(said: str, unable: str = "") -> CheckResult:
    failed = Finding(severity=Severity.HIGH, issue=said, rule="tests/test_a.py::test_b", category="tests")
    return CheckResult(name="test", passed=False, failures=() if unable else (failed,), unable=unable)


@pytest.mark.parametrize(
    ("said", "pattern"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/a.csv'", '"data/**"'),
        ("FileNotFoundError: [Errno 2] No such file or directory: PosixPath('/x/y/data/a.csv')", '"data/**"'),
        ("Error: ENOENT: no such file or directory, open '/x/data/b.csv'", '"data/**"'),
        ("open kept/c.bin: no such file or directory", '"tests/kept/c.bin"'),
        ("a.csv does not exist\nf.db does not exist", '"data/**", "f.db"'),
    ],
)
def test_what_git_ignores_and_a_check_misses_is_named_with_its_pattern(root: Path, said: str, pattern: str) -> None:
    assert f"add `copy = [{pattern}]` to [workspace]" in with_ignored_files(result(said), root, os.environ).note


@pytest.mark.parametrize(
    "said",
    [
        "assert 'data/a.csv' == 'b'",
        "No such file or directory: 'other/a.csv'",
        "No such file or directory: 'a.csv.txt'",
        "Cannot find module './d.json'",
        "No such file or directory: '.cache/e.txt'",
        "No such file or directory: '[*'",
        "no such file",
    ],
)
def test_what_is_there_or_nowhere_or_installed_is_not_named(root: Path, said: str) -> None:
    assert with_ignored_files(result(said), root, os.environ) == result(said)


def test_what_cannot_run_for_want_of_it_says_so_in_its_sentence(root: Path) -> None:
    found = with_ignored_files(result("", "check 'test' cannot run: it ended\n  cannot open f.db"), root, os.environ)
    first, last = found.unable.split("\n")
    assert first.startswith("check 'test' cannot run: it ended; it names f.db, which git ignores")
    assert last == "  cannot open f.db"
    assert said_of_ignored(found.unable)


def test_what_passed_misses_nothing(root: Path) -> None:
    passed = CheckResult(name="test", passed=True, note="data/a.csv does not exist")
    assert with_ignored_files(passed, root, os.environ) == passed


def test_where_git_says_nothing_nothing_is_named(tmp_path: Path) -> None:
    said = result("No such file or directory: 'data/a.csv'")
    assert with_ignored_files(said, tmp_path, os.environ) == said
