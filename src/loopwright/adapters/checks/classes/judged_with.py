"""What tests judge with outside of Python: helpers of Go, JavaScript and C, modules and crates of Rust."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.crates import only_for_tests
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.packages import MANIFEST, KnownPackages
from loopwright.kernel.judges import judge_by_name
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into

_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_NAMED = re.compile(
    r"""_*(?:testing | asserts? | assertions? | matchers? | fixtures? | factories | mocks? | fakes? | stubs? | doubles
      | (?:test|testing|assert|spec)[-_]?(?:utils? | utilities | helpers? | support | tools? | lib | kit | cases?
        | fixtures? | factories | doubles | asserts? | assertions? | data | common))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAKEN_IN = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'`]([^"'`\n]+)["'`]""")
_RUNNER = re.compile(
    r"(?:node:test|bun:test|vitest|@jest/.*|jest.*|mocha|ava|tape|tap|uvu|uvu/.*|chai|expect|should|sinon|supertest"
    r"|@testing-library/.*|@playwright/test|@vitest/.*)"
)
_ALIAS = re.compile(r"^(?:@/|~/|#|/)")
_GO_IMPORTS = re.compile(r"^import\s*\(([^)]*)\)|^import\s+([^\n(]+)", re.MULTILINE)
_GO_FOLDER = re.compile(
    r"test_?(?:utils?|helpers?|support|ing|kit|lib|data|tools?|cases?|env)|testing_?\w*|assert\w*|mocks?|fakes?",
    re.IGNORECASE,
)
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_IN_C = (".c", ".cc", ".cpp", ".cxx", *_HEADERS)
_INCLUDED = re.compile(r"""^[ \t]*\#[ \t]*(?:include|import)[ \t]*["<]([^">\n]+)[">]""", re.MULTILINE)
_JUDGING_HEADER = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?:mu_|ck_|CHECK|ASSERT|EXPECT|REQUIRE|TEST|RUN_TEST|FAIL|VERIFY|SHOULD)\w*\(",
    re.MULTILINE | re.IGNORECASE,
)
_OF_RUST = r"#\[\s*cfg\s*\(\s*(?:test|(?:any|all)\s*\((?![^\]]*\bnot\b)[^\]]*\btest\b[^\]]*\))\s*\)\s*\]"
_MODULE = r"(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\s*\([^)]*\))?\s+)?mod\s+{name}\s*;"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """Of files: which may be there for tests, which say so plainly, and what one takes in."""

    suffixes: tuple[str, ...]
    may_be: Callable[[str, str], bool]  # by path and text
    is_plain: Callable[[str], bool]  # by its text: even where the product takes it in, too
    taken_in: Callable[[str, str], Iterator[str]]
    is_meant: Callable[[str, str], bool]  # the path by what is written


async def judged_with(source: TreeReader, base: Commit, layout: Layout, before: Mapping[str, str]) -> dict[str, str]:
    """For each changed file that is there for tests one that judges with it. `before` are the texts of what changed."""
    found: dict[str, str] = {}
    paths = await source.paths(base)
    plain = [path for path in paths if path in before and not layout.is_test(path) and judge_by_name(path) is None]
    for kind in _kinds(await _manifests(source, base, paths, plain)):
        if any(path.endswith(kind.suffixes) and kind.may_be(path, before[path]) for path in plain):
            files = sorted((path for path in paths if path.endswith(kind.suffixes)), key=layout.is_test, reverse=True)
            wanted = tuple(dict.fromkeys((*(path for path in plain if path in files), *files)))[: 2 * _MOST]
            found |= _helping(kind, await source.texts(base, wanted, limit=_LARGEST), layout)
    rust = [path for path in plain if path.endswith(".rs")]
    if rust:
        asked = {parent for path in rust for parent, _ in _parents(path)} | {
            path for path in paths if posixpath.basename(path) == "Cargo.toml"
        }
        texts = await source.texts(base, tuple(sorted(asked.intersection(paths))), limit=_LARGEST)
        found |= {path: declared for path in rust if (declared := _declared(path, texts))}
        found |= {path: crate for path in rust if (crate := only_for_tests(path, before[path], texts))}
    return found


async def _manifests(source: TreeReader, base: Commit, paths: tuple[str, ...], changed: list[str]) -> Mapping[str, str]:
    """Those that say by which names packages are known, where one could be meant."""
    names = {"go.mod"} if any(path.endswith(".go") for path in changed) else set[str]()
    names |= {MANIFEST} if any(path.endswith(_SCRIPTS) for path in changed) else set[str]()
    wanted = tuple(path for path in paths if posixpath.basename(path) in names)[:_MOST] if names else ()
    return await source.texts(base, wanted, limit=_LARGEST)


def _helping(kind: _Kind, texts: Mapping[str, str], layout: Layout) -> dict[str, str]:
    files = {path: text for path, text in texts.items() if not layout.is_test(path) and kind.may_be(path, text)}
    judging = [(path, text) for path, text in texts.items() if layout.is_test(path)]
    others = {path: text for path, text in texts.items() if path not in files and not layout.is_test(path)}
    by_product = frozenset(word for path, text in others.items() for word in kind.taken_in(path, text))
    helping: dict[str, str] = {}
    while judging:
        importer, text = judging.pop()
        words = frozenset(kind.taken_in(importer, text))
        for path, own in files.items():
            if path not in helping and _judges(kind, importer, words, (path, own), by_product):
                helping[path] = importer
                judging.append((path, own))
    return helping


def _judges(
    kind: _Kind, importer: str, words: frozenset[str], helper: tuple[str, str], by_product: frozenset[str]
) -> bool:
    """What a name alone says is believed where it is neither what the importer tests nor a part of the product."""
    path, text = helper
    if kind.is_plain(text):
        return any(kind.is_meant(path, word) for word in words)
    if _stem(importer).startswith(_stem(path)) or any(kind.is_meant(path, word) for word in _far(by_product)):
        return False
    return any(kind.is_meant(path, word) for word in _far(words))


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    stem = name.partition(".")[0]
    return posixpath.basename(folder) if stem == "index" else stem.lower()


def _far(words: frozenset[str]) -> Iterator[str]:
    return (word for word in words if not word.endswith("/."))


def scripts_taken_in(known: KnownPackages, path: str, text: str) -> Iterator[str]:
    """From where the file lies; others by what is written, and by what manifests say of it."""
    for word in _TAKEN_IN.findall(text):
        if word.startswith("."):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), word))
        else:
            yield _ALIAS.sub("*/", word)
            yield from known.meant_by(word, path)


def is_script(path: str, word: str) -> bool:
    bare, wanted = (re.sub(r"(?:/index)?\.[cm]?[jt]sx?$", "", each) for each in (path, word))
    return bare.endswith(wanted[1:]) if wanted.startswith("*/") else wanted in (bare, path)


def _may_be_script(path: str, text: str) -> bool:
    bare = re.sub(r"\.[cm]?[jt]sx?$", "", path)
    return any(_NAMED.fullmatch(part) for part in bare.split("/")) or _takes_in_runner(text)


def _takes_in_runner(text: str) -> bool:
    return any(_RUNNER.fullmatch(word) for word in _TAKEN_IN.findall(text))


def _go_taken_in(path: str, text: str) -> Iterator[str]:
    """Packages, and with `/.` the folder itself: all files of a package see each other."""
    yield f"{posixpath.dirname(path)}/."
    for block, single in _GO_IMPORTS.findall(text):
        yield from re.findall(r'"([^"\n]+)"', block or single)


def _is_package(manifests: Mapping[str, str], path: str, word: str) -> bool:
    folder = posixpath.dirname(path)
    return word == f"{folder}/." or (bool(folder) and word.endswith(f"/{folder}")) or word == _named(folder, manifests)


def _named(folder: str, manifests: Mapping[str, str]) -> str:
    """The name that the module around it gives to a package of Go."""
    below, above = list[str](), folder
    while (manifest := posixpath.join(above, "go.mod")) not in manifests and above:
        above, name = posixpath.split(above)
        below.insert(0, name)
    found = re.search(r"^module\s+(\S+)", manifests.get(manifest, ""), re.MULTILINE)
    return "/".join((found[1].strip('"'), *below)) if found else ""


def _imports_testing(text: str) -> bool:
    """What takes a test by the hand; a product may ask whether it is tested."""
    is_imported = any('"testing"' in (block or single) for block, single in _GO_IMPORTS.findall(text))
    return is_imported and re.search(r"\btesting\.(?:TB?|B|M|F)\b", text) is not None


def _may_be_go(path: str, text: str) -> bool:
    return any(_GO_FOLDER.fullmatch(part) for part in path.split("/")[:-1]) or _imports_testing(text)


def _included(_: str, text: str) -> Iterator[str]:
    yield from (re.sub(r"^(?:\.{1,2}/)+", "", word) for word in _INCLUDED.findall(text))


def _kinds(manifests: Mapping[str, str]) -> tuple[_Kind, ...]:
    return (
        _Kind(
            suffixes=_SCRIPTS,
            may_be=_may_be_script,
            is_plain=_takes_in_runner,
            taken_in=partial(scripts_taken_in, KnownPackages.of(manifests)),
            is_meant=is_script,
        ),
        _Kind(
            suffixes=(".go",),
            may_be=_may_be_go,
            is_plain=_imports_testing,
            taken_in=_go_taken_in,
            is_meant=partial(_is_package, manifests),
        ),
        _Kind(
            suffixes=_IN_C,
            # A library may be one header that nothing but its tests includes: what judges has macros for it.
            may_be=lambda path, text: path.endswith(_HEADERS) and _JUDGING_HEADER.search(text) is not None,
            is_plain=lambda _: False,
            taken_in=_included,
            is_meant=lambda path, word: path == word or path.endswith(f"/{word}"),
        ),
    )


def _parents(path: str) -> Iterator[tuple[str, str]]:
    """Files that may say what module this one is, or the one above it, with the name it would have there."""
    folder, name = posixpath.split(path.removesuffix(".rs"))
    while folder:
        if name != "mod":
            for parent in ("mod.rs", "lib.rs", "main.rs"):
                yield posixpath.join(folder, parent), name
            yield f"{folder}.rs", name
        folder, name = posixpath.split(folder)


def _declared(path: str, texts: Mapping[str, str]) -> str:
    """The file that says it is there for tests alone: as a module, or as the target of a crate."""
    for parent, name in _parents(path):
        if parent != path and re.search(_OF_RUST + _MODULE.format(name=re.escape(name)), texts.get(parent, "")):
            return parent
    for manifest, text in texts.items():
        folder = posixpath.dirname(manifest)
        if manifest.endswith("Cargo.toml") and path in (
            posixpath.normpath(posixpath.join(folder, each)) for each in _targets(text)
        ):
            return manifest
    return ""


def _targets(manifest: str) -> Iterator[str]:
    try:
        tests = tomllib.loads(manifest).get("test", [])
    except (ValueError, RecursionError):
        return
    for each in tests if isinstance(tests, list) else ():
        if isinstance(each, dict) and isinstance(each.get("path"), str):
            yield each["path"]
