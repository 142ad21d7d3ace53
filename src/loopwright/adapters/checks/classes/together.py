"""What a changed path is in the company of others: a lock without its manifest, a move, a test allowed to change."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.adapters.checks.classes.metadata import changes_only_metadata, mark_shared_versions
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.trust import Classed, FileClass

_NOTHING = (  # what git calls an empty file, with either digest; and what nobody knows the content of
    "",
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_FAMILIES = (
    (r"package-lock|yarn|pnpm|bun\.|shrinkwrap|deno", r"package\.json|deno\.json|pnpm-workspace"),
    (r"cargo", r"cargo\.toml"),
    (r"go\.(?:work\.)?sum", r"go\.(?:mod|work)"),
    (r"gemfile", r"gemfile$|gemspec"),
    (r"composer", r"composer\.json"),
    (r"poetry|uv\.|pdm|pipfile|pylock|pixi|conda", r"pyproject|setup\.|requirements|pipfile$|pixi|environment"),
)

_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
TESTED_TOGETHER = (".py", ".go", *_SCRIPTS, ".rb", ".exs", ".java", ".kt", ".cs", ".scala", ".groovy")
_MAY_BE_EMPTY = frozenset(TESTED_TOGETHER) - {".go", *_SCRIPTS}
# They run each file by itself, and fail where one has no test of theirs.
_WANTS_ITS_OWN = re.compile(r"""['"](?:ava|@jest/globals|@playwright/test)['"]""")
_CALLS = re.compile(r"^\s*(?:it|test|describe|context|suite|specify)(?:\.\w+)*\s*\(", re.MULTILINE)
# Some runners take a file without any test for a mistake.
_NO_TEST = "(globalThis.test || globalThis.it || (() => {}))('is set apart', () => {});\n"
_OF_VITEST = "import { test as apart } from 'vitest';\nglobalThis.test ||= apart;\n"
# It loads as before, for those who need it, and no runner finds a test in it: neither pytest nor unittest.
_NO_TEST_OF_ITS_OWN = """

__test__ = {}


def load_tests(loader, tests, pattern):
    return type(tests)()
"""
_GO_NAMES = re.compile(r"^(?:func|type|var|const)\s+(?!(?:Test|Benchmark|Example|Fuzz)[A-Z_(])(\w+)", re.MULTILINE)


def seen_together(
    classed: tuple[Classed, ...],
    before: Mapping[str, str],
    after: Mapping[str, str],
    is_protected: Callable[[str], bool],
) -> tuple[Classed, ...]:
    """Return the classes in view of each other. `before` and `after` are the texts of what changed."""
    texts = tuple(
        replace(each, kind=FileClass.TEXT, why="only metadata differs", is_manifest=False)
        if each.is_manifest
        and not is_protected(each.change.path)
        and changes_only_metadata(each.change.path, before, after)
        else each
        for each in classed
    )
    return mark_shared_versions(moved(locks_put_back(texts)), before, after)


def locks_put_back(classed: tuple[Classed, ...]) -> tuple[Classed, ...]:
    """A lock that changed without its manifest changed for no reason of the task."""
    manifests = [c.change.path.lower() for c in classed if judge_by_name(c.change.path) is Judge.MANIFEST]
    alone = all(judge_by_name(each.change.path) is Judge.LOCK for each in classed)
    if alone:
        return classed
    return tuple(_lock_put_back(each, manifests) for each in classed)


def _lock_put_back(classed: Classed, manifests: list[str]) -> Classed:
    path = classed.change.path
    if classed.kind is not FileClass.JUDGE_BY_NAME or judge_by_name(path) is not Judge.LOCK:
        return classed
    name = posixpath.basename(path).lower()
    wanted = next((manifest for lock, manifest in _FAMILIES if re.match(lock, name)), "")
    if any(re.match(wanted, posixpath.basename(manifest)) for manifest in manifests):
        return classed
    why = "a lock changed without its manifest: the base's is kept"
    return replace(classed, why=why, put_back=True, is_manifest=False)


def moved(classed: tuple[Classed, ...]) -> tuple[Classed, ...]:
    """Shown as a move where the same content went from here to there. Files with nothing in them go nowhere."""
    changes = [each.change for each in classed]
    came = defaultdict[str, list[str]](list)
    for change in changes:
        if change.how == "added" and change.blob not in _NOTHING:
            came[change.blob].append(change.path)
    gone = {change.path: came[change.old] for change in changes if change.how == "removed" and change.old in came}
    pairs: dict[str, str] = {}
    for names_differ in (False, True):  # of several with the same content, those first that kept their names
        for path, places in gone.items():
            free = (each for each in places if each not in pairs and (names_differ or _name(each) == _name(path)))
            if path not in pairs and (other := next(free, "")):
                pairs |= {path: other, other: path}
    return tuple(replace(c, change=replace(c.change, moved=pairs.get(c.change.path, ""))) for c in classed)


def _name(path: str) -> str:
    return posixpath.basename(path)


def set_apart(classed: tuple[Classed, ...], tests: Mapping[str, str], yielding: frozenset[str]) -> tuple[Classed, ...]:
    """Tests that a person allowed to change judge for themselves alone: the others run without them first.

    Where one process runs many files of tests, one of them can patch the product for all that come after it; and where
    tests are counted, new ones would stand for others. `tests` are the texts of the base's; what others of them load is
    needed, and judges with them as it was allowed to.
    """
    collected = {path for path, text in tests.items() if path in yielding or _holds_tests(path, text)}
    allowed = {each.change.path for each in classed if each.allowed and each.change.how == "changed"} & collected
    # Who has no other test left is judged by nothing but the allowed ones.
    others = {_family(path) for path in collected - allowed}
    needed = {path for path in allowed if _is_needed(path, tests)}
    left = {path: _left_to_others(path, tests) if path in needed else left_of(path, tests[path]) for path in allowed}
    judged = {path: left[path] for path in allowed - needed if _family(path) in others}
    mingled = {path for path in allowed if _family(path) in others and judged.get(path) is None}
    return tuple(
        replace(each, left=left[path], judged=judged.get(path, each.judged), mingled=path in mingled)
        if (path := each.change.path) in left
        else each
        for each in classed
    )


def left_of(path: str, text: str) -> bytes | None:
    """What such a file holds where it does not take part; None where nobody knows."""
    suffix = posixpath.splitext(path)[1]
    if _family(path) == ".js":
        typed = ("// @ts-nocheck\n", "export {};\n") if suffix not in (".js", ".jsx", ".mjs", ".cjs") else ("", "")
        if _WANTS_ITS_OWN.search(text):
            return None
        taken_in = _OF_VITEST if re.search(r"""['"]vitest['"]""", text) else ""
        return f"{typed[0]}{taken_in}{_NO_TEST}{typed[1]}".encode()
    if suffix == ".go":
        found = re.search(r"^package\s+\w+", text, re.MULTILINE)
        return f"{found[0]}\n".encode() if found else None
    return b"" if suffix in _MAY_BE_EMPTY else None


def _left_to_others(path: str, tests: Mapping[str, str]) -> bytes | None:
    """What such a file holds where its own tests do not take part, and others load it; None where nobody knows."""
    text = tests[path]
    # Whoever takes all of its names would have no tests either.
    is_taken_whole = any(re.search(rf"\b{_stem(path)}\s+import\s*\*", each) for each in tests.values())
    if is_taken_whole or not path.endswith(".py") or "\ufffd" in text or "load_tests" in text:
        return None
    return f"{text}{_NO_TEST_OF_ITS_OWN}".encode()


def _stem(path: str) -> str:
    return re.escape(posixpath.splitext(posixpath.basename(path))[0])


def _holds_tests(path: str, text: str) -> bool:
    return collected_by_name(path) or (_family(path) == ".js" and _CALLS.search(text) is not None)


def _family(path: str) -> str:
    suffix = posixpath.splitext(path)[1]
    return ".js" if suffix in _SCRIPTS else suffix


def _is_needed(path: str, tests: Mapping[str, str]) -> bool:
    """Whether others load it, or name it where nobody knows; those of one package in Go have its names without that."""
    family, name = _family(path), _stem(path)
    others = [text for other, text in tests.items() if other != path and _family(other) == family]
    wanted = rf"\b{name}\b"
    if family == ".js":
        wanted = rf"""['"`][^'"`\n]*/{name}(?:\.\w+)?['"`]"""
    elif family == ".go":
        folder = posixpath.dirname(path)
        others = [text for other, text in tests.items() if other != path and posixpath.dirname(other) == folder]
        wanted = rf"\b(?:{'|'.join(_GO_NAMES.findall(tests[path])) or '(?!)'})\b"
    return any(re.search(wanted, text) and (family != ".py" or _loads(wanted, text)) for text in others)


def _loads(wanted: str, text: str) -> bool:
    """By an import, or by a string that is no mere word about it."""
    try:
        nodes = tuple(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return True
    remarks = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return any(re.search(wanted, name) for node in nodes if id(node) not in remarks for name in _named(node))


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=module, names=names):
            yield from (module or "", *(each.name for each in names))
        case ast.Constant(value=str(value)):
            yield value
        case _:
            pass
