"""Which gates a change calls for, from the changed paths alone; and what an approval is bound to."""

from __future__ import annotations

import hashlib
import re
from functools import cache

from loopwright.kernel.model import Change, Key

PROTECTED = "protected"


# Files that say nothing but how checks run, in whatever folder they lie.
_CHECK_CONFIGURATION = frozenset(
    {
        *("conftest.py", "pytest.ini", "tox.ini", ".coveragerc", ".flake8", "mypy.ini", ".mypy.ini", "noxfile.py"),
        *("ruff.toml", ".ruff.toml", ".pre-commit-config.yaml", "loop.toml", "clippy.toml", "pyrightconfig.json"),
        *(".golangci.yml", ".golangci.yaml", "codecov.yml", ".codecov.yml", ".eslintignore"),
    }
)
_CHECK_CONFIGURATION_STEMS = (
    *("jest.config", "vitest.config", "vite.config", "karma.conf", ".eslintrc", "eslint.config", ".mocharc"),
    "playwright.config",
)


# What a machine runs by itself once it is in the tree: builds on a forge, hooks, and what editors and shells open.
_RUN_BY_OTHERS = frozenset(
    {
        *(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile"),
        *("Makefile", "justfile", "Taskfile.yml", "setup.py", "build.rs", "package.json", ".envrc", ".mcp.json"),
    }
)
_RUN_BY_OTHERS_FOLDERS = (
    *(".github/workflows/", ".github/actions/", ".circleci/", ".husky/", ".githooks/"),
    *(".vscode/", ".devcontainer/", ".claude/"),
)


def is_check_configuration(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in _CHECK_CONFIGURATION or name.startswith(_CHECK_CONFIGURATION_STEMS)


def runs_code(path: str) -> bool:
    """Whether the file decides what is executed, rather than being a test or code like any other: shown first."""
    name = path.rpartition("/")[2]
    return is_check_configuration(path) or name in _RUN_BY_OTHERS or path.startswith(_RUN_BY_OTHERS_FOLDERS)


def protected_changes(changes: tuple[Change, ...], patterns: tuple[str, ...]) -> tuple[Change, ...]:
    """What runs as it is in the base until a person approves: changed or removed paths under a protected pattern,
    and every change to how checks run.

    A new file under a pattern is welcome, since a new test is no threat; a new `conftest.py` is one.
    What decides what is executed comes first, so that a long list does not hide it.
    """
    guarded = [change for change in changes if _is_guarded(change, patterns)]
    return tuple(sorted(guarded, key=lambda change: not runs_code(change.path)))


def _is_guarded(change: Change, patterns: tuple[str, ...]) -> bool:
    if is_check_configuration(change.path):
        return True
    return change.how != "added" and any(matches(change.path, pattern) for pattern in patterns)


def is_protected(path: str, patterns: tuple[str, ...]) -> bool:
    return is_check_configuration(path) or any(matches(path, pattern) for pattern in patterns)


def gate_key(gate: str, digest: str) -> Key:
    """The key of the question whether a gate opens for exactly this evidence."""
    return Key("gate", part=f"{gate}-{digest}")


def evidence(changes: tuple[Change, ...]) -> str:
    """A digest of exactly what called for a gate: it changes when the files do, and with nothing else."""
    if not changes:
        return ""
    # A path may hold any character but NUL, so that nothing else keeps two lists of changes apart.
    lines = sorted(f"{change.how}\0{change.path}\0{change.blob}\0" for change in changes)
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:24]


def matches(path: str, pattern: str) -> bool:
    """Git-like globs: `*` stays within a folder, `**` crosses them, `tests/` means all below it."""
    return _regex(pattern).fullmatch(path) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    stands_for = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    # A line break is an ordinary character in a path: without DOTALL it would slip past `**`.
    return re.compile("".join(stands_for.get(part, re.escape(part)) for part in parts), re.DOTALL)
