"""Python that looks into the folder of its tests: making one in a folder that it is given is no looking."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.adapters.checks.python_tree import PythonTree, folded, names_of

_TEST_PLACE = re.compile(
    r"(?:\.{0,2}/)*(?:\*+/)*(?:(?:__)?tests(?:__)?(?:/.*)?|test_[\w*]*(?:\.py)?|conftest(?:\.py)?)"
)
_TEST_MODULE = re.compile(r"(?:tests|conftest|test_\w+)(?:\..*)?")
_JOINS = frozenset(
    {"join", "joinpath", "glob", "rglob", "iglob", "Path", "PurePath", "listdir", "walk", "scandir"}
    | {"exists", "lexists", "isfile", "isdir", "access", "stat", "open"}
)
_MAKES = frozenset({"mkdir", "makedirs", "touch", "write_text", "write_bytes", "open"})
_LOOKS = (_JOINS - {"join", "joinpath", "Path", "PurePath", "open"}) | {
    *("is_file", "is_dir", "iterdir", "read", "read_text", "read_bytes", "readlines", "lstat", "resolve_name"),
    *("find_spec", "import_module", "__import__", "__file__", "cwd", "getcwd"),
}


def looked_into(seen: PythonTree) -> Iterator[str]:
    found = {id(node) for node in seen.nodes if _names_place(node, seen)}
    if found:
        functions = (node for node in seen.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        made = {id(inner) for each in functions if _only_makes(each) for inner in ast.walk(each)}
        if not found <= made:
            yield "looks into the folder of its tests"


def _only_makes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it makes something below what it is given and never asks what is there, not even by trying."""
    inner = tuple(ast.walk(function))
    names, is_given = set(names_of(inner)), bool(function.args.args or function.args.kwonlyargs)
    asks = any(isinstance(node, ast.Try | ast.With) or _opens_to_read(node) for node in inner)
    return is_given and not asks and not names.isdisjoint(_MAKES) and names.isdisjoint(_LOOKS)


def _opens_to_read(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open"), args=[*_, ast.Constant(value="w" | "x")]):
            return False
        case ast.Call(func=called):
            return "open" in names_of((called,))
        case _:
            return False


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
