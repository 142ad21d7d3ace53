"""Files that say what checks call, by their names: set-up of runners and builds, scripts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable

from loopwright.adapters.checks.classes.command_lines import Command
from loopwright.adapters.checks.classes.walk import SCRIPTS
from loopwright.kernel.judges import Judge, judge_by_name

# Files that configure what runs tests: others of their kind, for linters and builds, include plain product.
_OF_TESTS = re.compile(
    r"\.?(?:pytest|tox|setup|pyproject|package|jest|vite|vitest|mocharc|tap|taprc|ava|jasmine|deno|playwright|cypress|karma"
    r"|wdio|web-test-runner)\b.*"
)


def steering(commands: Iterable[Command], paths: Iterable[str], places: Collection[str] = ("",)) -> tuple[str, ...]:
    """The files whose text says what the commands call: what is named, and set-up of runners and builds in `places`."""
    tracked = frozenset(paths)
    words = {word.removeprefix("./").split("::")[0] for command in commands for word in command}
    near = (path for path in tracked if posixpath.dirname(path) in places)
    steers = {path for path in near if judge_by_name(path) in (Judge.RUNNER, Judge.BUILD, Judge.MANIFEST)}
    scripts = {p for p in tracked if p.split("/")[0] in SCRIPTS or ("/" not in p and _is_script(p))}
    return tuple(sorted(steers | scripts | (words & tracked)))


def configures_tests(path: str) -> bool:
    """Whether a file of this name configures what runs tests, and not a linter or a build."""
    is_configuration = judge_by_name(path) in (Judge.RUNNER, Judge.MANIFEST)
    return is_configuration and _OF_TESTS.fullmatch(posixpath.basename(path)) is not None


def _is_script(path: str) -> bool:
    return path.endswith((".sh", ".bash")) or "." not in path
