"""Files that say how checks run: which they are, and what a change to one of them does."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

from loopwright.adapters.checks.shadows import Sign
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import Change, Severity

_PARTLY = ("pyproject.toml", "setup.cfg", "package.json", "Makefile", "makefile", "GNUmakefile")
_PYPROJECT_TOOLS = ("pytest", "coverage", "ruff", "mypy", "pyright", "flake8", "pylint", "tox", "hatch")
_SETUP_SECTIONS = re.compile(
    r"^\[((?:tool:pytest|coverage[^\]]*|flake8|mypy[^\]]*))\]\s*$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL
)
_THRESHOLD = re.compile(
    r"""(fail[_-]under|cov-fail-under|minimum_coverage|branches|functions|lines|statements)["']?\s*[=:\s]\s*["']?(\d+(?:\.\d+)?)"""
)
_TARGET = re.compile(r"^([\w./-]+)\s*:(?!=)(.*(?:\n(?:[ \t].*|\s*))*)", re.MULTILINE)

Command = tuple[str, ...]


def is_configuration(path: str, commands: tuple[Command, ...]) -> bool:
    if _is_whole(path) or PurePosixPath(path).name in _PARTLY:
        return True
    return any(path == word.removeprefix("./") for command in commands for word in command if "/" in word)


def _is_whole(path: str) -> bool:
    """Files that say nothing but how checks run."""
    return judge_by_name(path) in (Judge.RUNNER, Judge.FORGE)


def configuration_changed(change: Change, before: str, after: str, commands: tuple[Command, ...]) -> Iterator[Sign]:
    if lowered := _lowered(before, after):
        yield Sign("threshold-lowered", Severity.HIGH, f"Lowers {lowered}")
    if what := _what_changed(change, before, after, commands):
        # A new pipeline of a forge is no part of our checks; a new file beside an old configuration overrides it.
        harmless = change.how == "added" and judge_by_name(change.path) is Judge.FORGE
        yield Sign("checks-edited", Severity.MEDIUM if harmless else Severity.HIGH, f"Edits how checks run ({what})")


def _lowered(before: str, after: str) -> str:
    """A threshold that is lower than on the base, or gone."""
    held = {name: float(number) for name, number in _THRESHOLD.findall(before)}
    now = {name: float(number) for name, number in _THRESHOLD.findall(after)}
    for name, number in held.items():
        if now.get(name, 0.0) < number:
            return f"{name} from {number:g} to {now.get(name, 0.0):g}"
    return ""


def _what_changed(change: Change, before: str, after: str, commands: tuple[Command, ...]) -> str:
    """The part of the file that matters to checks, if that part changed; empty if only others did."""
    name = PurePosixPath(change.path).name
    if change.how == "added":
        return "a new file" if _is_whole(change.path) else ""
    match name:
        case "pyproject.toml":
            return _different(_tools(before), _tools(after))
        case "setup.cfg":
            return _different(dict(_SETUP_SECTIONS.findall(before)), dict(_SETUP_SECTIONS.findall(after)))
        case "package.json":
            return _different(_scripts(before), _scripts(after))
        case "Makefile" | "makefile" | "GNUmakefile":
            return _different(_targets(before, commands), _targets(after, commands))
        case _:
            return "the whole file"


def _different(before: dict[str, str], after: dict[str, str]) -> str:
    return ", ".join(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _tools(text: str) -> dict[str, str]:
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return {"not TOML": text}
    if not isinstance(tools, dict):
        return {"not a table": text}
    return {name: json.dumps(tools[name], sort_keys=True, default=str) for name in _PYPROJECT_TOOLS if name in tools}


def _scripts(text: str) -> dict[str, str]:
    try:
        data = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {"not JSON": text}
    wanted = ("scripts", "jest", "mocha", "nyc", "c8", "eslintConfig") if isinstance(data, dict) else ()
    found = {name: json.dumps(data[name], sort_keys=True) for name in wanted if name in data}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    if isinstance(scripts, dict):
        found |= {f"scripts.{name}": json.dumps(line) for name, line in scripts.items()}
        del found["scripts"]
    return found


def _targets(text: str, commands: tuple[Command, ...]) -> dict[str, str]:
    """The recipes of targets that a check names."""
    named = {
        word for command in commands if PurePosixPath(command[0]).name in ("make", "gmake") for word in command[1:]
    }
    return {target: recipe.strip() for target, recipe in _TARGET.findall(text) if target in named}
