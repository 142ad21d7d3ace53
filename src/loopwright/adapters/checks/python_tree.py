"""What a syntax tree of Python gives away: names and what they were imported as, and words, also those in pieces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Nodes = tuple[ast.AST, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_LONGEST_WORD = 200  # characters; longer strings are texts
_DEEPEST = 12  # pieces inside pieces
# Of `django.test`, what products send themselves requests with and hear of settings by.
_NO_RUNNER = re.compile(r"django\.test\.(?:signals|client|(?:Async)?(?:Client|RequestFactory))(?:\..*)?")
_RUNNERS_OF_DJANGO = ("django.test.", "django.core.management.commands.test.")
# In an app, the command `test` goes before Django's own.
COMMAND_OF_DJANGO = "management/commands/test.py"
_OF_KEYS = ("keys", "items", "copy")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTree:
    """`origins` by the identity of a name's node, what was imported: `math` for `m`, `sys.modules` too."""

    nodes: Nodes
    origins: Mapping[int, str]
    constants: Mapping[str, str]  # strings that a name is given once
    as_script: frozenset[int]  # what runs only as a program of its own, by identity

    @classmethod
    def of(cls, tree: ast.AST) -> PythonTree:
        # Whether a name is read or set stands in the name itself, too; these are a third of all.
        nodes = tuple(node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))
        return cls(
            nodes=nodes,
            origins=_origins(nodes),
            constants=dict(_constants(nodes)),
            as_script=frozenset(as_script(nodes)),
        )

    def dotted(self, node: ast.AST) -> str:
        """The whole name of what was imported; empty for all else."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        origin = self.origins.get(id(node), "")
        return origin and ".".join((origin, *reversed(names)))

    def text(self, node: ast.AST | None) -> str | None:
        """The string that an expression comes to, as far as it can be told."""
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        return folded(node) if node is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesGiven:
    """Where a file goes through a dictionary: `keys` are names that hold its keys, `words` what any name is given."""

    keys: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: PythonTree, dictionary: str) -> NamesGiven:
        places = {id(node) for node in seen.nodes if seen.dotted(node) == dictionary}
        if not places:
            return cls()
        single = (ast.Subscript, ast.Attribute)
        places -= {id(n.value) for n in seen.nodes if isinstance(n, single) and getattr(n, "attr", "") not in _OF_KEYS}
        keys, words = set[str](), dict[str, tuple[str, ...]]()
        for target, value in (pair for node in seen.nodes for pair in _given(node)):
            inner = tuple(ast.walk(value))
            names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
            words |= {name: (*words.get(name, ()), *words_of(inner)) for name in names}
            if any(id(node) in places or (isinstance(node, ast.Name) and node.id in keys) for node in inner):
                keys |= names
        return cls(keys=frozenset(keys), words=words)


def _given(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield target, value
        case _:
            pass


@lru_cache(maxsize=2)  # a file is looked at for this and for that
def parsed(text: str) -> ast.Module | None:
    """As bytes first, so that the encoding the file declares, and a mark of byte order, mean what they mean to Python.

    Bytes that are no UTF-8 came here as replacement characters, which stand in no name.
    """
    for source in (text.encode("utf-8", "replace"), text.removeprefix("\ufeff").replace("\ufffd", "_")):
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            continue
    return None


def is_hidden_by_encoding(text: str) -> bool:
    """Whether only a codec of the product's own could read it."""
    found = next((match for line in text.splitlines()[:2] if (match := _COOKIE.match(line))), None)
    try:
        b"a".decode(found[1] if found else "ascii")
    except (LookupError, ValueError):
        return True
    return False


def names_of(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case _:
                pass


def words_of(nodes: Nodes, longest: int = _LONGEST_WORD) -> Iterator[str]:
    """Strings that are no documentation, whole and put together."""
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) not in told and isinstance(
            node, ast.Constant | ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript
        ):
            word = folded(node)
            if word is not None and len(word) <= longest:
                yield word


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Without the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


def takes_runner_of_django(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            taken = [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            taken = [f"{module}.{alias.name}" for alias in names]
        case _:
            taken = list(imports_of((node,)))
    return any(f"{name}.".startswith(_RUNNERS_OF_DJANGO) and not _NO_RUNNER.fullmatch(name) for name in taken)


def imports_of(nodes: Nodes) -> Iterator[str]:
    """Modules by their whole names, and what is taken from them, which may be modules too."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=[name, *_]) if called in (
                "import_module",
                "__import__",
                "importorskip",
            ):
                yield folded(name) or ""
            case _:
                pass


def folded(node: ast.AST, depth: int = 0) -> str | None:
    """What constant pieces come to; None where something else takes part."""
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(raw)):
            return raw.decode("latin-1")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined("", (left, right), depth)
        case ast.JoinedStr(values=values):
            return _joined("", values, depth)
        case ast.FormattedValue(value=value, format_spec=None):
            return folded(value, depth + 1)
        case ast.Subscript(value=value, slice=ast.Slice() as part):
            return _sliced(folded(value, depth + 1), part)
        case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int(code))]):
            return chr(code) if 0 <= code <= 0x10FFFF else None  # noqa: PLR2004 - the last there is
        case ast.Call(func=ast.Attribute(value=value, attr=shaping), args=args, keywords=[]):
            return _shaped(folded(value, depth + 1), shaping, args, depth)
        case _:
            return None


def _joined(between: str, pieces: tuple[ast.expr, ...] | list[ast.expr], depth: int) -> str | None:
    parts = [folded(piece, depth + 1) for piece in pieces]
    return None if None in parts else between.join(part for part in parts if part is not None)


def _sliced(text: str | None, part: ast.Slice) -> str | None:
    try:
        bounds = [ast.literal_eval(each) if each else None for each in (part.lower, part.upper, part.step)]
        return text and text[slice(*bounds)]
    except (ValueError, TypeError):
        return None


def _shaped(text: str | None, shaping: str, args: list[ast.expr], depth: int) -> str | None:
    match shaping, args:
        case "join", [ast.List(elts=pieces) | ast.Tuple(elts=pieces)] if text is not None:
            return _joined(text, pieces, depth)
        case "encode" | "decode", _:
            return text
        case _:
            return None


def _constants(nodes: Nodes) -> Iterator[tuple[str, str]]:
    given: dict[str, list[ast.expr | None]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given.setdefault(name, []).append(value)
            case ast.Name(id=name, ctx=ast.Store()):
                given.setdefault(name, [])
            case _:
                pass
    for name, values in given.items():
        text = folded(values[0]) if len(values) == 1 and values[0] is not None else None
        if text is not None:
            yield name, text


def as_script(nodes: Nodes) -> Iterator[int]:
    """What runs only as a program of its own, by identity."""
    for node in nodes:
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")])):
                yield from (id(inner) for statement in node.body for inner in ast.walk(statement))
            case _:
                pass


def imported_names(nodes: Nodes) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.split(".")[0]
                    yield (alias.asname, alias.name) if alias.asname else (first, first)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((alias.asname or alias.name, f"{module}.{alias.name}") for alias in names)
            case _:
                pass


def _origins(nodes: Nodes) -> Mapping[int, str]:
    imported = dict(imported_names(nodes))
    shadowed = {id(name) for node in nodes if isinstance(node, Function) for name in _shadowed(node, imported)}
    names = (node for node in nodes if isinstance(node, ast.Name) and node.id in imported)
    return {id(node): imported[node.id] for node in names if id(node) not in shadowed}


def _shadowed(function: Function, imported: Mapping[str, str]) -> Iterator[ast.Name]:
    """Names inside it that are its own, although something of that name is imported."""
    arguments = function.args
    several = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    inner = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in imported]
    own = {each.arg for each in several if each} | {node.id for node in inner if not isinstance(node.ctx, ast.Load)}
    return (node for node in inner if node.id in own)
