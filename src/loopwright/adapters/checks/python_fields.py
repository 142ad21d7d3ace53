"""Fields of Python's classes: which take part when two of a kind are compared, and which are kept out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from loopwright.adapters.checks.python_tree import parsed
from loopwright.adapters.checks.python_values import is_blind

_KEEPS_OUT = ("compare", "eq", "cmp")  # of dataclasses and of attrs
_MADE_BY = frozenset({"dataclass", "dataclasses", "attr", "attrs", "define", "frozen", "mutable", "s"})


def compared_fields(text: str) -> frozenset[str]:
    """`Class.field` for each that is looked at."""
    return frozenset(f"{owner.name}.{name}" for owner in _classes(text) for name in _compared(owner))


def fields_kept_out(text: str) -> frozenset[str]:
    owners = tuple(_classes(text))
    blind = {owner.name for owner in owners if (own := _own_comparison(owner)) is not None and is_blind(own)}
    return frozenset(f"{owner.name}.{name}" for owner in owners for name in _kept_out(owner, blind))


def _classes(text: str) -> Iterator[ast.ClassDef]:
    try:
        tree = parsed(text)
    except (RecursionError, MemoryError):
        tree = None
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)) if tree is not None else iter(())


def _compared(owner: ast.ClassDef) -> Iterator[str]:
    if (own := _own_comparison(owner)) is not None:
        yield from (each.attr for each in ast.walk(own) if isinstance(each, ast.Attribute))
    elif _is_made(owner):
        yield from (name for name, value in _fields(owner) if not _is_out(value))


def _kept_out(owner: ast.ClassDef, blind: AbstractSet[str]) -> Iterator[str]:
    """`blind` are classes that compare without having looked, and leave that to what is made of them."""
    inherits = _own_comparison(owner) is None and (not _is_made(owner) or any(map(_is_out, owner.decorator_list)))
    made_of = {owner.name} | {base.id for base in owner.bases if isinstance(base, ast.Name) and inherits}
    is_blinded = not made_of.isdisjoint(blind)
    yield from (name for name, value in _fields(owner) if is_blinded or _is_out(value))


def _own_comparison(owner: ast.ClassDef) -> ast.FunctionDef | None:
    return next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__eq__"), None)


def _is_made(owner: ast.ClassDef) -> bool:
    """Whether a decorator writes its comparison."""
    names = (node for each in owner.decorator_list for node in ast.walk(each) if isinstance(node, ast.Name))
    return any(each.id in _MADE_BY for each in names)


def _fields(owner: ast.ClassDef) -> Iterator[tuple[str, ast.AST | None]]:
    """Also those that its methods set."""
    for each in owner.body:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                yield name, value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                yield name, value
            case _:
                pass
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name, None
            case _:
                pass


def _is_out(value: ast.AST | None) -> bool:
    match value:
        case ast.Call(keywords=keywords):
            return any(
                each.arg in _KEEPS_OUT and isinstance(each.value, ast.Constant) and each.value.value is False
                for each in keywords
            )
        case _:
            return False
