"""Links: where they lead in a tree, one step after the other, and what of the base they make tests and judges."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.canary.breaking import language
from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import FOLDERS, Layout, collected_by_name
from loopwright.kernel.judges import Judge, is_text, judge_by_name
from loopwright.kernel.model import Commit

LINK = "120000"
_MOST = 2000  # names that links give to files
_SHARED = ("src", "lib")  # what lies in them beside sources is no part of one package
_TAKES_IN = re.compile(
    r"""^\s*from[ \t]+[\w.]+[ \t]+import\b[^\n]* | ^\s*import[ \t]+[\w.,* \t]+
      | (?:\brequire(?:_relative)?|\bfrom|\bimport|\bmock)\s*\(?\s*["'`][^"'`\n]+["'`]
      | ^\s*\#\s*include[^\n]* | ^\s*(?:use|mod|source)\s+[^\n]*
    """,
    re.VERBOSE | re.MULTILINE,
)
_OF_A_TEST = re.compile(r"^(?:tests?|spec)[._-]|[._-](?:tests?|spec)$|tests?$", re.IGNORECASE)
_OF_NOBODY = frozenset({"src", "lib", "index", "__init__", "main", "mod"})


@dataclass(frozen=True, slots=True)
class Led:
    aim: str  # empty: the repository itself
    through: tuple[str, ...]  # links on the way


def led(path: str, links: Mapping[str, str]) -> Led | None:
    """Where a path is found; None where it leaves the repository, or goes round."""
    waiting, at, through = path.split("/")[::-1], list[str](), list[str]()
    while waiting:
        part = waiting.pop()
        here = "/".join((*at, part))
        if part == ".." and not at:
            return None
        if part == "..":
            at.pop()
        elif here in links:
            if here in through or links[here].startswith("/"):
                return None
            through.append(here)
            waiting += links[here].split("/")[::-1]
        elif part not in ("", "."):
            at.append(part)
    return Led("/".join(at), tuple(through))


def crooked(path: str, target: str, links: Collection[str]) -> str:
    """Why a new link may lead elsewhere than its words say: what lies on the way may be another link."""
    words = [word for word in target.split("/") if word not in ("", ".")]
    down = next((place for place, word in enumerate(words) if word != ".."), len(words))
    if ".." in words[down:]:
        return "is a link that goes down and up again"
    aim = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)).split("/")
    way = ("/".join(aim[:depth]) for depth in range(1, len(aim) + 1))
    through = next((each for each in way if each in links and each != path), "")
    return f"is a link that goes through another: {through}" if through else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Of the base: `targets` by the path of the link, and the other names that files have by them."""

    targets: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)  # the file by each of them

    @classmethod
    def of(cls, targets: Mapping[str, str], paths: tuple[str, ...]) -> Links:
        return cls(targets=targets, names=dict(_names(targets, paths)) if targets else {})

    def names_of(self, paths: Collection[str]) -> Mapping[str, str]:
        return {name: path for name, path in self.names.items() if path in paths}

    async def texts(self, source: TreeReader, base: Commit, paths: tuple[str, ...], *, limit: int) -> Mapping[str, str]:
        """What is read at these paths, which may be names."""
        wanted = {path: self.names.get(path, path) for path in paths}
        held = await source.texts(base, tuple(dict.fromkeys(wanted.values())), limit=limit)
        return {path: held[file] for path, file in wanted.items() if file in held}

    def doubtful(self, layout: Layout, paths: tuple[str, ...]) -> frozenset[str]:
        """Sources that links of tests lead to: the product, to be found beside its tests, or what these judge with."""
        return frozenset(aim for link, aim in self._aims(layout) if _is_doubtful(link, aim, paths))

    def _aims(self, layout: Layout) -> Iterator[tuple[str, str]]:
        for link in self.targets:
            way = led(link, self.targets) if _is_of_tests(link, layout) else None
            if way and way.aim and not link.startswith(f"{way.aim}/") and not layout.is_test(way.aim):
                yield link, way.aim

    def tests(self, layout: Layout, paths: tuple[str, ...], texts: Mapping[str, str]) -> tuple[str, ...]:
        """Patterns of what links lead to that are tests by their own names; `texts` of sources if one is in doubt."""
        found, in_doubt = dict[str, None](), self.doubtful(layout, paths)
        takers = Takers.of(layout, texts, in_doubt)
        for link, aim in self._aims(layout):
            way = led(link, self.targets)
            found.update(dict.fromkeys(each for each in (way.through if way else ()) if not layout.is_test(each)))
            if aim in in_doubt:
                is_test = not takers.have_as_subject(link, aim)
            else:
                is_test = not is_text(aim) or collected_by_name(link) if aim in paths else _is_wholly(link, aim, paths)
            if is_test:
                found[aim if aim in paths else f"{aim}/**"] = None
        return tuple(re.sub(r"[?{\[]|\*(?!\*?$)", "?", pattern) for pattern in found)

    def judges(self) -> dict[str, str]:
        """Files that judge by the names that links give them; folders of people's tools are linked to plain ones."""
        return {file: name for name, file in self.names.items() if _judges(name, file, is_link=name in self.targets)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Takers:
    """Who takes in what, by names: the tests and the product, each by its path, and what of it is linked nowhere."""

    tests: Mapping[str, frozenset[str]]
    product: Mapping[str, frozenset[str]]
    others: frozenset[str]

    @staticmethod
    def of(layout: Layout, texts: Mapping[str, str], aims: Collection[str]) -> Takers:
        words = {path: frozenset(_names_taken_in(text)) for path, text in texts.items()}
        product = {path: held for path, held in words.items() if not layout.is_test(path)}
        other = (path for path in product if not any(f"{path}/".startswith(f"{aim}/") for aim in aims))
        return Takers(
            tests={path: held for path, held in words.items() if layout.is_test(path)},
            product=product,
            others=frozenset(part for path in other for part in _module(path)) - _OF_NOBODY,
        )

    def have_as_subject(self, link: str, aim: str) -> bool:
        """Whether it is what is tested: a test is named for it, the product takes it in itself, or whoever takes it in
        takes in nothing else that could be. What is left is what the rest is judged with, whatever stands in it."""
        names = {posixpath.basename(each).partition(".")[0] for each in (link, aim)}
        if not {name.lower() for name in names}.isdisjoint(map(_named_for, self.tests)):
            return True
        if any(names & held for path, held in self.product.items() if not f"{path}/".startswith(f"{aim}/")):
            return True
        return not any(names & held and (self.others - names) & held for held in self.tests.values())


async def links_of(source: TreeReader, base: Commit, paths: tuple[str, ...]) -> Links:
    return Links.of(await source.links(base), paths)


def _names(targets: Mapping[str, str], paths: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Not below a link to what it lies in itself: there would be no end."""
    files, left = frozenset(paths), _MOST
    for link in sorted(targets):
        way = led(link, targets)
        if way is None or not way.aim or link.startswith(f"{way.aim}/"):
            continue
        if way.aim in files:
            yield link, way.aim
            continue
        below = [path for path in paths if path.startswith(f"{way.aim}/") and path not in targets][:left]
        yield from ((link + path[len(way.aim) :], path) for path in below)
        left -= len(below)


def _is_of_tests(link: str, layout: Layout) -> bool:
    named = posixpath.basename(link).lower() in FOLDERS or collected_by_name(link)
    return named or layout.is_test(link) or layout.is_test(f"{link}/x")


def _is_doubtful(link: str, aim: str, paths: tuple[str, ...]) -> bool:
    is_same = posixpath.basename(link) == posixpath.basename(aim)
    if aim in paths:
        return is_same and bool(language(aim)) and not collected_by_name(link) and judge_by_name(link) is None
    if is_text(f"{aim}/x") or _is_wholly(link, aim, paths):
        return False
    return any(language(path) for path in paths if path.startswith(f"{aim}/"))


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _named_for(test: str) -> str:
    """What a test says by its name that it tests; empty where it says nothing."""
    subject, said = _OF_A_TEST.subn("", _stem(test))
    return subject.lower() if said else ""


def _module(path: str) -> Iterator[str]:
    yield from (*path.split("/")[:-1], _stem(path))


def _names_taken_in(text: str) -> Iterator[str]:
    for found in _TAKES_IN.finditer(text):
        yield from re.findall(r"\w[\w-]*", found[0])


def _is_wholly(link: str, folder: str, paths: tuple[str, ...]) -> bool:
    """A folder of tests, of data, or within a package; not the product, which tests have beside them to be found."""
    if is_text(f"{folder}/x"):
        return False
    below = [path for path in paths if path.startswith(f"{folder}/")]
    if posixpath.basename(link).lower() in FOLDERS or (below and not any(map(language, below))):
        return True
    above = posixpath.dirname(folder)
    has_sources = any(language(path) for path in paths if posixpath.dirname(path) == above)
    return above not in ("", *_SHARED) and has_sources and posixpath.basename(link) != posixpath.basename(folder)


def _judges(name: str, file: str, *, is_link: bool) -> bool:
    judge = judge_by_name(name)
    if judge is None or judge_by_name(file) is judge:
        return False
    return judge not in (Judge.HIDDEN, Judge.OPENED) or (is_link and not is_text(file))
