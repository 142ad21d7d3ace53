"""New files that stand in front of what a check would use: a standard module, its own tool, the interpreter's hooks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from loopwright.kernel.model import Change, Severity

_HOOKS = ("sitecustomize", "usercustomize")
_COMMON_ROOTS = ("", "src", "lib", "test", "tests")
_PROGRAMS = ("bin", "Scripts", "node_modules/.bin")


@dataclass(frozen=True, slots=True)
class Sign:
    """One suspicious thing about one path."""

    rule: str
    severity: Severity
    issue: str
    evidence: str = ""
    guidance: str = ""


def shadowing(change: Change, commands: tuple[tuple[str, ...], ...]) -> Iterator[Sign]:
    if change.how == "removed":
        return
    path = PurePosixPath(change.path)
    module, root = _module(path)
    if path.suffix == ".pth":
        yield Sign("path-file", Severity.CRITICAL, "A .pth file runs code at every start of Python")
    elif module in _HOOKS:
        yield Sign("interpreter-hook", Severity.CRITICAL, f"{module} runs code at every start of Python")
    elif change.how == "added" and _shadows_stdlib(module, root, path):
        yield Sign(
            "shadows-stdlib",
            Severity.CRITICAL,
            f"A new file shadows the standard module {module!r}",
            guidance="Give the module another name.",
        )
    elif change.how == "added" and (word := _named(path, module, root, commands)):
        yield Sign("shadows-check", Severity.CRITICAL, f"A new file stands in for {word!r}, which a check runs")


def _module(path: PurePosixPath) -> tuple[str, str]:
    """The module a file would be imported as, and the folder it would be found in."""
    if path.suffix not in (".py", ".pyi", ".pyc", ".so", ".pyd"):
        return "", ""
    if path.name.startswith("__init__."):
        return path.parent.name, _folder(path.parent.parent)
    return path.name.partition(".")[0], _folder(path.parent)


def _folder(path: PurePosixPath) -> str:
    return "" if str(path) == "." else str(path)


def _shadows_stdlib(module: str, root: str, path: PurePosixPath) -> bool:
    """Only where an import could find it: on a root, or beside tests, whose folder test tools put on the path."""
    if module not in sys.stdlib_module_names or module.startswith("_"):
        return False
    return root in _COMMON_ROOTS or PurePosixPath(root).name in ("test", "tests") or _is_beside_tests(path)


def _is_beside_tests(path: PurePosixPath) -> bool:
    return any(part in ("test", "tests") for part in path.parent.parts[-2:])


def _named(path: PurePosixPath, module: str, root: str, commands: tuple[tuple[str, ...], ...]) -> str:
    """The word of a command that the new file would be taken for."""
    for command in commands:
        for place, word in enumerate(command):
            bare = word.removeprefix("./")
            if not bare or bare.startswith("-") or "{" in bare:
                continue
            is_module = place > 0 and command[place - 1] == "-m"
            name = bare.partition(".")[0] if is_module else bare
            if module and module == name and root in _COMMON_ROOTS and (is_module or place == 0):
                return word
            if place == 0 and str(path) in (bare, *(f"{folder}/{bare}" for folder in _PROGRAMS)):
                return word
            if "/" in word and not word.startswith("/") and str(path) == bare and not _is_input(bare):
                return word
    return ""


def _is_input(word: str) -> bool:
    """A test file named in a command is what it runs on purpose."""
    return PurePosixPath(word).name.startswith("test")
