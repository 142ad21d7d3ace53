"""A walk from the commands of checks over the files they call: what was found so far, and how a word is resolved."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from loopwright.adapters.checks.classes.command_lines import Command, Handed, handed, joined
from loopwright.adapters.checks.classes.makefiles import read_by_shell
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source, is_text, judge_by_name

VALUE = re.compile(r"--?[\w-]+=(.+)")
CODE = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_AS_LOADED = ("", *CODE, "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/__main__.py", "/__init__.py")
HELPING = re.compile(r"test|check|harness|runner|setup|assert|expect|mock|helper|fixture|verify", re.IGNORECASE)
SCRIPTS = frozenset(
    {"scripts", "script", "tools", "tool", "ci", "hack", "dev", "build", "bin", "misc", "contrib", "etc"}
)
_RUNS_TESTS = re.compile(r"\b(?:unittest|pytest|nose2?|doctest|mocha|jest|vitest|jasmine)\b|--test\b|\btest\b['\"]")
_IMPORTED = re.compile(r"(?:^|;|\n)\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w., ]+))")
_REQUIRED = re.compile(r"""(?:require\(|import\(?|from)\s*['"](\.{1,2}/[^'"]*)['"]""")
_PUT_ON_PATH = re.compile(r"""sys\.path\.\w+\(\s*(?:\d+\s*,\s*)?['"]([\w./-]+)['"]""")
_OF_FOLDERS = ("__init__", "index")  # whoever loads anything of the package loads this
_COMPARES = re.compile(r"\b(?:diff|cmp|comm)\b")
_LOOP = re.compile(r"\bfor\s+\w+\s+in\s+([^\n;]+)")
_FOUND = re.compile(r"\bfind\s+([\w./$-]+)[^\n|;]*?-name\s+[\"']?([\w.*?-]+)")


@dataclass(slots=True)
class CallWalk:
    """A walk from the commands over the files they call; reads what a file of the base holds."""

    paths: frozenset[str]
    texts: Mapping[str, str]
    is_test: Callable[[str], bool]
    found: dict[str, str] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    included: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=lambda: {""})
    ran: dict[tuple[str, Command], None] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    alone: dict[str, str] = field(default_factory=dict)

    def enter(self, folder: str) -> None:
        """Runners look for what configures them in a folder and in those above it."""
        while folder not in self.places:
            self.places.add(folder)
            folder = posixpath.dirname(folder)

    def is_first(self, what: str) -> bool:
        """Whether nobody was there before."""
        is_new = what not in self.seen
        self.seen.add(what)
        return is_new

    def enter_with(self, words: list[str], at: str) -> None:
        """The folder a command works in, and those it is given or has a file of: a runner starts to look there."""
        self.enter(at)
        for word in words:
            value = VALUE.fullmatch(word)
            path = joined(at, (value[1] if value else word).split("::")[0])
            if path in self.paths:
                self.enter(posixpath.dirname(path))
            elif path in _folders(self.paths):
                self.enter(path)

    def resolved(self, word: str, at: str) -> str:
        path = joined(at, word) if word else ""
        return path if path in self.paths else ""

    def as_loaded(self, word: str, at: str) -> str:
        """As interpreters look for what they load: without its suffix, or as a folder."""
        return next((found for suffix in _AS_LOADED if (found := self.resolved(word.rstrip("/") + suffix, at))), "")

    def matching(self, word: str, at: str, why: str) -> tuple[str, ...]:
        """Files that a pattern names, where all of them are run; one that comes to be there would be run, too.

        A pattern without a letter is what nobody could work out. Tests are run by patterns all the time.
        """
        pattern = joined(at, re.sub(r"\[[^\]]*\]", "*", word))
        if not re.search(r"\w", pattern) or word.endswith(")"):  # which is an arm of a `case`
            return ()
        found = tuple(sorted(path for path in self.paths if matches(path, pattern)))
        if not any(map(self.is_test, (*found, pattern))):
            self.included.setdefault(pattern, why)
        return found

    def take_inputs(self, words: list[str], at: str, why: str) -> None:
        """What a program other than an interpreter is given: its own only where it is neither code nor a test."""
        for word in words:
            path = self.resolved(word.split("::")[0], at)
            if path and judge_by_name(path) is None and "." not in posixpath.basename(path):
                self.found.setdefault(path, why)

    def take_named(self, words: list[str], at: str, why: str) -> None:
        """Protect data that the command of a check names. Code it is given is what it tests, unless it runs it."""
        for each in handed(words):
            path = self.resolved(each.word, at)
            if path and not self.is_test(path) and not is_source(path) and _takes_part(path, each):
                self.found.setdefault(path, why)

    def take_module(self, module: str, at: str, why: str) -> None:
        """`-m` means the module's file, wherever the interpreter would look; also where there is none yet."""
        bare_name = module.replace(".", "/")
        for root in ("", "src/", "lib/"):
            for file in (f"{root}{bare_name}.py", f"{root}{bare_name}/__main__.py", f"{root}{bare_name}/__init__.py"):
                path = joined(at, file)
                # A package runs by its `__main__`; only a new one would stand in front of what `-m` finds now.
                is_own_package = path.endswith("__init__.py") and path in self.paths
                if not self.is_test(path) and not is_own_package:
                    self.found.setdefault(path, why)

    def take_imported(self, code: str, at: str, why: str) -> None:
        """Of code that a command gives an interpreter: what helps it to judge. The rest is what it tests.

        Where the code runs tests, what it loads before them may be there for that alone.
        """
        modules = [name.strip() for said in _IMPORTED.findall(code) for name in "".join(said).split(",")]
        names = (*_REQUIRED.findall(code), *(name.split(" ")[0].replace(".", "/") for name in modules if name))
        roots = (at, *(joined(at, folder) for folder in _PUT_ON_PATH.findall(code)))
        for name, root in itertools.product(names, dict.fromkeys(roots)):
            path = self.as_loaded(name, root)
            if not path or self.is_test(path):
                continue
            if HELPING.search(posixpath.basename(name)) or SCRIPTS.intersection(path.split("/")[:-1]):
                self.found.setdefault(path, why)
            elif _RUNS_TESTS.search(code) and posixpath.splitext(posixpath.basename(path))[0] not in _OF_FOLDERS:
                self.alone.setdefault(path, why)

    def take_cases(self, text: str, folder: str, why: str) -> None:
        """Data that a script goes through and compares with: all that lies beside what its loop names."""
        if not _COMPARES.search(text):
            return
        looped = [word for words in _LOOP.findall(text) for word in words.split() if "*" in word]
        for word in (*looped, *(f"{start}/**/{name}" for start, name in _FOUND.findall(text))):
            plain = re.sub(r"^(?:\$\{?\w+\}?/|\./|\.\./)+", "", word.strip("\"'"))
            within = posixpath.dirname(plain)
            for path in self.paths if re.search(r"\w", within) else ():
                if not is_source(path) and judge_by_name(path) is None and not path.endswith((".md", ".rst")):
                    places = (f"{within}/*", posixpath.normpath(posixpath.join(folder, within, "*")))
                    if any(matches(path, place) for place in places):
                        self.found.setdefault(path, why)

    def take_expected(self, words: Iterable[str], folder: str, why: str) -> None:
        """Data that a script of the checks names: what it compares with."""
        for word in words:
            path = self.resolved(word, folder) or self.resolved(word, "")
            if path and re.search(
                r"\.(?:txt|json|ya?ml|csv|tsv|xml|out|expected|golden|exp|ref|diff|log|html|toml)$", path
            ):
                self.found.setdefault(path, why)

    def take_values(self, text: str, at: str, why: str) -> None:
        """Not code: a version that stands in the product's own source is read from there all the time."""
        for word in (joined(at, each) for each in read_by_shell(text)):
            found = [path for path in self.paths if path == word or matches(path, word)]
            self.found.update({path: why for path in found if path not in self.found and not is_source(path)})
            if not any(map(is_source, found)) and re.search(r"[*?]", word):
                self.included.setdefault(word, why)


@lru_cache(maxsize=4)  # the base of a loop is asked again for every candidate
def _folders(paths: frozenset[str]) -> frozenset[str]:
    found = set[str]()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(found)


def _takes_part(path: str, each: Handed) -> bool:
    """Return whether the data takes part in the run; a text may hold examples that are tests."""
    return each.is_own or each.is_value or not is_text(path)
