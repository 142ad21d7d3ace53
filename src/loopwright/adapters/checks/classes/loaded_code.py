"""Code in folders that are named like texts or examples, and that tests or the product load: it is product."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.canary.breaking import language
from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.kernel.judges import is_example, is_text, judge_by_name
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
# A line break in front is found four times as fast as the beginning of a line.
_FROM = re.compile(r"\n[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)")
_IMPORT = re.compile(r"\n[ \t]*import[ \t]+([\w., \t]+)")
_IMPORTING = ("import_module", "run_module", "__import__", "importorskip")
_BY_NAME = re.compile(rf"""\b(?:{"|".join(_IMPORTING)})\(\s*["']?([\w.]+)""")
_AS_PROGRAM = re.compile(r"""-m["',\s]+["']?([\w.]+)""")
_DOTTED = re.compile(r"""["'](\w+(?:\.\w+)+)""")
_ASKED = re.compile(
    r"""(?:\b(?:from|import|require|require_once|require_relative|include|load|source)\b[\s(]*|^\s*)["'<`]([^"'>`\n]+)""",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_JOINED = re.compile(r"""["']\s*[/,]\s*["']""")
_LEFT_AWAY = (".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", ".mts", ".cts", ".rb", ".php")  # by those who import it
_FOR_PEOPLE = re.compile(r"\.(?:md|mdx|rst|adoc|ipynb)$")
_SETTINGS = ("conf.py", "mkdocs.yml", "docusaurus.config.js", "docusaurus.config.ts")  # of what makes pages of texts


@dataclass(frozen=True, slots=True)
class Loader:
    """A file, and whether it is a test: one of these may start what it names in any string."""

    path: str
    text: str = field(repr=False)
    is_test: bool = False

    def modules(self) -> Iterator[str]:
        lines = f"\n{self.text}"
        for dots, module, rest in _FROM.findall(lines):
            above = self.path.split("/")[: -len(dots)] if dots else []
            whole = ".".join((*above, module) if module else above)
            yield whole
            yield from (f"{whole}.{name}" for name in re.findall(r"\w+", rest))
        for names in _IMPORT.findall(lines):
            yield from (name.split()[0] for name in names.split(",") if name.strip())
        if any(word in self.text for word in _IMPORTING):  # a text that has none of them is searched much faster
            yield from _BY_NAME.findall(self.text)
        yield from _AS_PROGRAM.findall(self.text)
        for name in _DOTTED.findall(self.text) if self.is_test else ():
            parts = name.split(".")  # what is patched is a name in a module
            yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))

    def words(self) -> Iterator[str]:
        """Paths, from the file itself and from the top."""
        found = _ASKED.findall(self.text) if language(self.path) != "python" else []
        if self.is_test:
            found += _QUOTED.findall(self.text) + _QUOTED.findall(_JOINED.sub("/", self.text))
        folder = posixpath.dirname(self.path)
        for piece in (piece for word in found for piece in word.split() if "/" in piece):
            yield posixpath.normpath(posixpath.join(folder, piece))
            parts = posixpath.normpath(piece).lstrip("./").split("/")
            yield from ("/".join(parts[at:]) for at in (range(len(parts)) if self.path.endswith(".go") else (0,)))


@dataclass(frozen=True, slots=True)
class Aside:
    """Code that nothing but its folder's name makes a text or an example, by what may stand for it elsewhere."""

    modules: Mapping[str, frozenset[tuple[str, str]]]  # with the folder that an import would start from
    words: Mapping[str, frozenset[str]]

    @staticmethod
    def of(paths: Iterable[str]) -> Aside:
        modules, words = defaultdict[str, set[tuple[str, str]]](set), defaultdict[str, set[str]](set)
        for path in paths:
            for folder, name in _names(path):
                modules[name].add((folder, path))
            for word in _as_written(path):
                words[word].add(path)
        return Aside(
            {name: frozenset(held) for name, held in modules.items()},
            {word: frozenset(held) for word, held in words.items()},
        )

    def loaded_by(self, loader: Loader, settings: str = "") -> frozenset[str]:
        """`settings` may say that imports start from one of the folders, as the file itself may."""
        found = {path for word in loader.words() for path in self.words.get(word, ())}
        names = loader.modules() if language(loader.path) == "python" else ()
        for folder, path in {pair for name in names for pair in self.modules.get(name, ())}:
            start = rf"""["'/\s=:]{re.escape(folder)}/?["'\s:,\]]"""
            if not folder or re.search(start, loader.text) or re.search(start, settings):
                found.add(path)
        return frozenset(found)


def _names(path: str) -> Iterator[tuple[str, str]]:
    """From the top, or from a folder of its own that is put on the path."""
    if path.endswith(".py"):
        parts = path.removesuffix(".py").removesuffix("/__init__").removesuffix("/__main__").split("/")
        for start in range(len(parts)):
            if parts[start] not in sys.stdlib_module_names:
                yield "/".join(parts[:start]), ".".join(parts[start:])


def _as_written(path: str) -> Iterator[str]:
    bare, suffix = posixpath.splitext(path)
    yield path
    if suffix in _LEFT_AWAY:
        yield bare
    if posixpath.basename(bare) == "index" or suffix == ".go":
        yield posixpath.dirname(path)


def is_aside(path: str, layout: Layout) -> bool:
    is_named = bool(language(path)) and (is_text(path) or is_example(path)) and judge_by_name(path) is None
    return is_named and not layout.is_product(path) and not layout.is_test(path)


def loaded_among(texts: Mapping[str, str], layout: Layout) -> dict[str, str]:
    aside = frozenset(path for path in texts if is_aside(path, layout))
    known = Aside.of(aside)
    loaders = (Loader(path, text, layout.is_test(path)) for path, text in texts.items() if path not in aside)
    return {path: each.path for each in loaders for path in known.loaded_by(each)} if aside else {}


async def with_loaded(
    source: TreeReader, base: Commit, layout: Layout, paths: tuple[str, ...], settings: Iterable[str]
) -> Layout:
    """The layout, with what is loaded as product. Nothing is read where no code lies in such a folder."""
    aside = [path for path in paths if is_aside(path, layout)][:_MOST]
    if not aside:
        return layout
    code = [path for path in paths if language(path)]
    tests = [path for path in code if layout.is_test(path) or posixpath.basename(path) == "conftest.py"][:_MOST]
    product = [path for path in code if layout.is_product(path)][:_MOST]
    texts = await source.texts(base, tuple(dict.fromkeys((*tests, *product, *aside))), limit=_LARGEST)
    judging, known, found = frozenset(tests), Aside.of(aside), set[str]()
    said = "\n".join((*settings, *(texts.get(path, "") for path in tests if path.endswith("conftest.py"))))
    waiting = [path for path in texts if path not in set(aside)]
    while waiting:
        path = waiting.pop()
        new = known.loaded_by(Loader(path, texts.get(path, ""), path in judging), said) - found
        found |= new
        waiting += sorted(new)
    patterns = sorted({_pattern(path, paths) for path in found})
    return replace(layout, product=(*layout.product, *patterns)) if patterns else layout


def _pattern(path: str, paths: tuple[str, ...]) -> str:
    """Its whole folder or package, which the next change adds to; the file alone among texts for people."""
    tracked, folder = frozenset(paths), posixpath.dirname(path)
    while f"{posixpath.dirname(folder)}/__init__.py" in tracked:
        folder = posixpath.dirname(folder)
    held = [each for each in paths if each.startswith(f"{folder}/")]
    texts = sum(_FOR_PEOPLE.search(each) is not None for each in held)
    if 2 * texts > len(held) or any(posixpath.basename(each) in _SETTINGS for each in held):
        return re.sub(r"[*?{\[]", "?", path)
    return f"{folder}/**"
