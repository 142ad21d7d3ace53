"""Which files of a tree a command starts or names, by its words and by the texts of what it starts."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SHELL = re.compile(r"(?:sh|bash|dash|zsh|ksh|fish)")
_LANGUAGE = re.compile(r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|Rscript|tclsh)[\d.]*")
_GIVES_CODE = re.compile(r"-\w*[cer]")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_BETWEEN = re.compile(r"[;&|()\n`]+")
_PLAIN = re.compile(r"[\w@+./-]+")
_SUBSTITUTION = re.compile(r"\$\(|`")
# What is looked at or compiled with these is what is judged, and not what judges.
_READERS = frozenset({
    "[", "awk", "black", "cat", "cc", "clang", "cut", "echo", "egrep", "eslint", "fgrep", "flake8", "g++", "gcc",
    "go", "gofmt", "grep", "head", "isort", "javac", "jq", "ls", "mypy", "prettier", "printf", "pylint", "pyright",
    "rg", "ruff", "rustc", "rustfmt", "sed", "shellcheck", "stat", "tail", "test", "tsc", "wc",
})  # fmt: skip
_DEEPEST = 4  # texts within texts


@dataclass(frozen=True, slots=True)
class _Simple:
    """A command without others in it, and the folder it is started in."""

    folder: str
    words: tuple[str, ...]

    def paths(self, word: str) -> Iterator[str]:
        """What it may name: `F`, `F::test`, `--option=F`, and a module as `a.b`, or as `a` after `-m`."""
        for each in (word, word.partition("::")[0], word.partition("=")[2]):
            if each and not each.startswith("-"):
                yield posixpath.normpath(posixpath.join(self.folder, each))

    def candidates(self) -> Iterator[tuple[str, ...]]:
        """Word by word."""
        before = ""
        for word in self.words:
            dotted = word.removeprefix("-m") if word.startswith("-m") else word
            is_module = _MODULE.fullmatch(dotted) and ("." in word or before == "-m" or dotted != word)
            yield (*self.paths(word), *(_of_module(dotted, self.folder) if is_module else ()))
            before = word


def named_files(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Every path that stands in it, whether there is such a file or not."""
    found = [path for each in _commands(argv) for paths in each.candidates() for path in paths]
    code = [posixpath.normpath(word) for text in argv if _is_text(text) for word in _PLAIN.findall(text)]
    return tuple(dict.fromkeys((*found, *code)))


def started_files(argv: tuple[str, ...], there: frozenset[str]) -> tuple[str, ...]:
    """Of each command in it the first word that names a file which is there: a program, or what an interpreter, a
    wrapper or a runner is given. With a module come the packages above it, there or not: they would run before it."""
    return _all_started(_commands(argv), there)


def started_by(path: str, text: str, there: frozenset[str]) -> tuple[str, ...]:
    """What a shell script starts in its turn, from where it was started or from its own folder."""
    if not _is_shell(path, text):
        return ()
    folders = dict.fromkeys(("", posixpath.dirname(path)))
    return _all_started((each for folder in folders for each in _within(text, folder, 0)), there)


def beside(path: str, text: str, there: frozenset[str]) -> tuple[str, ...]:
    """Of its own folder what a script names or imports; all of a project may lie in the topmost one.

    A module that is not there counts too: one that is put there would stand in for another.
    """
    folder = posixpath.dirname(path)
    if not folder:
        return ()
    plain = {posixpath.normpath(word) for word in _PLAIN.findall(text)}
    near = {*plain, *(posixpath.normpath(posixpath.join(folder, word)) for word in plain)}
    found = sorted(each for each in near & there if posixpath.dirname(each) == folder)
    found += _imported(folder, text) if path.endswith(".py") else []
    return tuple(dict.fromkeys(each for each in found if each != path))


def _all_started(commands: Iterable[_Simple], there: frozenset[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for each in commands for path in _started(each, there)))


def _started(command: _Simple, there: frozenset[str]) -> tuple[str, ...]:
    for word, paths in zip(command.words, command.candidates(), strict=True):
        if found := there.intersection(paths):
            only_above = all(posixpath.basename(path) == "__init__.py" for path in found)
            return tuple(path for path in paths if path in found or not only_above)
        if posixpath.basename(word) in _READERS:
            return ()
    return ()


def _commands(words: tuple[str, ...], folder: str = "", depth: int = 0) -> Iterator[_Simple]:
    """It, and those in its words that are texts for a shell. The code of other languages is none."""
    yield _Simple(folder, words)
    if depth == _DEEPEST:
        return
    names = [posixpath.basename(word) for word in words]
    for place, word in enumerate(words):
        is_code = _GIVES_CODE.fullmatch(words[place - 1]) and any(map(_LANGUAGE.fullmatch, names[:place]))
        is_read = not _READERS.isdisjoint(names[:place]) and not _SUBSTITUTION.search(word)
        if _is_text(word) and not is_code and not is_read:
            yield from _within(word, folder, depth + 1)


def _within(text: str, folder: str, depth: int) -> Iterator[_Simple]:
    """The commands of a text; `cd` moves those after it."""
    words: list[str] = []
    for token in (*_tokens(text), ";"):
        if not _BETWEEN.fullmatch(token):
            words.append(token)
            continue
        if words[:1] == ["cd"] and len(words) > 1:
            folder = posixpath.normpath(posixpath.join(folder, words[1]))
        elif words:
            yield from _commands(tuple(words), folder, depth)
        words = []


def _tokens(text: str) -> list[str]:
    """Leniently: what no shell would take is cut into plain words."""
    reader = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n`")
    reader.whitespace, reader.whitespace_split, reader.commenters = " \t\r<>", True, ""
    try:
        return list(reader)
    except ValueError:
        return re.findall(r"[;&|()\n`]|[\w@+./=:-]+", text)


def _is_text(word: str) -> bool:
    return any(each.isspace() or each in ";&|()<>`" for each in word)


def _is_shell(path: str, text: str) -> bool:
    first = text.partition("\n")[0]
    if first.startswith("#!"):
        return any(_SHELL.fullmatch(posixpath.basename(word)) for word in first[2:].split())
    return posixpath.splitext(path)[1] in (".sh", ".bash", ".zsh", ".ksh", ".mk", "")


def _imported(folder: str, text: str) -> list[str]:
    """Of its folder alone: what lies elsewhere is what it looks at."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{each.name}" if node.module else each.name for each in node.names]
            names += [node.module] if node.module else []
    dotted = folder.replace("/", ".")
    own = [name.removeprefix(f"{dotted}.").partition(".")[0] for name in names]
    return [f"{folder}/{name}{end}" for name in own for end in (".py", "/__init__.py")]


def _of_module(name: str, folder: str) -> list[str]:
    """What stands above it is run before it."""
    parts = name.split(".")
    above = ["/".join((*parts[:count], "__init__.py")) for count in range(1, len(parts) + 1)]
    path = "/".join(parts)
    found = [f"{top}{each}" for top in ("", "src/") for each in (f"{path}.py", f"{path}/__main__.py", *above)]
    return [posixpath.join(folder, each) for each in found]
