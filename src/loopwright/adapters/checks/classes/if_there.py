"""What tests of the base take only where it is there: a new file that gives it would join the judges."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.modules import bare, imported_names, is_module, parsed_or_nothing
from loopwright.adapters.checks.python_tree import folded, imports_of
from loopwright.kernel.judges import is_source
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_TRIED = re.compile(
    r"""\btry\s*\{(.*?)\}\s*catch\b|\b(?:import|require|access|readFile|stat)\(([^()]*)\)\s*\.catch\b""", re.DOTALL
)
_LITERAL = re.compile(r"""["'`]([^"'`\n]{1,200})["'`]""")
_SUFFIX = re.compile(r"(?:/index)?\.\w+$")
_BEGINS = re.compile(r"^(?:\.{0,2}/)+")
_LISTS = frozenset({"iterdir", "listdir", "scandir", "walk", "glob", "rglob", "iglob"})
_READS = frozenset({"open", "read", "read_text", "read_bytes", "load", "loads", "genfromtxt", "loadtxt"})
_NOT_THERE = frozenset(
    {"ImportError", "ModuleNotFoundError", "OSError", "IOError", "FileNotFoundError", "EnvironmentError"}
    | {"Exception", "BaseException"}
)
_MAYBE = re.compile(r"\b(?:try|suppress|find_spec|catch)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """By one test: modules by their names, files and new folders by theirs, and paths, also without a suffix."""

    modules: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()


async def taken_if_there(source: TreeReader, base: Commit, layout: Layout, added: Iterable[str]) -> dict[str, str]:
    """For each new file a test that takes it where it is there, and that the product of the base knows nothing of."""
    new = [path for path in added if not layout.is_test(path)]
    if not new:
        return {}
    paths = await source.paths(base)
    tracked, code = frozenset(paths), [path for path in paths if path.endswith((".py", *_SCRIPTS))]
    judging = tuple(path for path in code if layout.is_test(path) or posixpath.basename(path) == "conftest.py")[:_MOST]
    tests = await source.texts(base, judging, limit=_LARGEST)
    wanted = {test: _wanted(test, text) for test, text in tests.items() if _MAYBE.search(text)}
    found = {path: test for test, each in wanted.items() for path in new if _gives(path, each, tracked)}
    if not found:
        return {}
    product = tuple(path for path in paths if is_source(path) and path not in tests)[:_MOST]
    texts = await source.texts(base, product, limit=_LARGEST)
    return {path: test for path, test in found.items() if not _is_meant(path, texts, tracked)}


def _is_meant(path: str, product: Mapping[str, str], tracked: frozenset[str]) -> bool:
    """Whether the product of the base would take it, too."""
    if path.endswith(".py"):
        code = {
            each: text for each, text in product.items() if each.endswith(".py") and bare(path).split("/")[-1] in text
        }
        return any(is_module(path, name, tracked) for each, text in code.items() for name in imported_names(each, text))
    words = {posixpath.basename(word) for text in product.values() for word in _LITERAL.findall(text)}
    return not words.isdisjoint((posixpath.basename(path), posixpath.basename(_SUFFIX.sub("", path))))


def _gives(path: str, wanted: _Wanted, tracked: frozenset[str]) -> bool:
    if path.endswith(".py") and any(_gives_module(path, name, tracked) for name in wanted.modules):
        return True
    if path in wanted.paths or _SUFFIX.sub("", path) in wanted.paths:
        return True
    fresh = (folder for folder in _above(path) if not any(each.startswith(f"{folder}/") for each in tracked))
    is_listed = any(posixpath.basename(folder) in wanted.folders for folder in fresh)
    return is_listed or posixpath.basename(path) in wanted.files


def _gives_module(path: str, name: str, tracked: frozenset[str]) -> bool:
    """Also one of a folder that would be a package by this name; a name that the base gives is no doubtful one."""
    if any(is_module(each, name, tracked) for each in tracked if each.endswith(".py")):
        return False
    return any(is_module(each, name, tracked) for each in (path, *(f"{folder}.py" for folder in _above(path))))


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _wanted(test: str, text: str) -> _Wanted:
    if test.endswith(".py"):
        return _wanted_in_python(text)
    tried = [part for found in _TRIED.findall(text) for part in found if part]
    words = [word for part in tried for word in _LITERAL.findall(part)]
    near = (word for word in words if word.startswith("."))
    return _Wanted(
        files=frozenset(posixpath.basename(word) for word in words if "." in posixpath.basename(word.strip("."))),
        paths=frozenset(posixpath.normpath(posixpath.join(posixpath.dirname(test), word)) for word in near)
        | {_BEGINS.sub("", word) for word in words},
    )


def _wanted_in_python(text: str) -> _Wanted:
    nodes = tuple(ast.walk(parsed_or_nothing(text)))
    given = dict(pair for node in nodes for pair in _given(node))
    tried = [inner for node in nodes for part in _tried(node) for inner in ast.walk(part)]
    meant = [given[each.id] for each in tried if isinstance(each, ast.Name) and each.id in given]
    tried += [inner for part in meant for inner in ast.walk(part)]
    called = {_called(each) for each in tried}
    asked = [each for each in nodes if isinstance(each, ast.Call) and _called(each) == "find_spec" and each.args]
    names = {posixpath.basename(word.rstrip("/")) for each in tried if (word := folded(each))}
    return _Wanted(
        modules=frozenset({*imports_of(tuple(tried)), *(folded(each.args[0]) or "" for each in asked)} - {""}),
        files=frozenset(name for name in names if "." in name[1:] or (name[1:] and called & _READS)),
        folders=frozenset(names) if called & _LISTS else frozenset(),
    )


def _tried(node: ast.AST) -> Sequence[ast.AST]:
    """What is done without where it is not there."""
    match node:
        case ast.Try(body=body, handlers=handlers):
            caught = [each.type for each in handlers]
        case ast.With(body=body, items=items):
            calls = [each.context_expr for each in items if isinstance(each.context_expr, ast.Call)]
            caught = [kind for call in calls if _called(call) == "suppress" for kind in call.args]
        case _:
            return ()
    kinds = (each for kind in caught for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind]))
    return body if any(kind is None or _last(kind) in _NOT_THERE for kind in kinds) else ()


def _given(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names with what they are given where they are made of it: no function is gone into."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:
            pass


def _called(node: ast.AST) -> str:
    return _last(node.func) if isinstance(node, ast.Call) else ""


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
