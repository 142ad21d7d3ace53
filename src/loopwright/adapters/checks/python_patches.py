"""Python that changes something for everybody in its process: modules, where they are found, what is built in."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator

from loopwright.adapters.checks.python_tree import Nodes, PythonTree

_TEST_WORD = re.compile(r"(?:^|[^A-Za-z])[Tt]ests?(?:[^A-Za-z]|$)")
_FINDERS = ("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache")
_MOVES = ("insert", "append", "extend", "reverse", "sort", "remove", "pop", "clear", "__setitem__", "__iadd__")
_SHOWS = ("sys.displayhook", "sys.__displayhook__")
# Their documentation tells to assign to them, or programs commonly do for what no test compares with.
_MADE_TO_BE_SET = frozenset({"ctypes", "locale", "logging", "readline", "signal", "socket", "ssl", "sys", "tempfile"})
_HOOKS = frozenset({"os.environ", "warnings.showwarning", "warnings.formatwarning", "threading.excepthook"})
_JUDGING = frozenset({"doctest", "unittest", "pytest", "_pytest", "importlib", "pluggy", "hypothesis"})
_BUILT_IN = ("builtins", "__builtins__")
_LONGEST = 80  # characters of a line that is shown


def patched_in_python(seen: PythonTree, own: frozenset[str]) -> Iterator[str]:
    """`own` are the names in the path of the file: a module may stand in for itself."""
    backported = frozenset(_backported(seen.nodes))
    for node in seen.nodes:
        yield from _standing_in(node, seen, own)
        yield from _finding_modules(node, seen)
        if id(node) not in backported:
            yield from _patching(node, seen)
            yield from _built_in(node, seen)
    yield from _names_of_callers(seen)


def _standing_in(node: ast.AST, seen: PythonTree, own: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Subscript(value=where, slice=slice_, ctx=ast.Store()):
            keys: list[ast.expr | None] = [slice_]
        case ast.Call(func=ast.Attribute(value=where, attr="setdefault" | "__setitem__"), args=[key, *_]):
            keys = [key]
        case ast.Call(func=ast.Attribute(value=where, attr="update"), args=args, keywords=keywords):
            keys = [key for each in args if isinstance(each, ast.Dict) for key in each.keys]
            keys += [ast.Constant(each.arg) for each in keywords]
        case _:
            return
    is_known = seen.dotted(where) == "sys.modules"
    if is_known or (isinstance(where, ast.Attribute) and where.attr == "modules"):
        names = [name for key in keys if (name := seen.text(key)) is not None]
        yield from (f"stands in for the module {name}" for name in names if _is_of_others(name, own, known=is_known))


def _is_of_others(module: str, own: frozenset[str], *, known: bool) -> bool:
    """A module of the product may stand in for itself; what it is named after stands in its path."""
    if _TEST_WORD.search(module.replace("_", " ")) or module == "conftest":
        return True
    first = module.partition(".")[0]
    if not known or first in own or first.startswith("__"):
        return False
    return "." not in module or first in sys.stdlib_module_names


def _finding_modules(node: ast.AST, seen: PythonTree) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=where, attr=move)) if move in _MOVES:
            place = seen.dotted(where)
        case ast.Call(func=called) if seen.dotted(called) in ("site.addsitedir", "site.main"):
            place = "sys.path"
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            place = seen.dotted(node)
        case ast.AugAssign(target=ast.Name() as where):
            place = seen.dotted(where)
        case ast.Subscript(value=where, ctx=ast.Store() | ast.Del()):
            place = seen.dotted(where)
        case _:
            return
    if place in _FINDERS:
        yield f"changes how everybody imports ({place})"
    if place == "sys.path" and id(node) not in seen.as_script:
        yield f"changes where everybody imports from ({ast.unparse(node)[:_LONGEST]})"


def _backported(nodes: Nodes) -> Iterator[int]:
    """What stands under `if not hasattr(module, "name")` gives, and replaces nothing."""
    for node in nodes:
        match node:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr")))):
                yield from (id(inner) for statement in node.body for inner in ast.walk(statement))
            case _:
                pass


def _patching(node: ast.AST, seen: PythonTree) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, name, *_]):
            yield from _replaced(seen.dotted(owner), seen.text(name) or "", by_name=seen.text(name) is not None)
        case ast.Assign(targets=targets, value=value):
            is_setting = isinstance(value, ast.Constant)
            yield from (mark for target in targets for mark in _targets(target, seen, is_setting=is_setting))
        case ast.Delete(targets=targets):
            yield from (mark for target in targets for mark in _targets(target, seen))
        case ast.AnnAssign(target=target) | ast.For(target=target):
            yield from _targets(target, seen)
        case _:
            pass


def _targets(target: ast.AST, seen: PythonTree, *, is_setting: bool = False) -> Iterator[str]:
    match target:
        case ast.Attribute(attr="__code__"):
            yield "replaces the code of a function"
        case ast.Attribute(value=owner, attr=name):
            yield from _replaced(seen.dotted(owner), name, is_setting=is_setting)
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[owner]),
            slice=ast.Constant(value=str(name)),
        ):
            yield from _replaced(seen.dotted(owner), name)
        case ast.Tuple(elts=several) | ast.List(elts=several):
            yield from (mark for each in several for mark in _targets(each, seen))
        case _:
            pass


def _replaced(owner: str, name: str, *, is_setting: bool = False, by_name: bool = True) -> Iterator[str]:
    first, whole = owner.partition(".")[0], f"{owner}.{name}"
    if whole in _SHOWS or (first in _JUDGING and by_name):
        yield f"replaces {whole} for everybody"
        return
    if is_setting or not by_name:
        return
    if first not in sys.stdlib_module_names or first in (*_MADE_TO_BE_SET, "builtins") or whole in _HOOKS:
        return
    if owner.islower():
        is_own = name.isupper() or name.startswith("_")
        loaded = sys.modules.get(owner)
        if not is_own and (loaded is None or hasattr(loaded, name)):
            yield f"replaces {whole} for everybody"
    elif name.startswith("__") and name.endswith("__"):  # what a class does by itself, as comparing does
        yield f"replaces {whole} for everybody"


def _built_in(node: ast.AST, seen: PythonTree) -> Iterator[str]:
    """Under whatever name the module goes, and by its dictionary."""
    match node:
        case ast.Attribute(value=owner, attr=name, ctx=ast.Store() | ast.Del()) if _is_built_in(owner, seen):
            names = [name]
        case ast.Subscript(value=owner, slice=key, ctx=ast.Store() | ast.Del()) if _is_built_in(owner, seen):
            names = [seen.text(key) or "print"]
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]) if _is_built_in(owner, seen):
            names = ["print"]
        case ast.Call(func=ast.Attribute(value=owner, attr="update" | "__setitem__" | "setdefault")) if _is_built_in(
            owner, seen
        ):
            names = ["print"]
        case _:
            return
    if any(hasattr(builtins, name) for name in names):
        yield "replaces what is built in for everybody"


def _is_built_in(owner: ast.expr, seen: PythonTree) -> bool:
    match owner:
        case ast.Call(func=ast.Name(id="vars"), args=[inner]) | ast.Attribute(value=inner, attr="__dict__"):
            return _is_built_in(inner, seen)
        case ast.Name(id=name):
            return name in _BUILT_IN or seen.dotted(owner) == "builtins"
        case _:
            return False


def _names_of_callers(seen: PythonTree) -> Iterator[str]:
    """Names that belong to the code of others."""
    held = {
        target.id
        for node in seen.nodes
        if isinstance(node, ast.Assign) and _is_of_callers(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in seen.nodes:
        match node:
            case ast.Subscript(value=where, ctx=ast.Store() | ast.Del()):
                pass
            case ast.Call(func=ast.Attribute(value=where, attr="update" | "setdefault" | "pop" | "__setitem__")):
                pass
            case _:
                continue
        if _is_of_callers(where) or (isinstance(where, ast.Name) and where.id in held):
            yield "changes the names of its callers"


def _is_of_callers(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("f_globals", "f_locals", "f_builtins")
