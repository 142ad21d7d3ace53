"""What runners collect by themselves or by configuration: texts with examples, patterns of names, set-up files.

A runner may be told to take `checks/*.js`, `check_*.py` or whatever lies below `qa`. By their names such files would be
product, and whoever changes the product could change what judges it: see `Configured`.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from loopwright.adapters.checks.classes.called_files import Called
from loopwright.adapters.checks.classes.command_lines import Command, joined
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.made_for_tests import MadeForTests, made
from loopwright.adapters.checks.classes.steering_files import configures_tests
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, is_source, judge_by_name

# A runner that imports whatever has the name of a test, by a pattern without an underscore.
_DISCOVERING = re.compile(
    r"""-m["',\s]+(?:unittest|nose2?)\b | \bnose2\b | (?:manage\.py|django-admin|-m\s+django)["',\s]+test\b""",
    re.VERBOSE,
)
_WITH_VALUE = ("-s", "--start-directory", "-p", "--pattern", "-t", "--top-level-directory", "-k")
_USUAL_NAMES = "test*.py"
_COLLECTED_TEXTS = ("test*.txt",)  # pytest takes the examples of these for tests, without being told
_RUNNERS = re.compile(
    r"--test\b|\b(?:mocha|jest|vitest|ava|tape|tap|jasmine|qunit|uvu|bats|prove|phpunit|rspec|pytest|py\.test|borp)\b"
)
_PATTERN = re.compile(r"""[\w@.{}/,*?-]*\*[\w@.{}/,*?-]*""")
_GIVEN = re.compile(
    r"""["']?\b(testMatch|specs?|include|files|testRegex|roots|testpaths|python_files)["']?\s*[:=]\s*
        (\[[^\]]*\]|\S.*(?:\n[ \t]+(?![\w"']+\s*[:=])[-\w@.{}/<>*?'" ]+$)*)""",
    re.VERBOSE | re.MULTILINE,
)
_NAMING = ("python_files", "testMatch", "spec", "include")  # of these, keys that choose files by their names
_LOADING = re.compile(
    r"""["']?(?:setup\w*|globalSetup|globalTeardown|require|file|import|bootstrap|testEnvironment|transform|resolver
          |testRunner|runner|reporters?|snapshotSerializers|snapshotResolver|testSequencer|testResultsProcessor)["']?
        \s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|["'][^"']+["']|\S+)""",
    re.VERBOSE,
)
_TOLD = re.compile(r"\[(?:tool:)?(?:pytest|nosetests|unittest)\b")
_PYTHON = re.compile(r"^\s*(?:async\s+)?def\s+test|^class\s+(?:Test|\w+\([^)\n]*TestCase)", re.MULTILINE)
_NAMED_FUNCTIONS = re.compile(r"""["']?python_functions["']?\s*[:=]\s*(\[[^\]]*\]|[^\n]*)""")
# A method of this name is none: `test (version) {`.
_CALLED = re.compile(r"(?<![\w.$])(?:test|it|describe|suite|specify|QUnit)\s*(?:\.\s*\w+\s*)*\((?![^()]*\)\s*\{)")
_IMPORTED = (
    r"""(?:from|require\s*\()\s*["'](?:(?:node:)?(?:test|assert)|vitest|@jest/globals|chai|ava|tape|tap|uvu)\b"""
)
_SCRIPT = re.compile(f"{_CALLED.pattern}|{_IMPORTED}")
_OTHER = re.compile(r"\b(?:assert|expect|should|@Test)\w*\b|#\[test\]", re.IGNORECASE)
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")


@dataclass(frozen=True, slots=True)
class Discovery:
    """Imports files of this name below `start`, package by package. None: nobody knows where it starts."""

    start: str | None = ""
    names: str = _USUAL_NAMES

    def imports(self, path: str, tracked: frozenset[str]) -> bool:
        *folders, name = path.split("/")
        if not fnmatch.fnmatchcase(name, self.names) or not path.endswith(".py"):
            return False
        if self.start is None:
            return True
        begin = len(self.start.split("/")) if self.start else 0
        if "/".join(folders[:begin]) != self.start:
            return False
        below = range(begin + 1, len(folders) + 1)
        return all(f"{'/'.join(folders[:depth])}/__init__.py" in tracked for depth in below)


def discoveries(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[Discovery, ...]:
    """Where checks let a runner find tests by their names; by their commands, or by the scripts these call."""
    written = (line for text in texts.values() for line in text.replace("\\\n", " ").splitlines())
    found = (_discovery(line) for line in itertools.chain(map(" ".join, commands), written))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _discovery(line: str) -> Discovery | None:
    found = _DISCOVERING.search(line)
    if found is None:
        return None
    words = re.findall(r"""[^\s"',\[\]&;|]+""", re.split(r"&&|;|\|", line[found.end() :])[0].replace("=", " "))
    plain = [word for before, word in zip(["", *words], words, strict=False) if before not in _WITH_VALUE]
    plain = [word for word in plain if not word.startswith("-")]
    if "unittest" in found[0] and plain and plain[0] != "discover":
        return None  # its tests are named one by one
    given = dict(itertools.pairwise(words))
    rest = plain[1:] if "unittest" in found[0] else []
    start = given.get("-s", given.get("--start-directory", rest[0] if rest else "."))
    names = given.get("-p", given.get("--pattern", rest[1] if len(rest) > 1 else _USUAL_NAMES))
    is_elsewhere = "$" in start or re.search(r"\bcd\s", line[: found.start()])
    folder = posixpath.normpath(start if "/" in start or start == "." else start.replace(".", "/"))
    return Discovery(None if is_elsewhere else folder.removeprefix("."), _USUAL_NAMES if "$" in names else names)


def runs_doctests(commands: Iterable[Command], texts: Mapping[str, str]) -> bool:
    """Whether a check collects the examples in docstrings: by its command, or by what configures its runner."""
    said = "\n".join([" ".join(command) for command in commands] + [t for p, t in texts.items() if _steers(p)])
    return re.search(r"doctest[-_]?modules|doctest_plus|-m doctest|with-doctest|xdoctest|testmod\(", said) is not None


def _steers(path: str) -> bool:
    return "/" not in path or judge_by_name(path) in (Judge.RUNNER, Judge.MANIFEST, Judge.BUILD)


def doctest_globs(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Patterns of texts that are collected as tests."""
    said = "\n".join([" ".join(command) for command in commands] + [t for p, t in texts.items() if _steers(p)])
    told = re.findall(r"doctest-glob[=\s]+[\"']?([^\s\"',\]]+)", said)
    return tuple(dict.fromkeys((*told, *_COLLECTED_TEXTS)))


def collected_globs(commands: Iterable[Command], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Patterns of files that a runner is told to collect, besides those it knows by itself.

    They hold for new files, whatever is in these: so nothing counts but what is said of tests alone. Where the runner
    is told to start, nobody knows.
    """
    found = [
        ("", word)
        for command in commands
        for before, word in itertools.pairwise(command)
        if before in ("-p", "--pattern")
    ]
    for path, text in texts.items():
        if configures_tests(path):
            said = _given(_of_tests(path, text))
            found += ((posixpath.dirname(path), word) for key, word in said if key in _NAMING)
    named = (posixpath.join(at, _anywhere(word)) for at, word in found if "*" in posixpath.basename(word)[:-2])
    return tuple(dict.fromkeys(named))


def _anywhere(word: str) -> str:
    folder, _, name = word.rpartition("/")
    return f"**/{folder.replace('**', '*').replace('*', '**')}/**/{name}" if folder.strip("*/") else f"**/{name}"


def _of_tests(path: str, text: str) -> str:
    """What a file says of tests, and not of packages, builds or what is measured."""
    if path.endswith((".cfg", ".ini")):
        return "\n".join(each for each in re.split(r"^(?=\[)", text, flags=re.MULTILINE) if _TOLD.match(each))
    part = _sections(path, text)
    blocks = [_block(part, start.end()) for start in re.finditer(r"""(?<![\w.])["']?test["']?\s*:\s*\{""", part)]
    part = "\n".join(blocks) or part
    while (measured := re.search(r"""["']?(?:coverage|nyc|c8)["']?\s*:\s*\{""", part)) is not None:
        part = part[: measured.start()] + part[measured.end() :].removeprefix(_block(part, measured.end()))
    return part


def _block(text: str, start: int) -> str:
    """From here to the brace that closes what is open."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return text[start:at]
    return text[start:]


def _given(text: str) -> Iterator[tuple[str, str]]:
    """Every pattern or folder that is said under a key of a runner, with the key."""
    for key, value in _GIVEN.findall(text):
        for word in re.findall(r"[\w@.{}/<>*?,-]+", value.strip("[]")):
            yield key, _plain(word)


def configured_setups(texts: Mapping[str, str], paths: frozenset[str]) -> frozenset[str]:
    """Files that the configuration of a runner loads first: set-up of jest and vitest, what mocha requires."""
    found: set[str] = set()
    for path, text in texts.items():
        if judge_by_name(path) not in (Judge.RUNNER, Judge.MANIFEST):
            continue
        for value in _LOADING.findall(_sections(path, text)):
            for word in re.findall(r"[\w@./<>-]+", value):
                plain = word.replace("<rootDir>/", "").removeprefix("/")
                for name in dict.fromkeys(joined(at, plain) for at in (posixpath.dirname(path), "")):
                    ends = ("", ".js", ".ts", ".py", *(("/index.js", "/index.ts") if "/" in word else ()))
                    found.update(f"{name}{end}" for end in ends if f"{name}{end}" in paths)
    return frozenset(found)


@lru_cache(maxsize=32)  # the same few manifests are asked for this and for that
def _sections(path: str, text: str) -> str:
    """What of a manifest configures runners; of any other file the whole."""
    try:
        name = posixpath.basename(path)
        if name == "package.json":
            data = json.loads(text)
            wanted = ("jest", "mocha", "tap", "ava", "nyc", "c8", "vitest", "jasmine")
            return _lines({k: data[k] for k in wanted if k in data}) if isinstance(data, dict) else ""
        if name == "pyproject.toml":
            tools = tomllib.loads(text).get("tool", {})
            return _lines({k: v for k, v in tools.items() if k in ("pytest", "tox", "nose2")})
    except (ValueError, RecursionError):
        return text
    return text


def _lines(data: object) -> str:
    return json.dumps(data, indent=1).replace("\\n", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """What the base says of where its tests are; `yielding` are files that some were collected from."""

    patterns: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()  # named as a whole
    discovered: tuple[Discovery, ...] = ()
    yielding: frozenset[str] = frozenset()
    loaded: frozenset[str] = frozenset()  # by scripts that checks run
    functions: re.Pattern[str] = _PYTHON  # what looks like a test of Python
    built: MadeForTests = field(default_factory=MadeForTests)

    @classmethod
    def of(
        cls,
        commands: tuple[Command, ...],
        named: Called,
        texts: Mapping[str, str],
        discovered: tuple[Discovery, ...],
        yielding: frozenset[str],
    ) -> Configured:
        words = tuple(dict.fromkeys(_words(named.ran, texts)))
        starts = (each.start for each in discovered if each.start and each.names.startswith("*."))
        return cls(
            patterns=tuple(word if "/" in word else f"**/{word}" for word in words if "*" in word),
            folders=frozenset(itertools.chain(starts, filter(None, map(_folder, words)))),
            discovered=discovered,
            yielding=yielding,
            loaded=named.loaded,
            functions=_functions(texts),
            built=made(commands, texts),
        )

    def may_be_tests(self, paths: tuple[str, ...], layout: Layout) -> tuple[str, ...]:
        """Sources that are no tests by their names and that a runner would look at all the same."""
        tracked = frozenset(paths)
        plain = (path for path in paths if is_source(path) and judge_by_name(path) is None and not layout.is_test(path))
        collected = (p for p in plain if p in self.yielding or p in self.loaded or self._is_collected(p, tracked))
        return tuple(dict.fromkeys((*collected, *self.built.may_be_tests(paths, layout.is_test))))

    def _is_collected(self, path: str, tracked: frozenset[str]) -> bool:
        return any(matches(path, pattern) for pattern in self.patterns) or any(
            each.imports(path, tracked) for each in self.discovered
        )

    def _yields(self, path: str, tracked: frozenset[str]) -> bool:
        """By the project's own names. A linter that runs as a plug-in, and examples, yield tests of plain product."""
        return path in self.yielding and path.endswith(".py") and self._is_collected(path, tracked)

    def _has_tests(self, path: str, text: str) -> bool:
        if path.endswith(".py"):
            return self.functions.search(text) is not None
        return has_tests(path, text) and (path not in self.loaded or _CALLED.search(text) is not None)

    def with_tests(self, layout: Layout, paths: tuple[str, ...], texts: Mapping[str, str]) -> Layout:
        """`texts` of what may be tests. A folder that was named, and mostly holds them, is theirs with all in it."""
        tracked = frozenset(paths)
        built = frozenset(self.built.may_be_tests(paths, layout.is_test))
        told = {path: text for path, text in texts.items() if path not in built}
        found = frozenset(
            path for path, text in told.items() if self._has_tests(path, text) or self._yields(path, tracked)
        )
        found |= frozenset(self.built.are_tests({path: texts[path] for path in built if path in texts}))
        if not found:
            return layout
        whole = sorted(folder for folder in self.folders if _is_theirs(folder, paths, found))
        single = sorted(path for path in found if not any(path.startswith(f"{folder}/") for folder in whole))
        more = (*(f"{folder}/**" for folder in whole), *(re.sub(r"[*?{\[]", "?", path) for path in single))
        found_out = replace(layout, tests=(*layout.tests, *more))
        others = [path for path in paths if not found_out.is_test(path)]
        product = tuple(each for each in layout.product if any(matches(path, each) for path in others))
        return replace(found_out, product=product)


def has_tests(path: str, text: str) -> bool:
    if path.endswith(".py"):
        return _PYTHON.search(text) is not None
    if path.endswith(_SCRIPTS):
        return _SCRIPT.search(text) is not None and "import.meta.vitest" not in text
    return _OTHER.search(text) is not None


def _is_theirs(folder: str, paths: tuple[str, ...], found: frozenset[str]) -> bool:
    sources = [path for path in paths if path.startswith(f"{folder}/") and is_source(path)]
    tests = sum(path in found for path in sources)
    return tests > 0 and 2 * tests >= len(sources)


def _words(ran: Iterable[tuple[str, Command]], texts: Mapping[str, str]) -> Iterator[str]:
    """Patterns and folders that a runner is given: on its command line, or by its configuration."""
    for at, command in ran:
        if _RUNNERS.search(" ".join(command)):
            yield from (posixpath.join(at, _plain(word)) for word in command if "*" in word or "/" in word)
    for path, text in texts.items():
        at = posixpath.dirname(path)
        for line in text.replace("\\\n", " ").splitlines():
            if _RUNNERS.search(line):
                found = tuple(map(_plain, _PATTERN.findall(line)))
                yield from dict.fromkeys((*found, *(posixpath.join(at, word) for word in found)))
        if judge_by_name(path) in (Judge.RUNNER, Judge.MANIFEST):
            yield from (joined(at, word if "/" in word or not at else f"**/{word}") for _, word in _given(text))


def _functions(texts: Mapping[str, str]) -> re.Pattern[str]:
    """Functions may have names of the project's own."""
    said = (_NAMED_FUNCTIONS.findall(_of_tests(path, text)) for path, text in texts.items() if configures_tests(path))
    words = {word.strip("*") for values in said for value in values for word in re.findall(r"[A-Za-z_]\w*\*?", value)}
    own = "|".join(re.escape(word) for word in sorted(words))
    return re.compile(rf"{_PYTHON.pattern}|^\s*(?:async\s+)?def\s+(?:{own})", re.MULTILINE) if own else _PYTHON


def _plain(word: str) -> str:
    """As a pattern over paths of the repository."""
    return posixpath.normpath(word.replace("<rootDir>/", "").strip("\"'[],").removeprefix("!")).removeprefix("./")


def _folder(word: str) -> str:
    """The folder that a word names with all that is in it; empty where it chooses by names."""
    before, star, _ = word.partition("*")
    if not star:
        return "" if "." in posixpath.basename(word) else word.strip("/")
    is_any = re.fullmatch(r"(?:\*\*/)*\*(?:\.[\w{},]+)?|\*\*", word[len(before) :]) is not None
    return before.rstrip("/") if is_any and before.endswith("/") else ""
