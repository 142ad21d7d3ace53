"""Modules whose docstrings a test of the base runs by itself: their examples are tests, though no option says so."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.classes.examples import decides_at_run_time
from loopwright.adapters.checks.python_tree import as_script, imported_names

_GIVEN_A_MODULE = ("testmod", "DocTestSuite")
_GIVEN_A_TEXT = ("testfile", "DocFileSuite")
_MENTIONED = re.compile(r"doc_?test", re.IGNORECASE)
_STARTS = re.compile(
    r"\b(?:testmod|DocTestSuite|DocTestFinder|DocTestRunner|run_docstring_examples|doctest_module|doctest_callable)\b"
    r"""|["']-m["'\s,]+doctest\b"""
)
_BY_HAND = re.compile(
    r"\b(?:__doc__|getdoc)\b.*\b(?:eval|exec|compile)\b|\b(?:eval|exec)\b.*\b(?:__doc__|getdoc)\b", re.DOTALL
)
_OF_ITSELF = re.compile(r"\btestmod\s*\(\s*(?:\w+\s*=(?!=)|\))")
_STARTS_PROGRAMS = re.compile(
    r"\b(?:subprocess|runpy|pexpect|script_runner|testdir|pytester|\w*spawn\w*|system|popen)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctested:
    """`modules` by their names, `files` that test themselves; `every`: nobody can tell which."""

    modules: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    every: bool = False

    def has(self, path: str, after: str) -> bool:
        """Also a module from which the examples of others could be bent."""
        whole = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        named = path in self.files or any(whole == name or whole.endswith(f".{name}") for name in self.modules)
        bends = bool(self.modules or self.files) and decides_at_run_time(after)
        return path.endswith(".py") and (self.every or named or bends)


def doctested(tests: Mapping[str, str], others: Mapping[str, str], steering: str = "") -> Doctested:
    """`others` are files of Python beside the tests: a helper may start examples, and a module its own."""
    starting = {path: text for path, text in others.items() if _may_start(text) and _STARTS.search(text)}
    if any(_may_be_by_hand(text) and _BY_HAND.search(text) for text in tests.values()):
        return Doctested(every=True)
    judging = [(text, True) for text in tests.values() if _MENTIONED.search(text)]
    judging += [(starting[path], False) for path in _loaded(starting, tests, others, steering)]
    found = set[str]()
    for text, is_run in judging:
        modules = _modules(text, is_run=is_run)
        if modules is None:
            return Doctested(every=True)
        found |= modules
    own = {path for path, text in starting.items() if _OF_ITSELF.search(text)}
    if not own or not any(map(_STARTS_PROGRAMS.search, tests.values())):
        own = {path for path in own if _stem(path) in steering}
    return Doctested(modules=frozenset(found), files=frozenset(own))


def _may_start(text: str) -> bool:
    """Whether a word of `_STARTS` is there at all, which takes a hundredth of the time to say no."""
    return any(word in text for word in ("testmod", "DocTest", "doctest", "run_docstring_examples"))


def _may_be_by_hand(text: str) -> bool:
    return ("__doc__" in text or "getdoc" in text) and any(word in text for word in ("eval", "exec", "compile"))


def _loaded(
    starting: Iterable[str], tests: Mapping[str, str], others: Mapping[str, str], steering: str
) -> Iterator[str]:
    """Those that anybody imports, or that tests or what steers them name as a file."""
    for path in starting:
        name, file = re.escape(_stem(path)), posixpath.basename(path)
        imported = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*(?:\([^)]*)?\b{name}\b", re.MULTILINE)
        texts = (each.items() for each in (tests, others))
        importing = (text for held in texts for other, text in held if other != path and _stem(path) in text)
        is_named = file != "__init__.py" and any(file in text for text in (steering, *tests.values()))
        if is_named or any(map(imported.search, importing)):
            yield path


def _stem(path: str) -> str:
    return posixpath.basename(path.removesuffix(".py").removesuffix("/__init__"))


def _modules(text: str, *, is_run: bool) -> set[str] | None:
    """None where it cannot be told. A test that runs its own docstrings names none, nor what is only a program's."""
    try:
        nodes = tuple(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    aside = frozenset[int]() if is_run else frozenset(as_script(nodes))
    nodes = tuple(node for node in nodes if id(node) not in aside)
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    told |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and _last(node.func) in _GIVEN_A_MODULE]
    plain = {id(node) for call in calls for node in ast.walk(call.func)} | told
    if any(_goes_otherwise(node) for node in nodes if id(node) not in plain):
        return None
    meant = dict(imported_names(nodes))
    rebound = {name for node in nodes for name in _bound(node)}
    found = set[str]()
    for call in calls:
        given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("m", "module", None))]
        name = _dotted(given[0], {key: whole for key, whole in meant.items() if key not in rebound}) if given else ""
        if name is None:
            return None
        found.add(name)
    return found - {""}


def _goes_otherwise(node: ast.AST) -> bool:
    """Whether it speaks of examples in any other way than by giving a module to what starts them."""
    match node:
        case ast.Import(names=names):
            return any(_MENTIONED.search(each.name) and (each.asname or each.name != "doctest") for each in names)
        case ast.ImportFrom(module="doctest", names=names):
            plain = (*_GIVEN_A_MODULE, *_GIVEN_A_TEXT)
            return any(each.asname or not (each.name in plain or each.name.isupper()) for each in names)
        case ast.ImportFrom(module=module, names=names):
            return any(_MENTIONED.search(f"{module} {each.name} {each.asname}") for each in names)
        case ast.Attribute(value=ast.Name(id="doctest"), attr=name):
            return not (name in _GIVEN_A_TEXT or name.isupper())
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
            return name in _GIVEN_A_MODULE or _MENTIONED.search(name) is not None
        case _:
            return False


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
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
