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

    def _aims(self, layout: Layout) -> Iterator[tuple[str, str]]:
        for link in self.targets:
            way = led(link, self.targets) if _is_of_tests(link, layout) else None
            if way and way.aim and not link.startswith(f"{way.aim}/") and not layout.is_test(way.aim):
                yield link, way.aim

    def tests(self, layout: Layout, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Patterns of what links lead to that are tests by their own names.

        A source that keeps its name is the product, linked to be found beside its tests.
        """
        found = dict[str, None]()
        for link, aim in self._aims(layout):
            way = led(link, self.targets)
            found.update(dict.fromkeys(each for each in (way.through if way else ()) if not layout.is_test(each)))
            if _is_file_of_tests(link, aim) if aim in paths else _is_wholly(link, aim, paths):
                found[aim if aim in paths else f"{aim}/**"] = None
        return tuple(re.sub(r"[?{\[]|\*(?!\*?$)", "?", pattern) for pattern in found)

    def judges(self) -> dict[str, str]:
        """Files that judge by the names that links give them; folders of people's tools are linked to plain ones."""
        return {file: name for name, file in self.names.items() if _judges(name, file, is_link=name in self.targets)}


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


def _is_file_of_tests(link: str, aim: str) -> bool:
    is_same = posixpath.basename(link) == posixpath.basename(aim) and judge_by_name(link) is None
    return collected_by_name(link) or not (is_text(aim) or (is_same and language(aim)))


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
