"""Modules whose docstrings a test of the base runs by itself: their examples are tests, though no option says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.examples import decides_at_run_time

_GIVEN_A_MODULE = ("testmod", "DocTestSuite")
_STARTS = re.compile(
    r"\b(?:testmod|DocTestSuite|DocTestFinder|run_docstring_examples|doctest_module|doctest_callable)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctested:
    """`modules` by their names; `every`: nobody can tell which."""

    modules: frozenset[str] = frozenset()
    every: bool = False

    def has(self, path: str, after: str) -> bool:
        """Also a module from which the examples of others could be bent."""
        whole = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        named = any(whole == name or whole.endswith(f".{name}") for name in self.modules)
        bends = bool(self.modules) and decides_at_run_time(after)
        return path.endswith(".py") and (self.every or named or bends)


def doctested(tests: Mapping[str, str]) -> Doctested:
    found = set[str]()
    for text in tests.values():
        if _STARTS.search(text):
            modules = _modules(text)
            if modules is None:
                return Doctested(every=True)
            found |= modules
    return Doctested(modules=frozenset(found))


def _modules(text: str) -> set[str] | None:
    """None where it cannot be told. A test that runs its own docstrings names none."""
    try:
        nodes = tuple(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    meant = dict(pair for node in nodes for pair in _imported(node))
    calls = [node for node in nodes if isinstance(node, ast.Call) and _last(node.func) in _GIVEN_A_MODULE]
    taken = [name for node in nodes for name, whole in _imported(node) if _STARTS.search(whole)]
    if len(_STARTS.findall(text)) > len(calls) + len(taken):
        return None  # it goes by another name somewhere
    given = [(*call.args[:1], *(word.value for word in call.keywords if word.arg in ("m", "module"))) for call in calls]
    names = [_dotted(each[0], meant) for each in given if each]
    return None if None in names else {name for name in names if name}


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                first = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        case ast.ImportFrom(module=module, names=names):
            yield from ((alias.asname or alias.name, f"{module or ''}.{alias.name}".lstrip(".")) for alias in names)
        case _:
            pass


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _dotted(node: ast.expr, meant: Mapping[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(name)):
            return name
        case ast.Name(id=name):
            return meant.get(name)
        case ast.Attribute(value=value, attr=name):
            above = _dotted(value, meant)
            return f"{above}.{name}" if above else None
        case _:
            return None
