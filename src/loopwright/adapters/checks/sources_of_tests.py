"""Test functions of a Python file by name: which of them a change altered, removed or moved. Pure, through `ast`."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from loopwright.adapters.checks.canary.hollow import behind_docstring, parse
from loopwright.adapters.checks.ids import file_of, function_of

# What a runner finds by its name, or what stands for something else without being named.
_FOUND_BY_NAME = re.compile(r"pytest|setup|setUp|teardown|tearDown|load_tests|collect_ignore|__")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_IMPORTS = re.compile(r"^\s*(?:from|import)\b(?:[^\n(]*\([^)]*\)|[^\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TestFile:
    functions: Mapping[str, str]  # by qualified name: what the parser makes of it, without its docstring
    rest: tuple[tuple[str, str], ...]  # all other statements but imports and classes, with the name each defines
    shells: Mapping[str, str]  # classes without their test functions
    imports: Mapping[str, str]  # by the name they bind: what is imported
    words: frozenset[str]  # names and strings

    def source_of(self, test: str) -> str | None:
        """Return the function of a test; one that its class inherits may be any of that name."""
        owner, _, last = test.rpartition(".")
        inherited = (self.functions[name] for name in sorted(self.functions) if owner and name.endswith(f".{last}"))
        return self.functions.get(test) or "\n".join(inherited) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAlteration:
    """How the tests of one file differ. `everything`: something that all of them may use differs."""

    altered: frozenset[str] = frozenset()  # names of test functions whose own source differs
    everything: bool = False
    bodies: Mapping[str, str] = field(default_factory=dict)  # of all of them as they were, by name
    fresh: Mapping[str, str] = field(default_factory=dict)  # of those under new names


def compare_tests(before: str, after: str, tests: frozenset[str]) -> FileAlteration:
    """Compare two versions of a test file; `tests` are the names of the functions that are collected as tests.

    A file that does not parse is altered as a whole.
    """
    old, new = _read(before, tests), _read(after, tests)
    if old is None or new is None:
        return FileAlteration(everything=True)
    bodies = {test: body for test in tests if (body := old.source_of(test)) is not None}
    changed = _changed_around(old, new)
    using = _users(changed, old, new) if tests else None
    altered = (
        test for test, body in bodies.items() if new.source_of(test) not in (None, body) or test in (using or ())
    )
    fresh = {test: body for test in tests - bodies.keys() if (body := new.source_of(test)) is not None}
    everything = changed is None or (bool(changed) and using is None)
    return FileAlteration(altered=frozenset(altered), everything=everything, bodies=bodies, fresh=fresh)


def _changed_around(old: _TestFile, new: _TestFile) -> frozenset[str] | None:
    """Return the helpers, fixtures and data of the base that differ; None where a class or the order of them does.

    What no test of the base names is new. Imports may come and go, but a name that is imported from elsewhere makes
    tests look at something else.
    """

    def is_new(name: str, text: str) -> bool:
        is_used = name in old.words or hasattr(builtins, name) or "autouse" in text
        return not (is_used or _FOUND_BY_NAME.match(name))

    rest = tuple((name, text) for name, text in new.rest if not name or not is_new(name, text))
    fresh = {name for name, shell in new.shells.items() if _holds_tests(name, new) or is_new(name, shell)}
    kept = {name: shell for name, shell in new.shells.items() if name in old.shells or name not in fresh}
    gone = {name for name in old.shells if name not in new.shells and not _holds_tests(name, old)}
    changed = {name for name, _ in {*old.rest} ^ {*rest}}
    orders = [[name for name, _ in each if name not in changed] for each in (old.rest, rest)]
    if orders[0] != orders[1] or gone or any(old.shells.get(name) != shell for name, shell in kept.items()):
        return None
    imports = {name for name, origin in old.imports.items() if new.imports.get(name, origin) != origin}
    return frozenset(changed | imports)


def _users(changed: frozenset[str] | None, old: _TestFile, new: _TestFile) -> frozenset[str] | None:
    """Return the test functions that name one of these, be it through other helpers; None where any test may use it.

    What is decorated, is part of a class or has no name of its own reaches tests without being named.
    """
    if changed is None:
        return None
    rest, named, left = (*old.rest, *new.rest), frozenset[str](), changed
    tests = {test.partition(".")[0] for each in (old, new) for test in each.functions}
    while left:
        named |= left
        found = {name: text for name, text in rest if name in left or any(f"'{each}'" in text for each in left)}
        if any(not name or _FOUND_BY_NAME.match(name) or _is_decorated(text) for name, text in found.items()):
            return None
        if not tests.isdisjoint(found):  # a test is bound anew
            return None
        left = frozenset(found) - named
    texts = [(name, text) for each in (old, new) for name, text in each.functions.items()]
    if any(f"'{name}'" in shell for each in (old, new) for shell in each.shells.values() for name in named):
        return None
    return frozenset(test for test, text in texts if any(f"'{name}'" in text for name in named))


def _is_decorated(text: str) -> bool:
    kind, _, rest = text.partition("\n")
    return kind.endswith("FunctionDef") and not rest.startswith("arguments(")


def _holds_tests(name: str, held: _TestFile) -> bool:
    return any(each.startswith(f"{name}.") for each in held.functions)


def imported_names(text: str) -> frozenset[str]:
    """Return every word that the import statements of a Python file name, and `*`."""
    return frozenset(word for line in _IMPORTS.findall(text) for word in re.findall(r"\w+|\*", line))


def name_in_file(test: str) -> str:
    """Return the qualified name of an id's function: `TestA.test_b` of `tests/test_a.py::TestA::test_b[1]`."""
    bare = function_of(test)
    if "::" in bare:
        return ".".join(bare.split("::")[1:])
    module = file_of(test).removesuffix(".py").replace("/", ".")
    return bare.removeprefix(f"{module}.") if module else bare


def last_name(test: str) -> str:
    """Return the name of an id's function, without the class that it is in."""
    return name_in_file(test).rpartition(".")[2]


def _read(text: str, tests: frozenset[str]) -> _TestFile | None:
    inherited = {name.rpartition(".")[2] for name in tests if "." in name}
    tree = _parse(text)
    if tree is None:
        return None
    try:
        return _test_file(tree, lambda name: name in tests or ("." in name and name.rpartition(".")[2] in inherited))
    except RecursionError:
        return None


# A file is compared by its tests, and once more for tests that come from another one.
_parse = lru_cache(maxsize=64)(parse)


def _test_file(tree: ast.Module, is_test: Callable[[str], bool]) -> _TestFile:
    functions: dict[str, str] = {}
    shells: dict[str, str] = {}
    rest: list[tuple[str, str]] = []
    imports: dict[str, str] = {}
    for node in behind_docstring(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                imports |= _bound(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if is_test(name):
                functions[name] = _dump(node)
            case ast.ClassDef():
                shells[node.name] = _shell(node, node.name, functions, is_test)
            case ast.Assign(targets=targets) if all(isinstance(each, ast.Name) for each in targets):
                rest += [(ast.unparse(each), ast.dump(node.value)) for each in targets]
            case _:
                rest.append((getattr(node, "name", ""), _dump(node)))
    return _TestFile(functions=functions, rest=tuple(rest), shells=shells, imports=imports, words=_words(tree))


@lru_cache(maxsize=64)
def _words(tree: ast.Module) -> frozenset[str]:
    return frozenset(word for node in ast.walk(tree) for word in _used(node))


def _used(node: ast.AST) -> Iterator[str]:
    """Return what a node names: a fixture is named by an argument, or by a string."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.alias(name=name) | ast.Constant(value=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case _:
            pass


def _bound(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return what an import binds each of its names to."""
    if isinstance(node, ast.Import):
        return {each.asname or each.name.partition(".")[0]: _origin(each) for each in node.names}
    module = f"{'.' * node.level}{node.module or ''}"
    return {each.asname or each.name: f"{module}:{each.name}" for each in node.names}


def _origin(alias: ast.alias) -> str:
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _shell(node: ast.ClassDef, name: str, functions: dict[str, str], is_test: Callable[[str], bool]) -> str:
    """Collect the test functions of a class, and return what is left of it."""
    left = []
    for each in behind_docstring(node):
        if isinstance(each, _Function) and is_test(f"{name}.{each.name}"):
            functions[f"{name}.{each.name}"] = _dump(each)
        elif isinstance(each, ast.ClassDef):
            left.append(_shell(each, f"{name}.{each.name}", functions, is_test))
        elif not isinstance(each, ast.Pass):
            left.append(_dump(each))
    head = [ast.dump(each) for each in (*node.decorator_list, *node.bases, *node.keywords)]
    return "\n".join((*head, *left))


@lru_cache(maxsize=8192)
def _dump(node: ast.stmt) -> str:
    if not isinstance(node, _Function):
        return ast.dump(node)
    parts = (*node.decorator_list, node.args, *behind_docstring(node))
    return "\n".join((type(node).__name__, *map(ast.dump, parts)))
