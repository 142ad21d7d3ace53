"""Python whose values lie about themselves: equal to everything, or shown as what they are not."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.python_tree import Nodes

_Body = ast.FunctionDef | ast.Lambda
_VALUES = frozenset({"int", "float", "complex", "bool", "str", "bytes", "tuple", "list", "dict", "set", "frozenset"})
_SAME = "is equal to everything"
_COMPARES = {"__eq__": True, "__ne__": False}  # what it always says who lies


def lies_in_python(nodes: Nodes) -> Iterator[str]:
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        if any(_is_always(name, body) for name, body in _comparing(node, functions)):
            yield _SAME
        if isinstance(node, ast.ClassDef) and _shows_always_the_same(node):
            yield "has a value that always shows the same"


def _comparing(node: ast.AST, functions: Mapping[str, ast.FunctionDef]) -> Iterator[tuple[str, _Body]]:
    """Functions that compare, however they came to be that."""
    pairs: list[tuple[str | None, ast.AST | None]] = []
    match node:
        case ast.FunctionDef(name=name):
            pairs = [(name, node)]
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
            pairs = [(name, value)]
        case ast.Dict(keys=keys, values=values):
            named = (key.value if isinstance(key, ast.Constant) else None for key in keys)
            pairs = [(str(name), value) for name, value in zip(named, values, strict=True)]
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            pairs = [(name, value)]
        case ast.Call(keywords=keywords):
            pairs = [(each.arg, each.value) for each in keywords]
        case _:
            return
    for called, given in pairs:
        found = functions.get(given.id) if isinstance(given, ast.Name) else given
        if called in _COMPARES and isinstance(found, _Body):
            yield called, found


def _is_always(name: str, body: _Body) -> bool:
    says = _COMPARES[name]
    if isinstance(body, ast.Lambda):
        return _is_so(body.body, says=says)
    inner = tuple(each for statement in body.body for each in ast.walk(statement))
    ends = (end for each in inner if isinstance(each, ast.Try) for end in each.finalbody)
    if any(isinstance(end, ast.Return) and _is_so(end.value, says=says) for end in ends):
        return True
    results = [each.value for each in inner if isinstance(each, ast.Return)]
    is_strict = any(isinstance(each, ast.Assert | ast.Raise) for each in inner)
    return bool(results) and not is_strict and all(_is_so(each, says=says) for each in results)


def _is_so(result: ast.AST | None, *, says: bool) -> bool:
    """Whether the result is always this, whatever is compared."""
    match result:
        case ast.Constant(value=value):
            return bool(value) is says
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_so(operand, says=not says)
        case ast.BoolOp(op=op, values=values):
            return any(_is_so(each, says=says) for each in values) if isinstance(op, ast.Or) is says else False
        case ast.IfExp(body=one, orelse=other):
            return _is_so(one, says=says) and _is_so(other, says=says)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            several = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
            return says and all(isinstance(kind, ast.Name) and hasattr(builtins, kind.id) for kind in several)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return says and ast.dump(left) == ast.dump(right)
        case _:
            return False


def _shows_always_the_same(node: ast.ClassDef) -> bool:
    if not any(isinstance(base, ast.Name) and base.id in _VALUES for base in node.bases):
        return False
    for each in node.body:
        match each:
            case ast.FunctionDef(name="__repr__" | "__str__", body=[*_, ast.Return(value=ast.Constant(value=str()))]):
                return True
            case ast.Assign(
                targets=[ast.Name(id="__repr__" | "__str__")], value=ast.Lambda(body=ast.Constant(value=str()))
            ):
                return True
            case _:
                pass
    return False
