"""Data outside of tests that tests of the base compare with: it decides what is expected, wherever it lies."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.canary.breaking import language
from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.links import Links
from loopwright.adapters.checks.classes.listed_by_tests import (
    FILLED_IN,
    LISTING,
    LITERAL,
    in_folder_gone_to,
    is_beside_module,
    lines_meant,
    lists,
    lists_top,
    told_by_callers,
)
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_example, is_source, is_text
from loopwright.kernel.model import Change, Commit

_LARGEST, _MOST_READ, _MOST_DATA = 512 * 1024, 3000, 500  # bytes of a file, and files, that are looked into
_EXECUTABLE = "100755"
_SHORTEST = 3  # characters of a name that says which file is meant
_DATA = re.compile(
    r"""\.(?:txt|json[l5]?|ndjson|ya?ml|[ct]sv|xml|out|output|in|input|err|stdout|stderr|expect(?:ed)?|exp|golden|gold
        |approved|ref|snap|diff|patch|log|toml|ini|dat|bin|md|rst)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Folders and names of what a result is compared with.
_KEPT = re.compile(
    r"(?:^|/)(?:goldens?|expected|snapshots?|approved)/|[._-](?:golden|expected|approved)\.\w+$", re.IGNORECASE
)
_WANTED = re.compile(rf"{_KEPT.pattern}|(?:^|/)(?:expected|want)\.\w+$", re.IGNORECASE)
# Written like code, and no program: read as data as well as taken for a page, a query or a style.
_MARKUP = re.compile(
    r"\.(?:sql|proto|thrift|graphql|gql|css|scss|sass|less|x?html?|j2|jinja2?|mako|twig|erb|haml|tmpl|hbs|ejs|pug)$",
    re.IGNORECASE,
)
_OTHER_CODE = re.compile(
    r"\.(?:vim|nix|tf|hcl|rego|qml|gd|cmake|mk|bzl|star|glsl|hlsl|wgsl|frag|vert|metal|cls|pony|raku|cob|cbl)$",
    re.IGNORECASE,
)
_AS_A_PAGE = re.compile(
    r"""render|template|url|href|redirect|route|response|\bsrc\s*=|\bimport\b|\brequire\b|Snapshot
      | \b(?:get|post|put|delete|head|goto|visit|navigate|mount|fetch)\s*\(
    """,
    re.VERBOSE | re.IGNORECASE,
)
_READS = re.compile(r"\bopen\s*\(|\bread|ReadFile|\binclude_|\bload", re.IGNORECASE)
_MADE = re.compile(r"\b(?:tmp|temp|out_?dir|output|site_?dir|build_?dir|dist)\w*\b", re.IGNORECASE)
_PROSE = (".md", ".rst")
_INCLUDED = re.compile(r"""include_(?:str|bytes)!\s*\((?:[^";]|"\w+"){0,120}?"([^"\n]+\.\w+)\"""")
_DOCUMENTED = re.compile(
    r"""\#!?\[\s*(?:cfg_attr\s*\([^"\]]*?)?doc\s*=\s*include_str!\s*\((?:[^";]|"\w+"){0,120}?"([^"\n]+\.\w+)\""""
)
_TESTS_BEGIN = re.compile(r"#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+::)*test\b)")
_FENCED = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n.*?^[ \t]*\1|^(?: {4}|\t)[^\n]+|^>>>[^\n]*(?:\n[^\s][^\n]*)*", re.MULTILINE | re.DOTALL
)
_RELATIVE = re.compile(r"""["'`](\.{1,2}/[^"'`\n]+)["'`]""")
_WORD = re.compile(r"[\w.@+-]*/[\w./@+-]*\w")
_BEGINS = re.compile(r"""startswith\(\(?\s*["'](\w+)["']""")
_MAY_BE_THERE = re.compile(r"\bif\b|\?|\|\||\bor\b")
_IS_THERE = re.compile(r"\b(?:exists|is_file|isfile|existsSync|os\.Stat|lexists)\b")
# A test that goes through texts may run what they show, or only look whether their links lead somewhere.
_RUNS = re.compile(
    r"""\b(?:exec|eval|compile|system|popen|check_output|testfile|find_examples|check_md_file|new\s+Function)\s*\(
      | \b(?:subprocess|doctest|runpy|sybil|mktestdocs|CliRunner|child_process|exec\.Command|code-?blocks?)\b
      | ``` | ~~~
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """`read` names for each file of data a file of the base that reads it in a test; of `shown` texts, tests run what
    they show. `texts` are those that a test may compare with: it lists their folder or fills in their names. `fresh` is
    data of the candidate's that tests of the base would read beside theirs."""

    read: Mapping[str, str] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    fresh: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationSearch:
    """In the base, and only where data changed: most changes are of code."""

    source: TreeReader
    base: Commit
    layout: Layout
    links: Links

    async def found(
        self, changes: tuple[Change, ...], before: Mapping[str, str], after: Mapping[str, str]
    ) -> Expectations:
        new = [c.path for c in changes if c.how == "added" and self._may_be(c.path, c.mode, after)]
        old = [c.path for c in changes if c.how != "added" and self._may_be(c.path, c.old_mode, before)]
        if not old and not new:
            return Expectations()
        paths = await self.source.paths(self.base)
        judging = (path for path in paths if self.layout.is_test(path) or posixpath.basename(path) == "conftest.py")
        tests = await self._texts(path for path in judging if is_source(path))
        rust = await self._texts(p for p in paths if p.endswith(".rs") and not self.layout.is_test(p)) if old else {}
        names = self.links.names_of(old)
        known = expectations((*old, *names), tests, rust)
        read = await self._listed_in_data(old, tests, paths) if old else {}
        read |= {names.get(path, path): test for path, test in known.read.items()}
        shown = frozenset(names.get(path, path) for path in known.shown)
        # Where no product changed, no test can be made to pass by a text that it compares with.
        texts = known.texts if any(self.layout.is_product(change.path) for change in changes) else frozenset[str]()
        fresh = await self._fresh(new, tests, paths)
        return Expectations(read=read, shown=shown - read.keys(), texts=texts - read.keys(), fresh=fresh)

    def _may_be(self, path: str, mode: str, texts: Mapping[str, str]) -> bool:
        is_program = mode == _EXECUTABLE or texts.get(path, "").startswith("#!")
        return may_be_expected(path, is_program=is_program) and not self.layout.is_test(path)

    async def _texts(self, paths: Iterable[str]) -> Mapping[str, str]:
        return await self.links.texts(self.source, self.base, tuple(paths)[:_MOST_READ], limit=_LARGEST)

    async def _fresh(self, new: list[str], tests: Mapping[str, str], paths: tuple[str, ...]) -> Mapping[str, str]:
        spread = tuple(told_by_callers(tests))
        found = {path: test for test, text in tests.items() for path in _joining(tuple(new), text, spread)}
        return await self._of_tests_alone(found, tests, paths)

    async def _listed_in_data(self, old: list[str], tests: Mapping[str, str], paths: tuple[str, ...]) -> dict[str, str]:
        """What data of tests names by its path: a list of cases may say where each of them lies."""
        own = [path for path in paths if self.layout.is_test(path)]
        data = await self._texts([p for p in own if not is_source(p) and _is_list(p)][:_MOST_DATA])
        found, names = dict[str, str](), frozenset(map(posixpath.basename, old))
        for file, text in data.items():
            words = {_plain(word) for word in _WORD.findall(text) if posixpath.basename(word) in names}
            far = [word for word in words if not any(path.endswith(f"/{word}") for path in own)]
            found |= {path: file for path in old for word in far if "/" in word and _is_meant(word, path)}
        return await self._of_tests_alone(found, tests, paths)

    async def _of_tests_alone(
        self, found: dict[str, str], tests: Mapping[str, str], paths: tuple[str, ...]
    ) -> dict[str, str]:
        """What the product itself reads is its own: nothing but tests names the file or its folder."""
        if not found:
            return {}
        product = await self._texts(path for path in paths if language(path) and path not in tests)
        known = {part for text in product.values() for word in LITERAL.findall(text) for part in word.split("/")}
        return {path: test for path, test in found.items() if known.isdisjoint(path.split("/")[-2:])}


def may_be_expected(path: str, *, is_program: bool = False) -> bool:
    """Whatever is no code, and code that only shows or is what should come out; other code is what is tested."""
    if is_program or (_is_code(path) and not path.endswith(_PROSE)):
        return is_example(path) or is_text(path) or _WANTED.search(path) is not None
    return bool(posixpath.splitext(path)[1]) or not is_text(path)


def is_run_by_tests(path: str) -> bool:
    """Return whether a test that names this file runs it: code that shows something, not what should come out."""
    return bool(language(path)) and (is_example(path) or is_text(path)) and _WANTED.search(path) is None


def _is_list(path: str) -> bool:
    return _DATA.search(path) is not None or not posixpath.splitext(path)[1]


def _is_code(path: str) -> bool:
    is_source_code = is_source(path) and _MARKUP.search(path) is None
    return bool(language(path)) or is_source_code or _OTHER_CODE.search(path) is not None


def expectations(changed: Iterable[str], tests: Mapping[str, str], sources: Mapping[str, str]) -> Expectations:
    """`changed` files of the base, by what its `tests` and its `sources` of Rust say."""
    paths = tuple(changed)
    spread = tuple(told_by_callers(tests)) if paths else ()
    read = {path: test for test, text in tests.items() for path in _named(paths, test, text, spread)}
    shown = {path for text in tests.values() if _RUNS.search(text) for path in _listed_texts(paths, text)}
    for source, text in sources.items():
        begin = _TESTS_BEGIN.search(text)
        inside = _INCLUDED.findall(text, begin.start()) if begin else []
        read |= {path: source for word in inside for path in paths if _is_included(word, source, path)}
        documented = _DOCUMENTED.findall(text)
        shown |= {path for word in documented for path in paths if _is_included(word, source, path)}
    prose = tuple(path for path in paths if path.endswith(_PROSE))
    texts = {path for text in tests.values() for path in _reached(prose, text, spread)} if prose else set[str]()
    return Expectations(read=read, shown=frozenset(shown - read.keys()), texts=frozenset(texts))


def _reached(prose: tuple[str, ...], text: str, spread: tuple[str, ...]) -> Iterator[str]:
    literals = frozenset(map(_plain, LITERAL.findall(text)))
    listing = (*_listing(text), *spread)
    for path in prose:
        top = "/" not in path and any(lists_top(posixpath.splitext(path)[1], line) for line in listing)
        if top or _by_pattern(path, literals, listing) or _in_pieces(path, literals, text):
            yield path


def _named(paths: tuple[str, ...], test: str, text: str, spread: tuple[str, ...]) -> Iterator[str]:
    if not paths:
        return
    said = LITERAL.findall(text)
    literals, filled = frozenset(map(_plain, said)), frozenset(_patterns(said))
    listing = (*(_listing(text) if LISTING.search(text) or filled else ()), *spread)
    relative = {posixpath.normpath(posixpath.join(posixpath.dirname(test), word)) for word in _RELATIVE.findall(text)}
    for path in paths:
        name = posixpath.basename(path)
        is_named = any(word.endswith(name) and _is_meant(word, path) for word in literals)
        if (
            (is_named and _is_read(path, text))
            or (len(name) < _SHORTEST and _is_put_together(path, text))
            or (not path.endswith(_PROSE) and _by_pattern(path, literals, listing))
            or (not (is_text(path) or _is_code(path) or _MARKUP.search(path)) and _in_pieces(path, literals, text))
            or is_beside_module(path, text)
            or any(matches(path, word) or matches(path, f"**/{word}") for word in filled if "/" in word)
            or (_is_completed(path, relative) and (path.endswith(".json") or _WANTED.search(path)))
            or ("def pytest_collect_file" in text and _is_collected(name, frozenset(said), text))
        ):
            yield path


def _is_completed(path: str, relative: set[str]) -> bool:
    """A module is named without its suffix, and may be the folder."""
    bare = posixpath.splitext(path)[0]
    return bare in relative or bare.removesuffix("/index") in relative


def _is_put_together(path: str, text: str) -> bool:
    """A name that is too short to say anything by itself: it stands where its folder does, and is read there."""
    folder, name = posixpath.split(path)
    whole = re.compile(rf"""(?<!\w){re.escape(posixpath.basename(folder))}["'`]?\W*{re.escape(name)}["'`]""")
    return bool(folder) and any(whole.search(line) and _READS.search(line) for line in lines_meant(text))


def _is_read(path: str, text: str) -> bool:
    """And not only asked for, or shown as a page. Names of pages are common: their folder has to stand there, too."""
    folder, name = posixpath.split(path)
    lines = [line for line in text.splitlines() if name in line]
    if path.endswith(_PROSE):
        return not all(_IS_THERE.search(line) for line in lines)
    suffix = posixpath.splitext(name)[1]
    if _DATA.search(path) or _KEPT.search(path) or (suffix and not is_text(path) and not _MARKUP.search(path)):
        return True
    if (is_example(path) or is_text(path)) and is_source(path):
        return True
    above = re.compile(rf"(?<!\w){re.escape(posixpath.basename(folder))}(?!\w)" if folder else "")
    meant = (line for line in lines_meant(text, lambda line: name in line) if not _is_about_a_page(line))
    return above.search(text) is not None and any(above.search(line) or _READS.search(line) for line in meant)


def _is_about_a_page(line: str) -> bool:
    if _MADE.search(line):
        return True
    return (_AS_A_PAGE.search(line) or _IS_THERE.search(line)) is not None and _READS.search(line) is None


def _joining(paths: tuple[str, ...], text: str, spread: tuple[str, ...]) -> Iterator[str]:
    """New files in a folder that a test goes through, or under a name that it takes where it is there."""
    data = [path for path in paths if not path.endswith(_PROSE) and not is_text(path)]
    if not data:
        return
    listing = (*(_listing(text) if LISTING.search(text) else ()), *spread)
    asking = [line for line in lines_meant(text) if _IS_THERE.search(line) and _MAY_BE_THERE.search(line)]
    asked = {_plain(word) for line in asking for word in LITERAL.findall(line)}
    for path in data:
        is_listed = "/" in path and any(lists(path, line) for line in listing)
        if is_listed or any(_is_meant(word, path) for word in asked):
            yield path


def _patterns(said: list[str]) -> Iterator[str]:
    """Names in which something is filled in while the test runs; what the folder is has to stand there."""
    for word in said:
        if FILLED_IN.search(word) and posixpath.splitext(word)[1].strip("{}%"):
            pattern = re.sub(r"^(?:\.{0,2}/|\*+/)+", "", FILLED_IN.sub("*", word))
            folder, name = posixpath.split(pattern)
            is_data = _DATA.search(name) or (folder and not _is_code(name) and not _MARKUP.search(name))
            if is_data and "*" in name and (not folder or re.search(r"\w", folder)):
                yield pattern


def _is_collected(name: str, said: frozenset[str], text: str) -> bool:
    """By a set-up of the project's own, that makes tests of files of a kind."""
    if name.endswith((".py", *_PROSE)):
        return False
    begins = tuple(_BEGINS.findall(text))
    by_suffix = posixpath.splitext(name)[1] in said and (not begins or name.startswith(begins))
    return by_suffix or any("*" in word.strip("*") and matches(name, word) for word in said)


def _listed_texts(paths: tuple[str, ...], text: str) -> Iterator[str]:
    """Documents that a test goes through, one by one."""
    listing = tuple(_listing(text)) if LISTING.search(text) else ()
    for path in paths:
        suffix = posixpath.splitext(path)[1]
        if path.endswith(_PROSE) and any(
            lists(path, line) if "/" in path else lists_top(suffix, line) for line in listing
        ):
            yield path


def _plain(word: str) -> str:
    """Without what is filled in at run time, and without the way up to where it starts."""
    rest = word.rpartition("}")[2]
    return re.sub(r"^(?:\.{0,2}/)+", "", posixpath.normpath(rest) if "/../" in rest else rest)


def _is_meant(word: str, path: str) -> bool:
    """A name at the top is too common to be meant where another folder is named before it."""
    if len(word) < _SHORTEST:
        return False
    return path == word or path.endswith(f"/{word}") or ("/" in path and word.endswith(f"/{path}"))


def _by_pattern(path: str, literals: frozenset[str], listing: tuple[str, ...]) -> bool:
    """A test names the folder, and lists it wholly or by a pattern."""
    if "/" not in path:
        return False
    folders, suffix = path.split("/")[:-1], posixpath.splitext(path)[1]
    if is_text(path) or is_example(path) or _KEPT.search(path):
        inside = frozenset(part for word in literals for part in word.split("/"))
        is_any = suffix in inside or f"*{suffix}" in inside or (is_source(path) and bool(listing))
        if is_any and not inside.isdisjoint(folders):
            return True
    return any(lists(path, line) for line in listing)


def _in_pieces(path: str, literals: frozenset[str], text: str) -> bool:
    """A test puts the name together, out of the folder, a word and the suffix."""
    folder, name = posixpath.split(path)
    stem, suffix = posixpath.splitext(name)
    if not folder or suffix not in literals:
        return False
    inside = frozenset(part for word in literals for part in word.split("/"))
    return posixpath.basename(folder) in inside and re.search(rf"\b{re.escape(stem)}\b", text) is not None


def _listing(text: str) -> Iterator[str]:
    """What is said where folders are listed, with what was said of the names that stand there."""
    listing = tuple(
        lines_meant(
            text,
            lambda line: (
                bool(LISTING.search(line)) or any("/" not in word for word in _patterns(LITERAL.findall(line)))
            ),
        )
    )
    yield from (*listing, *in_folder_gone_to(text, listing))


def _is_included(word: str, source: str, path: str) -> bool:
    if word.startswith("/"):  # after the folder of the crate
        return path == word[1:] or path.endswith(word)
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), word)) == path


def examples_kept(before: str, after: str) -> bool:
    """Whether every block of code in a text of a crate is still there."""
    return Counter(each[0] for each in _FENCED.finditer(before)) <= Counter(each[0] for each in _FENCED.finditer(after))
