"""Examples in Python's docstrings, which are tests: where they stand, and what would keep them from being what runs."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from loopwright.adapters.checks.python_tree import PythonTree

Shown = tuple[tuple[str, str], ...]

_STEERING = ("__doc__", "__test__", "__wrapped__", "__module__")
_BESIDE = ("overload", "setter", "deleter", "getter", "register")  # decorators of what goes by the same name
# Modules whose decorators give back what still has the docstring, but for a few.
_KEEPING = frozenset({"functools", "contextlib", "abc", "typing", "typing_extensions", "dataclasses", "warnings"})
_KEEPING_BUILT_IN = frozenset({"property", "classmethod", "staticmethod"})
_LOSING = ("partial", "partialmethod", "update_wrapper", "wraps")
_CLOSED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.expr_context)
_Described = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Docstring:
    text: str
    start: int  # of its literal in the source
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """`docstrings` by the name of what they describe; one that is defined again has a number behind its name."""

    source: str
    docstrings: Mapping[str, Docstring]
    bound: Mapping[str, int]  # how often each name is given a meaning
    steered: Mapping[str, int]  # what says at run time which examples there are
    elsewhere: Mapping[Shown, int]  # examples in strings that are no docstrings
    wrapped: Mapping[tuple[str, str], int]  # by which decorators of unknown make

    @classmethod
    def of(cls, source: str, others: frozenset[str] = frozenset()) -> Examples | None:
        """None where the source is no Python. `others` are modules that nobody in the project wrote."""
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        starts = list(accumulate(map(len, source.encode().splitlines(keepends=True)), initial=0))
        found, seen = list(_described("", tree.body, starts)), PythonTree.of(tree)
        docstrings: dict[str, Docstring] = {}
        for name, docstring in found:
            again = sum(1 for other in docstrings if other.split(" ")[0] == name)
            docstrings[f"{name} {again + 1}" if again else name] = docstring
        return cls(
            source=source,
            docstrings=docstrings,
            bound=Counter(_bound("", tree.body)),
            steered=Counter(_steered(seen.nodes)),
            elsewhere=Counter(_elsewhere(seen.nodes)),
            wrapped=Counter(_wrapped("", tree.body, seen, others)),
        )

    @property
    def tested(self) -> dict[str, Shown]:
        return {name: shown for name, doc in self.docstrings.items() if (shown := examples_of(doc.text))}


def may_matter(before: str, after: str) -> bool:
    """Whether there are any, or something that decides about those of other files."""
    return ">>>" in before + after or decides_at_run_time(after)


def decides_at_run_time(after: str) -> bool:
    """Whether it may say of any module which examples that has."""
    return any(word in after for word in _STEERING)


def examples_of(text: str) -> Shown:
    """The examples of a docstring or document, with what they should give."""
    if ">>>" not in text:
        return ()
    try:
        return tuple((example.source, example.want) for example in doctest.DocTestParser().get_examples(text))
    except ValueError:
        return (("", text),)


def bent(old: Examples, new: Examples) -> str:
    """Why the examples of the base would not be those that run, in words; empty where they would be."""
    if more := Counter(new.steered) - Counter(old.steered):
        return f"which examples there are is decided while it runs ({min(more)})"
    if Counter(old.elsewhere) - Counter(new.elsewhere):
        return "tests in strings of the base were changed"
    tested = {name.split(" ")[0] for name in old.tested}
    again = sorted(name for name in tested if new.bound.get(name, 0) > old.bound.get(name, 0) > 0)
    if again:
        return f"{again[0]}, whose docstring has tests, is given another meaning"
    wrapped = sorted(each for each in Counter(new.wrapped) - Counter(old.wrapped) if each[0] in tested)
    return f"{wrapped[0][0]}, whose docstring has tests, is wrapped ({wrapped[0][1]})" if wrapped else ""


def with_docstrings(old: Examples, new: Examples, names: Iterable[str]) -> str:
    """The new source with the old docstrings of these names."""
    before, after = old.source.encode(), new.source.encode()
    wanted = ((old.docstrings[name], new.docstrings[name]) for name in names)
    for held, now in sorted(wanted, key=lambda each: -each[1].start):
        after = after[: now.start] + before[held.start : held.end] + after[now.end :]
    return after.decode()


def _described(name: str, body: list[ast.stmt], starts: list[int]) -> Iterator[tuple[str, Docstring]]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str(text)) as literal), *_]:
            first, last = literal.lineno - 1, (literal.end_lineno or literal.lineno) - 1
            yield (
                name,
                Docstring(text, starts[first] + literal.col_offset, starts[last] + (literal.end_col_offset or 0)),
            )
        case _:
            pass
    for child in _in_scope(body):
        if isinstance(child, _Described):
            yield from _described(f"{name}.{child.name}".lstrip("."), child.body, starts)


def _in_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Whatever lies in the same scope, under conditions and loops too."""
    waiting = [*body][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _CLOSED):
            waiting += [*ast.iter_child_nodes(node)][::-1]


def _bound(name: str, body: list[ast.stmt]) -> Iterator[str]:
    for node in _in_scope(body):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                whole = f"{name}.{node.name}".lstrip(".")
                if not _is_beside(node):
                    yield whole
                yield from _bound(whole, node.body) if isinstance(node, ast.ClassDef) else _declared(node)
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()):
                yield f"{name}.{bound}".lstrip(".")
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (f"{name}.{(each.asname or each.name).split('.')[0]}".lstrip(".") for each in aliases)
            case ast.Attribute(value=ast.Name(id=owner), attr=bound, ctx=ast.Store() | ast.Del()):
                yield f"{owner}.{bound}"
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), ast.Constant(value=str(bound)), *_]):
                yield f"{owner}.{bound}"
            case ast.Subscript(
                value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")),
                slice=ast.Constant(value=str(bound)),
                ctx=ast.Store(),
            ):
                yield bound
            case _:
                pass


def _is_beside(node: _Described) -> bool:
    names = (each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in node.decorator_list)
    return ast.get_docstring(node) is None and not set(_BESIDE).isdisjoint(names)


def _wrapped(name: str, body: list[ast.stmt], seen: PythonTree, others: frozenset[str]) -> Iterator[tuple[str, str]]:
    for node in _in_scope(body):
        if isinstance(node, _Described):
            whole = f"{name}.{node.name}".lstrip(".")
            called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
            yield from ((whole, ast.unparse(each)) for each in called if not _keeps(each, seen, others))
            yield from _wrapped(whole, node.body, seen, others)


def _keeps(decorator: ast.expr, seen: PythonTree, others: frozenset[str]) -> bool:
    """Whether what it gives back is known to have the docstring still, and none of its own."""
    name = decorator.id if isinstance(decorator, ast.Name) else getattr(decorator, "attr", "")
    module, _, called = seen.dotted(decorator).partition(".")
    if module:
        return (module in _KEEPING or module in others) and called not in _LOSING
    return name in _KEEPING_BUILT_IN or name in _BESIDE


def _declared(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    return (name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names)


def _steered(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                pass
            case ast.Constant(value=str(name)) | ast.keyword(arg=str(name)):
                pass
            case _:
                continue
        if name in _STEERING:
            yield name


def _elsewhere(nodes: tuple[ast.AST, ...]) -> Iterator[Shown]:
    plain = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in plain and (shown := examples_of(text)):
                yield shown
            case _:
                pass
