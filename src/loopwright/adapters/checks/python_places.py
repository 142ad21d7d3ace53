"""Python that looks into the folder of its tests: making one in a folder that it is given is no looking."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.python_tree import Function, PythonTree, folded

_TEST_PLACE = re.compile(
    r"(?:\.{0,2}/)*(?:\*+/)*(?:(?:__)?tests(?:__)?(?:/.*)?|test_[\w*]*(?:\.py)?|conftest(?:\.py)?)"
)
_TEST_MODULE = re.compile(r"(?:tests|conftest|test_\w+)(?:\..*)?")
_JOINS = frozenset(
    {"join", "joinpath", "glob", "rglob", "iglob", "Path", "PurePath", "listdir", "walk", "scandir"}
    | {"exists", "lexists", "isfile", "isdir", "access", "stat", "open"}
)
_MAKES = frozenset({"mkdir", "touch", "write_text", "write_bytes"})
_MAKES_WHAT_IT_GETS = frozenset({"mkdir", "makedirs"})
_KEEPS = frozenset({"join", "joinpath", "Path", "PurePath"})
_DEEPEST = 8  # steps from a name to what it was made of
_Parents = Mapping[int, ast.AST]
_Wide = (*Function.__args__, ast.ClassDef, ast.Module)


def looked_into(seen: PythonTree) -> Iterator[str]:
    found = [node for node in seen.nodes if _names_place(node, seen)]
    if not found:
        return
    parents = {id(child): node for node in seen.nodes for child in ast.iter_child_nodes(node)}
    if not all(_is_made(node, parents) and _is_given(node, parents) for node in found):
        yield "looks into the folder of its tests"


def _names_place(node: ast.AST, seen: PythonTree) -> bool:
    match node:
        case ast.BinOp(op=ast.Div(), right=right):
            words = [folded(right)]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _JOINS:
            words = [folded(each) for each in args]
        case ast.Call(func=ast.Name(id="find_spec") | ast.Attribute(attr="find_spec"), args=[module, *_]):
            return _TEST_MODULE.fullmatch(seen.text(module) or "") is not None
        case _:
            return False
    return any(word and _TEST_PLACE.fullmatch(word) for word in words)


def _is_made(node: ast.AST, parents: _Parents, depth: int = 0) -> bool:
    """Whether nothing but making comes of it; who tries to make it may learn that it is there."""
    above = parents.get(id(node))
    if depth > _DEEPEST or above is None:
        return False
    match above:
        case ast.BinOp(op=ast.Div()):
            return _is_made(above, parents, depth + 1)
        case ast.Attribute(attr=made) if made in _MAKES:
            return isinstance(parents.get(id(above)), ast.Call) and not _is_tried(above, parents)
        case ast.Attribute(attr=kept) if kept in _KEEPS:
            return _is_made(parents[id(above)], parents, depth + 1)
        case ast.Call(func=called) if node is not called and _last(called) in _MAKES_WHAT_IT_GETS:
            return not _is_tried(above, parents)
        case ast.Call(func=called) if node is not called and _last(called) in _KEEPS:
            return _is_made(above, parents, depth + 1)
        case ast.Call(func=ast.Name(id="open"), args=[_, ast.Constant(value="w" | "wb" | "x"), *_]):
            return not _is_tried(above, parents)
        case ast.Assign(targets=[ast.Name(id=name)]):
            used = [
                each for each in ast.walk(_around(above, parents)) if isinstance(each, ast.Name) and each.id == name
            ]
            loads = [each for each in used if isinstance(each.ctx, ast.Load)]
            return len(used) == len(loads) + 1 and all(_is_made(each, parents, depth + 1) for each in loads)
        case _:
            return False


def _is_tried(node: ast.AST, parents: _Parents) -> bool:
    above = parents.get(id(node))
    while above is not None and not isinstance(above, _Wide):
        if isinstance(above, ast.Try | ast.With):
            return True
        above = parents.get(id(above))
    return False


def _is_given(node: ast.AST, parents: _Parents) -> bool:
    """Whether it starts at what the function, or its object, was given."""
    around = _around(node, parents)
    if not isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    taken = {each.arg for each in (*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs)}
    for _ in range(_DEEPEST):
        node = _start(node)
        if not isinstance(node, ast.Name):
            return False
        if node.id in taken:
            return True
        values = [each.value for each in ast.walk(around) if _binds(each, node.id) and isinstance(each, ast.Assign)]
        if len(values) != 1:
            return False
        node = values[0]
    return False


def _binds(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)


def _start(node: ast.AST) -> ast.AST:
    while True:
        match node:
            case ast.BinOp(left=first) | ast.Attribute(value=first):
                node = first
            case ast.Call(func=called, args=[first, *_]) if _last(called) in (*_KEEPS, "abspath", "str", "fspath"):
                is_method = isinstance(called, ast.Attribute) and called.attr == "joinpath"
                node = called if is_method else first
            case ast.Call(func=ast.Attribute() as called):
                node = called
            case _:
                return node


def _around(node: ast.AST, parents: _Parents) -> ast.AST:
    above = parents.get(id(node), node)
    while not isinstance(above, _Wide) and id(above) in parents:
        above = parents[id(above)]
    return above


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
