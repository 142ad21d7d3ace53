"""Python that changes something for everybody in its process: modules, where they are found, what is built in."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.adapters.checks.python_tree import Nodes, PythonTree

_TEST_WORD = re.compile(r"(?:^|[^A-Za-z])[Tt]ests?(?:[^A-Za-z]|$)")
_FINDERS = ("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache")
_MOVES = ("insert", "append", "extend", "reverse", "sort", "remove", "pop", "clear", "__setitem__", "__iadd__")
_SHOWS = ("sys.displayhook", "sys.__displayhook__", "sys.executable")
# Their documentation tells to assign to them, or programs commonly do for what no test compares with.
_MADE_TO_BE_SET = frozenset({"ctypes", "locale", "logging", "readline", "signal", "socket", "ssl", "sys", "tempfile"})
_HOOKS = frozenset({"os.environ", "warnings.showwarning", "warnings.formatwarning", "threading.excepthook"})
_JUDGING = frozenset({"doctest", "unittest", "pytest", "_pytest", "importlib", "pluggy", "hypothesis"})
_JUDGES = re.compile(
    r"(?:^|\.)(?:testing|tests?|matchers?|hamcrest|assertpy|assertions?|expects|sure|syrupy|deepdiff|freezegun|responses"
    r"|respx|mock)(?:\.|$)"
)
_JUDGING_NAME = re.compile(r"assert_\w+|assert[A-Z]\w*|raises|approx|equal_to")
_BUILT_IN = ("builtins", "__builtins__")
_LONGEST = 80  # characters of a line that is shown


@dataclass(frozen=True, slots=True)
class Own:
    """Names in the path of the file, for a module may stand in for itself; `roots` of all modules of the project."""

    names: frozenset[str]
    roots: frozenset[str]


def root_of(path: str) -> str:
    """By which name what lies there is imported first."""
    parts = path.split("/")
    first = parts[1] if len(parts) > 1 and parts[0] in ("src", "lib", "python") else parts[0]
    return first.removesuffix(".py")


def patched_in_python(seen: PythonTree, own: Own) -> Iterator[str]:
    backported = frozenset(_backported(seen.nodes))
    for node in seen.nodes:
        yield from _standing_in(node, seen, own.names)
        yield from _finding_modules(node, seen)
        if id(node) not in backported:
            yield from _patching(node, seen, own.roots)
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


def _patching(node: ast.AST, seen: PythonTree, roots: frozenset[str]) -> Iterator[str]:
    for owner, name, value in _set_by(node, seen):
        yield from _replaced(_Set(seen.dotted(owner), name, value, roots))
    for target in _targets_of(node):
        if isinstance(target, ast.Attribute) and target.attr == "__code__":
            yield "replaces the code of a function"


@dataclass(frozen=True, slots=True)
class _Set:
    """An attribute of something imported that gets another value; None where the value cannot be told."""

    owner: str
    name: str
    value: ast.expr | None
    roots: frozenset[str]

    @property
    def first(self) -> str:
        return self.owner.partition(".")[0]

    @property
    def whole(self) -> str:
        return f"{self.owner}.{self.name}"

    @property
    def is_behaviour(self) -> bool:
        match self.value:
            case ast.Lambda() | ast.Call(func=ast.Name(id="property")):
                return True
            case _:
                return False

    @property
    def is_named(self) -> bool:
        """Whether it is the name of something that is no constant."""
        match self.value:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return not name.isupper()
            case _:
                return self.value is None


_Triple = tuple[ast.expr, str, ast.expr | None]


def _set_by(node: ast.AST, seen: PythonTree) -> Iterator[_Triple]:
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, name, *rest]):
            pairs: list[tuple[ast.expr | None, ast.expr | None]] = [(name, rest[0] if rest else None)]
        case ast.Call(func=ast.Attribute(value=owner, attr="__setattr__" | "__delattr__"), args=[name, *rest]):
            pairs = [(name, rest[0] if rest else None)]
        case ast.Call(func=ast.Attribute(value=names, attr="update"), args=args, keywords=keywords):
            if (whose := _owner_of_names(names)) is None:
                return
            owner = whose
            pairs = [
                pair for each in args if isinstance(each, ast.Dict) for pair in zip(each.keys, each.values, strict=True)
            ]
            pairs += [(ast.Constant(each.arg), each.value) for each in keywords]
        case _:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            for target in _targets_of(node):
                yield from _as_set(
                    target, None if isinstance(node, ast.Assign) and target not in node.targets else value
                )
            return
    named = ((seen.text(key), value) for key, value in pairs)
    yield from ((owner, found, value) for found, value in named if found is not None)


def _as_set(target: ast.AST, value: ast.expr | None) -> Iterator[_Triple]:
    match target:
        case ast.Attribute(value=owner, attr=name):
            yield owner, name, value
        case ast.Subscript(value=names, slice=ast.Constant(value=str(name))):
            if (found := _owner_of_names(names)) is not None:
                yield found, name, value
        case _:
            pass


def _owner_of_names(node: ast.AST) -> ast.expr | None:
    """Whose dictionary it is."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
        case _:
            return None


def _targets_of(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            several = targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            several = [target]
        case ast.comprehension(target=target) | ast.withitem(optional_vars=ast.expr() as target):
            several = [target]
        case _:
            return
    for each in several:
        if isinstance(each, ast.Tuple | ast.List):
            yield from each.elts
        else:
            yield each


def _replaced(made: _Set) -> Iterator[str]:
    if made.owner and (made.whole in _SHOWS or made.first in _JUDGING or _is_foreign_judge(made) or _is_patch(made)):
        yield f"replaces {made.whole} for everybody"


def _is_foreign_judge(made: _Set) -> bool:
    if made.first in made.roots or made.first in sys.stdlib_module_names:
        return False
    return _JUDGES.search(made.owner) is not None or _JUDGING_NAME.fullmatch(made.name) is not None


def _is_patch(made: _Set) -> bool:
    if isinstance(made.value, ast.Constant) or made.whole in _HOOKS or made.first in (*_MADE_TO_BE_SET, "builtins"):
        return False
    if made.first not in sys.stdlib_module_names:
        return made.is_behaviour and made.first not in made.roots and not made.name.startswith("_")
    if made.owner.islower():
        loaded = sys.modules.get(made.owner)
        is_own = made.name.isupper() or made.name.startswith("_")
        return not is_own and (loaded is None or hasattr(loaded, made.name))
    # What a class does by itself, as comparing does, or what it is asked to do; values are for its objects.
    return (made.name.startswith("__") and made.name.endswith("__")) or made.is_behaviour or made.is_named


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
