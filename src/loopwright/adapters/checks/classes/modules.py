"""Modules of Python by their names: which ones a file imports, and by which one it is imported itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from loopwright.kernel.gates import matches


def parsed_or_nothing(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def names_taken_in(node: ast.AST) -> Iterator[tuple[str, int]]:
    """What is imported, with how many folders up it starts."""
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, 0) for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            yield module or "", level
            yield from ((f"{module}.{alias.name}" if module else alias.name, level) for alias in names)
        case _:
            pass


def imported_names(path: str, text: str) -> frozenset[str]:
    """Modules by their names; those that start at the file itself by their whole path."""
    found = set[str]()
    for node in ast.walk(parsed_or_nothing(text)):
        for name, level in names_taken_in(node):
            above = path.split("/")[:-level] if level else []
            found.add("." + ".".join((*above, name)) if level else name)
    return frozenset(found - {"", "."})


def is_module(path: str, name: str, tracked: Collection[str]) -> bool:
    whole = bare(path).replace("/", ".")
    if "*" in name:
        return matches(path, name)
    if name.startswith("."):
        return whole == name[1:].rstrip(".")
    if whole == name:
        return True
    before = whole.removesuffix(f".{name}")
    return before != whole and f"{before.replace('.', '/')}/__init__.py" not in tracked


def bare(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__")
