"""What a module of Python gives to whoever imports it or inherits from it, by its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.python_tree import Nodes, folded, parsed, words_of

_CASE = re.compile(r"Test|Case")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_INSIDE = (*_SCOPES, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Star:
    """A module of which all names are taken, with how many folders up it starts, and in which line."""

    module: str
    level: int
    line: int

    def name_in(self, path: str) -> str:
        if not self.level:
            return self.module
        return "." + ".".join((*path.split("/")[: -self.level], self.module)).rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """`names` are what it has for whoever imports it, with the line in which each is given last."""

    names: Mapping[str, int] = field(default_factory=dict)
    exported: frozenset[str] = frozenset()  # what a star takes
    stars: tuple[Star, ...] = ()
    members: Pairs = frozenset()  # names of classes, each with that of a member
    kin: Pairs = frozenset()  # the same with where else a class has its members from
    tested: frozenset[tuple[str, bool]] = frozenset()  # what test classes inherit, and whether as cases of unittest
    used: frozenset[str] = frozenset()

    @classmethod
    def by(cls, text: str) -> Given:
        try:
            tree = parsed(text)
        except (RecursionError, MemoryError):
            tree = None
        return _given(tree) if tree is not None else cls()


def _given(tree: ast.Module) -> Given:
    nodes, at_top = tuple(ast.walk(tree)), tuple(_own(tree.body))
    names = {name: line for node in at_top for name, line in _bound(node)}
    names |= {name: node.lineno for node in nodes if isinstance(node, ast.Global) for name in node.names}
    aliases = {each.asname or each.name: each.name for node in nodes for each in _taken(node)}
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    kin = {(each.name, aliases.get(name, name)) for each in classes for name in map(_last, each.bases)}
    kin |= {(_last(to), _last(node.value)) for node in at_top if isinstance(node, ast.Assign) for to in node.targets}
    return Given(
        names=names | dict.fromkeys(_set_by_name(nodes), 0),
        exported=_exported(nodes, names),
        stars=tuple(star for node in at_top for star in _stars(node)),
        members=frozenset(pair for node in nodes for pair in _members(node)),
        kin=frozenset(kin | set(aliases.items())),
        tested=frozenset(pair for each in classes for pair in _inherited(each, aliases) if _is_test(each)),
        used=frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)),
    )


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Without what lies in functions and classes of its own."""
    waiting = list(body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, _INSIDE):
            waiting.extend(ast.iter_child_nodes(node))


def _bound(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, node.lineno
        case ast.Name(id=name, ctx=ast.Store()):
            yield name, node.lineno
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((each.asname or each.name.split(".")[0], node.lineno) for each in names if each.name != "*")
        case _:
            pass


def _set_by_name(nodes: Nodes) -> Iterator[str]:
    """Names that stand in quotes where the names of the module are set, or could be."""
    if any(isinstance(node, ast.Name) and node.id in ("globals", "vars", "setattr") for node in nodes):
        yield from (word for word in words_of(nodes) if word.isidentifier())


def _exported(nodes: Nodes, names: Iterable[str]) -> frozenset[str]:
    """What is listed, where that is all that is said of it; else what has no underscore before it."""
    said = [node for node in nodes if isinstance(node, ast.Name) and node.id == "__all__"]
    lists = [
        node.value for node in nodes if isinstance(node, ast.Assign) and any(target in said for target in node.targets)
    ]
    if len(said) == 1 and len(lists) == 1 and isinstance(lists[0], ast.List | ast.Tuple):
        words = [folded(each) for each in lists[0].elts]
        if None not in words:
            return frozenset(word for word in words if word is not None)
    return frozenset((*(name for name in names if not name.startswith("_")), *_set_by_name(nodes)))


def _stars(node: ast.AST) -> Iterator[Star]:
    if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
        yield Star(module=node.module or "", level=node.level, line=node.lineno)


def _taken(node: ast.AST) -> Iterable[ast.alias]:
    return node.names if isinstance(node, ast.ImportFrom) else ()


def _last(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return _last(inner)
        case _:
            return ""


def _members(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.ClassDef(name=owner, body=body):
            yield from ((owner, name) for inner in _own(body) for name, _ in _bound(inner))
        case ast.Attribute(value=owner, attr=name, ctx=ast.Store()):
            yield _last(owner), name
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, *_]):
            yield _last(owner), folded(name) or ""
        case _:
            pass


def _is_test(node: ast.ClassDef) -> bool:
    is_named = node.name.startswith("Test") or any(_CASE.search(_last(each)) for each in node.bases)
    return is_named or any(isinstance(each, _SCOPES) and each.name.startswith("test") for each in node.body)


def _inherited(node: ast.ClassDef, aliases: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """As a case where it has something beside it to be one by: alone, it is a plain class for pytest."""
    names = [_last(each) for each in node.bases]
    yield from ((aliases.get(name, name), len(names) > 1 or _CASE.search(name) is not None) for name in names)
